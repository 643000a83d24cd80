"""A rehearsal: all records, no samples, and nothing of it stays."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import workbench as wb
from workbench.errors import NotFound, StoreError
from workbench.records import Instance, Measurement
from workbench.store.db import trial_copy
from workbench.store.db.trial_copy import rehearsal
from workbench.store.records import search
from workbench.store.scope import EVERYTHING, Scope
from workbench.store.store import Store


@pytest.fixture
def lab(tmp_path: Path) -> wb.Bench:
    bench = wb.open(tmp_path / "lab.db")
    quantity = {"capacity": (5.0, "A.h"), "voltage_min": (2.5, "V"), "voltage_max": (4.2, "V")}
    ratings = {name: {"value": value, "unit": unit} for name, (value, unit) in quantity.items()}
    made = bench.specifications.create(name="LG M50", ratings=ratings)
    cell = bench.instances.create(specification=made, name="Cell ü 1", notes="reference")
    frame = {"Time [s]": [0.0, 1.0], "Current [A]": [1.0, 1.0], "Voltage [V]": [4.0, 3.9], "Step count": [0, 0]}
    bench.measurements.create(instance=cell, name="RPT", time_series=frame, tags=["t"])
    return bench


def test_it_has_all_records_and_no_samples(lab: wb.Bench) -> None:
    store: Store = lab.backend.store
    scope: Scope = lab.backend.scope
    with rehearsal(store) as private:
        (cell,) = private.rows.page(Instance, scope).items
        (measured,) = private.rows.page(Measurement, scope).items
        assert cell == lab.instances.get("Cell ü 1")
        assert measured == lab.measurements.get("RPT")
        info = private.series.info(measured.id, scope=EVERYTHING)
        assert info == store.series.info(measured.id, scope=EVERYTHING)
        assert private.connection().execute("select count(*) from chunks").fetchone() == (0,)
        assert [hit.name for hit in search.search(private, "ell ü", scope).results] == ["Cell ü 1"]
        assert [hit.name for hit in search.search(private, "refer", scope).results] == ["Cell ü 1"]
        assert private.connection().execute("pragma integrity_check").fetchone() == ("ok",)


def test_nothing_of_it_stays(lab: wb.Bench) -> None:
    store, scope = lab.backend.store, lab.backend.scope
    (cell,) = store.rows.page(Instance, scope).items
    with rehearsal(store) as private:
        place = private.path
        private.rows.update(Instance, cell.id, {"name": "Renamed"}, scope)
        assert [hit.name for hit in search.search(private, "renam", scope).results] == ["Renamed"]
        private.rows.delete(Instance, cell.id, scope)
        with pytest.raises(NotFound):
            private.rows.get(Instance, cell.id, scope)
    assert not place.exists()
    assert lab.instances.get("Cell ü 1").id == cell.id
    assert lab.verify() == []


def test_a_full_disk_of_temporary_files_is_not_taken_for_that_of_the_store(
    lab: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = trial_copy._copy

    def short(db: sqlite3.Connection) -> None:
        db.execute("pragma main.max_page_count = 8")
        own(db)

    monkeypatch.setattr(trial_copy, "_copy", short)
    store = lab.backend.store
    with pytest.raises(StoreError, match=r"copy of the records for a trial .*full.*\$TMPDIR"), rehearsal(store):
        pass
