"""A store on PostgreSQL when something is away: the errors name the place and the fix, nothing is half stored, and a
store that is open goes on when PostgreSQL is back."""

from __future__ import annotations

import base64
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from support.postgres import Server, programs, server
from support.record_store import Lab

from workbench.errors import BadRequest, NotFound, StoreAway, StoreError, StoreTooNew, StoreTooOld
from workbench.store.db import formats
from workbench.store.postgres import connections
from workbench.store.store import Store


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield server().address()


@pytest.fixture(scope="module")
def lab(address: str) -> Iterator[Lab]:
    made = Lab.of(Store.open(address))
    yield made
    made.store.close()


def studies(lab: Lab) -> list[str]:
    return [one.name for one in lab.rows.page("studies", lab.scope).items]


def cut_others(address: str) -> int:
    """End all connections of the store's processes, as a restart does; how many there were."""
    query = (
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND application_name = 'battery-workbench'"
    )
    with psycopg.connect(address.partition("&schema")[0], autocommit=True) as connection:
        found = connection.execute(query).fetchone()
    assert found is not None
    return int(found[0])


def test_an_open_store_goes_on_after_its_connections_were_cut(lab: Lab, address: str) -> None:
    cell = lab.instance(name="before")
    assert cut_others(address) >= 2
    assert lab.rows.get("instances", cell.id, lab.scope).name == "before"
    assert cut_others(address) >= 1
    assert lab.instance(name="after").name == "after"


@pytest.mark.parametrize("then", ["end", "question"])
def test_a_text_that_no_index_holds_is_refused_in_words(lab: Lab, then: str) -> None:
    long = base64.b32encode(random.Random(1).randbytes(4000)).decode()

    def keep(name: str) -> None:
        with lab.store.transaction() as db:
            db.execute("insert into revisions (name, revision) values (?, 1)", (name,))
            if then == "question":
                db.execute("select 1")

    with pytest.raises(BadRequest, match=r"A text of 'revisions' is too long .* Shorten it"):
        keep(long)
    assert lab.store.row_revisions([long]) == {long: 0}
    keep(f"{then}{long[:2500]}")


def test_a_transaction_that_loses_its_connection_stores_nothing(lab: Lab, address: str) -> None:
    with pytest.raises(StoreAway, match="cannot be reached"), lab.store.transaction() as db:  # noqa: PT012
        lab.rows.create("studies", {"name": "half"}, scope=lab.scope, connection=db)
        assert studies(lab) == ["half"]
        cut_others(address)
        lab.rows.create("studies", {"name": "other half"}, scope=lab.scope, connection=db)
    assert studies(lab) == []
    lab.rows.delete("studies", lab.make("studies", name="half").id, lab.scope)


def test_a_snapshot_that_loses_its_connection_says_so(lab: Lab, address: str) -> None:
    with pytest.raises(StoreError, match="cannot be reached"), lab.store.snapshot():  # noqa: PT012
        studies(lab)
        cut_others(address)
        studies(lab)
    assert studies(lab) == []


def test_a_snapshot_that_has_read_nothing_yet_takes_another_connection(lab: Lab, address: str) -> None:
    assert studies(lab) == []
    with lab.store.snapshot():
        assert cut_others(address) >= 1
        assert studies(lab) == []


