"""Names of recordpress in text become links. One that nothing has is a warning, and so an error of `make docs`."""

from __future__ import annotations

import builtins
import re

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

NAME = re.compile(r"recordpress(\.[A-Za-z]\w*)+(\(\))?")
# Names that several rooms have: whose is meant outside of these rooms.
MEANT = {"Finding": "recordpress.log.Finding"} | {
    name: f"recordpress.{name}" for name in ("ControlRecord", "compress", "crc32c", "decompress", "transcode")
}
OWNERS = (
    "recordpress.broker",
    "recordpress.adapters.aiokafka",
    "recordpress.adapters.kafka_python",
    "recordpress.spark",
)
LOG = logging.getLogger(__name__)


class Linked(SphinxTransform):
    """```recordpress.open_log``` in a page leads to the reference."""

    default_priority = 400

    def apply(self) -> None:
        for literal in list(self.document.findall(nodes.literal)):
            text = literal.astext()
            if NAME.fullmatch(text) and not isinstance(literal.parent, (pending_xref, nodes.reference)):
                target = text.removesuffix("()")
                link = pending_xref("", literal.deepcopy(), refdomain="py", reftype="obj", reftarget=target)
                link["refdoc"] = self.env.docname
                literal.replace_self(link)
        for link in list(self.document.findall(pending_xref)):
            name = str(link.get("reftarget"))
            if link.get("refdomain") != "py":
                continue
            if hasattr(builtins, name):
                link.replace_self(link.children)  # not an attribute that has the same name
            elif name in MEANT and not str(link.get("py:module")).startswith(OWNERS):
                link["reftarget"] = MEANT[name]


def missing(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """A docstring may name an argument or a field of Kafka; what begins with ``recordpress.`` must be there."""
    target = str(node.get("reftarget", ""))
    if node.get("refdomain") == "py" and NAME.fullmatch(target) and "._" not in target and not _is_file(target):
        LOG.warning("nothing public is called %s", target, location=node)
    return None


def _is_file(target: str) -> bool:
    return target.rpartition(".")[2] in ("py", "md", "json")


def setup(app: Sphinx) -> None:
    app.add_transform(Linked)
    app.connect("missing-reference", missing)
