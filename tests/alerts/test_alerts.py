"""Alerts: what becomes true after data came in is found once, shown until somebody has seen it, and said in words."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.alert_case import RECIPE, grow, make, watch_cycles
from support.growing_case import samples
from support.local_and_remote import Sides, sides
from support.waiting import until

import workbench as wb
from workbench.alerts import looking
from workbench.errors import Invalid, NotFound
from workbench.records import Dashboard


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Sides]:
    with sides(tmp_path / "lab.db") as made:
        yield made


def keys(bench: wb.Bench, acknowledged: bool | None = None) -> list[int]:
    found = bench.alerts.occurrences(acknowledged)
    return sorted(one["Cycle count"] for one in found["key"])


def test_each_row_that_becomes_true_is_found_once(bench: wb.Bench) -> None:
    test = make(bench, 2)
    watch_cycles(bench)
    assert keys(bench) == []  # what was true before is not announced
    grow(bench, test)
    assert keys(bench) == [2]
    grow(bench, test, 2)
    assert keys(bench) == [2, 3, 4]
    found = bench.alerts.occurrences()
    assert set(found["alert"]) == {"A cycle"}
    assert found["found"][0]["Discharge capacity [A.h]"] > 0
    assert {one["measurement_id"] for one in found["key"]} == {test}
    assert {(one["Test"], one["Cell"]) for one in found["found"]} == {("RPT", "A")}
    bench.measurements.update(test, notes="nothing new")
    bench.backend._look_at_alerts()  # type: ignore[attr-defined]
    assert keys(bench) == [2, 3, 4]


def test_first_where_is_an_alarm(bench: wb.Bench) -> None:
    """Its metric holds nothing until some row is so; then it is true, once for each test."""
    test = make(bench, 2)
    plot = bench.dashboards.get("Ageing").plot("Cycles")
    bench.alerts.create(plot, "Late", "first", "late")
    grow(bench, test)
    assert len(bench.alerts.occurrences()) == 0
    grow(bench, test)
    grow(bench, test)
    (found,) = bench.alerts.occurrences().itertuples()
    assert found.key == {"measurement_id": test}
    assert found.found["late"] == 3


def test_rows_of_a_list_and_other_conditions(bench: wb.Bench) -> None:
    test = make(bench, 1)
    plot = bench.dashboards.get("Ageing").plot("Cycles")
    bench.alerts.create(plot, "New test", "tests")
    bench.alerts.create(plot, "Many", "tests", "sample_count", above=1400)
    bench.alerts.create(plot, "Named", "tests", "name", equals="Other")
    bench.alerts.create(plot, "Any", "tests", "sample_count", above=1400, key=[])
    bench.alerts.create(plot, "One of its tags", "tests", "tags", equals="failed")
    bench.alerts.create(plot, "Its tags", "tests", "tags", equals="aged, failed")
    other = bench.instances.create(name="B", specification="M50")
    bench.measurements.create(
        instance_id=other.id, name="Other", time_series=samples(500), tags=["aged", "failed"]
    )
    grow(bench, test, 2)
    grow(bench, test, 1)
    found = bench.alerts.occurrences()
    assert sorted(found["alert"]) == ["Any", "Its tags", "Many", "Named", "New test"]


def test_a_time_is_equal_to_its_text_as_in_a_plan(bench: wb.Bench) -> None:
    make(bench, 1)
    start = "2026-03-01T08:00:00.000000Z"
    plan = {"steps": {"tests": {"op": "list", "source": "measurements", "fields": ["id", "start_time"]}}}
    recipe = {"plan": plan, "transform": "def transform(data, params):\n    return {'data': []}\n"}
    plot = bench.dashboards.get("Ageing").save("Starts", recipe)
    for name, text in {"Begun then": start, "z": "2026-03-01T08:00:00Z", "zone": "2026-03-01 10:00+02:00"}.items():
        bench.alerts.create(plot, name, "tests", "start_time", equals=text)
    for day in ("2026-03-01", "tomorrow", 5):
        with pytest.raises(
            Invalid, match=r"'start_time' holds times, and .* is equal to none. Write it like \"2026"
        ):
            bench.alerts.create(plot, "x", "tests", "start_time", equals=day)
    cell = bench.instances.get("A")
    made = bench.measurements.create(
        instance_id=cell.id, name="New", time_series=samples(500), start_time="2026-03-01T09:00:00+01:00"
    )
    rows = bench.alerts.occurrences()
    assert sorted(rows["alert"]) == ["Begun then", "z", "zone"]
    assert {(row.key["id"], row.found["start_time"]) for row in rows.itertuples()} == {(made.id, start)}


def test_an_alert_that_breaks_keeps_no_other_from_being_looked_at(
    bench: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = make(bench, 1)
    watch_cycles(bench)
    plot = bench.dashboards.get("Ageing").plot("Cycles")
    bench.alerts.create(plot, "Sound", "cycles")
    holds = looking._holds

    def breaks(alert: Any, table: Any) -> Any:
        if alert.name == "A cycle":
            raise ZeroDivisionError("a defect")
        return holds(alert, table)

    monkeypatch.setattr(looking, "_holds", breaks)
    grow(bench, test)
    assert bench.alerts.occurrences()["alert"].tolist() == ["Sound"]
    assert bench.alerts.list()["problem"][0] == "ZeroDivisionError: a defect"


def test_what_somebody_has_seen_is_not_open(lab: Sides) -> None:
    test = make(lab.near, 1)
    watch_cycles(lab.near)
    grow(lab.near, test)
    board = lab.near.dashboards.get("Ageing").record
    for bench in (lab.near, lab.far):
        assert bench.backend.get(Dashboard, board.id).alert_count == 1
        assert len(bench.alerts.occurrences(acknowledged=False)) == 1
    (one,) = lab.far.alerts.occurrences().itertuples()
    seen = lab.far.alerts.acknowledge(one.id)
    assert seen["acknowledged_by"] == lab.far.backend.actor
    again = lab.near.alerts.acknowledge(one.id)
    assert again["acknowledged_at"] == seen["acknowledged_at"]
    assert lab.far.backend.get(Dashboard, board.id).alert_count == 0
    assert len(lab.near.alerts.occurrences(acknowledged=False)) == 0
    assert len(lab.near.alerts.occurrences(acknowledged=True)) == 1
    organization = lab.near.backend.organization.id  # type: ignore[attr-defined]
    log = lab.near.backend.store.people.audit_log(organization)  # type: ignore[attr-defined]
    actions = [entry["action"] for entry in log]
    assert actions.count("alert") == 1
    assert [entry["target"] for entry in log if entry["action"] == "alert"] == [one.id]
    assert any("acknowledge" in action for action in actions)


def test_a_server_looks_when_others_write(lab: Sides) -> None:
    """Data that come over HTTP, and from another process: nobody asks the server to look."""
    test = make(lab.near, 1)
    watch_cycles(lab.far)
    grow(lab.far, test)
    until(lambda: keys(lab.far) == [1], "the alert", 120)


def test_what_cannot_be_watched_is_refused(bench: wb.Bench) -> None:
    make(bench)
    plot = bench.dashboards.get("Ageing").plot("Cycles")
    with pytest.raises(Invalid, match=r"no step 'cycle'.*'cycles'"):
        bench.alerts.create(plot, "x", "cycle")
    with pytest.raises(Invalid, match=r"no column 'Cycle'.*'Cycle count'"):
        bench.alerts.create(plot, "x", "cycles", "Cycle")
    with pytest.raises(Invalid, match="holds no numbers"):
        bench.alerts.create(plot, "x", "tests", "name", above=3)
    with pytest.raises(Invalid, match="needs the 'column'"):
        bench.alerts.create(plot, "x", "tests", above=3)
    with pytest.raises(Invalid, match="goes with neither"):
        bench.alerts.create(plot, "x", "tests", "name", equals="a", above=3)
    for bound in ({"equals": 10**30}, {"equals": -(2**64)}, {"above": float("inf")}, {"below": float("nan")}):
        (name,) = bound
        with pytest.raises(Invalid, match=rf"{name}: .*(64 bits|NaN)"):
            bench.alerts.create(plot, "x", "tests", "sample_count", **bound)
    never = [("sample_count", "2", "whole numbers"), ("sample_count", True, "whole numbers"), ("name", 2, "texts")]
    for column, value, holds in never:
        with pytest.raises(Invalid, match=rf"'{column}' holds {holds}, and .* is equal to none"):
            bench.alerts.create(plot, "x", "tests", column, equals=value)
    with pytest.raises(Invalid, match="No number is above 3 and below 2"):
        bench.alerts.create(plot, "x", "tests", "sample_count", above=3, below=2)
    wrong = {"name": "", "step": None, "above": True, "below": "0.9", "key": [1], "equals": [1]}
    for name, value in wrong.items():
        sent: Any = {"name": "x", "step": "tests", "column": "sample_count", name: value}
        with pytest.raises(Invalid, match=f"{name}.*(must|should)"):
            bench.alerts.create(plot, sent.pop("name"), sent.pop("step"), **sent)
    assert len(bench.alerts.list()) == 0
    with pytest.raises(NotFound):
        bench.alerts.delete("nothing")
    with pytest.raises(NotFound):
        bench.alerts.acknowledge("nothing")


def test_a_look_that_fails_says_why_and_the_next_one_heals(bench: wb.Bench) -> None:
    test = make(bench, 1)
    watch_cycles(bench)
    board = bench.dashboards.get("Ageing")
    sound = board.plot("Cycles").recipe()
    plan = {"steps": {"tests": RECIPE["plan"]["steps"]["tests"]}}  # type: ignore[index]
    board.save("Cycles", {"plan": plan, "transform": RECIPE["transform"]})
    grow(bench, test)
    assert "no step 'cycles'" in bench.alerts.list()["problem"][0]
    board.save("Cycles", sound)
    grow(bench, test)
    assert bench.alerts.list()["problem"][0] is None
    assert keys(bench) == [1, 2]


def test_an_alert_goes_with_its_plot_and_by_its_own(bench: wb.Bench) -> None:
    test = make(bench, 1)
    first, second = watch_cycles(bench), watch_cycles(bench)
    grow(bench, test)
    assert len(bench.alerts.occurrences()) == 2
    bench.alerts.delete(first)
    assert list(bench.alerts.list()["id"]) == [second["id"]]
    assert len(bench.alerts.occurrences()) == 1
    assert bench.dashboards.get("Ageing").record.alert_count == 1
    bench.dashboards.delete("Ageing")
    assert len(bench.alerts.list()) == 0
    assert bench.verify() == []


def test_a_form_offers_all_that_an_alert_can_be_given(lab: Sides) -> None:
    """Its fields are the arguments of ``create``; steps and columns are those of the plan; the same on both sides."""
    make(lab.near, 1)
    lab.near.alerts.allow("https://hooks.example.com/lab")
    plot = lab.near.dashboards.get("Ageing").plot("Cycles")
    found = lab.near.alerts.choices(plot)
    assert found == lab.far.alerts.choices(plot)
    names = [one["name"] for one in found["fields"]]
    _, *arguments = inspect.signature(lab.near.alerts.create).parameters
    assert names == ["plot_id", *arguments]
    assert [one["name"] for one in found["fields"] if one["needed"]] == ["plot_id", "name", "step"]
    steps = {one["name"]: one for one in found["steps"]}
    assert list(steps) == ["tests", "cycles", "first"]
    assert {"name": "Discharge capacity [A.h]", "kind": "number"} in steps["cycles"]["columns"]
    assert steps["cycles"]["key"] == ["measurement_id", "Cycle count"]
    assert found["webhooks"] == ["https://hooks.example.com/lab"]
