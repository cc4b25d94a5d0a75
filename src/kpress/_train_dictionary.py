"""kpress.train_dictionary: the facade's call, whose room is loaded on first use."""

TYPE_CHECKING = False  # as in kpress._on_use
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from kpress.analysis import DictionaryTraining
    from kpress.codecs import CodecRegistry
    from kpress.log import Progress
    from kpress.typing import Integer


def train_dictionary(
    path: "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]",
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
    """Train a dictionary of zstd on the values of a log, and measure whether it pays.

    It is trained on three quarters of a sample, and measured on the rest, which it has not seen: 4 to 16 stretches of
    records that follow each other, of which every fourth is held out. Their records are cut into batches of each depth,
    and compared with what zstd makes of these batches without a dictionary.

    Parameters
    ----------
    path : str, PathLike or several of them
        What `open_log` takes; or one file of lines, each of which is the value of a record. Lines have no stored depth:
        batches that Kafka's default batch.size of 16384 bytes holds take its place.
    size : int, optional
        Most bytes of the dictionary, 256 to 67108864; by default a tenth of the values that it is trained on, and at
        most 112640.
    level : int
        Of zstd, with and without the dictionary.
    depths : list, tuple or range of int
        Records per batch. The stored depth is always measured; one of which the held-out records do not fill a batch is
        not.
    sample_bytes : int
        Most bytes of the sample, uncompressed, which is taken as `analyze` takes it. The dictionary is trained on at
        most a hundred times its size, from each stretch alike.
    seed : int
        Places the sample in a larger log.
    dictionary_id : int, optional
        32768 to 2147483647; by default one that follows from the content.
    codecs : CodecRegistry, optional
        Codecs of your own, which batches may have.
    progress : callable, optional
        Gets a `kpress.log.Progress`, whose bytes are those that are measured.

    Returns
    -------
    DictionaryTraining
        Its `dictionary`; `pays`: whether it saves a twentieth at the stored depth; `depths`: what it makes of each. Its
        `to_dict` is described by ``docs/train.schema.json``.

    Raises
    ------
    InvalidArgumentError, ArgumentTypeError
        An argument that is not accepted, too few values, or values that have too little in common.
    CorruptRecordError
        What was compressed is not read as it was.
    OSError

    See Also
    --------
    kpress.dictionaries.train : From values at hand, without a measurement.

    Examples
    --------
    >>> import tempfile, pathlib, kpress
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "values.json"
    >>> _ = path.write_text("".join(f'{{"user": {n * n}, "city": "Paris"}}\\n' for n in range(2000)))
    >>> found = kpress.train_dictionary(path, 512, depths=(1, 10))
    >>> [(depth.batch_records, depth.pays) for depth in found.depths[:2]]
    [(1, True), (10, False)]
    >>> small = kpress.compress(b'{"user": 49, "city": "Paris"}', "zstd", dictionary=found.dictionary)
    """
    from kpress.analysis import train_dictionary

    return train_dictionary(
        path,
        size,
        level=level,
        depths=depths,
        sample_bytes=sample_bytes,
        seed=seed,
        dictionary_id=dictionary_id,
        codecs=codecs,
        progress=progress,
    )
