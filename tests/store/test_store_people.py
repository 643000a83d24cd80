"""Keys, members and roles in the store; uploads that are under way; older stores get their tables."""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbench.errors import Conflict, Damaged, NotFound, StoreNotice, Unauthorized
from workbench.records import Project, RawData
from workbench.store.db import row_checksums
from workbench.store.files.uploads import Attachment
from workbench.store.records.people import Right
from workbench.store.scope import Scope
from workbench.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


def home(store: Store) -> tuple[str, str, str]:
    organization = store.rows.organizations()[0].id
    project = store.rows.page(Project, Scope(organization, None)).items[0].id
    return organization, project, store.rows.user("local@localhost").id


def test_a_key_names_its_user_and_no_secret_is_kept(store: Store) -> None:
    organization, _, user = home(store)
    issued = store.people.issue(organization, user)
    prefix, id, secret = issued.key.split("_", 2)
    assert (prefix, id, len(id)) == ("wb", issued.id, 8)
    assert len(secret) >= 43
    caller = store.people.caller(issued.key)
    assert (caller.user.id, caller.organization.id, caller.is_admin) == (user, organization, True)
    dumped = "\n".join(store.connection().iterdump()) if hasattr(sqlite3.Connection, "iterdump") else ""
    assert secret not in dumped
    for wrong in ("", "wb", "wb__", f"wb_{id}_", issued.key[:-1], issued.key + "x", f"xx_{id}_{secret}", "\udc80"):
        with pytest.raises(Unauthorized):
            store.people.caller(wrong)


def test_a_wrong_secret_of_a_remembered_key_is_looked_up_as_an_unknown_id_is(store: Store) -> None:
    """Otherwise the time of an answer would say which ids there are."""
    organization, _, user = home(store)
    key = store.people.issue(organization, user).key
    store.people.caller(key)  # the first use is written down
    assert store.reading(lambda: store.people.caller(key)) is store.at_once(lambda: store.people.caller(key))
    for wrong in (key[:-2] + "AA", "wb_zzzzzzzz_" + "a" * 43):
        assert store.at_once(lambda wrong=wrong: store.people.caller(wrong)) is None
        with pytest.raises(Unauthorized):
            store.people.caller(wrong)


def test_an_unknown_id_takes_as_long_as_a_wrong_secret(store: Store) -> None:
    organization, _, user = home(store)
    key = store.people.issue(organization, user).key
    spent: dict[str, list[float]] = {"unknown id": [], "wrong secret": []}
    tries = {"unknown id": "wb_zzzzzzzz_" + "a" * 43, "wrong secret": key[:-2] + "AA"}
    for _ in range(400):
        for name, wrong in tries.items():
            started = time.perf_counter()
            with pytest.raises(Unauthorized):
                store.people.caller(wrong)
            spent[name].append(time.perf_counter() - started)
    unknown, wrong_secret = (statistics.median(times) for times in spent.values())
    assert 0.4 < unknown / wrong_secret < 2.5


def test_rights_add_up_and_reach_no_further(store: Store) -> None:
    organization, project, _ = home(store)
    user, made, member = store.people.enrol(organization, "Ada@Lab.org")
    assert (user.email, made, member) == ("ada@lab.org", True, False)
    assert store.people.enrol(organization, "ada@lab.org")[1:] == (False, True)
    key = store.people.issue(organization, user.id).key
    assert store.people.caller(key).highest == Right.NOTHING
    assert store.people.visible(store.people.caller(key)) == ()
    store.people.give_role(organization, project, user.id, "project-viewer")
    assert store.people.caller(key).right_in(project) == Right.READ
    assert store.people.visible(store.people.caller(key)) == (project,)
    store.people.give_role(organization, project, user.id, "project-contributor")
    caller = store.people.caller(key)
    assert (caller.right_in(project), caller.right_in("another"), caller.highest) == (2, 0, 2)
    store.people.take_role(project, user.id)
    assert store.people.caller(key).right_in(project) == Right.NOTHING
    store.people.give_role(organization, project, user.id, "project-admin")
    store.rows.delete(Project, project, Scope(organization, None))
    assert store.people.roles_of(organization, user.id) == {}
    store.people.remove_member(organization, user.id)
    with pytest.raises(Unauthorized):
        store.people.caller(key)
    with pytest.raises(NotFound):
        store.people.issue(organization, user.id)


def test_an_organization_keeps_an_admin(store: Store) -> None:
    organization, _, user = home(store)
    for act in (
        lambda: store.people.change_member(organization, user, role="Member"),
        lambda: store.people.change_member(organization, user, is_active=False),
        lambda: store.people.remove_member(organization, user),
        lambda: store.people.enrol(organization, "local@localhost", role="Member"),
    ):
        with pytest.raises(Conflict, match="only active Admin"):
            act()
    other, _, _ = store.people.enrol(organization, "other@lab", role="Admin")
    store.people.change_member(organization, user, role="Member")
    assert {m["user_id"]: m["role"] for m in store.people.members(organization)} == {
        user: "Member",
        other.id: "Admin",
    }


