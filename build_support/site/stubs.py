"""Signatures and members, as the stub of a compiled module or the source of another says."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import recordpress

PACKAGE = Path(recordpress.__file__).parent
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def tree_of(module: str) -> ast.Module | None:
    """The stub of a module of recordpress, or else its source."""
    base = PACKAGE.joinpath(*module.split(".")[1:])
    for path in (base.with_suffix(".pyi"), base.with_suffix(".py"), base / "__init__.pyi", base / "__init__.py"):
        if path.exists():
            return ast.parse(path.read_text(encoding="utf-8"))
    if find_spec(module) is None:
        raise ImportError(f"there is no module {module}")
    return None


def definitions(module: str, name: str) -> list[ast.stmt]:
    """All statements that define a name of a module, or of the module that it imports the name from: overloads are
    several."""
    tree = tree_of(home_of(module, name))
    return [] if tree is None else list(_named(tree.body, name))


def home_of(module: str, name: str) -> str:
    """The module that defines a name: the classes and functions of private modules state their package."""
    for node in getattr(tree_of(module), "body", []):
        if isinstance(node, ast.ImportFrom) and node.module != module and name in [one.name for one in node.names]:
            return home_of(node.module or "", name)
    return module


def _named(body: list[ast.stmt], name: str) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.If):
            found += _named(node.body, name)
        elif (isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.name == name) or name in _targets(node):
            found.append(node)
    return found


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _targets(node: ast.stmt) -> list[str]:
    targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
    return [target.id for target in targets if isinstance(target, ast.Name)]


def signatures(module: str, name: str) -> list[str]:
    """``(data, level=None) -> bytes`` for a function: one for each overload that differs."""
    found = [_signature(node) for node in definitions(module, name) if isinstance(node, _FUNCTIONS)]
    return list(dict.fromkeys(found))


def _signature(node: Function, *, bound: bool = False) -> str:
    arguments = node.args
    if bound and arguments.posonlyargs + arguments.args:
        arguments = ast.parse(f"def f({ast.unparse(arguments)}): ...").body[0].args  # type: ignore[attr-defined]
        (arguments.posonlyargs or arguments.args).pop(0)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return _without_quotes(f"({ast.unparse(arguments)}){returns}")


def _without_quotes(signature: str) -> str:
    """Annotations that are written as strings, as the names that they are; defaults keep their quotes."""
    return re.sub(r"""((?:[:,(\[|]|->) ?)(?P<q>['"])(?=[A-Za-z])(.*?)(?P=q)(?=[,)\]=| ]|$)""", _bare, signature)


def _bare(found: re.Match[str]) -> str:
    before, text = found[1], found[3]
    return before + text if before.strip() in (":", "->") else found[0]


def class_node(cls: type) -> ast.ClassDef | None:
    found = [node for node in definitions(cls.__module__, cls.__name__) if isinstance(node, ast.ClassDef)]
    return found[0] if found else None


def constructor(cls: type) -> str:
    """The arguments of a class that users construct, or nothing."""
    node = class_node(cls)
    made = [n for n in node.body if isinstance(n, _FUNCTIONS) and n.name in ("__init__", "__new__")] if node else []
    if made:  # no arguments are possible: only recordpress itself constructs it
        text = _signature(made[-1], bound=True).split(" -> ")[0]
        return "" if text == "(*args: Never, **kwargs: Never)" else text
    if "__dataclass_fields__" in vars(cls):
        return f"({', '.join(str(p).split(': ')[0] for p in inspect.signature(cls).parameters.values())})"
    return ""


def members(cls: type) -> list[tuple[str, str, list[str]]]:
    """Of a class, and of bases that are private: (kind, name, signatures), in their order."""
    found: dict[str, tuple[str, list[str]]] = {}
    for base in cls.__mro__:
        if not base.__module__.startswith("recordpress") or (base is not cls and not _is_private(base)):
            continue
        node = class_node(base)
        for statement in node.body if node else []:
            for name, kind, text in _member(statement):
                known = found.setdefault(name, (kind, []))
                if text and text not in known[1]:
                    known[1].append(text)
    return [(kind, name, texts) for name, (kind, texts) in found.items()]


def _is_private(base: type) -> bool:
    return base.__name__.startswith("_") or base.__name__ not in _public()


@cache
def _public() -> set[str]:
    from build_support.site.names import public_names

    return {name.value.__name__ for name, _ in public_names() if inspect.isclass(name.value)}


def _member(node: ast.stmt) -> list[tuple[str, str, str]]:
    if isinstance(node, _FUNCTIONS):
        if node.name.startswith("_"):
            return []
        decorators = {ast.unparse(decorator).split("(")[0] for decorator in node.decorator_list}
        if decorators & {"property", "cached_property"}:
            return [(node.name, "property", ast.unparse(node.returns) if node.returns else "")]
        if any(decorator.endswith((".setter", ".deleter")) for decorator in decorators):
            return []
        kind = next((d for d in ("classmethod", "staticmethod") if d in decorators), "method")
        return [(node.name, kind, _signature(node, bound=kind != "staticmethod"))]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and not node.target.id.startswith("_"):
        return [(node.target.id, "attribute", ast.unparse(node.annotation))]
    return []


def text_beside(module: str, name: str) -> str:
    """The string under an assignment, which describes a number or an alias of types."""
    tree = tree_of(module)
    body: list[Any] = tree.body if tree else []
    for node, after in pairwise(body):
        if name in _targets(node) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            return inspect.cleandoc(str(after.value.value))
    return ""
