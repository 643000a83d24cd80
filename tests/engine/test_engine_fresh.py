"""No list is ever answered from the cache as it was before a change, wherever what it shows is stored."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.engine_store import TIME, Lab

from workbench.engine import keys
from workbench.engine.answer import dataset
from workbench.recipe.check import sound
from workbench.recipe.filters import APPLIES
from workbench.recipe.modules import LIBRARIES
from workbench.records import SOURCES
from workbench.store.cache.cache import Cache
from workbench.store.db.facts import set_fact
from workbench.store.store import Store
from workbench.table import Table

OPEN = {
    "instances": ["properties.grade"],
    "measurements": ["protocol.name", "test_setup.channel", "properties.mass"],
    "analyses": ["metadata.fit"],
    "cellSpecifications": ["properties.mass", "source.doi"],
}


class Shelf(Lab):
    """One record of every kind, each behind the others."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.cell_type = self.specification("M50")
        self.batch = self.make("batches", name="A", specification_id=self.cell_type.id)
        cell = {"specification_id": self.cell_type.id, "batch_id": self.batch.id}
        self.cell = self.make("instances", name="A0", **cell)
        self.spare = self.make("instances", name="A1", **cell)
        self.test = self.measurement(self.cell, "RPT", series=Table.of({TIME: [0.0]}))
        self.fit = self.make("analyses", name="Fit", measurement_id=self.test.id, analysis_type="dma")
        self.graphite = self.make("materials", name="Graphite")
        self.make("material_properties", name="OCP", material_id=self.graphite.id)
        self.model = self.make("models", name="SPM", config={})
        linked = {"model_id": self.model.id, "specification_id": self.cell_type.id}
        self.simulation = self.make("simulations", name="C/10", **linked)
        self.study = self.make("studies", name="Ageing")

    def change(self, kind: str, record: Any, **changes: Any) -> None:
        self.store.rows.update(kind, record.id, changes, self.scope)

    def changes(self) -> Iterator[Callable[[], Any]]:
        """One change after the other, of everything that some list shows or looks by."""
        for kind, record in [
            ("specifications", self.cell_type),
            ("batches", self.batch),
            ("instances", self.cell),
            ("measurements", self.test),
            ("analyses", self.fit),
            ("materials", self.graphite),
            ("models", self.model),
            ("simulations", self.simulation),
            ("studies", self.study),
        ]:
            yield lambda kind=kind, record=record: self.change(kind, record, name=f"{record.name} renamed")
        rows = self.store.rows
        yield lambda: rows.assign(self.study.id, "measurements", self.test.id, self.scope)
        yield lambda: rows.assign(self.study.id, "simulations", self.simulation.id, self.scope)
        yield lambda: rows.unassign(self.study.id, "measurements", self.test.id, self.scope)
        yield lambda: self.write(self.test.id, Table.of({TIME: [0.0, 1.0]}))
        yield lambda: self.write(self.test.id, Table.of({"Step count": [0, 1]}), "steps")
        yield lambda: self.change("instances", self.cell, batch_id=None, properties={"grade": "B"})
        yield lambda: self.change("measurements", self.test, tags=["x"], protocol={"name": "HPPC"})
        yield lambda: self.change("measurements", self.test, instance_id=self.spare.id)
        yield lambda: rows.delete("batches", self.batch.id, self.scope)
        yield lambda: rows.delete("measurements", self.test.id, self.scope)

    def filters(self) -> dict[str, Any]:
        return {
            "ids": [self.cell.id, self.test.id, self.fit.id, self.cell_type.id, self.simulation.id],
            "instanceIds": self.cell.id,
            "measurementIds": self.test.id,
            "specificationIds": self.cell_type.id,
            "name": "RPT",
            "nameContains": "renamed",
            "batch": "a renamed",
            "measurementType": "time_series",
            "analysisType": "dma",
            "materialId": self.graphite.id,
            "studyId": self.study.id,
        }

    def steps(self) -> Iterator[dict[str, Any]]:
        """A list of each column of each source alone, of all of them, and by each filter alone."""
        given = self.filters()
        for source in SOURCES:
            listed = {"op": "list", "source": source}
            yield listed
            for name in (*self.store.rows.columns(source, self.scope), *OPEN.get(source, [])):
                yield {**listed, "fields": [name]}
            for key, sources in APPLIES.items():
                if source in sources:
                    yield {**listed, "fields": ["id"], "where": {key: given[key]}}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_every_list_follows_every_change_and_none_else(shelf: Shelf, tmp_path: Path) -> None:
    configs = [sound({"plan": {"steps": {"l": step}}}, transform=False) for step in shelf.steps()]
    cache = Cache(tmp_path / "side.cache")

    def kept(config: Any) -> Any:
        return dataset(config, {}, shelf.store, shelf.scope, cache)

    for config in configs:
        kept(config)
    hits = stale = 0
    for change in shelf.changes():
        change()
        for config in configs:
            answered = kept(config)
            fresh = dataset(config, {}, shelf.store, shelf.scope)
            assert (answered.content, answered.columns, answered.warnings) == (
                fresh.content,
                fresh.columns,
                fresh.warnings,
            ), config.plan.steps["l"]
            hits += answered.cache["dataset"] == "hit"
            stale += answered.cache["dataset"] == "miss"
    assert hits > 2 * stale


