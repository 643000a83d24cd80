"""What a store on PostgreSQL remembers between two readings: nothing that is not so any more is ever given."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import psycopg
import pytest
from support.postgres import server, turns_of
from support.record_store import Lab

from workbench.errors import NotFound
from workbench.records import Instance
from workbench.store.postgres import moment
from workbench.store.postgres.address import Address
from workbench.store.store import Store


@pytest.fixture
def lab() -> Iterator[Lab]:
    made = Lab.of(Store.open(server().address()))
    yield made
    made.store.close()


@pytest.fixture
def other(lab: Lab) -> Iterator[Lab]:
    """The same store in another server."""
    made = Lab.of(Store.open(str(lab.store.location)))
    yield made
    made.store.close()


@pytest.fixture
def asked(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return turns_of(monkeypatch)


def name_of(lab: Lab, id: str) -> str:
    found: str = lab.store.reading(lambda: lab.rows.get(Instance, id, lab.scope).name)
    return found


def calm(lab: Lab, *ids: str) -> None:
    """Time goes by after the last change; then these cells are read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moment, "LONGEST_S", -1.0)
        lab.store.reading(lambda: None)
    for id in ids:
        name_of(lab, id)


def test_what_is_known_takes_one_turn(lab: Lab, asked: list[Any]) -> None:
    cell = lab.instance(name="cell")
    calm(lab, cell.id)
    asked.clear()
    assert name_of(lab, cell.id) == "cell"
    assert [len(statements) for (statements,) in asked] == [1], "the clock"


def test_what_another_server_wrote_is_read_next(lab: Lab, other: Lab) -> None:
    cell = lab.instance(name="cell")
    assert name_of(lab, cell.id) == name_of(lab, cell.id) == "cell"
    for number in range(5):
        other.rows.update(Instance, cell.id, {"name": f"cell {number}"}, other.scope)
        assert name_of(lab, cell.id) == f"cell {number}"


@pytest.mark.parametrize("second_is_known", [True, False])
def test_all_of_a_reading_is_of_one_moment(lab: Lab, other: Lab, second_is_known: bool) -> None:
    one, two = lab.instance(name="one"), lab.instance(name="two")
    calm(lab, one.id, *([two.id] if second_is_known else []))
    calls = []

    def read() -> tuple[str, str]:
        first = lab.rows.get(Instance, one.id, lab.scope).name
        if not calls:
            for id in (one.id, two.id):
                other.rows.update(Instance, id, {"name": f"new {id}"}, other.scope)
        calls.append(first)
        return first, lab.rows.get(Instance, two.id, lab.scope).name

    assert lab.store.reading(read) == (f"new {one.id}", f"new {two.id}")
    assert calls[0] == "one"


def test_an_error_that_comes_of_what_was_is_not_raised(lab: Lab, other: Lab) -> None:
    def there() -> str:
        found: str = lab.rows.find(Instance, "late", lab.scope).name
        return found

    with pytest.raises(NotFound):
        lab.store.reading(there)
    other.instance(name="late")
    assert lab.store.reading(there) == "late"


def test_a_reading_that_is_always_overtaken_ends(lab: Lab, other: Lab) -> None:
    cells = [lab.instance(name="cell") for _ in range(12)]
    calm(lab)
    calls, numbers = [], count()

    def read() -> str:
        for cell in cells:
            found: str = lab.rows.get(Instance, cell.id, lab.scope).name
            other.rows.update(Instance, cell.id, {"notes": f"{next(numbers)}"}, other.scope)
        calls.append(found)
        return found

    assert lab.store.reading(read) == "cell"
    assert len(calls) == 1, "the one that was read as ever"


def test_each_change_moves_the_clock_of_the_store(lab: Lab) -> None:
    people, organization = lab.store.people, lab.scope.organization_id
    user, _, _ = people.enrol(organization, "guest@lab")
    before = lab.store.latest()
    people.change_member(organization, user.id, is_active=False)  # gives no time to what it changes
    assert lab.store.latest() > before
    before = lab.store.latest()
    with lab.store.transaction() as db:
        db.execute("select 1")
    assert lab.store.latest() == before


