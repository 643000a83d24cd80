"""SQL from the classes of records: columns, indexes, joins behind a field, rows as records, and the scope (`reach`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cache, lru_cache
from typing import TypeAlias

import orjson
from pydantic import BaseModel

from ...errors import Damaged
from ...records import KINDS, Member, Record
from ...records.record import Link, Named, Unique
from ...records.values import composed
from ...table import Plain, from_micros, to_micros
from ..db.dialect import SqlValue as SqlValue
from ..scope import EVERYTHING, Scope, Within

# Which records are in which studies: table -> (column of the study, table of the records, their column).
ASSIGNMENTS = {
    "study_measurements": ("study_id", "measurements", "measurement_id"),
    "study_simulations": ("study_id", "simulations", "simulation_id"),
}
_ADVICE = "Run 'workbench verify', which names the record, and restore a backup."
Row: TypeAlias = dict[str, Plain]
"""A row of a query by column: what SQLite gives, whose types the reader knows from the table."""
_SQL_TYPE = {
    "text": "TEXT",
    "date": "TEXT",
    "json": "TEXT",
    "integer": "INTEGER",
    "boolean": "INTEGER",
    "datetime": "INTEGER",
    "number": "REAL",
}


def fold(text: str) -> str:
    """The text with case ignored, by Unicode."""
    return text.casefold()


@cache
def stored(cls: type[Record]) -> tuple[Member, ...]:
    """The fields that are columns of the kind's table, in their order."""
    return tuple(member for member in cls.members().values() if member.stored)


def column_sql(member: Member) -> str:
    """The SQL declaration of the column of a field, as it is in its table. A migration for a new field adds it."""
    words = [f'"{member.name}"', _SQL_TYPE[member.storage]]
    if member.name == "id":
        words.append("PRIMARY KEY")
    if member.required:
        words.append("NOT NULL")
    if member.storage == "json":
        nothing = "" if member.required else f'"{member.name}" IS NULL OR '
        words.append(f'CHECK ({nothing}json_valid("{member.name}"))')
    if member.link is not None:
        words.append(f'REFERENCES "{member.link.table}"("id")')
    return " ".join(words)


def column_texts(cls: type[Record]) -> dict[str, str]:
    """The declarations of all columns of a kind's table, by name."""
    return {member.name: column_sql(member) for member in stored(cls)} | {
        "name_folded": '"name_folded" TEXT NOT NULL'
    }


def index_texts(cls: type[Record]) -> Iterable[str]:
    """The statements that make the indexes of a kind's table, for its uniqueness rules and links."""
    for n, unique in enumerate(cls.unique):
        terms = [term for term, _ in unique_terms(cls, unique)]
        guard = [f'"{name}" IS NOT NULL' for name in unique.fields if _exempts(cls, name)]
        where = f" WHERE {' AND '.join(guard)}" if guard else ""
        yield f'CREATE UNIQUE INDEX "{cls.table}_unique_{n}" ON "{cls.table}" ({", ".join(terms)}){where}'
    for member in stored(cls):
        if member.link is not None and member.name not in ("organization_id", "created_by"):
            yield f'CREATE INDEX "{cls.table}_{member.name}" ON "{cls.table}" ("{member.name}")'


def _exempts(cls: type[Record], name: str) -> bool:
    """Whether a uniqueness rule does not apply if this field is null: true for a content hash, false for a project."""
    return not cls.members()[name].required and name not in ("organization_id", "project_id")


def unique_terms(cls: type[Record], unique: Unique) -> list[tuple[str, str]]:
    """The SQL terms of a uniqueness rule, each with the column its value comes from."""
    terms = []
    for name in unique.fields:
        column = "name_folded" if unique.folded and name == "name" else name
        nullable = name in ("organization_id", "project_id") and not cls.members()[name].required
        terms.append((f"COALESCE(\"{column}\", '')" if nullable else f'"{column}"', column))
    return terms


def encode(record: Record) -> dict[str, SqlValue]:
    """The row of a record: times as microseconds, objects as JSON text."""
    row = {member.name: _encode(getattr(record, member.name), member) for member in stored(type(record))}
    row["name_folded"] = fold(record.name)
    return row


def compose(values: Mapping[str, Plain], kept: str | None = None) -> dict[str, Plain]:
    """Values of a record with its name in the form in which names are kept, without blanks around it: one name is one,
    however it was typed. The name ``kept`` that an older version wrote stays as it is."""
    name = values.get("name")
    return {**values, "name": composed(name).strip()} if isinstance(name, str) and name != kept else dict(values)


