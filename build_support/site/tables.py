"""Tables of the reference that code makes: errors, verbs, JSON schemas."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from build_support.site.names import public_names
from build_support.site.reference import rows_of
from recordpress.errors import RecordpressError

DOCS = Path(__file__).parents[2] / "docs"


class _Made(SphinxDirective):
    """What `lines` says, as reStructuredText."""

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes("\n".join(self.lines(*self.arguments)), allow_section_headings=True)

    def lines(self, *arguments: str) -> list[str]:
        raise NotImplementedError


class Verbs(_Made):
    """A table of the verbs of the command line, with a page for each."""

    def lines(self, *arguments: str) -> list[str]:
        from recordpress.cli._verbs import VERBS

        pages = [f"   command-line/{verb}" for verb in VERBS]
        rows = [(f":doc:`recordpress {verb} <command-line/{verb}>`", literal(text)) for verb, text in VERBS.items()]
        return [".. toctree::", "   :hidden:", "", *pages, "", *rows_of(rows)]


class _OfVerb(_Made):
    """What a verb's command says, from click's own objects."""

    required_arguments = 1
    optional_arguments = 0

    def lines(self, *arguments: str) -> list[str]:
        command = import_module(f"recordpress.cli.verbs.{arguments[0]}").command
        return self.lines_of(command, click.Context(command, info_name=arguments[0]))

    def lines_of(self, command: Any, context: click.Context) -> list[str]:
        raise NotImplementedError


class Verb(_OfVerb):
    """The usage, the description and the examples of a verb."""

    def lines_of(self, command: Any, context: click.Context) -> list[str]:
        usage = " ".join(["recordpress", str(context.info_name), *command.collect_usage_pieces(context)])
        lines = [
            ".. code-block:: text",
            "",
            f"   {usage}",
            "",
            *code_as_literal(inspect.cleandoc(command.help or "")),
            "",
        ]
        for typed, meaning in getattr(command, "examples", ()):
            lines += [literal(meaning).removesuffix(".") + "::", "", f"   {typed}", ""]
        return lines


class Options(_OfVerb):
    """The options of a verb."""

    def lines_of(self, command: Any, context: click.Context) -> list[str]:
        rows = [option.get_help_record(context) for option in command.get_params(context)]
        return rows_of([(f"``{row[0]}``", literal(row[1])) for row in rows if row and row[1]], ("Option", "Meaning"))


class Errors(_Made):
    """Every exception: its base, Kafka's code, and what to do about it."""

    def lines(self, *arguments: str) -> list[str]:
        rows = [
            (
                f":py:exc:`{full.removeprefix('recordpress.')} <{full}>`",
                str(int(cls.code)) if cls.code else "",
                _remedy(cls),
            )
            for full, cls in public_errors().items()
        ]
        return rows_of(rows, ("Error", "Kafka's code", "What to do"))


def public_errors() -> dict[str, type]:
    """By the full name: the exceptions of all rooms."""
    described = {first.full: first.value for _, first in public_names()}
    return {full: cls for full, cls in described.items() if inspect.isclass(cls) and issubclass(cls, RecordpressError)}


def _remedy(cls: type) -> str:
    """The section Remedy of a docstring."""
    found = re.search(r"Remedy\n-+\n(.*?)(?:\n\n\w+\n-+\n|\Z)", inspect.getdoc(cls) or "", re.S)
    if not found:
        raise ValueError(f"the docstring of {cls.__name__} has no section Remedy")
    return " ".join(found[1].split())


class Schema(_Made):
    """The fields of a JSON schema of docs/."""

    required_arguments = 1
    optional_arguments = 0

    def lines(self, *arguments: str) -> list[str]:
        path = DOCS / arguments[0]
        schema = json.loads(path.read_text(encoding="utf-8"))
        rows = [(f"``{name}``", kind, text) for name, kind, text in fields_of(schema, schema)]
        text = schema.get("description", "")
        file = f":download:`{path.name} </{path.name}>`"
        return [literal(text), "", file, "", *rows_of(rows, ("Field", "Type", ""))]


def fields_of(schema: dict[str, Any], whole: dict[str, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    schema = _resolved(schema, whole)
    for name, field in schema.get("properties", {}).items():
        at = f"{path}.{name}" if path else name
        field = {**_resolved(field, whole), **{k: v for k, v in field.items() if k != "$ref"}}
        yield at, _type(field), literal(field.get("description", field.get("title", "")))
        yield from fields_of(field, whole, at)
        yield from fields_of(field.get("items", {}), whole, f"{at}[]")
    if "items" in schema and not path:
        yield from fields_of(schema["items"], whole, "[]")
    for choice in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from fields_of(choice, whole, path)


def _resolved(field: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in field:
        found: Any = whole
        for part in field["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        field = found
    return field


def _type(field: dict[str, Any]) -> str:
    if "enum" in field:
        return " | ".join(f"``{json.dumps(value)}``" for value in field["enum"])
    if "const" in field:
        return f"``{json.dumps(field['const'])}``"
    kind = field.get("type", "")
    return " | ".join(kind) if isinstance(kind, list) else kind


def literal(text: str) -> str:
    """Plain text that reStructuredText reads as it is, with code in single backticks as code."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(f"`{part}`" if part.startswith("`") else re.sub(r"([*_|\\`])", r"\\\1", part) for part in parts)


def code_as_literal(text: str) -> list[str]:
    return [literal(line) for line in text.replace("\b\n", "").split("\n")]


def setup(app: Sphinx) -> None:
    directives = {"verbs": Verbs, "verb": Verb, "options": Options, "errors": Errors, "schema": Schema}
    for name, directive in directives.items():
        app.add_directive(f"recordpress-{name}", directive)
