"""``recordpress completion``: what a shell sources to complete commands, options and paths."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from recordpress.cli._app import program
from recordpress.cli._command import verb
from recordpress.cli._verbs import COMPLETION_VARIABLE, PROGRAM


@verb(
    "completion",
    ('eval "$(recordpress completion bash)"', "In ~/.bashrc: complete recordpress in every shell."),
    ("recordpress completion zsh > ~/.zfunc/_recordpress", "For zsh, in a directory of its fpath."),
    ("recordpress completion fish > ~/.config/fish/completions/recordpress.fish", "For fish."),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    The script asks recordpress itself what can come next, so it stays right when recordpress is updated."""
    completion = get_completion_class(shell)
    if completion is not None:
        click.echo(completion(program, {}, PROGRAM, COMPLETION_VARIABLE).source())
