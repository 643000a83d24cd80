"""The `list` step of plans: rows of one source, filtered, in order, with typed columns and dotted names."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

from ...errors import Damaged, Invalid, Problem, instead, near
from ...records import SOURCES, Member, Record
from ...table import Column, Kind, Plain, Table
from ..db.database_file import Host
from ..db.dialect import Dialect, dialect_of
from ..db.kept import Kept
from ..scope import Scope
from .conditions import Condition, among, assigned, equal, holds, sound
from .insertion_order import InsertionOrder, first_rows
from .open_fields import Path, Seen, beside_floats, descend, flat, join_name, refuse_branches, seen_at, split_name
from .search import rows_named
from .tables import Reading, fold, json_of, reach, reach_by_project, tables_of

FIRST = ("id", "name", "notes", "project_id", "created_at", "updated_at", "created_by_email")
MOST_REMEMBERED = 4096
MOST_TOTALS = 256
By: TypeAlias = Literal["name", "index", "scan"]
_BEHIND = {"study": "studies", "batch": "batches"}


@dataclass(frozen=True)
class Listed:
    """The rows of a list. ``total`` is how many match; ``unfilled`` are the dotted names that no record fills, with the
    nearest names that one does."""

    table: Table
    total: int
    unfilled: dict[str, list[str]]


@dataclass(frozen=True)
class ListColumn:
    """A column that a list of a source can have: where it comes from and what it holds."""

    name: str
    kind: Kind
    meaning: str
    member: Member
    path: Path = ()
    default: bool = True


@cache
def list_columns(cls: type[Record]) -> dict[str, ListColumn]:
    """The columns of a source by name: first those of every list, in their order, then those that only ``fields``
    can name."""
    members = cls.members()
    ordered = [members[name] for name in FIRST]
    ordered += [member for name, member in members.items() if name not in FIRST]
    found = [column for member in ordered for column in _columns_of(member)]
    found.sort(key=lambda column: not column.default)
    return {column.name: column for column in found}


def _columns_of(member: Member) -> list[ListColumn]:
    if member.storage != "json" or member.name == "tags":
        return [ListColumn(member.name, member.kind, member.meaning, member, default=not member.aside)]
    if member.shape is None:
        return []
    columns = []
    for part, info in member.shape.model_fields.items():
        number = f"{info.description or part}"
        value, unit = (member.name, part, "value"), (member.name, part, "unit")
        columns.append(ListColumn(join_name(value), "number", number, member, value))
        columns.append(ListColumn(join_name(unit), "text", f"Unit of {join_name(value)}.", member, unit))
    return columns


@dataclass(frozen=True)
class _Shown:
    """One column of an answer: its SQL expression, how a value is read, the kind of the values, and whether those of a
    column of several types are shown as floats where they are whole numbers."""

    name: str
    expression: str
    kind: Kind
    read: Callable[[str], Plain] | None = None
    rounds: bool = False


class Listing:
    """Lists of records for plans, over one store."""

    def __init__(self, store: Host) -> None:
        self._store = store
        self._totals = Kept[int](store, MOST_TOTALS)
        self.order = InsertionOrder()
        self._seen = Kept[Seen](store, MOST_REMEMBERED)

    def plan_list(
        self,
        source: str,
        scope: Scope,
        where: Mapping[str, Plain],
        fields: Sequence[str] | None,
        limit: int | None,
    ) -> Listed:
        """The rows of a source in the order of ``created_at``, then ``id``.

        Parameters
        ----------
        source : one of the list sources of a recipe.
        where : bound Filters, key -> list or single value; null counts as absent.
        fields : the columns wanted; None for the source's own. Dotted names reach into open objects.
        limit : at most so many rows; None for all.

        Raises
        ------
        Invalid
            For filters and fields that the source does not have, with ``loc`` beginning at ``where`` or
            ``fields``.
        """
        cls = _source(source)
        with self._store.snapshot() as db:
            reading = Reading(cls, scope.as_of)
            problems: list[Problem] = []
            shown, unfilled = self._shown(db, cls, reading, scope, fields, problems)
            narrowed = self._narrowed(db, cls, scope, where, problems)
            if problems:
                raise Invalid(problems)
            rows = self._rows(db, reading, shown, narrowed, limit)
            total = len(rows)
            if limit is not None and total == limit:
                tables = self.dependencies(source, [], where)
                total = self.total(narrowed, tables)
        return Listed(_table(shown, rows), total, unfilled)

    def _rows(
        self,
        db: sqlite3.Connection,
        reading: Reading,
        shown: Sequence[_Shown],
        narrowed: Narrowed,
        limit: int | None,
    ) -> list[tuple[Plain, ...]]:
        """The rows. Those of the answer are chosen first, by order alone, so that joins and counts are made only for
        them."""
        columns = ", ".join(column.expression for column in shown)
        order = "ORDER BY t.created_at, t.id"
        chosen, bound = f"SELECT t.rowid FROM {narrowed.source} WHERE {narrowed.clause}", narrowed.params  # noqa: S608
        if limit is not None and narrowed.by == "scan" and self.order.holds(db, reading.cls.table):
            chosen, bound = first_rows(narrowed.source, narrowed.parts, narrowed.rest, "ASC", limit)
        elif limit is not None:
            chosen, bound = f"{chosen} {order} LIMIT ?", [*bound, limit]
        statement = f"SELECT {columns} FROM {reading.source()} WHERE t.rowid IN ({chosen}) {order}"  # noqa: S608
        self._store.check_used(db, reading.cls.table, chosen, bound)
        return db.execute(statement, bound).fetchall()

    def total(self, narrowed: Narrowed, tables: Iterable[str]) -> int:
        """How many rows there are. The number is kept until one of the tables that it depends on changes."""
        counted, params = f"SELECT count(*) FROM {narrowed.source} WHERE {narrowed.clause}", narrowed.params  # noqa: S608

        def count() -> int:
            (total,) = self._store.execute(counted, params).fetchone()
            return int(total)

        return self._totals.get((counted, *params), tables, count)

    def columns(self, source: str) -> dict[str, Kind]:
        """The columns of a source, without open names: first those of every list, in order, then the others."""
        return {name: column.kind for name, column in list_columns(_source(source)).items()}

    def dependencies(
        self, source: str, fields: Iterable[str] | None = None, where: Iterable[str] | None = None
    ) -> tuple[str, ...]:
        """The tables that a list of a source is read from; ``series`` stands for the counts of samples.

        Parameters
        ----------
        fields : the columns that are listed; None for the source's own.
        where : the keys of its filters; None for any of them.
        """
        cls = _source(source)
        known = list_columns(cls)
        names = [name for name, column in known.items() if column.default] if fields is None else fields
        members = [known[name].member for name in names if name in known]
        for key in cls.filters if where is None else where:
            if key in cls.filters:
                members.append(cls.members()[cls.filters[key].field])
        found = dict.fromkeys((cls.table, *tables_of(cls, members)))
        matches = {
            cls.filters[key].match for key in (cls.filters if where is None else where) if key in cls.filters
        }
        found |= dict.fromkeys(_BEHIND[match] for match in sorted(matches & set(_BEHIND)))
        return tuple(found)

    def _narrowed(
        self,
        db: sqlite3.Connection,
        cls: type[Record],
        scope: Scope,
        where: Mapping[str, Plain],
        problems: list[Problem],
    ) -> Narrowed:
        reading = Reading(cls, scope.as_of)
        found: list[Condition] = []
        by: By = "scan"
        for key, value in where.items():
            loc = ("where", key)
            if key not in cls.filters:
                problems.append(Problem(loc, _not_applicable(cls, key)))
                continue
            if value is None:
                continue
            try:
                found.append(_filter(reading, scope, key, value))
            except Invalid as error:
                problems += error.problems
                continue
            if cls.filters[key].match != "contains":
                by = "index"
            elif (named := rows_named(db, cls, value)) is not None:
                found.append(named)
                by = "name" if by == "scan" else by
        return Narrowed(reading.source(), cls, scope, found, by)

    def _shown(
        self,
        db: sqlite3.Connection,
        cls: type[Record],
        reading: Reading,
        scope: Scope,
        fields: Sequence[str] | None,
        problems: list[Problem],
    ) -> tuple[list[_Shown], dict[str, list[str]]]:
        known = list_columns(cls)
        if fields is None:
            fields = [name for name, column in known.items() if column.default]
        shown: dict[str, _Shown] = {}
        unfilled: dict[str, list[str]] = {}
        for n, name in enumerate(fields or ["id"]):
            if name in shown:
                continue
            if name in known:
                shown[name] = _plain(reading, known[name], dialect_of(db))
                continue
            try:
                shown[name] = self._open(db, cls, reading, scope, name, ("fields", n))
            except Invalid as error:
                problems += error.problems
                continue
            if shown[name].kind == "null":
                unfilled[name] = self._near(db, cls, split_name(name), scope)
        return list(shown.values()), unfilled

    def _near(self, db: sqlite3.Connection, cls: type[Record], path: Path, scope: Scope) -> list[str]:
        """The names that are filled and differ from a dotted name in the first part that none has."""
        for depth in range(1, len(path)):
            under = self.seen(db, cls, path[:depth], scope).under
            if path[depth] not in under:
                close = near(path[depth], under)
                return [join_name((*path[:depth], one, *path[depth + 1 :])) for one in close]
        return []

    def _open(
        self,
        db: sqlite3.Connection,
        cls: type[Record],
        reading: Reading,
        scope: Scope,
        name: str,
        loc: tuple[str | int, ...],
    ) -> _Shown:
        path = split_name(name)
        member = cls.members().get(path[0])
        if member is None or not member.open:
            raise Invalid(Problem(loc, self._unknown(cls, name, path)))
        seen = self.seen(db, cls, path, scope)
        if len(path) == 1:
            seen.is_object = True
        refuse_branches(name, path, seen, loc)
        keys = path[1:]
        return _Shown(
            name,
            reading.field(path[0]),
            seen.kind,
            lambda text: None if text == "{}" else flat(descend(json_of(text), keys)),
            # As in a column of numbers, whole numbers beside others are floats, also where a text is among them.
            rounds=seen.kind == "mixed" and {"integer", "number"} <= seen.kinds,
        )

    def seen(self, db: sqlite3.Connection, cls: type[Record], path: Path, scope: Scope) -> Seen:
        """The values of the records in scope under a dotted name; read again after a record changed."""
        return self._seen.get((cls.table, scope, path), [cls.table], lambda: seen_at(db, cls, path, scope))

    def _unknown(self, cls: type[Record], name: str, path: Path) -> str:
        known = list_columns(cls)
        under = [other for other, column in known.items() if column.path[: len(path)] == path]
        if under:
            listed = ", ".join(f"'{other}'" for other in under)
            return f"'{name}' is an object, not a value. The names under it are {listed}."
        opened = [member.name for member in cls.members().values() if member.open]
        also = f" Names under {', '.join(f'{other}.' for other in opened)} are free." if opened else ""
        there = [*known, *(join_name((other, *path[1:])) for other in opened if path[1:])]
        meant = re.sub(r"^(cell|test|design)(?=$|_)", lambda word: _CALLED[word[1]], name)
        if meant != name and meant in there:
            return f"The source '{cls.listed_as}' has no column '{name}'. Did you mean '{meant}'?{also}"
        return f"The source '{cls.listed_as}' has no column '{name}'. {instead(name, there, 'columns')}{also}"


_CALLED = {"cell": "instance", "test": "measurement", "design": "specification"}
"""Word of people -> what names of columns begin with: of ``cell_name`` ``instance_name``."""


def _source(source: str) -> type[Record]:
    cls = SOURCES.get(source)
    if cls is None:
        raise Invalid(
            Problem(("source",), f"There is no source '{source}'. {instead(source, SOURCES, 'sources')}")
        )
    return cls


def _plain(reading: Reading, column: ListColumn, dialect: Dialect) -> _Shown:
    expression = reading.field(column.member.name)
    if column.path:
        place = ".".join(column.path[1:])
        part = dialect.json_number if column.kind == "number" else dialect.json_text
        return _Shown(column.name, part(expression, f"$.{place}"), column.kind)
    if column.member.storage == "json":
        return _Shown(column.name, expression, column.kind, lambda text: flat(json_of(text)))
    return _Shown(column.name, expression, column.kind)


def _table(shown: Sequence[_Shown], rows: list[tuple[Plain, ...]]) -> Table:
    """The rows as typed columns; an empty answer keeps its columns and kinds."""
    columns = {}
    lists: Sequence[Sequence[Plain]] = list(zip(*rows, strict=True)) if rows else [()] * len(shown)
    for column, values in zip(shown, lists, strict=True):
        read = column.read
        plain = values if read is None else [None if value is None else read(value) for value in values]
        try:
            columns[column.name] = beside_floats(plain) if column.rounds else _column(plain, column.kind)
        except (TypeError, ValueError, OverflowError) as error:
            raise Damaged(
                f"Column '{column.name}' of a list has a value of the wrong kind ({error}). "
                "Run 'workbench verify', which names the record."
            ) from error
    return Table(columns, len(rows))


def _column(values: Sequence[Plain], kind: Kind) -> Column:
    if kind != "datetime":
        return Column.from_python(values, kind)
    # They are stored as microseconds.
    counted = Column.from_python(values, "integer")
    return Column("datetime", counted.values, counted.valid)


class Narrowed:
    """The FROM and WHERE of the records in scope that pass filters.

    ``by`` says how SQLite finds them: by their names, by an ``index``, or only by a ``scan`` of all in scope.
    """

    def __init__(
        self, source: str, cls: type[Record], scope: Scope, filters: Sequence[Condition], by: By = "index"
    ) -> None:
        self.by = by
        # Otherwise SQLite reads all records of the project by their index.
        self.source = source.replace(" AS t", " AS t NOT INDEXED", 1) if by == "name" else source
        self.parts = reach_by_project(cls, scope)
        self.rest = _all([("true", []), *filters])
        self.clause, self.params = _all([reach(cls, scope), *filters])


def _all(conditions: Sequence[Condition]) -> Condition:
    clause = " AND ".join(f"({text})" for text, _ in conditions)
    return clause, [param for _, params in conditions for param in params]


def _filter(reading: Reading, scope: Scope, key: str, value: Plain) -> Condition:
    cls = reading.cls
    wanted = cls.filters[key]
    if wanted.match == "in":
        return among(reading.field(wanted.field), value if isinstance(value, list | tuple) else [value])
    loc = ("where", key)
    if isinstance(value, list | tuple):
        raise Invalid(Problem(loc, f"'{key}' takes one value, not a list."))
    choices = cls.members()[wanted.field].choices
    if choices and value not in choices:
        listed = ", ".join(f"'{choice}'" for choice in choices)
        raise Invalid(Problem(loc, f"'{key}' is one of {listed}, not {value!r}."))
    if not isinstance(value, str) or not sound(value):
        return "false", []
    if wanted.match == "study":
        return assigned(cls, value, scope)
    if wanted.match == "contains":
        return holds('t."name_folded"', value)
    field = reading.field(wanted.field)
    if wanted.match == "batch":
        named, forms = equal("name_folded", fold(value))
        meant = f"SELECT id FROM batches WHERE id = ? OR {named}"  # noqa: S608
        return f"{field} IN ({meant})", [value, *forms]
    return equal(field, value)


def _not_applicable(cls: type[Record], key: str) -> str:
    sources = [source for source, other in SOURCES.items() if key in other.filters]
    if not sources:
        names = {name for other in SOURCES.values() for name in other.filters}
        return f"There is no filter '{key}'. {instead(key, sorted(names), 'filters')}"
    listed = ", ".join(f"'{source}'" for source in sources)
    return f"The filter '{key}' does not apply to '{cls.listed_as}'; it applies to {listed}."
