"""Finds names that a script reads from ``data`` and ``params`` and that its recipe does not have.

It reports only what is certain: literal keys of the two arguments of ``transform``. It skips an argument that the
script binds to something else, and keys that the script itself sets or tests with ``in``. A key that ``get`` reads need
not be there. It reports such a key only if it looks like a misspelt name of the recipe.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterator

from ..errors import Problem, instead, near
from ..python_tree import tree_of
from .script import MOST_PROBLEMS, NAME, check_script, problem

Names = tuple[Collection[str] | None, Collection[str] | None]
"""The names of a recipe's steps and params; None where they cannot be read."""

KEY_PROBLEM = "script_key"
"""The type of the problems that ``check_keys`` finds."""
_FORGIVING = ("KeyError", "LookupError", "Exception", "BaseException")
_LONGEST_KEY = 200
_CHANGES = ("update", "setdefault", "pop", "popitem", "clear", "__setitem__")


def check_keys(text: str, steps: Collection[str] | None, params: Collection[str] | None) -> list[Problem]:
    """Keys of ``data`` that are not steps, and keys of ``params`` that are not params, each with its line.

    Parameters
    ----------
    text : the script. If ``check_script`` refuses it, the answer is empty.
    steps, params : the names of the recipe; None where they cannot be read.
    """
    if check_script(text):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = tree_of(text)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == NAME)
    positional = [*function.args.posonlyargs, *function.args.args]
    known = (("step", steps), ("param", params))
    found: list[tuple[int, str, str, Collection[str]]] = []
    for argument, (what, names) in zip(positional, known, strict=False):
        if names is not None and _keeps_its_meaning(function, argument.arg, tree):
            keys = _unknown(tree, function, argument.arg, names)
            found += [(line, key, what, names) for line, key in keys]
    found.sort(key=lambda one: one[:3])
    return [_told(text, *one) for one in found[:MOST_PROBLEMS]]


def _told(text: str, line: int, key: str, what: str, names: Collection[str]) -> Problem:
    message = f"There is no {what} '{key[:_LONGEST_KEY]}'. {instead(key[:_LONGEST_KEY], names, f'{what}s')}"
    return problem(text, line, message, KEY_PROBLEM)


def _unknown(
    tree: ast.Module, function: ast.FunctionDef, name: str, names: Collection[str]
) -> Iterator[tuple[int, str]]:
    put = _put_in(tree) | _asked_for(function, name)
    forgiven = _forgiven(function)
    told = set()
    for node in ast.walk(function):
        # A node that reads a key is an expression, so it has a line; ast.AST alone does not declare one.
        key = _key_read(node, name)
        if key is None or key in names or key in put or node in forgiven or (node.lineno, key) in told:  # type: ignore[attr-defined]
            continue
        line: int = node.lineno  # type: ignore[attr-defined]
        if isinstance(node, ast.Call) and not near(key, names):
            continue
        told.add((line, key))
        yield line, key


def _key_read(node: ast.AST, name: str) -> str | None:
    """The literal key that a node reads of ``name``: ``name["key"]`` or ``name.get("key")``."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _is(node.value, name):
        return _text(node.slice)
    if not (isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute)):
        return None
    return _text(node.args[0]) if node.func.attr == "get" and _is(node.func.value, name) else None


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _keeps_its_meaning(function: ast.FunctionDef, name: str, tree: ast.Module) -> bool:
    """Whether ``name`` is always the argument within the function, and the script sets only literal keys in it."""
    inside = [node for statement in function.body for node in ast.walk(statement)]
    if any(name in _bound_by(node) for node in inside):
        return False
    if any(_changes_unseen(node, {name}) or _asks_unseen(node, name) for node in inside):
        return False
    # If the script passes it to a helper, the helper may set keys in it.
    return not (_is_handed_on(function, name) and _has_changing_helper(tree, function))


def _bound_by(node: ast.AST) -> Collection[str]:
    """The names that a node binds, or takes from another scope."""
    if isinstance(node, ast.Name):
        return () if isinstance(node.ctx, ast.Load) else (node.id,)
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return (node.name,)
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    if isinstance(node, ast.alias):
        return ((node.asname or node.name).partition(".")[0],)
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return (node.name,) if node.name else ()
    if isinstance(node, ast.MatchMapping):
        return (node.rest,) if node.rest else ()
    return ()


def _changes_unseen(node: ast.AST, names: Collection[str]) -> bool:
    """Whether a node may set keys that are not literals in one of ``names``."""
    if isinstance(node, ast.Subscript):
        stored = not isinstance(node.ctx, ast.Load)
        return stored and isinstance(node.value, ast.Name) and node.value.id in names and _text(node.slice) is None
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id in names
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES):
        return False
    if not (isinstance(node.func.value, ast.Name) and node.func.value.id in names):
        return False
    return None in _keys_given(node)


def _asks_unseen(node: ast.AST, name: str) -> bool:
    """Whether a node tests with ``in`` whether a key that is not a literal is in ``name``."""
    if not (isinstance(node, ast.Compare) and any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)):
        return False
    asked = any(_is(part, name) for other in node.comparators for part in ast.walk(other))
    return asked and _text(node.left) is None


def _keys_given(call: ast.Call) -> set[str | None]:
    """The keys in a call of ``update``, ``setdefault`` and the like. None means a key that is not a literal."""
    keys: set[str | None] = {keyword.arg for keyword in call.keywords}
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Dict):
        return keys | {None if key is None else _text(key) for key in first.keys}
    if first is not None:
        keys.add(_text(first))
    return keys


def _put_in(tree: ast.Module) -> set[str]:
    """All literal keys that the script sets in anything."""
    found: set[str | None] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found.add(_text(node.slice))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES:
            found |= _keys_given(node)
    return {key for key in found if key is not None}


def _asked_for(function: ast.FunctionDef, name: str) -> set[str]:
    """The literal keys that the function tests with ``in``."""
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            found |= {_text(part) for part in ast.walk(node.left)}
    return {key for key in found if key is not None}


def _forgiven(function: ast.FunctionDef) -> set[ast.AST]:
    """The nodes inside a ``try`` or ``suppress`` that catches a missing key."""
    found: set[ast.AST] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Try):
            body, caught = node.body, [one for handler in node.handlers for one in _caught(handler)]
        elif isinstance(node, ast.With):
            body = node.body
            caught = [part.id for item in node.items for part in ast.walk(item) if isinstance(part, ast.Name)]
        else:
            continue
        if set(caught) & set(_FORGIVING):
            found |= {inner for statement in body for inner in ast.walk(statement)}
    return found


def _caught(handler: ast.ExceptHandler) -> list[str]:
    if handler.type is None:
        return ["BaseException"]
    return [part.id for part in ast.walk(handler.type) if isinstance(part, ast.Name)]


def _is_handed_on(function: ast.FunctionDef, name: str) -> bool:
    """Whether the function uses ``name`` other than before a dot, before a bracket or after ``in``."""
    plain = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Attribute | ast.Subscript)}
    plain |= {id(one) for node in ast.walk(function) if isinstance(node, ast.Compare) for one in node.comparators}
    return any(_is(node, name) and id(node) not in plain for node in ast.walk(function))


def _has_changing_helper(tree: ast.Module, function: ast.FunctionDef) -> bool:
    """Whether another function, or the module itself, sets keys that are not literals in anything."""
    own = set(ast.walk(function))
    return any(
        _changes_unseen(node, {one.id for one in ast.walk(node) if isinstance(one, ast.Name)})
        for node in ast.walk(tree)
        if node not in own
    )
