"""`recordpress.analyze`, `fits` and `train`, which import their implementation on the first call."""

from recordpress._version import NEWEST_KAFKA
from recordpress.producer.settings import BATCH_SIZE, BUFFER_MEMORY, MAX_REQUEST_SIZE

TYPE_CHECKING = False  # as in recordpress._lazy
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

    from typing_extensions import Buffer

    from recordpress.analysis._analysis import Analysis
    from recordpress.analysis._fits import Fits
    from recordpress.analysis._train import DictionaryTraining
    from recordpress.codecs import CodecRegistry
    from recordpress.log import Log, Progress
    from recordpress.typing import ArrowArray, ArrowStream, Headers, Integer, Level, Time


def analyze(
    path: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
    candidates: str = "none/snappy/lz4/gzip,1,6/zstd,1,3,6",
    *,
    depths: "Sequence[Integer]" = (1, 10),
    sample_bytes: "Integer" = 64 << 20,
    seed: "Integer" = 0,
    threads: "Integer | None" = None,
    timing: "Literal['fastest', 'median']" = "fastest",
    rate: "str | float | None" = None,
    price_gb: "float | None" = None,
    replication: "Integer" = 1,
    price_network_gb: "float | None" = None,
    consumers: "Integer" = 1,
    price_consumer_gb: "float | None" = None,
    max_seconds: "float | None" = None,
    codecs: "CodecRegistry | None" = None,
    progress: "Callable[[Progress], object] | None" = None,
) -> "Analysis":
    """Measure codecs, levels and batch depths on the records of a log, and recommend settings.

    Each codec compresses the sample's records batch by batch, as a stream, like Java's producer; every batch is read
    back and compared. Sizes count whole record sets, with headers. `write_columns` compresses a batch in one call,
    which is faster; its sizes differ by up to 2 % with zstd, and are up to 5 % smaller with gzip. Speeds are
    measured with `compress` and `decompress` on the records of one batch after another, in Kafka's framing.

    Parameters
    ----------
    path : str, PathLike or several of them
        A log, as for `open_log`; or one file of lines, each of which is the value of a record. Lines have no stored
        depth: the depth of batches of Kafka's default batch.size, 16384 bytes, is used instead.
    candidates : str
        Codecs separated by ``/``, each with its levels after commas; without levels, the level of Kafka's clients.
    depths : list, tuple or range of int
        Records per batch, as multiples of the stored depth, 1 to 10000. The stored depth is always measured. Batches
        of other depths are formed from the records in order.
    sample_bytes : int
        Maximum size of the sample in bytes, uncompressed; the last batch may exceed it. A larger log is divided into up
        to 64 equal parts, and a run of batches is taken from each.
    seed : int
        Seed for the places of these runs; the same seed gives the same sample.
    threads : int, optional
        Number of threads for sizes; by default one per core. Speeds are in CPU time of one thread, on at most 8 MiB.
    timing : {'fastest', 'median'}
        Which of the repeated calls gives the speed.
    rate : str or float, optional
        Produce rate: ``"20MB/s"`` of uncompressed record sets, ``"50000records/s"``, or a number in MB/s.
    price_gb, price_network_gb, price_consumer_gb : float, optional
        Price of 10^9 bytes that are stored, sent to a follower in another zone, or read by a consumer.
    replication : int
        Replication factor: the number of stored copies, of which all but one are sent to followers.
    consumers : int
        Number of consumer groups that read everything.
    max_seconds : float, optional
        Maximum time to repeat calls while the measured speeds do not show which cell to recommend; by default 10
        seconds. If some cells are still equal then, the smallest is recommended, and ``recommendation["ties"]`` has
        the numbers of the others.
    codecs : CodecRegistry, optional
        Codec plug-ins that `candidates` and batches may name.
    progress : callable, optional
        Called with a `recordpress.log.Progress` that counts the bytes that each codec compresses.

    Returns
    -------
    Analysis
        ``docs/analyze.schema.json`` describes its `to_dict`. Damage in the log is listed in its `findings`, and is not
        in the sample.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An invalid argument, or a path without records.
    CorruptRecordError
        A codec does not return the records that it compressed.
    OSError

    Examples
    --------
    >>> import tempfile, pathlib, recordpress
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "00000000000000000000.log"
    >>> _ = path.write_bytes(b"".join(
    ...     recordpress.write_records([b"a line of text, number %d" % n for n in range(at, at + 100)], base_offset=at)
    ...     for at in range(0, 1000, 100)))
    >>> found = recordpress.analyze(path, "none/zstd,3")
    >>> [(cell.compression_type, cell.level, cell.batch_records, cell.ratio > 2) for cell in found.cells]
    [('none', None, 100, False), ('zstd', 3, 100, True), ('none', None, 1000, False), ('zstd', 3, 1000, True)]
    >>> found.baseline["ratio"], found.sample["coverage"]
    (1.0, 1.0)
    >>> print(*found.recommendation["lines"], sep="\\n")
    compression.type=zstd
    compression.zstd.level=3
    batch.size=16384
    linger.ms=5
    """
    from recordpress.analysis._analyze import analyze_log, prices_of

    prices = prices_of(price_gb, replication, price_network_gb, consumers, price_consumer_gb)
    return analyze_log(
        path, candidates, depths, sample_bytes, seed, threads, timing, rate, prices, max_seconds, codecs, progress
    )


