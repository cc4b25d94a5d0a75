"""What every verb has: help, exit statuses, messages; the program without its extra."""

import os
import pty
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from cli.conftest import COMMAND, Run, environment
from patience import HANG
from recordpress.cli._app import program
from recordpress.cli._verbs import VERBS
from together import thinned


def test_without_the_extra_there_is_one_line_to_install_it() -> None:
    code = "import sys; sys.modules['click'] = None; from recordpress.cli import main; sys.exit(main(['ls']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == f"recordpress: the command line needs click: {sys.executable} -m pip install click\n"


def test_doctor_needs_only_the_standard_library() -> None:
    code = """
import sys
class Finder:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names | {"recordpress"}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Finder)
sys.modules["click"] = None
from recordpress.cli import main
from recordpress.cli import _doctor
_doctor._SECONDS = 0.01
_doctor.version = lambda name: (_ for _ in ()).throw(_doctor.PackageNotFoundError(name))
sys.exit(main(["doctor"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "pip install pyarrow\n" in done.stdout and done.stdout.endswith(f"pip is  {sys.executable} -m pip\n")


def test_importing_recordpress_imports_no_command_line() -> None:
    code = "import sys, recordpress; print([name for name in ('click', 'recordpress.cli') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_version(run: Run) -> None:
    import recordpress

    assert run("--version").text == f"recordpress {recordpress.__version__}\n"


def test_help_names_every_verb(run: Run) -> None:
    done = run("--help")
    assert done.status == 0
    assert [name for name in VERBS if f"  {name} " in done.text] == list(VERBS)


def test_no_arguments_are_a_usage_error_that_prints_the_help(run: Run) -> None:
    done = run()
    assert (done.status, done.text) == (2, "")
    assert "Commands:" in done.err


@pytest.mark.parametrize("name", VERBS)
def test_help_of_a_verb_reads_like_a_manual_page(run: Run, name: str) -> None:
    done = run(name, "--help")
    assert done.status == 0
    sections = [line.rstrip(":") for line in done.lines if line and not line.startswith(" ")]
    assert sections[:2] == ["NAME", "SYNOPSIS"]
    assert sections[-3:] == ["OPTIONS", "EXAMPLES", "EXIT STATUS"]
    example = done.text.partition("EXAMPLES:\n")[2].splitlines()[0]
    assert f"recordpress {name}" in example
    assert not any(line.endswith("`") or len(line) > 80 for line in done.lines if f"recordpress {name}" not in line)


@pytest.mark.parametrize("name", VERBS)
def test_the_list_of_verbs_says_what_their_help_says(name: str) -> None:
    command = program.get_command(None, name)  # type: ignore[arg-type]
    assert command is not None
    summary = " ".join((command.help or "").partition("\n\n")[0].split())
    assert summary == VERBS[name]


def test_a_verb_that_is_not_there(run: Run) -> None:
    done = run("lst")
    assert (done.status, done.text) == (2, "")
    assert done.err.startswith("recordpress: unknown command 'lst': did you mean 'ls'?")
    assert done.err.endswith("try: recordpress --help\n")


def test_an_option_that_is_not_there(run: Run) -> None:
    done = run("completion", "--nothing", "bash")
    assert (done.status, done.text) == (2, "")
    assert done.err.startswith("recordpress completion: ")
    assert done.err.endswith("try: recordpress completion --help\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(run: Run, shell: str) -> None:
    done = run("completion", shell)
    assert done.status == 0
    assert "_RECORDPRESS_COMPLETE" in done.text


SHELLS = {  # a line is completed as the shell's own user interface does it
    "bash": """source <(recordpress completion bash); COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_recordpress_completion recordpress; printf '%s\\n' "${{COMPREPLY[@]}}" """,
    "zsh": """compdef() {{ }}; _describe() {{ print -l -- ${{(P)3}} }}; compadd() {{ print -l -- ${{(P)@[-1]}} }}
_path_files() {{ print file }}; eval "$(recordpress completion zsh)"; words=({words}); CURRENT=$#words
_recordpress_completion""",
    "fish": "recordpress completion fish | source; complete -C '{words}'",
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("recordpress trans", ["transcode"]),
        ("recordpress comp", ["compare", "compact", "completion"]),
        ("recordpress verify --che", ["--check"]),
        ("recordpress verify --check r", ["record"]),
        ("recordpress transcode --codec z", ["zstd"]),
    ],
)
def test_a_shell_completes_a_line(shell: str, words: str, completed: list[str]) -> None:
    program = shutil.which(shell)
    assert program is not None, f"{shell} is missing: build_support/debian.sh shells installs it"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    quiet = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *quiet, "-c", SHELLS[shell].format(words=words)],
        capture_output=True,
        text=True,
        timeout=HANG,
        env=environment(PATH=path),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(re.split(r"[\t:]", line)[0] for line in done.stdout.splitlines()) == sorted(completed)


def test_completion_knows_verbs_and_options(run: Run) -> None:
    words = run(_RECORDPRESS_COMPLETE="bash_complete", COMP_WORDS="recordpress comp", COMP_CWORD="1")
    assert words.lines == ["plain,compare", "plain,compact", "plain,completion"]
    shells = run(_RECORDPRESS_COMPLETE="bash_complete", COMP_WORDS="recordpress completion ", COMP_CWORD="2")
    assert shells.lines == ["plain,bash", "plain,zsh", "plain,fish"]


def test_a_reader_that_has_seen_enough() -> None:
    process = subprocess.Popen(
        [*COMMAND, "completion", "bash"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(HANG) == 141


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["transcode", "orders-0"], "recordpress transcode: missing TARGET: usage is PATH... TARGET"),
        (["repair", "orders-0"], "recordpress repair: missing TARGET: usage is PATH... TARGET"),
        (["find", "orders-0", "--header"], "recordpress find: Option '--header' requires an argument."),
        (["dump", "orders-0", "--nothing"], "recordpress dump: No such option '--nothing'."),
    ],
)
def test_a_usage_error_names_the_command(run: Run, arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert (done.status, done.out) == (2, b"")
    assert done.err.startswith(message)
    assert done.err.endswith(f"try: recordpress {arguments[0]} --help\n")


@pytest.mark.parametrize("no_color", thinned(["", "1"], 2))  # test_widths asks for no color in this process
def test_no_color_on_a_terminal(no_color: str) -> None:
    log = Path(__file__).parents[2] / "demo" / "logs"
    terminal, other = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "ls", str(log)], stdout=other, stderr=other, env=environment(TERM="xterm", NO_COLOR=no_color)
    )
    os.close(other)
    text = b""
    with suppress(OSError):  # EIO: the other end is closed
        while piece := os.read(terminal, 1 << 16):
            text += piece
    os.close(terminal)
    assert process.wait(HANG) == 0
    assert b"partition" in text and (b"\x1b[" in text) == (not no_color)
