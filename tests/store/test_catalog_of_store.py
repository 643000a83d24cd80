from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.record_store import Lab, quantity

from workbench.cycling.cycles import CYCLE_COLUMNS
from workbench.cycling.steps import STEP_COLUMNS
from workbench.records import SOURCES, Instance
from workbench.store.cache.cache import Cache
from workbench.store.records.catalog import Catalogs
from workbench.store.records.listing import Listing
from workbench.store.scope import EVERYTHING
from workbench.table import Table


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab.at(tmp_path)
    yield made
    made.store.close()


def write(lab: Lab, owner: str, dataset: str, **columns: list[float]) -> None:
    named = {name.replace("__", " [") + "]" if "__" in name else name: v for name, v in columns.items()}
    with lab.store.series.writer(owner, dataset) as writer:
        writer.add(Table.of(named))
        writer.publish()


def test_an_empty_store_has_every_source_with_its_columns(lab: Lab) -> None:
    made = lab.store.catalogs.of(lab.scope)
    assert {entry.source for entry in made.sources} == set(SOURCES)
    for entry in made.sources:
        assert entry.meaning
        assert entry.records == 0
        assert [column.name for column in entry.columns] == list(lab.rows.columns(entry.source, lab.scope))
        assert all(column.meaning and column.filled == 0 for column in entry.columns)
    assert [column.name for column in made.steps] == [column.name for column in STEP_COLUMNS]
    assert [column.name for column in made.cycles] == [column.name for column in CYCLE_COLUMNS]
    json.dumps(made.as_dict(), allow_nan=False)


def test_columns_are_counted_with_examples_and_units(lab: Lab) -> None:
    for n in range(7):
        lab.specification(manufacturer=f"maker {n}" if n else None, properties={"mass": quantity(68, "g")})
    lab.specification(scope=lab.another_project(), manufacturer="elsewhere")
    entry = lab.store.catalogs.of(lab.scope)["cellSpecifications"]
    columns = {column.name: column for column in (*entry.columns, *entry.names)}
    assert entry.records == 7
    assert columns["manufacturer"].filled == 6
    assert columns["manufacturer"].examples == [f"maker {n}" for n in (1, 2, 3, 4, 6)]
    assert columns["ratings.capacity.value"].unit == "A.h"
    assert columns["ratings.capacity.value"].examples == [5.0]
    assert columns["ratings.energy.value"].filled == 0
    mass = columns["properties.mass.value"]
    assert (mass.type, mass.unit, mass.filled, mass.examples) == ("integer", "g", 7, [68])
    assert [column.name for column in entry.names] == ["properties.mass.value", "properties.mass.unit"]


def test_units_that_differ_are_none(lab: Lab) -> None:
    lab.instance(properties={"mass": quantity(68, "g")})
    lab.instance(properties={"mass": quantity(0.068, "kg"), "a.b": True})
    names = {column.name: column for column in lab.store.catalogs.of(lab.scope)["instances"].names}
    assert names["properties.mass.value"].unit is None
    assert names["properties.mass.value"].type == "number"
    assert names[r"properties.a\.b"].type == "boolean"


def test_no_tags_fill_nothing(lab: Lab) -> None:
    lab.measurement()
    lab.measurement(tags=["a"])
    entry = lab.store.catalogs.of(lab.scope)["measurements"]
    assert next(column for column in entry.columns if column.name == "tags").filled == 1


def test_series_and_summaries_are_counted_by_record(lab: Lab) -> None:
    first, second = lab.measurement(), lab.measurement()
    write(lab, first.id, "series", Time__s=[0.0, 1.0], Voltage__V=[3.0, 4.0], extra=[1.0, 2.0])
    write(lab, second.id, "series", Time__s=[0.0, 1.0])
    write(lab, first.id, "steps", **{"Step count": [0.0], "own": [1.0]})
    foreign = lab.measurement(scope=lab.another_project())
    write(lab, foreign.id, "series", foreign=[1.0])
    made = lab.store.catalogs.of(lab.scope)
    series = [(column.name, column.type, column.unit, column.records) for column in made["measurements"].series]
    assert series == [
        ("Time [s]", "number", "s", 2),
        ("Voltage [V]", "number", "V", 1),
        ("extra", "number", None, 1),
        ("Time in life [d]", "number", "d", 2),
    ]
    assert made["simulations"].series == []
    assert next(column for column in made.steps if column.name == "Step count").records == 1
    assert (made.steps[-1].name, made.steps[-1].records) == ("own", 1)
    assert all(column.records == 0 for column in made.cycles)