def test_a_writer_that_waits_too_long_is_told_why(lab: Lab, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BUSY_SECONDS", 1)
    waits = pytest.raises(StoreAway, match="another process has been writing")
    with Store.open(address) as other, lab.store.transaction(), waits, other.transaction():
        pass
    with lab.store.transaction() as db:  # it waited for its own lock alone
        made = lab.rows.create("studies", {"name": "then"}, scope=lab.scope, connection=db)
        lab.rows.delete("studies", made.id, lab.scope, connection=db)


def test_postgres_soon_notices_a_writer_whose_machine_is_gone(lab: Lab) -> None:
    query = "select reset_val from pg_settings where name like ?"
    with lab.store.transaction() as db:  # its lock stops all writers; the server's system asks after two hours
        settings = [int(value) for (value,) in db.execute(query, ("tcp_keepalives_%",))]
    assert len(settings) == 3
    assert all(0 < value <= 30 for value in settings)


def test_while_postgres_is_down_the_error_says_so_and_no_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "PAUSES", (0.0,))
    with pytest.raises(StoreError) as caught:
        Store.open(f"postgresql://lab:geheim@/lab?host={tmp_path}")
    assert "cannot be reached" in str(caught.value)
    assert "See that PostgreSQL runs" in str(caught.value)
    assert "geheim" not in str(caught.value)


@pytest.mark.long
def test_an_open_store_goes_on_after_postgres_itself_was_restarted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    binaries = programs()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed")
    own = Server(binaries, Path(tempfile.mkdtemp(prefix="wb-postgres-")))
    try:
        lab = Lab.of(Store.open(own.address()))
        cell = lab.instance(name="before")
        own.stop()
        with pytest.raises(StoreError, match="cannot be reached"):
            lab.rows.get("instances", cell.id, lab.scope)
        with pytest.raises(StoreError, match="cannot be reached"):
            lab.instance(name="meanwhile")
        own.start()
        assert lab.rows.get("instances", cell.id, lab.scope).name == "before"
        assert lab.instance(name="after").name == "after"
        assert lab.store.verify() == []
        lab.store.close()
    finally:
        own.close()


def test_a_store_is_not_made_where_none_is_wanted() -> None:
    address = server().address()
    for how in ({"create": False}, {"read_only": True}):
        with pytest.raises(NotFound, match=r"There is no store at 'postgresql://lab@/lab.*'workbench ingest'"):
            Store.open(address, **how)


def test_who_may_not_make_a_schema_is_told_what_an_administrator_runs(lab: Lab, address: str) -> None:
    name = address.rpartition("=")[2]
    own = address.replace("lab@", f"ann_{name}@").replace(f"={name}", f"=own_{name}")
    with psycopg.connect(address.partition("&schema")[0], autocommit=True) as connection:
        connection.execute(f"CREATE ROLE ann_{name} LOGIN")
        connection.execute("CREATE TABLE IF NOT EXISTS public.facts (name text)")  # of somebody else
        with pytest.raises(StoreError) as caught:
            Store.open(own)
        statement = f'CREATE SCHEMA "own_{name}" AUTHORIZATION ann_{name}'
        assert statement in str(caught.value)
        connection.execute(statement)
    with Store.open(own) as store:
        assert store.verify() == []


def test_many_may_make_a_store_at_once() -> None:
    address = server().address()
    with ThreadPoolExecutor(3) as pool:
        stores = [*pool.map(lambda _: Store.open(address), range(3))]
    assert len({store.identity() for store in stores}) == 1
    for store in stores:
        store.close()


def test_whole_numbers_beyond_64_bits_are_refused_as_by_sqlite(lab: Lab) -> None:
    with pytest.raises(OverflowError), lab.store.snapshot() as db:
        db.execute("select id from users where created_at > ?", [2**63])
    assert studies(lab) == []