def test_what_turns_out_to_write_writes_once(lab: Lab, other: Lab) -> None:
    cell = lab.instance(name="cell")
    calls = []

    def work() -> list[str]:
        lab.rows.get(Instance, cell.id, lab.scope)
        if not calls:
            other.rows.update(Instance, cell.id, {"name": "renamed"}, other.scope)
            calls.append(1)
            lab.rows.find(Instance, "renamed", lab.scope)  # is not in memory
        calls.append(1)
        lab.instance(name="written")
        return [lab.rows.get(Instance, cell.id, lab.scope).name, *lab.names("instances", {"name": "written"})]

    assert lab.store.reading(work) == ["renamed", "written"]
    assert len(calls) == 2
    assert lab.names("instances", {"name": "written"}) == ["written"]


def test_what_was_read_before_it_was_overtaken_is_not_what_a_change_is_made_from(lab: Lab, other: Lab) -> None:
    cell = lab.instance(name="cell")
    calm(lab, cell.id)
    other.rows.update(Instance, cell.id, {"name": "renamed"}, other.scope)
    seen = []

    def work() -> None:
        seen.append(lab.rows.get(Instance, cell.id, lab.scope).name)
        lab.instance(name=f"made from {seen[-1]}")

    lab.store.reading(work)
    assert seen == ["cell", "renamed"]
    assert [name for name in lab.names("instances", {}) if "made" in name] == ["made from renamed"]


def test_a_snapshot_that_goes_on_sees_its_moment_though_something_is_written(lab: Lab) -> None:
    cell = lab.instance(name="cell")

    def work() -> tuple[str, str]:
        with lab.store.snapshot() as db:
            query = "select name from instances where id = ?"
            ((before,),) = db.execute(query, [cell.id]).fetchall()
            lab.rows.update(Instance, cell.id, {"name": f"{before}!"}, lab.scope)
            ((after,),) = db.execute(query, [cell.id]).fetchall()
        return before, after

    assert lab.store.reading(work) == ("cell", "cell")
    assert name_of(lab, cell.id) == "cell!"


def test_what_was_changed_past_the_workbench_is_seen_soon(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = lab.instance(name="cell")
    assert name_of(lab, cell.id) == name_of(lab, cell.id) == "cell"
    with psycopg.connect(host=str(server().folder), user="lab", dbname="lab", autocommit=True) as direct:
        direct.execute(f"update {Address.of(str(lab.store.location)).schema}.instances set name = 'other'")
    assert name_of(lab, cell.id) == "cell", "it is in memory"
    monkeypatch.setattr(moment, "LONGEST_S", -1.0)
    assert name_of(lab, cell.id) == "other"


def test_a_connection_that_was_lost_is_tried_again(lab: Lab, other: Lab) -> None:
    cell = lab.instance(name="cell")
    assert name_of(lab, cell.id) == "cell"
    other.store.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() "
        "and datname = current_database() and application_name = 'battery-workbench'"
    ).fetchall()
    assert name_of(lab, cell.id) == "cell"


def test_a_memory_has_a_bound(lab: Lab, asked: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moment, "MOST_BYTES", 0)
    cell = lab.instance(name="cell")
    calm(lab, cell.id)
    asked.clear()
    assert name_of(lab, cell.id) == "cell"
    assert [len(statements) for (statements,) in asked] == [2], "the record is asked for again, with the clock"


def test_numbers_that_are_equal_and_not_the_same_are_two_questions(lab: Lab) -> None:
    def asked(value: float) -> object:
        return lab.store.reading(lambda: lab.store.execute("select ?", [value]).fetchone()[0])

    for _ in range(2):
        assert [type(asked(value)) for value in (1, 1.0)] == [int, float]
