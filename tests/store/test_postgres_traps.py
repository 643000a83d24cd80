"""Where SQLite and PostgreSQL differ, a store answers the same on both: order, case, numbers, nulls, moments.

The database of these tests orders texts as English does, so an order that is left to the database is found.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.postgres import server
from support.record_store import RATINGS, Lab

from workbench.errors import NotFound
from workbench.records import Measurement, Model
from workbench.store.db.connections import Connections
from workbench.store.db.facts import set_fact
from workbench.store.postgres.connections import PostgresConnections
from workbench.store.postgres.raw_connection import RawConnection
from workbench.store.records.identities import Claimed, Entry
from workbench.store.records.search import search
from workbench.store.store import Store
from workbench.table import Column, Table

NAMES = ["b", "B", "a", "ä", "Ä", "A 10", "A 9", "_", "中文", "Z", "straße", "STRASSE", "é", "100 %", "1_0"]


@pytest.fixture(scope="module", params=["file", "postgres"])
def lab(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A store with measurements of these names, whose times of begin are set for every second one."""
    folder: Path = tmp_path_factory.mktemp("traps")
    place = folder / "lab.wb" if request.param == "file" else server().address()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        made = Lab.of(Store.open(place))
    cell = made.instance()
    for n, name in enumerate(NAMES):
        began = {"start_time": f"2026-01-{20 - n:02d}T12:00:00Z"} if n % 2 else {}
        made.measurement(cell, name=name, notes=f"note of {name}", tags=[f"Tag {name}"], **began)
    yield made
    made.store.close()


def names(lab: Lab, **page: object) -> list[str]:
    return [item.name for item in lab.rows.page(Measurement, lab.scope, limit=None, **page).items]


def test_texts_have_the_order_of_their_bytes(lab: Lab) -> None:
    found = names(lab, order_by="name")
    assert [name.casefold() for name in found] == sorted(name.casefold() for name in NAMES)
    assert [name.casefold() for name in names(lab, order_by="name", order="desc")] == sorted(
        (name.casefold() for name in NAMES), reverse=True
    )


def test_nulls_come_first_and_in_the_other_direction_last(lab: Lab) -> None:
    without = [name for n, name in enumerate(NAMES) if not n % 2]
    found = names(lab, order_by="start_time")
    assert found[: len(without)] == without
    assert names(lab, order_by="start_time", order="desc") == found[::-1]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ä", ["ä", "Ä"]),
        ("STRASSE", ["straße", "STRASSE"]),
        ("ß", ["straße", "STRASSE"]),
        ("%", ["100 %"]),
        ("_", ["_", "1_0"]),
        ("中", ["中文"]),
        ("\\", []),
        ("'", []),
    ],
)
def test_case_is_ignored_as_python_does_and_signs_mean_themselves(lab: Lab, text: str, found: list[str]) -> None:
    assert names(lab, where={"name": {"contains": text}}) == found
    assert names(lab, where={"notes": {"contains": f"OF {text}"}}) == [
        name for name in found if name.casefold().startswith(text.casefold())
    ]
    assert lab.list("measurements", {"nameContains": text}).table["name"].tolist() == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("straße", ["straße", "STRASSE"]),
        ("STRASS", ["straße", "STRASSE"]),
        ("ßE", ["straße", "STRASSE"]),
        ("中文", ["中文"]),
        ("00 %", ["100 %"]),
        ("1_0", ["1_0"]),
        ("1-0", ["1_0"]),  # by its note: a sign divides words, which must follow one another
        ("NOTE OF e", ["é"]),
        ("No of 中", ["中文"]),
        ("é", ["é"]),
        ("notes", []),
        ("te of", []),
        ("a'b", []),
    ],
)
def test_search_finds_names_by_any_part_and_words_by_their_beginning(
    lab: Lab, text: str, found: list[str]
) -> None:
    if len(text) < 2:
        text = f"of {text}"
    hits = search(lab.store, text, lab.scope, per_type=20, entity_types=["cell_measurement"], limit=100)
    assert {hit.name for hit in hits.results} == {*found}


