"""Base of all verbs: a command whose ``--help`` is a manual page, and options of several verbs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import cleandoc
from typing import Any, TypeVar, cast, get_args

import click

import recordpress
from recordpress._arguments import MOST_THREADS
from recordpress._threads import cores
from recordpress._version import NEWEST_KAFKA
from recordpress.cli._outcome import quoted
from recordpress.cli._parameters import SIZE, Codec, Integer, Level, Paths
from recordpress.codecs import CodecRegistry
from recordpress.errors import ArgumentTypeError, InvalidArgumentError
from recordpress.log import Log
from recordpress.typing import IsolationLevel

_Function = TypeVar("_Function", bound=Callable[..., Any])

EXIT_STATUS = (
    ("0", "Clean."),
    ("1", "Findings: damage, or anything else that the command looks for."),
    ("2", "Usage: an option or a path was not accepted."),
    ("3", "A file or store failed."),
    ("130", "Interrupted."),
)
_HYPHEN = "\0"  # for a hyphen in text that click wraps: click breaks lines at hyphens, even in option names


def _unbroken(text: str) -> str:
    """Return a text whose hyphenated words are not broken; `Verb.format_help` restores the hyphens."""
    return text.replace("-", _HYPHEN)


def _command_lines(typed: str, width: int, indent: str) -> str:
    """Return a command as lines that a shell joins; an option and its value stay together."""
    from textwrap import wrap

    text = re.sub(r"( -\S+) (?!-)", "\\1\xa0", typed)
    lines = wrap(text, width - len(indent), subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return indent + f" \\\n{indent}".join(lines).replace("\xa0", " ") + "\n"


class Verb(click.Command):
    """Command with examples."""

    def __init__(self, *args: Any, examples: tuple[tuple[str, str], ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.MissingParameter as error:
            if error.param is not None and error.param.name == "paths" and any(p.name == "target" for p in self.params):
                # click gives the last argument to TARGET
                raise click.UsageError("missing TARGET: usage is PATH... TARGET", ctx) from None
            raise
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click's parser does not know the context
            raise

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (ArgumentTypeError, InvalidArgumentError) as error:
            error.message = self._with_options(error.message)
            raise

    def _with_options(self, message: str) -> str:
        """Return a message of the library that names options instead of arguments."""
        options = {param.name: max(param.opts, key=len) for param in self.params if "_" in (param.name or "")}
        words = r"(?<![^\s(])\w+(?=[\s=:;,)]|$)"  # not parts of paths
        return re.sub(words, lambda name: options.get(name[0], name[0]), message)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        summary, _, description = _unbroken(cleandoc(self.help or "")).partition("\n\n")
        with formatter.section("NAME"):
            formatter.write_text(f"{ctx.command_path} - {' '.join(summary.split())}")
        with formatter.section("SYNOPSIS"):
            formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), prefix="")
        if description:
            with formatter.section("DESCRIPTION"):
                formatter.write_text(description)
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        records = [(record[0], _unbroken(record[1])) for option in options if (record := option.get_help_record(ctx))]
        with formatter.section("OPTIONS"):
            formatter.write_dl(records, col_max=32)
        with formatter.section("EXAMPLES"):
            for typed, does in self.examples:
                formatter.write(_command_lines(typed, formatter.width, " " * formatter.current_indent))
                formatter.indent()
                formatter.write_text(_unbroken(does))
                formatter.dedent()
        with formatter.section("EXIT STATUS"):
            formatter.write_dl(EXIT_STATUS)
        formatter.buffer[:] = [text.replace(_HYPHEN, "-") for text in formatter.buffer]


def verb(
    name: str, *examples: tuple[str, str], **settings: Any
) -> Callable[[Callable[..., int | None]], click.Command]:
    """Turn a function into a command. Its docstring is the help: a summary, an empty line and the description."""
    return click.command(name, cls=Verb, examples=examples, **settings)


@dataclass(frozen=True)
class Sources:
    """Paths, and the selection of topics and partitions."""

    paths: tuple[str, ...]
    topics: tuple[str, ...] = ()
    partitions: tuple[int, ...] = ()

    def opened(self, codecs: CodecRegistry | None = None) -> Log:
        """Return the log."""
        topics, partitions = self.topics or None, self.partitions or None
        log: Log = recordpress.open_log(self.paths, codecs=codecs, topics=topics, partitions=partitions)
        return log

    def given(self, codecs: CodecRegistry | None = None) -> Any:
        """Return the argument for the library: a log, several paths, or one path, which it may treat differently."""
        if self.topics or self.partitions:
            return self.opened(codecs)
        return self.paths[0] if len(self.paths) == 1 else list(self.paths)

    def typed(self) -> str:
        """Return the paths and the selection, quoted for a command line."""
        wanted = [*(f"--topic={one}" for one in self.topics), *(f"--partition={one}" for one in self.partitions)]
        return " ".join(quoted(one) for one in (*self.paths, *wanted))


def paths(function: _Function) -> _Function:
    """Add PATH..., the sources, with --topic and --partition."""
    return _with_paths(function, "PATH...", True)


def optional_paths(function: _Function) -> _Function:
    """Add an optional PATH..., for a verb with an option that replaces it."""
    return _with_paths(function, "[PATH...]", False)


def two_paths(function: _Function) -> _Function:
    """Add LEFT and RIGHT, two sources, with --topic and --partition for both."""
    return _with_paths(function, "LEFT RIGHT", True)


def log_dir(function: _Function) -> _Function:
    """Add LOG_DIR, with --topic and --partition."""
    return _with_paths(function, "LOG_DIR", True)


def _with_paths(function: _Function, metavar: str, required: bool) -> _Function:

    @wraps(function)
    def with_sources(
        *args: Any,
        paths: tuple[str, ...],
        only_topics: tuple[str, ...],
        only_partitions: tuple[int, ...],
        **options: Any,
    ) -> Any:
        return function(*args, paths=Sources(paths, only_topics, only_partitions), **options)

    for option in (
        click.option(
            "--partition",
            "only_partitions",
            metavar="N",
            multiple=True,
            type=int,
            help="Number of a partition to select; default: all. Repeatable.",
        ),
        click.option(
            "--topic",
            "only_topics",
            metavar="NAME",
            multiple=True,
            help="Name or pattern of topics to select; default: all. Repeatable.",
        ),
        click.argument("paths", metavar=metavar, nargs=-1, required=required, type=Paths()),
    ):
        with_sources = option(with_sources)
    return cast(_Function, with_sources)


def target(function: _Function) -> _Function:
    """Add TARGET, the destination."""
    return click.argument("target", metavar="TARGET", type=Paths())(function)


def as_json(function: _Function) -> _Function:
    """Add --json, which prints the result as one JSON object."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")(function)


