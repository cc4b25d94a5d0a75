"""The demo's HTML page: bytes by codec and batch depths before and after a recompression, and time lines.

Its data are rows of `recordpress.spark.inventory` and of ``level=batches``, which both come from headers alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from recordpress.analysis.html import WIDTH, page, svg, table, text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

_BUCKETS = 60
_TIME_LINES = 12
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 20, 24, 40
_HEIGHT, _LOW = 240, 130
_ROW = 46  # of the two bars of a codec


class Moment(NamedTuple):
    """A bucket of a topic's time line; `bytes` counts the batches as they are stored."""

    topic: str | None
    start: datetime
    records: int
    bytes: int


def moments_of(batches: DataFrame) -> list[Moment]:
    """Return records and bytes over time: for each topic up to 61 buckets of equal length, empty ones included.

    `batches` are rows of ``level=batches``. A batch counts at its largest timestamp.
    """
    timed = batches.where("NOT isControl AND maxTimestamp IS NOT NULL").selectExpr(
        "topic", "unix_millis(maxTimestamp) AS time", "coalesce(recordsCount, 0) AS records", "size"
    )
    of_topic = "OVER (PARTITION BY topic)"
    spans = timed.selectExpr("*", f"min(time) {of_topic} AS least", f"max(time) {of_topic} AS most")
    lengths = spans.selectExpr("*", f"greatest((most - least) div {_BUCKETS}, 1) AS length")
    numbered = lengths.selectExpr("topic", "least", "length", "(time - least) div length AS number", "records", "size")
    found = numbered.groupBy("topic", "least", "length", "number").sum("records", "size").collect()
    topics: dict[Any, dict[int, tuple[int, int]]] = {}
    for topic, least, length, number, records, size in found:
        topics.setdefault((topic, least, length), {})[number] = (records, size)
    return [
        Moment(topic, _time(least + number * length), *counts.get(number, (0, 0)))
        for (topic, least, length), counts in sorted(topics.items(), key=lambda item: item[0][0] or "")
        for number in range(max(counts) + 1)
    ]


