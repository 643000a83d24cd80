"""The store that 0.1.0 left opens, is sound, holds the same records and gives the same answers.

What is different is shown as place, was, is. Where a difference is meant, ``python -m tests.stores.record`` writes it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from tests.recordings.plain import differences
from tests.stores.golden_plans import PLANS
from tests.stores.old_store import PROJECT, current
from tests.stores.record import PARTS, answered, golden
from workbench.errors import StoreNotice
from workbench.records import KINDS

# Its plots did not come from this user on this machine; the first to open it hears so.
pytestmark = pytest.mark.filterwarnings("ignore:.*scripts of saved plots:workbench.errors.StoreNotice")


@pytest.mark.parametrize("part", PARTS)
def test_the_old_store_answers_as_it_did(part: str, tmp_path: Path) -> None:
    told = answered(part, current(tmp_path))
    shown = [f"{place}\n    was {was}\n    is  {now}" for place, was, now in differences(golden(part), told)]
    assert not shown, f"{len(shown)} differences in '{part}':\n" + "\n".join(shown[:40])


def test_the_old_store_is_sound_before_and_after_a_change(tmp_path: Path) -> None:
    with wb.open(current(tmp_path), PROJECT, "Local") as bench:
        assert bench.verify() == []
        made = bench.measurements.create(instance="P-A-1", name="new", properties={"a": 1})
        bench.measurements.delete("weighing")
        bench.instances.update("P-A-2", notes="changed")
        assert bench.measurements.get("new") == made
        assert bench.verify() == []


def test_the_old_store_holds_every_kind_of_record(tmp_path: Path) -> None:
    with wb.open(current(tmp_path), PROJECT, "Local") as bench:
        store = bench.backend.store
        empty = [
            kind
            for kind in KINDS
            if not store.connection().execute(f'select count(*) from "{kind}"').fetchone()[0]
        ]
    assert empty == []


def test_there_are_plans_of_every_op() -> None:
    ops = {step["op"] for config, _ in PLANS.values() for step in config["plan"]["steps"].values()}
    assert ops == {"list", "series", "summary", "aggregate", "join"}
    codes = {warning["code"] for answer in golden("plans").values() for warning in answer.get("warnings", [])}
    assert codes >= {
        "list_truncated",
        "column_missing",
        "field_unfilled",
        "value_dropped",
        "window_empty",
        "points_shared",
    }
    assert len(PLANS) >= 30


def test_steps_of_the_old_store_get_their_resistance_by_recompute(tmp_path: Path) -> None:
    tests = {"op": "list", "source": "measurements", "where": {"name": "life 1"}, "fields": ["id"]}
    columns = ["Step count", "Resistance at 10 s [Ohm]", "Onset gap [s]"]
    steps = {"op": "summary", "dataset": "steps", "ids": {"from": "tests", "column": "id"}, "columns": columns}
    plan = {"steps": {"tests": tests, "steps": steps}}
    with wb.open(current(tmp_path), PROJECT, "Local") as bench:
        with pytest.raises(wb.Invalid, match="'workbench recompute' adds it to steps of an older rule"):
            bench.dataset(plan)
        bench.recompute()
        assert list(bench.dataset(plan)["steps"].columns)[1:] == columns


def test_the_old_store_draws_the_same_figures_protected_until_one_step_trusts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_OWN_SCRIPTS", str(tmp_path / "own-scripts.txt"))
    with pytest.warns(StoreNotice, match="If you made this store"):
        bench = wb.open(current(tmp_path), PROJECT, "Local")
    with bench:
        plots = [plot for id in bench.dashboards.list()["id"] for plot in bench.dashboards.get(id).plots()]
        assert plots
        assert all(plot.recipe().foreign for plot in plots)
        before = [plot.figure().to_json() for plot in plots]
        assert bench.trust() > 0
        assert not any(plot.recipe().foreign for plot in plots)
        bench.backend.cache.clear()
        assert [plot.figure().to_json() for plot in plots] == before
