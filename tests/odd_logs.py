"""Drawn log directories that are odd, and what they hold by the rule of the docs, worked out without recordpress.

A record loses only if an earlier one has its offset: earlier by the base offset of the segment's name, then by the
position in the file. Nothing here reads a log: the drawing knows every record that it wrote, and changes it along with
the bytes.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import recordpress

T = 1_700_000_000_000


class Row(NamedTuple):
    offset: int
    timestamp: int
    value: bytes


@dataclass
class Entry:
    """A batch, or bytes that are none."""

    data: bytes
    rows: list[Row] = field(default_factory=list)
    producer: int = -1
    marker: str = ""  # COMMIT or ABORT
    is_damage: bool = False
    header_end: int = 0  # the offset after its last one
    is_wrapper: bool = False  # compressed, of magic 0 or 1: the header has the last offset only

    def moved(self, by: int) -> Entry:
        """With another base offset, which no checksum covers. The records in a wrapper of magic 0 keep their own."""
        if self.is_wrapper and self.data[16] == 0:
            return self
        [base] = struct.unpack_from(">q", self.data)
        rows = [row._replace(offset=row.offset + by) for row in self.rows]
        return replace(
            self, data=struct.pack(">q", base + by) + self.data[8:], rows=rows, header_end=self.header_end + by
        )

    @property
    def first(self) -> int:
        [base] = struct.unpack_from(">q", self.data)
        return min([row.offset for row in self.rows], default=base)

    @property
    def header_first(self) -> int:
        return self.header_end - 1 if self.is_wrapper else self.first


@dataclass
class OddLog:
    """Segments by base offset, and files next to them."""

    draw: random.Random
    segments: dict[int, list[Entry]]
    indexes: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    without: set[str] = field(default_factory=set)
    kinds: list[str] = field(default_factory=list)
    is_damaged: bool = False
    hides_a_jump: bool = False  # an entry in the middle of a segment may have offsets that its ends do not show

    @property
    def entries(self) -> list[Entry]:
        return [entry for base in self.bases for entry in self.segments[base]]

    @property
    def bases(self) -> list[int]:
        return sorted(self.segments)

    def write(self, directory: Path) -> Path:
        directory.mkdir(parents=True)
        for base, entries in self.segments.items():
            stem = f"{base:020d}"
            (directory / f"{stem}.log").write_bytes(b"".join(entry.data for entry in entries))
            for suffix, data in (("index", offset_index(base, entries)), ("timeindex", time_index(base, entries))):
                name = f"{stem}.{suffix}"
                if name not in self.without:
                    (directory / name).write_bytes(self.files.get(name, data))
        for name, data in self.files.items():
            if not name.endswith("index") or name.endswith("txnindex"):
                (directory / name).write_bytes(data)
        return directory

    # --- the rule -------------------------------------------------------------------------------------------------

    def rows(self, isolation: str = "read_uncommitted") -> list[Row]:
        """The records of the log, in order, without control records."""
        seen: set[int] = set()
        kept: list[tuple[Row, Entry]] = []
        open_ones: dict[int, list[Entry]] = {}
        aborted: list[Entry] = []
        firsts: dict[int, int] = {}
        for base in self.bases:
            for entry in self.segments[base]:
                there = [row for row in entry.rows if row.offset not in seen]
                seen.update(row.offset for row in there)
                if not there:
                    continue
                if entry.marker:
                    ended = open_ones.pop(entry.producer, [])
                    firsts.pop(entry.producer, None)
                    aborted += ended if entry.marker == "ABORT" else []
                    continue
                kept += [(row, entry) for row in there]
                if entry.producer >= 0:
                    open_ones.setdefault(entry.producer, []).append(entry)
                    firsts[entry.producer] = min(firsts.get(entry.producer, entry.first), entry.first)
        if isolation == "read_uncommitted":
            return [row for row, _ in kept]
        stable = min(firsts.values(), default=1 << 63)
        gone = {id(entry) for entry in aborted}
        return [row for row, entry in kept if id(entry) not in gone and row.offset < stable]

    def may_be_passed_over(self, row: Row, start: int | None, end: int | None) -> bool:
        """Whether the first and the last entry of the row's segments put these outside of a range."""
        for base in self.bases:
            entries = [entry for entry in self.segments[base] if not entry.is_damage]
            if any(row in entry.rows for entry in entries):
                first = min(entries[0].first, entries[-1].header_first)
                last = max(entries[0].header_end, entries[-1].header_end)
                if (end is None or first < end) and (start is None or last > start):
                    return False
        return self.hides_a_jump

    @property
    def is_lost_after_damage(self) -> bool:
        """Whether entries after damage have offsets that no segment of that name may have: they are not looked for."""
        return self.is_damaged and any(
            entry.first < base for base in self.bases for entry in self.segments[base] if entry.rows
        )

    @property
    def end(self) -> int:
        """No record, nor the name of a segment, has this offset or a larger one."""
        ends = [entry.header_end for entries in self.segments.values() for entry in entries if not entry.is_damage]
        return max([*ends, *self.bases], default=0)

    @property
    def loses(self) -> bool:
        """Whether a record loses, or one goes back."""
        offsets = [row.offset for entry in self.entries for row in entry.rows]
        return any(after <= before for before, after in pairwise(offsets))


