"""The dialect of PostgreSQL: statements of the store, which are written once for SQLite, in words of PostgreSQL.

The store's SQL is small and made from the declarations of the records. Most of it is the same in both; functions that
only SQLite has (``json_each``, ``instr``, ``iif`` ...) are made in PostgreSQL under the same names, see
``functions.sql``. What no function can do is done here, on the words of a statement, once for each text of it:

=====================================  ==================================================================
SQLite                                 PostgreSQL
=====================================  ==================================================================
``?``                                  ``$1``, ``$2`` ...
``insert or ignore``                   ``on conflict do nothing``
``insert or replace``                  ``on conflict (key) do update``, with each column that is given
``on conflict do update``              with the columns of the primary key
``a is b``, ``a is not b``             ``is not distinct from``, ``is distinct from``
``order by``                           nulls first, or last in a descending order
``limit ?`` with -1 for all            ``limit nullif(?, -1)``
``from (select ...)``                  with a name
``insert into t values``               with the columns of ``t``: here the rows of a table have a column more
``not indexed``, ``cross join ... on`` hints for SQLite alone; they are left out
=====================================  ==================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..db.dialect import BEHIND, Condition, Dialect, SqlValue, like, unforeseen_step
from .words import phrases, token_text

ROWID = "rowid"
"""The column of the order in which the rows of a table came; in SQLite each table has it, and ``*`` leaves it out."""
_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\s+|<>|<=|>=|\|\||->>|->|.""", re.DOTALL)
_ENDS_ORDER = {"limit", "offset", "returning", "union", "rows", "range"}
_AFTER_SOURCE = {
    *("where", "group", "order", "limit", "union", "join", "left", "cross", "on", "having", "returning", "set"),
    *("inner", "offset", "except", "intersect"),
}
_CHANGES = {"insert", "update", "delete"}
ROWS = "row_order"
"""The sequence that numbers the rows of all these tables."""
_NEVER_NULL = {ROWID, "id", "created_at", "revision", "entry", "place", "key"}
"""Columns of which no table has nulls. Those of a table that may be absent have an alias with a ``_``."""
_TYPES = {"integer": "bigint", "real": "double precision", "text": 'text collate "C"', "blob": "bytea"}
_FLAT = {"integer": "bigint", "real": "double precision", "text": "text", "blob": "bytea"}


@dataclass(frozen=True)
class TableShape:
    """What the dialect has to know of a table: its columns in their order, and those of its primary key."""

    columns: tuple[str, ...]
    key: tuple[str, ...]


@dataclass(frozen=True)
class Translated:
    """A statement of PostgreSQL: its text, whether it only reads, whether it answers with rows, and whether the order
    of rows, a column of their own in PostgreSQL, is to be left out of its answer."""

    text: str
    reads: bool
    answers: bool
    hides_rowid: bool


class PostgresDialect(Dialect):
    """Statements for a database whose tables are ``shapes``."""

    any_value = "to_json(?)"
    later = (
        "to_json(greatest((value #>> '{}')::bigint + case when (value #>> '{}')::bigint > ? then ? else 1 end, ?))"
    )
    in_listed_order = " order by cast(wanted.key as integer)"
    search_indexes = ()
    tables = "SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = current_schema()"

    def __init__(self, shapes: Mapping[str, TableShape]) -> None:
        self._shapes = shapes
        self.translated = lru_cache(maxsize=4096)(self._translated)

    def next_time(self, db: Any, now: int) -> int | None:  # Any: of SQLite or of PostgreSQL
        known: int | None = getattr(db, "clock", None)
        if known is None:
            return super().next_time(db, now)
        db.clock = max(known + (unforeseen_step() if known > now + BEHIND else 1), now)
        return int(db.clock)

    def array_of(self, expression: str) -> str:
        return f"cast(json_agg({expression}) as text)"

    def json_number(self, expression: str, path: str) -> str:
        return f"json_number({expression}, '{path}')"

    def entry_columns(self, words: str) -> dict[str, SqlValue]:
        return {"tokens": token_text(words)}

    def count_after(self, table: str, column: str) -> str:
        return f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), ?)"

    def names_with(self, folded: str) -> Condition:
        return "SELECT entry FROM search_entries WHERE folded LIKE ?", [f"%{like(folded)}%"]

    def words_with(self, text: str) -> Condition | None:
        wanted = [f"% {like(phrase)}%" for phrase in phrases(text)]
        if not wanted:
            return None
        each = " AND ".join(["tokens LIKE ?"] * len(wanted))
        return f"SELECT entry FROM search_entries WHERE {each}", [*wanted]  # noqa: S608

    def _translated(self, statement: str) -> Translated:
        tokens: list[str] = _TOKEN.findall(statement)
        return Translated(
            _Statement(tokens, self._shapes).text(),
            tokens[0].casefold() in ("select", "with"),
            tokens[0].casefold() not in _CHANGES or any(token.casefold() == "returning" for token in tokens),
            "*" in tokens and not any(token.casefold() == ROWID for token in tokens),
        )


