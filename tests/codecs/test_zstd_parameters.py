"""zstd's window and strategy: what libzstd writes with them, and what readers reserve for them."""

import json
import os
import pickle
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from samples import noise, text

import recordpress
from patience import HANG
from recordpress import ZstdParameters
from recordpress.codecs.choice import level_as_json, parse_level

JARS = Path(__file__).parents[2] / "build" / "broker"
JAVA = Path(__file__).parents[1] / "compat" / "java" / "ZstdMemory.java"
STRATEGIES = ("fast", "dfast", "greedy", "lazy", "lazy2", "btlazy2", "btopt", "btultra", "btultra2")
FAR = noise(1 << 18) * 2  # repeats at a distance of 256 KiB


def window_of(payload: bytes) -> int:
    return zstandard.get_frame_parameters(payload).window_size


def written(level: Any, data: bytes = FAR) -> Iterator[bytes]:
    """What each way to compress gives, without batch headers."""
    yield recordpress.compress(data, "zstd", level)
    out = bytearray(recordpress.compress_bound(len(data), "zstd"))
    yield bytes(out[: recordpress.compress_into(data, out, "zstd", level)])
    stream = recordpress.compressor("zstd", level)
    yield stream.compress(data[:1000]) + stream.compress(data[1000:]) + stream.flush()
    builder = recordpress.BatchBuilder(2, "zstd", level)
    assert builder.append(data)
    yield builder.build()[61:]
    yield recordpress.write_records([data], compression_type="zstd", level=level)[61:]
    columns = recordpress.read_columns(recordpress.write_records([data]))
    yield recordpress.write_columns(columns, "zstd", level)[61:]
    yield recordpress.recompress(recordpress.write_records([data]), "zstd", level)[61:]


@pytest.mark.parametrize("window_log", [10, 17, 19, 27])
def test_the_window(window_log: int) -> None:
    """Frames name the window, and matches further away than it are not found."""
    for payload in written(ZstdParameters(window_log=window_log)):
        assert window_of(payload) == 1 << window_log
        assert FAR in zstandard.ZstdDecompressor().decompressobj().decompress(payload)
        assert (len(payload) < len(FAR) * 0.6) == (window_log >= 19)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_strategy_is_libzstds(strategy: str) -> None:
    """Another writer's frame differs by less than one release of libzstd from another."""
    data = text(300_000)
    options = zstandard.ZstdCompressionParameters.from_level(3, strategy=STRATEGIES.index(strategy) + 1)
    stream = zstandard.ZstdCompressor(compression_params=options).compressobj()
    theirs = len(stream.compress(data) + stream.flush())
    ours = recordpress.compress(data, "zstd", ZstdParameters(3, strategy=strategy))  # type: ignore[arg-type]
    assert len(ours) == pytest.approx(theirs, rel=0.003)


def test_parameters_end_with_the_call() -> None:
    """A context serves the next call with the level's own window and strategy."""
    data = text(100_000)
    plain = recordpress.compress(data, "zstd", 5)
    assert recordpress.compress(data, "zstd", ZstdParameters(5, window_log=12, strategy="fast")) != plain
    assert recordpress.compress(data, "zstd", 5) == plain
    assert recordpress.compress(data, "zstd", ZstdParameters(5)) == plain


def test_a_level_without_parameters_is_the_level() -> None:
    for level in (-131072, -1, 3, 19, 22):
        assert recordpress.compress(b"data" * 99, "zstd", ZstdParameters(level)) == recordpress.compress(
            b"data" * 99, "zstd", level
        )
    assert ZstdParameters() == ZstdParameters("kafka-default") == ZstdParameters(3)


def test_dictionaries_keep_the_parameters() -> None:
    values = [b'{"user": %d, "path": "/articles/%d"}' % (n, n % 7) for n in range(2000)]
    dictionary = recordpress.dictionaries.train_values(values, 4096)
    packed = recordpress.compress(values[0], "zstd", ZstdParameters(9, strategy="btultra2"), dictionary=dictionary)
    assert recordpress.decompress(packed, "zstd", dictionaries=dictionary) == values[0]
    stream = recordpress.compressor("zstd", ZstdParameters(9, window_log=15), dictionary=dictionary)
    packed = stream.compress(FAR) + stream.flush()
    assert window_of(packed) == 1 << 15
    assert recordpress.decompress(packed, "zstd", dictionaries=dictionary) == FAR


