"""Stores that grow old: frozen migrations, what an older and a newer store become, and what is said of wrong tables."""

from __future__ import annotations

import ast
import hashlib
import json
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import next_formats
import pytest
from next_formats import COLOUR, SHADE, TODAY, first_store, format_of

from workbench.errors import Damaged, StoreError, StoreNotice, StoreTooNew, StoreTooOld
from workbench.records import KINDS, Instance, Measurement, Project
from workbench.store import Scope, Store, migrations
from workbench.store.db import formats, schema
from workbench.store.migrations.migration import Migration
from workbench.store.records.tables import column_texts, index_texts
from workbench.store.scope import EVERYTHING

FROZEN = "d89ad15948e999a4bde62f3810affc6f927461b711646e0db36c95a84cb366a0"
NAMES = [
    *(("store", "revisions_and_facts"), ("series", "series_and_chunks"), ("pieces", "pieces"), ("rows", "tables")),
    *(("rows", "first_records"), ("rows", "raw_data"), ("rows", "chats"), ("rows", "checksums")),
    *(("people", "people"), ("uploads", "uploads")),
]
FIRST = tuple(step for step in migrations.MIGRATIONS if step.number == 1)


def schema_of(db: sqlite3.Connection) -> set[tuple[str, ...]]:
    return set(db.execute("select type, name, tbl_name, sql from sqlite_master where sql is not null"))


def scope_of(store: Store) -> Scope:
    owner = store.rows.organizations()[0]
    return Scope(owner.id, store.rows.page(Project, Scope(owner.id, None), limit=1).items[0].id)


