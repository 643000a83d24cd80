"""Makes the script of a recipe from a Python function. Copies the names that it uses, or reports those it cannot."""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType

from ..errors import Invalid, Loc, Problem, instead
from ..python_tree import literal
from .modules import ALLOWED, CLOSED, GIVEN, refusal
from .source import NoSource, Source, outside_names, renamed, shortened, source_of, value_of
from .strict import Raw

PLACE: Loc = ("config", "transform")
NAME = "transform"
MOST_TEXT = 2000
_PLAIN = (bool, int, str, float, type(None))


def script_of(function: Callable[..., Raw]) -> str:
    """The script of a function that takes ``data`` and ``params`` and returns a figure, called ``transform`` in it.

    What the function takes from outside comes along where that is certain: modules that scripts have, and names
    imported from them, as import lines; functions of the same notebook or file, with what they need; constants, that is
    names in capitals that hold plain values, as they are now. ``pd``, ``np``, ``go`` and ``px`` are there.

    Raises
    ------
    Invalid
        With every name that cannot be copied, its line in the function and the fix; or why the function has no
        text: a lambda, a method, a built-in, a decorated function.
    """
    writer = _Writer()
    writer.take(function, NAME)
    if writer.problems:
        raise Invalid(writer.problems)
    return writer.text()


