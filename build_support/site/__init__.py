"""What `make docs` adds to Sphinx: a reference that is made of the code.

::

    names        which names are public, room by room
    stubs        their signatures, as stubs and sources say
    reference    ``.. recordpress-overview::``, ``-names::``, ``-room::``, ``-picture::``   names, by their docstrings
    tables       ``.. recordpress-errors::``, ``-verbs::``, ``-verb::``, ``-options::``, ``-schema::``
    sources      where each name is written, in the repository
    flowchart    a mermaid flowchart as an SVG, without a browser or a network
    links        names of recordpress in text become links, and a name that is not there is a warning
"""

from __future__ import annotations

from sphinx.application import Sphinx

from build_support.site import flowchart, links, reference, tables


def setup(app: Sphinx) -> dict[str, object]:
    for part in (flowchart, links, reference, tables):
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
