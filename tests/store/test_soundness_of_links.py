"""A link for outsiders, an alert and an allowed address are not changed on the disk in silence."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from workbench.errors import Damaged
from workbench.records import Project
from workbench.store import Scope, Store, soundness
from workbench.store.db import checksums
from workbench.store.records.alerts import Seen
from workbench.store.records.shares import Wanted

CONFIG = {
    "plan": {"steps": {"tests": {"op": "list", "source": "measurements"}}},
    "transform": "def transform(data, params):\n    return None\n",
}
FIELDS = {"name": "Late", "step": "tests", "values": {}} | dict.fromkeys(
    ("column", "above", "below", "equals", "key", "webhook")
)
CHANGED = {"TEXT": "coalesce({}, '') || ' '", "INTEGER": "coalesce({}, 0) + 1", "BLOB": "zeroblob(32)"}
TABLES = tuple(checksums.LATER)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "lab.db"
    with Store.open(place) as store:
        organization = store.rows.organizations()[0]
        scope = Scope(organization.id, store.rows.page(Project, Scope(organization.id, None), limit=1).items[0].id)
        user = store.rows.user("local@localhost").id
        board = store.rows.create("dashboards", {"name": "fade"}, scope=scope)
        plot = store.plots.save(board.id, "capacity", CONFIG, scope)
        with store.transaction() as db:
            link, _ = store.shares.create(db, Wanted(board.id, plot.id), 3, scope, user)
            store.shares.create(db, Wanted(board.id), 3, scope, user)
            store.shares.revoke(db, scope.project_id or "", link.id)
            draft = store.alerts.drafted({**FIELDS, "plot_id": plot.id}, scope, user)
            alert = store.alerts.create(db, draft, scope)
            (found,) = store.alerts.note(db, alert, [Seen({"id": "a"}, {"id": "a"})], 1)
            store.alerts.acknowledge(db, found.id, scope, user)
            store.alerts.allow(db, "https://chat.example/", user, private=False)
            store.alerts.allow(db, "https://chat.example/", user, private=True)
        store.shares.used(store.shares.of_project(scope.project_id or "")[0])
    with contextlib.closing(sqlite3.connect(place)) as connection:
        connection.execute("pragma journal_mode = delete")
    return place


def test_what_was_written_in_every_way_is_sound(path: Path) -> None:
    with Store.open(path) as store:
        assert store.verify() == []
        assert all(store.execute(f'select count(*) from "{table}"').fetchone()[0] for table in TABLES)


@pytest.mark.parametrize("most_rows", [soundness.MOST_ROWS, 0], ids=["small", "large"])
@pytest.mark.parametrize("table", TABLES)
def test_each_changed_value_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch, table: str, most_rows: int
) -> None:
    """Also a time to which a link lasts, and whether an address of the own network is allowed."""
    monkeypatch.setattr(soundness, "MOST_ROWS", most_rows)
    sound = path.read_bytes()
    for column, kind in columns_of(path, table):
        path.write_bytes(sound)
        changed = CHANGED[kind].format(f'"{column}"')
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("pragma foreign_keys = off")
            connection.execute(f'update "{table}" set "{column}" = {changed}')
            connection.commit()
        with pytest.raises(Damaged):
            read(path, table)


def read(path: Path, table: str) -> None:
    """Read a damaged table; verify sees the damage too, where the store opens."""
    with Store.open(path) as store:
        assert store.wait_verified(60)
        assert store.verify() != []
        store.execute(f'select * from "{table}"').fetchall()


def columns_of(path: Path, table: str) -> list[tuple[str, str]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        found = connection.execute("select name, type, pk from pragma_table_info(?)", [table]).fetchall()
        return [(name, kind) for name, kind, key in found if not key]


def test_rows_that_an_older_version_wrote_are_read_and_deleted_ones_are_not_missed(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("delete from seals where kind in ('shares', 'alerts')")
        connection.commit()
    with Store.open(path) as store:
        assert store.verify() == []
        board, project = store.execute("select dashboard_id, project_id from shares").fetchone()
        scope = Scope(store.rows.organizations()[0].id, project)
        store.rows.delete("dashboards", board, scope)
        assert store.execute("select count(*) from alert_occurrences").fetchone()[0] == 0
        assert store.verify() == []
