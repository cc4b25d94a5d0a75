"""Findings as text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TextIO

from recordpress._file_names import LOG_FILE_SUFFIX
from recordpress.cli._outcome import CLEAN, FINDINGS, quoted
from recordpress.cli._output import count, note, print_json, say, say_finding, shown
from recordpress.log import Finding, LostRecords

if TYPE_CHECKING:
    from recordpress.log import Manifest

_MOST_LINES = 1000  # nobody reads more one by one


def print_findings(findings: Sequence[object], file: TextIO | None = None) -> None:
    """Print one line per finding, in the form of compiler messages, and the number of omitted findings."""
    for finding in findings[:_MOST_LINES]:
        say_finding(finding, file)
    if (rest := len(findings) - _MOST_LINES) > 0:
        say(f"and {plural(rest, 'more finding')}; scan and verify print all of them with --json", file=file)


def print_lost(lost: Sequence[LostRecords]) -> None:
    """Print how many records are lost, and where; also by topic if there are several."""
    if not lost:
        return
    say_finding(f"lost: {_amount_of(lost)}")
    topics: dict[str | None, dict[str, list[LostRecords]]] = {}
    for one in lost:
        place = one.file if one.topic is None else f"{one.topic}-{one.partition}"
        topics.setdefault(one.topic, {}).setdefault(place, []).append(one)
    indent = "  " * min(len(topics), 2)
    for topic, places in topics.items():
        if topic is not None and len(topics) > 1:
            say(f"  {shown(topic)}: {_amount_of(list(chain(*places.values())))}")
        for place, ranges in places.items():
            say(f"{indent}{shown(place)} offsets {', '.join(map(str, ranges[:_MOST_LINES]))}")
    say()


def _amount_of(lost: Sequence[LostRecords]) -> str:
    most = sum(one.most or 0 for one in lost)
    parts = [f"up to {plural(most, 'record')}"] if most else []
    if any(one.most is None for one in lost):
        parts.append("the records of a damaged end")
    return " and ".join(parts)


def status_of(findings: Sequence[Finding]) -> int:
    """Return the exit status."""
    return FINDINGS if findings else CLEAN


def number_of(findings: Sequence[Finding]) -> str:
    """Return ``no findings``, ``1 finding``, ``2 findings``."""
    return plural(len(findings), "finding") if findings else "no findings"


def plural(number: int, what: str) -> str:
    """Return ``1 segment``, ``2 segments``, ``3 batches``."""
    ending = "" if number == 1 else "es" if what.endswith("ch") else "s"
    return f"{count(number)} {what}{ending}"


def suggest(*words: str) -> None:
    """Print the next command to try."""
    sys.stdout.flush()
    print(f"try: recordpress {' '.join(words)}", file=sys.stderr)


def typed(paths: Sequence[str]) -> str:
    """Quote paths for a command line."""
    return " ".join(quoted(path) for path in paths)


def print_skipped(skipped: Iterable[Finding]) -> None:
    """Print skipped files, which are not findings."""
    sys.stdout.flush()
    for finding in skipped:
        say(f"skipped: {shown(finding)}", file=sys.stderr)


def report_reading(findings: Sequence[Finding]) -> int:
    """Print the findings of a reader; return status 1 if records are missing or cut, but not for a bad index, which
    only costs time."""
    sys.stdout.flush()
    print_findings(findings, sys.stderr)
    return status_of([finding for finding in findings if finding.file.endswith(LOG_FILE_SUFFIX)])


def print_copy(copy: Manifest, target: str, as_json: bool, print_text: Callable[[Manifest, str], None]) -> int:
    """Print the manifest of a copy, as JSON or by `print_text`; return the exit status."""
    if as_json:
        print_json(copy.to_dict())
    else:
        print_findings(copy.findings)
        print_text(copy, target)
        if copy.resumed_segments:
            note(f"{plural(copy.resumed_segments, 'segment')} finished by an earlier run")
    return status_of(copy.findings)