def window(rows: list[Row], start: int | None, end: int | None, since: int | None, until: int | None) -> list[Row]:
    return [
        row
        for row in rows
        if (start is None or row.offset >= start)
        and (end is None or row.offset < end)
        and (since is None or row.timestamp >= since)
        and (until is None or row.timestamp < until)
    ]


# --- files next to a segment -----------------------------------------------------------------------------------------


def places(entries: list[Entry]) -> list[tuple[int, Entry]]:
    found, position = [], 0
    for entry in entries:
        if not entry.is_damage:
            found.append((position, entry))
        position += len(entry.data)
    return found


def offset_index(base: int, entries: list[Entry]) -> bytes:
    """An entry for every second batch whose last offset rises."""
    found, last = b"", base
    for position, entry in places(entries)[1::2]:
        if last < entry.header_end - 1 < base + (1 << 31):
            last = entry.header_end - 1
            found += struct.pack(">ii", last - base, position)
    return found


def time_index(base: int, entries: list[Entry]) -> bytes:
    found, latest, last = b"", -1, base
    for _, entry in places(entries):
        times = [row.timestamp for row in entry.rows]
        if times and max(times) > latest and last <= entry.header_end - 1 < base + (1 << 31):
            latest, last = max(times), entry.header_end - 1
            found += struct.pack(">qi", latest, last - base)
    return found


# --- an ordinary log --------------------------------------------------------------------------------------------------


def batch(draw: random.Random, offset: int, **given: Any) -> Entry:
    """One to six records from that offset on."""
    magic = given.pop("magic", 2)
    offsets = given.pop("offsets", None) or range(offset, offset + draw.choice((1, 3, 5, 6)))
    times = given.pop("times", None) or (lambda: T + offset + draw.randrange(-3, 4))
    drawn = draw.choice(("none", "none", "lz4", "snappy", "zstd")) if "codec" not in given else "none"
    codec = given.pop("codec", drawn if magic == 2 else "none")
    builder = recordpress.BatchBuilder(magic=magic, compression_type=codec, base_offset=offset, **given)
    rows = []
    is_wrapper = magic < 2 and codec != "none"
    for one in offsets if magic == 2 or is_wrapper else list(offsets)[:1]:
        rows.append(Row(one, times() if magic else -1, b"%d of %d" % (draw.randrange(1 << 40), one)))
        builder.append(rows[-1].value, timestamp=rows[-1].timestamp, offset=one)
    data = builder.build()
    return Entry(data, rows, given.get("producer_id", -1), header_end=rows[-1].offset + 1, is_wrapper=is_wrapper)


def marker(draw: random.Random, offset: int, producer: int, kind: str) -> Entry:
    builder = recordpress.BatchBuilder(
        base_offset=offset, is_control=True, is_transactional=True, producer_id=producer, producer_epoch=1
    )
    builder.append_end_txn_marker(kind == "COMMIT", coordinator_epoch=3, timestamp=T + offset)
    row = Row(offset, T + offset, b"")
    return Entry(builder.build(), [row], producer, kind, header_end=offset + 1)


