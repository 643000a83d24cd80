"""Parts of messages: an option as the reader types it, a number of things, a list of names."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["python", "terminal"]
"""Where the reader types options: in Python as keyword arguments, in a terminal after dashes."""

WANTED: Mapping[str, str] = {
    "string_type": "a text",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "list_type": "a list",
    "uuid_parsing": "a UUID",
}
"""The type of an error of pydantic -> what is wanted there, in words."""

_place: ContextVar[Place] = ContextVar("workbench_options_are_typed_in", default="python")
_DASHED = {"column_map": "map"}
NO_BREAK = "\u00a0"
_NEEDS_CARE = frozenset('"$`\\!')


@contextmanager
def typed_in(place: Place) -> Iterator[None]:
    """Within it, messages spell options as they are typed at this place."""
    before = _place.set(place)
    try:
        yield
    finally:
        _place.reset(before)


def place() -> Place:
    """The place for which messages spell options now."""
    return _place.get()


def option(name: str, value: str) -> str:
    """An option with a value, as the reader can type it.

    >>> option("sign", "discharge")
    'sign="discharge"'
    >>> with typed_in("terminal"):
    ...     option("sign", "discharge")
    '--sign discharge'
    """
    if place() == "python":
        return f"{name}={_in_python(value)}"
    return f"{option_name(name)} {_in_shell(value)}"


def option_name(name: str) -> str:
    """The bare name of an option: ``column_map`` in Python, ``--map`` in a terminal."""
    return name if place() == "python" else "--" + _DASHED.get(name, name).replace("_", "-")


def column_map(pairs: Mapping[str, str]) -> str:
    """The option that maps columns of a file to ours.

    >>> column_map({"Volts": "Voltage [V]"})
    'column_map={"Volts": "Voltage [V]"}'
    >>> with typed_in("terminal"):
    ...     column_map({"Volts": "Voltage [V]"})
    '--map "Volts=Voltage [V]"'
    """
    if place() == "python":
        listed = ", ".join(f"{_in_python(theirs)}: {_in_python(ours)}" for theirs, ours in pairs.items())
        return f"column_map={{{listed}}}"
    return " ".join(f"--map {_in_shell(f'{theirs}={ours}')}" for theirs, ours in pairs.items())


def _in_python(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _in_shell(value: str) -> str:
    if shlex.quote(value) == value:
        return value
    # Double quotes are read by every shell; only what they do not protect needs single ones.
    return shlex.quote(value) if _NEEDS_CARE & set(value) else f'"{value}"'


def spaced(number: int) -> str:
    """A whole number with a space between its thousands; all messages, tables and reports use it.

    A line does not break at this space.

    >>> spaced(2000).split(), spaced(-12345678).split(), spaced(999)
    (['2', '000'], ['-12', '345', '678'], '999')
    """
    return f"{number:,}".replace(",", NO_BREAK)


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "row"), counted(2, "row"), counted(12345, "entry", "entries")
    ('1 row', '2 rows', '12\\xa0345 entries')
    """
    return f"{spaced(number)} {noun if number == 1 else plural or noun + 's'}"


def times(number: int) -> str:
    """How often.

    >>> times(1), times(3)
    ('once', '3 times')
    """
    return "once" if number == 1 else f"{spaced(number)} times"


def quoted(names: Iterable[str], most: int = 20, last: str = "and") -> str:
    """A list of names, each in quotes; after ``most`` of them the rest is counted.

    >>> quoted(["a", "b", "c"])
    "'a', 'b' and 'c'"
    """
    shown = [f"'{name}'" for name in names]
    if len(shown) > most:
        return ", ".join(shown[:most]) + f" and {len(shown) - most} more"
    return f" {last} ".join(filter(None, (", ".join(shown[:-1]), shown[-1]))) if shown else ""
