"""Samples given by hand: the rules on ingest, given step tables, and the growth of a running test."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from workbench.cycling.cycles import cycles_of
from workbench.cycling.steps import steps_of
from workbench.errors import Conflict, FileRefused, NotFound
from workbench.ingest import extend, register
from workbench.ingest.plan.ratings import ratings_of
from workbench.records import Instance, Measurement, Project, Specification
from workbench.store.scope import EVERYTHING, Scope
from workbench.store.store import Store
from workbench.table import Column, Table


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def scope(store: Store) -> Scope:
    chosen = store.rows.organizations()[0]
    project = store.rows.page(Project, Scope(chosen.id, None), limit=1).items[0]
    return Scope(chosen.id, project.id)


@pytest.fixture
def cell(store: Store, scope: Scope) -> str:
    made = store.rows.create(Specification, {"name": "s", "ratings": ratings_of("1Ah,3V,4V")}, scope=scope)
    return store.rows.create(Instance, {"name": "c", "specification_id": made.id}, scope=scope).id


def series(cycles: int = 3, length: int = 9, *, counters: bool = True) -> Table:
    """Charge and discharge at 1 A between 3 and 4 V, with counters that start at 0 in each step."""
    n = 2 * cycles * length
    step = np.arange(n) // length
    inside = np.arange(n) % length
    discharge = step % 2 == 1
    time = np.arange(n) * 10.0
    up = 3 + inside / (length - 1)
    passed = inside * 10.0 / 3600
    columns: dict[str, Any] = {
        "Time [s]": time,
        "Step count": step,
        "Current [A]": np.where(discharge, 1.0, -1.0),
        "Voltage [V]": np.where(discharge, 7 - up, up),
        "Cycle from cycler": step // 2 + 5,
        "Note": Column.text([None if k % 5 else f"n{k}" for k in range(n)]),
    }
    if counters:
        columns["Discharge capacity [A.h]"] = np.where(discharge, passed, 0.0)
        columns["Charge capacity [A.h]"] = np.where(discharge, 0.0, passed)
    return Table.of(columns)


def same(one: Table, other: Table) -> None:
    assert one.names == other.names
    for name in one:
        assert one[name].kind == other[name].kind, name
        assert (one[name].null_mask() == other[name].null_mask()).all(), name
        assert [str(v) for v in one[name].tolist()] == [str(v) for v in other[name].tolist()], name


def test_samples_come_back_bit_for_bit_with_steps_and_cycles(store: Store, scope: Scope, cell: str) -> None:
    table = series()
    made = register(store, scope, {"instance_id": cell, "name": "m", "tags": ["a"]}, table)
    assert (made.sample_count, made.step_count, made.cycle_count) == (54, 6, 3)
    assert made.tags == ["a"]
    same(store.series.read(made.id, scope=EVERYTHING), table)
    same(store.series.read(made.id, dataset="steps", scope=EVERYTHING), steps_of(table))
    same(store.series.read(made.id, dataset="cycles", scope=EVERYTHING), cycles_of(steps_of(table)))
    assert store.verify() == []


def test_the_same_table_may_be_two_measurements(store: Store, scope: Scope, cell: str) -> None:
    for name in ("m", "n"):
        register(store, scope, {"instance_id": cell, "name": name}, series())
    with pytest.raises(Conflict):
        register(store, scope, {"instance_id": cell, "name": "n"}, series())
    assert store.rows.page(Measurement, scope).total == 2
    assert store.verify() == []


def test_broken_rules_are_all_told_and_nothing_is_stored(store: Store, scope: Scope, cell: str) -> None:
    raw = dict(series().columns)
    raw["Time [s]"] = Column.of(raw["Time [s]"].values + 1.0)
    raw["Step count"] = Column.of(raw["Step count"].values * 2)
    with pytest.raises(
        FileRefused, match=r"must rise by 0 or 1.*must start at 0; it starts at 1. Subtract that value"
    ):
        register(store, scope, {"instance_id": cell, "name": "m"}, Table(raw, 54))
    assert store.rows.page(Measurement, scope).total == 0
    assert store.verify() == []


def test_reversed_currents_are_refused_unless_vouched_for(store: Store, scope: Scope, cell: str) -> None:
    raw = dict(series(counters=False).columns)
    raw["Current [A]"] = Column.of(-raw["Current [A]"].values)
    with pytest.raises(FileRefused, match="seems to have the wrong sign"):
        register(store, scope, {"instance_id": cell, "name": "m"}, Table(raw, 54))
    made = register(store, scope, {"instance_id": cell, "name": "m"}, Table(raw, 54), settled=True)
    assert [told["code"] for told in made.source["findings"]] == ["sign_reversed"]


def test_missing_steps_are_put_last_or_refused(store: Store, scope: Scope, cell: str) -> None:
    table = series()
    bare = table.select([name for name in table if name not in ("Step count", "Cycle from cycler")])
    made = register(store, scope, {"instance_id": cell, "name": "m"}, bare)
    stored = store.series.read(made.id, scope=EVERYTHING)
    assert stored.names == [*bare.names, "Step count"]
    assert stored["Step count"].tolist() == table["Step count"].tolist()
    with pytest.raises(FileRefused, match="'Step count' is missing"):
        register(store, scope, {"instance_id": cell, "name": "n"}, bare, derive=False)


def test_batches_are_taken_like_one_table(store: Store, scope: Scope, cell: str) -> None:
    table = series()
    parts = [table.slice(k, k + 7) for k in range(0, table.n, 7)]
    made = register(store, scope, {"instance_id": cell, "name": "m"}, lambda: iter(parts))
    same(store.series.read(made.id, scope=EVERYTHING), table)
    same(store.series.read(made.id, dataset="steps", scope=EVERYTHING), steps_of(table))


def test_given_steps_stay_and_cycles_follow_from_them(store: Store, scope: Scope, cell: str) -> None:
    given_rows = Table.of(
        {
            "Step count": [0.0, 1.0],
            "Start index": [0.0, 9.0],
            "End index": [8.0, 17.0],
            "Cycle count": [0, 1],
            "Discharge capacity [A.h]": [0.0, 7.0],
            "Step type": ["up", "down"],
        }
    )
    made = register(store, scope, {"instance_id": cell, "name": "m"}, series(), steps=given_rows)
    steps = store.series.read(made.id, dataset="steps", scope=EVERYTHING)
    assert steps["Discharge capacity [A.h]"].tolist() == [0.0, 7.0]
    assert steps["Step type"].tolist() == ["up", "down"]
    assert steps["Charge capacity [A.h]"].tolist() == pytest.approx([80 / 3600, 0.0])
    assert store.series.read(made.id, dataset="cycles", scope=EVERYTHING)["Discharge capacity [A.h]"].tolist() == [
        0.0,
        7.0,
    ]
    assert made.source["steps"] == "given"
    wrong = Table.of({"Start index": [50], "End index": [60]})
    with pytest.raises(FileRefused, match="Step 0 covers samples 50 to 60"):
        register(store, scope, {"instance_id": cell, "name": "n"}, series(), steps=wrong)


def test_given_steps_must_hold_what_they_say(store: Store, scope: Scope, cell: str) -> None:
    """All columns that cannot be meant are named, and nothing is stored."""
    ranges = {"Start index": [0, 9], "End index": [8, 17]}
    wrong: list[tuple[dict[str, Any], str]] = [
        (
            {"Duration [s]": ["a", "b"], "Cycle count": ["c", "d"]},
            r"Duration(.|\n)*'Cycle count' must hold numbers",
        ),
        ({"Step type": [1, 2]}, "'Step type' must hold texts, not integer"),
        ({"Start index": [0.0, 8.5]}, "'Start index' must hold whole numbers"),
        ({"Cycle count": [0.0, 0.5]}, "'Cycle count' must hold whole numbers"),
        ({"Cycle count": [0, None]}, "'Cycle count' must be an integer in every step"),
    ]
    for columns, words in wrong:
        with pytest.raises(FileRefused, match=words):
            register(store, scope, {"instance_id": cell, "name": "m"}, series(), steps=Table.of(ranges | columns))
    assert store.rows.page(Measurement, scope).total == 0
    assert store.verify() == []


def test_open_circuit_data_need_no_time(store: Store, scope: Scope, cell: str) -> None:
    table = Table.of({"Voltage [V]": [3.0, 3.5, 4.0], "SOC": [0.0, 0.5, 1.0], "Step count": [0, 0, 0]})
    made = register(store, scope, {"instance_id": cell, "name": "ocv"}, table)
    assert "findings" not in made.source
    same(store.series.read(made.id, scope=EVERYTHING), table)


def test_given_steps_stay_while_a_test_grows(store: Store, scope: Scope, cell: str) -> None:
    """Only the step that goes on is measured anew; what samples do not tell of it stays; new steps get a type."""
    table = series()
    given_rows = Table.of(
        {
            "Start index": [9, 0],
            "End index": [13, 8],
            "Discharge capacity [A.h]": [7.0, 5.0],
            "Step type": ["down", "up"],
            "Remark": ["b", "a"],
        }
    )
    fields = {"instance_id": cell, "name": "m"}
    made = register(store, scope, fields, table.slice(0, 14), steps=given_rows)
    assert store.series.read(made.id, dataset="steps", scope=EVERYTHING)["Step count"].tolist() == [1, 0]
    extend(store, scope, made.id, table.slice(14, 18))
    steps = store.series.read(made.id, dataset="steps", scope=EVERYTHING)
    assert steps["End index"].tolist() == [8, 17]
    assert steps["Step type"].tolist() == ["up", "down"]
    assert steps["Remark"].tolist() == ["a", "b"]
    assert steps["Discharge capacity [A.h]"].tolist() == pytest.approx([5.0, 80 / 3600])
    extend(store, scope, made.id, table.slice(18, 54))
    grown = store.series.read(made.id, dataset="steps", scope=EVERYTHING)
    same(
        grown.slice(0, 2).select(["Discharge capacity [A.h]", "End index"]),
        steps.select(["Discharge capacity [A.h]", "End index"]),
    )
    assert grown["Step count"].tolist() == [0, 1, 2, 3, 4, 5]
    assert grown["Cycle count"].tolist() == [0, 0, 1, 1, 2, 2]
    assert grown["Step type"].tolist()[1:4] == ["down", "Constant current charge", "Constant current discharge"]
    assert grown["Remark"].tolist()[2:] == [None] * 4
    same(store.series.read(made.id, dataset="cycles", scope=EVERYTHING), cycles_of(grown))
    assert store.verify() == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 53), min_size=1, max_size=5, unique=True), st.booleans())
def test_growth_gives_what_the_whole_gives(
    store: Store, scope: Scope, cell: str, cuts: list[int], counters: bool
) -> None:
    """However a test grows, its series, steps and cycles are those of all samples at once."""
    table = series(counters=counters)
    edges = [0, *sorted(cuts), table.n]
    with store.transaction() as connection:
        name = str(store.clock(connection))
    made = register(store, scope, {"instance_id": cell, "name": name}, table.slice(0, edges[1]))
    for start, stop in pairwise(edges[1:]):
        extend(store, scope, made.id, [table.slice(start, stop)])
    same(store.series.read(made.id, scope=EVERYTHING), table)
    same(store.series.read(made.id, dataset="steps", scope=EVERYTHING), steps_of(table))
    same(store.series.read(made.id, dataset="cycles", scope=EVERYTHING), cycles_of(steps_of(table)))
    assert [rows for _, _, rows in store.series.history(made.id, scope=EVERYTHING)] == edges[1:]
    assert store.rows.get(Measurement, made.id, scope).sample_count == table.n


def test_growth_must_go_on_from_what_is_stored(store: Store, scope: Scope, cell: str) -> None:
    table = series()
    made = register(store, scope, {"instance_id": cell, "name": "m"}, table.slice(0, 20))
    rest = dict(table.slice(20, 30).columns)

    def refused(words: str, **changes: Any) -> None:
        columns = {**rest, **{name: Column.of(np.asarray(values)) for name, values in changes.items()}}
        with pytest.raises(FileRefused, match=words):
            extend(store, scope, made.id, Table(columns, 10))

    refused("in row 0 it goes from 190 to 180", **{"Time [s]": np.arange(10) * 10.0 + 180})
    refused("at row 0 it changes by 2", **{"Step count": np.full(10, 4)})
    refused("at row 0 it changes by -1", **{"Step count": np.full(10, 1)})
    refused("'Charge capacity .* falls within its step in row 0", **{"Charge capacity [A.h]": np.zeros(10)})
    refused("has no column 'Curent", **{"Curent [A]": np.zeros(10)})
    without = {name: column for name, column in rest.items() if name != "Time [s]"}
    with pytest.raises(FileRefused, match=r"need 'Time \[s\]'"):
        extend(store, scope, made.id, Table(without, 10))
    assert store.rows.get(Measurement, made.id, scope).sample_count == 20
    few = {name: rest[name] for name in ("Time [s]", "Step count", "Charge capacity [A.h]")}
    extend(store, scope, made.id, Table(few, 10))
    assert store.series.read(made.id, scope=EVERYTHING)["Note"].tolist()[20:] == [None] * 10
    assert store.verify() == []


def test_only_running_time_series_grow(store: Store, scope: Scope, cell: str) -> None:
    table = series()
    ended = register(
        store,
        scope,
        {
            "instance_id": cell,
            "name": "m",
            "start_time": datetime(2026, 1, 1, tzinfo=UTC),
            "end_time": datetime(2026, 1, 2, tzinfo=UTC),
        },
        table.slice(0, 20),
    )
    with pytest.raises(Conflict, match="has ended"):
        extend(store, scope, ended.id, table.slice(20, 54))
    other = store.rows.create(
        Measurement, {"instance_id": cell, "name": "p", "measurement_type": "properties"}, scope=scope
    )
    with pytest.raises(Conflict, match="only a time series"):
        extend(store, scope, other.id, table)
    with pytest.raises(NotFound):
        extend(store, scope, "no such id", table)
