"""Files become measurements: what is made on the way, what is said, what is refused, and that none stops another."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from support.cycler_file import ingest

from workbench.cycling.counted_cycles import largest_move
from workbench.cycling.cycles import cycles_of
from workbench.cycling.steps import steps_of
from workbench.errors import BadRequest
from workbench.ingest import Limits, Report
from workbench.ingest.plan.paths import find, stem_of
from workbench.ingest.plan.ratings import ratings_of
from workbench.ingest.processes import warm_workers, worker_process
from workbench.ingest.read import worker_pool
from workbench.messages import typed_in
from workbench.records import Batch, Instance, Measurement, Project, Specification
from workbench.store.scope import EVERYTHING, Scope
from workbench.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def scope(store: Store) -> Scope:
    return first_scope(store)


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes start however little there is to read."""
    monkeypatch.setattr(worker_pool, "_PER_WORKER", 1)


def first_scope(store: Store) -> Scope:
    chosen = store.rows.organizations()[0]
    project = store.rows.page(Project, Scope(chosen.id, None), limit=1).items[0]
    return Scope(chosen.id, project.id)


def cycler_text(cycles: int = 2, offset: float = 0.0) -> str:
    """A small test under our own column names: charge at 1 A, rest, discharge at 1 A, in each cycle."""
    lines = ["Time [s],Current [A],Voltage [V],Cycle from cycler,Step from cycler,Note"]
    for cycle in range(cycles):
        for step, (current, volts) in enumerate([(-1.0, (3.0, 4.0)), (0.0, (4.0, 4.0)), (1.0, (4.0, 3.0))]):
            for k in range(11):
                time = 60.0 * (cycle * 33 + step * 11 + k)
                voltage = volts[0] + (volts[1] - volts[0]) * k / 10 + offset
                lines.append(f"{time},{current},{voltage:.4f},{cycle + 1},{step + 1},n{k}")
    return "\n".join(lines) + "\n"


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_a_file_becomes_a_measurement_with_steps_and_cycles(store: Store, scope: Scope, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "RPT 1.csv", cycler_text())
    report = ingest(store, scope, path)
    assert report.ok
    (file,) = report
    assert (file.status, file.rows, file.steps, file.cycles) == ("stored", 66, 6, 2)
    assert file.kept == ["Note"]
    assert file.created == ["cell specification 'Unspecified RPT 1'", "cell instance 'RPT 1'"]
    measurement = store.rows.get(Measurement, file.measurement_id or "", scope)
    assert (measurement.name, measurement.instance_name) == ("RPT 1", "RPT 1")
    assert (measurement.sample_count, measurement.step_count, measurement.cycle_count) == (66, 6, 2)
    samples = store.series.read(measurement.id, scope=EVERYTHING)
    assert samples["Note"].tolist()[:3] == ["n0", "n1", "n2"]
    steps = store.series.read(measurement.id, dataset="steps", scope=EVERYTHING)
    assert steps.records() == steps_of(samples, owning=True).records()
    assert (
        store.series.read(measurement.id, dataset="cycles", scope=EVERYTHING).records()
        == cycles_of(steps).records()
    )
    # Ten minutes at 1 A, and half of the minute before the rest.
    assert steps["Charge capacity [A.h]"].tolist()[0] == pytest.approx(10.5 / 60)
    assert store.verify() == []


def test_unknown_ratings_are_estimated_and_marked(store: Store, scope: Scope, tmp_path: Path) -> None:
    report = ingest(store, scope, write(tmp_path / "in", "a.csv", cycler_text()))
    specification = store.rows.find(Specification, "Unspecified a", scope)
    assert specification.ratings.capacity.value == pytest.approx(0.183)
    assert (specification.ratings.voltage_min.value, specification.ratings.voltage_max.value) == (3.0, 4.0)
    assert specification.source == {
        "ratings": "estimated from the data",
        "file": "a.csv",
        "capacity": 0.183,
        "at_least": True,
        "own": True,
    }
    assert any("estimated" in sentence for sentence in report[0].assumed)


