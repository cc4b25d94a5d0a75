"""The table of docs/broker-versions.md, from the rows that the code uses.

python -m build_support.broker_versions
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recordpress.broker._versions import _CHANGES, Version

PAGE = Path(__file__).parents[1] / "docs" / "broker-versions.md"
BEGIN, END = "<!-- from _versions.py -->", "<!-- end -->"

MESSAGE_SETS = {
    0: "LZ4 headers must have the broken checksum and neither size nor checksum of the content (-1); keys are not "
    "looked at; wrappers in wrappers are opened; every compressed set is rebuilt",
    1: "null keys are refused on compacted topics (2), in uncompressed sets also empty ones; compression.type of the "
    "topic; wrappers in wrappers are kept as messages",
    2: "a compressed set of magic 1 may stay as it is; a damaged stream is 2; LZ4 headers: any checksum in magic 0, "
    "the right one in magic 1; the largest timestamp of a wrapper is not repaired; a message without a timestamp is "
    "out of bounds, if there are any",
    3: "the largest timestamp of a wrapper is repaired; another magic inside of a wrapper is 2, before -1",
    4: "a damaged stream is -1 again; a wrapper without messages is -1; a gzip stream that is cut is no longer taken",
    -1: "records are taken apart: what lies about its size is refused, inner checksums always count, and wrong offsets "
    "of a wrapper are 2",
}
REQUEST_CHECKS = {
    "parser": "in Produce 3 and later, a set that is not one batch of magic 2 closes the connection",
    "first batch": "in Produce 3 and later, a set that is not one batch of magic 2 is an error of the partition; but "
    "one whose first batch cannot be read closes the connection, in every Produce",
    "partition": "a set whose first batch cannot be read is an error of the partition, too",
}
QUIRKS = {
    "ANY_ENTRIES": "a compressed set is one entry, and all entries have one magic (87)",
    "COUNTS_FREE": "count and last offset of a batch must fit",
    "FIRST_ERROR": "all records that fail are listed, not the first one alone",
    "WHOLE_RECORDS": "keys and values are skipped where a batch is expected to stay: wrong inner offsets of magic 2 "
    "are then -1, where they were repaired",
    "STRICT_LENGTHS": "where records are skipped, their lengths are not compared with their fields; where they are "
    "read, a bad length is 87, before -1",
    "TYPE_OF_ALL": "LogAppendTime set by a client is refused only where no timestamp is compared",
    "ZSTD_TAIL": "one to four bytes after a zstd frame are an error (-1)",
}
WORDS: dict[str, dict[Any, str] | str] = {
    "max_magic": "magic {}",
    "produce_versions": "Produce {0[0]} to {0[1]}",
    "zstd": "zstd; before, codec id 4 is -1",
    "gates_zstd_by_protocol": "zstd is refused where inter.broker.protocol.version is below 2.1 (76)",
    "has_invalid_record": "error 87; before, the same is 2",
    "has_inter_broker_protocol": {
        True: "message.format.version and inter.broker.protocol.version",
        False: "message.format.version is gone: magic 2 alone",
    },
    "has_compression_levels": "compression.gzip.level, compression.lz4.level, compression.zstd.level",
    "has_timestamp_bounds": "message.timestamp.before.max.ms and after.max.ms",
    "default_after_max_ms": "message.timestamp.after.max.ms is {} by default",
    "default_max_message_bytes": "max.message.bytes is {} by default, before 1000012",
    "least_segment_bytes": "segment.bytes is at least {}",
    "verifies_transactions": "a transaction is verified with its coordinator (19)",
    "compares_producers": "transactional batches of several producers in a set are refused (49), and header fields "
    "beyond the end of an entry are -1, also without a transactional id",
    "epoch_bump_produce_version": "from Produce {} on, each transaction has its own epoch",
    "transactions_have_epochs": "an open transaction is identified by its epoch, too",
    "fences_before_verification": "an older epoch is refused before the coordinator is asked",
    "bumped_epochs_begin_at_0": "a producer of which nothing is known begins with sequence 0 in such an epoch",
    "scans_magic_first": "the magic of an entry that is cut is looked at",
    "needs_transactional_id": "transactional batches need a transactional id in the request (53)",
    "remembered_batches": "batches of a producer that are remembered for retries: {}",
    "unknown_producer": {
        "welcome": "an unknown producer may begin with any sequence",
        "out of order": "an unknown producer must begin with sequence 0 (45)",
        "unknown": "an unknown producer must begin with sequence 0 (59)",
    },
    "unknown_sequence": {
        "out of order": "a producer whose last batch is unknown must begin with sequence 0 (45)",
        "unknown": "a producer whose last batch is unknown must begin with sequence 0 (59)",
        "welcome": "a producer whose last batch is unknown may begin with any sequence",
    },
    "record_errors": "responses from Produce 8 on report single records",
    "record_errors_break_old_responses": {
        True: "where a record fails, a response before Produce 8 is -1",
        False: "where a record fails, a response before Produce 8 gives the error alone",
    },
}


def rows() -> Iterator[str]:
    """The lines of the table."""
    yield "| Since | What brokers do from there on | Source |"
    yield "|---|---|---|"
    quirks: tuple[str, ...] = ()
    for since, change, source in _CHANGES:
        words = [_said(name, value) for name, value in change.items() if name not in ("message_sets", "quirks")]
        if "message_sets" in change:
            sets = change["message_sets"]
            words.append(MESSAGE_SETS[-1 if sets is None else int(sets)])
        if "quirks" in change:
            words += _changed(since, quirks, change["quirks"])
            quirks = change["quirks"]
        said = [word for word in words if word]
        yield f"| {'.'.join(map(str, since))} | {'; '.join(said)} | {source} |"


def _said(name: str, value: object) -> str:
    if name == "request_checks":
        return REQUEST_CHECKS[str(value)]
    words = WORDS[name]
    return words.get(value, "") if isinstance(words, dict) else words.format(value)


def _changed(since: Version, before: tuple[str, ...], now: tuple[str, ...]) -> Iterator[str]:
    """What a release stops to do, and 2.4 alone begins."""
    yield from (QUIRKS[name] for name in before if name not in now and name in QUIRKS)
    if "OFFSETS_REFUSED" in now:
        yield "wrong inner offsets of a compressed set are refused (87)"
    elif "OFFSETS_REFUSED" in before:
        yield "wrong inner offsets of a compressed set are repaired, as before 2.4"


def current(page: str) -> str:
    """The page with its table as it is now."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no place for the table: {BEGIN} ... {END}")
    return "\n".join([f"{before}{begin}", *rows(), f"{END}{after}"])


if __name__ == "__main__":
    PAGE.write_text(current(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
