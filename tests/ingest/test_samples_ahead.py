"""Samples that are written while their file is read: the measurement is the same, and nothing is left of others."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.ingest import IngestOptions, ingest
from workbench.ingest import run as run_of
from workbench.ingest.commit import ahead
from workbench.ingest.commit.ahead import Ahead, Begun
from workbench.ingest.plan.jobs import Job
from workbench.ingest.plan.read_options import ReadOptions
from workbench.ingest.read.worker import outcome_of
from workbench.ingest.read.worker_pool import Done, Meanwhile
from workbench.readers import limits
from workbench.records import Measurement, Project
from workbench.store.scope import EVERYTHING, Scope
from workbench.store.series import series_writer
from workbench.store.series.chunks import CHUNK
from workbench.store.store import Store

ROWS = 40_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[Begun | None]:
    """What was written ahead of each file whose samples were stored; writers flush early."""
    seen = watched(monkeypatch)
    monkeypatch.setattr(series_writer, "FLUSH_BYTES", 1 << 10)
    monkeypatch.setattr(series_writer, "BLOCK", CHUNK)
    monkeypatch.setattr(limits, "CHUNK_ROWS", 9_000)
    return seen


def watched(monkeypatch: pytest.MonkeyPatch) -> list[Begun | None]:
    seen: list[Begun | None] = []
    real = Ahead.taken

    def taken(self: Ahead, *given: Any) -> Begun | None:
        seen.append(real(self, *given))
        return seen[-1]

    monkeypatch.setattr(Ahead, "taken", taken)
    return seen


def scope_of(store: Store) -> Scope:
    chosen = store.rows.organizations()[0]
    return Scope(chosen.id, store.rows.page(Project, Scope(chosen.id, None), limit=1).items[0].id)


def cycler_file(path: Path, *, cycles: bool = True, rows: int = ROWS, seed: int = 3) -> Path:
    time = np.arange(rows)
    current = np.where(time // 1000 % 2, -1.0, 1.0)
    noise = np.random.default_rng(seed).normal(0, 1e-3, rows)
    voltage = 3.5 - current * (time % 1000 / 4000) + noise
    columns = {"Time [s]": time, "Current [A]": current, "Voltage [V]": voltage, "Step from cycler": time // 1000}
    columns |= {"Cycle from cycler": time // 2000} if cycles else {}
    with path.open("w") as file:
        file.write(",".join(columns) + "\n")
        np.savetxt(file, np.column_stack([*columns.values()]), fmt="%.4f", delimiter=",")
    return path


def read_in_parts(
    tmp_path: Path, spoil: Callable[[Path], None] = lambda part: None, *, parts: int = 9
) -> Callable[..., Iterator[Done]]:
    """Outcomes of files whose spools come in so many parts, cut anywhere; ``spoil`` gets each before it is whole."""
    rng = random.Random(1)

    def outcomes(jobs: Sequence[Job], processes: int, *, meanwhile: Meanwhile, **others: Any) -> Iterator[Done]:
        for number, job in enumerate(jobs):
            whole, part = tmp_path / f"{number}.whole", tmp_path / f"{number}.part"
            with whole.open("w+b") as file:
                outcome = outcome_of(job.paths[0], job.options, file)
            data = whole.read_bytes()
            meanwhile(job, lambda: None)
            for cut in sorted(rng.randrange(len(data) + 1) for _ in range(parts)):
                part.write_bytes(data[:cut]) if not part.exists() else _grow(part, data[:cut])
                meanwhile(job, lambda part=part: part.open("rb"))  # type: ignore[misc]
            spoil(part)
            if part.exists():
                _grow(part, data)
            else:
                part.write_bytes(data)
            with part.open("r+b") as file:
                yield job, outcome, file
            part.unlink()

    return outcomes


def _grow(part: Path, data: bytes) -> None:
    with part.open("ab") as file:
        file.write(data[part.stat().st_size :])


def contents(store: Store) -> list[dict[str, Any]]:
    """All measurements with all their samples, steps and cycles, and that no draft is left."""
    assert store.connection().execute("select count(*) from drafts where lease is not null").fetchone() == (0,)
    found = []
    for record in store.rows.page(Measurement, scope_of(store), limit=100).items:
        kept: dict[str, Any] = {"name": record.name, "hash": record.content_hash}
        for dataset in ("series", "steps", "cycles"):
            table = store.series.read(record.id, dataset=dataset, scope=EVERYTHING)
            kept[dataset] = {name: (column.kind, column.tolist()) for name, column in table.columns.items()}
        found.append(kept)
    return found


def otherwise(tmp_path: Path, paths: Sequence[Path], options: IngestOptions | None = None) -> list[dict[str, Any]]:
    """What a store holds into which the same files were read without anything ahead."""
    with pytest.MonkeyPatch.context() as patch, Store.open(tmp_path / "other.db") as other:
        patch.setattr(run_of, "outcomes", read_in_parts(tmp_path, parts=0))
        assert ingest(other, scope_of(other), paths, options).ok
        return contents(other)


def test_a_long_file_becomes_the_same_measurement(
    tmp_path: Path, store: Store, taken: list[Begun | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [cycler_file(tmp_path / "a.csv"), cycler_file(tmp_path / "b.csv", seed=4)]
    real, drafts = read_in_parts(tmp_path), []

    def outcomes(*given: Any, **more: Any) -> Iterator[Done]:
        for done in real(*given, **more):
            drafts.append(
                store.connection().execute("select count(*) from drafts where lease is not null").fetchone()
            )
            yield done

    monkeypatch.setattr(run_of, "outcomes", outcomes)
    report = ingest(store, scope_of(store), paths)
    assert report.ok
    assert drafts == [(1,), (1,)], "chunks were in the store before the file was stored"
    assert [file.rows for file in report] == [ROWS, ROWS]
    assert all(taken)
    found = contents(store)
    assert found == otherwise(tmp_path, paths)
    assert len(found) == 2


@pytest.mark.parametrize("cycles", [None, "count", "file"])
def test_cycles_that_are_counted_at_the_end_are_written_last(
    cycles: str | None,
    tmp_path: Path,
    store: Store,
    taken: list[Begun | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, options = cycler_file(tmp_path / "a.csv", cycles=False), IngestOptions(cycles=cycles)
    monkeypatch.setattr(run_of, "outcomes", read_in_parts(tmp_path))
    assert ingest(store, scope_of(store), path, options).ok
    assert taken[0] is not None
    found = contents(store)
    assert (len(set(found[0]["series"]["Cycle count"][1])) > 5) == (cycles != "file")
    assert found == otherwise(tmp_path, [path], options)


@pytest.mark.parametrize("cycles", [None, "count", "file"])
def test_a_counter_may_begin_to_rise_late(
    cycles: str | None,
    tmp_path: Path,
    store: Store,
    taken: list[Begun | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """When some is written already, as if its cycles were to be counted; also between two batches."""
    path, options = cycler_file(tmp_path / "a.csv"), IngestOptions(cycles=cycles)
    lines = path.read_text().splitlines()
    for place in (29_500, 3 * 9_000):
        late = [line.rsplit(",", 1)[0] + f",{n // place:.4f}" for n, line in enumerate(lines[1:])]
        path.write_text("\n".join([lines[0], *late]))
        monkeypatch.setattr(run_of, "outcomes", read_in_parts(tmp_path))
        taken.clear()
        with Store.open(tmp_path / f"{place}.db") as other:
            assert ingest(other, scope_of(other), path, options).ok
            assert taken[0] is not None
            assert contents(other) == otherwise(tmp_path, [path], options)
        (tmp_path / "other.db").unlink()


def test_what_waits_for_the_cycles_is_bounded(
    tmp_path: Path, store: Store, taken: list[Begun | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cycler_file(tmp_path / "a.csv", cycles=False)
    monkeypatch.setattr(ahead, "MOST_WAITING", 1 << 10)
    monkeypatch.setattr(run_of, "outcomes", read_in_parts(tmp_path))
    assert ingest(store, scope_of(store), path).ok
    assert taken == [None]
    assert contents(store) == otherwise(tmp_path, [path])


@pytest.mark.parametrize("lacking", ["Step from cycler", "Current [A]"])
def test_samples_that_mean_something_else_at_the_end_are_not_written_ahead(
    lacking: str, tmp_path: Path, store: Store, taken: list[Begun | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without steps the limit of a rest is known at the end; without a current cycles are not counted, though they were
    to be."""
    path, options = cycler_file(tmp_path / "a.csv"), IngestOptions(cycles="count")
    header, *lines = path.read_text().splitlines()
    place = header.split(",").index(lacking)
    if lacking == "Current [A]":
        zeros = [line.split(",") for line in lines]
        path.write_text("\n".join([header, *(",".join([*z[:place], "0.0", *z[place + 1 :]]) for z in zeros)]))
    else:
        kept = [[cell for at, cell in enumerate(line.split(",")) if at != place] for line in (header, *lines)]
        path.write_text("\n".join(map(",".join, kept)))
    monkeypatch.setattr(run_of, "outcomes", read_in_parts(tmp_path))
    assert ingest(store, scope_of(store), path, options).ok
    assert taken == [None]
    assert contents(store) == otherwise(tmp_path, [path], options)