def fits(
    records: "str | os.PathLike[str] | Log | Iterable[Buffer | None] | ArrowArray | ArrowStream",
    keys: "Iterable[Buffer | None] | None" = None,
    timestamps: "Time | Iterable[Time] | None" = None,
    headers: "Iterable[Headers | None] | None" = None,
    *,
    compression_type: str = "none",
    level: "Level" = None,
    batch_size: "Integer" = BATCH_SIZE,
    max_request_size: "Integer" = MAX_REQUEST_SIZE,
    buffer_memory: "Integer" = BUFFER_MEMORY,
    topic_config: "Mapping[str, str | int | bool] | None" = None,
    broker_version: str = NEWEST_KAFKA,
    codecs: "CodecRegistry | None" = None,
) -> "Fits":
    """Check records against every size limit of producer and broker before they are sent.

    Kafka's rules apply: the producer estimates the uncompressed size of each record, and compares it with
    ``max.request.size`` and ``buffer.memory``; it fills batches for ``batch.size``, as a busy producer does, and
    compresses them; the broker compares each batch with ``max.message.bytes`` and ``segment.bytes``; the producer
    splits a batch that is too large; a record that is too large in a batch by itself is rejected.

    Parameters
    ----------
    records : sequence of (bytes-like | None), Arrow columns, str or PathLike
        One value per record; or Arrow columns, as for `write_columns`; or the path or URL of a log, as for `open_log`,
        or of a file of lines, each of which is the value of a record. Each partition of a log has separate
        batches.
    keys, timestamps, headers
        As for `write_records`, if `records` are values.
    compression_type, level, codecs
        The producer's codec, as for `BatchBuilder`.
    batch_size, max_request_size, buffer_memory : int
        ``batch.size``, ``max.request.size`` and ``buffer.memory`` of the producer.
    topic_config : mapping of str to str, int or bool, optional
        ``max.message.bytes``, ``segment.bytes`` and other settings of the topic and the broker, as for
        `recordpress.broker.validate`.
    broker_version : str
        A release of Kafka, 0.8.2 or later, whose defaults apply.

    Returns
    -------
    Fits
        True if every record is stored. Its `limits` show how close the records come to each limit, its `rejections`
        which limit rejects which record; ``docs/fits.schema.json`` describes its `to_dict`.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An invalid argument.
    OSError

    Notes
    -----
    ``max.request.size`` limits records before compression, ``max.message.bytes`` limits batches after it. So the
    producer may reject a record although its batch would be small enough; raising the topic's limit does not help in
    this case.

    Examples
    --------
    >>> import recordpress
    >>> found = recordpress.fits([b"small", bytes(2_000_000)], compression_type="zstd")
    >>> bool(found), [(rejection.record, rejection.limit) for rejection in found.rejections]
    (False, [(1, 'max.request.size')])
    >>> found = recordpress.fits([b"small", bytes(2_000_000)], compression_type="zstd", max_request_size=4_000_000)
    >>> bool(found), found.batches
    (True, 2)
    """
    from recordpress.analysis._fits import check_records

    codec = {"compression_type": compression_type, "level": level}
    producer = codec | {"batch_size": batch_size, "max_request_size": max_request_size}
    broker = {"broker_version": broker_version, "topic_config": topic_config}
    return check_records((records, keys, timestamps, headers), producer, buffer_memory, broker, codecs)


