"""The demo's HTML page: what a recompression saved, and what was expected; codecs, batch depths and time lines.

Its data are rows of `recordpress.spark.inventory` and of ``rows=batches``, which both come from headers alone, and the
estimate of `recordpress.transcode`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from recordpress.analysis.html import CHARACTER, Plot, figures, page, percent, plot, settings, size, table
from recordpress.analysis.machine import machine_facts, software_versions
from recordpress.log.copy.savings import savings_by_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from recordpress.log import Estimate

_BUCKETS = 60
_TIME_LINES = 12
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 8, 26, 44
_HEIGHT, _LOW = 250, 130
_ROW = 48  # height of a codec's two bars
_LEGEND = (("before", "one"), ("after", "two"))


class Moment(NamedTuple):
    """A bucket of a topic's time line; `bytes` counts the batches as they are stored."""

    topic: str | None
    start: datetime
    records: int
    bytes: int


def moments_of(batches: DataFrame) -> list[Moment]:
    """Return records and bytes over time: for each topic up to 61 buckets of equal length, empty ones included.

    `batches` are rows of ``rows=batches``. A batch counts at its largest timestamp.
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
    for topic, least, length, number, records, stored in found:
        topics.setdefault((topic, least, length), {})[number] = (records, stored)
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
    expected: Estimate | None = None,
    facts: Mapping[str, str] | None = None,
) -> str:
    """Return the page.

    `before` and `after` are rows of `recordpress.spark.inventory` on the source and on the copy, `is_same` is the
    result of a comparison, `expected` is the estimate from before the copy, and `facts` say what was copied
    and where.
    """
    parts = [
        f'<p class="kicker">recordpress demo · {datetime.now(UTC):%Y-%m-%d %H:%M} UTC</p>',
        f"<h1>{escape(_headline(before, after))}</h1>",
        f"<p>{escape(_proof(after, is_same))}</p>",
        figures(_figures(before, after, is_same)),
        *(("<h2>Expected and achieved</h2>", *_expected(expected, after)) if expected else ()),
        "<h2>Bytes by codec</h2>",
        _codecs(before, after),
        "<h2>Records by depth of their batch</h2>",
        _depths(before, after),
        "<h2>Topics</h2>",
        _topics(before, after),
        *(("<h2>Records over time, before</h2>", _time_lines(moments)) if moments else ()),
        "<h2>What was measured</h2>",
        settings({**(facts or {}), **_machine()}),
    ]
    return page("recordpress: before and after", parts)


# ---- words


def _bytes(rows: Sequence[Row]) -> int:
    return sum(row.bytes for row in rows)


def _records(rows: Sequence[Row]) -> int:
    return sum(row.records for row in rows)


def _saved(old: int, new: int) -> str:
    return percent(1 - new / old if old else 0)


def _headline(before: Sequence[Row], after: Sequence[Row]) -> str:
    old, new = _bytes(before), _bytes(after)
    return f"The copy takes {_saved(old, new)} less space" if new <= old else "The copy takes more space"


def _proof(after: Sequence[Row], is_same: bool | None) -> str:
    proof = {None: "", True: " Every record was found again in the copy.", False: " The copy differs."}[is_same]
    return f"{_records(after):,} records in the copy, each at its offset.{proof}"


def _figures(before: Sequence[Row], after: Sequence[Row], is_same: bool | None) -> list[tuple[str, str, str]]:
    counts = [_batches(rows) for rows in (before, after)]
    depths = [_records(rows) / max(count, 1) for rows, count in zip((before, after), counts, strict=True)]
    return [
        ("before", size(_bytes(before)), f"{_bytes(before):,} bytes"),
        ("after", size(_bytes(after)), f"{_bytes(after):,} bytes"),
        ("records per batch", f"{depths[1]:,.0f}", f"{depths[0]:,.0f} before"),
        ("verified", {None: "no", True: "yes", False: "differs"}[is_same], "digests of all records"),
    ]


def _batches(rows: Sequence[Row]) -> int:
    return sum(share["batches"] for row in rows for share in (row.depths or {}).values())


def _machine() -> dict[str, str]:
    machine = machine_facts()
    return {
        "machine": f"{machine['processor']}; cores: {machine['cores']}",
        "system": f"{machine['system']}, {machine['python']}",
        "software": ", ".join(f"{name} {version}" for name, version in software_versions().items()),
    }


# ---- tables


def _expected(estimate: Estimate, after: Sequence[Row]) -> list[str]:
    rows = []
    for topic, stored, ways in savings_by_topic(estimate):
        mine = [row for row in after if topic == "(all)" or row.topic == topic]
        alone, joined, _ = (way and f"{size(way.bytes_after)}, {percent(way.change(stored)[0])}" for way in ways)
        reached = f"{size(_bytes(mine))}, {percent(_bytes(mine) / stored - 1)}"
        rows.append((topic or "-", size(stored), alone or "-", joined or "-", reached))
    return [
        table(("topic", "stored", "expected: codec alone", "expected: joined", "achieved"), rows),
        '<p class="note">Expected is the estimate of recordpress.transcode(dry_run=True) before the copy: it '
        "recompresses a sample, and all of a small log, batch by batch (codec alone) and with small batches joined. "
        "Achieved is the copy itself. Spark may split a large segment among tasks, which do not join each other's "
        "batches, so a little less is achieved there.</p>",
    ]


def _topics(before: Sequence[Row], after: Sequence[Row]) -> str:
    rows = []
    for topic in sorted({row.topic or "" for row in [*before, *after]}):
        old, new = ([row for row in rows if (row.topic or "") == topic] for rows in (before, after))
        names = [", ".join(sorted(_shares(rows, "codecs", "bytes"))) for rows in (old, new)]
        counts = (f"{_bytes(old):,}", f"{_bytes(new):,}", _saved(_bytes(old), _bytes(new)))
        records = dict.fromkeys(f"{_records(rows):,}" for rows in (old, new))  # one number if they are equal
        rows.append((topic, " → ".join(names), *counts, " → ".join(records)))
    return table(("topic", "codec", "bytes before", "bytes after", "saved", "records"), rows)


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

    def draw(canvas: Plot) -> None:
        canvas.legend(_LEGEND, _LEFT, 12)
        longest = canvas.width - _LEFT - _RIGHT - CHARACTER * 12
        for number, name in enumerate(names):
            top = _TOP + number * _ROW
            canvas.write(_LEFT - 8, top + 23, name, "", "end")
            for place, (sizes, kind) in enumerate(((old, "one"), (new, "two"))):
                wide, at = longest * sizes.get(name, 0) / most, top + 2 + 20 * place
                canvas.bar(_LEFT, at, wide, 16, kind)
                canvas.write(_LEFT + wide + 6, at + 12, size(sizes.get(name, 0)), "faint")

    return plot(_TOP + _ROW * len(names) + 4, "bytes by codec before and after", "", draw)


def _depths(before: Sequence[Row], after: Sequence[Row]) -> str:
    """Draw buckets of doubling depth: 1, 2 to 3, 4 to 7, and so on."""
    old, new = (_parts_of_all(_shares(rows, "depths", "records")) for rows in (before, after))
    most = max([*old.values(), *new.values(), 0.01])
    keys = _powers({*old, *new})

    def draw(canvas: Plot) -> None:
        canvas.legend(_LEGEND, _LEFT, 12)
        wide = (canvas.width - _LEFT - _RIGHT) / max(len(keys), 1)
        _frame(canvas, percent(most, 0), "records per batch, at least (log scale)")
        step = 1 if wide > CHARACTER * 6 else 2  # every second label fits
        for number, depth in enumerate(keys):
            x = _LEFT + number * wide
            if number % step == 0:
                canvas.write(x + wide / 2, canvas.height - _BOTTOM + 16, f"{depth:,}", "faint", "middle")
            for place, (shares, kind) in enumerate(((old, "one"), (new, "two"))):
                _column(canvas, x + wide * (0.1 + 0.4 * place), wide * 0.4, shares.get(depth, 0) / most, kind)

    caption = (
        "Share of all records that lie in batches of this depth: the deeper the batches, the better they compress."
    )
    return plot(_HEIGHT, "share of records by depth of batch, before and after", caption, draw)


def _parts_of_all(shares: Mapping[int, int]) -> dict[int, float]:
    total = sum(shares.values()) or 1
    return {depth: records / total for depth, records in shares.items()}


def _powers(depths: set[int]) -> list[int]:
    """Return every bucket from the shallowest to the deepest."""
    return [1 << power for power in range(64) if depths and min(depths) <= 1 << power <= max(depths)]


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
    ends = [moments[0].start, moments[-1].start]

    def draw(canvas: Plot) -> None:
        wide = (canvas.width - _LEFT - _RIGHT) / len(moments)
        _frame(canvas, f"{most:,}", "")
        for number, moment in enumerate(moments):
            _column(canvas, _LEFT + number * wide, wide * 0.9, moment.records / most, "one")
        pattern = "%H:%M:%S" if ends[0].date() == ends[1].date() else "%Y-%m-%d %H:%M"
        first, last = (f"{end:{pattern}}" for end in ends)
        canvas.write(_LEFT, canvas.height - _BOTTOM + 16, first, "faint")
        if last != first:
            canvas.write(canvas.width - _RIGHT, canvas.height - _BOTTOM + 16, last, "faint", "end")

    caption = f"Records in each of {len(moments)} equal spans, starting at {ends[0]:%Y-%m-%d %H:%M:%S} UTC."
    return plot(_LOW, f"records of {topic} over time", caption, draw)


def _frame(canvas: Plot, most: str, below: str) -> None:
    bottom = canvas.height - _BOTTOM
    for y, label in ((_TOP, most), (bottom, "0")):
        canvas.line(_LEFT, y, canvas.width - _RIGHT, y)
        canvas.write(_LEFT - 8, y + 4, label, "faint", "end")
    if below:
        canvas.write((_LEFT + canvas.width - _RIGHT) / 2, canvas.height - 6, below, "", "middle")


def _column(canvas: Plot, x: float, width: float, share: float, kind: str) -> None:
    height = share * (canvas.height - _TOP - _BOTTOM)
    canvas.bar(x, canvas.height - _BOTTOM - height, width, height, kind)