def draw_log(draw: random.Random, *, transactions: bool) -> OddLog:
    """One to four segments whose offsets ascend."""
    segments: dict[int, list[Entry]] = {}
    offset = draw.choice((0, 0, 0, 7))
    began: set[int] = set()
    for _ in range(draw.choice((1, 2, 2, 3, 4))):
        entries: list[Entry] = []
        segments[offset] = entries
        for _ in range(draw.choice((2, 4, 7, 10))):
            producer = draw.choice((7, 8, -1)) if transactions else -1
            if producer in began and draw.random() < 0.5:
                began.discard(producer)
                entries.append(marker(draw, offset, producer, draw.choice(("COMMIT", "ABORT"))))
            elif producer >= 0:
                began.add(producer)
                options = {"producer_id": producer, "producer_epoch": 1, "base_sequence": 3, "is_transactional": True}
                entries.append(batch(draw, offset, **options))
            else:
                entries.append(batch(draw, offset))
            offset = entries[-1].header_end
    if transactions and draw.random() < 0.7:
        for producer in sorted(began):
            entries.append(marker(draw, offset, producer, draw.choice(("COMMIT", "ABORT"))))
            offset += 1
    return OddLog(draw, segments)


# --- oddities ---------------------------------------------------------------------------------------------------------

KINDS: dict[str, Callable[[OddLog], None]] = {}


def kind(function: Callable[[OddLog], None]) -> Callable[[OddLog], None]:
    KINDS[function.__name__] = function
    return function


def _some(log: OddLog) -> tuple[int, int, Entry]:
    """A segment, the number of a batch in it, and that batch."""
    base = log.draw.choice([base for base in log.bases if any(e.rows for e in log.segments[base])])
    numbers = [number for number, entry in enumerate(log.segments[base]) if entry.rows]
    number = log.draw.choice(numbers)
    return base, number, log.segments[base][number]


def _offset(log: OddLog) -> int:
    """Of any record, and not the name of a segment."""
    _, _, entry = _some(log)
    offset = log.draw.choice(entry.rows).offset
    while offset in log.segments:
        offset += 1
    return offset


def _new(log: OddLog, offset: int, count: int, **given: Any) -> list[Entry]:
    entries: list[Entry] = []
    for _ in range(count):
        entries.append(batch(log.draw, offset, **given))
        offset = entries[-1].header_end
    return entries


def _move(log: OddLog, to: int) -> None:
    base, number, entry = _some(log)
    log.segments[base][number] = entry.moved(to - entry.first)
    log.hides_a_jump = True


@kind
def empty_segment_within(log: OddLog) -> None:
    log.segments[_offset(log)] = []


@kind
def empty_segment_at_the_end(log: OddLog) -> None:
    log.segments[log.end] = []


@kind
def empty_segment_beyond_the_end(log: OddLog) -> None:
    log.segments[log.end + 50] = []


@kind
def empty_segment_before(log: OddLog) -> None:
    log.segments[log.bases[0] + 1000 if log.bases[0] == 0 else 0] = []


@kind
def short_segment_within(log: OddLog) -> None:
    offset = _offset(log)
    log.segments[offset] = _new(log, offset, 1)


@kind
def long_segment_within(log: OddLog) -> None:
    offset = _offset(log)
    log.segments[offset] = _new(log, offset, 12)


@kind
def copy_of_the_end_of_a_segment(log: OddLog) -> None:
    base, number, entry = _some(log)
    if number and entry.first not in log.segments:
        log.segments[entry.first] = list(log.segments[base][number:])


@kind
def copy_of_a_segment_with_another_name(log: OddLog) -> None:
    base = log.draw.choice(log.bases)
    if base + 1 not in log.segments:
        log.segments[base + 1] = list(log.segments[base])


def _rename(log: OddLog, base: int, name: int) -> None:
    if name >= 0 and name not in log.segments:
        log.segments[name] = log.segments.pop(base)


@kind
def name_below_the_first_offset(log: OddLog) -> None:
    base = log.draw.choice(log.bases)
    _rename(log, base, base - log.draw.choice((1, 2, 7)))


@kind
def name_above_the_first_offset(log: OddLog) -> None:
    base = log.draw.choice(log.bases)
    _rename(log, base, base + log.draw.choice((1, 3, 10)))


@kind
def name_above_the_last_offset(log: OddLog) -> None:
    base = log.draw.choice(log.bases)
    _rename(log, base, log.end + log.draw.choice((0, 5, 1000)))


