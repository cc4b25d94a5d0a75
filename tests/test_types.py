"""The type checks can fail: one deliberate mistake each, in a copy, and the tool that must find it."""

import ast
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kpress
from kpress.typing import BatchOptions

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.build


NEEDED = ("_modules", "_native", "checksum", "_arguments", "_status", "_sealed", "_buffers", "errors", "typing", "py")


@pytest.fixture
def copy(tmp_path):
    """The package with one module and its stub, so that the checks are fast."""
    package = tmp_path / "kpress"
    package.mkdir()
    for file in (ROOT / "src" / "kpress").glob("*"):
        if file.name.split(".")[0] in NEEDED:
            shutil.copy(file, package)
    (package / "__init__.py").write_text(
        "from kpress import _modules as _modules\nfrom kpress.checksum import crc32c as crc32c\n"
    )
    return tmp_path


def run(tool, *arguments, cwd):
    pytest.importorskip("mypy")
    environment = os.environ | {"MYPYPATH": str(cwd), "PYTHONPATH": str(cwd)}
    command = [sys.executable, "-m", tool, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def stubtest(cwd):
    allowed = ROOT / "build_support" / "stubtest-allowlist.txt"
    return run("mypy.stubtest", "kpress.checksum", "--allowlist", allowed, "--ignore-unused-allowlist", cwd=cwd)


def test_stubtest_sees_a_parameter_that_is_not_there(copy):
    assert stubtest(copy).returncode == 0
    stub = copy / "kpress" / "checksum.pyi"
    stub.write_text(stub.read_text().replace("def crc32c(", "def crc32c(planted: int, "))
    result = stubtest(copy)
    assert result.returncode == 1
    assert "planted" in result.stdout


def test_mypy_sees_a_wrong_argument(copy):
    program = copy / "program.py"
    program.write_text("import kpress\n\nvalue: int = kpress.crc32c(b'')\n")
    assert run("mypy", "--strict", program, cwd=copy).returncode == 0
    program.write_text("import kpress\n\nvalue: str = kpress.crc32c(1)\n")
    result = run("mypy", "--strict", program, cwd=copy)
    assert result.returncode == 1
    assert "arg-type" in result.stdout
    assert "assignment" in result.stdout


TRUE_PROGRAM = """
import mmap
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import kpress
from kpress.typing import BatchOptions, CompressionType, Integer, Time

def total(numbers: Iterable[Integer]) -> int:
    return sum(int(number) for number in numbers)

codec: CompressionType = "zstd"
now: Time = datetime.now(UTC)
builder = kpress.BatchBuilder(2, codec, 3, base_offset=7)
assert builder.append(b"value", bytearray(b"key"), now, [("h", None)], offset=8)
data: bytes = builder.build()
names: list[str] = ["offset", "value"]
columns = kpress.read_columns(memoryview(data), names, start_timestamp="2024-01-01T00:00:00Z", end_timestamp=now)
offsets: list[int] = [record.offset for batch in kpress.read_batches(data) for record in batch]
again: bytes = kpress.write_columns(columns, compression_type="none")
again = kpress.write_records([b"a", None], timestamps=[1, now], offsets=[1, 2], compression_type="lz4", level=None)
again = kpress.compress(mmap.mmap(-1, 9), "gzip", level="kafka-default")
with Path("x").open("rb") as file:
    for part in kpress.iter_columns(file, ("offset",), binary_type="binary_view", timestamp_unit="us"):
        rows: int = part.num_rows

options: BatchOptions = {"producer_id": 1, "producer_epoch": 0, "base_sequence": 0, "delete_horizon_ms": None}
again = kpress.write_records([b"a"], magic=2, **options)
again = kpress.write_columns(columns, "zstd", batch_records=9, **options)
batch_codec: CompressionType = next(kpress.read_batches(data)).compression_type

class Mine:
    def compress(self, data: bytes) -> bytes: return data
    def decompress(self, data: bytes, max_output: int) -> bytes: return data

table = kpress.CodecRegistry()
table.register("mine", Mine(), thread_safe=False)
maybe: kpress.CodecRegistry | None = table if rows else None
again = kpress.compress(b"", "mine", codecs=table)
again = kpress.recompress(data, "mine", codecs=table)
again = kpress.write_records([b"a"], compression_type="mine", codecs=table, **options)
again = kpress.write_columns(columns, "mine", codecs=table, producer_id=1)
again = kpress.BatchBuilder(2, "mine", codecs=table, **options).build()
again = kpress.write_records([b"a"], compression_type="lz4", codecs=maybe)
"""

FALSE_LINES = [
    'kpress.compress(b"", "brotli")',
    'kpress.compress(b"", "ZSTD")',
    'kpress.compress(b"", 4)',
    'kpress.compress("text", "zstd")',
    'kpress.compress(b"", "zstd", level="9")',
    'kpress.compress(b"", "zstd", level=1.5)',
    'kpress.decompress(b"", "zstd", "1000")',
    'kpress.decompressor("deflate")',
    'kpress.BatchBuilder(compression_type="zst")',
    "kpress.BatchBuilder(compression_type=4)",
    'kpress.BatchBuilder().append("text")',
    'kpress.BatchBuilder().append(b"", timestamp=1.5)',
    'kpress.write_records([b""], compression_type=4)',
    'kpress.write_records([b""], compression_type="zst")',
    'kpress.write_records(["text"])',
    'kpress.write_records([b""], batch_size=1)',
    'kpress.write_records([b""], producer_id="1")',
    'kpress.write_records([b""], compression_type="mine")',
    'kpress.write_records([b""], compression_type="mine", codecs=maybe)',
    'kpress.write_columns(columns, "mine")',
    "kpress.write_columns(columns, is_control=True)",
    'kpress.BatchBuilder(2, "mine")',
    "kpress.BatchBuilder(batch_size=1)",
    "kpress.BatchBuilder(2, 3, codecs=table)",
    'kpress.recompress(b"", "mine")',
    "kpress.write_columns([1, 2])",
    'kpress.recompress(b"", "zst")',
    'kpress.read_columns(b"", binary_type="string")',
    'kpress.read_columns(b"", timestamp_unit="ns")',
    'kpress.read_columns(b"", start_timestamp=1.5)',
    'kpress.read_columns(b"", 7)',
    'kpress.read_columns("a.log")',
    'kpress.iter_columns("a.log")',
    'value: str = kpress.crc32c(b"")',
    'number: int = kpress.compress(b"", "zstd")',
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
    for node in ast.walk(ast.parse((ROOT / "src" / "kpress" / stub).read_text())):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            arguments = node.args
            assert ast.unparse(arguments.kwarg.annotation) == "Unpack[BatchOptions]"
            own = {a.arg for a in (*arguments.args, *arguments.kwonlyargs)} - {"cls"}
            assert not own & BatchOptions.__annotations__.keys()
            yield own | BatchOptions.__annotations__.keys()


@pytest.mark.parametrize(
    ("stub", "name", "call"),
    [
        ("record/builder.pyi", "__new__", kpress.BatchBuilder),
        ("record/_write_records.pyi", "write_records", kpress.write_records),
        ("columns/_write.pyi", "write_columns", kpress.write_columns),
        ("producer/_packing.pyi", "pack", kpress.producer.pack),
    ],
)
def test_stub_and_signature_show_the_same_options(stub, name, call):
    overloads = list(_stub_parameters(stub, name))
    assert len(overloads) == 2
    for parameters in overloads:
        assert parameters == set(inspect.signature(call).parameters)


def test_the_signature_of_the_builder_is_true():
    parameters = inspect.signature(kpress.BatchBuilder).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in parameters}
    plain, spelled_out = kpress.BatchBuilder(), kpress.BatchBuilder(**defaults)
    plain.append(b"value")
    spelled_out.append(b"value")
    assert spelled_out.build() == plain.build()
    positional = [parameter.default for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    kpress.BatchBuilder(*positional)
    with pytest.raises(
        kpress.ArgumentTypeError, match=r"^BatchBuilder\(\) takes at most 4 positional arguments \(5 given"
    ):
        kpress.BatchBuilder(*positional, 0)


def test_options_have_the_same_defaults_everywhere():
    shown = [
        {name: inspect.signature(call).parameters[name].default for name in BatchOptions.__annotations__}
        for call in (kpress.BatchBuilder, kpress.write_records, kpress.write_columns)
    ]
    assert shown[0] == shown[1] == shown[2]
    assert kpress.write_records([b"value"], **shown[0]) == kpress.write_records([b"value"])
