"""What is found without reading all records is the same as what is found by reading them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from support.record_store import Lab

from workbench.records import Instance, Project
from workbench.store import Scope
from workbench.store.db.database_file import Host
from workbench.store.records import insertion_order, name_order, search
from workbench.store.records.insertion_order import InsertionOrder
from workbench.store.records.tables import fold

NAMES = [
    "Cell a",
    "cell A",
    "CELL",
    "a cell",
    "bcell",
    "Cellar 1",
    "çell",
    "x",
    "cel",
    "Zell cell",
    "cell\nb",
    "Straße",
]
NOTES = ["", "from the cell line", "graphite", "Cellulose"]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab.at(tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def full(lab: Lab) -> Lab:
    """Cells of two projects, some of the same name, and records that belong to no project."""
    other = lab.store.rows.create(Project, {"name": "cell project"}, scope=lab.scope)
    for project in (lab.scope.project_id, other.id):
        scope = lab.scope._replace(project_id=project)
        for k in range(2):
            spec = lab.specification(name=f"cell spec {k}", scope=scope)
            for n, name in enumerate(NAMES):
                lab.instance(spec, name=name, notes=NOTES[(n + k) % len(NOTES)] or None, scope=scope)
    lab.make("materials", name="cell glue", notes="for a cell")
    return lab


def scopes(lab: Lab) -> list[Scope]:
    organization, project = lab.scope.organization_id, lab.scope.project_id
    others = [one.id for one in lab.store.rows.page(Project, lab.scope).items]
    several = (*others,)
    return [
        lab.scope,
        Scope(organization, None),
        Scope(organization, None, several[:1]),
        Scope(organization, project, several),
        Scope("another organization", project),
    ]


@pytest.mark.parametrize("text", ["cell", "ce", "ll", "cell a", "CELL", "stras", "l\nb", "line", "gra", "project"])
def test_the_first_of_many_hits_are_those_of_all_hits(
    full: Lab, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scope in scopes(full):
        for most, kinds in ((1, None), (3, ["cell_instance", "project"]), (20, None)):
            monkeypatch.setattr(name_order, "MOST_ENTRIES", 0)
            read = search.search(full.store, text, scope, per_type=most, entity_types=kinds)
            monkeypatch.setattr(name_order, "MOST_ENTRIES", 10**6)
            monkeypatch.setattr(search, "MANY", 0)
            assert search.search(full.store, text, scope, per_type=most, entity_types=kinds) == read
            assert read.results or scope != full.scope or most < 20


def test_a_new_name_is_found_at_once(full: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MANY", 0)
    spec = full.specification(name="found")

    def hits() -> list[str]:
        found = search.search(full.store, "cell", full.scope, per_type=20, entity_types=["cell_instance"])
        return [hit.name for hit in found.results]

    before = hits()
    made = full.store.rows.create(Instance, {"name": "Cell 0 new", "specification_id": spec.id}, scope=full.scope)
    assert set(hits()) - set(before) == {"Cell 0 new"}
    full.store.rows.update(Instance, made.id, {"name": "Renamed"}, full.scope)
    assert hits() == before
    with full.store.transaction() as db:
        full.store.rows.update(Instance, made.id, {"name": "Cell 1 new"}, full.scope, connection=db)
        assert "Cell 1 new" in hits()
    full.store.rows.delete(Instance, made.id, full.scope)
    assert hits() == before


def test_a_search_with_many_hits_asks_once_what_changed(full: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MANY", 0)
    asked: list[int] = []
    revisions = Host.row_revisions

    def counted(store: Host, tables: Iterable[str]) -> dict[str, int]:
        asked.append(1)
        return revisions(store, tables)

    monkeypatch.setattr(Host, "row_revisions", counted)
    assert search.search(full.store, "cell", full.scope).results
    assert len(asked) == 1


def listed(lab: Lab, limit: int | None, **where: str) -> tuple[list[str], int]:
    found = lab.store.rows.plan_list("instances", lab.scope, where, ["id"], limit)
    return found.table["id"].tolist(), found.total


def test_the_first_of_a_list_are_those_of_the_whole_list(full: Lab) -> None:
    everything, total = listed(full, None)
    assert total == len(everything) == 2 * len(NAMES)
    assert listed(full, 5) == (everything[:5], total)
    named, held = listed(full, None, nameContains="cell")
    assert listed(full, 3, nameContains="cell") == (named[:3], held)
    assert listed(full, 3, nameContains="straße")[1] == 2
    assert listed(full, 3, nameContains="nowhere") == ([], 0)
    for order in ("asc", "desc"):
        pages = [
            full.store.rows.page(Instance, full.scope, limit=7, offset=n, order=order) for n in range(0, 24, 7)
        ]
        ids = [one.id for page in pages for one in page.items]
        assert ids == (everything if order == "asc" else everything[::-1])
        assert {page.total for page in pages} == {total}


def test_a_list_stays_in_order_where_rows_are_not(full: Lab) -> None:
    first, *_ = listed(full, None)[0]
    assert InsertionOrder().holds(full.store.connection(), "instances")
    with full.store.transaction() as db:
        (latest,) = db.execute("SELECT max(created_at) FROM instances").fetchone()
        db.execute("UPDATE instances SET created_at = ? WHERE id = ?", [latest + 1, first])
        full.store.bump(db, "instances")
        assert not InsertionOrder().holds(db, "instances")
    order = InsertionOrder()
    assert not order.holds(full.store.connection(), "instances")
    full.store.rows._listing.order = order
    everything, _ = listed(full, None)
    assert everything[-1] == first
    assert listed(full, 4)[0] == everything[:4]
    assert [one.id for one in full.store.rows.page(Instance, full.scope, limit=4).items] == everything[:4]


def test_the_order_of_rows_is_looked_at_again_after_changes(full: Lab) -> None:
    order = InsertionOrder()
    assert order.holds(full.store.connection(), "instances")
    everything, _ = listed(full, None)
    full.store.rows.delete(Instance, everything[-1], full.scope)
    assert order.holds(full.store.connection(), "instances")
    with full.store.transaction() as db:
        row = db.execute("SELECT rowid FROM instances ORDER BY rowid DESC LIMIT 1").fetchone()[0]
        db.execute("UPDATE instances SET created_at = 1 WHERE rowid = ?", [row])
    assert not order.holds(full.store.connection(), "instances")


def test_totals_follow_every_change(full: Lab) -> None:
    total = listed(full, 1)[1]
    spec = full.specification(name="counted")
    made = full.store.rows.create(Instance, {"name": "one more", "specification_id": spec.id}, scope=full.scope)
    assert listed(full, 1)[1] == total + 1
    assert full.store.rows.page(Instance, full.scope, limit=1).total == total + 1
    full.store.rows.delete(Instance, made.id, full.scope)
    assert listed(full, 1)[1] == full.store.rows.page(Instance, full.scope, limit=1).total == total


def test_a_kept_catalog_is_that_of_now(full: Lab) -> None:
    def cells() -> tuple[int, list[str]]:
        found = next(one for one in full.store.catalogs.of(full.scope).sources if one.source == "instances")
        return found.records, [name.name for name in found.names]

    count, _ = cells()
    assert cells() == (count, [])
    spec = full.specification(name="catalogued")
    fields = {"name": "new", "specification_id": spec.id, "properties": {"lot": "A"}}
    full.store.rows.create(Instance, fields, scope=full.scope)
    assert cells() == (count + 1, ["properties.lot"])
    with full.store.transaction() as db:
        full.store.rows.create(Instance, {**fields, "name": "newer"}, scope=full.scope, connection=db)
        assert cells()[0] == count + 2
    assert cells()[0] == count + 2


@pytest.mark.parametrize("text", ["cell", "ce", "CELL", "stras", "line", "gra", "nothing of this"])
def test_a_store_at_rest_is_searched_by_its_names_and_finds_the_same(
    full: Lab, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index of trigrams reads all names that have a part of the text, so it is slower the more names there are."""
    looked: list[str] = []
    own = name_order.NameOrder.first
    monkeypatch.setattr(
        name_order.NameOrder, "first", lambda self, *given: (looked.append(given[2]), own(self, *given))[1]
    )
    for scope in scopes(full):
        made = full.specification(name="another")
        full.store.rows.delete("specifications", made.id, full.scope)
        looked.clear()
        by_index = search.search(full.store, text, scope)
        assert looked == ([] if len(text) > 2 else [text])
        assert search.search(full.store, text, scope) == by_index
        assert looked[-1:] == [fold(text)]


