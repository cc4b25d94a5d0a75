"""Nothing is declared without a use: C names declared for Cython, and functions of our own headers.

A struct's field is no declaration of its own here: the struct says what it consists of.
"""

import functools
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEADERS = sorted((ROOT / "include" / "recordpress").glob("*.h"))
DECLARING = sorted((ROOT / "src" / "recordpress" / "_c").glob("*.pxd"))
CYTHON = sorted(path for path in (ROOT / "src" / "recordpress").rglob("*.p[yx][xd]") if path not in DECLARING)


def _code(text: str, comment: str) -> str:
    """Without comments and docstrings: a mention there is no use."""
    return re.sub(comment, " ", text, flags=re.DOTALL)


def cython(text: str) -> str:
    return _code(text, r'""".*?"""|#[^\n]*')


def c(text: str) -> str:
    return _code(text, r"/\*.*?\*/|//[^\n]*")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def declared(pxd: str) -> list[str]:
    """Functions, variables, types and enumerators of a file's extern blocks, without parameters and fields."""
    text = re.sub(r"\((?!\*)[^()]*(?:\([^()]*\)[^()]*)*\)", "()", cython(pxd))
    names = []
    fields_below = None  # the indentation of a struct's head, while its fields follow
    for line in text.splitlines():
        indentation = len(line) - len(line.lstrip())
        if not line.strip() or indentation == 0:
            fields_below = None if indentation == 0 else fields_below
            continue
        if fields_below is not None and indentation > fields_below:
            continue
        fields_below = None
        head = re.match(r"\s*(?:ctypedef )?(struct|enum)\b\s*(\w*):", line)
        if head:
            names += [head[2]] if head[2] else []
            fields_below = indentation if head[1] == "struct" else None
        elif line.strip() != "pass":
            names.append(words(re.sub(r'"[^"]*"|\(.*|\[.*', "", line))[-1])
    return names


def functions(header: str) -> list[str]:
    return re.findall(r"^(?:static )?(?:inline )?[\w ]+?[ *](rp_\w+)\([^;]*?\)\s*\{", c(header), flags=re.MULTILINE)


@pytest.mark.parametrize("path", DECLARING, ids=lambda path: path.name)
def test_what_cython_is_told_of_is_used(path: Path) -> None:
    own = words(cython(path.read_text()))  # a type may be there for another declaration
    unused = [name for name in declared(path.read_text()) if name not in used_in_cython() and own.count(name) == 1]
    assert unused == []


@functools.cache
def used_in_cython() -> set[str]:
    return {word for path in CYTHON for word in words(_without_imports(cython(path.read_text())))}


def _without_imports(text: str) -> str:
    return re.sub(r"^from [\w.]+ cimport (?:\([^)]*\)|[^\n]*(?:\\\n[^\n]*)*)", "", text, flags=re.MULTILINE)


@functools.cache
def uses_of_words() -> Counter[str]:
    texts = [cython(path.read_text()) for path in CYTHON] + [c(path.read_text()) for path in HEADERS]
    return Counter(word for text in texts for word in words(text))


@pytest.mark.parametrize("path", HEADERS, ids=lambda path: path.name)
def test_functions_of_headers_have_a_user(path: Path) -> None:
    unused = [name for name in functions(path.read_text()) if uses_of_words()[name] == 1]
    assert unused == []


def test_the_parsers_see_declarations() -> None:
    pxd = """
cdef extern from "x.h" nogil:
    ctypedef struct rp_a:
        int field
        int (*call)(int, int) noexcept
    enum:
        RP_B
    const rp_a* rp_c(int parameter, void (*f)(int))
    int rp_d[]
    size_t rp_e "other.name"
"""
    assert declared(pxd) == ["rp_a", "RP_B", "rp_c", "rp_d", "rp_e"]
    header = "static inline int *rp_f(int a,\n int b) {\n}\nint rp_g(int);\nstatic void rp_h(void)\n{\n rp_f(1); }\n"
    assert functions(header) == ["rp_f", "rp_h"]


# Bytes from outside are read through a bounded cursor. Others come by a load, behind a check that a comment names.
READS_BY_HAND = {
    "_c/wire.pxd": "declares the loads",
    "adapters/_entry.pyx": "the magic, after the size is checked",
    "adapters/_kafka_python.pyx": "sizes that reading the header checked; a key's size is checked by _key_bytes()",
    "adapters/_open_batch.pyx": "a checksum that was written just before",
    "broker/_analyze.pyx": "truncated headers: an end is checked for each field",
    "broker/_lazy_conversion.pyx": "the magic, after the size is checked",
    "broker/_message_validator.pyx": "reads what each release reads, no more, and fails where it does",
    "broker/_old_streams.py": "framing of a codec",
    "broker/_produce_request.py": "_Fields is a bounded cursor; _frames refuses sizes that pass the end",
    "broker/_walk.pyx": "one field, after its end is checked",
    "columns/_select_batches.pyx": "headers that rp_batch_next checked; a key's size is checked",
    "columns/catalogue.pyx": "the first offset of a wrapper, whose message was read",
    "log/_header_walk.pyx": "a search over every byte; prefixes that need() has read",
    "log/_tiered.py": "not a record set; struct checks sizes",
    "log/copy/_settle.pyx": "a header that was written just before",
    "log/check/broker_lock.py": "not a file format: a lock of the system",
    "log/dump/_internal_records.py": "a number for a decoder, after its size is checked",
    "log/dump/_messages.py": "Message is a bounded cursor",
    "log/dump/segment.py": "a key that control_record() checked",
    "log/sidecars/offset_index.py": "struct checks sizes",
    "log/sidecars/producer_snapshot.py": "struct checks sizes",
    "log/sidecars/sidecar_io.py": "writes",
    "log/sidecars/time_index.py": "struct checks sizes",
    "log/sidecars/transaction_index.py": "struct checks sizes",
    "producer/_murmur2.pyx": "a key in memory, whole words of it",
    "record/_batch.pyx": "the magic of an entry that was read",
    "record/_control.py": "sizes are checked by _versioned()",
    "record/header.pyx": "the magic, of 17 bytes that a cursor gave",
}


def test_bytes_from_outside_are_read_by_a_cursor() -> None:
    """Codecs are left out: `include/recordpress/cursor.h` says why."""
    package = ROOT / "src" / "recordpress"
    by_hand = re.compile(
        r"\brp_load_|\bfrom_bytes\(|^import struct$|\[[^\]]*RP_(?:MAGIC_OFFSET|ENTRY_PREFIX)", re.MULTILINE
    )
    reading = {
        str(path.relative_to(package))
        for path in package.rglob("*.p*")
        if path.suffix in (".py", ".pyx", ".pxd") and by_hand.search(path.read_text(encoding="utf-8"))
    }
    assert {path for path in reading if not path.startswith("codecs/")} == READS_BY_HAND.keys()


def test_every_module_that_python_sees_has_a_stub() -> None:
    modules = list((ROOT / "src").rglob("*.pyx"))
    without = [path for path in modules if not path.with_suffix(".pyi").exists()]
    assert 0 < len(without) < len(modules)
    seen = re.compile(r"^(?:(?:def|cpdef|class|cdef class) |[A-Za-z_]+(?:: .*)? = )", re.MULTILINE)
    assert [path.name for path in without if seen.search(path.read_text(encoding="utf-8"))] == []