def quietly(path: Path) -> Store:
    """A store that is opened, whatever notice that gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StoreNotice)
        return Store.open(path)


# The frozen migrations


def test_the_steps_of_the_first_format_have_the_names_that_stores_know() -> None:
    assert [step.key for step in FIRST] == NAMES
    with closing(sqlite3.connect(next_formats.FIRST_STORE)) as db:
        assert db.execute("select migration_set, name from _sqlite_migrations order by id").fetchall() == NAMES


def test_the_first_format_is_the_one_that_the_first_release_wrote() -> None:
    with closing(sqlite3.connect(":memory:")) as made, closing(sqlite3.connect(next_formats.FIRST_STORE)) as kept:
        formats.apply(made, FIRST)
        assert schema_of(made) == schema_of(kept)
        text = json.dumps(sorted(schema_of(made)))
    assert hashlib.sha256(text.encode()).hexdigest() == FROZEN


def test_a_new_store_is_what_the_classes_say() -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        formats.apply(db, migrations.MIGRATIONS)
        made = formats.objects(db)
        for cls in KINDS.values():
            assert list(formats.columns_of(db, cls.table)) != []
            assert set(formats.columns_of(db, cls.table)) == set(column_texts(cls)), cls
            indexes = {
                text for (type, _), text in made.items() if type == "index" and f'ON "{cls.table}" ' in text
            }
            assert indexes == set(index_texts(cls)), cls
        assert schema.differences(db) == []


def test_migrations_import_nothing_that_may_change() -> None:
    for path in Path(migrations.__file__).parent.glob("m[0-9]*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert (node.level, node.module) == (1, "migration"), path.name


def test_migrations_are_numbered_in_order_and_say_what_they_do() -> None:
    numbers = [step.number for step in migrations.MIGRATIONS]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, migrations.FORMAT + 1))
    assert len({step.key for step in migrations.MIGRATIONS}) == len(numbers)
    assert all(step.about.endswith(".") and step.version for step in migrations.MIGRATIONS)


@pytest.mark.parametrize(
    ("sql", "adds"),
    [
        ('ALTER TABLE "instances" ADD COLUMN "colour" TEXT', True),
        ('ALTER TABLE "a" ADD COLUMN "b" TEXT CHECK ("b" IS NULL OR json_valid("b"))', True),
        ('ALTER TABLE "a" ADD COLUMN "b" TEXT REFERENCES "c"("id")', True),
        ('CREATE TABLE "paints" ("id" TEXT PRIMARY KEY NOT NULL) STRICT', True),
        ('CREATE INDEX "a_b" ON "a" ("b")', True),
        ('CREATE UNIQUE INDEX "a_b" ON "a" ("b")', False),
        ('CREATE TABLE "b" AS SELECT * FROM "a"', False),
        ('ALTER TABLE "a" ADD COLUMN "b" TEXT NOT NULL DEFAULT \'\'', False),
        ('ALTER TABLE "a" ADD COLUMN "b" INTEGER DEFAULT 1', False),
        ('ALTER TABLE "a" RENAME COLUMN "b" TO "c"', False),
        ('ALTER TABLE "a" DROP COLUMN "b"', False),
        ('UPDATE "a" SET "b" = 1', False),
        ('DROP TABLE "a"', False),
    ],
)
def test_what_only_adds_is_told_by_its_statement(sql: str, adds: bool) -> None:
    assert Migration(9, "x", "9", "x.", (sql,)).is_additive is adds
    assert not Migration(9, "x", "9", "x.", (sql,), run=lambda db: None).is_additive


# A store of the first release


def test_an_older_store_gets_what_it_lacks_after_one_notice(tmp_path: Path) -> None:
    path = first_store(tmp_path)
    with pytest.warns(StoreNotice) as told:
        store = Store.open(path)
    assert len(told) == 1
    for word in (
        str(path),
        "format 1, battery-workbench 0.1.0",
        f"format {TODAY}",
        "nothing else changes",
        "0.1.1",
    ):
        assert word in str(told[0].message)
    with store:
        assert store.verify() == []
        assert store.rows.page(Measurement, scope_of(store)).total > 0
    with Store.open(path) as again:
        assert again.verify() == []


def test_opening_to_read_changes_nothing_and_reads_what_is_not_there_as_null(tmp_path: Path) -> None:
    path = first_store(tmp_path)
    before = path.read_bytes()
    with Store.open(path, read_only=True) as store:
        assert store.verify() == []
        (owner,) = (
            store.connection().execute("select owner from series where dataset = 'cycles' limit 1").fetchone()
        )
        assert store.series.rule(owner, "cycles") is None
        assert store.series.read(owner, scope=EVERYTHING).n > 0
        with pytest.raises(StoreError, match="opened to read only"):
            store.rows.create("projects", {"name": "new"}, scope=scope_of(store))
        store.backup(tmp_path / "copy.db")
    assert path.read_bytes() == before
    assert (format_of(path), format_of(tmp_path / "copy.db")) == (1, 1)


# A field that is added


def test_an_added_field_needs_its_class_and_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = first_store(tmp_path)
    next_formats.install(monkeypatch, tmp_path / "more")
    with pytest.warns(StoreNotice, match=f"brought to format {COLOUR}"):
        store = Store.open(path)
    with store:
        scope = scope_of(store)
        cells = store.rows.page("instances", scope).items
        assert cells
        assert {cell.colour for cell in cells} == {None}
        changed = store.rows.update("instances", cells[0].id, {"colour": "anthracite"}, scope)
        assert changed.colour == "anthracite"
        listed = store.rows.plan_list("instances", scope, {}, ["id", "colour"], None).table
        assert set(listed["colour"].tolist()) == {None, "anthracite"}
        assert store.verify() == []
    with Store.open(path) as again:
        assert again.rows.get("instances", cells[0].id, scope).colour == "anthracite"


def test_an_older_store_that_is_read_has_the_new_field_as_null(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = first_store(tmp_path)
    next_formats.install(monkeypatch, tmp_path / "more")
    with Store.open(path, read_only=True) as store:
        cells = store.rows.page("instances", scope_of(store)).items
        assert {cell.colour for cell in cells} == {None}
        assert store.connection().execute("select count(*) from paints").fetchone() == (0,)
        assert store.verify() == []
    assert format_of(path) == 1


def test_a_step_that_only_adds_locks_nobody_out(tmp_path: Path) -> None:
    """The same file under a version with the next format, then under today's, then under the next one again."""
    path = tmp_path / "lab.db"
    with pytest.MonkeyPatch.context() as newer:
        next_formats.install(newer, tmp_path / "more")
        with Store.open(path) as store:
            scope = scope_of(store)
            ratings = {"capacity": {"value": 5, "unit": "A.h"}, "voltage_min": {"value": 2, "unit": "V"}}
            ratings["voltage_max"] = {"value": 4, "unit": "V"}
            made = store.rows.create("specifications", {"name": "s", "ratings": ratings}, scope=scope)
            cell = store.rows.create(
                "instances", {"name": "c", "specification_id": made.id, "colour": "red"}, scope=scope
            )
    assert format_of(path) == COLOUR
    with Store.open(path) as store:
        store.rows.update("instances", cell.id, {"notes": "written by an older version"}, scope)
        other = store.rows.create(Instance, {"name": "d", "specification_id": made.id}, scope=scope)
        assert store.verify() == []
    with pytest.MonkeyPatch.context() as newer:
        next_formats.install(newer, tmp_path / "more")
        with Store.open(path) as store:
            kept = store.rows.get("instances", cell.id, scope)
            assert (kept.colour, kept.notes) == ("red", "written by an older version")
            assert store.rows.get("instances", other.id, scope).colour is None
            assert store.verify() == []


