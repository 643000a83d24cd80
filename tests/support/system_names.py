"""Which names of the standard library a system lacks, as the types that mypy brings say it."""

from __future__ import annotations

import ast
import importlib
import json
import os
import sys
from functools import cache
from pathlib import Path

import mypy

MODULES = ("os", "signal", "select", "socket", "time", "mmap", "faulthandler", "errno")
ABSENT = {
    "win32": ["fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline", "curses"],
    "darwin": ["msvcrt", "winreg"],
}
HERE = Path(__file__).parent


def stand_in(system: str) -> dict[str, str]:
    """The environment in which the workbench takes this machine for another system."""
    told = {
        "system": system,
        "absent": ABSENT[system],
        "missing": {name: missing(name, system) for name in MODULES},
    }
    path = os.pathsep.join([str(HERE / "other_system"), *sys.path])
    return {**os.environ, "PYTHONPATH": path, "WORKBENCH_STAND_IN": json.dumps(told)}


@cache
def missing(module: str, system: str) -> list[str]:
    """The names of a module that this Python has and another system lacks."""
    folder = Path(mypy.__file__).parent / "typeshed" / "stdlib"
    path = folder / f"{module}.pyi"
    tree = ast.parse((path if path.exists() else folder / module / "__init__.pyi").read_text("utf-8"))
    here = set(dir(importlib.import_module(module)))
    return sorted((_names(tree.body, "linux") - _names(tree.body, system)) & here)


def _names(body: list[ast.stmt], system: str) -> set[str]:
    found: set[str] = set()
    for node in body:
        match node:
            case ast.If():
                found |= _names(node.body if _holds(node.test, system) else node.orelse, system)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.add(name)
            case ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=targets):
                found |= {one.id for one in targets if isinstance(one, ast.Name)}
            case ast.ImportFrom(names=names) | ast.Import(names=names):
                found |= {one.asname or one.name for one in names}
    return found


def _holds(test: ast.expr, system: str) -> bool:
    """A condition of a type stub: systems and versions, joined."""
    match test:
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_holds(value, system) for value in values)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_holds(value, system) for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _holds(operand, system)
        case ast.Compare(left=ast.Attribute(attr="platform"), ops=[op], comparators=[ast.Constant(value=value)]):
            return (system == value) == isinstance(op, ast.Eq)
        case ast.Compare(left=ast.Attribute(attr="version_info")):
            return bool(eval(compile(ast.Expression(test), "stub", "eval"), {"sys": sys}))
    raise AssertionError(ast.unparse(test))