def isolation_level(function: _Function) -> _Function:
    """Add --isolation-level."""
    return click.option(
        "--isolation-level",
        type=click.Choice(get_args(IsolationLevel)),
        default="read_uncommitted",
        show_default=True,
        help="read_committed omits records of aborted and of open transactions.",
    )(function)


def producer_size(name: str, default: int) -> Callable[[_Function], _Function]:
    """Add an option for a producer's setting in bytes."""
    option = "--" + name.replace(".", "-")
    return click.option(option, type=SIZE, default=default, show_default=True, help=f"The producer's {name}.")


def threads(text: str) -> Callable[[_Function], _Function]:
    """Add --threads."""
    return click.option(
        "--threads", metavar="N", type=Integer(1, MOST_THREADS), default=cores, show_default="cores", help=text
    )


def sample_options(function: _Function) -> _Function:
    """Add --sample and --seed, the sample of a log."""
    seed = click.option(
        "--seed", type=Integer(0), default=0, show_default=True, help="Seed for the places of the sample."
    )
    return sample_size("Size of the uncompressed sample.")(seed(function))


def sample_size(text: str) -> Callable[[_Function], _Function]:
    """Add --sample."""
    return click.option(
        "--sample", "sample_bytes", metavar="SIZE", type=SIZE, default="64MiB", show_default=True, help=text
    )


def broker_version(function: _Function) -> _Function:
    """Add --broker-version, the release of Kafka whose rules apply."""
    return click.option(
        "--broker-version",
        metavar="RELEASE",
        default=NEWEST_KAFKA,
        show_default=True,
        help="Kafka release, 0.8.2 or newer.",
    )(function)


def _inverted(ctx: click.Context, param: click.Parameter, given: bool) -> bool:
    return not given


def copy_options(codec_help: str, dry_run_help: str, codec_required: bool) -> Callable[[_Function], _Function]:
    """Add the options of verbs that copy a log, named as the arguments of `recordpress.transcode`."""

    def add(function: _Function) -> _Function:
        for option in reversed(
            (
                compression_type(codec_help, required=codec_required),
                level("Codec level"),
                threads("Number of worker threads."),
                click.option(
                    "--no-resume",
                    "resume",
                    is_flag=True,
                    callback=_inverted,
                    help="Ignore the progress of an interrupted run.",
                ),
                click.option("--dry-run", is_flag=True, help=dry_run_help),
                codec_plugins,
                as_json,
            )
        ):
            function = option(function)
        return function

    return add


def compression_type(text: str, default: str | None = None, **settings: Any) -> Callable[[_Function], _Function]:
    """Add --compression-type, or --codec for short."""
    if default is not None:
        settings |= {"default": default, "show_default": True}
    return click.option("--compression-type", "--codec", type=Codec(), help=text, **settings)


def level(text: str) -> Callable[[_Function], _Function]:
    """Add --level."""
    return click.option(
        "--level",
        type=Level(),
        help=f"{text}; for zstd, parameters may follow: 19,windowLog=20,strategy=btopt. Default: the level of Kafka's "
        "Java producer.",
    )


def index_interval(function: _Function) -> _Function:
    """Add --index-interval-bytes, the distance between index entries."""
    from recordpress.log.check.rebuild import INDEX_INTERVAL_BYTES

    return click.option(
        "--index-interval-bytes",
        type=SIZE,
        default=INDEX_INTERVAL_BYTES,
        show_default=True,
        help="The index.interval.bytes of the topic or broker.",
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


def _read_with(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> None:
    for name in given:
        try:
            (ctx.params["codecs"] or CodecRegistry()).read_with(name)
        except InvalidArgumentError as error:
            raise click.BadParameter(error.message, ctx, param) from error


def codec_plugins(function: _Function) -> _Function:
    """Add --codec-plugin, which click evaluates before --codec, and --read-with."""
    function = click.option(
        "--read-with",
        metavar="NAME",
        multiple=True,
        expose_value=False,
        callback=_read_with,
        help="Loaded plug-in to decompress one of Kafka's codecs with: gzip:isal reads gzip batches. Repeatable.",
    )(function)
    return click.option(
        "--codec-plugin",
        "codecs",
        metavar="MODULE:NAME",
        multiple=True,
        is_eager=True,
        callback=_loaded,
        help="Codec to import, an object with compress and decompress: for batches that name it (KIP-984) or, if it is "
        "named like gzip:isal, as another implementation of Kafka's gzip. Import only code that you trust. Repeatable.",
    )(function)
