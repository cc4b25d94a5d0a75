"""The rooms of the source tree: they are entered through their doors only, and files stay small enough to read.

A room is a folder of src/recordpress. In it, a module without an underscore is a door: other rooms may import it, or
its ``__init__``. A module with one belongs to its room alone. Rooms do not need each other in a circle, nor do the
modules of a room.
"""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import recordpress

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
PACKAGE = SRC / "recordpress"
# folders of recordpress and of its folders, with dots: log, log.copy
ROOMS = sorted(
    ".".join(path.relative_to(PACKAGE).parts)
    for path in PACKAGE.rglob("*")
    if path.is_dir() and not path.name.startswith("_")
)
SOURCES = sorted(path for path in SRC.rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".pyi"))
WRITTEN = [
    path.relative_to(ROOT)
    for folder in ("bench", "build_support", "demo", "examples", "include", "src", "tests")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".pyx", ".pxd", ".pyi", ".h", ".c", ".java", ".go", ".rs", ".sh")
]
MOST_LINES = 800

# A statement may go on over lines in brackets; docstrings hold examples after >>>, which this does not match.
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+c?import[ \t]+(?P<names>\([^)]*\)|[^\n#]*)"
    r"|c?import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)


@functools.cache
def imports(path: Path) -> tuple[str, ...]:
    """Return every module or name of recordpress that a source file imports, with dots."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for module, name in _imported(path.read_text(encoding="utf-8")):
        if module.split(".")[0] == "recordpress":
            yield f"{module}.{name}" if name else module


def _imported(text: str) -> Iterator[tuple[str, str]]:
    for match in _IMPORT.finditer(text):
        if match["modules"]:
            yield from ((module.split()[0], "") for module in match["modules"].split(",") if module.strip())
        else:
            assert not match["module"].startswith("."), "imports are absolute"
            names = re.findall(r"[\w*]+(?:[ \t]+as[ \t]+\w+)?", match["names"])
            yield from ((match["module"], name.split()[0]) for name in names)


@functools.cache
def room_of(path: Path) -> str:
    """The folder of recordpress that holds a source file; '' for the package itself and the files next to it."""
    parts = path.relative_to(SRC).parts
    room = ".".join(parts[1:-1])
    return room if parts[0] == "recordpress" and room in ROOMS else ""


def entered(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The other rooms that a file enters, each with the path of names after it."""
    for name in imports(path):
        parts = name.split(".")[1:]
        for length in range(len(parts), 0, -1):
            room = ".".join(parts[:length])
            if room in ROOMS:
                if room != room_of(path):
                    yield room, parts[length:]
                break


def is_inside(room: str, other: str) -> bool:
    """Whether a room is a folder in another one, whose underscore modules are open to it."""
    return room.startswith(f"{other}.")


def modules_of(room: str) -> set[str]:
    return {path.stem for path in (PACKAGE / room.replace(".", "/")).iterdir()}


def test_there_is_something_to_look_at() -> None:
    assert {"codecs", "columns", "log", "record", "spark"} <= set(ROOMS)
    found = {name for path in SOURCES for name in imports(path)}
    assert {"recordpress.record.decode.open_source", "recordpress.log.open_log"} <= found
    assert len(found) > 200


def test_nobody_enters_the_underscore_modules_of_another_room() -> None:
    private = [
        (str(path.relative_to(SRC)), room, names[0])
        for path in SOURCES
        for room, names in entered(path)
        if names
        and names[0].startswith("_")
        and names[0] in modules_of(room)
        and not is_inside(room_of(path), room)
        and not (path.name == "__init__.pyi" and is_inside(room, room_of(path)))  # lazy exports of its own rooms
    ]
    assert private == []


def node_of(parts: tuple[str, ...]) -> str:
    """The room of a module or name, or the module itself if it lies in the root."""
    rooms = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((room for room in rooms if room in ROOMS), parts[0] if parts else "")


def test_no_import_goes_up() -> None:
    """Rooms and the modules in the root need each other in one direction only; '' is the facade."""
    needs: dict[str, set[str]] = {}
    for path in SOURCES:
        parts = path.relative_to(SRC).with_suffix("").parts
        if parts[0] != "recordpress" or path.name == "__init__.pyi":  # lazy exports of a package's own rooms
            continue
        node = node_of(tuple(part for part in parts[1:] if part != "__init__"))
        found = {node_of(tuple(name.split(".")[1:])) for name in imports(path)}
        modules = {other for other in found if other in ROOMS or any(PACKAGE.glob(f"{other}.py*"))}
        needs.setdefault(node, set()).update(modules | ({""} & found), ())
        needs[node] -= {node}
    order: list[str] = []
    while rest := needs.keys() - set(order):
        free = sorted(node for node in rest if not needs[node] & rest)
        assert free, f"a circle among { ({node: needs[node] & rest for node in rest}) }"
        order += free
    assert order.index("codecs") < order.index("record") < order.index("columns") < order.index("log")


def test_no_circle_inside_of_a_room() -> None:
    """Modules of one room, by what is imported at the top of a file."""
    for room in ROOMS:
        check_no_circle(room)


def check_no_circle(room: str) -> None:
    folder = PACKAGE / room.replace(".", "/")
    needs: dict[str, set[str]] = {path.stem: set() for path in folder.iterdir() if path.suffix != ".so"}
    needs.pop("__init__", None)
    for path in SOURCES:
        if room_of(path) == room and path.stem in needs:
            for name in imports(path):
                inside = name.removeprefix(f"recordpress.{room}.").split(".")[0]
                if name.startswith(f"recordpress.{room}.") and inside in needs and inside != path.stem:
                    needs[path.stem].add(inside)
    done: set[str] = set()
    while rest := needs.keys() - done:
        free = {module for module in rest if needs[module] <= done}
        assert free, f"a circle among { ({module: needs[module] & rest for module in sorted(rest)}) }"
        done |= free


def test_files_are_short_enough_to_be_read() -> None:
    lines = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in WRITTEN}
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


