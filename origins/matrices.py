"""What brokers answered to clients: from the answers of real brokers that are recorded in tests/."""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "broker" / "old")]

import oracle  # noqa: E402 (in tests/)
import recordpress  # noqa: E402 (after the paths of the tests)
from answers import Answer, recorded  # noqa: E402 (in tests/broker/old)

Row = tuple[str, ...]
PROTOCOL = "2.8.2/inter.broker.protocol.version=2.0"
CODEC_BROKERS = ("1.1.1", "2.0.1", "2.1.1", "2.2.2", "2.8.2", PROTOCOL, "3.9.2")
LZ4_BROKERS = ("0.8.2.2", "0.9.0.1", "0.10.0.1", "0.10.2.2", "0.11.0.3", "1.1.1", "2.8.2", "3.9.2")
_LZ4_FLAGS = 6  # bytes of an LZ4 frame before its header checksum


def _named(broker: str) -> str:
    return broker.replace("/inter.broker.protocol.version=", ", protocol ")


def _outcome(answer: Answer) -> str:
    if answer.error is None:
        return "connection closed"
    return "stored" if answer.error == 0 else f"error {answer.error}"


def codec_matrix() -> tuple[Row, list[Row]]:
    """KIP-110: codec and version of the Produce request, by broker."""
    _, answers = recorded()
    rows = []
    for magic, codec, versions in (("v1", "gzip", (2,)), ("v2", "gzip", (3, 7)), ("v2", "zstd", (3, 6, 7, 8))):
        for version in versions:
            cells = [answers[broker].get(f"produce-{version}-{magic}-{codec}") for broker in CODEC_BROKERS]
            shown = ("-" if cell is None else _outcome(cell[0]) for cell in cells)
            rows.append((f"{codec} in {magic}, Produce {version}", *shown))
    return ("client", *map(_named, CODEC_BROKERS)), rows


def fetch_matrix() -> tuple[Row, list[Row]]:
    """KIP-110: what a broker of 3.9.2 sent of topics, by the version of the Fetch request, for 20,000 bytes."""
    sent = {str(one): one for one in oracle.RECORD_SETS if str(one).startswith("fetched-3.9.2/")}
    rows = []
    for topic in ("lines-gzip", "lines-lz4", "lines-zstd"):
        for version in (0, 2, 4, 9, 10):
            found = [sent.get(f"fetched-3.9.2/{topic}_v{version}_o{offset}_m20000") for offset in (0, 7)]
            rows += [(topic.removeprefix("lines-"), str(version), *_sent(one)) for one in found if one][:1]
    return ("topic's codec", "Fetch", "answer", "bytes", "magic of the batches"), rows


def _sent(one: oracle.Vector) -> Row:
    error = one.entry["error_code"]
    magics = sorted({batch.magic for batch in recordpress.read_batches(one.data)}) if one.data else []
    return (
        "sent" if error == 0 else f"error {error}",
        f"{len(one.data):,}",
        ", ".join(map(str, magics)),
    )


def lz4_matrix() -> tuple[Row, list[Row]]:
    """KIP-57: magic and header checksum that a client sent, by broker; and the checksum that was stored."""
    _, answers = recorded()
    rows = []
    for magic in (0, 1, 2):
        for kind in ("broken", "correct"):
            name = f"lz4-plain-{kind}-v{magic}"
            cells = [answers[broker].get(name) for broker in LZ4_BROKERS]
            shown = ("-" if cell is None else _checksum(cell[0]) or _outcome(cell[0]) for cell in cells)
            rows.append((f"magic {magic}, {kind}", *shown))
    return ("client sends", *LZ4_BROKERS), rows


def lz4_sent() -> tuple[Row, list[Row]]:
    """KIP-57: the messages that a 3.9.2 broker sent from a topic in the current format, by version of Fetch."""
    sent = {str(one): one.data for one in oracle.RECORD_SETS}
    recorded_by = {1: "logappend-lz4_v1_o0_m20000", 2: "lines-lz4_v2_o0_m20000", 10: "lines-lz4_v10_o11_m300"}
    rows = [
        (str(version), "magic 2, correct", _frame(sent[f"fetched-3.9.2/{name}"]))
        for version, name in recorded_by.items()
    ]
    return ("Fetch", "stored", "sent"), rows


def _checksum(answer: Answer) -> str:
    """Return the magic and header checksum of the stored frame."""
    return _frame(answer.stored) if answer.error == 0 else ""


def _frame(data: bytes) -> str:
    """Return the magic of the first batch, and the header checksum of its frame."""
    batch = next(iter(recordpress.read_batches(data)))
    frame = data[data.index(bytes.fromhex("04224d18")) :]
    for kind, change in (("correct", recordpress.fix_lz4_header), ("broken", recordpress.break_lz4_header)):
        same = bytearray(frame)
        change(same)
        if same[_LZ4_FLAGS] == frame[_LZ4_FLAGS]:
            return f"magic {batch.magic}, {kind}"
    raise ValueError("the frame has neither checksum")