def replaced(part: Path) -> None:
    """As if the process that read had died, and another one begun anew."""
    data = part.read_bytes()
    part.rename(part.with_suffix(".old"))
    part.write_bytes(data)


@pytest.mark.parametrize("spoil", [replaced, Path.unlink])
def test_a_spool_that_was_begun_anew_is_read_from_its_beginning(
    tmp_path: Path,
    store: Store,
    taken: list[Begun | None],
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path], None],
) -> None:
    path = cycler_file(tmp_path / "a.csv")
    monkeypatch.setattr(run_of, "outcomes", read_in_parts(tmp_path, spoil))
    assert ingest(store, scope_of(store), path).ok
    assert taken == [None]
    assert contents(store) == otherwise(tmp_path, [path])


def test_a_file_that_is_read_twice_is_written_once(
    tmp_path: Path, store: Store, taken: list[Begun | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its counter falls so often that it is none, which shows at the end alone."""
    path = cycler_file(tmp_path / "a.csv")
    lines = path.read_text().splitlines()
    rng = np.random.default_rng(5)
    wild = [f"{line},{value:.4f}" for line, value in zip(lines[1:], rng.random(ROWS), strict=True)]
    path.write_text("\n".join([f"{lines[0]},Discharge capacity [A.h]", *wild]))
    monkeypatch.setattr(run_of, "outcomes", read_in_parts(tmp_path))
    assert ingest(store, scope_of(store), path).ok
    assert taken == [None]
    assert contents(store) == otherwise(tmp_path, [path])


def test_bytes_that_are_no_samples_change_nothing(
    tmp_path: Path, store: Store, taken: list[Begun | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, strange = cycler_file(tmp_path / "a.csv"), tmp_path / "strange"
    real = read_in_parts(tmp_path)

    def outcomes(jobs: Sequence[Job], processes: int, *, meanwhile: Meanwhile, **others: Any) -> Iterator[Done]:
        for data in (os.urandom(1000), (5).to_bytes(8, "little") + b"hello", b"\xff" * 40, b""):
            strange.write_bytes(data)
            meanwhile(jobs[0], lambda: strange.open("rb"))
        yield from real(jobs, processes, meanwhile=meanwhile)

    monkeypatch.setattr(run_of, "outcomes", outcomes)
    assert ingest(store, scope_of(store), path).ok
    assert taken == [None]
    assert contents(store) == otherwise(tmp_path, [path])


def test_nothing_is_left_of_a_refused_file_and_of_one_that_is_there(
    tmp_path: Path, store: Store, taken: list[Begun | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = cycler_file(tmp_path / "good.csv"), cycler_file(tmp_path / "bad.csv", seed=5)
    assert ingest(store, scope_of(store), good).ok
    before = contents(store)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(good.read_bytes().replace(b".0000,1.0000,", b".0000,1.000,"))  # other bytes, the same samples
    real = read_in_parts(tmp_path)

    def outcomes(*given: Any, **more: Any) -> Iterator[Done]:
        for job, outcome, file in real(*given, **more):
            yield job, {"refused": "No."} if job.paths[0] == bad else outcome, file

    monkeypatch.setattr(run_of, "outcomes", outcomes)
    taken.clear()
    report = ingest(store, scope_of(store), [bad, copy])
    assert [file.status for file in report] == ["refused", "duplicate"]
    assert [begun is not None for begun in taken] == [True], "the copy was written ahead"
    assert contents(store) == before


def test_a_rehearsal_writes_nothing_ahead(
    tmp_path: Path, store: Store, taken: list[Begun | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_of, "outcomes", read_in_parts(tmp_path))
    report = ingest(store, scope_of(store), cycler_file(tmp_path / "a.csv"), IngestOptions(dry_run=True))
    assert report.ok
    assert taken == [None]
    assert contents(store) == []


def test_a_file_that_another_process_reads_is_written_meanwhile(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the processes as they are, and a file of three batches."""
    seen = watched(monkeypatch)
    path = cycler_file(tmp_path / "a.csv", rows=3 * limits.CHUNK_ROWS)
    report = ingest(store, scope_of(store), path, IngestOptions(jobs=1), isolated=True)
    assert report.ok
    assert seen[0] is not None
    with (tmp_path / "whole").open("w+b") as file:
        outcome = outcome_of(path, ReadOptions(), file)
    record = store.rows.get(Measurement, report[0].measurement_id or "", scope_of(store))
    assert record.content_hash == outcome["prepared"]["content_hash"]
    assert store.series.read(record.id, scope=EVERYTHING).n == 3 * limits.CHUNK_ROWS
