"""``kpress completion``: what a shell sources to complete commands, options and paths."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kpress.cli._app import program
from kpress.cli._command import verb
from kpress.cli._verbs import COMPLETION_VARIABLE, PROGRAM


@verb(
    "completion",
    ('eval "$(kpress completion bash)"', "In ~/.bashrc: complete kpress in every shell."),
    ("kpress completion zsh > ~/.zfunc/_kpress", "For zsh, in a directory of its fpath."),
    ("kpress completion fish > ~/.config/fish/completions/kpress.fish", "For fish."),
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    The script asks kpress itself what can come next, so it stays right when kpress is updated."""
    completion = get_completion_class(shell)
    if completion is not None:
        click.echo(completion(program, {}, PROGRAM, COMPLETION_VARIABLE).source())
