"""Filters of a page of records: fields and comparisons, checked and turned into SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from ...errors import Invalid, Problem, instead
from ...records import KINDS, Member, Record
from ...records.record import Storage
from ...records.values import as_date, as_moment, is_whole
from ...table import Plain, to_micros
from ..db.dialect import Condition as Condition
from ..scope import Scope
from .tables import ASSIGNMENTS, Reading, SqlValue, fold, reach, values_of

COMPARISONS = {"gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "ne": "<>"}
_TYPES: dict[Storage, tuple[type[int | float | str], ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
"""What a field of a kind is compared with; all others are texts."""


def conditions(reading: Reading, scope: Scope, where: Mapping[str, Plain]) -> Condition:
    """The WHERE of a query on a kind: the records in scope that fulfil ``where``.

    Raises
    ------
    Invalid
        For an unknown field or comparison, or a value of the wrong type; ``loc`` begins at ``where``.
    """
    found = [reach(reading.cls, scope)]
    problems: list[Problem] = []
    for name, wanted in where.items():
        try:
            found += _field(reading, scope, name, wanted)
        except Invalid as error:
            problems += error.problems
    if problems:
        raise Invalid(problems)
    return " AND ".join(f"({clause})" for clause, _ in found), [p for _, params in found for p in params]


def _field(reading: Reading, scope: Scope, name: str, wanted: Plain) -> Iterator[Condition]:
    cls = reading.cls
    if name == "study_id" and f"study_{cls.table}" in ASSIGNMENTS:
        yield assigned(cls, wanted, scope)
        return
    if name == "anywhere" and cls.table == "measurements":
        yield _anywhere(wanted)
        return
    member = cls.members().get(name)
    if member is None or (member.storage == "json" and name != "tags"):
        names = [known for known, other in cls.members().items() if other.storage != "json"]
        message = f"A {cls.label} has no field '{name}' to filter by. {instead(name, names, 'fields')}"
        raise Invalid(Problem(("where", name), message))
    expression = reading.field(name)
    if not isinstance(wanted, Mapping):
        yield _equal(expression, member, wanted, ("where", name))
        return
    for comparison, value in wanted.items():
        yield _compared(reading, expression, member, comparison, value)


def _anywhere(text: str) -> Condition:
    """A text in the name, the notes, the name of the protocol or a tag of a measurement, case ignored."""
    places = ("t.name_folded", "fold(t.notes)", "fold(json_extract(t.protocol, '$.name'))")
    tags = "EXISTS (SELECT 1 FROM json_each(t.tags) WHERE instr(fold(value), ?) > 0)"
    found = [*(f"instr({place}, ?) > 0" for place in places), tags]
    return " OR ".join(found), [fold(text)] * len(found)


def _compared(reading: Reading, expression: str, member: Member, comparison: str, value: Plain) -> Condition:
    loc = ("where", member.name, comparison)
    if member.name == "tags":
        return _tagged(expression, comparison, value, loc)
    if comparison == "contains" and member.kind == "text":
        folded = "t.name_folded" if member.name == "name" else f"fold({expression})"
        return f"instr({folded}, ?) > 0", [fold(_text(value, loc))]
    if comparison == "in":
        return among(expression, _list(value, loc))
    if comparison in COMPARISONS and member.storage in ("datetime", "date", "integer", "number", "text"):
        return f"{expression} {COMPARISONS[comparison]} ?", [_bound(member, value, loc)]
    known = ["in"] if member.kind != "text" else ["contains", "in"]
    raise Invalid(
        Problem(loc, f"There is no comparison '{comparison}'. {instead(comparison, [*COMPARISONS, *known])}")
    )


def _equal(expression: str, member: Member, value: Plain, loc: tuple[str, ...]) -> Condition:
    if value is None:
        return f"{expression} IS NULL", []
    if member.name == "tags":
        return _tagged(expression, "all", [value], loc)
    return f"{expression} = ?", [_bound(member, value, loc)]


def _bound(member: Member, value: Plain, loc: tuple[str, ...]) -> SqlValue:
    try:
        if member.storage == "datetime":
            return to_micros(as_moment(value))
        if member.storage == "date":
            return as_date(value).isoformat()
    except ValueError as error:
        raise Invalid(Problem(loc, str(error))) from None
    wrong = isinstance(value, bool) and member.storage != "boolean"
    if wrong or not isinstance(value, _TYPES.get(member.storage, (str,))):
        kind = "text" if member.storage == "text" else member.storage
        raise Invalid(Problem(loc, f"'{member.name}' is compared with a {kind}, not with {value!r}."))
    return int(value) if isinstance(value, bool) else value


def _tagged(expression: str, comparison: str, value: Plain, loc: tuple[str, ...]) -> Condition:
    tags = sorted({fold(_text(tag, loc)) for tag in _list(value, loc)})
    if comparison not in ("all", "any"):
        raise Invalid(Problem(loc, f"Tags are compared by 'all' or 'any', not by '{comparison}'."))
    among_these = "fold(value) IN (SELECT value FROM json_each(?))"
    held = f"(SELECT count(DISTINCT fold(value)) FROM json_each({expression}) WHERE {among_these})"  # noqa: S608
    return f"{held} >= ?", [values_of(tags), len(tags) if comparison == "all" else 1]


def among(expression: str, values: Iterable[Plain]) -> Condition:
    """Equal to one of these texts. A value that is not a text matches nothing, and an empty list matches nothing."""
    texts = [value for value in values if isinstance(value, str) and sound(value)]
    return f"{expression} IN (SELECT value FROM json_each(?))", [values_of(texts)]  # noqa: S608


def assigned(cls: type[Record], study: Plain, scope: Scope) -> Condition:
    """Assigned to this study, which must be in scope too."""
    table = f"study_{cls.table}"
    _, _, column = ASSIGNMENTS[table]
    if not isinstance(study, str) or not sound(study):
        return "false", []
    clause, params = reach(KINDS["studies"], scope, "s")
    held = f'SELECT a."{column}" FROM "{table}" AS a JOIN studies AS s ON s.id = a.study_id'  # noqa: S608
    return f"t.id IN ({held} WHERE s.id = ? AND {clause})", [study, *params]


def sound(text: str) -> bool:
    """Whether a text can be stored. A text with half a character pair cannot, so it equals nothing that is stored."""
    return is_whole(text)


def _text(value: Plain, loc: tuple[str, ...]) -> str:
    if not isinstance(value, str):
        raise Invalid(Problem(loc, f"This is compared with a text, not with {value!r}."))
    return value


def _list(value: Plain, loc: tuple[str, ...]) -> list[Plain]:
    if isinstance(value, str | date) or not isinstance(value, Iterable):
        raise Invalid(Problem(loc, "This takes a list of values."))
    return list(value)
