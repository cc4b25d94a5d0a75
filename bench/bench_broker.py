"""A broker's verdict on a batch of 5,000 lines that is kept, or rebuilt in another codec: against the bare work in C,
and against Kafka's own LogValidator on a warm JVM."""

import pytest

from bench.answers import equal, same_batch, told
from bench.corpus import CODECS, SETS, RecordSet
from bench.peers.built import VALIDATOR
from bench.race import Cell, Contender
from recordpress.broker import Verdict, validate

# What is rebuilt has a source codec of its own: the cheapest to decompress.
REBUILT_FROM = {"none": "lz4", "gzip": "lz4", "snappy": "lz4", "lz4": "snappy", "zstd": "lz4"}
ANY_TIME = {"message.timestamp.after.max.ms": str(2**63 - 1), "max.message.bytes": str(1 << 30)}


def _judge(data: bytes, target: str = "producer") -> Verdict:
    kind = "uncompressed" if target == "none" else target
    return validate(data, topic_config={**ANY_TIME, "compression.type": kind})


def _validator(elsewhere, log_file, records: RecordSet, source: str, target: str) -> list[Contender]:
    if not VALIDATOR.file.exists():
        return []
    path = log_file(f"produced.{source}", records.batch(source))
    return [elsewhere(VALIDATOR.name, [*VALIDATOR.command, target, str(path)], told(records))]


def _bare(records: RecordSet, data: bytes, target: str | None = None) -> Contender:
    """Checksum, decompression and parsing, and for a target writing again, in C."""
    ceiling = records.ceiling()

    def decode() -> int:
        return ceiling.decode(data, target is None)

    def both() -> object:
        decode()
        return ceiling.encode(target)

    def check() -> None:
        equal(decode(), records.count, "record count")

    return Contender("decode and encode", both, check) if target else Contender("decode alone", decode, check)


@pytest.mark.parametrize("codec", CODECS)
def bench_accepted(race, elsewhere, log_file, codec):
    """A batch that is stored as it came, with its base offset. As in a broker, whose request buffer it is, nothing is
    copied: the verdict holds the new header, and the bytes that were sent."""
    records = SETS["apache5000"]
    data = records.batch(codec)

    def check() -> None:
        verdict = _judge(data)
        equal((verdict.error, verdict.relation), ("NONE", "kept"), "verdict")
        same_batch(verdict.records, records, codec)

    race(
        Cell("a broker keeps a batch", records.name, codec, records.count, records.size),
        lambda: _judge(data),
        _bare(records, data),
        *_validator(elsewhere, log_file, records, codec, codec),
        check=check,
    )


@pytest.mark.parametrize("codec", ["none", "zstd"])
def bench_accepted_bytes(race, elsewhere, log_file, codec):
    """The same, and the caller asks for the bytes that the log would hold, which are a copy."""
    records = SETS["apache5000"]
    data = records.batch(codec)

    def check() -> None:
        same_batch(_judge(data).records, records, codec)

    race(
        Cell("a broker keeps a batch, its bytes read", records.name, codec, records.count, records.size),
        lambda: _judge(data).records,
        _bare(records, data),
        *_validator(elsewhere, log_file, records, codec, codec),
        check=check,
    )


@pytest.mark.parametrize("codec", CODECS)
def bench_rebuilt(race, elsewhere, log_file, codec):
    """A batch in another codec than the topic's."""
    records = SETS["apache5000"]
    source = REBUILT_FROM[codec]
    data = records.batch(source)

    def check() -> None:
        verdict = _judge(data, codec)
        equal((verdict.error, verdict.relation), ("NONE", "rebuilt"), "verdict")
        same_batch(verdict.records, records, codec)

    race(
        Cell("a broker rebuilds a batch", records.name, f"{source} to {codec}", records.count, records.size),
        lambda: _judge(data, codec),
        _bare(records, data, codec),
        *_validator(elsewhere, log_file, records, source, codec),
        check=check,
    )
