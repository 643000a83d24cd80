"""Tests that grow, are split or repeat: what is there goes on, in the same measurement, to the bit."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest
from support.cycler_file import cycler_text

import workbench as wb
from workbench.cycling.cycles import cycles_of
from workbench.cycling.steps import steps_of
from workbench.store.scope import EVERYTHING
from workbench.table import Table


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


def whole(tmp_path: Path, *paths: Path, **options: str) -> tuple[Table, Table, Table]:
    """What the files become when they are read at once, into a store of their own."""
    with wb.open(tmp_path / f"whole {len(list(tmp_path.iterdir()))}.db") as other:
        (file,) = other.ingest(list(paths), **options)  # type: ignore[arg-type]
        return tables(other, file.measurement_id or "")


def tables(bench: wb.Bench, id: str) -> tuple[Table, Table, Table]:
    series = bench.backend.store.series
    return (
        series.read(id, scope=EVERYTHING),
        series.read(id, dataset="steps", scope=EVERYTHING),
        series.read(id, dataset="cycles", scope=EVERYTHING),
    )


def same(one: tuple[Table, Table, Table], other: tuple[Table, Table, Table]) -> bool:
    return [table.records() for table in one] == [table.records() for table in other]


@pytest.mark.parametrize("cuts", [[40, 70, 130], [67, 133], [66, 67, 68, 69], [199]])
def test_a_file_with_more_rows_extends(bench: wb.Bench, tmp_path: Path, cuts: list[int]) -> None:
    path = tmp_path / "a.csv"
    lines = cycler_text(6).splitlines(keepends=True)
    path.write_text("".join(lines[:20]))
    first = bench.ingest(path)[0]
    for cut in [*cuts, len(lines)]:
        path.write_text("".join(lines[:cut]))
        file = bench.ingest(path)[0]
        assert file.measurement_id == first.measurement_id
        assert file.status == ("extended" if file.added else "duplicate")
    assert len(bench.measurements.list()) == 1
    samples, steps, cycles = tables(bench, first.measurement_id or "")
    assert samples.n == 198
    assert same((samples, steps, cycles), whole(tmp_path, path))
    assert steps.records() == steps_of(samples, owning=True).records()
    assert cycles.records() == cycles_of(steps).records()
    assert bench.verify() == []


@pytest.mark.parametrize("corrected", [False, True])
def test_rows_that_show_the_order_of_the_dates_correct_the_start(
    bench: wb.Bench, tmp_path: Path, corrected: bool
) -> None:
    path = tmp_path / "a.csv"
    begun = datetime(2024, 6, 5, 23, 50)
    for rows in (5, 16):
        times = (f"{begun + timedelta(minutes=2 * n):%d/%m/%Y %H:%M:%S}" for n in range(rows))
        body = "".join(f"{time};{3.6 + n % 8 / 10:.1f};{n % 8 / 2}\n" for n, time in enumerate(times))
        path.write_text("Date;Voltage (V);Current (A)\n" + body)
        file = bench.ingest(path)[0]
        test = bench.measurements.get(file.measurement_id or "")
        if rows == 5:
            assert f"{test.start_time:%d %B}" == "06 May"  # nothing shows that 05/06 begins with the day
            if corrected:
                bench.measurements.update(test.id, start_time=begun.replace(tzinfo=UTC), end_time=None)
    assert file.status == "extended"
    assert f"{test.start_time:%d %B %H:%M}, {test.end_time:%d %B %H:%M}" == "05 June 23:50, 06 June 00:20"
    assert str(tables(bench, test.id)[0]["Date"].tolist()[0]).startswith("2024-06-05")


def test_the_log_grows_and_open_plots_are_told(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(cycler_text(2))
    id = bench.ingest(path)[0].measurement_id or ""
    plan = {"steps": {"c": {"op": "summary", "dataset": "cycles", "ids": [id], "columns": ["Cycle count"]}}}
    assert len(bench.dataset({"plan": plan})["c"]) == 2
    path.write_text(cycler_text(4))
    file = bench.ingest(path)[0]
    assert (file.status, file.added, file.rows) == ("extended", 66, 132)
    assert "had 66 rows and now has 132" in file.why
    assert [rows for _, _, rows in bench.backend.store.series.history(id, scope=EVERYTHING)] == [66, 132]
    assert len(bench.dataset({"plan": plan})["c"]) == 4
    record = bench.measurements.get(id)
    assert (record.sample_count, record.cycle_count) == (132, 4)


def test_the_shorter_file_again_is_known(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(cycler_text(4))
    first = bench.ingest(path)[0]
    path.write_text(cycler_text(3))
    file = bench.ingest(path)[0]
    assert (file.status, file.measurement_id) == ("duplicate", first.measurement_id)
    assert "All rows of this file are already stored" in file.why
    assert bench.measurements.get(first.measurement_id).sample_count == 132


def test_another_test_under_the_same_name_stays_apart(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(cycler_text(2))
    bench.ingest(path)
    path.write_text(cycler_text(4, offset=0.001))
    file = bench.ingest(path)[0]
    assert (file.status, file.measurement) == ("stored", "a (2)")


def test_a_reading_that_changes_with_more_data_takes_the_place(bench: wb.Bench, tmp_path: Path) -> None:
    """A column that holds whole numbers at first and decimals later, and a last line that was cut."""
    path = tmp_path / "a.csv"
    lines = cycler_text(4).splitlines(keepends=True)
    later = [line.replace(",n", ",1.5,n") for line in lines[60:]]
    early = [line.replace(",n", ",2,n").replace(",Note", ",Extra,Note") for line in lines[:60]]
    path.write_text("".join(early)[:-9])
    first = bench.ingest(path)[0]
    path.write_text("".join([*early, *later]))
    file = bench.ingest(path)[0]
    assert (file.status, file.measurement_id) == ("extended", first.measurement_id)
    assert same(tables(bench, file.measurement_id or ""), whole(tmp_path, path))
    assert len(bench.measurements.list()) == 1
    assert bench.verify() == []


def test_a_packed_file_grows_too(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(cycler_text(2).encode()))
    bench.ingest(path)
    path.write_bytes(gzip.compress(cycler_text(3).encode()))
    assert bench.ingest(path)[0].status == "extended"


def test_an_export_under_another_name_extends_its_cell(bench: wb.Bench, tmp_path: Path) -> None:
    for name, cycles in (("c1_RPT_monday.csv", 2), ("c1_RPT_friday.csv", 4)):
        (tmp_path / name).write_text(cycler_text(cycles))
        report = bench.ingest(tmp_path / name, name_rule="{cell}_{test}_{}")
    assert report[0].status == "extended"
    assert bench.measurements.list()["sample_count"].tolist() == [132]


def exports(folder: Path, **cycles: int) -> None:
    for name, count in cycles.items():
        (folder / f"{name}.csv").write_text(cycler_text(count))


@pytest.mark.parametrize("longer_first", [False, True])
def test_a_longer_export_under_another_name_is_warned_of(
    longer_first: bool, bench: wb.Bench, tmp_path: Path
) -> None:
    exports(tmp_path, monday=2, friday=4)
    names = ["friday", "monday"] if longer_first else ["monday", "friday"]
    first, second = (bench.ingest(tmp_path / f"{name}.csv", instance="c1")[0] for name in names)
    assert (first.status, first.odd, second.status) == ("stored", [], "stored")
    (warning,) = second.odd
    assert f"the test '{names[0]}'" in warning
    assert ("All 66 samples" if longer_first else "The first 66 samples") in warning
    assert ("delete this one" if longer_first else "delete 'monday'") in warning
    kept = bench.measurements.get(second.measurement_id).source["findings"]
    assert [finding["code"] for finding in kept if finding["level"] == "odd"] == ["samples_of_another_test"]


def test_a_longer_export_is_warned_of_within_one_ingest_and_before_it(bench: wb.Bench, tmp_path: Path) -> None:
    exports(tmp_path, a_monday=2, b_friday=4)
    report = bench.ingest([tmp_path / "a_monday.csv", tmp_path / "b_friday.csv"], instance="c1")
    assert [len(file.odd) for file in report] == [0, 1]
    (tmp_path / "c_sunday.csv").write_text(cycler_text(6))
    (file,) = bench.ingest(tmp_path / "c_sunday.csv", instance="c1", dry_run=True)
    assert "samples are all those of the test" in file.odd[0]


def test_what_the_warning_advises_works(bench: wb.Bench, tmp_path: Path) -> None:
    exports(tmp_path, monday=2, friday=4, sunday=6)
    bench.ingest(tmp_path / "monday.csv", instance="c1")
    friday = bench.ingest(tmp_path / "friday.csv", instance="c1")[0]
    bench.measurements.delete(bench.measurements.list(name="monday")["id"][0])
    sheet = [{"file": "*", "cell": "c1", "test": "friday"}]
    file = bench.ingest(tmp_path / "sunday.csv", sheet=sheet)[0]
    assert (file.status, file.measurement_id, file.odd) == ("extended", friday.measurement_id, [])
    assert bench.measurements.list()["sample_count"].tolist() == [198]


def test_tests_of_a_cell_that_rest_or_differ_or_have_starts_are_not_warned_of(
    bench: wb.Bench, tmp_path: Path
) -> None:
    paths = [
        resting(tmp_path / "rest" / "a.csv", 55, 1.0),
        resting(tmp_path / "rest" / "b.csv", 58, 2.0),
    ]
    texts = [cycler_text(2), cycler_text(4, offset=0.001), cycler_text(4).replace("1.0,3.0000", "1.0,3.0001")]
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"t{number}.csv")
        paths[-1].write_text(text)
    for number, cycles in enumerate((2, 4)):
        head, *rows = cycler_text(cycles, offset=0.01).splitlines()
        rows = [f"2026-01-0{number + 1} {int(float(r.split(',')[0])) // 3600:02}:"
                f"{int(float(r.split(',')[0])) // 60 % 60:02}:00,{r}" for r in rows]  # fmt: skip
        paths.append(tmp_path / f"with_start{number}.csv")
        paths[-1].write_text("\n".join([f"Date,{head}", *rows]) + "\n")
    for path in paths:
        (file,) = bench.ingest(path, instance="c1", sign="discharge")
        assert (file.status, [text for text in file.odd if "samples" in text]) == ("stored", []), path.name


def test_labels_of_a_file_that_grew(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(cycler_text(2))
    bench.ingest(path, sheet=[{"file": "a*", "tags": "x"}])
    path.write_text(cycler_text(3))
    file = bench.ingest(path, sheet=[{"file": "a*", "tags": "y", "cell": "c1"}])[0]
    assert (file.status, file.instance) == ("extended", "c1")
    assert bench.measurements.get(file.measurement_id).tags == ["y"]


def resting(path: Path, rows: int, load: float) -> Path:
    """A test at rest at one voltage for a minute, and then under a load. A maker's clock writes a row a second."""
    volts = [3.6 if t < 60 else 3.6 - 0.05 * load - 0.0005 * (t - 60) for t in range(rows)]
    lines = [f"{t},{load if t >= 60 else 0},{v:.3f}" for t, v in enumerate(volts)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["Time [s],Current [A],Voltage [V]", *lines]) + "\n")
    return path


