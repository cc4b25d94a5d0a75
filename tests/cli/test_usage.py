"""What a wrong argument is answered."""

import re
import shlex
from itertools import takewhile
from pathlib import Path

import click
import pytest

from cli.conftest import Run
from recordpress.cli._app import program
from recordpress.cli._command import Verb
from recordpress.cli._verbs import VERBS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["stat", "."], "unknown command 'stat': did you mean 'stats'?"),
        (["quux"], "unknown command 'quux'; commands are ls, stats, "),
        (["transcode", "a", "b", "--codec", "zst"], "'zst' is not a codec: did you mean 'zstd'?"),
        (["dump", ".", "--columns", "ofset"], "unknown name 'ofset': did you mean 'offset'?"),
        (["dump", ".", "--columns", "xyz"], "unknown name 'xyz'; must be one of topic, partition, offset, "),
        (["transcode", "a", "b", "--codec", "x"], "'x' is not a codec; must be one of none, gzip, snappy, lz4, zstd\n"),
        (["transcode", "a", "b"], "Missing option '--compression-type' / '--codec'. Must be one of none, gzip, "),
        (["tail", ".", "-n", "x"], "'x' is not a valid integer."),
        (["dump", ".", "--offset", "10-20"], "'10-20' is not a range: write 10..20"),
        (["dump", ".", "--offset", "10:20"], "'10:20' is not a range: write 10..20"),
        (["dump", ".", "--time", "2015-05-17-2015-05-18"], "is not a range: write 2015-05-17..2015-05-18"),
        (["verify", ".", "--chek", "record"], "No such option '--chek'. (Did you mean one of: '--check', '--help'?)"),
    ],
)
def test_a_near_miss_is_answered_with_what_was_meant(run: Run, arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.status == 2 and message in done.err


def test_a_message_of_the_library_names_the_option(run: Run, tmp_path: Path) -> None:
    (lines := tmp_path / "lines").write_bytes(b"a line\n" * 100)
    done = run("analyze", str(lines), "--max-seconds", "0")
    assert (done.status, done.err) == (2, "recordpress: --max-seconds=0.0 is not a number above 0\n")


@pytest.mark.parametrize("name", VERBS)
def test_the_examples_of_a_verb_have_options_that_it_has(name: str) -> None:
    verb = program.get_command(click.Context(program), name)
    assert isinstance(verb, Verb)
    for typed, _ in verb.examples:
        words = list(takewhile(lambda word: word not in ("&&", ">"), shlex.split(typed)))
        if words[:2] == ["recordpress", name]:
            verb.make_context(name, words[2:])


@pytest.mark.parametrize("name", VERBS)
def test_help_breaks_no_line_in_a_name_with_a_hyphen(run: Run, name: str) -> None:
    lines = run(name, "--help").lines
    assert not [line for line in lines if re.search(r"\w-$|--$", line) or len(line) > 80]


@pytest.mark.parametrize("name", VERBS)
def test_a_shell_joins_the_lines_of_an_example(run: Run, name: str) -> None:
    verb = program.get_command(click.Context(program), name)
    assert isinstance(verb, Verb)
    shown = " ".join("\n".join(run(name, "--help").lines).replace("\\\n", "").split())
    assert [typed for typed, _ in verb.examples if typed not in shown] == []


@pytest.mark.parametrize("name", [name for name in VERBS if name not in ("doctor", "completion")])
def test_a_verb_that_takes_a_log_selects_topics_and_partitions(name: str) -> None:
    verb = program.get_command(click.Context(program), name)
    assert verb is not None
    assert {"--topic", "--partition"} <= {option for param in verb.params for option in param.opts}
