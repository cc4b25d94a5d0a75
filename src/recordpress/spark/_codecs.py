"""Codecs of the user's own, which executors import, too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from recordpress._arguments import sequence
from recordpress.codecs import CodecRegistry
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

Codecs: TypeAlias = "CodecRegistry | str | Iterable[str] | None"


def registry_of(codecs: Codecs, argument: str = "codecs") -> CodecRegistry | None:
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
    recordpress.errors.InvalidArgumentError: 'no.such.module:codec' cannot be imported: ModuleNotFoundError: ...
    """
    if codecs is None or isinstance(codecs, CodecRegistry):
        return codecs
    kinds = "package.module:attribute, or a recordpress.CodecRegistry"
    made = CodecRegistry()
    for number, path in enumerate([codecs] if isinstance(codecs, str) else sequence(codecs, argument, kinds)):
        if not isinstance(path, str):
            kind = type(path).__name__
            raise ArgumentTypeError(f"{argument}[{number}] must be a str, {kinds}, not {kind}", field=argument)
        try:
            made.load(path)
        except (ArgumentTypeError, InvalidArgumentError) as error:
            error.field = argument
            raise
    return made
