"""The type checks can fail: one deliberate mistake each, in a copy, and the tool that must find it."""

import ast
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import recordpress
from recordpress.typing import BatchOptions

ROOT = Path(__file__).parents[1]

pytestmark = [pytest.mark.slow, pytest.mark.build]


NEEDED = (
    "_extension_finder",
    "_native",
    "checksum",
    "_arguments",
    "_status",
    "_sealed",
    "_buffers",
    "errors",
    "typing",
    "py",
)


@pytest.fixture
def copy(tmp_path):
    """The package with one module and its stub, so that the checks are fast."""
    package = tmp_path / "recordpress"
    package.mkdir()
    for file in (ROOT / "src" / "recordpress").glob("*"):
        if file.name.split(".")[0] in NEEDED:
            shutil.copy(file, package)
    (package / "__init__.py").write_text(
        "from recordpress import _extension_finder as _extension_finder\n"
        "from recordpress.checksum import crc32c as crc32c\n"
    )
    return tmp_path


def run(tool, *arguments, cwd):
    pytest.importorskip("mypy")
    environment = os.environ | {"MYPYPATH": str(cwd), "PYTHONPATH": str(cwd)}
    command = [sys.executable, "-m", tool, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def stubtest(cwd):
    allowed = ROOT / "build_support" / "stubtest-allowlist.txt"
    return run("mypy.stubtest", "recordpress.checksum", "--allowlist", allowed, "--ignore-unused-allowlist", cwd=cwd)


def test_stubtest_sees_a_parameter_that_is_not_there(copy):
    assert stubtest(copy).returncode == 0
    stub = copy / "recordpress" / "checksum.pyi"
    stub.write_text(stub.read_text().replace("def crc32c(", "def crc32c(planted: int, "))
    result = stubtest(copy)
    assert result.returncode == 1
    assert "planted" in result.stdout


def test_mypy_sees_a_wrong_argument(copy):
    program = copy / "program.py"
    program.write_text("import recordpress\n\nvalue: int = recordpress.crc32c(b'')\n")
    assert run("mypy", "--strict", program, cwd=copy).returncode == 0
    program.write_text("import recordpress\n\nvalue: str = recordpress.crc32c(1)\n")
    result = run("mypy", "--strict", program, cwd=copy)
    assert result.returncode == 1
    assert "arg-type" in result.stdout
    assert "assignment" in result.stdout


TRUE_PROGRAM = """
import mmap
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import recordpress
from recordpress.typing import BatchOptions, CompressionType, Integer, Time

def total(numbers: Iterable[Integer]) -> int:
    return sum(int(number) for number in numbers)

codec: CompressionType = "zstd"
now: Time = datetime.now(UTC)
builder = recordpress.BatchBuilder(2, codec, 3, base_offset=7)
assert builder.append(b"value", bytearray(b"key"), now, [("h", None)], offset=8)
data: bytes = builder.build()
names: list[str] = ["offset", "value"]
columns = recordpress.read_columns(memoryview(data), names, start_timestamp="2024-01-01T00:00:00Z", end_timestamp=now)
offsets: list[int] = [record.offset for batch in recordpress.read_batches(data) for record in batch]
again: bytes = recordpress.write_columns(columns, compression_type="none")
again = recordpress.write_records([b"a", None], timestamps=[1, now], offsets=[1, 2], compression_type="lz4", level=None)
again = recordpress.compress(mmap.mmap(-1, 9), "gzip", level="kafka-default")
with Path("x").open("rb") as file:
    for part in recordpress.iter_columns(file, ("offset",), binary_type="binary_view", timestamp_unit="us"):
        rows: int = part.num_rows

options: BatchOptions = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 0, "delete_horizon_ms": None}
again = recordpress.write_records([b"a"], magic=2, **options)
again = recordpress.write_columns(columns, "zstd", batch_records=9, **options)
batch_codec: CompressionType = next(recordpress.read_batches(data)).compression_type

class Mine:
    def compress(self, data: bytes) -> bytes: return data
    def decompress(self, data: bytes, max_output: int) -> bytes: return data

table = recordpress.CodecRegistry()
table.register("mine", Mine(), thread_safe=False)
maybe: recordpress.CodecRegistry | None = table if rows else None
again = recordpress.compress(b"", "mine", codecs=table)
again = recordpress.recompress(data, "mine", codecs=table)
again = recordpress.write_records([b"a"], compression_type="mine", codecs=table, **options)
again = recordpress.write_columns(columns, "mine", codecs=table, producer_id=1)
again = recordpress.BatchBuilder(2, "mine", codecs=table, **options).build()
again = recordpress.write_records([b"a"], compression_type="lz4", codecs=maybe)
"""

FALSE_LINES = [
    'recordpress.compress(b"", "brotli")',
    'recordpress.compress(b"", "ZSTD")',
    'recordpress.compress(b"", 4)',
    'recordpress.compress("text", "zstd")',
    'recordpress.compress(b"", "zstd", level="9")',
    'recordpress.compress(b"", "zstd", level=1.5)',
    'recordpress.decompress(b"", "zstd", "1000")',
    'recordpress.decompressor("deflate")',
    'recordpress.BatchBuilder(compression_type="zst")',
    "recordpress.BatchBuilder(compression_type=4)",
    'recordpress.BatchBuilder().append("text")',
    'recordpress.BatchBuilder().append(b"", timestamp=1.5)',
    'recordpress.write_records([b""], compression_type=4)',
    'recordpress.write_records([b""], compression_type="zst")',
    'recordpress.write_records(["text"])',
    'recordpress.write_records([b""], batch_size=1)',
    'recordpress.write_records([b""], producer_id="1")',
    'recordpress.write_records([b""], compression_type="mine")',
    'recordpress.write_records([b""], compression_type="mine", codecs=maybe)',
    'recordpress.write_columns(columns, "mine")',
    "recordpress.write_columns(columns, is_control=True)",
    'recordpress.BatchBuilder(2, "mine")',
    "recordpress.BatchBuilder(batch_size=1)",
    "recordpress.BatchBuilder(2, 3, codecs=table)",
    'recordpress.recompress(b"", "mine")',
    "recordpress.write_columns([1, 2])",
    'recordpress.recompress(b"", "zst")',
    'recordpress.Batch(b"")',
    "recordpress.Columns(columns=columns)",
    'recordpress.read_columns(b"", binary_type="string")',
    'recordpress.read_columns(b"", timestamp_unit="ns")',
    'recordpress.read_columns(b"", start_timestamp=1.5)',
    'recordpress.read_columns(b"", 7)',
    'recordpress.read_columns("a.log")',
    'recordpress.iter_columns("a.log")',
    'value: str = recordpress.crc32c(b"")',
    'number: int = recordpress.compress(b"", "zstd")',
]


def test_mypy_passes_what_is_right_and_sees_every_line_that_is_wrong(tmp_path):
    program = tmp_path / "program.py"
    lines = [*TRUE_PROGRAM.splitlines(), *FALSE_LINES]
    program.write_text("\n".join(lines) + "\n")
    result = run("mypy", "--strict", program, cwd=ROOT / "src")
    seen = {int(line.split(":")[1]) for line in result.stdout.splitlines() if ": error:" in line}
    wrong = range(len(lines) - len(FALSE_LINES) + 1, len(lines) + 1)
    assert seen == set(wrong), result.stdout + result.stderr


def _stub_parameters(stub, name):
    """The parameters of every overload, with BatchOptions in the place of **options."""
    for node in ast.walk(ast.parse((ROOT / "src" / "recordpress" / stub).read_text())):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            arguments = node.args
            assert ast.unparse(arguments.kwarg.annotation) == "Unpack[BatchOptions]"
            own = {a.arg for a in (*arguments.args, *arguments.kwonlyargs)} - {"cls"}
            assert not own & BatchOptions.__annotations__.keys()
            yield own | BatchOptions.__annotations__.keys()


@pytest.mark.parametrize(
    ("stub", "name", "call"),
    [
        ("record/builder.pyi", "__new__", recordpress.BatchBuilder),
        ("record/_write_records.pyi", "write_records", recordpress.write_records),
        ("columns/_write.pyi", "write_columns", recordpress.write_columns),
        ("producer/_packing.pyi", "pack", recordpress.producer.pack),
    ],
)
def test_stub_and_signature_show_the_same_options(stub, name, call):
    overloads = list(_stub_parameters(stub, name))
    assert len(overloads) == 2
    for parameters in overloads:
        assert parameters == set(inspect.signature(call).parameters)


def test_the_signature_of_the_builder_is_true():
    parameters = inspect.signature(recordpress.BatchBuilder).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in parameters}
    plain, spelled_out = recordpress.BatchBuilder(), recordpress.BatchBuilder(**defaults)
    plain.append(b"value")
    spelled_out.append(b"value")
    assert spelled_out.build() == plain.build()
    positional = [parameter.default for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    recordpress.BatchBuilder(*positional)
    with pytest.raises(
        recordpress.ArgumentTypeError, match=r"^BatchBuilder\(\) takes at most 4 positional arguments \(5 given"
    ):
        recordpress.BatchBuilder(*positional, 0)


def test_options_have_the_same_defaults_everywhere():
    shown = [
        {name: inspect.signature(call).parameters[name].default for name in BatchOptions.__annotations__}
        for call in (recordpress.BatchBuilder, recordpress.write_records, recordpress.write_columns)
    ]
    assert shown[0] == shown[1] == shown[2]
    assert recordpress.write_records([b"value"], **shown[0]) == recordpress.write_records([b"value"])
