"""Checks and runs a transform script, and reports its errors with the script's own lines.

A script is plain Python that defines ``transform(data, params)``. It can use ``pd``, ``np``, ``go`` and ``px``
without import. This module runs it in this process. Honest scripts do not see each other's data, output or random
numbers. A hostile script is not stopped here; ``protected`` stops it.
"""

from __future__ import annotations

import ast
import random
import re
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn, TypeVar

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from pydantic import JsonValue

from ..errors import Loc, Problem, ScriptError, instead, near
from ..python_tree import tree_of
from ..version import __version__
from .figure import Given
from .frames import StepFrames
from .hints import hint
from .modules import refusal, script_builtins
from .output import FILENAME, Log, Warned, captured
from .traces_checked_once import traces_checked_once

NAME = "transform"
PLACE: Loc = ("config", "transform")
TEMPLATE = "plotly"
SEED = 0
_MODULE = "__transform__"
_RETURNED = "__returned__"
_LONGEST = 2000
_LONGEST_LINE = 500
MOST_PROBLEMS = 100
"""Most problems that are reported of one script."""
_LONGEST_NAME = 200
_MOST_LOOPS = 50
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_LINE_END = re.compile(r"\r\n|\r|\n")
# Output, seeds, warnings and the default template belong to the process, so only one script runs at a time.
_TURN = threading.RLock()
T = TypeVar("T")


def problem(text: str, line: int | None, message: str, kind: str = "script_error") -> Problem:
    """A Problem of a script with the line number and the text of the line. Without a line (None) it points to the
    first."""
    told = message if line is None else f"Line {line}: {message}"
    return Problem(PLACE, told, kind, {"line": line or 1, "text": text_of_line(text, line or 1)})


def text_of_line(text: str, line: int) -> str:
    """A line of a script by its number, from 1. Empty if there is no such line; a very long line is cut."""
    return text_in(lines_of(text), line)


def lines_of(text: str) -> list[str]:
    """The lines of a script as Python counts them. ``splitlines()`` also breaks at form feeds and the like."""
    return _LINE_END.split(text)


def text_in(lines: Sequence[str], line: int) -> str:
    """As ``text_of_line``, for a script that is already split into lines."""
    told = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return told if len(told) <= _LONGEST_LINE else f"{told[:_LONGEST_LINE]} ..."


def check_script(text: str) -> list[Problem]:
    """Everything that is wrong with a script and can be seen without running it. Empty if the script is sound.

    It finds syntax errors, a missing or second ``transform``, a ``transform`` with wrong arguments, and imports of
    modules that scripts do not have, each with its line. The same check comes before every run, local and remote.
    """
    return list(_read(text).problems)


@dataclass(frozen=True)
class _Script:
    """A script as it was read: its problems, or the code to run and the line of ``def transform``."""

    problems: tuple[Problem, ...]
    code: types.CodeType | None = None
    line: int = 1


@lru_cache(maxsize=256)
def _read(text: str) -> _Script:
    """A script, kept in memory: otherwise each cached figure would cost a parse of its script."""
    parsed = _parsed(text)
    if isinstance(parsed, Problem):
        return _Script((parsed,))
    tree, code = parsed
    problems = (*_shape_problems(text, tree), *_import_problems(text, tree))[:MOST_PROBLEMS]
    return _Script(problems) if problems else _Script((), code, _named(tree)[0].lineno)


def _parsed(text: str) -> tuple[ast.Module, types.CodeType] | Problem:
    """The tree of a script and its code, in which ``transform`` reports the line of its ``return``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = tree_of(text, FILENAME)
            deep = _too_deep(tree) if text.count("for") > _MOST_LOOPS else None
            if deep is None:
                for function in _named(tree):
                    if isinstance(function, ast.FunctionDef):
                        _mark_returns(function)
                code = compile(tree, FILENAME, "exec", dont_inherit=True)
    except SyntaxError as error:
        line = error.lineno or (text[: text.index("\0")].count("\n") + 1 if "\0" in text else None)
        return problem(text, line, f"{type(error).__name__}: {error.msg}", "script_syntax")
    except (ValueError, RecursionError, MemoryError) as error:
        why = str(error) if isinstance(error, ValueError) else "it is nested too deep, or a statement is too long"
        return problem(text, None, f"Python cannot parse the script: {why}.", "script_syntax")
    if deep is not None:
        return problem(
            text, deep, f"A comprehension has more than {_MOST_LOOPS} loops. Write nested loops.", "script_syntax"
        )
    return tree, code


def _too_deep(tree: ast.Module) -> int | None:
    """The line of a comprehension with so many loops that Python's compiler, which has no limit, would crash."""
    for node in ast.walk(tree):
        if len(getattr(node, "generators", ())) > _MOST_LOOPS:
            return int(getattr(node, "lineno", 1))
    return None


