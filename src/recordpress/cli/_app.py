"""The program: its verbs, and the function that runs them."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import click

import recordpress
from recordpress._arguments import hint
from recordpress.cli._outcome import INTERRUPTED, PIPE_CLOSED, USAGE, report
from recordpress.cli._output import prepare_streams, write_out
from recordpress.cli._verbs import COMPLETION_VARIABLE, PROGRAM, VERBS


class Verbs(click.Group):
    """Verbs by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"recordpress.cli.verbs.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            others = f"; commands are {', '.join(VERBS)}"
            ctx.fail(f"unknown command {args[0]!r}{hint(args[0], VERBS) or others}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"{PROGRAM} {recordpress.__version__}")
        ctx.exit()


program = Verbs(
    PROGRAM,
    help="""Inspect, check and copy Kafka's log directories without a broker.

    Paths are .log files, partition directories, log dirs, patterns, or URLs such as s3://bucket/path. Every command
    has a --help with examples.""",
    epilog="Exit status: 0 clean, 1 findings, 2 usage, 3 a file or store failed, 130 interrupted. "
    "Results and findings are printed to stdout, everything else to stderr.",
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Option(
            ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Print the version."
        )
    ],
)


def run(arguments: list[str]) -> int:
    """Run the command in the arguments; return the exit status."""
    instruction = os.environ.get(COMPLETION_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, PROGRAM, COMPLETION_VARIABLE, instruction)
    context = None
    try:
        prepare_streams()
        with program.make_context(PROGRAM, arguments) as context:
            result = program.invoke(context)
        write_out()
        return int(result or 0)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (KeyboardInterrupt, click.Abort):
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return USAGE
    except Exception as error:
        status = report(error, PROGRAM)
        try:
            write_out()
        except OSError:
            _forget_stdout()
        return status


def _forget_stdout() -> None:
    """Discard unwritten output, so that Python does not report it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
