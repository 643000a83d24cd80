"""How often a store asks PostgreSQL. Each turn is a message and an answer, which over a network cost more than what is
asked: so what can go together goes together, and nothing is lost or hidden by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest
from starlette.testclient import TestClient
from support.many_files import write
from support.postgres import server, turns_of
from support.record_store import Lab

import workbench as wb
from server import Settings, create_app
from workbench.records import Instance
from workbench.store.objects.relocate import keep_samples
from workbench.store.objects.status import status
from workbench.store.postgres import connection, moment, raw_connection
from workbench.store.postgres.raw_connection import RawConnection
from workbench.store.store import Store
from workbench.table import Table


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def lab() -> Iterator[Lab]:
    made = Lab.of(Store.open(server().address()))
    yield made
    made.store.close()


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    return turns_of(monkeypatch)


def series(rows: int) -> Table:
    noise = np.random.default_rng(rows).normal(0, 1, rows)
    return Table.of({"Time [s]": np.arange(rows) * 1.0, "Voltage [V]": noise})


def test_changes_go_together_and_are_seen_by_what_is_asked_after_them(lab: Lab, turns: list[object]) -> None:
    with lab.store.transaction() as db:
        turns.clear()
        for number in range(5):
            db.execute("insert into revisions (name, revision) values (?, ?)", (f"t{number}", number))
        assert turns == []
        assert db.execute("select count(*) from revisions where name like 't_'").fetchone() == (5,)
        assert len(turns) == 1
        changed = db.execute("update revisions set revision = 9 where name like 't_'")
        assert len(turns) == 1
        assert changed.rowcount == 5
        assert len(turns) == 2
    assert lab.store.row_revisions(["t0", "t4"]) == {"t0": 9, "t4": 9}


@pytest.mark.parametrize("then", ["end", "question"])
def test_a_change_that_fails_later_stores_nothing(lab: Lab, then: str) -> None:
    def change_twice() -> None:
        with lab.store.transaction() as db:
            db.execute("insert into revisions (name, revision) values ('twice', 1)")
            db.execute("insert into revisions (name, revision) values ('twice', 2)")
            if then == "question":
                db.execute("select 1")

    with pytest.raises(psycopg.IntegrityError):
        change_twice()
    assert lab.store.row_revisions(["twice"]) == {"twice": 0}
    assert lab.instance(name="after").name == "after"


def test_a_value_that_cannot_be_stored_is_refused_where_it_is_given(lab: Lab) -> None:
    with pytest.raises(OverflowError), lab.store.transaction() as db:
        db.execute("insert into revisions (name, revision) values ('x', ?)", (2**63,))


def test_many_and_large_changes_do_not_wait_for_the_end(lab: Lab, turns: list[object]) -> None:
    with lab.store.transaction() as db:
        turns.clear()
        statement = "insert into revisions (name, revision) values (?, 1)"
        db.executemany(statement, [(f"m{number}",) for number in range(connection.MOST_WAITING)])
        assert len(turns) == 1
        db.execute("insert into chunks values (1, ?, ?)", (b"", b"x" * (connection.MOST_WAITING_BYTES + 1)))
        assert len(turns) == 2
        db.execute("delete from revisions where name like 'm%'")
        db.execute("delete from chunks")


def test_the_clock_is_written_once_a_transaction_and_read_as_it_is(lab: Lab, turns: list[object]) -> None:
    with lab.store.transaction() as db:
        turns.clear()
        times = [lab.store.tick(db) for _ in range(10)]
        assert turns == []
        assert times == sorted(set(times))
        assert lab.store.latest() == times[-1]
        later = lab.store.tick(db)
    assert lab.store.latest() == later
    with Store.open(str(lab.store.place)) as other, other.transaction() as db:
        assert other.tick(db) > later
    with lab.store.transaction() as db:
        db.execute("update facts set value = to_json(?) where name = 'clock'", (later * 2,))
        assert lab.store.tick(db) > later * 2
    with lab.store.transaction() as db:
        db.execute("update facts set value = to_json(?) where name = 'clock'", (later,))


def test_a_plan_is_made_anew_when_a_statement_ran_twice_as_often(lab: Lab, turns: list[object]) -> None:
    cell = lab.instance(name="cell")
    for _ in range(3 * raw_connection.PLANNED_FOR):
        lab.rows.get(Instance, cell.id, lab.scope)
    with lab.store.snapshot() as db:
        query = (
            "select name, generic_plans + custom_plans as runs from pg_prepared_statements where statement like ?"
        )
        found = db.execute(query, ('%FROM "instances" AS t%t.id = $%',)).fetchall()
    assert len(found) == 1, "the older plan was given up"
    assert found[0][1] < 3 * raw_connection.PLANNED_FOR


def test_a_snapshot_asks_with_its_beginning_and_does_not_wait_for_its_end(lab: Lab, turns: list[object]) -> None:
    cell = lab.instance(name="cell")
    turns.clear()
    with lab.store.snapshot():
        pass
    assert turns == []
    lab.rows.get(Instance, cell.id, lab.scope)
    assert len(turns) == 1
    turns.clear()
    with lab.store.snapshot():
        lab.store.identity()
        lab.store.latest()
        lab.store.row_revisions(["instances"])
    assert len(turns) == 1


def test_a_file_is_ingested_in_few_turns(tmp_path: Path, turns: list[object]) -> None:
    write(tmp_path / "files", 12)
    with wb.open(server().address(), executor="serial") as bench:
        bench.ingest(tmp_path / "files", specification="S", rating="1Ah,3V,4.2V", name_rule="{cell}_{test}")
        write(tmp_path / "more", 13)
        turns.clear()
        report = bench.ingest(
            tmp_path / "more" / "cell00012_life.csv",
            specification="S",
            rating="1Ah,3V,4.2V",
            name_rule="{cell}_{test}",
        )
    assert len(report.stored) == 1
    assert len(turns) <= 60


def test_a_short_series_is_not_looked_at_for_its_objects(lab: Lab, tmp_path: Path) -> None:
    keep_samples(lab.store, f"folder:{tmp_path}")
    short, long = (lab.measurement(name=name) for name in ("short", "long"))
    with lab.store.transaction() as db:
        for owner, rows in ((short.id, 10), (long.id, 20_000)):
            with lab.store.series.writer(owner, "series") as writer:
                writer.add(series(rows))
                writer.publish(db)
        waits = db.execute("select count(*) from series_waiting").fetchone()
    assert waits == (1,)
    lab.store.series.tidy()
    assert status(lab.store)[1:4:2] == (1, 0)


def test_a_request_takes_few_turns(tmp_path: Path, turns: list[object], monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "files", 3)
    address = server().address()
    with wb.open(address) as bench:
        bench.ingest(tmp_path / "files", specification="S", rating="1Ah,3V,4.2V", name_rule="{cell}_{test}")
        ids = bench.measurements.list(limit=2)["id"]
        work = bench.backend
        key = work.store.people.issue(work.organization.id, work.actor).key
        project = work.project.id
    with TestClient(create_app(address, Settings(hosts=None)), headers={"X-API-Key": key}) as client:
        pages = f"/projects/{project}/records/measurements"
        found = f"/search?project_id={project}"
        for known, new, most in (
            (f"/cell_measurements/{ids[0]}", f"/cell_measurements/{ids[1]}", 1),
            (f"{pages}?limit=2", f"{pages}?limit=1", 2),
            (f"{found}&q=cell00001", f"{found}&q=cell00002", 2),
        ):
            for seconds in (600.0, -1.0, 600.0, 600.0):  # time goes by once, and then it stands still
                monkeypatch.setattr(moment, "LONGEST_S", seconds)
                assert client.get(known).status_code == 200
            for path, allowed in ((known, 1), (new, most)):
                turns.clear()
                assert client.get(path).status_code == 200
                assert len(turns) <= allowed, path


def test_a_short_series_is_verified_in_few_turns(lab: Lab, turns: list[object]) -> None:
    owner = lab.measurement().id
    with lab.store.series.writer(owner, "series") as writer:
        writer.add(series(500))
        writer.publish()
    turns.clear()
    assert lab.store.series.wrong([(owner, "series")]) == []
    assert len(turns) <= 6
    with lab.store.transaction() as db:
        db.execute("update chunks set data = ? where key = (select max(key) from chunks)", (b"other",))
    assert "fails its checksum" in lab.store.series.wrong([(owner, "series")])[0]


@pytest.mark.parametrize("writes", [True, False])
def test_a_store_goes_on_after_it_was_interrupted_in_the_middle(
    lab: Lab, writes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = lab.instance(name="before")

    def interrupted(self: RawConnection) -> None:
        raise KeyboardInterrupt

    def work() -> None:
        if writes:
            lab.instance(name="half")
        else:
            lab.rows.get(Instance, cell.id, lab.scope)

    with monkeypatch.context() as patch:
        patch.setattr(RawConnection, "_received", interrupted)
        with pytest.raises(KeyboardInterrupt):
            work()
    assert lab.rows.get(Instance, cell.id, lab.scope).name == "before"
    assert lab.instance(name="after").name == "after"
    assert "half" not in lab.names("instances", {})