@pytest.mark.parametrize(("first", "second"), [(10, 12), (55, 58)])
@pytest.mark.parametrize("batches", [("A", "B"), (None, None)])
def test_tests_that_have_just_begun_at_rest_are_not_one(
    first: int, second: int, batches: tuple[str | None, str | None], bench: wb.Bench, tmp_path: Path
) -> None:
    def read(folder: str, rows: int, load: float, batch: str | None) -> str:
        path = resting(tmp_path / folder / "c1.csv", rows, load)
        return bench.ingest(path.parent, batch=batch, sign="discharge")[0].status

    assert read("A", first, 1.0, batches[0]) == "stored"
    assert read("B", second, 2.0, batches[1]) == "stored"
    assert read("A", 300, 1.0, batches[0]) == "extended"
    assert read("B", 300, 2.0, batches[1]) == "extended"
    assert bench.measurements.list()["sample_count"].tolist() == [300, 300]


def test_a_copy_that_goes_on_in_another_folder_is_said(bench: wb.Bench, tmp_path: Path) -> None:
    for folder, cycles in (("A", 2), ("B", 3)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "c1.csv").write_text(cycler_text(cycles))
    bench.ingest(tmp_path / "A", specification="S", batch="A")
    options = {"specification": "T", "batch": "B", "instance": "x"}
    file = bench.ingest(tmp_path / "B", **options)[0]  # type: ignore[arg-type]
    assert (file.status, file.batch, file.instance) == ("extended", "A", "c1")
    assert "It goes on with a test that was read from another folder ('A')." in file.assumed
    again = bench.ingest(tmp_path / "B", **options)[0]  # type: ignore[arg-type]
    assert again.status == "duplicate"
    for said in (file.odd, again.odd):
        assert [sentence.split(" was not used")[0] for sentence in said] == [
            "The specification 'T'",
            "The batch 'B'",
            "The cell 'x'",
        ]
    assert bench.ingest(tmp_path / "B", specification="S", batch="a", instance="C1")[0].odd == []