def _named(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions at the top level with the name ``transform``."""
    return [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == NAME
    ]


def _shape_problems(text: str, tree: ast.Module) -> list[Problem]:
    found = _named(tree)
    if not found:
        others = {node.name: node.lineno for node in tree.body if isinstance(node, ast.FunctionDef)}
        close = near(NAME, others, most=1)
        meant = f" There is '{close[0]}'." if close else ""
        message = f"The script does not define a function {NAME}(data, params) at its top level.{meant}"
        return [problem(text, others[close[0]] if close else None, message, "script_shape")]
    problems = [
        problem(text, node.lineno, f"The script defines {NAME} a second time. Keep one of them.", "script_shape")
        for node in found[1:MOST_PROBLEMS]
    ]
    for node in found[:MOST_PROBLEMS]:
        why = _misshapen(node, may_yield="yield" in text)
        if why:
            problems.append(problem(text, node.lineno, why, "script_shape"))
    return problems


def _misshapen(node: ast.FunctionDef | ast.AsyncFunctionDef, *, may_yield: bool) -> str | None:
    if isinstance(node, ast.AsyncFunctionDef):
        return f"{NAME} is asynchronous. Write 'def {NAME}(data, params):'."
    if may_yield and any(isinstance(one, ast.Yield | ast.YieldFrom) for one in _own_nodes(node)):
        return f"{NAME} yields values. Return one figure instead."
    names = node.args
    positional = len(names.posonlyargs) + len(names.args)
    required = positional - len(names.defaults)
    needed = [one.arg for one, default in zip(names.kwonlyargs, names.kw_defaults, strict=True) if default is None]
    fits = required <= 2 and (positional >= 2 or names.vararg is not None) and not needed
    if fits:
        return None
    return f"{NAME} takes two arguments, data and params. Write 'def {NAME}(data, params):'."


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without the nodes of functions and classes inside it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def _statements(block: ast.AST, *, inner: bool) -> Iterator[ast.AST]:
    """The statements of a block, without their expressions, of which there are ten times as many. ``inner`` adds those
    of functions and classes inside it."""
    waiting = [block]
    while waiting:
        node = waiting.pop()
        yield node
        if node is block or inner or not isinstance(node, _SCOPES):
            for name in _BLOCKS:
                waiting.extend(getattr(node, name, ()))


def _import_problems(text: str, tree: ast.Module) -> list[Problem]:
    found: list[tuple[int, str]] = []
    for node in _statements(tree, inner=True):
        if isinstance(node, ast.Import):
            whys = [refusal(alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            whys = [refusal(node.module or "", [alias.name for alias in node.names], node.level)]
        else:
            continue
        found += [(node.lineno, why) for why in whys if why]
    found.sort(key=lambda one: one[0])
    return [problem(text, line, why, "script_import") for line, why in found[:MOST_PROBLEMS]]


def _mark_returns(function: ast.FunctionDef) -> None:
    """Make a function report the line of its ``return``, for the error about a result that is not a figure."""
    for node in _statements(function, inner=False):
        if isinstance(node, ast.Return):
            value = node.value or ast.copy_location(ast.Constant(None), node)
            name = ast.copy_location(ast.Name(_RETURNED, ast.Load()), node)
            line = ast.copy_location(ast.Constant(node.lineno), node)
            node.value = ast.copy_location(ast.Call(name, [value, line], []), node)


@dataclass(frozen=True)
class Returned:
    """What ``transform`` returned, the line of that ``return`` (or of the ``def``, if it ended without one), the log,
    and what helpers warned of."""

    value: Given
    line: int
    log: str
    warned: tuple[Warned, ...] = ()


class Values(dict[str, JsonValue]):
    """``params`` of a script. A missing one is an error that names those that exist."""

    def __missing__(self, name: str) -> NoReturn:
        raise KeyError(f"There is no param '{name}'. {instead(str(name), self, 'params')}")


def run(text: str, data: Mapping[str, StepFrames], params: Mapping[str, JsonValue]) -> Returned:
    """Run a script and call its ``transform(data, params)``.

    The global random numbers of Python and numpy start from the same seed at every run, and are restored
    afterwards. A generator that the script makes without a seed, and the clock, differ from run to run.

    Raises
    ------
    ScriptError
        If the check finds something, or the script raises. Its Problem is at ``["config", "transform"]`` and its
        ``ctx`` has ``line`` and ``text`` of the script; its ``log`` is what the script printed until then.
    """
    script = _read(text)
    if script.code is None:
        raise ScriptError(list(script.problems))
    log = Log()
    returned: list[int] = []

    def remember(value: T, line: int) -> T:
        returned[:] = [line]
        return value

    with _TURN, _steady() as px, traces_checked_once(), captured(log) as warned:
        module = types.ModuleType(_MODULE)
        module.__dict__.update(
            {"__builtins__": script_builtins(), "pd": pd, "np": np, "go": go, "px": px, _RETURNED: remember}
        )
        sys.modules[_MODULE] = module  # dataclasses and the like look up their module by name
        try:
            exec(script.code, module.__dict__)  # noqa: S102
            value = module.__dict__[NAME](data, Values(params))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a script may raise anything, also SystemExit, and must not end the server
            raise ScriptError(worded(text, error), log.text()) from error
        finally:
            sys.modules.pop(_MODULE, None)
    return Returned(value, returned[0] if returned else script.line, log.text(), tuple(warned))


@contextmanager
def _steady() -> Iterator[types.ModuleType]:
    """Set the same seeds, default template, defaults of ``px`` and numpy settings for every run; restore them
    afterwards. So a figure does not depend on the settings of a notebook or of another script. Gives ``px``."""
    import plotly.express as px  # it takes longer than all other imports here, and only a run needs it

    python, numpy, template = random.getstate(), np.random.get_state(), pio.templates.default
    express = {name: getattr(px.defaults, name) for name in px.defaults.__slots__}
    random.seed(SEED)
    np.random.seed(SEED)
    _set_template(TEMPLATE)
    px.defaults.reset()
    try:
        with _numpy_defaults():
            yield px
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
        _set_template(template)
        for name, value in express.items():
            setattr(px.defaults, name, value)


@contextmanager
def _numpy_defaults() -> Iterator[None]:
    """The settings that numpy has in a process in which nobody has changed them."""
    with (
        np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"),
        np.printoptions(
            precision=8,
            threshold=1000,
            edgeitems=3,
            linewidth=75,
            suppress=False,
            nanstr="nan",
            infstr="inf",
            sign="-",
            floatmode="maxprec",
            formatter=None,
        ),
    ):
        yield


def _set_template(name: str | None) -> None:
    if pio.templates.default != name:  # setting it takes 10 ms even if nothing changes
        pio.templates.default = name


def worded(text: str, error: BaseException, line_of_return: int | None = None) -> Problem:
    """The Problem of an error, at the innermost line of the script itself. An error that came up while the figure was
    written may have none: then it is at the line that returned the figure."""
    if isinstance(error, SyntaxError) and error.filename != FILENAME:
        line = _innermost(error)
    else:
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else _innermost(error)
    found = problem(text, line_of_return if line is None else line, _message(error))
    found.ctx["error"] = _name(error)
    return found


def _name(error: BaseException) -> str:
    """The name of an error for people: those of a missing step, source or param are a KeyError."""
    return "KeyError" if isinstance(error, KeyError) else type(error).__name__[:_LONGEST_NAME]


def _innermost(error: BaseException) -> int | None:
    lines = [
        number for frame, number in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == FILENAME
    ]
    return lines[-1] if lines else None


def _message(error: BaseException) -> str:
    try:
        said = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    except Exception as second:  # the script's own __str__ may raise anything
        said = f"(its text could not be written: {type(second).__name__})"
    # After these words plotly lists every property that it knows; the nearest name comes before them.
    said = said.partition("\n    Valid properties")[0].strip()[:_LONGEST]
    # JSON cannot carry half of a surrogate pair.
    said = said.encode("utf-8", "replace").decode()
    try:
        said = hint(error, said)
    except (
        Exception
    ):  # the script's own exception may have attributes that raise anything; its words stand alone then
        return f"{_name(error)}: {said}" if said else f"{_name(error)}."
    return f"{_name(error)}: {said}" if said else f"{_name(error)}."


def signature() -> str:
    """The versions on which a figure depends, as one text. It is a part of the key of every cached figure."""
    from importlib.metadata import version

    others = (f"{name}={version(name)}" for name in ("plotly", "pandas", "numpy"))
    return " ".join([f"battery-workbench={__version__}", *others])
