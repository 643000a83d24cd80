"""Files become measurements: what is made on the way, what is said, what is refused, and that none stops another."""

from __future__ import annotations

import io
import json
import os
import shutil
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
from support.ingested_text import cycler_text, first_scope, write

from workbench.cycling.cycles import cycles_of
from workbench.cycling.steps import steps_of
from workbench.errors import BadRequest
from workbench.ingest import Limits, Report
from workbench.ingest.plan.paths import find, stem_of
from workbench.ingest.processes import warm_workers, worker_process
from workbench.ingest.read import worker_pool
from workbench.records import Batch, Instance, Measurement, Specification
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


def test_two_charges_in_one_cycle_of_the_cycler_are_no_larger_capacity(
    store: Store, scope: Scope, tmp_path: Path
) -> None:
    """A capacity check-up and the charge after it are one cycle for the cycler."""
    rows, voltage = ["Time [s],Current [A],Voltage [V],Cycle"], 3.0
    for turn in range(6):
        for n in range(60):
            amps = -1.0 if turn % 2 == 0 else 1.0
            voltage -= amps / 60
            rows.append(f"{60 * (60 * turn + n)},{amps},{voltage:.4f},{turn // 4}")
    ingest(store, scope, write(tmp_path / "in", "two.csv", "\n".join(rows)))
    held = store.rows.find(Specification, "Unspecified two", scope)
    assert held.ratings.capacity.value == pytest.approx(1.0, rel=0.02)


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


def test_a_folder_without_files_is_said_to_be_empty(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    (folder / "below").mkdir(parents=True)
    (folder / ".hidden.csv").write_text(cycler_text())
    report = ingest(store, scope, folder)
    assert not report.ok
    assert [(file.path, file.status) for file in report] == [(str(folder), "refused")]
    assert "holds no file to read" in report.files[0].why
    path = write(folder, "cell.csv", cycler_text())
    assert [file.status for file in ingest(store, scope, [path, folder])] == ["stored"]
    assert [file.status for file in ingest(store, scope, str(folder / "**"))] == ["duplicate"], (
        "a folder that a pattern met"
    )


CLOSED = """
import sys
import workbench as wb
bench = wb.open(sys.argv[1])
watched = bench.watch(sys.argv[2], settle=0.02, every=0.02, once=True)
for report in (bench.ingest(sys.argv[2], sign="discharge"), *watched):
    for file in report:
        print(file.status, file.path.rpartition("/in")[2], file.why)
    print("skipped", *report.skipped)
"""
"""Its own process, since root may read everything: it lays that right down."""
WITHOUT_RIGHTS = (
    "setpriv",
    "--inh-caps=-dac_override,-dac_read_search",
    "--bounding-set=-dac_override,-dac_read_search",
)


@pytest.mark.skipif(
    os.geteuid() == 0 and not shutil.which("setpriv"), reason="needs setpriv where it runs as root"
)
def test_what_may_not_be_read_is_refused_by_name_and_stops_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    write(folder, "open.csv", cycler_text())
    for place, mode in (("closed", 0o000), ("listed", 0o444)):
        write(folder / place, "one.csv", cycler_text(3))
        (folder / place).chmod(mode)
    write(folder, "unread.csv", cycler_text(4)).chmod(0o000)
    words = WITHOUT_RIGHTS if os.geteuid() == 0 else ()
    done = subprocess.run(
        [*words, sys.executable, "-c", CLOSED, str(tmp_path / "lab.db"), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    for place in ("closed", "listed"):
        (folder / place).chmod(0o755)
    assert done.returncode == 0, done.stderr
    ingested, watched = done.stdout.split("skipped\n")[:-1], done.stdout.splitlines()
    assert sorted(ingested[0].splitlines()) == [
        f"refused /closed The folder '{folder / 'closed'}' cannot be read: Permission denied.",
        "refused /listed/one.csv 'one.csv' cannot be opened: Permission denied.",
        "refused /unread.csv 'unread.csv' cannot be opened: Permission denied.",
        "stored /open.csv ",
    ]
    assert sum("/closed' cannot be read" in line for line in watched) == 2  # a watch says it too
    assert watched.count("refused /unread.csv 'unread.csv' cannot be opened: Permission denied.") == 2


def test_a_link_to_nothing_in_a_folder_is_refused(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = write(tmp_path / "in", "a.csv", cycler_text()).parent
    (folder / "linked.csv").symlink_to("a.csv")
    (folder / "gone.csv").symlink_to("no-such.csv")
    (folder / "around.csv").symlink_to("around.csv")
    os.mkfifo(folder / "pipe.csv")
    report = ingest(store, scope, folder)
    why = {file.path.rpartition("/")[2]: (file.status, file.why) for file in report}
    assert why["gone.csv"] == ("refused", "'gone.csv' is a link to 'no-such.csv', which is not there.")
    assert why["around.csv"] == ("refused", "'around.csv' cannot be opened: Too many levels of symbolic links.")
    assert {why["a.csv"][0], why["linked.csv"][0]} == {"stored", "duplicate"}
    assert not report.skipped
