"""What verbs are made of: a command whose ``--help`` reads like a manual page, and the options that many have."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any, TypeVar

import click

from recordpress.cli._parameters import SIZE, Paths
from recordpress.codecs import CodecRegistry
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

_Function = TypeVar("_Function", bound=Callable[..., Any])

EXIT_STATUS = (
    ("0", "Clean."),
    ("1", "Findings: damage, or whatever else the command looks for."),
    ("2", "Usage: an option or a path that is not accepted."),
    ("3", "A file or store failed."),
    ("130", "Interrupted."),
)


class Verb(click.Command):
    """A command with examples.

    Parameters
    ----------
    examples : sequence of (str, str)
        What is typed, and what it does.
    """

    def __init__(self, *args: Any, examples: tuple[tuple[str, str], ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            if error.param is not None and error.param.name == "paths" and any(p.name == "target" for p in self.params):
                # click gives the last argument to TARGET
                raise click.UsageError("say what is read and, after it, what is written: PATH... TARGET", ctx) from None
            raise
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click's parser does not know it
            raise

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        summary, _, description = cleandoc(self.help or "").partition("\n\n")
        with formatter.section("NAME"):
            formatter.write_text(f"{ctx.command_path} - {' '.join(summary.split())}")
        with formatter.section("SYNOPSIS"):
            formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix="")
        if description:
            with formatter.section("DESCRIPTION"):
                formatter.write_text(description)
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = [record for option in options if (record := option.get_help_record(ctx))]
        with formatter.section("OPTIONS"):
            formatter.write_dl(records, col_max=32)
        with formatter.section("EXAMPLES"):
            for typed, does in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{typed}\n")
                formatter.indent()
                formatter.write_text(does)
                formatter.dedent()
        with formatter.section("EXIT STATUS"):
            formatter.write_dl(EXIT_STATUS)


def verb(
    name: str, *examples: tuple[str, str], **settings: Any
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Make a function a command. Its docstring is the help: a summary, an empty line, the description."""
    return click.command(name, cls=Verb, examples=examples, **settings)


def paths(required: bool = True) -> Callable[[_Function], _Function]:
    """PATH...: what is read."""
    return click.argument("paths", metavar="PATH...", nargs=-1, required=required, type=Paths())


def target(function: _Function) -> _Function:
    """TARGET: what is written."""
    return click.argument("target", metavar="TARGET", type=Paths())(function)


def as_json(function: _Function) -> _Function:
    """--json: the result as one JSON object."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")(function)


def index_interval(function: _Function) -> _Function:
    """--index-interval-bytes: what indexes that a broker makes depend on."""
    from recordpress.log import INDEX_INTERVAL_BYTES

    return click.option(
        "--index-interval-bytes",
        type=SIZE,
        default=INDEX_INTERVAL_BYTES,
        show_default=True,
        help="The topic's or broker's index.interval.bytes.",
    )(function)


def _loaded(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> CodecRegistry | None:
    if not given:
        return None
    codecs = CodecRegistry()
    for path in given:
        try:
            codecs.load(path)
        except (ArgumentTypeError, InvalidArgumentError) as error:
            raise click.BadParameter(error.message, ctx, param) from error
    return codecs


def codec_plugins(function: _Function) -> _Function:
    """--codec-plugin: codecs of the user's own, which must be known before --codec is looked at."""
    return click.option(
        "--codec-plugin",
        "codecs",
        metavar="MODULE:NAME",
        multiple=True,
        is_eager=True,
        callback=_loaded,
        help="Import a codec that batches name (KIP-984), an object with compress and decompress: only code that you "
        "trust. May be given several times.",
    )(function)
