"""Two formats that may come after today's: a field that only adds, and one that makes a table anew.

This is all that a new field takes: its class, and one migration file.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from pathlib import Path

import pytest
from pydantic import Field

from workbench.records import ENTITIES, KINDS, SOURCES, Instance, Record
from workbench.records.record import Text
from workbench.store import migrations
from workbench.store.db import formats
from workbench.store.db.checksums import update
from workbench.store.db.dialect import SQLITE, dialect_of

FIRST_STORE = Path(__file__).parents[1] / "stores" / "store-0.1.0.db"
TODAY = migrations.FORMAT
COLOUR, SHADE = TODAY + 1, TODAY + 2


class Coloured(Instance):
    """A cell with a field that today's cells do not have."""

    colour: Text | None = Field(None, description="Colour of its can.")


class Shaded(Coloured):
    """A cell with a field that each one must have."""

    shade: str = Field("none", description="How light its colour is.")


COLOUR_FILE = f"""
from workbench.store.migrations import Migration

MIGRATIONS = (
    Migration({COLOUR}, "{COLOUR:04}_colour", "0.{COLOUR}.0", "Cells have a colour.",
              ('ALTER TABLE "instances" ADD COLUMN "colour" TEXT', 'CREATE TABLE "paints" ("id" TEXT)')),
)
"""
SHADE_FILE = f"""
import next_formats
from workbench.store.migrations import Migration

MIGRATIONS = (
    Migration({SHADE}, "{SHADE:04}_shade", "0.{SHADE}.0", "Every cell has a shade.",
              run=next_formats.make_anew, prepare=next_formats.prepare),
)
"""


def prepare(db: sqlite3.Connection) -> bool:
    """Shades for two cells at a time, in a table that nobody reads yet."""
    db.execute('CREATE TABLE IF NOT EXISTS "shades" ("id" TEXT PRIMARY KEY, "shade" TEXT)')
    left = 'SELECT id, lower(name) FROM "instances" WHERE id NOT IN (SELECT id FROM "shades") LIMIT 2'
    return db.execute(f'INSERT INTO "shades" {left}').rowcount > 0


def make_anew(db: sqlite3.Connection) -> None:
    """The table of cells with a column that is never null, in the place of the one without."""
    if dialect_of(db) is not SQLITE:
        db.execute('ALTER TABLE "instances" ADD COLUMN "shade" text COLLATE "C"')
        shade = "coalesce((SELECT s.shade FROM shades AS s WHERE s.id = instances.id), lower(name))"
        db.execute(f'UPDATE "instances" SET shade = {shade}')
        db.execute('ALTER TABLE "instances" ALTER COLUMN "shade" SET NOT NULL')
        db.execute("DROP TABLE shades")
        update(db, "instances")
        return
    (made,) = db.execute("SELECT sql FROM sqlite_master WHERE name = 'instances'").fetchone()
    indexes = db.execute(
        "SELECT sql FROM sqlite_master WHERE tbl_name = 'instances' AND type = 'index' AND sql <> ''"
    )
    statements = [sql for (sql,) in indexes.fetchall()]
    names = [name for (name,) in db.execute("SELECT name FROM pragma_table_info('instances')")]
    listed = ", ".join(f'i."{name}"' for name in names)
    made = made.replace('"instances"', '"instances_anew"', 1).replace(
        ") STRICT", ', "shade" TEXT NOT NULL) STRICT'
    )
    db.execute(made)
    db.execute(
        f"INSERT INTO instances_anew SELECT {listed}, coalesce(s.shade, lower(i.name)) "
        "FROM instances AS i LEFT JOIN shades AS s USING (id)"
    )
    for text in ("DROP TABLE instances", "ALTER TABLE instances_anew RENAME TO instances", "DROP TABLE shades"):
        db.execute(text)
    for text in statements:
        db.execute(text)
    update(db, "instances")


def install(patch: pytest.MonkeyPatch, folder: Path, *, shade: bool = False) -> None:
    """Let this process be of a version with the next format, or with both."""
    folder.mkdir(exist_ok=True)
    (folder / f"m{COLOUR:04}_colour.py").write_text(COLOUR_FILE)
    if shade:
        (folder / f"m{SHADE:04}_shade.py").write_text(SHADE_FILE)
    patch.setattr(migrations, "__path__", [*migrations.__path__, str(folder)])
    for name in (f"m{COLOUR:04}_colour", f"m{SHADE:04}_shade"):
        patch.delitem(sys.modules, f"{migrations.__name__}.{name}", raising=False)
    use(patch, migrations._found(), Shaded if shade else Coloured)


def use(patch: pytest.MonkeyPatch, steps: tuple[migrations.Migration, ...], cell: type[Record]) -> None:
    """Let this process know these steps, and let its cells be of this class."""
    patch.setattr(migrations, "MIGRATIONS", steps)
    patch.setattr(migrations, "FORMAT", steps[-1].number)
    for names, name in ((KINDS, "instances"), (SOURCES, "instances"), (ENTITIES, "cell_instance")):
        patch.setitem(names, name, cell)


def first_store(folder: Path) -> Path:
    """A copy of the store that 0.1.0 left."""
    return Path(shutil.copy(FIRST_STORE, folder / "lab.db"))


def format_of(path: Path) -> int:
    """The format that a file says it has."""
    db = sqlite3.connect(path)
    try:
        return formats.format_of(db).number
    finally:
        db.close()
