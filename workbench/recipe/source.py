"""The text of a Python function: found, set flush left, renamed, and the names that it takes from outside."""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import re
import symtable
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType

from ..python_tree import tree_of
from .strict import Raw

_MEND = "write it as 'def transform(data, params):' in a cell or a file"
_FUTURE = 0x1000000  # CO_FUTURE_ANNOTATIONS


class NoSource(ValueError):
    """A callable that cannot become a script; the text says why and what could."""

    def __init__(self, message: str, line: int = 1, text: str = "") -> None:
        super().__init__(message)
        self.line, self.text = line, text


@dataclass(frozen=True)
class Source:
    """A function and its text, flush left, its ``def`` in line 1."""

    function: FunctionType
    text: str

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def lazy_annotations(self) -> bool:
        """Whether it has annotations that are never evaluated (``from __future__ import annotations``)."""
        return bool(self.function.__code__.co_flags & _FUTURE) and any(
            getattr(node, "annotation", None) is not None or getattr(node, "returns", None) is not None
            for node in ast.walk(tree_of(self.text))
        )

    def line(self, number: int) -> str:
        """A line by its number from 1."""
        lines = self.text.split("\n")
        return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def source_of(function: Callable[..., Raw]) -> Source:
    """The text of a plain function, from its file or the notebook cell that defines it.

    Raises
    ------
    NoSource
        For a lambda, a method, a built-in, a decorated function or any other callable, for one whose text cannot
        be found, and for one whose text has changed since it was defined.
    """
    why = _no_function(function)
    if why:
        raise NoSource(why)
    # `_no_function` has refused everything else.
    plain: FunctionType = function  # type: ignore[assignment]
    try:
        found = inspect.getsource(plain)
    except (OSError, TypeError):
        raise NoSource(
            f"The text of '{plain.__name__}' cannot be found, as it was not read from a file or a cell; "
            "give the transform as text."
        ) from None
    text = _flush_left(found)
    tree = _definition(plain.__name__, text)
    if tree.decorator_list:
        decorator = ast.unparse(tree.decorator_list[0])
        raise NoSource(
            f"'{plain.__name__}' is decorated by '@{decorator}', which a script does not have; take it off.",
            1,
            f"@{decorator}",
        )
    if not _same(plain.__code__, _compiled(text, plain)):
        raise NoSource(
            f"The text of '{plain.__name__}' has changed since it was defined; run its cell or load its file again."
        )
    return Source(plain, text)


def _no_function(given: Raw) -> str | None:
    """Why a callable is not a plain function. None if it is one."""
    if isinstance(given, functools.partial):
        return f"A functools.partial has no text of its own; {_MEND}."
    if inspect.isclass(given):
        return f"'{given.__name__}' is a class; a transform is a function: {_MEND}."
    if inspect.ismethod(given):
        return f"'{given.__name__}' is a method, and a script has no object to call it on; {_MEND}."
    if hasattr(given, "__wrapped__"):
        name = getattr(given, "__name__", "It")
        return f"'{name}' is wrapped by a decorator, which a script does not have; take it off."
    if not isinstance(given, FunctionType):
        name = getattr(given, "__name__", None) or type(given).__name__
        kind = "built in" if inspect.isbuiltin(given) else "no function with a text"
        return f"'{name}' is {kind}; {_MEND}."
    if given.__name__ == "<lambda>":
        return f"A lambda has no name and no lines; {_MEND}."
    parts = given.__qualname__.split(".")
    if len(parts) > 1 and parts[-2] != "<locals>":
        return f"'{given.__name__}' is written in the class '{parts[-2]}', which a script does not have; {_MEND}."
    return None