def _encode(value: Plain, member: Member) -> SqlValue:
    if value is None:
        return None
    if member.storage == "json":
        return orjson.dumps(_plain(value)).decode()
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, date):
        return value.isoformat()
    return int(value) if isinstance(value, bool) else value


def _plain(value: Plain) -> Plain:
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_none=True)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def json_of(text: Plain) -> Plain:
    """The value of a stored JSON text.

    Raises
    ------
    Damaged
        If the stored value is damaged.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise Damaged(f"A stored JSON text is damaged ({error}). {_ADVICE}") from error


def moment_of(micros: Plain) -> datetime:
    """A stored time.

    Raises
    ------
    Damaged
        If the stored value is damaged.
    """
    try:
        return from_micros(micros)
    except (OverflowError, TypeError, ValueError) as error:
        raise Damaged(f"A stored time is damaged ({error}). {_ADVICE}") from error


_READ: dict[str, Callable[[Plain], Plain]] = {
    "json": json_of,
    "datetime": moment_of,
    "date": date.fromisoformat,
    "boolean": bool,
}


@cache
def _reads(cls: type[Record]) -> dict[str, Callable[[Plain], Plain] | None]:
    """What reads the stored value of each field; None where it is the value itself."""
    return {name: _READ.get(member.storage) for name, member in cls.members().items()}


def decode(cls: type[Record], row: Mapping[str, SqlValue]) -> dict[str, Plain]:
    """The values of a row, the reverse of `encode`; read-only fields may be among them."""
    reads = _reads(cls)
    return {
        name: value if value is None or (read := reads[name]) is None else read(value)
        for name, value in row.items()
        if name in reads
    }


def reach(cls: type[Record], scope: Scope, alias: str = "t") -> tuple[str, list[SqlValue]]:
    """The condition that limits a query to the records in scope. Every query on records has it.

    A record of a project is in scope in that project; one without a project in all projects of its organization.
    """
    clause, params = _owned(cls, scope, alias)
    if scope.as_of is None or cls.listed_as is None:
        return clause, params
    return f'({clause}) AND {alias}."created_at" <= ?', [*params, scope.as_of]


def _owned(cls: type[Record], scope: Scope, alias: str) -> tuple[str, list[SqlValue]]:
    """The condition for the records in scope, whenever they were made."""
    if cls.scoping == "everyone":
        return "true", []
    if cls.scoping == "itself":
        return f'{alias}."id" = ?', [scope.organization_id]
    owned = f'{alias}."organization_id" = ?'
    if cls.shared:
        owned = f'({owned} OR {alias}."organization_id" IS NULL)'
    among = "IN (SELECT value FROM json_each(?))"
    if cls.scoping == "organization":
        if scope.projects is None or cls.table != "projects":
            return owned, [scope.organization_id]
        return f'{owned} AND {alias}."id" {among}', [scope.organization_id, values_of(scope.projects)]
    if scope.project_id is None and scope.projects is not None:
        several = f'({alias}."project_id" IS NULL OR {alias}."project_id" {among})'
        return f"{owned} AND {several}", [scope.organization_id, values_of(scope.projects)]
    inside = f'({alias}."project_id" IS NULL OR {alias}."project_id" = ?)'
    return f"{owned} AND {inside}", [scope.organization_id, scope.project_id]


def reach_by_project(cls: type[Record], scope: Scope) -> list[tuple[str, list[SqlValue]]]:
    """Conditions that divide the records in scope: those without a project, and those of the scope's project. SQLite
    reads each of them in the order of their rows by the index of projects."""
    clause, params = reach(cls, scope)
    if cls.scoping != "project" or scope.project_id is None:
        return [(clause, params)]
    return [
        (f'({clause}) AND t."project_id" IS NULL', params),
        (f'({clause}) AND t."project_id" = ?', [*params, scope.project_id]),
    ]


@lru_cache(maxsize=256)
def owned_within(scope: Within) -> tuple[str, tuple[SqlValue, ...]]:
    """The condition that limits a query on sampled data, with a column ``owner``, to records in scope."""
    if scope is EVERYTHING:
        return "true", ()
    conditions: list[str] = []
    params: list[SqlValue] = []
    for cls in KINDS.values():
        if cls.samples:
            clause, more = reach(cls, scope)
            conditions.append(f'exists (select 1 from "{cls.table}" as t where t.id = owner and {clause})')  # noqa: S608
            params += more
    return f"({' or '.join(conditions)})", tuple(params)


class Reading:
    """Collects the joins and expressions of one query on a kind. Ask for all fields first, then for `source`.

    ``as_of`` is that of the scope: counts are then those of that time.
    """

    def __init__(self, cls: type[Record], as_of: int | None = None) -> None:
        self.cls = cls
        self._as_of = as_of
        self._joins: dict[str, str] = {}

    def field(self, name: str) -> str:
        """The SQL expression of a field, stored or read only."""
        return self._field(self.cls, name, "t")

    def source(self) -> str:
        """The FROM clause with the joins of all fields asked for so far."""
        return " ".join([f'"{self.cls.table}" AS t', *self._joins.values()])

    def _field(self, cls: type[Record], name: str, alias: str) -> str:
        member = cls.members()[name]
        if member.through is not None:
            link = cls.members()[member.through.link].link
            joined = self._join(_link(link), alias, member.through.link)
            return self._field(KINDS[_link(link).table], member.through.field, joined)
        if member.counted is not None:
            counted = member.counted
            then = self._then(counted.table)
            return f'(SELECT count(*) FROM "{counted.table}" WHERE "{counted.link}" = {alias}."id"{then})'  # noqa: S608
        if member.named is not None:
            return _names(member.named, f'{alias}."id"', self._then(member.named.table))
        if member.sampled is not None:
            return sampled_rows(f'{alias}."id"', member.sampled.dataset, self._as_of)
        return f'{alias}."{name}"'

    def _then(self, table: str) -> str:
        """What limits a count to the records that there were; who is in a study is not dated."""
        if self._as_of is None or table not in KINDS:
            return ""
        return f' AND "created_at" <= {self._as_of:d}'

    def _join(self, link: Link, alias: str, column: str) -> str:
        joined = f"{alias}_{column}"
        self._joins.setdefault(
            joined, f'LEFT JOIN "{link.table}" AS {joined} ON {joined}."id" = {alias}."{column}"'
        )
        return joined


def _link(link: Link | None) -> Link:
    if link is None:
        raise TypeError("a field shown through another needs a link there")
    return link


def _names(named: Named, owner: str, then: str = "") -> str:
    """The SQL for what follows a prefix in a field of the records that point to an owner, as one text."""
    start = len(named.prefix)
    return (
        "(SELECT coalesce(group_concat(found, ', '), '') FROM ("  # noqa: S608
        f'SELECT DISTINCT substr("{named.field}", {start + 1}) AS found FROM "{named.table}" '
        f'WHERE "{named.link}" = {owner} AND substr("{named.field}", 1, {start}) = \'{named.prefix}\'{then} '
        "ORDER BY found))"
    )


def sampled_rows(owner: str, dataset: str, as_of: int | None = None) -> str:
    """The SQL for the number of rows of an owner's published data, or of those that it had at a time.

    A list has too many of them to check the checksum of each, so the number is compared with that in the log.
    """
    if as_of is not None:
        return (
            f"(SELECT \"rows\" FROM series_log WHERE owner = {owner} AND dataset = '{dataset}' "  # noqa: S608
            f"AND revision <= {as_of:d} ORDER BY revision DESC LIMIT 1)"
        )
    same = "l.owner = s.owner AND l.dataset = s.dataset AND l.revision = s.revision"
    return (
        '(SELECT CASE WHEN l."rows" IS s."rows" THEN s."rows" ELSE damaged_series(s.owner, s.dataset) END '  # noqa: S608
        f"FROM series AS s LEFT JOIN series_log AS l ON {same} "
        f"WHERE s.owner = {owner} AND s.dataset = '{dataset}')"
    )


def tables_of(cls: type[Record], members: Iterable[Member]) -> Iterator[str]:
    """The other tables that these fields of a kind are read from; `series` stands for counts of samples."""
    for member in members:
        yield from _tables_of(cls, member)


def _tables_of(cls: type[Record], member: Member) -> Iterator[str]:
    if member.through is not None:
        target = KINDS[_link(cls.members()[member.through.link].link).table]
        yield target.table
        yield from _tables_of(target, target.members()[member.through.field])
    if member.counted is not None:
        yield member.counted.table
    if member.named is not None:
        yield member.named.table
    if member.sampled is not None:
        yield "series"


def values_of(ids: Iterable[str]) -> str:
    """A list of texts as one parameter for ``IN (SELECT value FROM json_each(?))``."""
    return orjson.dumps(list(ids)).decode()


def rows_as_dicts(cursor: sqlite3.Cursor) -> list[Row]:
    names = [item[0] for item in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


def select(reading: Reading, fields: Sequence[str]) -> str:
    """The SELECT list of these fields, each under its own name."""
    return ", ".join(f'{reading.field(name)} AS "{name}"' for name in fields)