@kind
def names_exchanged(log: OddLog) -> None:
    one, other = log.draw.choice(log.bases), log.draw.choice(log.bases)
    log.segments[one], log.segments[other] = log.segments[other], log.segments[one]


@kind
def base_offset_back_by_some(log: OddLog) -> None:
    base, number, entry = _some(log)
    log.segments[base][number] = entry.moved(-log.draw.randrange(min(entry.first, 40) + 1))
    log.hides_a_jump = True


@kind
def base_offset_forward_by_some(log: OddLog) -> None:
    base, number, entry = _some(log)
    log.segments[base][number] = entry.moved(log.draw.randrange(40))
    log.hides_a_jump = True


@kind
def base_offset_of_another_record(log: OddLog) -> None:
    _move(log, _offset(log))


@kind
def base_offset_beyond_the_end(log: OddLog) -> None:
    _move(log, log.end + log.draw.choice((0, 1, 1000, 1 << 33)))


@kind
def first_base_offset_of_a_segment_wrong(log: OddLog) -> None:
    base = log.draw.choice(log.bases)
    if log.segments[base] and log.segments[base][0].rows:
        entry = log.segments[base][0]
        log.segments[base][0] = entry.moved(max(-entry.first, log.draw.choice((-32, -3, 2, 16))))
        log.hides_a_jump = True


@kind
def last_base_offset_of_a_segment_wrong(log: OddLog) -> None:
    base = log.draw.choice(log.bases)
    if log.segments[base] and log.segments[base][-1].rows:
        entry = log.segments[base][-1]
        log.segments[base][-1] = entry.moved(max(-entry.first, log.draw.choice((-32, -3, 2, 16))))
        log.hides_a_jump = True


@kind
def two_batches_exchanged(log: OddLog) -> None:
    base, number, _ = _some(log)
    entries = log.segments[base]
    other = log.draw.randrange(len(entries))
    entries[number], entries[other] = entries[other], entries[number]
    log.hides_a_jump = True


@kind
def batches_reversed(log: OddLog) -> None:
    base = log.draw.choice(log.bases)
    log.segments[base] = log.segments[base][::-1]
    log.hides_a_jump = True


@kind
def batches_shuffled(log: OddLog) -> None:
    log.draw.shuffle(log.segments[log.draw.choice(log.bases)])
    log.hides_a_jump = True


@kind
def a_batch_twice(log: OddLog) -> None:
    base, number, entry = _some(log)
    log.segments[base].insert(log.draw.randrange(number, len(log.segments[base]) + 1), entry)
    log.hides_a_jump = True


@kind
def a_batch_of_another_segment(log: OddLog) -> None:
    _, _, entry = _some(log)
    log.segments[log.draw.choice(log.bases)].append(entry)
    log.hides_a_jump = True


@kind
def a_gap(log: OddLog) -> None:
    base, number, _ = _some(log)
    del log.segments[base][number]


@kind
def a_batch_with_holes(log: OddLog) -> None:
    end = log.end
    offsets = sorted(log.draw.sample(range(end, end + 12), 4))
    log.segments[log.bases[-1]].append(batch(log.draw, offsets[0], offsets=offsets))


@kind
def a_batch_in_the_holes_of_another(log: OddLog) -> None:
    end = log.end
    entries = log.segments[log.bases[-1]]
    entries.append(batch(log.draw, end, offsets=[end, end + 4, end + 9]))
    entries.append(batch(log.draw, end + 10))
    entries.append(batch(log.draw, end + 2, offsets=[end + 2, end + 3, end + 4, end + 5]))


@kind
def an_empty_batch(log: OddLog) -> None:
    base, number, entry = _some(log)
    end = entry.rows[-1].offset + 1
    log.segments[base][number] = Entry(recordpress.empty_batch(entry.first, end - 1), header_end=end)


@kind
def messages_of_v1(log: OddLog) -> None:
    log.segments[log.bases[-1]] += _new(log, log.end, 3, magic=1)


@kind
def messages_of_v0(log: OddLog) -> None:
    log.segments[log.bases[-1]] += _new(log, log.end, 3, magic=0)


