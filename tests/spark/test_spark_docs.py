"""Examples of Spark run as they stand: those of docstrings, and those of the site's pages (but test_spark_tables)."""

import doctest
import re
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

import recordpress.spark
from recordpress.spark import functions

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
DOCUMENTED = {
    f"recordpress.spark.{name}": getattr(recordpress.spark, name).__doc__
    for name in recordpress.spark.__all__
    if ">>>" in (getattr(recordpress.spark, name).__doc__ or "")
}
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if "spark" in page.name and page.stem != "spark-tables" and "```python\n>>>" in page.read_text(encoding="utf-8")
]


def run(text, name, spark):
    names = {"spark": spark, "recordpress": recordpress}
    test = doctest.DocTestParser().get_doctest(text, names, name, name, 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test).failed == 0


@pytest.mark.parametrize("name", DOCUMENTED)
def test_docstrings(name, spark, monkeypatch):
    monkeypatch.chdir(ROOT)
    run(DOCUMENTED[name], name, spark)


@pytest.mark.parametrize("name", functions.__all__)
def test_docstrings_of_functions(name, spark):
    run(getattr(functions, name).__doc__, name, spark)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages(page, spark, monkeypatch):
    monkeypatch.chdir(ROOT)
    run("\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)), page.stem, spark)