def _flush_left(text: str) -> str:
    """The text without the indentation of its first line; lines inside a longer string stay as they are."""
    text = text.expandtabs(8) if text[:1] == "\t" else text
    margin = len(text) - len(text.lstrip(" "))
    if margin == 0:
        return text.rstrip() + "\n"
    tree = tree_of("if 1:\n" + text)
    within = {
        line - 1
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
    lines = text.split("\n")
    kept = [
        line if number in within or line[:margin].strip() else line[margin:]
        for number, line in enumerate(lines, start=1)
    ]
    return "\n".join(kept).rstrip() + "\n"


def _definition(name: str, text: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    try:
        node = tree_of(text).body[0]
    except (SyntaxError, IndexError):
        node = None
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name != name:
        raise NoSource(f"The text that was found for '{name}' is not its definition; run its cell again.")
    return node


def _compiled(text: str, like: FunctionType) -> CodeType:
    flags = like.__code__.co_flags & _FUTURE
    module = compile(text, like.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
    return next(part for part in module.co_consts if isinstance(part, CodeType))


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two functions have the same names and constants. Changes by a tracer or by pytest do not matter."""
    if any(name.startswith("@py") for name in one.co_varnames):
        return True
    # What an inner function takes from around it is a global of its text where that stands alone.
    names, others = ({*code.co_names, *code.co_freevars} for code in (one, other))
    if names != others or one.co_varnames != other.co_varnames:
        return False
    if len(one.co_consts) != len(other.co_consts):
        return False
    return all(
        _same(mine, its) if isinstance(mine, CodeType) and isinstance(its, CodeType) else repr(mine) == repr(its)
        for mine, its in zip(one.co_consts, other.co_consts, strict=True)
    )


def outside_names(source: Source) -> dict[str, int]:
    """Name -> first line, of each name that the function uses and neither defines nor is a built-in of Python."""
    tree = tree_of(source.text)
    if source.lazy_annotations:
        _without_annotations(tree)
    table = symtable.symtable(ast.unparse(tree), "<transform>", "exec")
    names: dict[str, None] = {}
    waiting = [table]
    while waiting:
        scope = waiting.pop(0)
        for symbol in scope.get_symbols():
            outer = symbol.is_global() or (scope is table and not symbol.is_assigned())
            if outer and symbol.is_referenced() and not symbol.is_declared_global():
                names[symbol.get_name()] = None
        waiting += scope.get_children()
    lines: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    return dict(sorted(lines.items(), key=lambda item: item[1]))


def _without_annotations(tree: ast.AST) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.copy_location(ast.Constant(None), node.annotation)


def value_of(source: Source, name: str) -> tuple[bool, Raw]:
    """Whether a name stands for something where the function was defined, and what."""
    code, cells = source.function.__code__, source.function.__closure__ or ()
    for free, cell in zip(code.co_freevars, cells, strict=True):
        if free == name:
            try:
                return True, cell.cell_contents
            except ValueError:
                return False, None
    if name in source.function.__globals__:
        return True, source.function.__globals__[name]
    return hasattr(builtins, name), getattr(builtins, name, None)


def renamed(source: Source, name: str) -> str:
    """The text with the function called ``name``, also where it calls itself.

    Raises
    ------
    NoSource
        If one of its own variables has its old name, so that the two cannot be distinguished.
    """
    if source.name == name:
        return source.text
    tree = tree_of(source.text)
    places = [(1, _after_def(source.text))]
    if source.name in outside_names(source) or source.name in source.function.__code__.co_freevars:
        if source.name in source.function.__code__.co_varnames:
            raise NoSource(f"'{source.name}' is also a variable in it; call the function '{name}'.")
        places += [
            (node.lineno, node.col_offset)
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and node.id == source.name
        ]
    lines = source.text.encode().split(b"\n")
    old, new = source.name.encode(), name.encode()
    for line, column in sorted(set(places), reverse=True):
        text = lines[line - 1]
        lines[line - 1] = text[:column] + new + text[column + len(old) :]
    return b"\n".join(lines).decode()


def _after_def(text: str) -> int:
    """Where the name stands behind ``def``, in bytes."""
    match = re.match(r"(?:async\s+)?def\s+", text)
    return len(match[0].encode()) if match else 0


def shortened(value: Raw, most: int = 60) -> str:
    """A value as it is shown in a sentence."""
    return textwrap.shorten(repr(value), most, placeholder=" ...")
