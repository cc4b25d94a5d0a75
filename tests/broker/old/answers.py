"""What brokers before 4.0 answered to the cases, and what then lay in their logs: answers.json.xz, next to this file.

`ask` puts the cases to a running broker. The file is made from what it gives:

    python tests/broker/old/answers.py VERSION...

asks brokers again, whose jars are in build/old-brokers, and puts their answers in the place of those that are there.
VERSION/NAME=VALUE is a broker with its own setting.
Bytes are held once, in a list; what is stored, by its number.
"""

from __future__ import annotations

import base64
import functools
import json
import lzma
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from cases import Case, every_case
from old_broker import OldBroker
from produce_client import Client
from sets import message

FILE = Path(__file__).with_name("answers.json.xz")
# what lies in the topic before the case: with it, offsets that are right have to be assigned
PRELUDE = b"".join(message(0, b"prelude", b"%d" % n, offset=n) for n in range(3))


@dataclass(frozen=True)
class Answer:
    """To one set. `next_offset` and `now_ms`: before it; `stored`: the bytes that it added to the log."""

    error: int | None  # None: the connection was closed
    base_offset: int
    log_append_time: int
    record_errors: list[int]  # indexes
    next_offset: int
    now_ms: int
    stored: bytes


def ask(broker: OldBroker, cases: list[Case]) -> Iterator[tuple[Case, list[Answer]]]:
    """Each case on its own topic, its sets one after another."""
    topics = {f"case-{number}": case for number, case in enumerate(cases)}
    broker.create_topics({topic: case.settings for topic, case in topics.items()})
    with Client(broker.port) as client:
        for topic, case in topics.items():
            prelude = client.produce(topic, PRELUDE, 0)
            next_offset = 3 if prelude.error == 0 else 0
            before = broker.stored(topic)
            answers = []
            for data in case.sets:
                now = int(time.time() * 1000)
                response = client.produce(topic, data, case.produce_version(broker.version), case.transactional_id)
                after = broker.stored(topic)
                assert after.startswith(before)
                answers.append(
                    Answer(
                        response.error,
                        response.base_offset,
                        response.log_append_time,
                        [index for index, _ in response.record_errors],
                        next_offset,
                        now,
                        after[len(before) :],
                    )
                )
                before = after
            yield case, answers


# ---- the file


@functools.cache
def recorded() -> tuple[dict[str, Case], dict[str, dict[str, list[Answer]]]]:
    """The cases with the very bytes that were sent, by name; and the answers by broker and case."""
    found = json.loads(lzma.decompress(FILE.read_bytes()))
    blobs = [base64.b64decode(text) for text in found["blobs"]]

    def bytes_of(number: int | None) -> bytes | None:
        return None if number is None else blobs[number]

    cases = {
        name: Case(name, [bytes_of(n) for n in sets], settings, version, tuple(since), transactional_id)
        for name, sets, settings, version, since, transactional_id in found["cases"]
    }
    answers = {
        broker: {name: [Answer(*row[:-1], blobs[row[-1]]) for row in rows] for name, rows in by_case.items()}
        for broker, by_case in found["answers"].items()
    }
    return cases, answers


def write(cases: dict[str, Case], answers: dict[str, dict[str, list[Answer]]]) -> None:
    numbers: dict[bytes, int] = {}

    def number_of(data: bytes | None) -> int | None:
        return None if data is None else numbers.setdefault(data, len(numbers))

    found: dict[str, Any] = {
        "cases": [
            [c.name, [number_of(data) for data in c.sets], c.settings, c.version, c.since, c.transactional_id]
            for c in cases.values()
        ],
        "answers": {
            broker: {
                name: [[*list(vars(a).values())[:-1], number_of(a.stored)] for a in rows]
                for name, rows in by_case.items()
            }
            for broker, by_case in answers.items()
        },
    }
    found["blobs"] = [base64.b64encode(data).decode() for data in numbers]
    text = json.dumps(found, separators=(",", ":"))
    FILE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def main(versions: list[str]) -> None:
    cases = {case.name: case for case in every_case()}
    answers = recorded()[1] if FILE.exists() else {}
    for version in versions:
        release, _, setting = version.partition("/")
        settings = dict([setting.split("=")]) if setting else {}
        with tempfile.TemporaryDirectory() as directory, OldBroker(release, Path(directory), settings) as broker:
            suited = [case for case in cases.values() if case.suits(release)]
            answers[version] = {case.name: rows for case, rows in ask(broker, suited)}
    write(cases, answers)


if __name__ == "__main__":
    main(sys.argv[1:])
