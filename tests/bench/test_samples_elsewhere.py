"""A bench whose samples are outside of the store's file answers as one whose samples are in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.growing_case import EXTENDED, Growing, drawn

import workbench as wb
from workbench.errors import BadRequest
from workbench.store import Store
from workbench.store.objects import mover
from workbench.store.objects.status import status


def test_a_new_bench_may_keep_its_samples_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that grow, and what was drawn before they did."""
    monkeypatch.setattr(mover, "LEAST", 0)
    place = f"folder:{tmp_path / 'samples'}"
    with wb.open(tmp_path / "lab.db", samples=place) as bench:
        growing = Growing(bench, tmp_path)
        before = drawn(bench, "curves")
        assert before.at_hand is not None
        growing.grow()
        assert drawn(bench, "curves").figure != before.figure
        assert drawn(bench, "curves", before.at_hand.data_at).figure == before.figure
    with wb.open(tmp_path / "lab.db", samples=place) as bench:  # the same place again is accepted
        assert len(bench.measurements.time_series(growing.id)) == EXTENDED[1]
    with Store.open(tmp_path / "lab.db") as store:
        assert status(store)[:2] == ("folder:samples", 2)
        assert store.verify() == []
    with pytest.raises(BadRequest, match="workbench samples move folder:others"):
        wb.open(tmp_path / "lab.db", samples=f"folder:{tmp_path / 'others'}")
