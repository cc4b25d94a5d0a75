"""A mermaid flowchart as an SVG: GitHub draws the same text by itself, the site needs neither scripts nor a network.

Of mermaid's language only what our pages use: nodes in ``[]`` and ``{}``, and edges with or without a label.
"""

from __future__ import annotations

import re
import subprocess

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

NODE = r'(\w+)(?:(\[|\{)"(.*?)"(?:\]|\}))?'
EDGE = re.compile(rf'\s*{NODE}\s*(?:--\s*"?(.*?)"?\s*)?-->\s*{NODE}\s*')
ALONE = re.compile(rf"\s*{NODE}\s*")


def dot_of(text: str) -> str:
    """The same chart in Graphviz's language."""
    first, *lines = [line for line in text.splitlines() if line.strip()]
    direction = first.split()[-1].replace("TD", "TB")
    out = [
        f"digraph {{ rankdir={direction}; bgcolor=transparent; nodesep=0.12; ranksep=0.35;",
        'node [shape=box, style=rounded, fontname="sans-serif", fontsize=11, margin="0.1,0.06"];',
        'edge [fontname="sans-serif", fontsize=11, arrowsize=0.7];',
    ]
    for line in lines:
        edge = EDGE.fullmatch(line)
        alone = None if edge else ALONE.fullmatch(line)
        if edge:
            a, shape_a, text_a, label, b, shape_b, text_b = edge.groups()
            out += [*_node(a, shape_a, text_a), *_node(b, shape_b, text_b)]
            out.append(f"{a} -> {b} [label={_quoted(label or '')}];")
        elif alone:
            out += _node(*alone.groups())
        else:
            raise ValueError(f"not understood: {line.strip()}")
    return "\n".join([*out, "}"])


def _node(name: str, shape: str | None, text: str | None) -> list[str]:
    if text is None:
        return []
    style = ', style="rounded,bold"' if shape == "{" else ""
    return [f"{name} [label={_quoted(text)}{style}];"]


def _quoted(text: str) -> str:
    text = re.sub(r"<br\s*/?>", "\n", text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n") + '"'


def svg_of(text: str) -> str:
    """In the colour of the text around it, light or dark."""
    made = subprocess.run(["dot", "-Tsvg"], input=dot_of(text), capture_output=True, text=True, check=True).stdout
    svg = made[made.index("<svg") :]
    svg = re.sub(r"<!--.*?-->\n?|<title>.*?</title>\n?", "", svg, flags=re.S)
    svg = re.sub(r'<svg width="(\d+)pt" height="\d+pt"', r'<svg role="img" style="max-width:\1pt;width:100%"', svg)
    svg = svg.replace('"black"', '"currentColor"').replace("<text ", '<text fill="currentColor" ')
    return f'<div class="flowchart">{svg}</div>'


class Mermaid(SphinxDirective):
    has_content = True

    def run(self) -> list[nodes.Node]:
        try:
            return [nodes.raw("", svg_of("\n".join(self.content)), format="html")]
        except (ValueError, OSError, subprocess.CalledProcessError) as error:
            raise self.error(f"flowchart: {error}") from error


def setup(app: Sphinx) -> None:
    app.add_directive("mermaid", Mermaid)