def _wrapper(log: OddLog, offset: int) -> Entry:
    """Three to six records from that offset on, some of them after a gap."""
    offsets = range(offset, offset + 6)
    if log.draw.random() < 0.5:
        offsets = [offset, *sorted(log.draw.sample(range(offset + 1, offset + 12), log.draw.choice((2, 4))))]
    codec = log.draw.choice(("lz4", "snappy", "gzip"))
    return batch(log.draw, offset, magic=log.draw.choice((0, 1)), codec=codec, offsets=offsets)


@kind
def wrappers(log: OddLog) -> None:
    for _ in range(3):
        log.segments[log.bases[-1]].append(_wrapper(log, log.end))


@kind
def wrappers_that_overlap(log: OddLog) -> None:
    for _ in range(log.draw.choice((2, 5))):
        log.segments[log.bases[-1]].append(_wrapper(log, max(log.end - log.draw.choice((0, 0, 2, 4)), 0)))
    log.hides_a_jump = True


@kind
def a_wrapper_that_reaches_back(log: OddLog) -> None:
    end = log.end
    offsets = sorted({max(end - log.draw.randrange(12), 0), max(end - log.draw.randrange(4), 0), end, end + 3})
    log.segments[log.bases[-1]].append(batch(log.draw, offsets[0], magic=1, codec="lz4", offsets=offsets))
    log.segments[log.bases[-1]] += _new(log, log.end, 2)
    log.hides_a_jump = True


@kind
def a_wrapper_below_the_name_of_its_segment(log: OddLog) -> None:
    log.segments[log.end] = [_wrapper(log, max(log.end - 3, 0)), *_new(log, log.end + 20, 2)]


@kind
def extreme_times(log: OddLog) -> None:
    times = lambda: log.draw.choice((0, -1, (1 << 63) - 1, T))  # noqa: E731
    log.segments[log.bases[-1]] += _new(log, log.end, 3, times=times)


@kind
def falling_times(log: OddLog) -> None:
    offsets = range(log.end, log.end + 5)
    log.segments[log.bases[-1]] += [
        batch(log.draw, offset, offsets=[offset], times=lambda by=offset: T - by) for offset in offsets
    ]


def _sidecar(log: OddLog, suffix: str) -> tuple[str, bytes]:
    base = log.draw.choice(log.bases)
    make = offset_index if suffix == "index" else time_index
    return f"{base:020d}.{suffix}", make(base, log.segments[base])


@kind
def no_offset_index(log: OddLog) -> None:
    log.without |= {f"{base:020d}.index" for base in log.bases if log.draw.random() < 0.7}


@kind
def no_time_index(log: OddLog) -> None:
    log.without |= {f"{base:020d}.timeindex" for base in log.bases if log.draw.random() < 0.7}


@kind
def offset_index_within_a_batch(log: OddLog) -> None:
    name, data = _sidecar(log, "index")
    log.files[name] = b"".join(
        struct.pack(">ii", offset, position + log.draw.choice((0, 1, 7, 61)))
        for offset, position in struct.iter_unpack(">ii", data)
    )


@kind
def offset_index_of_later_batches(log: OddLog) -> None:
    base = log.draw.choice(log.bases)
    found = places(log.segments[base])
    log.files[f"{base:020d}.index"] = b"".join(
        struct.pack(">ii", number + 1, position) for number, (position, _) in enumerate(found[1:])
    )


@kind
def offset_index_beyond_the_file(log: OddLog) -> None:
    name, data = _sidecar(log, "index")
    log.files[name] = data + struct.pack(">ii", 1 << 20, 1 << 24)


@kind
def offset_index_padded(log: OddLog) -> None:
    name, data = _sidecar(log, "index")
    log.files[name] = data + bytes(80)


@kind
def offset_index_of_odd_size(log: OddLog) -> None:
    name, data = _sidecar(log, "index")
    log.files[name] = data + b"\1\2\3"


@kind
def indexes_of_another_segment(log: OddLog) -> None:
    for suffix in ("index", "timeindex"):
        name, _ = _sidecar(log, suffix)
        _, log.files[name] = _sidecar(log, suffix)


@kind
def time_index_too_early(log: OddLog) -> None:
    name, data = _sidecar(log, "timeindex")
    log.files[name] = b"".join(
        struct.pack(">qi", time - 1000, offset) for time, offset in struct.iter_unpack(">qi", data)
    )


