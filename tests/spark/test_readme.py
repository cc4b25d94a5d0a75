"""The README's Spark example runs as it stands."""

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

ROOT = Path(__file__).parents[2]


def test_readme(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    [block] = [block for block in blocks if "spark" in block]
    names = {"spark": spark, "target": str(tmp_path / "copy"), "written": str(tmp_path / "written")}
    test = doctest.DocTestParser().get_doctest(block, names, "README.md", "README.md", 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
