"""The command line: verbs that call the other rooms, without a rule, format or loop over records.

::

    main ──► _app (_verbs): the verb ──► verbs/<name>: options ──► a call of recordpress ──► _output: results on stdout
                                     _command, _parameters                           _progress: on stderr
    _outcome: an exception ──► a message on stderr, and the exit status

It needs click, which the extra ``cli`` installs; without click, `main` runs only ``doctor``.
"""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Words after the name of the program; default: ``sys.argv[1:]``.

    Returns
    -------
    int
        Exit status: 0 clean, 1 findings, 2 usage, 3 a file or store failed, 130 interrupted.

    Examples
    --------
    >>> from recordpress.cli import main
    >>> main(["--version"])                                                      # doctest: +ELLIPSIS
    recordpress ...
    0
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if find_spec("click"):
        from recordpress.cli._app import run

        return run(words)
    if words in (["doctor"], ["doctor", "--json"]):
        from recordpress.cli._doctor import report

        report(as_json="--json" in words)
        return 0
    print(f"recordpress: the command line needs click: {sys.executable} -m pip install click", file=sys.stderr)
    return 2