@kind
def time_index_that_passes_over_a_later_batch(log: OddLog) -> None:
    """Its entry names a batch, and that batch's time; but one before it is later."""
    base = log.bases[-1]
    log.segments[base] += [batch(log.draw, log.end, offsets=[log.end], times=lambda: T + 900)]
    last = batch(log.draw, log.end, offsets=[log.end], times=lambda: T + 500)
    log.segments[base].append(last)
    if 0 <= last.first - base < 1 << 31:
        log.files[f"{base:020d}.timeindex"] = struct.pack(">qi", T + 500, last.first - base)
    log.segments[base] += [batch(log.draw, log.end, offsets=[log.end], times=lambda: T + 950)]


@kind
def time_index_of_garbage(log: OddLog) -> None:
    name, _ = _sidecar(log, "timeindex")
    log.files[name] = log.draw.randbytes(24)


@kind
def transaction_index_that_the_log_contradicts(log: OddLog) -> None:
    base, _, entry = _some(log)
    entries = struct.pack(">hqqqq", 0, 7, max(base, entry.first), max(base, entry.first) + 2, base)
    log.files[f"{base:020d}.txnindex"] = entries


@kind
def transaction_index_of_zeros(log: OddLog) -> None:
    log.files[f"{log.draw.choice(log.bases):020d}.txnindex"] = bytes(34)


@kind
def snapshot_that_is_damaged(log: OddLog) -> None:
    log.files[f"{log.draw.choice(log.bases):020d}.snapshot"] = b"\0\1\2\3"


@kind
def a_deleted_segment(log: OddLog) -> None:
    base = log.draw.choice(log.bases)
    log.files[f"{base:020d}.log.deleted"] = b"".join(entry.data for entry in log.segments[base])


@kind
def a_cleaned_segment(log: OddLog) -> None:
    log.files[f"{_offset(log):020d}.log.cleaned"] = b"".join(e.data for e in _new(log, 5, 2))


@kind
def a_swapped_segment(log: OddLog) -> None:
    log.files[f"{_offset(log):020d}.log.swap"] = b"".join(e.data for e in _new(log, 5, 2))


@kind
def a_log_with_another_name(log: OddLog) -> None:
    log.files["5.log"] = b"".join(entry.data for entry in _new(log, 5, 2))


@kind
def a_cut_end(log: OddLog) -> None:
    entry = batch(log.draw, log.end)
    log.segments[log.bases[-1]].append(Entry(entry.data[: log.draw.randrange(1, len(entry.data))], is_damage=True))


@kind
def an_end_of_zeros(log: OddLog) -> None:
    log.segments[log.bases[-1]].append(Entry(bytes(log.draw.choice((5, 100, 4000))), is_damage=True))


@kind
def garbage_in_the_middle(log: OddLog) -> None:
    base, number, _ = _some(log)
    log.segments[base].insert(number, Entry(b"\xff" * log.draw.choice((30, 200)), is_damage=True))
    log.is_damaged = True


@kind
def a_wrong_checksum(log: OddLog) -> None:
    base, number, entry = _some(log)
    if entry.producer < 0:
        data = entry.data[:-1] + bytes([entry.data[-1] ^ 0x40])
        log.segments[base][number] = replace(entry, data=data, rows=[], is_damage=True)
        log.is_damaged = True


def draw_odd_log(
    draw: random.Random, first: str | None = None, transactions: bool | None = None, kinds: Sequence[str] = ()
) -> OddLog:
    """A log with a kind of oddity, or a few."""
    log = draw_log(draw, transactions=draw.random() < 0.4 if transactions is None else transactions)
    names = [first] if first is not None else []
    names += draw.sample(sorted(kinds or KINDS), draw.choice((0, 1, 2)) if first else draw.choice((1, 2, 3)))
    # the ends last, so that nothing follows them
    names = list(dict.fromkeys(names))
    if "a_cut_end" in names and "an_end_of_zeros" in names:
        names.remove("an_end_of_zeros")
    for name in sorted(names, key=lambda one: one in ("a_cut_end", "an_end_of_zeros")):
        if any(entry.rows for entries in log.segments.values() for entry in entries):
            KINDS[name](log)
            log.kinds.append(name)
    return log