def test_what_is_named_is_made_once_and_used_again(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, "a.csv", cycler_text())
    write(folder, "b.csv", cycler_text(offset=0.01))
    report = ingest(
        store, scope, folder, specification="LG M50", rating="5Ah,2.5V,4.2V", instance="cell 1", batch="A"
    )
    assert report[0].created == ["cell specification 'LG M50'", "batch 'A'", "cell instance 'cell 1'"]
    assert report[1].created == []
    cell = store.rows.find(Instance, "cell 1", scope)
    assert (cell.specification_name, cell.batch_name) == ("LG M50", "A")
    assert store.rows.find(Specification, "LG M50", scope).source == {}
    write(folder, "c.csv", cycler_text(offset=0.02))
    again = ingest(store, scope, folder / "c.csv", instance=cell, batch="a")
    assert again[0].created == []
    assert store.rows.find(Measurement, "c", scope).instance_id == cell.id
    assert store.rows.page(Batch, scope).total == 1


def test_the_same_content_is_stored_once(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, "a.csv", cycler_text())
    write(folder, "b.csv.gz", cycler_text())
    report = ingest(store, scope, folder)
    assert [file.status for file in report] == ["stored", "duplicate"]
    assert report[1].measurement_id == report[0].measurement_id
    assert "in the measurement 'a' of the cell 'a'" in report[1].why
    assert report.ok
    assert store.rows.page(Measurement, scope).total == 1
    assert store.rows.page(Instance, scope).total == 1
    assert store.verify() == []


def test_another_content_under_the_same_name_gets_a_number(store: Store, scope: Scope, tmp_path: Path) -> None:
    first = write(tmp_path / "one", "a.csv", cycler_text())
    second = write(tmp_path / "two", "a.csv", cycler_text(offset=0.01))
    report = ingest(store, scope, [first, second], instance="cell")
    assert [file.measurement for file in report] == ["a", "a (2)"]


@pytest.mark.usefixtures("eager")
def test_one_bad_file_never_stops_the_others(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, "a other.csv", cycler_text().replace("Voltage [V]", "Pressure [Pa]"))
    write(folder, "b good.csv", cycler_text())
    write(folder, "c empty.csv", "")
    (folder / "d noise.bin").write_bytes(np.random.default_rng(1).bytes(5000))
    paths = [*sorted(folder.iterdir()), folder / "e absent.csv", folder / "*.nothing"]
    for jobs in (1, 2):
        report = ingest(store, scope, paths, jobs=jobs)
        by_name = {Path(file.path).name[0]: file for file in report}
        assert not report.ok
        assert by_name["b"].status == ("stored" if jobs == 1 else "duplicate")
        assert [by_name[letter].status for letter in "acde*"] == ["refused"] * 5
        assert "column_map=" in by_name["a"].why
        assert "There is no file" in by_name["e"].why
        assert "No file matches" in by_name["*"].why
    assert store.rows.page(Measurement, scope).total == 1
    assert [s.name for s in store.rows.page(Specification, scope).items] == ["Unspecified b good"]
    assert store.verify() == []