# Newer stores


def test_a_newer_store_is_refused_with_the_version_that_it_needs(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with pytest.MonkeyPatch.context() as newer:
        next_formats.install(newer, tmp_path / "more", shade=True)
        Store.open(path).close()
    for read_only in (False, True):
        with pytest.raises(
            StoreTooNew, match=rf"format {SHADE}.*Update battery-workbench to 0\.{SHADE}\.0 or later"
        ):
            Store.open(path, read_only=read_only)


def test_a_store_that_only_newer_versions_write_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with pytest.MonkeyPatch.context() as newer:
        step = Migration(COLOUR, "read_on", "0.9.0", "Names are kept otherwise.", oldest_writer=COLOUR)
        newer.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, step))
        newer.setattr(migrations, "FORMAT", COLOUR)
        Store.open(path).close()
    with Store.open(path) as store:
        scope = scope_of(store)
        assert store.verify() == []
        with pytest.raises(StoreTooNew, match=r"can be read here but not changed.*0\.9\.0 or later"):
            store.rows.create("projects", {"name": "new"}, scope=scope)


def test_a_store_that_is_upgraded_while_it_is_open_takes_no_more_writes(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        scope = scope_of(store)
        store.rows.create("projects", {"name": "before"}, scope=scope)
        step = Migration(COLOUR, "no_more", "0.9.0", "Names are kept otherwise.", run=lambda db: None)
        with closing(sqlite3.connect(path, isolation_level=None)) as other, pytest.MonkeyPatch.context() as newer:
            newer.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, step))
            other.execute("begin immediate")
            other.execute("create table elsewhere (a)")
            formats.apply(other, [step])
            other.execute("commit")
        with pytest.raises(StoreTooNew, match="Update battery-workbench"):
            store.rows.create("projects", {"name": "after"}, scope=scope)


def test_an_older_store_that_needs_more_than_additions_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = first_store(tmp_path)
    before = path.read_bytes()
    next_formats.install(monkeypatch, tmp_path / "more", shade=True)
    for read_only in (False, True):
        with pytest.raises(StoreTooOld, match=rf"format 1, .*workbench upgrade --store {path}.*backup first"):
            Store.open(path, read_only=read_only)
    assert path.read_bytes() == before


