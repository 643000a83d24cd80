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
from workbench.records import KINDS


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
