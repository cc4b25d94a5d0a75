"""The file of a manifest: lines of any number, and what is not one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import recordpress
from recordpress.files import resolve
from recordpress.log import CopiedPartition, CopiedSegment, Manifest, SourceFile
from recordpress.log.copy.manifest import QuarantinedSegment, read_manifest

NAME = "recordpress-manifest.jsonl"
FINDING = recordpress.log.Finding("a", 1, 2, 3, "checksum", "damaged")


def manifest(segments: int, names: int = 3, file: str = "logs/a-0/0.log") -> Manifest:
    source = SourceFile(file, 100, 2, 1.5, ("lz4", "zstd"), 7)
    copied = tuple(
        CopiedSegment(f"{i:020}.log", i, i + 1, 1, 1, 90, ("zstd",), "0" * 32, "0" * 8, 1, 0, source, {"markers": i})
        for i in range(segments)
    )
    kept = QuarantinedSegment("0.log.quarantined", 0, 100, "0" * 8, vars(FINDING), source)
    partitions = (
        CopiedPartition("a", 0, "a-0", tuple(f"{i:020}.snapshot" for i in range(names)), copied, (kept,)),
        CopiedPartition(None, None, ""),
        CopiedPartition("b", 1, "b-1", (), copied[:1]),
    )
    versions = {"manifest": 1, "recordpress": "1"}
    return Manifest(
        "transcode", {"level": None}, "logs", True, partitions, (vars(FINDING),), versions, 2, {"headers": 3}
    )


def written(found: Manifest, root: Path) -> Path:
    files, path = resolve(root)
    found.write(files, path)
    return root / NAME


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """By lines that do not grow: of 5,000 names, for example."""
    whole = manifest(200, names=5000)
    path = written(whole, tmp_path)
    assert Manifest.read(tmp_path) == Manifest.read(str(tmp_path)) == whole == Manifest.from_json(whole.to_json())
    lines = path.read_bytes().splitlines()
    assert max(map(len, lines)) < 50_000
    assert [next(iter(json.loads(line))) for line in (lines[0], lines[1], lines[-1])] == [
        "operation", "skipped", "segment"
    ]  # fmt: skip
    empty = Manifest("convert", {}, "", False, (), versions={"manifest": 1})
    written(empty, tmp_path)
    assert Manifest.read(tmp_path) == empty


def test_a_file_that_is_no_manifest(tmp_path: Path) -> None:
    path = written(manifest(3), tmp_path)
    good = path.read_bytes()
    lines = good.splitlines(keepends=True)
    for data in (
        b"", b"{}\n", b"[]\n", b"\xff\n", b"x" * (3 << 20), good[:-1], b"".join(lines[:-1]), lines[0], good + b"{}\n",
        good + b'{"other": {}}\n', good + b"7\n", good + lines[-1], good.replace(b'"file"', b'"name"', 1),
        good.replace(b'"manifest":1', b'"manifest":2'), lines[0] + lines[4] + good, b"[" * 100_000 + b"\n",
    ):  # fmt: skip
        path.write_bytes(data)
        with pytest.raises(recordpress.CorruptRecordError) as caught:
            Manifest.read(tmp_path)
        assert (caught.value.file, caught.value.rule) == (str(path), "manifest")
        assert len(str(caught.value)) < 1500
    path.unlink()
    with pytest.raises(FileNotFoundError):
        Manifest.read(tmp_path)
    files, root = resolve(tmp_path)
    assert read_manifest(files, root) is None


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from test_manifest_file import Manifest, manifest, written

def peak():
    with open("/proc/self/status") as status:
        return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) << 10

whole = manifest(int(sys.argv[3]), file="x" * int(sys.argv[4]))
base = peak()
path = written(whole, Path(sys.argv[2]))
print(peak() - base, path.stat().st_size)
assert Manifest.read(Path(sys.argv[2])).totals == whole.totals
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("segments", "name", "size"), [(30_000, 10, 11_000_000), (2800, 100_000, 1 << 28)], ids=["many lines", "long lines"]
)
def test_a_manifest_above_the_former_limit(segments: int, name: int, size: int, tmp_path: Path) -> None:
    """Which was 256 MiB. Writing needs memory for some lines only, and none that stays for each line."""
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(tmp_path), str(segments), str(name)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    memory, written_bytes = map(int, done.stdout.split())
    assert written_bytes > size
    assert memory < 8 << 20