class _Statement:
    """One statement, word by word."""

    def __init__(self, tokens: list[str], shapes: Mapping[str, TableShape]) -> None:
        self._tokens = tokens[:]
        self._shapes = shapes
        self._params = 0
        self._names = 0

    def text(self) -> str:
        self._hints()
        self._main()
        self._insert()
        self._order()
        self._sources()
        self._separators()
        return "".join(self._words()).strip()

    # Looking around

    def _at(self, n: int) -> str:
        return self._tokens[n].casefold() if 0 <= n < len(self._tokens) else ""

    def _next(self, n: int, step: int = 1) -> int:
        """The place of the next token that is not blank, after ``n``, or before it."""
        n += step
        while 0 <= n < len(self._tokens) and self._tokens[n].isspace():
            n += step
        return n

    def _closing(self, opened: int) -> int:
        depth = 0
        for n in range(opened, len(self._tokens)):
            depth += {"(": 1, ")": -1}.get(self._tokens[n], 0)
            if not depth:
                return n
        return len(self._tokens)

    def _find(self, *words: str, start: int = 0) -> int | None:
        """Where these words begin, one after another, if anywhere."""
        for n in range(start, len(self._tokens)):
            at = n
            for word in words:
                if self._at(at) != word:
                    break
                at = self._next(at)
            else:
                return n
        return None

    def _drop(self, n: int, count: int) -> None:
        """Empty ``count`` words from place ``n``."""
        for _ in range(count):
            after = self._next(n)
            self._tokens[n] = " "
            n = after

    # Rules

    def _hints(self) -> None:
        while (found := self._find("not", "indexed")) is not None:
            self._drop(found, 2)
        while (found := self._find("cross", "join")) is not None:
            self._drop(found, 1)

    def _main(self) -> None:
        while (found := self._find("main", ".")) is not None:
            self._drop(found, 2)

    def _insert(self) -> None:
        start = self._find("insert")
        if start is None:
            return
        way = ""
        if self._at(self._next(start)) == "or":
            way = self._at(self._next(self._next(start)))
            self._drop(self._next(start), 2)
        into = self._find("into", start=start)
        if into is None:
            return
        place = self._next(into)
        table = self._tokens[place].strip('"')
        after = self._next(place)
        shape = self._shapes.get(table)
        if shape is None:  # a table that a step has made for itself
            return
        if self._at(after) == "(":
            end = self._closing(after)
            given = [one.strip('"') for one in self._tokens[after + 1 : end] if one.strip() and one != ","]
        else:
            given = list(shape.columns)
            self._tokens[place] += f" ({', '.join(_quoted(given))})"
        if found := self._find("on", "conflict", start=after):
            do = self._next(self._next(found))
            if self._at(do) == "do" and self._at(self._next(do)) == "update":
                self._tokens[do] = f"({', '.join(_quoted(shape.key))}) do"
        elif way:
            self._on_conflict(way, given, shape)

    def _on_conflict(self, way: str, given: list[str], shape: TableShape) -> None:
        changed = [name for name in given if name not in shape.key]
        text = " ON CONFLICT DO NOTHING"
        if way == "replace" and changed:
            sets = ", ".join(f"{name} = excluded.{name}" for name in _quoted(changed))
            text = f" ON CONFLICT ({', '.join(_quoted(shape.key))}) DO UPDATE SET {sets}"
        returning = self._find("returning")
        self._tokens.insert(len(self._tokens) if returning is None else returning, f"{text} ")

    def _order(self) -> None:
        start = 0
        while (found := self._find("order", "by", start=start)) is not None:
            start = self._next(self._next(found))
            self._order_terms(start)

    def _order_terms(self, start: int) -> None:
        depth, begun, last = 0, start, start
        for n in range(start, len(self._tokens) + 1):
            word = self._at(n)
            ends = n == len(self._tokens) or (not depth and (word in _ENDS_ORDER or word == ")"))
            if ends or (not depth and word == ","):
                self._order_term(begun, last)
                begun = self._next(n)
                if ends:
                    return
            depth += {"(": 1, ")": -1}.get(word, 0)
            if word.strip():
                last = n

    def _order_term(self, first: int, last: int) -> None:
        direction = self._at(last)
        end = self._next(last, -1) if direction in ("asc", "desc") else last
        own = first == end or (self._at(first).isalpha() and self._at(self._next(first)) == ".")
        if own and self._at(end).strip('"') in _NEVER_NULL:
            return
        self._tokens[last] += " NULLS LAST" if direction == "desc" else " NULLS FIRST"

    def _sources(self) -> None:
        """Give each query in brackets after ``from`` or ``join`` a name, if it has none."""
        for n in range(len(self._tokens)):
            if self._at(n) != "(" or self._at(self._next(n)) not in ("select", "values", "with"):
                continue
            if self._at(self._next(n, -1)) not in ("from", "join"):
                continue
            end = self._closing(n)
            after = self._at(self._next(end))
            named = after == "as" or (after.isidentifier() and after not in _AFTER_SOURCE)
            if not named and end < len(self._tokens):
                self._names += 1
                self._tokens[end] += f" AS from_{self._names}"

    def _separators(self) -> None:
        """``group_concat`` puts a comma between texts if no other separator is given."""
        for n in range(len(self._tokens)):
            if self._at(n) == "group_concat":
                opened = self._next(n)
                end = self._closing(opened)
                inside = "".join(self._tokens[opened + 1 : end])
                if "," not in re.sub(r"\(.*?\)", "", inside):
                    self._tokens[end] = ", ',')"

    def _words(self) -> Iterator[str]:
        skip = 0
        for n, token in enumerate(self._tokens):
            if n < skip:
                continue
            word = token.casefold()
            if word == "?":
                self._params += 1
                before = self._at(self._next(n, -1))
                yield f"NULLIF(${self._params}, -1)" if before == "limit" else f"${self._params}"
            elif word == "is":
                text, skip = self._compared(n)
                yield text
            elif word == "group_concat":
                yield "string_agg"
            elif word == "char" and self._at(self._next(n)) == "(":
                yield "chr"
            elif word in _FLAT and self._at(self._next(n, -1)) == "as" and self._at(self._next(n)) == ")":
                yield _FLAT[word]
            else:
                yield token

    def _compared(self, n: int) -> tuple[str, int]:
        after = self._next(n)
        negated = self._at(after) == "not"
        with_what = self._at(self._next(after)) if negated else self._at(after)
        if with_what in ("null", "true", "false", "distinct"):
            return self._tokens[n], n + 1
        if negated:
            return "IS DISTINCT FROM", after + 1
        return "IS NOT DISTINCT FROM", n + 1