def test_the_names_of_a_large_store_are_not_read_for_few_hits(full: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_order, "QUICK_ENTRIES", 10)
    read: list[str] = []
    own = name_order._read_all
    monkeypatch.setattr(name_order, "_read_all", lambda db, kind: (read.append(kind), own(db, kind))[1])
    for _ in range(3):
        assert search.search(full.store, "Zell cell", full.scope).results
    assert read == []


@pytest.mark.parametrize(("text", "many"), [("Zell cell", False), ("cell", False), ("cell", True)])
def test_a_search_with_few_hits_asks_each_index_once(
    full: Lab, text: str, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_order, "QUICK_ENTRIES", 10)
    monkeypatch.setattr(name_order, "MOST_ENTRIES", 0)
    monkeypatch.setattr(search, "MANY", 1 if many else 500)
    asked: list[str] = []
    connection = full.store.connection()
    if not hasattr(connection, "set_trace_callback"):
        pytest.skip("only SQLite says what it is asked")
    connection.set_trace_callback(asked.append)
    try:
        found = search.search(full.store, text, full.scope)
    finally:
        connection.set_trace_callback(None)
    assert found.results
    for index in ("search_names", "search_words"):
        times = sum(f"{index} MATCH" in one for one in asked if not one.startswith("--"))
        assert times == (2 if many else 1), "too many hits are asked for again, all of them"


def test_the_order_of_many_rows_is_looked_at_in_parts(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(insertion_order, "_AT_ONCE", 3)
    spec = lab.specification()
    order = InsertionOrder()
    for number in range(9):
        lab.instance(spec, name=f"c{number}")
        with lab.store.snapshot() as db:
            assert order.holds(db, "instances")
            assert InsertionOrder().holds(db, "instances")
    with lab.store.transaction() as db:
        db.execute("update instances set created_at = 0 where name = 'c7'")
    with lab.store.snapshot() as db:
        assert not InsertionOrder().holds(db, "instances")
