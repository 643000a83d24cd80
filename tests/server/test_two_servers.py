"""Two servers on one store on PostgreSQL, each with a disk of its own, as two machines have: what one of them knows,
the other one knows at the next request."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient
from support.full_organization import RATINGS, begin, parquet, put, samples
from support.postgres import server
from support.server_in_process import Lab
from support.waiting import until

from server import Settings, create_app
from server.limits import Rates
from workbench.errors import TooMany
from workbench.store.cache.cache import Cache
from workbench.store.db import row_checksums
from workbench.store.postgres import shared as shared_tables
from workbench.store.store import Store

RECIPE = {
    "plan": {"steps": {"tests": {"op": "list", "source": "measurements"}}},
    "transform": "def transform(data, params):\n    return {'data': [], 'layout': {'title': {'text': 'both'}}}\n",
}


@pytest.fixture(scope="module")
def address() -> str:
    made: str = server().address()
    return made


@pytest.fixture(scope="module")
def machines(address: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Lab]]:
    """The same store on two machines."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        labs = []
        for name in ("first", "second"):
            patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp(name)))
            app = create_app(address, Settings(readers=0), protected=False)
            client = TestClient(app, base_url="http://localhost", follow_redirects=False)
            labs.append(Lab(app, stack.enter_context(client)))
        assert labs[0].store.path != labs[1].store.path
        yield labs


@pytest.fixture
def stores(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Store]]:
    """The same store as two machines open it."""
    with ExitStack() as stack:
        opened = []
        for name in ("first", "second"):
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
            opened.append(stack.enter_context(Store.open(address)))
        yield opened


def test_both_are_ready_and_a_revoked_key_opens_neither(machines: list[Lab]) -> None:
    first = machines[0]
    who = first.person("guest@lab", everywhere="project-viewer")
    path = f"/projects/{first.project.id}"
    for lab in machines:
        assert lab.client.get("/readyz").json()["reasons"] == []
        assert lab.call("GET", path, who).status_code == 200
    first.store.people.revoke(who.organization_id, who.key_id)
    assert [lab.call("GET", path, who).status_code for lab in machines] == [401, 401]


