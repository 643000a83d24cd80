"""The tables of a store on PostgreSQL. They are those that the migrations make in a new file of SQLite, each statement
in words of PostgreSQL, so both have the same formats by the same numbers."""

from __future__ import annotations

import re
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from importlib.resources import files
from typing import cast

from psycopg import errors, sql

from ...errors import StoreError
from ...records import KINDS
from .. import migrations
from ..db import row_checksums
from ..db.connections import Transaction
from ..db.formats import apply, columns_of, format_of, keep_format, note_applied, reference
from ..series import derived
from .address import Address
from .connection import Connection
from .dialect import ROWID, ROWS, TableShape, column_text, table_text
from .raw_connection import RawConnection

_SEARCH = ("search_names", "search_words")
"""Indexes of SQLite alone, with the tables that it keeps for them."""
_FOUND_BY_ROW = (*KINDS, "audit")
"""Tables that can be long, whose rows are looked up or listed in the order in which they came."""
_TRIGRAMS = (
    "SELECT nspname FROM pg_extension JOIN pg_namespace AS n ON n.oid = extnamespace WHERE extname = 'pg_trgm'"
)
_OWN = (
    # What the index of words keeps of an entry, see `words.token_text`.
    "ALTER TABLE search_entries ADD COLUMN tokens text COLLATE \"C\" NOT NULL DEFAULT ''",
    "CREATE INDEX search_entries_folded ON search_entries USING gin (folded {trigrams})",
    "CREATE INDEX search_entries_tokens ON search_entries USING gin (tokens {trigrams})",
    # They are compressed already.
    "ALTER TABLE chunks ALTER COLUMN data SET STORAGE EXTERNAL",
    "ALTER TABLE pieces ALTER COLUMN data SET STORAGE EXTERNAL",
)

_INDEX = re.compile(r'CREATE (?:UNIQUE )?INDEX "?(\w+)', re.IGNORECASE)


@cache
def shapes() -> dict[str, TableShape]:
    """What the dialect has to know of each table."""
    _, columns = reference(migrations.MIGRATIONS)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        apply(db, migrations.MIGRATIONS)
        query = "select name from pragma_table_info(?) where pk > 0 order by pk"
        keys = {table: tuple(name for (name,) in db.execute(query, (table,))) for table in columns}
    return {table: TableShape(tuple(held), keys[table]) for table, held in columns.items() if _is_kept(table)}


def _is_kept(table: str) -> bool:
    return not table.startswith(_SEARCH)


def make_schema(raw: RawConnection, address: Address) -> None:
    """Make the schema and the functions of a new store, inside a transaction.

    Raises
    ------
    StoreError
        If the database cannot hold a store, or the user may not make one there.
    """
    version, encoding = raw.info.server_version, raw.execute("SHOW server_encoding").fetchone()
    if version < 140000:
        raise StoreError(f"The store '{address}' needs PostgreSQL 14 or later, not {version // 10000}.")
    if encoding is None or encoding[0] != "UTF8":
        raise StoreError(
            f"The database of the store '{address}' has the encoding {encoding and encoding[0]}; a store needs UTF8. "
            "Make one with: createdb --encoding=UTF8 --template=template0 NAME"
        )
    try:
        # Each is asked for: who may not make them may not say "if not exists" either.
        if not raw.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [address.schema]).fetchone():
            raw.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(address.schema)))
        if not raw.execute(_TRIGRAMS).fetchone():
            raw.execute("CREATE EXTENSION pg_trgm SCHEMA public")
    except (errors.InsufficientPrivilege, errors.UndefinedFile, errors.FeatureNotSupported) as error:
        raise StoreError(
            f"The store '{address}' cannot be made ({error.diag.message_primary}). Let somebody who may do it run, in "
            f'this database: CREATE SCHEMA "{address.schema}" AUTHORIZATION {raw.info.user}; CREATE EXTENSION pg_trgm;'
        ) from error
    raw.execute(files(__package__).joinpath("functions.sql").read_bytes())
    raw.execute(_fold_function())


