"""Search in all kinds of records: in names by any part, in free text by the beginnings of words.

Every record that search finds has one entry. Two FTS5 indexes are made of the entries: trigrams of the folded names,
and words of the texts. A search for two letters is too short for trigrams and scans the entries.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias, TypeVar

import orjson

from ...errors import BadRequest, Invalid, Problem, instead
from ...messages import counted, with_article
from ...records import ENTITIES, Record
from ...table import Plain, to_micros
from ..db.dialect import dialect_of
from ..scope import Scope
from . import name_order
from .conditions import Condition, folded_forms, sound
from .name_order import Entry, NameOrder
from .tables import SqlValue, decode, fold, moment_of, rows_as_dicts, values_of

T = TypeVar("T")
RULE = 1
"""How a record becomes an entry. The number rises when a record is found by other words than before."""
_Entry: TypeAlias = tuple[str, int, str, str, str | None, str | None, int, str | None]
"""A hit in the store: entity, place among its kind, id, name, project, parent, time of creation, name of the parent."""
ORDER = {entity: place for place, entity in enumerate(ENTITIES)}
WITHOUT_RECORDS = (
    *("parameterized_model", "experiment_template", "optimization_template"),
    *("optimization", "pipeline"),
)
"""Kinds that the interface knows and a store has none of: whoever asks for them finds nothing."""
MANY = 500
"""Of more hits, the first are found in the order of names, see `name_order`."""
_INDEX_VERSION = 4
"""Of the files of FTS5: https://sqlite.org/fts5.html"""


@dataclass(frozen=True)
class Hit:
    """A record that was found; ``entity_type`` names its kind as HTTP does; ``parent_id`` and ``parent_name`` are of
    the record one level up, as the cell of a test."""

    id: str
    entity_type: str
    name: str
    project_id: str | None
    parent_id: str | None
    created_at: datetime
    parent_name: str | None = None


@dataclass(frozen=True)
class Found:
    """A page of hits; ``total`` counts what ``per_type`` lets through."""

    results: list[Hit]
    query: str
    total: int
    limit: int
    offset: int

    def __repr__(self) -> str:
        lines = [f"{len(self.results)} of {counted(self.total, 'hit')} for '{self.query}'"]
        for hit in self.results:
            of = f", of '{hit.parent_name}'" if hit.parent_name else ""
            lines.append(f"  {hit.entity_type.replace('_', ' ')} '{hit.name}'{of}")
        return "\n".join(lines)


class Searched(Protocol):
    """The store that is searched."""

    name_order: NameOrder

    def snapshot(self) -> AbstractContextManager[sqlite3.Connection]: ...


def index(db: sqlite3.Connection, record: Record) -> None:
    """Write the entry of a record, inside the transaction that writes the record."""
    cls = type(record)
    if cls.entity is None:
        return
    forget(db, [record.id])
    words = [
        str(getattr(record, name))
        for name, member in cls.members().items()
        if member.searched is not None and member.searched.how == "words" and getattr(record, name)
    ]
    parent = cls.parent()
    text = "\n".join(words)
    row: dict[str, SqlValue] = {
        "entity": cls.entity,
        "id": record.id,
        "organization_id": getattr(record, "organization_id", None),
        "project_id": getattr(record, "project_id", None),
        "parent_id": getattr(record, parent.name) if parent is not None else None,
        "created_at": to_micros(record.created_at),
        "name": record.name,
        "folded": fold(record.name),
        "words": text,
        **dialect_of(db).entry_columns(text),
    }
    marks = ", ".join("?" * len(row))
    db.execute(f"INSERT INTO search_entries ({', '.join(row)}) VALUES ({marks})", [*row.values()])  # noqa: S608


