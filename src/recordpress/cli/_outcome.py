"""Exit statuses, and the messages for exceptions."""

from __future__ import annotations

import os
import sys

import click

from recordpress._file_names import URL, printable
from recordpress.cli._output import say
from recordpress.cli._verbs import VERBS
from recordpress.errors import (
    ArgumentTypeError,
    InvalidArgumentError,
    RecordpressError,
    StorageError,
    UnsupportedCompressionTypeError,
)
from recordpress.log import Finding

CLEAN = 0
FINDINGS = 1
USAGE = 2
FAILED = 3  # a file or store failed
INTERRUPTED = 130  # as in shells: 128 plus the number of SIGINT
PIPE_CLOSED = 141  # 128 plus the number of SIGPIPE: the reader closed the pipe


def report(error: Exception, program: str) -> int:
    """Print an error, its place and the next command to try; return the exit status."""
    if isinstance(error, click.ClickException):
        command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else program
        return _print_error(command, error.format_message(), f"{command} --help", USAGE)
    if isinstance(error, InvalidArgumentError | ArgumentTypeError | ImportError):
        context = click.get_current_context(silent=True)
        command = context.command_path if context else program
        return _print_error(command, str(getattr(error, "message", error)), "", USAGE)
    if isinstance(error, RecordpressError) and not isinstance(error, StorageError):
        return _print_error(program, str(Finding.of_error(error)), _after_damage(error), FINDINGS)
    if isinstance(error, OSError):
        return _print_error(program, _text_of(error), "", FAILED)
    raise error


def _print_error(program: str, message: str, try_next: str, status: int) -> int:
    say(f"{program}: {message}", file=sys.stderr)
    if try_next:
        print(f"try: {try_next}", file=sys.stderr)  # not wrapped, so that it can be copied
    return status


def _after_damage(error: RecordpressError) -> str:
    """Return the option that imports a missing codec, or the command that finds all damage in the partition."""
    if isinstance(error, UnsupportedCompressionTypeError) and error.field == "pluginClassName":
        return "the option --codec-plugin MODULE:NAME, which imports the codec"
    if not error.file or "scan" not in VERBS:
        return ""
    return f"recordpress scan {quoted(os.path.dirname(error.file) or os.curdir)}"


def _text_of(error: OSError) -> str:
    if isinstance(error, StorageError):
        return str(error)
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return ": ".join([*names, error.strerror or str(error)])


def quoted(text: str) -> str:
    """Quote text for a shell and a terminal."""
    from shlex import quote

    if URL.match(text):
        text = printable(text)
    if text.isprintable():
        return quote(text)
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b"'\\" else f"\\x{byte:02x}" for byte in os.fsencode(text))
    return f"$'{''.join(plain)}'"  # as bash and zsh read it