class _Writer:
    """Gathers the parts of a script, each once: imports, constants, functions before those that call them."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.imports: dict[str, None] = {}
        self.constants: dict[str, str] = {}
        self.functions: dict[str, str] = {}
        self.taken: dict[str, FunctionType] = {}

    def take(self, function: Callable[..., Raw], name: str) -> None:
        """A function under this name, after what it needs."""
        try:
            source = source_of(function)
            text = renamed(source, name)
        except NoSource as error:
            self._told(error.line, error.text, str(error), "script_function", getattr(function, "__name__", ""))
            return
        self.taken[name] = source.function
        if source.lazy_annotations:
            self.imports["from __future__ import annotations"] = None
        for outside, line in outside_names(source).items():
            if outside != source.name or value_of(source, outside)[1] is not source.function:
                self._bring(outside, source, line)
        self.functions[name] = text

    def text(self) -> str:
        future = "from __future__ import annotations"
        lines = sorted(self.imports, key=lambda line: (line != future, line.startswith("from"), line))
        constants = [f"{name} = {value}" for name, value in self.constants.items()]
        blocks = ["\n".join(block) + "\n" for block in (lines, constants) if block]
        head = "\n".join(blocks)
        return "\n\n".join([head, *self.functions.values()] if head else self.functions.values())

    def _bring(self, name: str, source: Source, line: int) -> None:
        there, value = value_of(source, name)
        around = name in source.function.__code__.co_freevars
        own = around or name in source.function.__globals__
        if not there:
            self._lacking(name, source, line)
        elif not own:
            if name in CLOSED:
                why = f"{name}() is not available in a script, which gets all its data from 'data' and 'params'."
                self._outside(name, source, line, why)
        elif isinstance(value, ModuleType):
            self._module(name, value, source, line)
        elif around:
            mend = f"make it a param, or write it inside '{source.name}'"
            self._outside(name, source, line, f"'{name}' belongs to the function around '{source.name}'; {mend}.")
        elif value is not getattr(builtins, name, _NONE):
            self._value(name, value, source, line)

    def _lacking(self, name: str, source: Source, line: int) -> None:
        if name in GIVEN:
            return
        known = [*source.function.__globals__, *GIVEN, *source.function.__code__.co_varnames]
        near = instead(name, [one for one in known if not one.startswith("_")], "names")
        hint = near if near.startswith("Did") else "Write it inside the function, or make it a param."
        self._outside(name, source, line, f"There is no '{name}'. {hint}")

    def _module(self, name: str, module: ModuleType, source: Source, line: int) -> None:
        full = module.__name__
        if GIVEN.get(name) == full:
            return
        parent, _, last = full.rpartition(".")
        whole = refusal(full)
        if whole is not None:
            mend = " Write 'from workbench import battery' and use that." if full == "workbench" else ""
            alias = "" if name == full.partition(".")[0] else f"'{name}' is the module '{full}'. "
            self._outside(name, source, line, f"{alias}{whole}{mend}")
        elif parent and refusal(parent, (last,)) is None:
            self._import(
                name, f"from {parent} import {last}" + (f" as {name}" if name != last else ""), source, line
            )
        else:
            self._import(name, f"import {full}" + (f" as {name}" if name != full else ""), source, line)

    def _value(self, name: str, value: Raw, source: Source, line: int) -> None:
        home = _home(name, value)
        if home is not None:
            module, own = home
            self._import(
                name, f"from {module} import {own}" + (f" as {name}" if own != name else ""), source, line
            )
        elif isinstance(value, FunctionType) and value.__module__ == source.function.__module__:
            self._function(name, value, source, line)
        elif name.isupper() and (text := _literal(value)) is not None:
            self._constant(name, text, source, line)
        else:
            self._outside(name, source, line, _mend(name, value, source))

    def _function(self, name: str, value: FunctionType, source: Source, line: int) -> None:
        known = self.taken.get(name)
        if known is None:
            self.take(value, name)
        elif known is not value:
            other = f"two functions would be called '{name}' in the script; rename one"
            self._outside(name, source, line, f"'{name}' is another function than '{known.__name__}': {other}.")

    def _constant(self, name: str, text: str, source: Source, line: int) -> None:
        if self.constants.setdefault(name, text) != text:
            self._outside(name, source, line, f"'{name}' stands for two values in two files; rename one.")

    def _import(self, name: str, text: str, source: Source, line: int) -> None:
        for other in self.imports:
            if other != text and other.split()[-1] == name and text.split()[-1] == name:
                self._outside(name, source, line, f"'{name}' is imported twice, from two places; rename one.")
                return
        self.imports[text] = None

    def _outside(self, name: str, source: Source, line: int, message: str) -> None:
        told = f"Line {line} of '{source.name}': {message}"
        self._told(line, source.line(line), told, "script_outside", source.name, name)

    def _told(self, line: int, text: str, message: str, kind: str, function: str, name: str = "") -> None:
        ctx: dict[str, Raw] = {"line": line, "text": text, "function": function}
        if name:
            ctx["name"] = name
        self.problems.append(Problem(PLACE, message, kind, ctx))


_NONE = object()


def _home(name: str, value: Raw) -> tuple[str, str] | None:
    """The module that scripts have and the name in it, of something that was imported from there."""
    if isinstance(value, float):
        return ("math", name) if getattr(math, name, None) is value else None
    module, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if isinstance(value, _PLAIN) or not isinstance(module, str) or not isinstance(own, str):
        return None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        home = ".".join(parts[:end])
        if refusal(home) is None and getattr(sys.modules.get(home), own, _NONE) is value:
            return home, own
    return None


def _literal(value: Raw) -> str | None:
    """A plain value as Python text, None if it is none."""
    if not _is_plain(value):
        return None
    text = repr(value)
    return text if len(text) <= MOST_TEXT and literal(text) == value else None


def _is_plain(value: Raw) -> bool:
    if isinstance(value, list | tuple | set) and type(value) in (list, tuple, set):
        return bool(value or not isinstance(value, set)) and all(map(_is_plain, value))
    if isinstance(value, dict) and type(value) is dict:
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    return type(value) in _PLAIN and not (isinstance(value, float) and not math.isfinite(value))


def _mend(name: str, value: Raw, source: Source) -> str:
    """What to do about a name of the notebook or file that a script cannot have."""
    if isinstance(value, FunctionType):
        return (
            f"'{name}' comes from the module '{value.__module__}', which scripts do not have; write its def beside "
            f"'{source.name}'. {ALLOWED}"
        )
    if isinstance(value, type):
        home = "of your own" if value.__module__ == source.function.__module__ else f"of '{value.__module__}'"
        return f"'{name}' is a class {home}, which a script does not have; write it inside '{source.name}'."
    text = _literal(value)
    if text is not None:
        inside = (
            f"write '{name} = {shortened(value)}' inside '{source.name}'" if len(text) <= 60 else "write it inside"
        )
        return (
            f"'{name}' is a variable outside the function; {inside}, make it a param, or write its name in capitals if "
            "it never changes."
        )
    kind = type(value).__name__
    article = "an" if kind[:1].lower() in "aeiou" else "a"
    return (
        f"'{name}' is {article} {kind} outside the function, which a script does not have: it gets its data in 'data' "
        "(add a step to the plan) and small values in 'params'."
    )
