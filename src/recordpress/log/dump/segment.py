"""Output of Kafka's DumpLogSegments (4.3.1, org.apache.kafka.tools) for a ``.log`` file, batch by batch.

::

    chunks of complete entries ──► read_batches: a line per batch
                            └─► read_columns ──► dump_lines: a line per record

Records of v2 batches stay in columns. Control records and records of v0 and v1 are few, and are printed one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from recordpress.codecs import decompress
from recordpress.columns import DUMPED, dump_lines, read_columns
from recordpress.errors import RecordpressError
from recordpress.files import located
from recordpress.log._segment import Segment
from recordpress.log.dump._internal_records import Plain, decoded, decoded_plainly
from recordpress.log.dump._kraft_records import kraft_record_text
from recordpress.log.findings import Finding
from recordpress.record import Batch, Record, control_record, read_batches

if TYPE_CHECKING:
    from recordpress.columns import Columns
    from recordpress.typing import ShownAs


class DumpOptions(NamedTuple):
    """Options of the output, with the names of the tool's options.

    Attributes
    ----------
    deep_iteration : bool
        Print records, too, not only batches.
    print_data_log : bool
        Print keys and values of the records.
    skip_record_metadata : bool
        Print only the key and value of a record.
    max_bytes : int, optional
        Print only batches within this many bytes from the start of each file.
    start_offset, end_offset : int, optional
        Print only batches with offsets in this range, which excludes end_offset. The tool itself has no such option.
    values : {'utf8', 'hex', 'base64', 'json', 'size'}
        How keys and values are printed; the tool prints utf8.
    decoder : {'offsets', 'transaction-log', 'share-group-state', 'cluster-metadata', 'remote-log-metadata'}, optional
        Decode keys and values as records of an internal topic, and print them as JSON (the tool's ``--offsets-decoder``
        and so on). Needs `deep_iteration` and `print_data_log`.
    key_decoder, value_decoder : {'string', 'integer', 'long', 'default'}
        Which of the tool's decoders prints keys and values. `values` applies only to 'string'. For 'default', which is
        bytes, the tool prints an address; here, hexadecimal digits are printed.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import DumpOptions, SegmentDump
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> lines = b"".join(SegmentDump(partition.segments[0], DumpOptions(deep_iteration=False))).splitlines()
    >>> len(lines), lines[-1][:30]
    (1, b'baseOffset: 0 lastOffset: 174 ')
    """

    deep_iteration: bool = True
    print_data_log: bool = False
    skip_record_metadata: bool = False
    max_bytes: int | None = None
    start_offset: int | None = None
    end_offset: int | None = None
    values: ShownAs = "utf8"
    decoder: (
        Literal["offsets", "transaction-log", "share-group-state", "cluster-metadata", "remote-log-metadata"] | None
    ) = None
    key_decoder: Plain = "string"
    value_decoder: Plain = "string"


_DEFAULT = DumpOptions()


class SegmentDump:
    """Text of one segment.

    Parameters
    ----------
    segment : Segment
    options : DumpOptions

    Attributes
    ----------
    findings : list of Finding
        After the end of the text: a finding if bytes follow the last complete entry.

    Examples
    --------
    >>> import recordpress
    >>> from recordpress.log import SegmentDump
    >>> [partition] = recordpress.open_log("demo/logs/sessions-0").partitions
    >>> sum(text.count(b"\\n") for text in SegmentDump(partition.segments[0]))
    176
    """

    def __init__(self, segment: Segment, options: DumpOptions = _DEFAULT) -> None:
        self.segment = segment
        self.options = options
        self.findings: list[Finding] = []

    def __iter__(self) -> Iterator[bytes]:
        """Yield many lines at a time.

        Raises
        ------
        RecordpressError
            Damage that ends the tool, too; raised after the lines before it. A wrong checksum does not end the text:
            the line has ``isvalid: false``.
        """
        most = self.options.max_bytes
        with self.segment.records(complete=False) as file:
            for position, chunk in file.chunks():
                with located(position, file.path):
                    yield from self._chunk(position, chunk)
                if most is not None and position + len(chunk) >= most:
                    return
            if file.trailing_bytes:
                message = f"Found {file.trailing_bytes} invalid bytes at the end of {self.segment.name}"
                place = (self.segment.url, file.valid_bytes, file.trailing_bytes, file.next_offset)
                self.findings.append(Finding(*place, "record set framing", message))

    def _chunk(self, position: int, chunk: memoryview) -> Iterator[bytes]:
        rows = self._rows(chunk) if self._takes_columns else None
        most = self.options.max_bytes
        lines: list[bytes] = []
        row = 0
        try:
            for batch in read_batches(chunk, check_crcs=False, codecs=self.segment.codecs):
                if most is not None and position + batch.position + batch.size > most:
                    break
                if self._is_wanted(batch):
                    lines.append(batch_line(batch, position + batch.position))
                if not self.options.deep_iteration:
                    continue
                if rows is None:  # a decoder is used, or a batch of the chunk is damaged
                    if self._is_wanted(batch):
                        lines.append(self._records(batch))
                    continue
                count = _rows_of(batch)
                if self._is_wanted(batch):
                    lines.append(self._records(batch, rows.slice(row, count)))
                row += count
        finally:
            yield b"".join(lines)

    def _rows(self, chunk: memoryview) -> Columns | None:
        """Return the records of the chunk as columns; None if a batch is damaged."""
        try:
            return read_columns(chunk, DUMPED, check_crcs=False, codecs=self.segment.codecs)
        except RecordpressError:
            return None

    def _is_wanted(self, batch: Batch) -> bool:
        start, end = self.options.start_offset, self.options.end_offset
        return (start is None or batch.last_offset >= start) and (end is None or batch.base_offset < end)

    def _records(self, batch: Batch, rows: Columns | None = None) -> bytes:
        options = self.options
        if batch.is_control:
            return b"".join(self._metadata(batch, record, _control_of(record)) + b"\n" for record in batch)
        if self._decodes:
            return b"".join(self._decoded_lines(batch))
        if rows is None:
            with located(batch.position):
                rows = read_columns(batch.data, DUMPED, check_crcs=False, codecs=self.segment.codecs)
        if batch.magic < 2 and not options.skip_record_metadata:
            return b"".join(self._legacy_lines(batch, rows))
        metadata = not options.skip_record_metadata
        return dump_lines(rows, metadata=metadata, contents=options.print_data_log, values=options.values)

    @property
    def _takes_columns(self) -> bool:
        return self.options.deep_iteration and not self._decodes

    @property
    def _decodes(self) -> bool:
        options = self.options
        plain = (options.key_decoder, options.value_decoder) == ("string", "string")
        return options.decoder is not None or (options.print_data_log and not plain)

    def _contents(self, record: Record) -> tuple[str | None, str | None]:
        options = self.options
        if options.decoder is not None:
            return decoded(record, options.decoder)
        return decoded_plainly(record, options.key_decoder, options.value_decoder)

    def _decoded_lines(self, batch: Batch) -> Iterator[bytes]:
        """Yield a line for each record, one by one: logs that need a decoder usually have few records."""
        lines = _legacy_checks(batch) if batch.magic < 2 else ((record, "") for record in batch)
        for record, check in lines:
            metadata = self._metadata(batch, record, check)
            shown = zip((b" key: ", b" payload: "), self._contents(record), strict=True)
            contents = b"".join(name + text.encode("utf-8", "replace") for name, text in shown if text is not None)
            yield (metadata or (b"|" if contents else b"")) + contents + b"\n"

    def _legacy_lines(self, batch: Batch, rows: Columns) -> Iterator[bytes]:
        for number, (record, check) in enumerate(_legacy_checks(batch)):
            yield self._metadata(batch, record, check)
            row = rows.slice(number, 1)
            contents = self.options.print_data_log
            yield dump_lines(row, metadata=False, contents=contents, values=self.options.values).removeprefix(b"|")

    def _metadata(self, batch: Batch, record: Record, more: str) -> bytes:
        """Return the text of DumpLogSegments.printRecordMetadata for one record."""
        if self.options.skip_record_metadata:
            return b""
        sequence = ""
        if batch.magic >= 2:
            sequence = f" sequence: {record.sequence} headerKeys: [{','.join(key for key, _ in record.headers)}]"
        return (
            f"| offset: {record.offset} {batch.timestamp_type.name}: {record.timestamp} "
            f"keySize: {record.key_size} valueSize: {record.value_size}{sequence}{more}"
        ).encode()


def batch_line(batch: Batch, position: int) -> bytes:
    """Return the text of DumpLogSegments.printBatchLevel."""
    if batch.magic >= 2:
        horizon = batch.delete_horizon_ms
        text = (
            f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.records_count} "
            f"baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence} producerId: {batch.producer_id} "
            f"producerEpoch: {batch.producer_epoch} partitionLeaderEpoch: {batch.partition_leader_epoch} "
            f"isTransactional: {_bool(batch.is_transactional)} isControl: {_bool(batch.is_control)} deleteHorizonMs: "
            + ("OptionalLong.empty" if horizon is None else f"OptionalLong[{horizon}]")
        )
    else:
        text = f"offset: {batch.last_offset}"
    return (
        f"{text} position: {position} {batch.timestamp_type.name}: {batch.max_timestamp} size: {batch.size} "
        f"magic: {batch.magic} compresscodec: {batch.compression_type} crc: {batch.crc} "
        f"isvalid: {_bool(batch.is_valid())}\n"
    ).encode()


def _legacy_checks(batch: Batch) -> Iterator[tuple[Record, str]]:
    """Yield the records of a v0/v1 entry, each with the text of its checksum."""
    messages = _messages_of(batch) if batch.is_compressed else [batch]
    for record, message in zip(batch, messages, strict=True):
        yield record, f" isValid: {_bool(message.is_valid())} crc: {message.crc}"


def _messages_of(wrapper: Batch) -> list[Batch]:
    """Return the messages in the value of a v0/v1 wrapper."""
    value = wrapper.stored_value or b""
    return list(read_batches(decompress(value, wrapper.compression_type, magic=wrapper.magic), check_crcs=False))


def _rows_of(batch: Batch) -> int:
    """Return the number of rows of the chunk's columns that belong to the batch."""
    if batch.magic >= 2:
        return 0 if batch.is_control else batch.records_count or 0
    return len(batch)


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _control_of(record: Record) -> str:
    """Return the text of DumpLogSegments.printControlRecord."""
    control = control_record(record)
    if control.coordinator_epoch is not None:
        return f" endTxnMarker: {control.type} coordinatorEpoch: {control.coordinator_epoch}"
    if (text := kraft_record_text(control.type, record)) is not None:
        return f" {text}"
    number = int.from_bytes((record.key or b"")[2:4], "big", signed=True)  # control_record() checked the key's size
    return f" controlType: {control.type}({number})"