def _time(milliseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def html_of(
    before: Sequence[Row],
    after: Sequence[Row],
    moments: Sequence[Moment] = (),
    *,
    is_same: bool | None = None,
    estimates: Iterable[Row] = (),
) -> str:
    """Return the page.

    `before` and `after` are rows of `recordpress.spark.inventory` on the source and on the copy, `is_same` is the
    result of a comparison, and `estimates` are rows of `recordpress.spark.estimate` on the source.
    """
    guesses = list(estimates)
    parts = [
        "<h1>A Kafka log, before and after</h1>",
        f"<p>{escape(_summary(before, after, is_same))}</p>",
        _legend(),
        "<h2>Bytes by codec</h2>",
        _codecs(before, after),
        "<h2>Records by depth of their batch</h2>",
        _depths(before, after),
        *(("<h2>Records over time, before</h2>", _time_lines(moments)) if moments else ()),
        "<h2>Topics</h2>",
        _topics(before, after),
        *(("<h2>What was expected, from samples</h2>", _estimates(guesses)) if guesses else ()),
    ]
    return page("recordpress: before and after", parts)


def _summary(before: Sequence[Row], after: Sequence[Row], is_same: bool | None) -> str:
    old, new = (sum(row.bytes for row in rows) for rows in (before, after))
    proof = {None: "", True: " Every record was found again in the copy.", False: " The copy differs."}[is_same]
    return f"{old:,} bytes became {new:,}: {_saved(old, new)} less. {_records(after):,} records in the copy.{proof}"


def _saved(old: int, new: int) -> str:
    return f"{100 * (1 - new / old) if old else 0:.1f} %"


def _records(rows: Sequence[Row]) -> int:
    return sum(row.records for row in rows)


def _legend() -> str:
    parts = []
    for number, (name, kind) in enumerate((("before", "one"), ("after", "two"))):
        x = _LEFT + 90 * number
        parts.append(f'<rect x="{x}" y="4" width="12" height="12" class="{kind}"/>')
        parts.append(text(x + 18, 14, name))
    return svg(20, "the colors of before and after", parts)


# ---- plots


def _shares(rows: Sequence[Row], name: str, measure: str) -> dict[Any, int]:
    """Sum bytes or records by codec or depth over all partitions."""
    found: dict[Any, int] = {}
    for row in rows:
        for key, share in (row[name] or {}).items():
            found[key] = found.get(key, 0) + share[measure]
    return found


def _codecs(before: Sequence[Row], after: Sequence[Row]) -> str:
    old, new = (_shares(rows, "codecs", "bytes") for rows in (before, after))
    names = sorted({*old, *new}, key=lambda name: -old.get(name, 0))
    most = max([*old.values(), *new.values(), 1])
    longest = WIDTH - _LEFT - _RIGHT - 110
    parts = []
    for number, name in enumerate(names):
        y = number * _ROW
        parts.append(text(_LEFT - 8, y + 24, name, "", "end"))
        for place, (sizes, kind) in enumerate(((old, "one"), (new, "two"))):
            width, at = longest * sizes.get(name, 0) / most, y + 4 + 18 * place
            parts.append(f'<rect x="{_LEFT}" y="{at}" width="{width:.1f}" height="16" class="{kind}"/>')
            parts.append(text(_LEFT + width + 8, at + 12, f"{sizes.get(name, 0):,}", "faint"))
    return svg(_ROW * len(names) + 4, "bytes by codec before and after", parts)


def _depths(before: Sequence[Row], after: Sequence[Row]) -> str:
    """Draw buckets of doubling depth: 1, 2 to 3, 4 to 7, and so on."""
    old, new = (_parts_of_all(_shares(rows, "depths", "records")) for rows in (before, after))
    most = max([*old.values(), *new.values(), 0.01])
    keys = _powers({*old, *new})
    width = (WIDTH - _LEFT - _RIGHT) / max(len(keys), 1)
    parts = _frame(f"{100 * most:.0f} %", "records per batch")
    for number, depth in enumerate(keys):
        x = _LEFT + number * width
        parts.append(text(x + width / 2, _HEIGHT - _BOTTOM + 16, _range(depth, len(keys)), "faint", "middle"))
        for place, (shares, kind) in enumerate(((old, "one"), (new, "two"))):
            parts.append(_column(x + width * (0.1 + 0.4 * place), width * 0.4, shares.get(depth, 0) / most, kind))
    return svg(_HEIGHT, "share of records by depth of batch, before and after", parts)


def _parts_of_all(shares: Mapping[int, int]) -> dict[int, float]:
    total = sum(shares.values()) or 1
    return {depth: records / total for depth, records in shares.items()}


def _powers(depths: set[int]) -> list[int]:
    """Return every bucket from the shallowest to the deepest."""
    return [1 << power for power in range(64) if depths and min(depths) <= 1 << power <= max(depths)]


def _range(depth: int, count: int) -> str:
    return str(depth) if depth == 1 or count > 10 else f"{depth}-{2 * depth - 1}"


def _time_lines(moments: Sequence[Moment]) -> str:
    """Draw a time line for each topic, because each covers its own period."""
    topics: dict[str, list[Moment]] = {}
    for moment in moments:
        topics.setdefault(moment.topic or "", []).append(moment)
    largest = sorted(topics, key=lambda topic: -sum(moment.records for moment in topics[topic]))[:_TIME_LINES]
    lines = [f"<h3>{escape(topic)}</h3>\n{_time_line(topic, topics[topic])}" for topic in largest]
    if len(topics) > len(largest):
        lines.append(f"<p>Of {len(topics)} topics these have the most records.</p>")
    return "\n".join(lines)


def _time_line(topic: str, moments: Sequence[Moment]) -> str:
    most = max(max(moment.records for moment in moments), 1)
    width = (WIDTH - _LEFT - _RIGHT) / len(moments)
    parts = _frame(f"{most:,}", "", _LOW)
    parts += [
        _column(_LEFT + number * width, width * 0.9, moment.records / most, "one", _LOW)
        for number, moment in enumerate(moments)
    ]
    first, last = (f"{moment.start:%Y-%m-%d %H:%M:%S} UTC" for moment in (moments[0], moments[-1]))
    parts.append(text(_LEFT, _LOW - _BOTTOM + 16, first, "faint"))
    if last != first:
        parts.append(text(WIDTH - _RIGHT, _LOW - _BOTTOM + 16, last, "faint", "end"))
    return svg(_LOW - 14, f"records of {topic} over time", parts)


def _frame(most: str, below: str, height: int = _HEIGHT) -> list[str]:
    bottom = height - _BOTTOM
    lines = [f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{y}" y2="{y}" class="grid"/>' for y in (_TOP, bottom)]
    named = [text((_LEFT + WIDTH - _RIGHT) / 2, height - 6, below, "", "middle")] if below else []
    ends = [text(_LEFT - 8, y + 4, label, "faint", "end") for y, label in ((_TOP, most), (bottom, "0"))]
    return [*lines, *ends, *named]


def _column(x: float, width: float, share: float, kind: str, bottom: int = _HEIGHT) -> str:
    height = share * (bottom - _TOP - _BOTTOM)
    y = bottom - _BOTTOM - height
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" stroke="none" class="{kind}"/>'


# ---- tables


def _topics(before: Sequence[Row], after: Sequence[Row]) -> str:
    rows = []
    for topic in sorted({row.topic or "" for row in [*before, *after]}):
        old, new = ([row for row in rows if (row.topic or "") == topic] for rows in (before, after))
        sizes = [sum(row.bytes for row in rows) for rows in (old, new)]
        names = [", ".join(sorted(_shares(rows, "codecs", "bytes"))) for rows in (old, new)]
        counts = (f"{sizes[0]:,}", f"{sizes[1]:,}", _saved(*sizes), f"{_records(old):,}", f"{_records(new):,}")
        rows.append((topic, " → ".join(names), *counts))
    return table(("topic", "codec", "bytes before", "bytes after", "saved", "records before", "records after"), rows)


def _estimates(rows: Sequence[Row]) -> str:
    cells = [
        (
            row.topic or "",
            row.compressionType if row.level is None else f"{row.compressionType} {row.level}",
            f"{row.ratioBefore:.2f}",
            f"{row.ratio:.2f}",
            f"{100 * row.saved:.1f} %",
        )
        for row in rows
        if row.compressionType is not None
    ]
    return table(("topic", "codec", "ratio before", "ratio", "would save"), cells)