@pytest.mark.parametrize(("text", "most"), [("no", 3), ("note", 3), ("straße", 3)])
def test_a_search_takes_few_turns_on_postgres(
    lab: Lab, text: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each statement is a message to PostgreSQL and an answer, which cost more than the search itself."""
    asked: list[object] = []
    for name in ("ask_together", "run"):
        own = getattr(RawConnection, name)
        monkeypatch.setattr(
            RawConnection, name, lambda self, *given, own=own: (asked.append(given[0]), own(self, *given))[1]
        )
    search(lab.store, text, lab.scope)  # names are kept from now on
    asked.clear()
    assert search(lab.store, text, lab.scope).total > 0
    assert len(asked) <= most, asked
    assert bool(asked) == (not lab.store.is_in_a_file)


def test_a_null_character_is_in_no_text(lab: Lab) -> None:
    assert names(lab, where={"name": "a\0"}) == []
    assert lab.list("measurements", {"ids": ["a\0"]}).total == 0
    with pytest.raises(NotFound):
        lab.rows.find(Measurement, "a\0b", lab.scope)


def test_tags_are_compared_with_case_ignored(lab: Lab) -> None:
    assert names(lab, where={"tags": {"any": ["TAG ä", "tag Z"]}}) == ["ä", "Ä", "Z"]
    assert names(lab, where={"tags": {"all": ["TAG ä", "tag Z"]}}) == []


@pytest.mark.parametrize("value", [0.1, 1e22, 5e-324, 1.7976931348623157e308, -0.0])
def test_numbers_in_json_come_back_to_the_bit(lab: Lab, value: float) -> None:
    cell = lab.instance(properties={"x": {"value": value, "unit": "A.h"}})
    assert lab.rows.get("instances", cell.id, lab.scope).properties["x"]["value"] == value
    listed = lab.list("instances", {"ids": [cell.id]}, ["properties.x.value"]).table
    (found,) = listed["properties.x.value"].tolist()
    assert repr(found) == repr(value)


def test_declared_numbers_in_json_are_floats(lab: Lab) -> None:
    lab.specification(name="whole", ratings={"capacity": {"value": 5, "unit": "A.h"}, **_VOLTAGES})
    fields = ["ratings.capacity.value", "ratings.capacity.unit"]
    listed = lab.list("cellSpecifications", {"nameContains": "whole"}, fields).table
    assert [listed[name].tolist() for name in listed.columns] == [[5.0], ["A.h"]]


_VOLTAGES = {"voltage_min": {"value": 2.5, "unit": "V"}, "voltage_max": {"value": 4.2, "unit": "V"}}


def test_truth_is_truth(lab: Lab) -> None:
    own = lab.make("models", config={}, chemistry="lithium_ion", is_custom_model=True)
    lab.make("models", config={}, chemistry="lithium_ion", is_custom_model=False)
    page = lab.rows.page(Model, lab.scope, where={"is_custom_model": True})
    assert [(item.id, item.is_custom_model) for item in page.items] == [(own.id, True)]


def test_more_than_ten_series_come_in_the_order_that_was_asked_for(lab: Lab) -> None:
    cell = lab.instance()
    made = [lab.measurement(cell, name=f"series {n}") for n in range(12)]
    for n, one in enumerate(made):
        with lab.store.series.writer(one.id, "cycles") as writer:
            writer.add(Table({"x": Column.from_python([*range(n + 1)], "integer")}, n + 1))
            writer.publish()
    asked = [one.id for one in reversed(made)]
    tables = lab.store.series.many(asked, ["x"], "cycles", scope=lab.scope)
    assert [table.n for table in tables.values()] == list(range(12, 0, -1))


def test_a_snapshot_is_one_moment_and_a_failed_transaction_leaves_nothing(lab: Lab) -> None:
    lab.specification(name="before")
    before = lab.rows.page("specifications", lab.scope, limit=1).total
    with lab.store.snapshot():
        assert lab.rows.page("specifications", lab.scope, limit=1).total == before
        other = threading.Thread(target=lambda: lab.specification(name="meanwhile"))
        other.start()
        other.join()
        assert lab.rows.page("specifications", lab.scope, limit=1).total == before
    assert lab.rows.page("specifications", lab.scope, limit=1).total == before + 1
    with pytest.raises(ZeroDivisionError), lab.store.transaction() as db:  # noqa: PT012
        lab.rows.create("specifications", {"name": "half", "ratings": RATINGS}, scope=lab.scope, connection=db)
        raise ZeroDivisionError
    assert lab.rows.page("specifications", lab.scope, limit=1).total == before + 1


def test_writers_wait_for_each_other_and_lose_nothing(lab: Lab) -> None:
    cell = lab.instance()
    stores = [lab.store, *(Store.open(lab.store.place) for _ in range(2))]

    def write(store: Store, n: int) -> None:
        for k in range(5):
            values = {"name": f"w {n} {k}", "instance_id": cell.id, "measurement_type": "properties"}
            store.rows.create("measurements", values, scope=lab.scope)

    threads = [threading.Thread(target=write, args=(store, n)) for n, store in enumerate(stores)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    page = lab.rows.page("measurements", lab.scope, where={"instance_id": cell.id}, limit=None)
    assert page.total == 15
    times = [item.created_at for item in page.items]
    assert times == sorted(set(times)), "the clock of a store gives no time twice"
    for one in stores[1:]:
        one.close()


def test_facts_come_back_as_they_were(lab: Lab) -> None:
    with lab.store.transaction() as db:
        for value in ('{"user": "a"}', "text", 7):
            set_fact(db, "a fact", value)
            assert db.execute("select value from facts where name = 'a fact'").fetchone() == (value,)
        db.execute("delete from facts where name = 'a fact'")


def test_a_person_who_signs_in_by_a_provider_stays_the_same(lab: Lab) -> None:
    entry = Entry(new_people="viewer", domains=("any",))
    someone = Claimed("https://provider.example", "subject", "someone@lab.example")
    found = {lab.store.identities.key_of(someone, entry) for _ in range(3)}
    assert len(found) == 1


def test_connections_are_counted(lab: Lab) -> None:
    with lab.store.snapshot():
        assert lab.store.connection_count() >= 1


def test_connections_to_both_can_do_the_same() -> None:
    """The store is written for either, and a type checker sees one of them alone."""
    needed, there = (
        {name for name in dir(kind) if not name.startswith("_")} for kind in (Connections, PostgresConnections)
    )
    assert needed <= there


def test_nothing_is_wrong_with_the_store(lab: Lab) -> None:
    assert lab.store.verify() == []


def test_postgres_ignores_case_exactly_as_python() -> None:
    with Store.open(server().address()) as store, store.snapshot() as db:
        every = [chr(n) for n in (*range(1, 0xD800), *range(0xE000, 0x110000))]
        letters = [one for n, one in enumerate(every) if one.casefold() != one or not n % 997]
        for start in range(0, len(letters), 4096):
            text = "|".join(letters[start : start + 4096])
            assert db.execute("select fold(?)", [text]).fetchone() == (text.casefold(),)
