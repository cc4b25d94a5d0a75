"""Write the table of docs/broker-versions.md from the rows in the code.

python -m build_support.broker_versions
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recordpress.broker._versions import _CHANGES, Version

PAGE = Path(__file__).parents[1] / "docs" / "broker-versions.md"
BEGIN, END = "<!-- from _versions.py -->", "<!-- end -->"

MESSAGE_SETS = {
    0: "LZ4 headers must have the broken checksum, and no content size or content checksum (-1); keys are not "
    "checked; wrappers in wrappers are opened; every compressed set is rebuilt",
    1: "compacted topics reject null keys (2), and empty keys in uncompressed sets; compression.type of the topic; "
    "wrappers in wrappers are kept as messages",
    2: "a compressed set of magic 1 may be kept; a damaged stream is 2; LZ4 headers: any checksum in magic 0, "
    "the correct one in magic 1; the largest timestamp of a wrapper is not repaired; if the topic has timestamp "
    "bounds, a message without a timestamp is out of bounds",
    3: "the largest timestamp of a wrapper is repaired; another magic in a wrapper is 2, formerly -1",
    4: "a damaged stream is -1 again; a wrapper without messages is -1; an incomplete gzip stream is rejected",
    -1: "records are parsed: wrong sizes are rejected, inner checksums are always verified, and wrong offsets of a "
    "wrapper are 2",
}
REQUEST_CHECKS = {
    "parser": "in Produce 3 and later, a set that is not one batch of magic 2 closes the connection",
    "first batch": "in Produce 3 and later, a set that is not one batch of magic 2 is an error of the partition; in "
    "every Produce, an unreadable first batch closes the connection",
    "partition": "an unreadable first batch is an error of the partition",
}
QUIRKS = {
    "ANY_ENTRIES": "a compressed set is one entry, and all entries have one magic (87)",
    "COUNTS_FREE": "count and last offset of a batch must agree",
    "FIRST_ERROR": "all rejected records are listed, not only the first one",
    "WHOLE_RECORDS": "a broker that expects to keep a batch skips keys and values: wrong inner offsets of magic 2 are "
    "then -1, formerly repaired",
    "STRICT_LENGTHS": "the lengths of skipped records are not compared with their fields; a wrong length of a record "
    "that is read is 87, formerly -1",
    "TYPE_OF_ALL": "LogAppendTime set by a client is rejected only if no timestamp is compared",
    "ZSTD_TAIL": "one to four bytes after a zstd frame are an error (-1)",
}
WORDS: dict[str, dict[Any, str] | str] = {
    "max_magic": "magic {}",
    "produce_versions": "Produce {0[0]} to {0[1]}",
    "last_codec": "zstd; formerly, codec id 4 is -1",
    "gates_zstd_by_protocol": "zstd is rejected if inter.broker.protocol.version is below 2.1 (76)",
    "has_invalid_record": "error 87, formerly 2",
    "has_inter_broker_protocol": {
        True: "message.format.version and inter.broker.protocol.version",
        False: "message.format.version is removed: only magic 2",
    },
    "has_compression_levels": "compression.gzip.level, compression.lz4.level, compression.zstd.level",
    "has_timestamp_bounds": "message.timestamp.before.max.ms and after.max.ms",
    "has_max_record_size": "max.decompressed.message.bytes: a compressed batch is rejected if a record is larger, "
    "or has a negative length (87)",
    "default_after_max_ms": "message.timestamp.after.max.ms is {} by default",
    "default_max_message_bytes": "max.message.bytes is {} by default, formerly 1000012",
    "least_segment_bytes": "segment.bytes is at least {}",
    "verifies_transactions": "a transaction is verified with its coordinator (19)",
    "compares_producers": "transactional batches of several producers in a set are rejected (49); header fields "
    "beyond the end of an entry are -1, even without a transactional id",
    "epoch_bump_produce_version": "from Produce {} on, each transaction has its own epoch",
    "transactions_have_epochs": "the epoch is part of the identity of an open transaction",
    "fences_before_verification": "an older epoch is rejected before verification with the coordinator",
    "bumped_epochs_begin_at_0": "an unknown producer begins with sequence 0 in such an epoch",
    "markers_have_new_epochs": "a marker of transaction.version 2 must have a newer epoch than the open "
    "transaction (47)",
    "last_epoch_may_repeat": "a marker of the largest epoch, 32767, may also end a transaction of that epoch",
    "scans_magic_first": "the magic of an incomplete entry is checked",
    "needs_transactional_id": "transactional batches need a transactional id in the request (53)",
    "remembered_batches": "number of remembered batches per producer: {}",
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
    "record_errors": "responses to Produce 8 and later report single records",
    "record_errors_break_old_responses": {
        True: "for a rejected record, a response before Produce 8 is -1",
        False: "for a rejected record, a response before Produce 8 has only the error",
    },
}


def rows() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| Since | Rules | Source |"
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
    """Yield the quirks that a release removes, and the one that only 2.4 has."""
    yield from (QUIRKS[name] for name in before if name not in now and name in QUIRKS)
    if "OFFSETS_REFUSED" in now:
        yield "wrong inner offsets of a compressed set are rejected (87)"
    elif "OFFSETS_REFUSED" in before:
        yield "wrong inner offsets of a compressed set are repaired, as before 2.4"


def current(page: str) -> str:
    """Return the page with its current table."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"the page has no place for the table: {BEGIN} ... {END}")
    return "\n".join([f"{before}{begin}", *rows(), f"{END}{after}"])


if __name__ == "__main__":
    PAGE.write_text(current(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