def test_values() -> None:
    parameters = ZstdParameters(-7, window_log=20, strategy="btopt")
    assert (parameters.level, parameters.window_log, parameters.strategy) == (-7, 20, "btopt")
    assert pickle.loads(pickle.dumps(parameters)) == parameters == parse_level(str(parameters))
    assert len({parameters, parse_level("-7,strategy=btopt,windowLog=20"), ZstdParameters(-7)}) == 2
    assert eval(repr(parameters)) == parameters


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("19", 19),
        (" -7 ", -7),
        ("windowLog=20", ZstdParameters(window_log=20)),
        ("19, strategy=lazy", ZstdParameters(19, strategy="lazy")),
    ],
)
def test_text(level: str, expected: Any) -> None:
    assert parse_level(level) == expected
    assert level_as_json(expected) in (expected, str(expected))


@pytest.mark.parametrize("level", ["", "x", "19,19", "19,windowLog", "windowLog=a", "workers=2", "19,window_log=20"])
def test_text_that_names_no_level(level: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match="must be"):
        parse_level(level)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"window_log": 28}, "from 10 to 27, not 28: Kafka's readers refuse a larger window"),
        ({"window_log": 9}, "from 10 to 27, not 9"),
        ({"strategy": "best"}, "strategy must be 'fast', .* not 'best'"),
        ({"level": 23}, "level must be from -131072 to 22, not 23"),
    ],
)
def test_parameters_that_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=message):
        ZstdParameters(**given)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
def test_other_codecs_have_no_window(codec: Any) -> None:
    with pytest.raises(recordpress.InvalidArgumentError, match=f"{codec} has no windowLog or strategy"):
        recordpress.compress(b"data", codec, ZstdParameters(window_log=20))


def test_a_log_is_copied_and_measured_with_them(tmp_path: Path) -> None:
    """The shell and the manifest have the same text, and analyze the decoder's memory."""
    program = pytest.importorskip("recordpress.cli._app", reason="click is not installed", exc_type=ImportError).program
    log = tmp_path / "t-0" / f"{0:020d}.log"
    log.parent.mkdir()
    log.write_bytes(recordpress.write_records([text(300_000)]))
    level = "9,windowLog=16,strategy=greedy"
    command = ["transcode", str(log.parent), str(tmp_path / "copy"), "--codec", "zstd", "--level", level]
    assert program.main(command, standalone_mode=False) in (None, 0)
    copy = (tmp_path / "copy" / "t-0" / log.name).read_bytes()
    assert window_of(copy[61:]) == 1 << 16
    manifest = (tmp_path / "copy" / "recordpress-manifest.jsonl").read_text().splitlines()
    assert json.loads(manifest[0])["options"]["level"] == level
    found = recordpress.analyze(log, f"zstd,{level}/lz4", depths=(1,), max_seconds=0.01)
    assert [cell.to_dict()["level"] for cell in found.cells] == [level, None]
    assert [cell.decoder_bytes for cell in found.cells] == [parse_level(level).decoder_bytes, None]  # type: ignore[union-attr]
    assert found.recommendation["settings"].get("compression.zstd.level", 9) == 9


def test_an_option_of_spark() -> None:
    pytest.importorskip("pyspark")
    from recordpress.spark import WriteOptions

    options = WriteOptions.parse({"path": "/logs", "topic": "t", "compression.level": "3,windowLog=17"})
    assert options.level == ZstdParameters(window_log=17)
    with pytest.raises(recordpress.InvalidArgumentError, match=r"option compression\.level: .* from 10 to 27, not 28"):
        WriteOptions.parse({"path": "/logs", "topic": "t", "compression.level": "windowLog=28"})


@pytest.mark.slow
@pytest.mark.build
@pytest.mark.skipif(not any(JARS.glob("zstd-jni-*.jar")), reason="no jars of Kafka: make -f labs.mk broker")
def test_what_kafkas_decoder_allocates(tmp_path: Path) -> None:
    """Within 10 % of the prediction for every window; and it refuses the window that is refused here."""
    settings = [ZstdParameters(window_log=log) for log in range(10, 28)] + [ZstdParameters(level) for level in (1, 19)]
    files = [tmp_path / f"{number}.zst" for number in range(len(settings) + 1)]
    for file, setting in zip(files, settings, strict=False):
        file.write_bytes(recordpress.compress(FAR, "zstd", setting))
    frame = bytearray(recordpress.compress(FAR, "zstd"))
    frame[5] = (28 - 10) << 3  # RFC 8878, 3.1.1.1.2
    files[-1].write_bytes(frame)
    options = ["-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1"]
    done = subprocess.run(
        ["java", *options, "-cp", f"{JARS}/*", str(JAVA), *map(str, files)],
        check=True,
        capture_output=True,
        text=True,
        timeout=HANG,
        env=os.environ | {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=8192"},  # so that each buffer is seen
    )
    *allocated, refused = done.stdout.splitlines()
    for setting, found in zip(settings, allocated, strict=True):
        assert int(found) == pytest.approx(setting.decoder_bytes, rel=0.1), setting
    assert "Frame requires too much memory for decoding" in refused