# Tables that are not what they must be


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            'ALTER TABLE "measurements" DROP COLUMN "processing_error"',
            "'measurements' has no column 'processing_error'",
        ),
        ('DROP INDEX "instances_unique_0"', "no index 'instances_unique_0'"),
        ('DROP TABLE "seals"', "no table 'seals'"),
        ("DROP TRIGGER search_added", "no trigger 'search_added'"),
        ('ALTER TABLE "audit" DROP COLUMN "detail"', "'audit' has no column 'detail'"),
        ('ALTER TABLE "series_log" DROP COLUMN "rule"', "'series_log' has no column 'rule'"),
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_wrong_tables_are_said_in_words(tmp_path: Path, change: str, said: str, read_only: bool) -> None:
    path = tmp_path / "lab.db"
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute(change)
    with pytest.raises(Damaged, match=rf"not those of format {TODAY}.*{said}.*Restore a backup.*report"):
        Store.open(path, read_only=read_only)


def test_a_column_of_another_type_and_an_index_that_is_not_unique_are_named(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    Store.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute('DROP INDEX "plots_unique_0"')
        db.execute('CREATE INDEX "plots_unique_0" ON "plots" ("dashboard_id", "name")')
        db.execute("drop table uploads")
        db.execute("create table uploads (id integer primary key)")
    with pytest.raises(Damaged) as raised:
        Store.open(path)
    assert "the index 'plots_unique_0' has another declaration" in str(raised.value)
    assert "the column 'id' of the table 'uploads' is INTEGER PRIMARY KEY and should be TEXT" in str(raised.value)
    assert "and 10 more" in str(raised.value)


@pytest.mark.parametrize("said", ["", "[]", "{}", '{"number": "x"}'])
def test_a_damaged_format_is_said_in_words(tmp_path: Path, said: str) -> None:
    path = tmp_path / "lab.db"
    Store.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("update facts set value = ? where name = 'format'", [said])
    with pytest.raises(Damaged, match="about its format is damaged"):
        Store.open(path)


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("lost", ["all steps", "the newest step"])
def test_a_store_whose_list_of_steps_is_damaged_is_not_shown_as_if_it_were_empty(
    tmp_path: Path, lost: str, read_only: bool
) -> None:
    path = tmp_path / "lab.db"
    Store.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        if lost == "the newest step":
            db.execute("delete from _sqlite_migrations where id = (select max(id) from _sqlite_migrations)")
        query = "select rootpage from sqlite_master where name = 'idx__sqlite_migrations_migration_set_name'"
        (page,) = db.execute(query).fetchone()
        (size,) = db.execute("pragma page_size").fetchone()
        db.execute("pragma wal_checkpoint(truncate)")
    if lost == "all steps":  # the number of entries of a page; of 16 it is one bit
        data = bytearray(path.read_bytes())
        data[(page - 1) * size + 3 : (page - 1) * size + 5] = b"\0\0"
        path.write_bytes(data)
    with pytest.raises(Damaged, match="its list of the steps that lead there lacks"):
        Store.open(path, read_only=read_only)


def test_a_format_may_say_more_and_must_be_that_of_the_steps(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    Store.open(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        (text,) = db.execute("select value from facts where name = 'format'").fetchone()
        db.execute(
            "update facts set value = ? where name = 'format'", [json.dumps({**json.loads(text), "more": 1})]
        )
        with Store.open(path) as store:
            assert store.verify() == []
        wrong = json.dumps({**json.loads(text), "writer": 1})
        db.execute("update facts set value = ? where name = 'format'", [wrong])
    with Store.open(path) as store:
        (finding,) = store.verify()
    assert f"says that it has format {TODAY}" in finding


def test_a_field_without_a_migration_says_what_the_migration_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_formats.use(monkeypatch, migrations.MIGRATIONS, next_formats.Coloured)
    with pytest.raises(Damaged, match='ALTER TABLE "instances" ADD COLUMN "colour" TEXT'):
        Store.open(tmp_path / "lab.db")


def test_what_a_person_adds_to_the_file_is_theirs(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table mine (a)")
        db.execute('create index my_index on "measurements" ("name")')
        db.execute("analyze")
        db.commit()
    with Store.open(path) as store:
        assert store.verify() == []