# Parts


def parts(folder: Path, *cycles: int) -> list[Path]:
    folder.mkdir(exist_ok=True)
    made = []
    for number, count in enumerate(cycles, 9):  # 10 comes after 9
        made.append(folder / f"c1_RPT_{number}.csv")
        made[-1].write_text(cycler_text(count, offset=number / 1000))
    return made


def test_parts_join_in_order(bench: wb.Bench, tmp_path: Path) -> None:
    parts(tmp_path / "in", 2, 3)
    (file,) = bench.ingest(tmp_path / "in", name_rule="{cell}_{test}_{part}")
    assert (file.rows, file.cycles, file.instance, file.measurement) == (165, 5, "c1", "RPT")
    frame = bench.measurements.time_series(file.measurement_id or "")
    assert frame["Time [s]"].is_monotonic_increasing
    assert frame["Voltage [V]"].iloc[[0, 66]].tolist() == [3.009, 3.01]
    assert any("in this order: c1_RPT_9.csv, c1_RPT_10.csv" in line for line in file.assumed)
    assert bench.ingest(tmp_path / "in", name_rule="{cell}_{test}_{part}")[0].status == "duplicate"


def test_a_further_part_extends(bench: wb.Bench, tmp_path: Path) -> None:
    parts(tmp_path / "in", 2, 3)
    bench.ingest(tmp_path / "in", name_rule="{cell}_{test}_{part}")
    paths = parts(tmp_path / "in", 2, 3, 1)
    (file,) = bench.ingest(tmp_path / "in", name_rule="{cell}_{test}_{part}")
    assert (file.status, file.added, file.cycles) == ("extended", 33, 6)
    assert same(
        tables(bench, file.measurement_id or ""), whole(tmp_path, *paths, name_rule="{cell}_{test}_{part}")
    )


