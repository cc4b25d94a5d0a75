"""ls, stats, dump, tail and find, as users type them."""

import base64
import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import oracle
import recordpress
from cli.conftest import AT_ONCE, COMMAND, Run, environment
from patience import HANG
from recordpress.producer import murmur2, partition_for_key

REAL = [partition for partition in oracle.PARTITIONS if "read_committed" in partition.entry]
LINES = next(p for p in oracle.PARTITIONS if str(p) == "kafka-4.3.1/lines-lz4-0")
TXN = next(p for p in oracle.PARTITIONS if str(p) == "kafka-4.3.1/txn_topic-0")


class Plain:
    """A codec that does not compress."""

    levels = None

    def compress(self, data: bytes) -> bytes:
        return data

    def decompress(self, data: bytes, max_output: int) -> bytes:
        return data


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three partitions of a topic: keys a to e, the values say where they are."""
    for number in range(3):
        directory = tmp_path / f"orders-{number}"
        directory.mkdir()
        for base in (0, 10):
            rows = range(base, base + 10)
            data = recordpress.write_records(
                [b"value %d of %d" % (row, number) for row in rows],
                [b"abcde"[row % 5 : row % 5 + 1] for row in rows],
                [1_700_000_000_000 + 1000 * row for row in rows],
                [[("row", b"%d" % row)] for row in rows],
                base_offset=base,
                compression_type="lz4",
            )
            (directory / f"{base:020}.log").write_bytes(data)
    return tmp_path


def shown(value: str | None) -> dict[str, Any] | str | None:
    """As the consumer's results have a value: the text of its base64, or its size and hash."""
    import hashlib

    if value is None:
        return None
    raw = base64.b64decode(value)
    return value if len(raw) <= 256 else {"len": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


# --- dump ---------------------------------------------------------------------------------------------------------


@oracle.each("partition", [TXN, LINES, *REAL[:: max(1, len(REAL) // 6)]])
def test_dump_gives_what_a_consumer_got(run: Run, partition: oracle.Partition, tmp_path: Path) -> None:
    directory = partition.write_to(tmp_path)
    level = ("--isolation-level", "read_committed")
    done = run("dump", directory, "--format", "jsonl", "--values", "base64", *level)
    assert done.status == 0, done.err
    rows = [json.loads(line) for line in done.lines]
    consumed = partition.consumed("read_committed")
    kinds = {"CreateTime": 0, "LogAppendTime": 1, "NoTimestampType": -1}
    assert [
        {**row, "key": shown(row["key"]), "value": shown(row["value"])} | {"headers": [list(h) for h in row["headers"]]}
        for row in rows
    ] == [
        {
            "topic": partition.entry["topic"],
            "partition": row["partition"],
            "offset": row["offset"],
            "timestamp": row["timestamp"],
            "timestampType": kinds[row["timestamp_type"]],
            "key": row["key"],
            "value": row["value"],
            "headers": row["headers"],
        }
        for row in consumed
    ]


HEADINGS = ("Dumping ", "Log starting offset: ")


def test_dump_as_kafka_does_it(run: Run, tmp_path: Path) -> None:
    directory = TXN.write_to(tmp_path)
    files = ",".join(str(path) for path in sorted(directory.glob("*.log")))
    done = run("dump", "--files", files, "--format", "kafka", "--deep-iteration", "--print-data-log")
    text = oracle.read("segments/" + TXN.entry["dump_log_segments"]).decode()
    expected = [line for line in text.splitlines() if line.startswith(("baseOffset: ", "| offset: "))]
    assert done.status == 0
    assert [line for line in done.lines if not line.startswith(HEADINGS)] == expected
    assert run("dump", directory, "--format", "kafka", "--deep-iteration", "--head", 3).lines[2:] == [
        line.partition(" key: ")[0] for line in expected[:3]
    ]


STATE = next(p for p in oracle.PARTITIONS if str(p) == "kafka-4.3.1/__transaction_state-0")


def test_dump_with_a_decoder(run: Run, tmp_path: Path) -> None:
    directory = STATE.write_to(tmp_path)
    done = run("dump", directory, "--format", "kafka", "--transaction-log-decoder")
    text = STATE.dumped().decode()
    expected = [line for line in text.splitlines() if line.startswith("| offset: ") or " magic: " in line]
    assert done.status == 0
    assert [line for line in done.lines if not line.startswith(HEADINGS)] == expected


@pytest.mark.parametrize("format_", ["json", "jsonl", "csv", "table", "arrow", "parquet"])
def test_formats(run: Run, log: Path, format_: str) -> None:
    done = run("dump", log, "--format", format_, "--offset", "8..12", "--columns", "partition,offset,value")
    assert (done.status, done.err) == (0, "")
    expected = [(number, offset, f"value {offset} of {number}") for number in range(3) for offset in range(8, 12)]
    assert read(format_, done.out) == expected


def read(format_: str, data: bytes) -> list[tuple[int, int, str]]:
    if format_ in ("arrow", "parquet"):
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        table = pq.read_table(io.BytesIO(data)) if format_ == "parquet" else pa.ipc.open_stream(data).read_all()
        rows = table.to_pylist()
        return [(row["partition"], row["offset"], row["value"].decode()) for row in rows]
    if format_ == "json":
        return [tuple(row.values()) for row in json.loads(data)["records"]]
    if format_ == "jsonl":
        return [tuple(json.loads(line).values()) for line in data.splitlines()]  # type: ignore[misc]
    lines = data.decode().splitlines()
    if format_ == "csv":
        assert lines.pop(0) == "partition,offset,value"
        cells = [line.split(",") for line in lines]
        return [(int(a), int(b), c.strip('"')) for a, b, c in cells]
    assert lines.pop(0) == "partition  offset  value"
    return [(int(line[:9]), int(line[9:17]), line[19:]) for line in lines]


def test_head_time_and_redact(run: Run, log: Path) -> None:
    rows = run("dump", log / "orders-1", "--time", "2023-11-14T22:13:25Z..1700000008000", "-f", "jsonl").lines
    assert [json.loads(row)["offset"] for row in rows] == [5, 6, 7]
    first = json.loads(run("dump", log, "--head", 1, "-f", "jsonl", "--redact").text)
    assert (first["key"], first["value"], first["headers"]) == (1, 12, [["row", 1]])
    assert run("dump", log, "--head", 0, "-f", "jsonl").text == ""
    assert run("dump", log, "--head", 0, "--json").json == {"records": []}
    assert run("dump", log, "--time", "-1h", "-f", "jsonl").text == ""


def test_files_beside_a_log_as_the_tool_prints_them(run: Run, tmp_path: Path) -> None:
    directory = TXN.write_to(tmp_path)
    names = [path for path in sorted(directory.iterdir()) if path.suffix in (".index", ".snapshot", ".log")][:5]
    done = run("dump", "--files", ",".join(map(str, names)), "--format", "kafka")
    assert done.status == 0
    assert re.findall(r"Dumping \S+/(\S+)", done.text) == [path.name for path in names]
    assert {line.split()[0] for line in done.lines} >= {"baseOffset:", "offset:", "producerId:"}
    index = next(path for path in names if path.suffix == ".index")
    for size, found in ((0, "is empty"), (8, "passed sanity check")):
        index.write_bytes(bytes([0, 0, 0, 1, 0, 0, 0, 9])[:size])
        done = run("dump", index, "--format", "kafka", "--index-sanity-check")
        assert (done.status, done.text) == (0, f"Dumping {index}\n{index} {found}.\n")
    index.write_bytes(b"\xff" * 16)
    done = run("dump", index, "--format", "kafka", "--index-sanity-check")
    assert (done.status, done.text) == (1, f"Dumping {index}\n")
    assert "offset index" in done.err
    assert run("dump", index, "--index-sanity-check").status == 2


def test_batches_tell_of_a_tail_that_is_cut(run: Run, log: Path) -> None:
    segment = sorted((log / "orders-0").glob("*.log"))[-1]
    size = segment.stat().st_size
    for tail, message in (
        (b"", ""),
        (recordpress.write_records([b"a"])[:-9], "is truncated"),
        (bytes(100), "zero bytes"),
    ):
        with segment.open("r+b") as file:
            file.truncate(size)
            file.seek(size)
            file.write(tail)
        done = run("dump", log / "orders-0", "--batches", "--json")
        assert len(done.json["batches"]) == 2
        assert done.status == bool(tail)
        assert re.fullmatch(rf"\S+\.log: byte {size}.*{message}.*\n", done.err) if tail else done.err == ""


def test_batches(run: Run, log: Path) -> None:
    done = run("dump", log / "orders-0", "--batches", "--json")
    assert [(batch["baseOffset"], batch["recordsCount"]) for batch in done.json["batches"]] == [(0, 10), (10, 10)]
    table = run("dump", log / "orders-0", "--batches", "--offset", "10..")
    assert len(table.lines) == 2 and " lz4 " in table.lines[1]


def test_values_that_are_no_text_are_sizes_in_a_table(run: Run, tmp_path: Path) -> None:
    directory = tmp_path / "t-0"
    directory.mkdir()
    data = recordpress.write_records([b"\xff" * 2048, "grün".encode(), b"a\x1b[31m"], [None, b"\x00", b""])
    (directory / f"{0:020}.log").write_bytes(data)
    lines = run("dump", directory, "--columns", "key,value").lines
    assert lines == ["key  value", "-    2.0 KiB", "1 B  grün", "     5 B"] or lines[1:] == [
        "-    2.0 KiB",
        "1 B  grün",
        "     6 B",
    ]


def test_a_missing_codec_names_the_option(run: Run, tmp_path: Path) -> None:
    codecs = recordpress.CodecRegistry()
    codecs.register("com.example.plain", Plain())
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(recordpress.write_records([b"a"], compression_type="com.example.plain", codecs=codecs))
    done = run("dump", path)
    assert done.status == 1 and "'com.example.plain'" in done.err
    assert done.err.endswith("try: the option --codec-plugin MODULE:NAME, which imports the codec\n")


def test_damage_is_an_exit_status_and_a_place(run: Run, log: Path) -> None:
    path = log / "orders-1" / f"{10:020}.log"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    done = run("dump", log / "orders-1", "-f", "jsonl")
    assert done.status == 1
    assert len(done.lines) == 10  # what comes before
    first, last = done.err.splitlines()
    assert first.startswith(f"recordpress: {path}: byte ") and first.endswith("(checksum)") and "offset 10" in first
    assert last == f"try: recordpress scan {log / 'orders-1'}"
    skipped = run("dump", log / "orders-1", "-f", "jsonl", "--on-corrupt", "skip")
    assert skipped.status == 1
    assert "checksum" in skipped.err and len(skipped.lines) == 10


def test_a_cut_tail_is_told(run: Run, log: Path) -> None:
    path = log / "orders-1" / f"{10:020}.log"
    path.write_bytes(path.read_bytes()[:-5])
    done = run("dump", log / "orders-1", "-f", "jsonl")
    assert (done.status, len(done.lines)) == (1, 10)
    assert "the last entry is truncated" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument 'PATH...'"),
        (["x", "--files", "y"], "either PATH or --files"),
        (["x", "--offset", "5..4"], "ends before it starts"),
        (["x", "--offset", "-4"], "not an offset"),
        (["x", "--time", "yesterday"], "'yesterday' is not a time such as 2026-09-01T12:00Z, "),
        (["x", "--columns", "vale"], "unknown name 'vale': did you mean 'value'?"),
        (["x", "--json", "-f", "csv"], "cannot be combined"),
    ],
)
def test_wrong_arguments(run: Run, arguments: list[str], said: str) -> None:
    done = run("dump", *arguments)
    assert (done.status, done.text) == (2, "")
    assert said in done.err and done.err.endswith("try: recordpress dump --help\n")


def test_options_of_one_format_are_refused_with_another(run: Run, log: Path) -> None:
    assert run("dump", log, "--deep-iteration").status == 2
    assert run("dump", log, "-f", "arrow", "--values", "hex").status == 2
    assert run("dump", log, "-f", "kafka", "--columns", "key").status == 2
    assert run("dump", log, "--offsets-decoder").status == 2
    assert run("dump", log, "-f", "kafka", "--offsets-decoder", "--redact").status == 2
    assert run("dump", log, "--batches", "--redact").status == 2


def test_paths_that_lead_nowhere(run: Run, tmp_path: Path) -> None:
    missing = run("dump", tmp_path / "missing")
    assert (missing.status, missing.err) == (3, f"recordpress: {tmp_path}/missing: No such file or directory\n")
    empty = run("ls", tmp_path)
    assert empty.status == 2 and "no partition found" in empty.err


# --- ls, stats ----------------------------------------------------------------------------------------------------


def test_ls(run: Run, log: Path) -> None:
    (log / "orders-9.0123456789abcdef0123456789abcdef-delete").mkdir()
    done = run("ls", log)
    assert done.status == 0
    assert [line.split()[:2] for line in done.lines[1:4]] == [[f"orders-{n}", "2"] for n in range(3)]
    assert done.lines[-1].startswith("3 partitions, 6 segments, ")
    assert done.err.startswith("skipped: ") and "awaits deletion" in done.err
    found = run("ls", "--json", log).json
    assert [[s["baseOffset"] for s in p["segments"]] for p in found["partitions"]] == [[0, 10]] * 3
    assert found["partitions"][0]["size"] == sum(path.stat().st_size for path in (log / "orders-0").iterdir())
    assert [skipped["rule"] for skipped in found["skipped"]] == ["directory name"]
    assert len(run("ls", "--segments", log).lines) == 8


def test_ls_opens_no_segment(run: Run, log: Path) -> None:
    for path in log.rglob("*.log"):
        path.chmod(0)
    assert run("ls", log).status == 0


DOCS = Path(__file__).parents[2] / "docs"
DEMO = DOCS.parent / "demo" / "logs"


def test_stats_with_savings(run: Run, tmp_path: Path) -> None:
    """Those of a dry run, within 80 columns."""
    done = run("stats", "--savings", "--level", 2, DEMO)
    table = done.lines[done.lines.index("copies with zstd 2:") + 1 :]
    assert max(map(len, table)) <= 80
    dry = run("transcode", DEMO, tmp_path / "copy", "--codec", "zstd", "--level", 2, "--dry-run")
    assert table == dry.lines[2:-1]
    more = ("--json", "--codec", "lz4", "--batch-bytes", "2MiB", "--topic", "access-*")
    found = run("stats", "--savings", *more, DEMO).json
    jsonschema.validate(found, json.loads((DOCS / "stats.schema.json").read_text()))
    assert found["savings"]["batchBytes"] == 2 << 20
    assert [topic["topic"] for topic in found["savings"]["topics"]][:2] == ["access-json", "access-log"]


def test_savings_of_a_sample(run: Run, tmp_path: Path) -> None:
    for number in range(3):
        shutil.copytree(DEMO / "nginx-status-0", tmp_path / f"nginx-status-{number}")
    done = run("stats", "--savings", "--sample", "200kB", "--batch-bytes", "8kB", tmp_path)
    table = done.lines[done.lines.index("copies with zstd:") + 1 :]
    assert max(map(len, table)) <= 80
    assert re.fullmatch(r"nginx-status  8.0 MiB(  -9[5-7].\d ±[01].\d %){3}", table[1])
    assert re.fullmatch(r"measured on a sample of .* MiB; ± 95 % confidence", table[-1])


@pytest.mark.parametrize(("place", "more"), [(10, 0), (300, 1)])  # the statistics read no records
def test_savings_of_damage(run: Run, tmp_path: Path, place: int, more: int) -> None:
    """The topic is left out, and no damage is reported twice."""
    log = tmp_path / "orders-0"
    log.mkdir()
    data = bytearray(recordpress.write_records([b"value %d" % n for n in range(99)]) * 2)
    data[len(data) // 2 + place] ^= 0x80
    (log / f"{0:020d}.log").write_bytes(data)
    without, done = run("stats", log), run("stats", "--savings", "--json", log)
    assert done.status == 1 and done.json["savings"]["topics"] == []
    assert done.err.count("orders-0") == without.err.count("orders-0") + more


def test_stats(run: Run, tmp_path: Path) -> None:
    found = run("stats", "--json", TXN.write_to(tmp_path)).json["total"]
    batches = [batch for log in TXN.logs for batch in log.expected["batches"]]
    plain = [batch for batch in batches if not batch["is_control"]]
    assert found["seen"]["batches"] == len(batches)
    assert found["seen"]["bytes"] == found["size"] == sum(batch["size"] for batch in batches)
    assert found["control"]["batches"] == len(batches) - len(plain)
    for codec, share in found["codecs"].items():
        mine = [batch for batch in plain if batch["codec"] == codec]
        assert share["batches"] == len(mine)
        assert share["records"] == sum(batch["count"] for batch in mine)
        assert share["ratio"] == 1 if codec == "none" else share["ratio"] > 0.5
    assert sum(depth["batches"] for depth in found["recordsPerBatch"]) == sum(1 for b in plain if b["count"])
    assert found["sampled"] is False


@pytest.mark.parametrize("name", ["ls", "stats", "dump"])
def test_json_is_what_the_schema_says(run: Run, tmp_path: Path, name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((oracle.TESTS.parent / "docs" / f"{name}.schema.json").read_text())
    TXN.write_to(tmp_path)
    found = run(name, "--json", tmp_path).json
    validator = jsonschema.validators.validator_for(schema)(schema)
    for result in found["records"] if name == "dump" else [found]:
        validator.validate(result)


# --- tail, find ---------------------------------------------------------------------------------------------------


def test_tail(run: Run, log: Path) -> None:
    done = run("tail", "-n", 3, log, "-f", "jsonl")
    assert done.status == 0
    rows = [json.loads(line) for line in done.lines]
    assert [(row["partition"], row["offset"]) for row in rows] == [(p, o) for p in range(3) for o in (17, 18, 19)]
    assert len(run("tail", "-n", 100, log, "-f", "jsonl").lines) == 60
    assert run("tail", "-n", 0, log, "-f", "jsonl").text == ""


def test_tail_goes_back_over_control_records(run: Run, tmp_path: Path) -> None:
    directory = TXN.write_to(tmp_path)
    done = run("tail", "-n", 40, directory, "-f", "jsonl", "--isolation-level", "read_committed")
    expected = [row["offset"] for row in TXN.consumed("read_committed")][-40:]
    assert [json.loads(line)["offset"] for line in done.lines] == expected


@pytest.mark.slow
def test_tail_follows_a_log_that_grows_until_it_is_interrupted(log: Path) -> None:
    command = [*COMMAND, "tail", "-n", "1", "--follow", "-f", "jsonl", str(log / "orders-0")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert process.stdout is not None and process.stderr is not None
    assert json.loads(process.stdout.readline())["offset"] == 19
    with (log / "orders-0" / f"{10:020}.log").open("ab") as file:
        file.write(recordpress.write_records([b"new"], base_offset=20))
    assert json.loads(process.stdout.readline())["value"] == "new"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=HANG)
    assert process.returncode == 130
    assert err.decode().strip() == "recordpress: interrupted"


def test_find(run: Run, log: Path) -> None:
    done = run("find", log, "--key", "c", "-f", "jsonl")
    rows = [json.loads(line) for line in done.lines]
    assert [(row["partition"], row["offset"]) for row in rows] == [(p, o) for p in range(3) for o in (2, 7, 12, 17)]
    assert done.err == "12 records found; 60 records searched\n"
    by_value = run("find", log, "--value-contains", "19 of", "--columns", "partition,value", "-f", "jsonl").lines
    assert [json.loads(line) for line in by_value] == [{"partition": p, "value": f"value 19 of {p}"} for p in range(3)]
    by_header = run("find", log / "orders-0", "--header", "row=7", "--columns", "offset", "-f", "csv").lines
    assert by_header == ["offset", "7"]
    assert len(run("find", log, "--header", "row", "--head", 5, "-f", "jsonl").lines) == 5
    assert run("find", log, "--key", "c", "--header", "row=3", "-f", "jsonl").text == ""
    assert run("find", log).status == 2


def test_find_in_the_partition_of_the_key(run: Run, log: Path) -> None:
    wanted = partition_for_key(b"c", 3)
    done = run("find", log, "--key", "c", "--partitions", 3, "-f", "jsonl")
    assert {json.loads(line)["partition"] for line in done.lines} == {wanted}
    assert f"murmur2 maps this key to partition {wanted} of 3" in done.err
    far = next(n for n in range(4, 100) if partition_for_key(b"c", n) > 2)
    elsewhere = run("find", log, "--key", "c", "--partitions", far)
    assert elsewhere.status == 2 and "was not found" in elsewhere.err


@pytest.mark.parametrize(
    ("key", "number"),
    [
        # of Apache Kafka's own UtilsTest.testMurmur2
        ("21", -973932308),
        ("foobar", -790332482),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        ("abc", 479470107),
    ],
)
def test_murmur2_is_kafkas(key: str, number: int) -> None:
    assert murmur2(key.encode()) == number
    assert partition_for_key(key.encode(), 1000) == (number & 0x7FFFFFFF) % 1000


# --- terminals ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_progress_of_rows_on_a_terminal(tmp_path: Path) -> None:
    """As test_progress_bar.py, of a verb that prints rows meanwhile."""
    directory = tmp_path / "t-0"
    directory.mkdir()
    data = b"".join(recordpress.write_records([b"x" * 500] * 100, base_offset=100 * i) for i in range(600))
    (directory / f"{0:020}.log").write_bytes(data)
    controller, terminal = pty.openpty()
    command = [sys.executable, "-c", AT_ONCE, "dump", "-f", "jsonl", str(directory)]
    with (tmp_path / "rows").open("wb") as rows:
        process = subprocess.Popen(command, stdout=rows, stderr=terminal, env=environment(TERM="xterm"))
    os.close(terminal)
    drawn = b""
    with suppress(OSError):  # EIO: the other side has closed it
        while piece := os.read(controller, 1 << 16):
            drawn += piece
    os.close(controller)
    assert process.wait(HANG) == 0
    assert (tmp_path / "rows").read_bytes().count(b"\n") == 60_000
    assert b"reading" in drawn and b"MiB" in drawn and b"ETA" in drawn


def test_no_progress_where_there_is_no_terminal(run: Run, log: Path) -> None:
    assert run("dump", log, "-f", "jsonl").err == ""


def test_colors_only_on_a_terminal_that_wants_them(run: Run, log: Path) -> None:
    assert b"\x1b" not in run("ls", log).out


@pytest.mark.slow
def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    directory = LINES.write_to(tmp_path)
    command = [*COMMAND, "dump", "-f", "jsonl", str(directory)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(HANG) == 141


def test_doctor(run: Run) -> None:
    found = run("doctor", "--json").json
    assert found["recordpress"] == recordpress.__version__
    assert set(found["libraries"]) == {"libdeflate", "lz4", "xxhash", "zstd"}
    assert all(speed > 0 for codec in found["speeds"].values() for speed in codec.values())
    done = run("doctor")
    assert done.lines[0] == "installation"
    assert "click" in done.text