def forget(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    """Drop the entries of deleted records."""
    # One at a time: for a list PostgreSQL may read the whole table.
    db.executemany("DELETE FROM search_entries WHERE id = ?", [[id] for id in ids])


def rebuild(db: sqlite3.Connection) -> None:
    """Write the entries of all records again, inside a transaction."""
    for cls in ENTITIES.values():
        for row in rows_as_dicts(db.execute(f'SELECT * FROM "{cls.table}" ORDER BY id')):  # noqa: S608
            index(db, cls.model_validate(decode(cls, row)))


def search(
    store: Searched,
    text: str,
    scope: Scope,
    *,
    limit: int = 25,
    offset: int = 0,
    per_type: int = 5,
    entity_types: Iterable[str] | None = None,
) -> Found:
    """Records of the scope's organization whose name holds ``text``, or whose notes or description have words
    that begin with its words. Hits by name come first within their kind, kinds in their fixed order.

    With a project in the scope, what belongs to a project is restricted to that one; records without a
    project, and projects, models and materials, are not. Without one, nothing is restricted.

    Raises
    ------
    Invalid
        For a text shorter than two characters, a number out of its range, or a kind that does not exist.
    BadRequest
        For a text of blanks only.
    """
    entities = kinds_of(entity_types)
    nothing = at_once(text, limit=limit, offset=offset, per_type=per_type, entity_types=entities)
    if nothing is not None:
        return nothing
    wanted = text.strip()
    with store.snapshot() as db:
        found = _ranked(db, store.name_order, wanted, scope, entities, per_type)
    found.sort(key=lambda row: (ORDER[row[0]], row[1]))
    hits = [
        Hit(id, entity, name, project, parent, moment_of(created), parent_name)
        for entity, _, id, name, project, parent, created, parent_name in found[offset : offset + limit]
    ]
    return Found(hits, wanted, len(found), limit, offset)


def at_once(
    text: str,
    *,
    limit: int = 25,
    offset: int = 0,
    per_type: int = 5,
    entity_types: Iterable[str] | None = None,
) -> Found | None:
    """The empty answer to a search that cannot find anything, without reading the store; None for all others. Errors as
    ``search``."""
    entities = kinds_of(entity_types)
    wanted = _checked(text, limit, offset, per_type, entities or ())
    if "\0" in wanted or not sound(wanted) or entities == []:
        return Found([], wanted, 0, limit, offset)
    return None


def kinds_of(given: Iterable[str] | None) -> list[str] | None:
    """The kinds that are asked for and that a store can have, each once; None for all. Invalid if it is not a list."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable | None):
        raise Invalid(Problem(("entity_types",), "'entity_types' must be a list of kinds.", "list_type"))
    if given is None:
        return None
    return [one for one in dict.fromkeys(map(str, given)) if one not in WITHOUT_RECORDS]


def _checked(text: str, limit: int, offset: int, per_type: int, entities: Iterable[str]) -> str:
    problems = [
        Problem(("entity_types",), f"There is no kind '{one[:80]}'. {instead(one, ENTITIES, 'kinds')}", "enum")
        for one in entities
        if one not in ENTITIES
    ]
    if len(text) < 2 or (text.strip() and len(text.strip()) < 2):
        problems.append(Problem(("q",), "A search text has at least 2 characters.", "string_too_short"))
    for name, value, least, most in (
        ("limit", limit, 1, 100),
        ("offset", offset, 0, None),
        ("per_type", per_type, 1, 20),
    ):
        if not isinstance(value, int) or isinstance(value, bool):
            problems.append(Problem((name,), f"'{name}' must be a whole number.", "out_of_range"))
        elif value < least or (most is not None and value > most):
            bounds = f"at least {least}" if most is None else f"from {least} to {most}"
            problems.append(Problem((name,), f"'{name}' is {bounds}, not {value}.", "out_of_range"))
    if problems:
        raise Invalid(problems)
    if not text.strip():
        raise BadRequest("A search text must hold more than blanks.")
    return text.strip()


def _ranked(
    db: sqlite3.Connection,
    names: NameOrder,
    text: str,
    scope: Scope,
    entities: list[str] | None,
    per_type: int,
) -> list[_Entry]:
    """The best ``per_type`` entries of each kind: (entity, place, id, name, project, parent, created, name of the
    parent)."""
    reach, bound = _reach(scope, entities)
    words = dialect_of(db).words_with(text)
    kinds = entities or list(ENTITIES)
    each = [_hits(db, names, one, words, (reach, bound), kinds, per_type) for one in folded_forms(text)]
    hits = " UNION ALL ".join(query for query, _ in each if query)
    params = [value for _, given in each for value in given]
    if not hits:
        return []
    statement = f"""
        WITH hits (entry, rank) AS ({hits}),
        ranked AS (
            SELECT e.*, min(hits.rank) AS rank FROM hits JOIN search_entries AS e ON e.entry = hits.entry
            WHERE {reach} GROUP BY e.entry
        ),
        placed AS (
            SELECT *, row_number() OVER (PARTITION BY entity ORDER BY rank, folded, created_at, id) AS place
            FROM ranked
        )
        SELECT entity, place, id, name, project_id, parent_id, created_at,
            (SELECT p.name FROM search_entries AS p WHERE p.id = placed.parent_id LIMIT 1)
        FROM placed WHERE place <= ?
        """  # noqa: S608
    return db.execute(statement, [*params, *bound, per_type]).fetchall()


def _reach(scope: Scope, entities: list[str] | None) -> Condition:
    """The condition on an entry ``e`` of these kinds that the scope may see."""
    reach = "(e.organization_id = ? OR e.organization_id IS NULL)"
    bound: list[SqlValue] = [scope.organization_id]
    if scope.project_id is not None:
        everywhere = [entity for entity, cls in ENTITIES.items() if cls.everywhere]
        reach += " AND (e.project_id IS NULL OR e.project_id = ? OR e.entity IN (SELECT value FROM json_each(?)))"
        bound += [scope.project_id, values_of(everywhere)]
    if scope.projects is not None:
        of_project = "coalesce(iif(e.entity = 'project', e.id, e.project_id), '')"
        reach += f" AND {of_project} IN (SELECT '' UNION ALL SELECT value FROM json_each(?))"  # noqa: S608
        bound.append(values_of(scope.projects))
    if entities is not None:
        reach += " AND e.entity IN (SELECT value FROM json_each(?))"
        bound.append(values_of(entities))
    return reach, bound


def _hits(
    db: sqlite3.Connection,
    names: NameOrder,
    folded: str,
    words: Condition | None,
    reach: Condition,
    entities: list[str],
    per_type: int,
) -> Condition:
    """A query of entries and their ranks that holds the best ones of each kind; empty if there are none."""
    matched = dialect_of(db).names_with(folded) if len(folded) >= 3 else None
    now = names.revisions()
    if names.is_settled(now):
        return _listed(names.first(db, now, folded, words, entities, reach, per_type))
    last, by_name, by_words = _first(db, matched, words)
    names.note(now, last)
    if matched is not None and max(len(by_name), len(by_words)) <= MANY:
        return _ranked_few(folded, by_name, by_words)
    if last <= name_order.MOST_ENTRIES:
        return _listed(names.first(db, now, folded, words, entities, reach, per_type))
    hits, params = _name_hits(folded, matched)
    if words is not None:
        hits += f" UNION ALL SELECT entry, 3 FROM ({words[0]})"  # noqa: S608
        params += words[1]
    return hits, params


def _listed(found: list[Entry]) -> Condition:
    """The entries as a query. Their number decides how PostgreSQL looks for them, so few are values of the statement
    and not a list."""
    if not found:
        return "", []
    if len(found) > MANY:
        entry, rank = (f"CAST(json_extract(value, '$[{n}]') AS INTEGER)" for n in (0, 1))
        pair = f"{entry} AS entry, {rank} AS rank"
        return f"SELECT {pair} FROM json_each(?)", [orjson.dumps(found).decode()]  # noqa: S608
    filled = _filled(found)
    return f"VALUES {', '.join(['(?, ?)'] * len(filled))}", [value for one in filled for value in one]


def _filled(values: Sequence[T]) -> list[T]:
    """Values of a statement, some of them twice: their number is rounded up, so that there are few statements."""
    wanted = 4
    while wanted < len(values):
        wanted *= 2
    return [*values, *[values[0]] * (wanted - len(values))]


def _first(
    db: sqlite3.Connection, matched: Condition | None, words: Condition | None
) -> tuple[int, list[int], list[int]]:
    """The number of the last entry, and the entries that the indexes find by name and by words, at most one more than
    ``MANY``; none where the text is too short for an index. All is asked at once: on PostgreSQL each question is a
    turn."""
    asked = [] if matched is None else [one for one in (matched, words) if one is not None]
    parts = ["SELECT max(entry) FROM search_entries", *(_entries(f"{query} LIMIT ?") for query, _ in asked)]
    params = [one for _, given in asked for one in (*given, MANY + 1)]
    last, *found = db.execute(f"SELECT {', '.join(f'({part})' for part in parts)}", params).fetchone()
    each = [[int(entry) for entry in (one or "").split()] for one in found]
    by_name, by_words = (*each, [], [])[:2]
    return last or 0, by_name, by_words


def _entries(query: str) -> str:
    """All entries of a query in one text, with blanks between them."""
    return f"SELECT group_concat(CAST(entry AS TEXT), ' ') FROM ({query})"  # noqa: S608


def _ranked_few(folded: str, by_name: list[int], by_words: list[int]) -> Condition:
    """Entries that were found, with their ranks."""
    parts, params = [], list[SqlValue]()
    if by_name:
        filled = _filled(by_name)
        marks = ", ".join("?" * len(filled))
        parts.append(f"SELECT entry, {_RANK} FROM search_entries WHERE entry IN ({marks})")  # noqa: S608
        params += [folded, folded, *filled]
    if by_words:
        query, values = _listed([(entry, 3) for entry in by_words])
        parts.append(query)
        params += values
    return " UNION ALL ".join(parts), params


def _counting(query: str) -> str:
    return f"SELECT count(*) FROM ({query} LIMIT ?)"  # noqa: S608


def _is_many(db: sqlite3.Connection, found: Condition) -> bool:
    """Whether an index finds more entries than can be sorted in no time."""
    query, params = found
    (count,) = db.execute(_counting(query), [*params, MANY + 1]).fetchone()
    return bool(count > MANY)


def rows_named(db: sqlite3.Connection, cls: type[Record], text: Plain) -> Condition | None:
    """A condition that finds the records whose names may hold a text by the index of names, where that is quicker than
    to look at all names: a text of three letters or more that few names hold."""
    forms = folded_forms(text) if isinstance(text, str) and sound(text) else [""]
    if cls.entity is None or min(map(len, forms)) < 3 or "\0" in forms[0]:
        return None
    each = [dialect_of(db).names_with(folded) for folded in forms]
    entries, params = " UNION ".join(query for query, _ in each), [value for _, given in each for value in given]
    if _is_many(db, (entries, params)):
        return None
    held = f'SELECT n.rowid FROM search_entries AS e CROSS JOIN "{cls.table}" AS n ON n.id = e.id'  # noqa: S608
    return f"t.rowid IN ({held} WHERE e.entry IN ({entries}))", params


_RANK = "CASE WHEN folded = ? THEN 0 WHEN instr(folded, ?) = 1 THEN 1 ELSE 2 END AS rank"


def _name_hits(folded: str, matched: Condition | None) -> Condition:
    """``matched`` is a query of the entries whose names hold the text, where an index finds them."""
    if matched is not None:
        query, params = matched
        return (
            f"SELECT entry, {_RANK} FROM search_entries WHERE entry IN ({query})",  # noqa: S608
            [folded, folded, *params],
        )
    return (
        f"SELECT entry, {_RANK} FROM search_entries WHERE instr(folded, ?) > 0",  # noqa: S608
        [folded, folded, folded],
    )


def check_copy(db: sqlite3.Connection, index: str) -> list[str]:
    """As ``check_index`` for one index, on a copy of it in memory: a connection that only reads is enough."""
    if wrong := wrong_version(db, index):
        return wrong
    texts = dict(db.execute("SELECT name, sql FROM main.sqlite_master"))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        copy.execute(texts["search_entries"])
        copy.execute(texts[index])
        for table in ("search_entries", *(f"{index}_{end}" for end in ("data", "idx", "docsize", "config"))):
            rows = db.execute(f'SELECT * FROM main."{table}"')  # noqa: S608
            marks = ", ".join("?" * len(rows.description))
            copy.execute(f'DELETE FROM "{table}"')  # noqa: S608
            copy.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)  # noqa: S608
        return check_index(copy, [index])


def wrong_version(db: sqlite3.Connection, index: str) -> list[str]:
    """A sentence if an index says that it has another version than SQLite gives it. SQLite then reads none of it, and
    its own check does not begin."""
    found = db.execute(f"SELECT v FROM main.{index}_config WHERE k = 'version'").fetchone()  # noqa: S608
    if found == (_INDEX_VERSION,):
        return []
    return [f"the index {index} says that it has the version {found and found[0]}, not {_INDEX_VERSION}"]


def check_index(db: sqlite3.Connection, indexes: Iterable[str] = ("search_names", "search_words")) -> list[str]:
    """Sentences about indexes that differ from the entries. Needs a connection that may write; writes nothing."""
    findings = []
    for index in indexes:
        try:
            db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")  # noqa: S608
        except sqlite3.DatabaseError as error:
            if not error.sqlite_errorname.startswith("SQLITE_CORRUPT"):
                raise
            findings.append(f"the index {index} does not agree with what it indexes ({error})")
    return findings


def check(db: sqlite3.Connection) -> list[str]:
    """Sentences about records without an entry, and entries that are without a record or differ from it."""
    findings = []
    for entity, cls in ENTITIES.items():
        rows = db.execute(
            f'SELECT t.id FROM "{cls.table}" AS t LEFT JOIN search_entries AS e '  # noqa: S608
            f"ON e.id = t.id AND e.entity = ? AND e.name = t.name AND e.folded = t.name_folded AND {_same(cls)} "
            "WHERE e.id IS NULL",
            [entity],
        )
        findings += [f"search does not know the {cls.label} '{id}' as it is" for (id,) in rows]
        rows = db.execute(
            f'SELECT id FROM search_entries WHERE entity = ? AND id NOT IN (SELECT id FROM "{cls.table}")',  # noqa: S608
            [entity],
        )
        findings += [f"search knows {with_article(cls.label)} '{id}' that is not there" for (id,) in rows]
    return findings


def _same(cls: type[Record]) -> str:
    """The SQL condition that an entry ``e`` agrees with its record ``t``."""
    members = cls.members()
    words = [n for n, one in members.items() if one.searched is not None and one.searched.how == "words"]
    said = " || ".join(f"COALESCE(char(10) || NULLIF(t.\"{name}\", ''), '')" for name in words) or "''"
    parent = cls.parent()
    pairs = {"created_at": "t.created_at", "parent_id": "NULL" if parent is None else f't."{parent.name}"'}
    pairs |= {name: f"t.{name}" if name in members else "NULL" for name in ("organization_id", "project_id")}
    return " AND ".join(
        [f"e.words = substr({said}, 2)", *(f"e.{name} IS {value}" for name, value in pairs.items())]
    )