def train(
    path: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Log",
    size: "Integer | None" = None,
    *,
    level: "Integer" = 3,
    depths: "Sequence[Integer]" = (1, 10, 100, 1000),
    sample_bytes: "Integer" = 64 << 20,
    seed: "Integer" = 0,
    dictionary_id: "Integer | None" = None,
    codecs: "CodecRegistry | None" = None,
    progress: "Callable[[Progress], object] | None" = None,
) -> "DictionaryTraining":
    """Train a zstd dictionary on the values of a log, and measure whether it pays.

    The sample is divided into 4 to 16 chunks of consecutive records. The dictionary is trained on three of every four
    chunks, and measured on the fourth, which is held out. The held-out records form batches of each depth, which zstd
    compresses with and without the dictionary.

    Parameters
    ----------
    path : str, PathLike or several of them
        A log, as for `open_log`; or one file of lines, each of which is the value of a record. Lines have no stored
        depth: the depth of batches of Kafka's default batch.size, 16384 bytes, is used instead.
    size : int, optional
        Maximum size of the dictionary in bytes, 256 to 67108864; by default a tenth of the training values, and
        at most 112640.
    level : int
        Level of zstd, with and without the dictionary.
    depths : list, tuple or range of int
        Records per batch, 1 to 1000000. The stored depth is always measured; a depth for which the held-out records do
        not fill a batch is not.
    sample_bytes : int
        Maximum uncompressed size of the sample in bytes, which is taken as in `analyze`. The dictionary is trained on
        at most a hundred times its size, with the same share of each chunk.
    seed : int
        Seed for the place of the sample in a larger log.
    dictionary_id : int, optional
        Id of the dictionary, 32768 to 2147483647; by default derived from the content.
    codecs : CodecRegistry, optional
        Codec plug-ins that batches may name.
    progress : callable, optional
        Called with a `recordpress.log.Progress` that counts the measured bytes.

    Returns
    -------
    DictionaryTraining
        It has the `dictionary`; `pays`, whether that saves a twentieth at the stored depth; and `depths`, its effect at
        each depth. ``docs/train.schema.json`` describes its `to_dict`.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An invalid argument, too few values, or values that have too little in common.
    CorruptRecordError
        A compressed value or batch differs after decompression.
    OSError

    See Also
    --------
    recordpress.dictionaries.train_values : Train on values in memory, without a measurement.

    Examples
    --------
    >>> import tempfile, pathlib, recordpress
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "values.json"
    >>> _ = path.write_text("".join(f'{{"user": {n * n}, "city": "Paris"}}\\n' for n in range(2000)))
    >>> found = recordpress.train(path, 512, depths=(1, 10))
    >>> [(depth.batch_records, depth.pays) for depth in found.depths[:2]]
    [(1, True), (10, False)]
    >>> small = recordpress.compress(b'{"user": 49, "city": "Paris"}', "zstd", dictionary=found.dictionary)
    """
    from recordpress.analysis._train import train_on_log

    return train_on_log(path, size, level, depths, sample_bytes, seed, dictionary_id, codecs, progress)
