"""Filters of a page of records: fields and comparisons, checked and turned into SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from ...errors import Invalid, Problem, instead
from ...messages import with_article
from ...records import KINDS, Member, Record
from ...records.record import Storage
from ...records.values import as_date, as_moment, is_whole, spellings
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
    if name in _ANYWHERE and cls.table == "measurements":
        yield _anywhere(wanted, [f"fold({reading.field(field)})" for field in _ANYWHERE[name]])
        return
    member = cls.members().get(name)
    if member is None or (member.storage == "json" and name != "tags"):
        names = [known for known, other in cls.members().items() if other.storage != "json"]
        label = with_article(cls.label).capitalize()
        message = f"{label} has no field '{name}' to filter by. {instead(name, names, 'fields')}"
        raise Invalid(Problem(("where", name), message))
    expression = reading.field(name)
    if not isinstance(wanted, Mapping):
        yield _equal(expression, member, wanted, ("where", name))
        return
    for comparison, value in wanted.items():
        yield _compared(reading, expression, member, comparison, value)


_ANYWHERE = {"anywhere": (), "anywhere_or_cell": ("instance_name", "specification_name", "batch_name")}
"""Searches of measurements for a text -> the names of what they belong to that are searched too."""


def _anywhere(text: str, also: Sequence[str]) -> Condition:
    """A text in the name, the notes, the name of the protocol or a tag of a measurement, or ``also`` in these folded
    expressions, case ignored."""
    places = ("t.name_folded", "fold(t.notes)", "fold(json_extract(t.protocol, '$.name'))", *also)
    tags = "EXISTS (SELECT 1 FROM json_each(t.tags) WHERE instr(fold(value), ?) > 0)"
    forms = folded_forms(text)
    found = [one for one in (*(f"instr({place}, ?) > 0" for place in places), tags) for _ in forms]
    return " OR ".join(found), [*forms] * (len(places) + 1)


def _compared(reading: Reading, expression: str, member: Member, comparison: str, value: Plain) -> Condition:
    loc = ("where", member.name, comparison)
    if member.name == "tags":
        return _tagged(expression, comparison, value, loc)
    if comparison == "contains" and member.kind == "text":
        return holds("t.name_folded" if member.name == "name" else f"fold({expression})", _text(value, loc))
    if comparison == "in":
        return among(expression, _list(value, loc))
    if comparison in COMPARISONS and member.storage in ("datetime", "date", "integer", "number", "text"):
        bound = _bound(member, value, loc)
        if comparison == "ne" and isinstance(bound, str):
            same, values = equal(expression, bound)
            return f"NOT ({same})", values
        return f"{expression} {COMPARISONS[comparison]} ?", [bound]
    known = ["in"] if member.kind != "text" else ["contains", "in"]
    raise Invalid(
        Problem(loc, f"There is no comparison '{comparison}'. {instead(comparison, [*COMPARISONS, *known])}")
    )


def _equal(expression: str, member: Member, value: Plain, loc: tuple[str, ...]) -> Condition:
    if value is None:
        return f"{expression} IS NULL", []
    if member.name == "tags":
        return _tagged(expression, "all", [value], loc)
    return equal(expression, _bound(member, value, loc))


def equal(expression: str, value: SqlValue) -> Condition:
    """Equal to a value; to a text in any spelling that a store may hold of it."""
    forms: list[SqlValue] = [*spellings(value)] if isinstance(value, str) else [value]
    if len(forms) == 1:
        return f"{expression} = ?", forms
    return f"{expression} IN ({', '.join('?' * len(forms))})", forms


def holds(folded: str, text: str) -> Condition:
    """Holds a text, with case ignored, in any spelling; ``folded`` is an expression of a text that is folded."""
    forms = folded_forms(text)
    return " OR ".join([f"instr({folded}, ?) > 0"] * len(forms)), [*forms]


def folded_forms(text: str) -> list[str]:
    """A text with case ignored, in all spellings."""
    return list(dict.fromkeys(map(fold, spellings(text))))


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
    wanted = {folded_forms(_text(tag, loc))[0]: folded_forms(tag) for tag in _list(value, loc)}
    if comparison not in ("all", "any"):
        raise Invalid(Problem(loc, f"Tags are compared by 'all' or 'any', not by '{comparison}'."))
    among_these = "fold(value) IN (SELECT value FROM json_each(?))"
    held = f"(SELECT count(DISTINCT fold(value)) FROM json_each({expression}) WHERE {among_these})"  # noqa: S608
    return f"{held} >= ?", [
        values_of(sorted(form for forms in wanted.values() for form in forms)),
        len(wanted) if comparison == "all" else 1,
    ]


def among(expression: str, values: Iterable[Plain]) -> Condition:
    """Equal to one of these texts. A value that is not a text matches nothing, and an empty list matches nothing."""
    texts = [form for value in values if isinstance(value, str) and sound(value) for form in spellings(value)]
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
