"""What is wrong with the samples of one stored test, or with a disk, stops no other file of an ingest, nor a watch."""

from __future__ import annotations

import errno
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.cycler_file import cycler_text
from support.local_and_remote import sides

import workbench as wb
from workbench.errors import StoreError, StoreNotice
from workbench.ingest import run
from workbench.ingest.watch_folder import Looks
from workbench.store.objects import mover, relocate

RULE = {"name_rule": "{cell}_{test}"}
LONG, LONGER = cycler_text(2), cycler_text(3)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(mover, "LEAST", 0)
    folder = tmp_path / "in"
    folder.mkdir()
    for cell in "ab":
        (folder / f"{cell}_t.csv").write_text(_of(cell, LONG))
    return folder


def _of(cell: str, text: str) -> str:
    """The samples of a cell: those of no other are the same."""
    return text.replace(",3.", f",3.{'abc'.index(cell)}")


def grown(bench: wb.Bench, data: Path, samples: Path) -> Path:
    """Ingest, let all files grow, and add one; the object of the first test."""
    assert bench.ingest(data, **RULE).summary == "2 stored"
    for cell in "abc":
        (data / f"{cell}_t.csv").write_text(_of(cell, LONGER))
    return min(path for path in samples.rglob("1-1-*"))


def test_a_test_whose_object_is_gone_is_refused_alone(data: Path, tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    with wb.open(tmp_path / "lab.db", samples=f"folder:{samples}") as bench:
        grown(bench, data, samples).unlink()
        report = bench.ingest(data, **RULE)
        assert [one.status for one in report] == ["refused", "extended", "stored"]
        assert "is not in folder:samples; restore a backup" in report[0].why


def test_while_the_place_is_away_new_tests_are_stored_and_a_watch_takes_the_others_later(
    data: Path, tmp_path: Path
) -> None:
    samples = tmp_path / "samples"
    with wb.open(tmp_path / "lab.db", samples=f"folder:{samples}") as bench:
        grown(bench, data, samples)
        samples.rename(tmp_path / "away")
        samples.write_text("not a folder")
        rounds = bench.watch(data, settle=0.0, every=0.01, **RULE)
        with pytest.warns(StoreNotice, match="stay in the store itself"):
            report = next(rounds)
        assert [one.status for one in report] == ["refused", "refused", "stored"]
        assert all("try again" in one.why for one in report.refused)
        (once,) = bench.watch(data, settle=0.0, once=True, **RULE)
        assert len(once.refused) == 2
        samples.unlink()
        (tmp_path / "away").rename(samples)
        assert next(rounds).summary == "2 extended", "what was refused is not said again"
        rounds.close()  # type: ignore[attr-defined]  # it is a generator
        assert bench.verify() == []


def test_over_http_the_report_names_no_folder_of_the_server(data: Path, tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    wb.open(tmp_path / "lab.db", samples=f"folder:{samples}").close()
    with sides(tmp_path / "lab.db") as lab:
        grown(lab.far, data, samples).unlink()
        report = lab.far.ingest(data, **RULE)
        assert [one.status for one in report] == ["refused", "extended", "stored"]
        assert "cannot be read on the server" in report[0].why
        assert "samples" in report[0].why
        assert "folder" not in report[0].why


def test_a_file_that_is_refused_while_the_disk_of_temporary_files_is_full_is_tried_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data / "b_t.csv").write_text("Time [s],Current [A],Voltage [V]\n1,1,3\n0,1,3\n")
    free = 1000
    monkeypatch.setattr(run.shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    with wb.open(tmp_path / "lab.db") as bench:
        rounds = bench.watch(data, settle=0.0, every=0.01, **RULE)
        stored, refused = next(rounds)
        assert (stored.status, refused.status) == ("stored", "refused")
        assert "hardly any room left, which may be the reason: make room there" in refused.why
        free = 1 << 40
        (report,) = next(rounds)
        assert "room" not in report.why, "tried again, though the file is as it was"
        rounds.close()  # type: ignore[attr-defined]  # it is a generator


@pytest.mark.parametrize("what", ["pack", "copy"])
def test_a_full_disk_of_temporary_files_is_said_and_what_was_stored_stays_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Closing a file writes what waits, and fails again."""

    class Full(BytesIO):
        def write(self, data: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        def close(self) -> None:
            super().close()
            self.write(b"")

    monkeypatch.setattr(mover, "LEAST", 0)
    monkeypatch.setattr(mover, "IN_MEMORY", 0)
    with (
        wb.open(tmp_path / "lab.db", samples=f"folder:{tmp_path / 'samples'}") as bench,
        monkeypatch.context() as full,
    ):
        if what == "pack":
            full.setattr(mover.tempfile, "TemporaryFile", lambda **named: Full())
        (tmp_path / "a.csv").write_text(LONG)
        if what == "pack":
            with pytest.warns(StoreNotice, match=r"No space left.*\$TMPDIR.*stay in the store itself"):
                assert bench.ingest(tmp_path / "a.csv").summary == "1 stored"
        else:
            assert bench.ingest(tmp_path / "a.csv").summary == "1 stored"
            full.setattr(relocate.tempfile, "TemporaryFile", lambda **named: Full())
            with pytest.raises(StoreError, match=r"The object '.*No space left.*\$TMPDIR"):
                bench.backup(tmp_path / "backup.db")
            assert not (tmp_path / "backup.db").exists()


@pytest.mark.filterwarnings("ignore:The folder of samples")  # what is new stays in the store itself
def test_a_watch_over_http_tries_again_when_the_place_is_back(data: Path, tmp_path: Path) -> None:
    """It took the file for refused until somebody changed it."""
    samples = tmp_path / "samples"
    wb.open(tmp_path / "lab.db", samples=f"folder:{samples}").close()
    with sides(tmp_path / "lab.db") as lab:
        grown(lab.far, data, samples)
        samples.rename(tmp_path / "away")
        samples.write_text("not a folder")
        rounds = lab.far.watch(data, settle=0.0, every=0.01, **RULE)
        report = next(rounds)
        assert [one.status for one in report] == ["refused", "refused", "stored"]
        samples.unlink()
        (tmp_path / "away").rename(samples)
        assert next(rounds).summary == "2 extended"
        rounds.close()  # type: ignore[attr-defined]  # it is a generator


def test_pauses_before_a_file_is_tried_again_grow(tmp_path: Path) -> None:
    path, looks = tmp_path / "a.csv", Looks(0.0)
    looks.look({path: (1, 1)}, 0.0)
    tried, now = [], 0.0
    while now < 2000:
        if looks.ready(now):
            tried.append(now)
            looks.put_off({path}, 5.0, now)
        now += 5.0
    assert tried == [0, 5, 15, 35, 75, 155, 315, 615, 915, 1215, 1515, 1815]
    looks.look({path: (2, 2)}, 1820.0)
    assert looks.ready(1820.0) == {path}, "a file that is written to is tried at once"


def test_a_full_disk_says_which_files_were_stored_before_it(data: Path, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def no_room(done: int, _all: int, _name: str) -> None:
        if done == 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))

    with wb.open(tmp_path / "lab.db") as bench:
        try:
            with pytest.raises(
                StoreError, match=r"Stored before it: 1 file, '.*a_t\.csv'\. The same ingest again"
            ):
                bench.ingest(data, progress=no_room, **RULE)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert bench.ingest(data, **RULE).summary == "1 stored, 1 already there"


def test_ctrl_c_says_which_files_were_stored_before_it(data: Path, tmp_path: Path) -> None:
    def pressed(done: int, _all: int, _name: str) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with wb.open(tmp_path / "lab.db") as bench:
        with pytest.raises(
            KeyboardInterrupt, match=r"^Stored before it: 1 file, '.*a_t\.csv'\. The same ingest again"
        ):
            bench.ingest(data, progress=pressed, **RULE)
        assert bench.ingest(data, **RULE).summary == "1 stored, 1 already there"