def ahead(store: Store) -> None:
    """The clock of the machine is an hour behind that of the store."""
    with store.transaction() as db:
        set_fact(db, "clock", time.time_ns() // 1000 + 3_600_000_000)


def test_a_copy_in_place_of_the_store_is_not_answered_for_the_other(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Else one in thousands of runs fails.
    monkeypatch.setattr("workbench.store.db.dialect.unforeseen_step", itertools.count(7).__next__)
    ahead(shelf.store)
    place, older = shelf.store.path, tmp_path / "older.wb"
    shelf.store.backup(older)
    config = sound(
        {"plan": {"steps": {"l": {"op": "list", "source": "instances", "fields": ["name"]}}}}, transform=False
    )

    def names(store: Store) -> list[Any]:
        with Cache(tmp_path / "side.cache") as cache:
            made = dataset(config, {}, store, shelf.scope, cache).dataset.steps["l"]
        assert isinstance(made, Table)
        return made["name"].tolist()

    shelf.change("instances", shelf.cell, name="before")
    assert names(shelf.store) == ["before", "A1"]
    shelf.store.close()
    os.replace(older, place)
    with Store.open(place) as store:
        store.rows.update("instances", shelf.cell.id, {"name": "after"}, shelf.scope)
        assert names(store) == ["after", "A1"]


def test_what_was_rolled_back_is_not_answered_from(shelf: Shelf) -> None:
    ahead(shelf.store)
    step = {"op": "list", "source": "instances", "fields": ["properties.grade"]}
    config = sound({"plan": {"steps": {"l": step}}}, transform=False)

    def kind() -> str:
        made = dataset(config, {}, shelf.store, shelf.scope).dataset.steps["l"]
        assert isinstance(made, Table)
        return made["properties.grade"].kind

    def given_up() -> None:
        with shelf.store.transaction():
            shelf.change("instances", shelf.cell, properties={"grade": "B"})
            assert kind() == "text"
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        given_up()
    shelf.change("instances", shelf.cell, properties={"grade": 2})
    assert kind() == "integer"


@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_a_figure_is_drawn_anew_by_another_version_of_what_scripts_import(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keys.figure_key("content", "script", {})
    other = {**keys.versions(), library: "99.0"}
    monkeypatch.setattr(keys, "version", other.__getitem__)
    monkeypatch.setattr(keys, "versions", keys.versions.__wrapped__)
    assert keys.figure_key("content", "script", {}) != before


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="only Unix changes its zone within a process")
def test_a_figure_is_drawn_anew_in_another_time_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    try:
        for zone in ("UTC", "Asia/Tokyo", "UTC"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            found.append(keys.figure_key("content", "script", {}))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found[0] == found[2] != found[1]
