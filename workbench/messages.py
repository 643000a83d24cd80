"""Parts of messages: an option as the reader types it, a number of things, a list of names."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "iterable_type": "a list",
    "mapping_type": "an object",
    "dataclass_type": "an object",
    "none_required": "null",
    "finite_number": "a number that is not infinite",
    "string_unicode": "a text of whole Unicode characters",
    "uuid_type": "a UUID",
    "uuid_parsing": "a UUID",
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), "an ISO 8601 time"),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing"), "a day such as 2026-01-31"),
}
"""The type of an error of pydantic -> what is wanted there, in words."""

_BOUNDS = {
    "greater_than": ("more than", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("less than", "lt"),
    "less_than_equal": ("at most", "le"),
}
_CHARACTERS, _ENTRIES = ("character",), ("entry", "entries")
_LENGTHS = {
    "string_too_short": ("at least", "min_length", _CHARACTERS),
    "string_too_long": ("at most", "max_length", _CHARACTERS),
    "too_short": ("at least", "min_length", _ENTRIES),
    "too_long": ("at most", "max_length", _ENTRIES),
}
_GENERAL = (
    *("Input ", "Unable ", "This must be ", "List ", "String ", "Value ", "Dictionary ", "Tuple ", "Set "),
    *("UUID input ", "Keys should ", "Data "),
)
"""How pydantic's own sentences begin; a text of ours says what a value is for."""


def as_given(value: object) -> str:
    """What somebody gave, in a sentence: as Python writes it, or its type where that is long."""
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def called(place: Sequence[str | int]) -> str:
    """What the value at a place is called in a sentence. A number there counts entries, so it names none.

    >>> called(("layout", 0, "x")), called(("data", 0, 1)), called(())
    ("'x'", "An entry of 'data'", 'This')
    """
    if not place:
        return "This"
    if isinstance(place[-1], str):
        return f"'{place[-1][:80]}'"
    names = [part for part in place if isinstance(part, str)]
    return f"An entry of '{names[-1][:80]}'" if names else "An entry"


def refused(name: str, kind: str, message: str, ctx: Mapping[str, object] | None = None) -> str:
    """The sentence about a value that pydantic refuses.

    Parameters
    ----------
    name : what the value is called, in quotes: ``'limit'``.
    kind, message, ctx : the type, text and context of pydantic's error. A text of our own stays as it is.
    """
    known = ctx or {}
    if kind == "missing":
        return f"{name} is missing."
    if kind == "extra_forbidden":
        return f"There is no {name} here."
    if message.startswith("Value error, ") or not message.startswith(_GENERAL):
        return message.removeprefix("Value error, ")
    if kind in WANTED:
        return f"{name} must be {WANTED[kind]}."
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        value = known.get(bound)
        return f"{name} must be {words} {f'{value:g}' if isinstance(value, float) else value}."
    if kind in _LENGTHS:
        words, bound, unit = _LENGTHS[kind]
        most = known.get(bound)
        return f"{name} must have {words} {counted(most, *unit) if isinstance(most, int) else most}."
    if kind == "literal_error":
        return f"{name} must be one of {known.get('expected')}."
    if message.startswith("This "):
        return f"{name} {message.removeprefix('This ')}"
    return f"{name} has a value that is not allowed here."


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


def with_article(noun: str) -> str:
    """A noun after its article.

    >>> with_article("batch"), with_article("analysis")
    ('a batch', 'an analysis')
    """
    return f"{'an' if noun[:1] in 'aeio' else 'a'} {noun}"


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


def said_of_json(error: BaseException) -> str:
    """Why a text cannot be read as JSON. Of a long number Python says how a program may allow it."""
    text = str(error)
    if text.startswith("Exceeds the limit"):
        return "a whole number in it has more than 4300 digits; write it with an exponent (1e30)"
    return text


def said_of_system(error: OSError) -> str:
    """What the system says, with the name of the file that it is about."""
    if error.strerror is None:
        return str(error)
    if error.filename is None:
        return f"{error.strerror}. The system does not say of which file; it may be that of the output."
    return f"'{error.filename}': {error.strerror}."
