"""The table of options in the docs is the one in the code.

``python tests/spark/test_option_table.py`` writes it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [pytest.mark.spark, pytest.mark.build]

from recordpress.spark import ReadOptions, WriteOptions
from recordpress.spark._option import Option, rows_of
from recordpress.spark._write_options import STREAM_OPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "spark-options.md"
BEGIN, END = "<!-- options -->\n", "<!-- end of options -->\n"


def table(title: str, rows: tuple[Option, ...], of_batch: str, of_stream: str) -> str:
    lines = [f"## {title}", "", "| option | accepted by | default | meaning |", "|---|---|---|---|"]
    for row in rows:
        users = {"": f"{of_batch}, {of_stream}", "batch": of_batch, "stream": of_stream}[row.only]
        lines.append(f"| `{row.name}` | {users} | {row.default} | {row.doc} |")
    return "\n".join(lines) + "\n"


def tables() -> str:
    reads = table("Reading", rows_of(ReadOptions), "read", "readStream")
    writes = table("Writing", (*rows_of(WriteOptions), *STREAM_OPTIONS), "write", "writeStream")
    return f"{BEGIN}\n{reads}\n{writes}\n{END}"


def test_the_docs_have_every_option() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page[page.index(BEGIN) :] == tables()


@pytest.mark.parametrize("kind", [ReadOptions, WriteOptions])
def test_docstrings_have_every_option(kind: type) -> None:
    for row in rows_of(kind):
        assert f"``{row.name}``: {row.doc}" in (kind.__doc__ or "")


if __name__ == "__main__":
    head = PAGE.read_text(encoding="utf-8").partition(BEGIN)[0]
    PAGE.write_text(head + tables(), encoding="utf-8")
