"""The tables of docs/broker-decision.md, from the table of reasons that the code uses.

python -m build_support.broker_decision
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from recordpress._protocol_errors import name_of
from recordpress.broker import Finding, Reason

PAGE = Path(__file__).parents[1] / "docs" / "broker-decision.md"
BEGIN, END = "<!-- from _reasons.py: {} -->", "<!-- end -->"
STAGES = ("request", "append", "batch", "records", "rebuild", "rewrite", "cut", "producer", "fetch")


def table_of(stage: str) -> Iterator[str]:
    """The lines of a stage's table."""
    refuses = stage not in ("rebuild", "rewrite", "cut")
    yield f"| Reason |{' Answer |' if refuses else ''} What happens | What to do | Source |"
    yield f"|---|{'---|' if refuses else ''}---|---|---|"
    for reason in Reason:
        if reason.stage == stage:
            answer = f" {_answer(reason.error_code)} |" if refuses else ""
            yield f"| `{reason}` |{answer} {reason.message} | {reason.advice} | {reason.source} |"


def findings() -> Iterator[str]:
    """The lines of the table of findings."""
    yield "| Finding | What it is | What to do | Source |"
    yield "|---|---|---|---|"
    for finding in Finding:
        yield f"| `{finding}` | {finding.message} | {finding.advice} | {finding.source} |"


def _answer(code: int | None) -> str:
    if code is None:
        return "connection closed"
    return f"{code} {name_of(code)}"


def current(page: str) -> str:
    """The page with its tables as they are now."""
    for name in (*STAGES, "findings"):
        begin = BEGIN.format(name)
        before, _, rest = page.partition(begin)
        _, end, after = rest.partition(END)
        if not end:
            raise ValueError(f"the page has no place for {name}: {begin} ... {END}")
        page = "\n".join([f"{before}{begin}", *_lines(name), f"{END}{after}"])
    return page


def _lines(name: str) -> Iterable[str]:
    return findings() if name == "findings" else table_of(name)


if __name__ == "__main__":
    PAGE.write_text(current(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
