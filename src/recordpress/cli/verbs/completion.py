"""``recordpress completion``: the shell script that completes commands, options and paths."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from recordpress.cli._app import program
from recordpress.cli._command import verb
from recordpress.cli._verbs import COMPLETION_VARIABLE, PROGRAM


@verb(
    "completion",
    ('eval "$(recordpress completion bash)"', "Complete recordpress in every shell, if this line is in ~/.bashrc."),
    ("recordpress completion zsh > ~/.zfunc/_recordpress", "Install the script for zsh, in a directory of its fpath."),
    ("recordpress completion fish > ~/.config/fish/completions/recordpress.fish", "Install the script for fish."),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    The script calls recordpress for each completion, so it stays correct when recordpress is updated."""
    completion = get_completion_class(shell)
    if completion is not None:
        click.echo(completion(program, {}, PROGRAM, COMPLETION_VARIABLE).source())
