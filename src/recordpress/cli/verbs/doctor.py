"""``recordpress doctor``: versions, speeds and missing packages."""

from __future__ import annotations

from recordpress.cli._command import as_json, verb
from recordpress.cli._doctor import report


@verb(
    "doctor",
    ("recordpress doctor", "List versions, speeds and missing packages."),
    ("recordpress doctor --json", "Print the same as JSON, for a bug report."),
)
@as_json
def command(as_json: bool) -> None:
    """Report versions, speeds and missing packages.

    Prints the versions of the C libraries, of Python and of the packages that recordpress works with, and the speed of
    checksums and codecs on this machine, measured with lines of an access log. It works without click, too."""
    report(as_json)
