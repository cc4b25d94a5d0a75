"""What a notebook shows, what pandas makes of a result, and the small conveniences of Python."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import recordpress
from recordpress.broker import validate
from recordpress.log import stats_of

LOGS = Path(__file__).parents[1] / "demo" / "logs"
DATA = recordpress.write_records(
    [b"<script>alert(1)</script>", None, b"c"], keys=[b"k", None, b"x" * 500], timestamps=[1, 2, 3]
)
MANY = recordpress.write_records([b"v"] * 10_000)


def log() -> recordpress.log.Log:
    return recordpress.open_log(LOGS)


SHOWN: dict[str, Callable[[], Any]] = {
    "Columns": lambda: recordpress.read_columns(DATA),
    "many rows": lambda: recordpress.read_columns(MANY),
    "a time that no datetime holds": lambda: recordpress.read_columns(
        recordpress.write_records([b"v"], timestamps=1 << 60)
    ),
    "no rows": lambda: recordpress.read_columns(b""),
    "BatchTable": lambda: recordpress.batch_table(DATA),
    "Log": log,
    "Partition": lambda: log().partitions[0],
    "LogStats": lambda: stats_of(log().partitions[0]),
    "Analysis": lambda: recordpress.analyze(LOGS / "sessions-0", "none/zstd", depths=(1,), sample_bytes=10_000),
    "Explanation": lambda: recordpress.explain(DATA, topic_config={"compression.type": "lz4"}),
    "Verdict": lambda: validate(DATA, topic_config={"compression.type": "lz4"}),
    "a refusal": lambda: validate(b"no record set"),
}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_shows_a_small_table(name: str) -> None:
    html = SHOWN[name]()._repr_html_()
    tags = Tags()
    tags.feed(html)
    assert set(tags.found) <= {"table", "caption", "tr", "th", "td"} and "caption" in tags.found
    assert tags.found.count("tr") <= 21 and len(html) < 20_000
    assert "script&gt;" in html or "script" not in html
    assert not re.search(r"recordpress(\.\w+)*\._", html)


def test_what_is_left_out_is_counted() -> None:
    assert "<caption>rows; the first 20 of 10,000<" in SHOWN["many rows"]()._repr_html_()
    assert "<caption>1 segment, " in SHOWN["LogStats"]()._repr_html_()
    assert "CODEC_DIFFERS</td><td>" in (html := SHOWN["Verdict"]()._repr_html_()) and "…" not in html
    assert "sessions" in log()._repr_html_()


@pytest.mark.parametrize(
    "made",
    [
        lambda: recordpress.read_columns(DATA),
        lambda: recordpress.iter_columns(DATA),
        lambda: recordpress.read_batches(DATA),
        lambda: next(recordpress.read_batches(DATA)),
        lambda: log().read(),
        lambda: log().batches(),
        log,
    ],
)
def test_pandas_makes_no_frame_of_objects(made: Callable[[], Any]) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(recordpress.ArgumentTypeError, match=r"to_pandas\(\)"):
        pandas.DataFrame(made())


def test_pandas_makes_a_frame_of_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(recordpress.batch_table(DATA))
    assert frame["recordsCount"].tolist() == [3]


def test_a_reader_gives_all_rows_once() -> None:
    columns = log().read(["topic", "offset"]).read_all()
    assert columns.shape == (log().count(), 2)
    assert columns.to_pydict() == log().read(["topic", "offset"]).to_pyarrow().to_pydict()
    nothing = log().read(["offset"], start_timestamp="2100-01-01T00:00Z").read_all()
    assert nothing.shape == (0, 1) and nothing.to_pyarrow().num_rows == 0


@pytest.mark.parametrize("way", ["read_all", "to_pyarrow", "to_pandas", "to_polars"])
@pytest.mark.parametrize("use", [list, lambda reader: reader.read_all(), lambda reader: reader.close()])
def test_a_used_reader_is_no_empty_table(way: str, use: Callable[[Any], Any]) -> None:
    if way in ("to_pandas", "to_polars"):
        pytest.importorskip(way[3:])
    reader = log().read(["offset"])
    use(reader)
    with pytest.raises(recordpress.ClosedError):
        getattr(reader, way)()


def test_the_rest_of_a_reader() -> None:
    reader = recordpress.open_log(LOGS / "access-json-0").read(["offset"])
    first = next(reader)
    assert first.num_rows + reader.read_all().num_rows == recordpress.open_log(LOGS / "access-json-0").count()


def test_a_batch_is_a_sequence() -> None:
    [batch] = recordpress.read_batches(DATA)
    assert [batch[0].key, batch[-1].value, batch[2].offset] == [b"k", b"c", 2]
    assert [record.offset for record in batch[1:]] == [1, 2] and batch[5:] == []
    assert [record.offset for record in batch[::-1]] == [2, 1, 0]
    for index in (3, -4):
        with pytest.raises(IndexError, match="batch has 3"):
            batch[index]
    with pytest.raises(recordpress.ArgumentTypeError):
        batch["key"]  # type: ignore[call-overload]


def test_records_have_the_names_of_columns() -> None:
    [batch] = recordpress.read_batches(DATA)
    columns = recordpress.read_columns(DATA)
    rows = [record.to_dict() for record in batch]
    assert list(rows[0]) == columns.column_names
    for name in ("offset", "timestampType", "key", "value", "headers"):
        assert [row[name] for row in rows] == columns.to_pydict()[name]
    assert [row["timestamp"] for row in rows] == [1, 2, 3]
