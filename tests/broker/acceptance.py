"""What brokers 3.9.2 and 4.3.1 answered to Produce requests, and what then lay in their logs."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import oracle

Facts = dict[str, Any]


@dataclass(frozen=True)
class Exchange:
    """One request of a case, and the answer."""

    sent: bytes | None
    answer: Facts

    @property
    def stored(self) -> bytes | None:
        """What the log held; None where the vectors hold its digest alone."""
        text = self.answer["stored"]
        return None if text is None else _unpacked(text, self.answer.get("stored_encoding"))

    def is_stored(self, data: bytes) -> bool:
        """Whether these are the stored bytes."""
        if "stored_sha256" in self.answer:
            size, digest = self.answer["stored_size"], self.answer["stored_sha256"]
            return (len(data), hashlib.sha256(data).hexdigest()) == (size, digest)
        return data == (self.stored or b"")


@dataclass(frozen=True)
class Case:
    """Requests to its own topic, one after the other, and one broker's answers."""

    facts: Facts
    broker: str

    @property
    def results(self) -> Facts:
        result: Facts = self.facts["results"][self.broker]
        return result

    def exchanges(self) -> Iterator[Exchange]:
        for request, answer in zip(self.facts["requests"], self.results["answers"], strict=True):
            yield Exchange(_sent(request, answer), answer)

    def __str__(self) -> str:
        return f"{self.facts['name']}-{self.broker}"


def _unpacked(text: str, encoding: str | None) -> bytes:
    data = base64.b64decode(text)
    return zlib.decompress(data) if encoding == "zlib" else data


def _sent(request: Facts, answer: Facts) -> bytes | None:
    if "sent_file" in request:
        return oracle.read(request["sent_file"])
    if "sent_same_as" in request:
        return _sent(_by_name()[request["sent_same_as"]]["requests"][0], {})
    source = answer if request["sent"] is None and answer.get("sent") else request
    text = source["sent"]
    return None if text is None else _unpacked(text, source.get("sent_encoding"))


@functools.cache
def _by_name() -> dict[str, Facts]:
    return {facts["name"]: facts for facts in _facts()}


@functools.cache
def _facts() -> list[Facts]:
    name = "acceptance.json" if oracle.FULL_SET else "acceptance-small.json"
    facts: list[Facts] = json.loads(oracle.read(name))
    return facts


def cases() -> list[Case]:
    return [Case(facts, broker) for facts in _facts() for broker in facts["results"]]


_PARTITION = re.compile(r" in topic partition c\d+-0\b")


def without_topic(text: str | None) -> str | None:
    """A broker's text without the name of the partition."""
    return None if text is None else _PARTITION.sub("", text)


_BOUNDS = re.compile(r"within \[(-?\d+), (-?\d+)\]")


def clock(case: Case, answer: Facts, before_max_ms: int) -> int:
    """The broker's clock as it looked at the request: the response tells it, or the text of an error."""
    response = answer["response"]
    if response.get("log_append_time", -1) > 0:
        return int(response["log_append_time"])
    for error in response.get("record_errors") or []:
        if match := _BOUNDS.search(error["message"] or ""):
            return int(match[1]) + before_max_ms
    return int(case.results["now_ms"])
