"""A bench whose samples are outside of the store's file answers as one whose samples are in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.growing_case import EXTENDED, Growing, drawn
from support.local_and_remote import sides

import workbench as wb
from server.errors import response
from workbench.errors import BadRequest
from workbench.store import Store
from workbench.store.objects import mover
from workbench.store.objects.place import PlaceAway
from workbench.store.objects.relocate import relocate
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


def test_the_answer_of_a_server_names_no_address() -> None:
    answer = response(PlaceAway("The samples in S3 at s3://secret cannot be read now."), "r1")
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "60"
    assert b"PLACE_AWAY" in answer.body
    assert b"request id r1" in answer.body
    assert b"secret" not in answer.body


@pytest.mark.long
def test_a_place_that_is_away_is_said_here_and_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mover, "LEAST", 0)
    with sides(tmp_path / "lab.db") as lab:
        relocate(lab.near.backend.store, "folder:samples")
        id = Growing(lab.near, tmp_path).id
        assert len(lab.far.measurements.time_series(id)) == EXTENDED[0]
        (tmp_path / "samples").rename(tmp_path / "away")
        (tmp_path / "samples").write_text("not a folder")
        with pytest.raises(PlaceAway, match="folder:samples"):
            lab.near.measurements.time_series(id)
        with pytest.raises(PlaceAway, match=r"does not answer now.*request id") as said:
            lab.far.measurements.time_series(id)
        assert "folder" not in str(said.value), "where it is, is for the operator"
        assert len(lab.far.measurements.cycles(id)) == len(lab.near.measurements.cycles(id))