def test_units_of_kept_tables_are_those_of_their_records(lab: Lab) -> None:
    material = lab.make("materials")
    for unit in ("V", "V"):
        columns = [
            {"name": "x", "unit": "", "source_column_index": 0},
            {"name": "U", "unit": unit, "source_column_index": 1},
        ]
        made = lab.make("material_properties", material_id=material.id, columns=columns)
        write(lab, made.id, "series", x=[0.0], U=[4.0])
    entry = lab.store.catalogs.of(lab.scope)["materialProperties"]
    assert [(column.name, column.unit, column.records) for column in entry.series] == [
        ("U", "V", 2),
        ("x", None, 2),
    ]


def test_counts_of_samples_follow_the_series(lab: Lab) -> None:
    made = lab.measurement()
    tables = lab.rows.dependencies("measurements")

    def counts() -> list[int | None]:
        names = ["sample_count", "step_count", "cycle_count"]
        table = lab.list("measurements", fields=names).table
        return [table[name].tolist()[0] for name in names]

    assert counts() == [None, None, None]
    before = lab.store.revisions(tables)
    write(lab, made.id, "series", x=[0.0, 1.0, 2.0])
    assert counts() == [3, None, None]
    after = lab.store.revisions(tables)
    assert after != before
    lab.store.series.append(made.id, "series", Table.of({"x": [3.0]}))
    assert lab.store.revisions(tables) != after
    write(lab, made.id, "steps", x=[0.0])
    assert counts() == [4, 1, None]
    assert lab.rows.get("measurements", made.id, lab.scope).sample_count == 4
    before = lab.store.revisions(tables)
    lab.store.series.delete(made.id)
    assert counts() == [None, None, None]
    assert lab.store.revisions(tables) != before


def test_deleting_a_record_deletes_its_series(lab: Lab) -> None:
    made = lab.measurement()
    write(lab, made.id, "series", x=[0.0])
    write(lab, made.id, "cycles", x=[0.0])
    lab.rows.delete("specifications", made.specification_id, lab.scope)
    assert lab.store.series.info(made.id, "series", scope=EVERYTHING) is None
    assert lab.store.series.info(made.id, "cycles", scope=EVERYTHING) is None
    assert lab.store.verify() == []


def no_lists(*_: object) -> None:
    raise AssertionError("records were listed")


def test_the_next_process_takes_the_catalog_from_the_cache(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = lab.measurement(tags=["a"], properties={"mass": quantity(68, "g"), "kind": "x"})
    write(lab, test.id, "series", Time__s=[0.0, 1.0])
    with Cache(tmp_path / "cache") as cache:
        made = Catalogs(lab.store, lab.rows).of(lab.scope, cache)
    with Cache(tmp_path / "cache") as cache:
        with monkeypatch.context() as none_listed:
            none_listed.setattr(Listing, "plan_list", no_lists)
            assert Catalogs(lab.store, lab.rows).of(lab.scope, cache) == made
            with pytest.raises(AssertionError, match="listed"):
                Catalogs(lab.store, lab.rows).of(lab.another_project(), cache)
        lab.instance(properties={"lot": "B"})
        changed = Catalogs(lab.store, lab.rows).of(lab.scope, cache)
        assert changed["instances"].records == made["instances"].records + 1
        assert [name.name for name in changed["instances"].names] == ["properties.lot"]


def test_a_catalog_within_a_transaction_does_not_enter_the_cache(lab: Lab, tmp_path: Path) -> None:
    spec = lab.specification()
    with Cache(tmp_path / "cache") as cache:
        catalogs = Catalogs(lab.store, lab.rows)
        assert catalogs.of(lab.scope, cache)["instances"].records == 0

        def add() -> None:
            with lab.store.transaction() as db:
                fields = {"name": "never", "specification_id": spec.id}
                lab.rows.create(Instance, fields, scope=lab.scope, connection=db)
                assert Catalogs(lab.store, lab.rows).of(lab.scope, cache)["instances"].records == 1
                raise InterruptedError

        with pytest.raises(InterruptedError):
            add()
        assert Catalogs(lab.store, lab.rows).of(lab.scope, cache)["instances"].records == 0
