"""recordpress explain."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

import recordpress
from cli.conftest import Run
from cli.logs import SEGMENT, batches, files_of, log_of, partition

DOCS = Path(__file__).parents[2] / "docs"
LINES = [b"a line of text that can be compressed %d" % number for number in range(50)]
NOW = 1_700_000_000_000
TO_LZ4 = ("--topic-config", "compression.type=lz4")


def record_set(codec: str = "snappy", **options: object) -> bytes:
    return recordpress.write_records(LINES, timestamps=NOW, compression_type=codec, **options)  # type: ignore[call-overload]


@pytest.fixture
def sent(tmp_path: Path) -> Path:
    path = tmp_path / "batch.bin"
    path.write_bytes(record_set())
    return path


def test_a_batch_that_is_kept(run: Run, sent: Path) -> None:
    done = run("explain", sent)
    assert (done.status, done.err) == (0, "")
    assert done.lines[:2] == ["record set; a broker of Kafka 4.4", f"kept: 1 batch, {sent.stat().st_size} B"]
    assert "To avoid it" not in done.text


def test_a_batch_that_is_recompressed(run: Run, sent: Path) -> None:
    done = run("explain", sent, *TO_LZ4, "--broker-version", "3.9")
    assert (done.status, done.err) == (1, "")
    assert done.lines[0] == "record set; a broker of Kafka 3.9 with compression.type=lz4"
    before, after = sent.stat().st_size, len(recordpress.recompress(sent.read_bytes(), "lz4"))
    assert done.lines[1].startswith(f"recompressed: 1 batch, {before} B; {after} B afterwards, about ")
    assert done.lines[4].split() == f"1 recompressed 1 {before} B {after} B 2 snappy - CODEC_DIFFERS".split()
    assert done.lines[-3].startswith("CODEC_DIFFERS (codec; KIP-390, LogValidator)")
    assert done.lines[-1].startswith("  To avoid it: set the producer's compression.type")


def test_a_batch_that_is_rejected(run: Run, sent: Path) -> None:
    done = run("explain", sent, "-t", "cleanup.policy=compact", "-t", "max.message.bytes=100000")
    assert done.status == 1
    assert "87 INVALID_RECORD" in done.text and "NULL_KEY (key of a compacted topic; " in done.text
    assert "   50 records at fault, first record 0: Compacted topic cannot accept message without key" in done.lines


def test_a_batch_that_is_poisoned(run: Run, tmp_path: Path) -> None:
    """The length of its only record is wrong; the broker does not look at it."""
    payload = bytearray(recordpress.decompress(record_set("gzip")[61:], "gzip"))
    records = bytearray(record_set("gzip")[:61]) + recordpress.compress(bytes([payload[0] + 2]) + payload[1:], "gzip")
    records[8:12] = (len(records) - 12).to_bytes(4, "big")
    records[17:21] = recordpress.crc32c(bytes(records[21:])).to_bytes(4, "big")
    path = tmp_path / "poisoned.bin"
    path.write_bytes(records)
    done = run("explain", path, "--helpful")
    assert done.status == 1
    assert done.lines[1].startswith("kept: 1 batch") and done.lines[2] == "poisoned: 1 batch of these"


def test_json(run: Run, sent: Path) -> None:
    done = run("explain", sent, *TO_LZ4, "--json")
    assert (done.status, done.err) == (1, "")
    [batch] = done.json
    assert {name: batch[name] for name in ("position", "verdict", "errorCode", "relation")} == {
        "position": 0,
        "verdict": "recompressed",
        "errorCode": 0,
        "relation": "rebuilt",
    }
    [reason] = batch["reasons"]
    assert list(reason) == ["id", "rule", "source", "message", "advice"]
    assert (reason["id"], reason["rule"]) == ("CODEC_DIFFERS", "codec")


def test_a_log_dir(run: Run, tmp_path: Path) -> None:
    path = partition(tmp_path, b"".join(batches(codec="gzip")) + record_set("lz4", base_offset=50))
    before = files_of(tmp_path)
    done = run("explain", tmp_path, *TO_LZ4)
    assert (done.status, done.err) == (1, "")
    assert done.lines[0] == "log; a broker of Kafka 4.4 with compression.type=lz4"
    assert done.lines[1].startswith("recompressed: 5 batches, ") and "% of the bytes; " in done.lines[1]
    assert done.lines[2].startswith("kept: 1 batch, ")
    assert f"1: the first of them is {path / SEGMENT}, orders-0, byte 0" in done.lines
    assert "   written as: gzip, Java 16, Go or Python (5 batches)" in done.lines
    assert "   sent by: producers without an id (5 batches)" in done.lines
    assert files_of(tmp_path) == before
    [recompressed, kept] = run("explain", tmp_path, *TO_LZ4, "--json").json
    assert (recompressed["batches"], kept["batches"], kept["position"]) == (5, 1, sum(map(len, batches(codec="gzip"))))
    assert recompressed["cpuSeconds"]["compress"] > 0


def test_json_is_what_the_schema_says(run: Run, sent: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((Path(__file__).parents[2] / "docs" / "explain.schema.json").read_text())
    log = partition(tmp_path, b"".join(batches(codec="gzip")))
    (tmp_path / "nothing.bin").write_bytes(b"")
    for path in (sent, log, tmp_path / "nothing.bin"):
        found = run("explain", path, *TO_LZ4, "--json").json
        jsonschema.validate(found, schema)
        assert ("batches" in found[0]) == (path == log)


def test_a_log_with_damage(run: Run, tmp_path: Path) -> None:
    path = partition(tmp_path, batches()[0] + b"\xff" * 100)
    done = run("explain", path)
    assert done.status == 1
    assert done.lines[0].startswith(f"{path / SEGMENT}: byte ") and "kept: 1 batch, " in done.lines[2]


def test_settings_of_a_broker(run: Run, sent: Path, tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("node.id=1\ncompression.type=gzip\nplugin.password=secret\n")
    done = run("explain", sent, "--config", path)
    assert done.status == 1
    assert done.err == f"{path}: skipped settings that Kafka does not have: plugin.password\n"
    assert "with compression.type=gzip" in done.lines[0] and "secret" not in done.text
    assert run("explain", sent, "--config", path, "-t", "compression.type=snappy").status == 0


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["-t", "compression.type"], 2, "'compression.type' is not a setting such as compression.type=lz4"),
        (["-t", "compression.type=brotli"], 2, "compression.type must be one of"),
        (["-t", "compresion.type=lz4"], 2, "did you mean 'compression.type'?"),
        (["--broker-version", "9.9"], 2, "from 0.8.2 to 4.4"),
        (["--produce-version", "99"], 2, "99 is not in the range"),
        (["--now", "yesterday"], 2, "'yesterday' is not a time"),
        (["--config", "no-such.properties"], 3, "no-such.properties: No such file"),
        (["no-such.bin"], 3, "no-such.bin: No such file"),
    ],
)
def test_what_is_refused(run: Run, sent: Path, arguments: list[str], status: int, says: str) -> None:
    done = run("explain", sent, *arguments)
    assert (done.status, done.text) == (status, "")
    assert says in done.err and "Traceback" not in done.err


def test_completion_knows_settings(run: Run) -> None:
    def completed(words: str) -> list[str]:
        number = str(len(words.split(" ")) - 1)
        return run(_RECORDPRESS_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=number).lines

    assert completed("recordpress explain -t cleanup") == ["plain,cleanup.policy="]
    assert completed("recordpress explain -t message.timestamp.type=Log") == [
        "plain,message.timestamp.type=LogAppendTime"
    ]


def test_advice_to_producers(run: Run, tmp_path: Path) -> None:
    source = log_of(tmp_path, 10_000, batches=500)
    found = run("explain", source, "--json").json
    jsonschema.validate(found, json.loads((DOCS / "explain.schema.json").read_text()))
    assert found[0]["topics"] == [
        {"topic": "orders", "batches": 1000, "depth": recordpress.explain(source).depths[0].to_dict()}
    ]
    texts = {
        r"batch.size=\d+ linger.ms=\d+: 6,\d+; a producer sends (9,9|10,0)\d\d records/s": source,
        r"a producer sends 0\.\d+ records/s to a partition: too few for deeper batches": log_of(
            tmp_path / "slow", 0.5, depth=1, batches=40
        ),
        r"batch.size=\d+, and a linger.ms that lets one producer send [\d,]+ records": log_of(
            tmp_path / "odd", 0.01, producers=0, batches=40
        ),
    }
    for text, log in texts.items():
        done = run("explain", log)
        at = done.lines.index(f"orders: {1 if 'slow' in str(log) else 10}.0 records per batch; 256.0 KiB would hold "
                              f"{recordpress.explain(log).depths[0].deep_records:,}")  # fmt: skip
        assert re.fullmatch(f"   {text}", done.lines[at + 1]) and len(done.lines[at + 1]) <= 80
