"""One name for one thing: the table of CONTRIBUTING.md, next to what Python, the shell, Spark and JSON have."""

import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from recordpress._threads import cores
from recordpress.cli._app import program

ROOT = Path(__file__).parents[2]
CAMEL_CASE = re.compile("[a-z][a-zA-Z0-9]*")
MODULES = ("", ".analysis", ".broker", ".codecs", ".dictionaries", ".log", ".producer")
IN_MEMORY = {"read_columns", "iter_columns"}  # of one response: a thread costs more than it saves
OF_ONE_CODEC = {  # zstd, or the batches'
    "ZstdParameters",
    "train",
    "train_values",
    "DictionaryCodec",
    "DictionaryCodec.compress",
    "Evaluation",
    "split",
}


def calls(modules: tuple[str, ...] = MODULES) -> Iterator[tuple[str, inspect.Signature]]:
    """Yield the name and the signature of every public function, class and method."""
    for name in modules:
        module = importlib.import_module(f"recordpress{name}")
        for public in module.__all__:
            one = getattr(module, public)
            if not callable(one):
                continue
            yield from signature(public, one)
            if inspect.isclass(one):
                for method, function in vars(one).items():
                    if not method.startswith("_") and callable(function):
                        yield from signature(f"{public}.{method}", function)


def signature(name: str, call: Any) -> Iterator[tuple[str, inspect.Signature]]:
    try:
        yield name, inspect.signature(call)
    except ValueError:  # a type of C's without one
        return


def options() -> Iterator[tuple[str, click.Option]]:
    """Yield the verb and the option for every option of the command line."""
    context = click.Context(program)
    for verb in program.list_commands(context):
        command = program.get_command(context, verb)
        assert command is not None
        yield from ((verb, one) for one in command.params if isinstance(one, click.Option))


def keys_of(schema: Any) -> Iterator[str]:
    """Yield the names of properties that a JSON Schema describes."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        for inner in schema.values():
            yield from keys_of(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from keys_of(inner)


def keys() -> dict[str, set[str]]:
    return {path.name: set(keys_of(json.loads(path.read_text()))) for path in ROOT.glob("docs/*.schema.json")}


def rows() -> list[list[list[str]]]:
    """Return the names in the cells of the table: of Python, the shell, Spark and JSON, and those that are not used."""
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("### Names\n")[2].partition("\n### ")[0]
    lines = [line.strip("|").split("|")[1:] for line in section.splitlines() if line.startswith("| ")][1:]
    return [[re.findall("`([^`]+)`", cell) for cell in line] for line in lines]


def names_in_python(modules: tuple[str, ...] = MODULES) -> set[str]:
    found = list(calls(modules))
    return {name for name, _ in found} | {name for _, one in found for name in one.parameters}


def names_in_the_shell() -> set[str]:
    return {name for _, one in options() for name in one.opts} | set(program.list_commands(click.Context(program)))


def test_the_table_has_what_is_there() -> None:
    table = rows()
    assert len(table) > 15 and all(len(row) == 5 for row in table)
    there = [names_in_python(), names_in_the_shell(), set[str]().union(*keys().values())]
    for column, names in zip((0, 1, 3), there, strict=True):
        assert [name for row in table for name in row[column] if name not in names] == []
    for name in (name for row in table for name in row[4]):
        camel = re.sub("_(.)", lambda match: match[1].upper(), name)
        for names in there:
            assert not names & {name, camel, f"--{name.replace('_', '-')}"}, name


def test_the_table_has_the_options_of_spark() -> None:
    pytest.importorskip("pyspark")
    from recordpress.spark import ReadOptions, WriteOptions
    from recordpress.spark._option import names_of

    there = {*names_of(ReadOptions), *names_of(WriteOptions), *names_in_python((".spark", ".spark.functions"))}
    assert [name for row in rows() for name in row[2] if "/" not in name and name not in there] == []
    assert there.isdisjoint(name for row in rows() for name in row[4])


def test_a_level_is_that_of_a_codec() -> None:
    with_level = [(name, one) for name, one in calls() if "level" in one.parameters]
    assert [
        name for name, one in with_level if "compression_type" not in one.parameters and name not in OF_ONE_CODEC
    ] == []
    of_verbs: dict[str, set[str]] = {}
    for verb, one in options():
        of_verbs.setdefault(verb, set()).add(str(one.name))
    assert [verb for verb, names in of_verbs.items() if "level" in names and "compression_type" not in names] == [
        "train"
    ]


def test_codecs_are_a_registry() -> None:
    given = [(name, str(one.parameters["codecs"].annotation)) for name, one in calls() if "codecs" in one.parameters]
    assert [name for name, annotation in given if re.search(r"\bstr\b", annotation)] == ["LogStats"]  # counts by codec


def test_threads_are_those_of_the_machine() -> None:
    given = {name: one.parameters["threads"].default for name, one in calls() if "threads" in one.parameters}
    assert {name for name, default in given.items() if default is not None} == IN_MEMORY
    for verb, one in options():
        assert one.name != "threads" or one.default is cores, verb


def test_json_keys_are_in_camel_case() -> None:
    found = keys()
    assert found and all(found.values()) and "codec" not in set[str]().union(*found.values())  # it is compressionType
    assert {(name, key) for name, keys in found.items() for key in keys if not CAMEL_CASE.fullmatch(key)} == set()
