"""Whether a schema has all indexes, keys and links of its tables.

PostgreSQL makes them last when it restores a dump. So a restore that was stopped has all rows and lacks some of them.
Nothing fails then, but two records may get one name, and a link that leads nowhere is not refused.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

from ..db.formats import apply
from ..migrations import Migration
from .connection import Connection
from .schema import index_texts, shapes

_INDEXES = (
    "select i.relname from pg_index as x join pg_class as i on i.oid = x.indexrelid "
    "join pg_namespace as n on n.oid = i.relnamespace where n.nspname = ? and x.indisvalid"
)
_CONSTRAINTS = (
    "select cast(c.contype as text), t.relname, coalesce(p.relname, ''), count(*) from pg_constraint as c "
    "join pg_class as t on t.oid = c.conrelid left join pg_class as p on p.oid = c.confrelid "
    "join pg_namespace as n on n.oid = t.relnamespace where n.nspname = ? and c.convalidated "
    "group by c.contype, t.relname, p.relname"
)
_OF_A_FILE = (
    "select distinct 'p', m.name, '', 1 from sqlite_master as m, pragma_table_info(m.name) as c "
    "where m.type = 'table' and c.pk > 0 union all "
    "select 'u', m.name, '', count(*) from sqlite_master as m, pragma_index_list(m.name) as i "
    "where m.type = 'table' and i.origin = 'u' group by m.name union all "
    "select 'f', m.name, f.\"table\", count(distinct f.id) from sqlite_master as m, "
    "pragma_foreign_key_list(m.name) as f where m.type = 'table' group by m.name, f.\"table\""
)
_KINDS = {"p": "primary key", "u": "unique constraint", "f": "foreign key"}
_ADVICE = (
    "A restore may have been stopped: restore the dump into a new database, and look at the errors of pg_restore"
)

MOST = 5
"""Of what is missing, so much is named."""


def lacking(db: Connection, schema: str, steps: tuple[Migration, ...]) -> list[str]:
    """What a store of these steps has and a schema lacks, as one sentence; empty if it lacks nothing."""
    found = list(_lacking(db, schema, steps))
    more = [f"and {len(found) - MOST} more"] if len(found) > MOST else []
    return [f"{'; '.join([*found[:MOST], *more])}. {_ADVICE}"] if found else []


def _lacking(db: Connection, schema: str, steps: tuple[Migration, ...]) -> Iterator[str]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        apply(made, steps)
        wanted = index_texts(made)
        constraints = _counted(made.execute(_OF_A_FILE))
    there = {name for (name,) in db.execute(_INDEXES, (schema,))}
    for name, text in wanted.items():
        if name not in there:
            yield f"there is no index '{name}' that can be used (it should be {' '.join(text.split())})"
    for kind, table, parent in constraints - _counted(db.execute(_CONSTRAINTS, (schema,))):
        if table in shapes():
            to = f" to '{parent}'" if parent else ""
            yield f"the table '{table}' lacks a {_KINDS[kind]}{to}"


def _counted(rows: Iterator[tuple[str, str, str, int]]) -> Counter[tuple[str, str, str]]:
    return Counter({(kind, table, parent): count for kind, table, parent, count in rows})
