"""What the Makefile shows of commands that may be silent for minutes."""

import re
from pathlib import Path

import pytest

from build_support.progress import SECONDS, Progress

pytestmark = pytest.mark.build


@pytest.fixture
def silent():
    """The output of a command that has said nothing for as long as it may."""
    progress = Progress("packages")
    progress.last = progress.started = progress.started - SECONDS
    return progress


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("Progress 123000000 of 456000000", ", 123 of 456 MB"),
        ("pmstatus:gcc:20.4:Unpacking gcc (amd64)", ", 20 %: Unpacking gcc (amd64)"),
        ("dlstatus:1:20.4:Retrieving file 3 of 75", ", 20 %: Retrieving file 3 of 75"),
        ("  Building wheel for pyspark: started", ", Building wheel for pyspark: started"),
        ("Requirement already satisfied: pip", ""),
        ("      Successfully uninstalled setuptools-66.1.1", ""),
    ],
)
def test_what_says_how_far_it_is_is_told_after_ten_seconds(silent, capsys, line, state):
    silent.see(line)
    assert capsys.readouterr() == ("", "")
    silent.tell_if_silent()
    silent.tell_if_silent()
    assert capsys.readouterr() == ("", f"recordpress: packages: {SECONDS} s{state}\n")


def test_any_other_line_is_shown_at_once(silent, capsys):
    silent.see("  Building wheel for pyspark: started")
    silent.see("Successfully built pyspark")
    silent.tell_if_silent()
    assert capsys.readouterr() == ("Successfully built pyspark\n", "")


def test_the_collection_of_tests_is_reported_every_ten_seconds(request, capsys):
    conftest = request.config.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))
    has_result = iter([False, False, True])
    conftest.report_collection(lambda seconds: next(has_result))
    line = "recordpress: collecting the tests: {} s\n"
    assert capsys.readouterr() == ("", "\n" + line.format(10) + line.format(20))


@pytest.mark.parametrize("name", ["Makefile", "labs.mk"])
def test_commands_that_may_be_silent_are_reported(name):
    text = (Path(__file__).parents[1] / name).read_text(encoding="utf-8").replace("\\\n", "")
    recipes = re.findall(r"^\t.*", text, re.MULTILINE)
    slow = re.compile(r"\bpip install|\bnpm install|\bmvn\b|build_support\.(wheels \$|static_libraries)")
    silent = [line for line in recipes if slow.search(line) and not re.search(r"\$\(call progress,|\$\(mvn\)", line)]
    assert not silent
