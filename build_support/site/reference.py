"""The reference, made of signatures and docstrings.

::

    .. recordpress-overview:: recordpress.log    its pages, in the order of the content: a table of their names, links
    .. recordpress-names:: recordpress.log       a page with the names in the content
    .. recordpress-room:: recordpress.typing     a room that needs one page only

A public name that no page describes is a warning, and so an error of `make docs`.
"""

from __future__ import annotations

import enum
import inspect
import re
from importlib import import_module
from pathlib import Path
from textwrap import indent
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from build_support.site import stubs
from build_support.site.names import Name, public_names

CONFIG = Config(
    napoleon_custom_sections=["Remedy"], napoleon_use_ivar=False, napoleon_use_rtype=False, napoleon_use_param=False
)
BODY = "   "
DESCRIBED = "recordpress_described"  # an attribute of the environment: page by full name
PAGE_NAMES = re.compile(r"\.\. recordpress-names:: (\S+)\n((?:\n| +.*\n)+)")
LOG = logging.getLogger(__name__)


class Room(SphinxDirective):
    """All names of a room; those that another room describes are links."""

    required_arguments = 1
    option_spec: ClassVar = {"without-summary": directives.flag}  # after a recordpress-picture, which has it

    def run(self) -> list[nodes.Node]:
        room = self.arguments[0]
        names = [(name, first) for name, first in public_names() if name.room == room]
        own = [name for name, first in names if name.full == first.full]
        lines = [] if "without-summary" in self.options else summary(room)
        lines += module_lines(room)
        for name in own:
            lines += [*described(name), ""]
        note_described(self.env, own)
        return self.parse_text_to_nodes("\n".join([*lines, *elsewhere(names)]))


class Names(SphinxDirective):
    """Some names of a room."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        room = self.arguments[0]
        own = {name.name: name for name, first in public_names() if name.room == room and name.full == first.full}
        wanted = " ".join(self.content).split()
        if unknown := [name for name in wanted if name not in own]:
            raise self.error(f"{room} does not describe {', '.join(unknown)}")
        lines = [f".. py:currentmodule:: {room}", ""]
        for name in wanted:
            lines += [*described(own[name]), ""]
        note_described(self.env, [own[name] for name in wanted])
        return self.parse_text_to_nodes("\n".join(lines))


class Overview(SphinxDirective):
    """A table of the names of each page of a room."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        room = self.arguments[0]
        pages = [page for page in map(str.strip, self.content) if page]
        lines = [*summary(room), *module_lines(room), ".. toctree::", "   :hidden:", "", *indented(pages), ""]
        for page in pages:
            path = Path(self.env.doc2path(self.env.docname)).parent / f"{page}.rst"
            self.env.note_dependency(str(path))
            rows = [(f":py:obj:`{name.name} <{name.full}>`", first_sentence(name)) for name in names_on(path)]
            lines += [f".. rubric:: :doc:`{page}`", "", *rows_of(rows)]
        names = [(name, first) for name, first in public_names() if name.room == room]
        return self.parse_text_to_nodes("\n".join([*lines, *elsewhere(names)]))


def names_on(path: Path) -> list[Name]:
    """The names that a page describes."""
    own = {first.full: first for _, first in public_names()}
    text = path.read_text(encoding="utf-8")
    found = [own[f"{room}.{name}"] for room, names in PAGE_NAMES.findall(text) for name in names.split()]
    rooms = re.findall(r"recordpress-room:: (\S+)", text)
    return [*found, *(name for name in own.values() if name.room in rooms)]