@pytest.mark.parametrize("how", ["revoked", "suspended", "removed", "role taken", "expired", "project deleted"])
def test_what_a_caller_may_not_do_any_more_no_server_does(
    machines: list[Lab], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both know the caller well: they asked again and again."""
    first = machines[0]
    who = first.person(f"{how.replace(' ', '-')}@lab")
    organization, people = who.organization_id, first.store.people
    project = first.json("POST", "/projects", json={"name": how})["id"]
    people.give_role(organization, project, who.user_id, "project-viewer")
    asked = f"/projects/{project}/records/measurements"
    for _ in range(4):
        assert [lab.call("GET", asked, who).status_code for lab in machines] == [200, 200]
    if how == "revoked":
        people.revoke(organization, who.key_id)
    elif how == "suspended":
        people.change_member(organization, who.user_id, is_active=False)
    elif how == "removed":
        people.remove_member(organization, who.user_id)
    elif how == "role taken":
        people.take_role(project, who.user_id)
    elif how == "expired":
        with first.store.transaction() as db:
            soon = first.store.tick(db) + 10**9
            db.execute("update keys set expires_at = ? where id = ?", (soon, who.key_id))
            row_checksums.keep(db, "keys", "id = ?", [who.key_id])
        assert [lab.call("GET", asked, who).status_code for lab in machines] == [200, 200]
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() + 1001)
    else:
        first.call("DELETE", f"/projects/{project}")
    wanted = 404 if how in ("role taken", "project deleted") else 401
    assert [lab.call("GET", asked, who).status_code for lab in reversed(machines)] == [wanted, wanted]


def test_what_one_server_wrote_the_other_one_reads(machines: list[Lab]) -> None:
    first, second = machines
    path = f"/cell_instances/{cell(first, 'both write')}"
    for number in range(6):
        writes, reads = (first, second) if number % 2 else (second, first)
        assert writes.call("PATCH", path, json={"name": f"cell {number}"}).status_code == 200
        assert [reads.json("GET", path)["name"] for _ in range(2)] == [f"cell {number}"] * 2


def test_a_session_of_the_page_holds_on_both_and_ends_on_both(machines: list[Lab]) -> None:
    first, second = machines
    opened = first.store.sign_ins.open("10.0.0.1", key=first.admin.key)
    assert second.store.sign_ins.signed_in(opened.secret, opened.token).caller.user.id == first.admin.user_id
    code = first.store.sign_ins.code(first.admin.key_id)
    again = second.store.sign_ins.open("10.0.0.1", code=code)
    second.store.sign_ins.close(opened.secret, opened.token)
    for lab in machines:
        with pytest.raises(Exception, match="is over"):
            lab.store.sign_ins.signed_in(opened.secret, opened.token)
        lab.store.sign_ins.signed_in(again.secret, again.token)


def cell(lab: Lab, name: str = "LG M50") -> str:
    body = {"name": name, "ratings": RATINGS, "project_id": lab.project.id}
    spec = lab.json("POST", "/cell_specifications", json=body)["id"]
    made: str = lab.json("POST", f"/cell_specifications/{spec}/cell_instances", json={"name": "Cell"})["id"]
    return made


def test_an_upload_may_change_servers_at_each_step(machines: list[Lab]) -> None:
    first, second = machines
    instance = cell(first)
    begun = begin(first, first.admin, instance, "m")
    assert put(second, begun["uploads"][0], parquet(samples())).status_code == 200
    body = {"cell_instance_id": instance, "measurement": {"name": "m"}, "measurement_type": "time_series"}
    path = f"/cell_measurements/{begun['measurement_id']}"
    assert first.json("POST", f"{path}/confirm-upload", json=body)["processing_status"] == "ready"
    found = second.call("GET", f"{path}/time_series/download")
    answers = [lab.client.get(found.headers["location"], follow_redirects=False) for lab in machines]
    assert answers[0].status_code == answers[1].status_code == 200
    assert answers[0].content == answers[1].content
    held = first.store.execute("select count(*) from upload_objects where piece is not null").fetchone()
    assert held == (0,), "what was stored is not kept twice"


def test_files_of_an_ingest_may_arrive_at_one_and_be_read_by_the_other(machines: list[Lab]) -> None:
    first, second = machines
    place = f"/projects/{first.project.id}/ingests"
    rows = "\n".join(f"{n},{1.0 if n % 20 < 10 else -1.0},{3.5 + n / 1000}" for n in range(60))
    data = f"Time [s],Current [A],Voltage [V]\n{rows}\n".encode()
    id = first.json("POST", f"{place}/files", params={"name": "a.csv"}, content=data)["file"]
    begun = second.json("POST", place, json={"files": [id]})
    shown: dict[str, Any] = {}

    def ended() -> bool:
        shown.update(first.json("GET", f"{place}/{begun['id']}"))
        return shown["state"] != "running"

    until(ended, "the ingest", 60)
    assert (shown["state"], shown["done"], shown["of"]) == ("done", 1, 1)
    assert shown["report"]["files"][0]["path"] == "a.csv"
    for lab in machines:
        assert lab.call("POST", place, json={"files": [id]}).status_code == 404, "it was taken"


def test_a_run_that_waits_for_long_is_not_said_to_have_ended(
    machines: list[Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server said after an hour that the first one had been stopped, and to ingest the same files again."""
    first, second = machines
    place, ingests = f"/projects/{first.project.id}/ingests", first.app.state.workbench.ingests
    free = threading.Event()
    before = ingests._pool.submit(free.wait, 60)  # a long run of somebody else
    try:
        id = first.json("POST", f"{place}/files", params={"name": "a.csv"}, content=b"a,b\n1,2\n")["file"]
        run = first.json("POST", place, json={"files": [id]})["id"]
        for later in (3500, 7000):
            clock = SimpleNamespace(time=lambda later=later: time.time() + later, monotonic=time.monotonic)
            monkeypatch.setattr("server.ingests.time", clock)
            monkeypatch.setattr("workbench.store.db.lease.time", clock)
            if later == 3500:
                ingests.beat()
        monkeypatch.setattr("workbench.living_process.machine", lambda: "the second machine")
        assert second.json("GET", f"{place}/{run}")["state"] == "running"
    finally:
        monkeypatch.undo()
        free.set()
    before.result(60)
    until(lambda: second.json("GET", f"{place}/{run}")["state"] == "done", "the run", 60)
    ingests.beat()
    assert second.json("GET", f"{place}/{run}")["state"] == "done", "what has ended stays as it was noted"


def test_a_run_of_analyses_is_seen_by_both(machines: list[Lab]) -> None:
    first, second = machines
    place = f"/projects/{first.project.id}/analyses/runs"
    run = first.call("POST", place, json={"type": "retention", "check": True}).json()
    until(lambda: second.json("GET", f"{place}/{run['id']}")["state"] == "done", "the run", 60)


def test_a_figure_that_one_drew_is_taken_by_the_other(machines: list[Lab]) -> None:
    body = {"config": RECIPE}
    answers = [lab.json("POST", f"/projects/{lab.project.id}/figures", json=body) for lab in machines]
    assert [one["cache"]["figure"] for one in answers] == ["miss", "hit"]
    assert answers[0]["figure"] == answers[1]["figure"]


def caches(stores: list[Store]) -> list[Cache]:
    return [Cache(f"{store.path}.cache", shared=store.shared) for store in stores]


def test_a_figure_asked_for_on_both_at_once_is_drawn_once(stores: list[Store]) -> None:
    drawing, waited = threading.Event(), threading.Event()

    def draw() -> tuple[bytes, dict[str, Any]]:
        drawing.set()
        assert waited.wait(60)
        return b"f" * (2 << 20), {"log": ""}

    with ThreadPoolExecutor(2) as pool:
        first, second = caches(stores)
        one = pool.submit(first.get_or_make, "figure", "once", draw)
        assert drawing.wait(60)
        other = pool.submit(
            second.get_or_make, "figure", "once", lambda: pytest.fail("drawn twice"), waiting=waited.set
        )
        assert (one.result(60).hit, other.result(60).hit) == (False, True)
        assert other.result().data == one.result().data
        assert second.stats.shared_hits == 1
        first.close()
        second.close()


def test_who_was_killed_while_it_drew_is_not_waited_for_longer_than_its_lease(
    stores: list[Store], address: str
) -> None:
    first, second = stores
    assert first.shared is not None
    assert second.shared is not None
    assert first.shared.take_lease("figure", "killed", "elsewhere:1:a")
    assert not second.shared.leases.take("figure", "killed")
    second.shared.renew_leases([("figure", "killed", "elsewhere:1:a")])
    with psycopg.connect(address.partition("&schema")[0], autocommit=True) as db:
        schema = address.rpartition("=")[2]
        db.execute(f"UPDATE {schema}.server_leases SET until = clock_timestamp() - interval '1 ms'".encode())
    assert second.shared.leases.take("figure", "killed")
    first.shared.drop_lease("figure", "killed", "elsewhere:1:a")
    assert not first.shared.leases.take("figure", "killed"), "the lease of another one stays"
    second.shared.leases.give_back("figure", "killed")


def test_a_damaged_entry_is_a_miss(stores: list[Store], address: str) -> None:
    first, second = caches(stores)
    first.put("figure", "k", b"bytes")
    schema = address.rpartition("=")[2]
    with psycopg.connect(address.partition("&schema")[0], autocommit=True) as db:
        db.execute(f"UPDATE {schema}.server_entries SET data = 'other' WHERE key = 'k'".encode())
    assert second.get("figure", "k") is None
    first.close()
    second.close()


def test_the_oldest_entries_go_when_there_are_too_many(
    stores: list[Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_tables, "MOST_BYTES", 3500)
    monkeypatch.setattr(shared_tables, "_EVICT_EVERY", 2)  # after the first, the third, the fifth ...
    first, second = caches(stores)
    for n in range(7):
        first.put("figure", f"n{n}", b"x" * 800)
    assert [second.get("figure", f"n{n}") is not None for n in range(7)] == [False] * 4 + [True] * 3
    first.close()
    second.close()


def test_what_is_shared_is_there_also_inside_a_transaction(tmp_path: Path) -> None:
    with Store.open(server().address()) as store:
        with store.transaction():
            assert store.shared is not None
            store.shared.note("kind", "key", b"value")
        assert store.shared.noted("kind", "key") == b"value"
        assert [store.shared.take_note("kind", "key") for _ in range(2)] == [b"value", None]


def test_the_rate_of_a_key_holds_over_both(stores: list[Store]) -> None:
    rates = [Rates(0.001, 6, store.shared, "test") for store in stores]

    def allowed(at: int) -> bool:
        try:
            rates[at].take("key")
        except TooMany:
            return False
        return True

    assert [allowed(n % 2) for n in range(8)] == [True] * 6 + [False] * 2


def test_buckets_that_nobody_asks_for_go(
    stores: list[Store], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_tables, "_TIDY_EVERY", 1)
    rates = Rates(1.0, 6, stores[0].shared, "old")
    rates.take("one")
    schema = address.rpartition("=")[2]
    with psycopg.connect(address.partition("&schema")[0], autocommit=True) as db:
        db.execute(f"UPDATE {schema}.server_rates SET at = at - interval '2 hours'".encode())
        rates.take("other")
        assert db.execute(f"SELECT key FROM {schema}.server_rates".encode()).fetchall() == [("old other",)]


def test_without_the_tables_each_is_as_if_alone(stores: list[Store], address: str) -> None:
    first, second = caches(stores)
    rates = Rates(0.001, 2, stores[0].shared, "alone")
    schema = address.rpartition("=")[2]
    with psycopg.connect(address.partition("&schema")[0], autocommit=True) as db:
        for table in ("entries", "leases", "rates"):
            db.execute(f"ALTER TABLE {schema}.server_{table} RENAME TO away_{table}".encode())
        try:
            assert first.get_or_make("figure", "alone", lambda: (b"a", {})).data == b"a"
            assert not second.get_or_make("figure", "alone", lambda: (b"a", {})).hit
            rates.take("key")
            rates.take("key")
            with pytest.raises(TooMany):
                rates.take("key")
        finally:
            for table in ("entries", "leases", "rates"):
                db.execute(f"ALTER TABLE {schema}.away_{table} RENAME TO server_{table}".encode())
    first.close()
    second.close()