def table_text(statement: str, *, has_rowid: bool) -> str:
    """A statement that makes a table of SQLite, for PostgreSQL. Texts are ordered by their bytes, as in SQLite.

    ``has_rowid`` adds the column that SQLite has by itself: the order in which rows came.
    """
    tokens: list[str] = _TOKEN.findall(statement)
    end = max(n for n, word in enumerate(tokens) if word == ")")
    body = "".join(tokens[: end + 1])
    body = re.sub(r"\binteger primary key( autoincrement)?", _IDENTITY, body, flags=re.IGNORECASE)
    body = re.sub(r"\bvalue not null\b", "value json not null", body, flags=re.IGNORECASE)
    made = "".join(_typed(_TOKEN.findall(body)))
    if has_rowid:
        made = f"{made[:-1]}, \"{ROWID}\" bigint NOT NULL DEFAULT nextval('{ROWS}'))"
    return made


def column_text(statement: str) -> str:
    """A statement that adds a column to a table of SQLite, for PostgreSQL."""
    return _A_TYPE.sub(lambda found: _TYPES[found[0].lower()], statement)


_A_TYPE = re.compile(r"""\b(integer|real|text|blob)\b(?=[^'"]*$)""", re.IGNORECASE)
_IDENTITY = "bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"


def _typed(tokens: list[str]) -> Iterator[str]:
    """A type stands after the name of its column; a column may be called like a type."""
    name = False
    for token in tokens:
        if token in ("(", ","):
            name = True
        elif token.strip():
            yield token if name else _TYPES.get(token.casefold(), token)
            name = False
            continue
        yield token


def _quoted(names: tuple[str, ...] | list[str]) -> list[str]:
    return [f'"{name}"' for name in names]
