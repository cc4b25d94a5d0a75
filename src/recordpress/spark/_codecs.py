"""Codecs other than Kafka's, which executors import too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from recordpress._arguments import sequence
from recordpress.codecs import CodecRegistry
from recordpress.errors import ArgumentTypeError, InvalidArgumentError

Codecs: TypeAlias = "CodecRegistry | str | Iterable[str] | None"


def registry_of(codecs: Codecs, argument: str = "codecs") -> CodecRegistry | None:
    """Return a registry, or import the codecs at ``"package.module:attribute"``, which must come from the user, never
    from data."""
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
