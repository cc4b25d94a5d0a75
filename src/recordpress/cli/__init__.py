"""The command line: verbs over the calls of the other rooms, and no rule, format or loop over records of its own.

::

    main ──► _app (_verbs): the verb ──► verbs/<name>: options ──► a call of recordpress ──► _output: results on stdout
                                     _command, _parameters                           _progress: on stderr
    _outcome: what an exception means ──► a message on stderr, and the exit status

What every verb shares is said once: exit statuses and messages in `_outcome`, ``--help`` and common options in
`_command`, sizes, times and ranges in `_parameters`, tables, JSON and units in `_output`.

Needs click and rich, the extra ``recordpress[cli]``; without them `main` says how to get them. They are imported by the
modules that use them, when they are used.
"""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]

INSTALL = "pip install 'recordpress[cli]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    arguments : sequence of str, optional
        After the name of the program; ``sys.argv[1:]`` by default.

    Returns
    -------
    int
        The exit status: 0 clean, 1 findings, 2 usage, 3 a file or store failed, 130 interrupted.

    Examples
    --------
    >>> from recordpress.cli import main
    >>> main(["--version"])                                                         # doctest: +SKIP
    recordpress 0.1.0
    0
    """
    for name in ("click", "rich"):
        if find_spec(name) is None:
            print(f"recordpress: the command line needs {name}: {INSTALL}", file=sys.stderr)
            return 2
    from recordpress.cli._app import run

    return run(sys.argv[1:] if arguments is None else list(arguments))