def test_an_upload_is_taken_once(store: Store) -> None:
    organization, project, user = home(store)
    scope = Scope(organization, project)
    begun = store.uploads.begin("raw_data", "target", scope, user, ["a.csv", "b.csv"], {"filename": "a.csv"})
    found = store.uploads.newest("target", "raw_data", scope)
    assert found == begun
    assert store.uploads.newest("target", "raw_data", Scope("another", None)) is None
    assert store.uploads.arrived(begun.objects[0].id, 3, "0" * 64)
    with store.transaction() as db:
        assert store.uploads.settle(db, begun.id, "running", was=["open"], lease="mine")
        assert not store.uploads.settle(db, begun.id, "running", was=["open"], lease="other")
    assert not store.uploads.arrived(begun.objects[0].id, 4, None)
    assert [upload.id for upload in store.uploads.unfinished()] == [begun.id]
    again = store.uploads.unfinished()[0]
    assert (again.objects[0].size, again.lease) == (3, "mine")
    assert store.rows.blobs() == {"0" * 64}
    store.uploads.forget(begun.id)
    with pytest.raises(NotFound):
        store.uploads.of_object(begun.objects[0].id)
    assert store.verify() == []


def test_a_store_from_before_the_server_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with Store.open(path) as store, store.transaction() as db:
        for table in ("measurement_raw_data", "upload_objects", "uploads", "attachments", "audit", "keys"):
            db.execute(f"DROP TABLE {table}")
        for table in ("project_roles", "members", "raw_data"):
            db.execute(f"DROP TABLE {table}")
        db.execute("DELETE FROM facts WHERE name = 'signing'")
        db.execute(
            "DELETE FROM _sqlite_migrations WHERE migration_set IN ('people', 'uploads') "
            "OR name IN ('raw_data', '0003_key_permissions', '0004_row_checksums')"
        )
    with pytest.warns(StoreNotice, match="is of an older workbench"):
        store = Store.open(path)
    with store:
        organization, project, user = home(store)
        assert store.people.caller(store.people.issue(organization, user).key).is_admin
        scope = Scope(organization, project)
        data = {"name": "a", "filename": "a", "size": 0, "piece": "0" * 64}
        assert store.rows.create(RawData, data, scope=scope).measurement_count == 0
        assert len(store.uploads.signing_secret()) == 64
        assert store.verify() == []


DAMAGE = {
    "keys": ("update keys set permission = null", "the key"),
    "members": ("update members set role = 'Admin'", "the membership of the user"),
    "project_roles": ("update project_roles set role = 'project-admin'", "the project role of the user"),
    "uploads": ("update uploads set state = 'done'", "the upload"),
    "upload_objects": ("update upload_objects set filename = 'b.csv'", "the file of an upload"),
    "attachments": ("update attachments set size = 6", "the file attached to the record"),
    "audit": ("update audit set action = 'nothing'", "the entry of the audit log at"),
}


@pytest.mark.parametrize("table", DAMAGE)
def test_a_row_of_people_or_uploads_that_changed_is_named(tmp_path: Path, table: str) -> None:
    """So that no flipped bit makes a reader an admin, or hides what was refused."""
    statement, named = DAMAGE[table]
    with Store.open(tmp_path / "lab.db") as store:
        organization, project, _ = home(store)
        user = store.people.enrol(organization, "ada@lab.org")[0].id
        store.people.give_role(organization, project, user, "project-viewer")
        key = store.people.issue(organization, user, permission="read").key
        store.people.caller(key)
        store.uploads.begin("raw_data", "a", Scope(organization, project), user, ["a.csv"], {})
        with store.transaction() as db:
            store.uploads.attach(db, "a", "file", Attachment("a.csv", "text/csv", 5, "0"))
        assert store.verify() == []
        with store.transaction() as db:
            db.execute(statement)
        assert any(named in text for text in store.verify())
        if table in ("keys", "members"):  # these are compared at every use, too
            with pytest.raises(Damaged, match=named.capitalize()):
                store.people.caller(key)
    with Store.open(tmp_path / "lab.db") as store, pytest.raises(Damaged, match=named), store.transaction() as db:
        db.execute(f"select * from {table}").fetchall()


def test_rows_of_an_older_store_get_their_checksums(tmp_path: Path) -> None:
    path = tmp_path / "lab.db"
    with Store.open(path) as store:
        organization, _, user = home(store)
        key = store.people.issue(organization, user).key
        with store.transaction() as db:
            for table in row_checksums.TABLES:
                db.execute(f'update "{table}" set crc = null')
    with Store.open(path) as store:
        assert store.people.caller(key).user.id == user
        with store.transaction() as db:
            row_checksums.fill(db)
        for table in ("keys", "members", "audit"):
            assert store.execute(f'select count(*) from "{table}" where crc is null').fetchone() == (0,)
        assert store.verify() == []