class Picture(SphinxDirective):
    """All that a room says of itself: which file does what."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        text = inspect.getdoc(import_module(self.arguments[0])) or ""
        return self.parse_text_to_nodes("\n".join(prose(text)))


def summary(room: str) -> list[str]:
    return [*prose((inspect.getdoc(import_module(room)) or "").partition("\n\n")[0]), ""]


def module_lines(room: str) -> list[str]:
    return [f".. py:module:: {room}", "", f".. py:currentmodule:: {room}", ""]


def elsewhere(names: list[tuple[Name, Name]]) -> list[str]:
    links = [f":py:obj:`{name.name} <{first.full}>`" for name, first in names if name.full != first.full]
    return [f"Described elsewhere: {', '.join(links)}."] if links else []


def first_sentence(name: Name) -> str:
    paragraph = " ".join(text_of(name).partition("\n\n")[0].split())
    return re.split(r"(?<=\w[.:])\s", paragraph, maxsplit=1)[0].rstrip(".:") + "."


def rows_of(rows: list[tuple[str, ...]], head: tuple[str, ...] = ()) -> list[str]:
    """A list-table."""
    if not rows:
        return []
    lines = [".. list-table::", "   :header-rows: 1" if head else "   :class: overview", ""]
    for row in (head, *rows) if head else rows:
        for number, cell in enumerate(row):
            lines += indented([("* - " if number == 0 else "  - ") + " ".join(cell.split())])
    return [*lines, ""]


def note_described(env: BuildEnvironment, names: list[Name]) -> None:
    pages = vars(env).setdefault(DESCRIBED, {})
    pages.update({name.full: env.docname for name in names})


def forget_page(app: Sphinx, env: BuildEnvironment, page: str) -> None:
    pages = vars(env).setdefault(DESCRIBED, {})
    vars(env)[DESCRIBED] = {name: where for name, where in pages.items() if where != page}


def check_complete(app: Sphinx, env: BuildEnvironment) -> None:
    for name in sorted({first.full for _, first in public_names()} - set(vars(env).get(DESCRIBED, {}))):
        LOG.warning("no page of the reference describes %s", name)


def described(name: Name) -> list[str]:
    if inspect.isclass(name.value):
        return _class(name)
    if name.is_described_by_itself:
        texts = stubs.signatures(name.value.__module__, name.value.__name__) or [_inspected(name.value)]
        return _entry("py:function", [name.name + text for text in texts], inspect.getdoc(name.value) or "")
    return _entry("py:data", [name.name], text_of(name))


def text_of(name: Name) -> str:
    """The docstring of a name, or the text next to its assignment."""
    if name.is_described_by_itself:
        text = inspect.getdoc(name.value) or ""
        if not text.startswith(f"{name.value.__name__}("):  # what a dataclass says if nobody says anything
            return text
    return next(filter(None, (stubs.text_beside(module, name.name) for module in _modules_of(name))), "")


def _modules_of(name: Name) -> list[str]:
    """The modules in which a name without a docstring may have been given its value."""
    modules, new = [], [name.room]
    while new:
        modules += new
        found = [
            node.module
            for module in new
            for node in getattr(stubs.tree_of(module), "body", [])
            if node.__class__.__name__ == "ImportFrom" and name.name in [alias.name for alias in node.names]
        ]
        new = [module for module in dict.fromkeys(found) if module not in modules]
    return modules


def _inspected(value: object) -> str:
    try:
        return str(inspect.signature(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(...)"


def _class(name: Name) -> list[str]:
    cls = name.value
    kind = "py:exception" if issubclass(cls, BaseException) else "py:class"
    text = text_of(name)
    lines = _entry(kind, [name.name + stubs.constructor(cls)], text)
    if issubclass(cls, enum.Enum):
        for member in cls:
            lines += ["", *indented(_entry("py:attribute", [member.name], "", f"value: {member.value!r}"))]
        return lines
    for sort, member, texts in stubs.members(cls):
        if re.search(rf"(?m)^(\w+, )*{member}(, \w+)* :", text):
            continue  # among the attributes of the docstring
        lines += ["", *indented(_member(cls, sort, member, texts))]
    return lines


def _member(cls: type, sort: str, member: str, texts: list[str]) -> list[str]:
    value = inspect.getattr_static(cls, member, None)
    value = getattr(value, "__func__", value)
    doc = "" if sort == "attribute" and not inspect.isdatadescriptor(value) else inspect.getdoc(value) or ""
    if sort in ("property", "attribute"):
        doc = doc.removeprefix(f"{texts[0]}: ") if texts else doc  # the type stands next to the name
        return _entry(f"py:{sort}", [member], doc, *(f"type: {text}" for text in texts[:1]))
    lines = _entry("py:method", [member + text for text in texts], doc)
    if sort in ("classmethod", "staticmethod"):
        lines.insert(len(texts), f"{BODY}:{sort}:")
    return lines


def _entry(kind: str, signatures: list[str], text: str, *options: str) -> list[str]:
    first, *others = signatures
    head = f".. {kind}:: "
    shown = [f":{option.partition(': ')[0]}: {option.partition(': ')[2]}" for option in options]
    return [head + first, *(" " * len(head) + other for other in others), *indented(shown), "", *indented(prose(text))]


def prose(text: str) -> list[str]:
    """A docstring as reStructuredText."""
    return str(NumpyDocstring(text, CONFIG)).split("\n")


def indented(lines: list[str]) -> list[str]:
    return indent("\n".join(lines), BODY).split("\n")


def tidy(app: Sphinx, document: nodes.document, name: str) -> None:
    """No dash after an error that needs no words; no empty lines, which doctests ask for, at the end of a sample."""
    for paragraph in document.findall(nodes.paragraph):
        if len(paragraph) > 1 and paragraph[-1].astext() == " -- ":
            paragraph.pop()
    for block in document.findall(nodes.literal_block):
        text = block.astext()
        if block.rawsource == text and text.endswith("\n"):  # else it is not highlighted
            block.rawsource = text.rstrip("\n")
            block[:] = [nodes.Text(block.rawsource)]


def setup(app: Sphinx) -> None:
    app.add_directive("recordpress-room", Room)
    app.add_directive("recordpress-names", Names)
    app.add_directive("recordpress-overview", Overview)
    app.add_directive("recordpress-picture", Picture)
    app.connect("env-purge-doc", forget_page)
    app.connect("env-check-consistency", check_complete)
    app.connect("doctree-resolved", tidy)