def test_a_store_that_was_opened_to_read_is_not_changed(lab: Lab, address: str) -> None:
    with Store.open(address, read_only=True) as store:
        with pytest.raises(StoreError, match="opened to read only"):
            store.rows.create("studies", {"name": "a"}, scope=lab.scope)
        assert store.rows.organizations() == lab.store.rows.organizations()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("postgresql:///lab?schema=Lab", "cannot be the schema"),
        ("postgresql:///lab?schema=pg_lab", "cannot be the schema"),
        ("postgresql:///lab?schema=a b", "cannot be the schema"),
        ("postgresql:///lab?nonsense=1", "is not an address of PostgreSQL"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        Store.open(text)


def test_a_store_of_a_newer_workbench_is_refused_also_while_it_is_open(lab: Lab, address: str) -> None:
    with lab.store.transaction() as db:
        (said,) = db.execute("select value from facts where name = 'format'").fetchone()
        newer = said.replace(f'"number":{formats.migrations.FORMAT}', '"number":999').replace(
            f'"writer":{formats.migrations.FORMAT}', '"writer":999'
        )
        db.execute("update facts set value = to_json(?) where name = 'format'", [newer])
    with pytest.raises(StoreTooNew, match="can be read here but not changed"):
        lab.make("studies", name="a")
    with Store.open(address) as store, pytest.raises(StoreTooNew), store.transaction():
        pass
    with psycopg.connect(address.partition("&schema")[0], autocommit=True) as connection:
        schema = address.rpartition("=")[2]
        connection.execute(f"update {schema}.facts set value = to_json(%s::text) where name = 'format'", [said])
    assert Store.open(address).close() is None


def test_an_older_store_that_may_not_change_is_refused_in_words(lab: Lab, address: str) -> None:
    step = formats.migrations.MIGRATIONS[-1]
    with lab.store.transaction() as db:
        db.execute(f"delete from {formats.APPLIED} where name = ?", [step.name])
    with pytest.raises(StoreTooOld, match="older workbench"):
        Store.open(address, read_only=True)
    with lab.store.transaction() as db:
        db.execute(f"insert into {formats.APPLIED} (migration_set, name) values (?, ?)", step.key)


def test_a_backup_names_the_command_of_postgres(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="pg_dump --format=custom --schema="):
        lab.store.backup(tmp_path / "copy.db")


def test_verify_finds_a_record_and_a_word_that_changed(lab: Lab) -> None:
    cell = lab.instance(name="sound", notes="of lithium")
    assert lab.store.verify() == []
    with lab.store.transaction() as db:
        db.execute("update instances set notes = 'of sodium' where id = ?", [cell.id])
        db.execute("update search_entries set tokens = ' other' where id = ?", [cell.id])
    findings = "\n".join(lab.store.verify())
    lab.rows.delete("instances", cell.id, lab.scope)
    assert f"'{cell.id}' is not as it was written" in findings
    assert f"search does not know the words of '{cell.id}'" in findings


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not fork")
def test_a_forked_process_has_connections_of_its_own(lab: Lab) -> None:
    cell = lab.instance(name="here")
    child = os.fork()
    if not child:  # it must not return to pytest
        try:
            ok = lab.rows.get("instances", cell.id, lab.scope).name == "here" and lab.make("studies", name="child")
            os._exit(0 if ok else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert studies(lab) == ["child"]
    assert lab.make("studies", name="parent").name == "parent"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            'DROP INDEX "measurements_unique_0"',
            r"no index 'measurements_unique_0' .*\(it should be CREATE UNIQUE INDEX",
        ),
        ("DROP INDEX search_entries_tokens", "no index 'search_entries_tokens'"),
        ('DROP INDEX "instances_rowid"', "no index 'instances_rowid'"),
        ("DROP INDEX alerts_plot", "no index 'alerts_plot'"),
        ("ALTER TABLE series DROP CONSTRAINT series_id_key", "'series' lacks a unique constraint"),
        ("ALTER TABLE chunks DROP CONSTRAINT chunks_pkey", "'chunks' lacks a primary key"),
        ("ALTER TABLE batches DROP CONSTRAINT batches_specification_id_fkey", "foreign key to 'specifications'"),
        (
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'alerts_plot'::regclass",
            "'alerts_plot' that can",
        ),
    ],
)
def test_what_a_stopped_restore_left_out_is_found(lab: Lab, address: str, change: str, said: str) -> None:
    assert lab.store.verify() == []
    with lab.store._connections.trial() as db:
        db.raw.execute(change.encode())
        (finding,) = lab.store.verify()
    assert re.search(said, finding), finding