def test_the_door_of_logs_is_narrow() -> None:
    assert len(recordpress.log.__all__) <= 40


def test_one_module_asks_objects_for_their_buffers() -> None:
    asking = [path.name for path in SOURCES if "PyObject_GetBuffer(" in path.read_text(encoding="utf-8")]
    assert sorted(asking) == ["_buffers.pxd", "_buffers.pyx"]


# --- C headers ----------------------------------------------------------------------------------------------------

HEADERS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "include/recordpress").glob("*.h")}
# no function, and no constant
_OBJECT = re.compile(r"^[ \t]*static (?!const [^*\n]*[=;\[])[^(\n]*[;{=\[]", re.MULTILINE)


@functools.cache
def _has_state(header: str) -> bool:
    included = re.findall(r'#include "(?:recordpress/)?(\w+\.h)"', HEADERS[header])
    return bool(_OBJECT.search(HEADERS[header])) or any(map(_has_state, included))


def test_one_module_holds_the_state_of_a_header() -> None:
    """Each module that includes it would have a copy: a pool of its own, or tables that nobody fills."""
    stateful = {header for header in HEADERS if _has_state(header)}
    assert {"crc32c.h", "pool.h"} <= stateful
    holders: dict[str, list[str]] = {}
    for declarations in PACKAGE.glob("_c/*.pxd"):
        declared = set(re.findall(r'cdef extern from "recordpress/(\w+\.h)"', declarations.read_text(encoding="utf-8")))
        for header in declared & stateful:
            module = f"recordpress._c.{declarations.stem}"
            holders[header] = [
                path.name for path in SOURCES if any(f"{name}.".startswith(f"{module}.") for name in imports(path))
            ]
    assert holders == {"crc32c.h": ["checksum.pyx"], "pool.h": ["_buffers.pyx"]}
