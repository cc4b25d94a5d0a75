"""Codecs of the user's own, which executors import, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from kpress.codecs import CodecRegistry
from kpress.errors import ArgumentTypeError

Codecs: TypeAlias = "CodecRegistry | str | Iterable[str] | None"


def registry_of(codecs: Codecs) -> CodecRegistry | None:
    """The codecs of a registry, or those that ``"package.module:attribute"`` names; None: only Kafka's own.

    Only the user's own words come here, never those of data: the modules are imported.

    Raises
    ------
    InvalidArgumentError
        A path of another form, or one that cannot be imported.
    ArgumentTypeError
        Neither a registry nor paths, or no codec.

    Examples
    --------
    >>> registry_of(None) is None
    True
    >>> registry_of("no.such.module:codec")
    Traceback (most recent call last):
    kpress.errors.InvalidArgumentError: 'no.such.module:codec' cannot be imported: ModuleNotFoundError: ...
    """
    if codecs is None or isinstance(codecs, CodecRegistry):
        return codecs
    paths = [codecs] if isinstance(codecs, str) else codecs
    if not isinstance(paths, Iterable):
        raise ArgumentTypeError(
            "codecs must be a kpress.CodecRegistry, package.module:attribute or several of these, "
            f"not {type(codecs).__name__}",
            field="codecs",
        )
    made = CodecRegistry()
    for path in paths:
        made.load(path)
    return made