def make_tables(db: Connection) -> None:
    """Make the tables of a new store and what each store has from the start."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        apply(made, migrations.MIGRATIONS)
        made.execute("insert into facts (name, value) values ('store', ?)", (uuid.uuid4().hex,))
        row_checksums.fill(made)
        derived.keep_search_rule(made)
        (place,) = db.raw.execute(_TRIGRAMS).fetchone() or ("public",)
        own = [text.format(trigrams=f'"{place}".gin_trgm_ops') for text in _OWN]
        db.raw.execute("; ".join([f"CREATE SEQUENCE {ROWS}", *_table_texts(made), *own]).encode())
        for table in shapes():
            _copy(made, db, table)


def add_formats(db: Connection, steps: tuple[migrations.Migration, ...]) -> None:
    """Run steps inside a transaction. What they ``run`` gets this connection, which takes the words of SQLite that the
    dialect knows; what only one of the two databases has, they ask it for its ``dialect``."""
    noted = cast(Transaction, db)  # it has what these functions use of a connection to a file
    found = format_of(noted)
    for step in steps:
        for text in step.sql:
            if not text.lower().startswith(("create ", "alter ")):
                db.execute(text)
                continue
            for made in _translated(text):
                db.raw.execute(made.encode())
        if step.run is not None:
            step.run(noted)
        note_applied(noted, step)
        found = found.after(step)
    if steps:
        keep_format(noted, found)


def _translated(text: str) -> Iterator[str]:
    """A statement of a step that adds a table, an index or a column, for PostgreSQL."""
    if not text.lower().startswith("create table"):
        yield column_text(text) if text.lower().startswith("alter table") else text
        return
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.execute(text)
        yield from _table_texts(made)


def _table_texts(made: sqlite3.Connection) -> Iterator[str]:
    query = (
        "select type, name, tbl_name, sql from sqlite_master where sql is not null and type in ('table', 'index')"
    )
    for type, name, table, text in made.execute(query).fetchall():
        if not _is_kept(table) or name.startswith("sqlite_"):
            continue
        if type == "index":
            yield text
            continue
        key = re.search(r"\binteger primary key\b", text, re.IGNORECASE)
        ordered = "without rowid" not in text.lower() and key is None
        yield table_text(text, has_rowid=ordered)
        if ordered and table in _FOUND_BY_ROW:
            yield f'CREATE UNIQUE INDEX "{table}_{ROWID}" ON "{table}" ({ROWID})'


def index_texts(made: sqlite3.Connection) -> dict[str, str]:
    """The indexes of a store on PostgreSQL whose tables are those of a file: name -> the statement that makes it."""
    texts = (*_table_texts(made), *(text.format(trigrams="gin_trgm_ops") for text in _OWN))
    return {found[1]: text for text in texts if (found := _INDEX.match(text))}


def _copy(made: sqlite3.Connection, db: Connection, table: str) -> None:
    numbered = [name for name, type in columns_of(made, table).items() if type == "INTEGER PRIMARY KEY"]
    columns = [name for name in shapes()[table].columns if name not in numbered]
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("to_json(?)" if (table, name) == ("facts", "value") else "?" for name in columns)
    order = "" if "without rowid" in _text_of(made, table).lower() else f" ORDER BY {ROWID}"
    for row in made.execute(f'SELECT {names} FROM "{table}"{order}').fetchall():  # noqa: S608
        db.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', row)  # noqa: S608


def _text_of(made: sqlite3.Connection, table: str) -> str:
    return str(made.execute("select sql from sqlite_master where name = ?", (table,)).fetchone()[0])


@cache
def _fold_function() -> bytes:
    """A function that ignores case exactly as Python does. Each letter is changed by itself, wherever it is."""
    single: dict[str, str] = {}
    several: dict[str, str] = {}
    for letter in map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x110000))):
        folded = letter.casefold()
        if folded != letter:
            (single if len(folded) == 1 else several)[letter] = folded
    body = f"translate(lower($1 COLLATE \"C\"), '{''.join(single)}', '{''.join(single.values())}')"
    for letter, folded in several.items():
        body = f"replace({body}, '{letter}', '{folded}')"
    return (
        "CREATE OR REPLACE FUNCTION fold(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $fold$ "
        'SELECT CASE WHEN octet_length($1) = char_length($1) THEN lower($1 COLLATE "C") '
        f"ELSE {body} END $fold$"
    ).encode()