@pytest.mark.usefixtures("eager")
def test_files_are_committed_in_the_order_of_their_paths(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for number in range(6):
        write(folder, f"{number}.csv", cycler_text(cycles=40 if number == 0 else 1, offset=number / 100))
    seen: list[tuple[int, int, str]] = []
    report = ingest(store, scope, folder, jobs=3, progress=lambda *told: seen.append(told))
    assert [file.status for file in report] == ["stored"] * 6
    names = [item.name for item in store.rows.page(Measurement, scope).items]
    assert names == sorted(names) == [str(number) for number in range(6)]
    assert seen == [(k, 6, f"{k}.csv") for k in range(6)] + [(6, 6, "")]


@pytest.mark.usefixtures("eager")
def test_jobs_change_nothing_that_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for number in range(3):
        write(folder, f"{number}.csv", cycler_text(offset=number / 100))
    hashes = []
    for jobs in (1, 2):
        with Store.open(tmp_path / f"{jobs}.db") as store:
            report = ingest(store, first_scope(store), folder, jobs=jobs)
            infos = [
                store.series.info(file.measurement_id or "", name, scope=EVERYTHING)
                for file in report
                for name in ("series", "steps")
            ]
            hashes.append([info.content_hash for info in infos if info])
    assert hashes[0] == hashes[1]
    assert len(hashes[0]) == 6


@pytest.mark.parametrize(
    ("sizes", "jobs", "started"),
    [
        ([10_000] * 4, 8, 1),
        ([40 << 20], 8, 1),
        ([20 << 20] * 3, 8, 3),
        ([20 << 20] * 3, 2, 2),
        ([1000] * 200, 4, 4),
    ],
)
def test_processes_start_only_where_there_is_enough_to_read(
    sizes: list[int], jobs: int, started: int, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{place}.csv" for place in range(len(sizes))]
    for path, size in zip(paths, sizes, strict=True):
        with path.open("wb") as file:
            file.truncate(size)
    assert worker_pool.worth_starting(paths, jobs) == started
    assert worker_pool.worth_starting(paths, 1) == 1


def test_a_few_small_files_start_no_process_where_there_is_no_lock(
    store: Store, scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_workers, "PROGRAM", "raise SystemExit(3)")
    monkeypatch.setattr(worker_pool, "can_lock", lambda: False)
    folder = tmp_path / "in"
    for number in range(3):
        write(folder, f"{number}.csv", cycler_text(offset=number / 100))
    assert [file.status for file in ingest(store, scope, folder, jobs=4)] == ["stored"] * 3


def test_folders_skip_what_is_of_no_known_format(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, "b.csv", cycler_text())
    write(folder, "notes.md", "# Notes\n\nNothing measured here.\n")
    write(folder, ".hidden.csv", cycler_text())
    write(folder / "below", "a.csv", cycler_text(offset=0.1))
    found = find(folder)
    assert [path.name for path in found.files] == ["b.csv", "a.csv", "notes.md"]
    assert found.loose == set(found.files)
    assert [path.name for path in find(str(folder / "**" / "*.csv")).files] == ["b.csv", "a.csv"]
    report = ingest(store, scope, folder)
    assert report.ok
    assert [Path(path).name for path in report.skipped] == ["notes.md"]
    assert [file.status for file in report] == ["stored", "stored"]


def test_bytes_of_the_file_are_kept_on_request(store: Store, scope: Scope, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "a#1.csv", cycler_text())
    report = ingest(store, scope, path, keep_file=True)
    (kept,) = store.rows.get(Measurement, report[0].measurement_id or "", scope).files
    assert kept.filename == "a_1.csv"
    assert b"".join(store.blobs.get(kept.piece)) == path.read_bytes()
    assert kept.size == path.stat().st_size
    assert store.verify() == []


def test_bounds_refuse_what_is_too_large_or_takes_too_long(store: Store, scope: Scope, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "a.csv", cycler_text())
    for limits, words in (
        (Limits(rows=65), "more than 65 rows"),
        (Limits(columns=5), "8 columns|6 columns"),
        (Limits(seconds=0.0), "longer than 0 s"),
    ):
        report = ingest(store, scope, path, limits=limits)
        assert report[0].status == "refused"
        assert any(word in report[0].why for word in words.split("|"))
    assert ingest(store, scope, path, limits=Limits(rows=66, columns=6)).ok


@pytest.mark.usefixtures("eager")
def test_a_file_that_hangs_costs_only_itself(store: Store, scope: Scope, tmp_path: Path) -> None:
    """A pipe without a writer never ends. It is not an ordinary file, so nothing waits for it."""
    folder = tmp_path / "in"
    good = write(folder, "b.csv", cycler_text())
    pipe = folder / "a.csv"
    os.mkfifo(pipe)
    report = ingest(store, scope, [pipe, good], jobs=2)
    assert [file.status for file in report] == ["refused", "stored"]
    assert "not an ordinary file" in report[0].why


HOSTILE = """
import os, pathlib, sys, time
from workbench.ingest.read import worker
prepare = worker.prepare
def hostile(path, options, file):
    if "dies" in path.name:
        os._exit(3)
    if "hangs" in path.name:
        print("a parser that prints", flush=True)
        time.sleep(600)
    return prepare(path, options, file)
worker.prepare = hostile
worker.main(pathlib.Path(sys.argv[1]))
"""


@pytest.mark.usefixtures("eager")
def test_a_process_that_dies_or_hangs_costs_its_own_file_only(
    store: Store, scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_workers, "PROGRAM", HOSTILE)
    monkeypatch.setattr(worker_pool, "GRACE", 0.5)
    monkeypatch.setattr(worker_process, "GRACE", 0.5)
    folder = tmp_path / "in"
    for number, name in enumerate(["a", "b dies", "c", "d hangs", "e", "f dies", "g"]):
        write(folder, f"{name}.csv", cycler_text(offset=number / 100))
    report = ingest(store, scope, folder, jobs=2, limits=Limits(seconds=4.0))
    assert [file.status[0] for file in report] == list("srsrsrs"), report
    assert "process that read the file died" in report[1].why
    assert "longer than 4 s and was stopped" in report[3].why
    assert store.verify() == []


def test_options_that_cannot_be_meant_are_refused_at_once(store: Store, scope: Scope, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "a.csv", cycler_text())
    with pytest.raises(BadRequest, match=r"no repair 'tme'\. Did you mean 'time'"):
        ingest(store, scope, path, repair="tme")
    with pytest.raises(BadRequest, match="no format"):
        ingest(store, scope, path, format="newar")
    with pytest.raises(BadRequest, match=r"5Ah,2\.5V,4\.2V"):
        ingest(store, scope, path, rating="5 apples")


@pytest.mark.parametrize("text", ["5Ah,2.5V", "5Ah,2.5V,2.5V", "0Ah,2.5V,4.2V", "5Ah,5Ah,4.2V", "", "5,2.5,4.2"])
def test_ratings_that_are_none(text: str) -> None:
    with pytest.raises(BadRequest):
        ratings_of(text)


def test_ratings_in_other_units_and_order() -> None:
    assert ratings_of("4200mV, 2.5 V, 3200 mAh") == ratings_of("3.2Ah,2.5V,4.2V")


def test_a_cell_that_does_not_fit_its_rating_is_told(store: Store, scope: Scope, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "a.csv", cycler_text())
    store.rows.create(Specification, {"name": "big", "ratings": ratings_of("50Ah,2.5V,4.2V")}, scope=scope)
    report = ingest(store, scope, path, specification="big")
    assert any("rated 50 A.h" in sentence for sentence in report[0].odd)


def test_a_rating_that_was_estimated_is_not_blamed_on_the_specification(
    store: Store, scope: Scope, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    small = cycler_text().replace(",1.0,", ",0.001,").replace(",-1.0,", ",-0.001,")
    assert ingest(store, scope, write(folder, "coin.csv", small), specification="S").ok
    (told,) = ingest(store, scope, write(folder, "large.csv", cycler_text()), specification="S")[0].odd
    assert "is only an estimate from 'coin.csv'" in told
    assert "right specification" not in told
    specification = store.rows.find(Specification, "S", scope)
    ratings = ratings_of("1mAh,3V,4V")
    store.rows.update(Specification, specification.id, {"ratings": ratings}, scope)
    other = write(folder, "other.csv", cycler_text(offset=0.01))
    (told,) = ingest(store, scope, other, specification="S")[0].odd[:1]
    assert "is rated 0.001 A.h" in told
    assert "right specification" in told


def test_an_estimate_that_does_not_fit_many_files_is_told_once(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    small = cycler_text().replace(",1.0,", ",0.001,").replace(",-1.0,", ",-0.001,")
    write(folder, "a coin.csv", small)
    for number in range(3):
        write(folder, f"large {number}.csv", cycler_text(offset=number / 100))
    report = ingest(store, scope, folder, specification="S")
    assert [len(file.odd) for file in report] == [0, 1, 0, 0]
    (summed,) = [row for row in report.assumptions() if row["assumed"] == "rating_apart"]
    assert summed["files"] == 2
    assert "specification" in summed["settled by"]


def test_steps_do_not_hang_on_what_was_estimated_from_another_file(
    store: Store, scope: Scope, tmp_path: Path
) -> None:
    """Currents of 50 uA are rest in a cell of 5 A.h, and were in one that a file before them was estimated to be."""
    text = cycler_text().replace("Step from cycler", "Row")
    assert ingest(store, scope, write(tmp_path / "in", "large.csv", text)).ok
    coin = text.replace(",1.0,", ",0.00005,").replace(",-1.0,", ",-0.00005,")
    (file,) = ingest(store, scope, write(tmp_path / "in", "coin.csv", coin))
    assert file.steps == 6
    (rated,) = ingest(
        store, scope, write(tmp_path / "in", "rated.csv", coin + "#\n"), specification="big", rating="5Ah,3V,4V"
    )
    assert rated.steps == 2


def test_a_refused_file_tells_as_what_it_was_read(store: Store, scope: Scope, tmp_path: Path) -> None:
    headers = "time/s,voltage/V,current/A,state"
    rows = [f"{60 * n},{3.0 + 0.01 * n},-1.0,DChg" for n in range(60)]
    folder = tmp_path / "in"
    write(folder, "a.csv", "\n".join([headers, *rows]))
    unknown = write(folder, "b.csv", "a,b\n1,2\n")
    first, second = ingest(store, scope, [folder, unknown])
    assert (first.status, first.format) == ("refused", "delimited")
    assert "because the words in 'state' say so" in first.why
    assert 'If the voltage is right, say sign="discharge"' in first.why
    assert (second.status, second.format) == ("refused", "")
    with typed_in("terminal"):
        assert "say --sign discharge" in ingest(store, scope, folder)[0].why
    assert ingest(store, scope, folder / "a.csv", sign="discharge").ok


def test_an_estimated_voltage_leaves_out_what_no_cell_shows(store: Store, scope: Scope, tmp_path: Path) -> None:
    lines = cycler_text().splitlines()
    for place, voltage in ((5, "-0.0012"), (9, "65.535"), (14, "0.0000"), (30, "1.5000")):
        fields = lines[place].split(",")
        lines[place] = ",".join([*fields[:2], voltage, *fields[3:]])
    assert ingest(store, scope, write(tmp_path / "in", "a.csv", "\n".join(lines)), sign="discharge").ok
    ratings = store.rows.find(Specification, "Unspecified a", scope).ratings
    assert (ratings.voltage_min.value, ratings.voltage_max.value) == (3.0, 4.0)


@pytest.mark.parametrize(
    ("line", "capacity"),
    [
        ("Capacity (Ah): 0.24", 0.24),
        ("Battery capacity : 300 mA.h", 0.3),
        ("Nominal capacity: 0.000 Ah", 0.183),
        ("Capacity: 4500 Ah", 0.183),
        ("Capacity: large", 0.183),
    ],
)
def test_a_capacity_in_the_header_goes_before_an_estimate(
    line: str, capacity: float, store: Store, scope: Scope, tmp_path: Path
) -> None:
    report = ingest(store, scope, write(tmp_path / "in", "a.csv", f"{line}\nOperator: me\n{cycler_text()}"))
    rated = store.rows.find(Specification, "Unspecified a", scope).ratings.capacity.value
    assert rated == pytest.approx(capacity)
    assert any("header" in sentence for sentence in report[0].assumed) == (capacity != 0.183)


def test_a_capacity_without_cycle_counter_is_that_of_one_half_cycle(
    store: Store, scope: Scope, tmp_path: Path
) -> None:
    text = cycler_text(cycles=5).replace("Cycle from cycler", "Row of five")
    assert ingest(store, scope, write(tmp_path / "in", "a.csv", text)).ok
    assert store.rows.find(Specification, "Unspecified a", scope).ratings.capacity.value == pytest.approx(0.183)


def test_moves_of_a_sum_end_at_a_turn_and_not_at_a_pulse() -> None:
    assert largest_move([]) is None
    assert largest_move([1.0, float("inf")]) is None
    assert largest_move([3.0, 0.0, 3.1, 0.1, 3.2]) == pytest.approx(3.1)
    assert largest_move([-1.0, -0.9, -2.0, -1.9, -3.0]) == 3.0
    assert largest_move([0.0, 0.0]) == 0.0


@pytest.mark.parametrize(
    ("unit", "current", "rating", "mend"),
    [
        ("[A]", "1500.0", None, 'column_map={"Current [A]": "Current [mA]"}'),
        ("[A]", "100.0", "0.05Ah,3V,4V", 'column_map={"Current [A]": "Current [mA]"}'),
        ("[A]", "50.0", None, None),
        ("[A]", "100.0", "100Ah,3V,4V", None),
        ("[mA]", "1500.0", None, None),
        ("[A]", "0.009", "5Ah,3V,4V", "Is it the right specification?"),  # no cycler writes kiloampere
        ("[mA]", "9.0", "5Ah,3V,4V", 'column_map={"Current [mA]": "Current [A]"}'),
        ("[A]", "0.5", "5Ah,3V,4V", None),
    ],
)
def test_currents_a_thousand_times_off_name_the_unit(
    unit: str, current: str, rating: str | None, mend: str | None, store: Store, scope: Scope, tmp_path: Path
) -> None:
    text = cycler_text().replace(",1.0,", f",{current},").replace(",-1.0,", f",-{current},")
    text = text.replace("Current [A]", f"Current {unit}")
    (file,) = ingest(store, scope, write(tmp_path / "in", "a.csv", text), specification="x", rating=rating)
    told = [sentence for sentence in file.odd if "A usual current of" in sentence]
    assert (told == []) if mend is None else (len(told) == 1 and mend in told[0])


def test_millivolts_under_a_name_of_volts_name_the_unit(store: Store, scope: Scope, tmp_path: Path) -> None:
    rows = [line.split(",") for line in cycler_text().splitlines()]
    text = "\n".join(
        ",".join([*row[:2], row[2] if place == 0 else f"{float(row[2]) * 1000:.1f}", *row[3:]])
        for place, row in enumerate(rows)
    )
    (file,) = ingest(store, scope, write(tmp_path / "in", "a.csv", text))
    assert any('column_map={"Voltage [V]": "Voltage [mV]"}' in sentence for sentence in file.odd)


def test_a_report_shows_itself(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, "a <b>[red].csv", cycler_text())
    report = ingest(store, scope, [*folder.iterdir(), folder / "absent.csv"])
    assert json.loads(json.dumps(report.as_dict()))["files"][0]["status"] == "stored"
    shown = report._repr_html_()
    assert "a &lt;b&gt;[red].csv" in shown
    assert "<td" in shown
    printed = io.StringIO()
    Console(width=500, file=printed).print(report)
    assert "a <b>[red].csv" in printed.getvalue()
    assert "1 stored, 1 refused" in repr(report)
    assert repr(Report()) == "Ingest: no files"


def test_stems_are_names_a_record_can_have() -> None:
    assert stem_of(Path("x/RPT 1.csv.gz")) == "RPT 1"
    assert stem_of(Path("a.bdf.csv")) == "a.bdf"
    assert stem_of(Path("channel.070.gz")) == "channel"
    assert stem_of(Path("\x01.csv")) == "file"
    assert len(stem_of(Path("n" * 250 + ".csv"))) == 200


def test_two_ingests_at_once_store_each_file_once(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for number in range(4):
        write(folder, f"{number}.csv", cycler_text(offset=number / 100))
    with Store.open(tmp_path / "lab.db") as store:
        scope = first_scope(store)
        reports: list[Report] = []
        threads = [threading.Thread(target=lambda: reports.append(ingest(store, scope, folder))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(len(report.stored) for report in reports) == 4
        assert sum(len(report.duplicates) for report in reports) == 8
        assert store.rows.page(Measurement, scope).total == 4
        names = [one.name for one in store.rows.page(Specification, scope).items]
        assert sorted(names) == [f"Unspecified {number}" for number in range(4)]
        assert store.verify() == []


MEASURE = """
import resource, sys
from workbench.ingest import ingest
from workbench.records import Project
from workbench.store.scope import Scope
from workbench.store.store import Store

store = Store.open(sys.argv[1])
organization = store.rows.organizations()[0]
scope = Scope(organization.id, store.rows.page(Project, Scope(organization.id, None), limit=1).items[0].id)
report = ingest(store, scope, sys.argv[2])
assert report.ok, report
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write_parquet(path: Path, rows: int) -> None:
    """Half cycles of 4000 s at 1 A, one sample a second."""
    schema = pa.schema([(name, pa.float64()) for name in ("Time [s]", "Current [A]", "Voltage [V]")])
    for name in ("Cycle from cycler", "Step from cycler"):
        schema = schema.append(pa.field(name, pa.int64()))
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, rows, 500_000):
            time = np.arange(start, start + 500_000)
            discharge = time % 8000 < 4000
            volts = np.where(discharge, 3.95 - time % 4000 / 4000, 3.05 + time % 4000 / 4000).round(4)
            current = np.where(discharge, 1.0, -1.0)
            columns = [time.astype(float), current, volts, time // 8000, time // 4000]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=131_072)


@pytest.mark.long
def test_memory_of_an_ingest_does_not_grow_with_the_file(tmp_path: Path) -> None:
    peaks = []
    for rows in (1_000_000, 10_000_000):
        path = tmp_path / f"{rows}.parquet"
        write_parquet(path, rows)
        told = subprocess.run(
            [sys.executable, "-c", MEASURE, str(tmp_path / f"{rows}.db"), str(path)],
            stdout=subprocess.PIPE,
            check=True,
        )
        peaks.append(int(told.stdout))
    assert peaks[1] < 1.25 * peaks[0]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_name_of_any_bytes_is_read_and_told(store: Store, scope: Scope, tmp_path: Path, jobs: int) -> None:
    for name, text in (
        (b"one\xff.csv", cycler_text()),
        (b"two\xfe.csv", ""),
        (b"three\xff.csv", cycler_text(offset=0.01)),
    ):
        (tmp_path / os.fsdecode(name)).write_text(text)
    paths = sorted(tmp_path.glob("*.csv"))
    report = ingest(store, scope, paths, jobs=jobs, keep_file=True)
    assert sorted((file.status, file.measurement) for file in report) == [
        ("refused", ""),
        ("stored", "one"),
        ("stored", "three"),
    ]
    str(report).encode()
    stored = store.rows.find(Measurement, "one", scope)
    assert (stored.file_name, stored.files[0].filename) == ("one\ufffd.csv", "one\ufffd.csv")


def test_an_infinite_current_estimates_no_rating(store: Store, scope: Scope, tmp_path: Path) -> None:
    text = cycler_text().replace("60.0,-1.0,", "60.0,-inf,", 1)
    path = write(tmp_path / "in", "a.csv", text)
    (file,) = ingest(store, scope, path, sign="discharge")
    assert (file.status, file.why) == ("stored", "")
    assert any("infinite" in sentence for sentence in file.odd)