def test_parts_with_clocks_keep_the_time_between(bench: wb.Bench, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    head = "Date,Current [A],Voltage [V]\n"
    for number, hour in ((1, "10"), (2, "13")):
        rows = [f"2026-01-31 {hour}:{k:02}:00,1.0,{3.9 - k / 100 - number / 10:.3f}" for k in range(30)]
        (folder / f"t{number}.csv").write_text(head + "\n".join(rows) + "\n")
    sheet = [{"file": f"t{n}.csv", "test": "pulse", "part": n} for n in (2, 1)]
    (file,) = bench.ingest(folder, sheet=sheet)
    assert bench.measurements.time_series(file.measurement_id or "")["Time [s]"].iloc[30] == 3 * 3600
    assert file.instance == "pulse"


def test_a_part_of_nothing_is_said(bench: wb.Bench, tmp_path: Path) -> None:
    (path,) = parts(tmp_path / "in", 2)
    (file,) = bench.ingest(path, sheet=[{"file": "*", "part": 1}])
    assert file.status == "stored"
    assert "has a part number but no test" in file.odd[0]


@pytest.mark.parametrize("options", [{}, {"specification": "S"}])
def test_estimated_ratings_follow_a_test_that_grows(
    bench: wb.Bench, tmp_path: Path, options: dict[str, str]
) -> None:
    path = tmp_path / "a.csv"
    lines = cycler_text(2).splitlines(keepends=True)
    path.write_text("".join(lines[:12]))
    bench.ingest(path, **options)  # type: ignore[arg-type]
    path.write_text("".join(lines))
    (file,) = bench.ingest(path)
    assert file.status == "extended"
    with wb.open(tmp_path / "whole.db") as other:
        other.ingest(path, **options)  # type: ignore[arg-type]
        (fresh,) = (other.specifications.get(id) for id in other.specifications.list()["id"])
    (grown,) = (bench.specifications.get(id) for id in bench.specifications.list()["id"])
    assert (grown.ratings, grown.source) == (fresh.ratings, fresh.source)


def test_ratings_that_were_said_stay_when_a_test_grows(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = cycler_text(2).splitlines(keepends=True)
    path.write_text("".join(lines[:12]))
    bench.ingest(path)
    (id,) = bench.specifications.list()["id"]
    said = {
        "capacity": {"value": 5.0, "unit": "A.h"},
        "voltage_min": {"value": 2.5, "unit": "V"},
        "voltage_max": {"value": 4.2, "unit": "V"},
    }
    bench.specifications.update(id, ratings=said)
    path.write_text("".join(lines))
    assert bench.ingest(path)[0].status == "extended"
    assert bench.specifications.get(id).ratings.capacity.value == 5.0


def uncounted(periods: int) -> str:
    """A test without a cycle counter: charges and discharges of 1 A h, with one of 0.1 A h in each of them."""
    lines = ["Time [s],Current [A],Voltage [V]"]
    time, currents = 0, [1.0] * 10 + [-1.0] * 2 + [1.0] * 2
    for current in (currents + [-one for one in currents]) * periods:
        for _ in range(5):
            lines.append(f"{time},{current},{3.7 - 0.1 * current}")
            time += 72
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"], ids=["same bytes", "other bytes"])
def test_the_cycles_of_a_test_that_grows_are_counted_as_the_rating_of_its_cell_says(
    bench: wb.Bench, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name

    def write(periods: int) -> None:
        text = uncounted(periods)
        if name.endswith("csv"):
            path.write_text(text)
        else:
            pd.read_csv(io.StringIO(text)).to_parquet(path)

    write(3)
    rated = {"specification": "S", "instance": "c1", "rating": "10Ah,2.5V,4.2V"}
    first = bench.ingest(path, sign="discharge", **rated)[0]  # type: ignore[arg-type]
    write(5)
    (file,) = bench.ingest(path, sign="discharge")
    assert (file.status, file.measurement_id) == ("extended", first.measurement_id)
    assert bench.measurements.list(fields=["cycle_count"])["cycle_count"].tolist() == [file.cycles] == [5]
    assert "of the rated capacity" in " ".join(file.assumed)
    with wb.open(tmp_path / "other.db") as other:
        assert other.ingest(path, sign="discharge")[0].cycles > 5


def test_another_test_under_the_same_name_takes_no_rating(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(uncounted(3))
    bench.ingest(path, sign="discharge", specification="S", instance="c1", rating="10Ah,2.5V,4.2V")
    path.write_text(uncounted(4).replace("3.8", "3.81"))
    (file,) = bench.ingest(path, sign="discharge")
    assert file.status == "stored"
    assert "of the largest" in " ".join(file.assumed)


@pytest.mark.parametrize("options", [{"cycles": "count"}, {"repair": "time"}], ids=lambda one: next(iter(one)))
def test_a_file_that_is_read_otherwise_keeps_the_rating_of_its_cell(
    bench: wb.Bench, tmp_path: Path, options: dict[str, str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(uncounted(3))
    labels = {"specification": "S", "instance": "c1", "rating": "10Ah,2.5V,4.2V", "sign": "discharge"}
    assert bench.ingest(path, **labels)[0].cycles == 3  # type: ignore[arg-type]
    (file,) = bench.ingest(path, sign="discharge", **options)  # type: ignore[arg-type]
    assert (file.status, file.cycles) == ("updated", 3)


def test_estimated_ratings_follow_another_unit_of_the_current(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(cycler_text(2))
    bench.ingest(path)
    (id,) = bench.specifications.list()["id"]
    before = bench.specifications.get(id).ratings.capacity.value
    (file,) = bench.ingest(path, column_map={"Current [A]": "Current [mA]"})
    assert file.status == "updated"
    rated = bench.specifications.get(id)
    assert rated.ratings.capacity.value == pytest.approx(before / 1000)
    assert rated.source["capacity"] == rated.ratings.capacity.value


@pytest.mark.parametrize("end", [",,,,,stopped by user\n", "end,,,,,by user"])
def test_a_line_that_is_left_out_makes_no_other_test(bench: wb.Bench, tmp_path: Path, end: str) -> None:
    """The line has a text of its own, and so the samples another hash."""
    path = tmp_path / "a.csv"
    path.write_text(cycler_text(2))
    first = bench.ingest(path)[0]
    path.write_text(cycler_text(2) + end)
    (file,) = bench.ingest(path)
    assert (file.status, file.measurement_id) == ("duplicate", first.measurement_id)
    assert len(bench.measurements.list()) == 1
