"""A file never seen before as a figure: what it is drawn as, what is reported, and that nothing of it is kept."""

from __future__ import annotations

import gc
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.bench import Bench
from workbench.bench.quick import Quick
from workbench.engine.zoom import traceable
from workbench.typed_arrays import decode

SAMPLES = Path(__file__).parents[2] / "sample_data"
MAYBE = {".res", ".h5", ".xlsx", ".mpr", ".mat", ".gz"}
"""Drawn where the libraries or programs that read them are installed, and refused in words where they are not."""
ELSEWHERE = {".json", ".jsonld", ".md", ".000"}
PROSE = {"README_29_30_31_32.txt", "README_45_46_47_48.txt", "truth.json", "empty.ndax"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with wb.open(tmp_path_factory.mktemp("quick") / "lab.db") as bench:
        yield bench


def told(quick: Quick, level: str) -> list[str]:
    return [line for one, line in quick.report.lines if one == level]


def sound(quick: Quick) -> None:
    """A figure with points, titled axes, no lint, and a report that says what was read and drawn."""
    assert quick.figure.workbench.lint == []
    assert sum(len(trace.x) for trace in quick.figure.data if trace.x is not None) > 0
    assert len(told(quick, "file") + told(quick, "frame")) == len(told(quick, "drawn")) == 1
    assert quick.recipe.check() == []
    assert isinstance(quick.figure, wb.Figure)


@pytest.mark.parametrize(
    ("pattern", "view", "titles"),
    [
        ("neware/M50-A-0[34]_ageing*", "cycles", {"Capacity / A h", "Cycle count", "Coulombic eff. / %"}),
        ("bdf/LFP-C-03_ageing*", "cycles", {"Capacity / A h"}),
        ("biologic/PCH-02*", "cycles", {"Capacity / mA h"}),
        ("neware/M50-A-01_RPT*", "time", {"Time / h", "Voltage / V", "Current / A", "Temp. / °C"}),
        ("neware/M50-A-02_drive*", "time", {"Time / h"}),
        ("maccor/M50-B-0[12]_RPT0*", "time", {"Voltage / V"}),
        ("bdf/LFP-C-01_RPT0*", "time", {"Voltage / V"}),
        ("biologic/PCH-01_GITT*", "time", {"Time / h"}),
        ("simulations/*C10.parquet", "time", {"Time / h"}),
        ("biologic/[LM]*EIS*", "impedance", {"Z′ / mΩ", "−Z″ / mΩ"}),
        ("materials/*full_ocv*", "table", {"SOC", "Voltage / V"}),
        ("materials/*_ocp*", "table", {"Stoichiometry", "Voltage / V"}),
        ("analyses/*modes*", "table", {"Ageing cycles", "%"}),
        ("analyses/*dcir*", "table", {"SOC", "mΩ", "Rest voltage / V"}),
        ("analyses/*circuit*", "table", {"SOC", "Voltage / V"}),
        ("drive_cycles/*", "table", {"Time / s", "Current / A"}),
        ("simulations/*.steps.parquet", "table", {"V", "A"}),
    ],
)
def test_sample_files_are_drawn_as_what_they_hold(
    bench: Bench, long: bool, pattern: str, view: str, titles: set[str]
) -> None:
    paths = sorted(SAMPLES.glob(pattern))
    assert paths
    for path in paths if long else paths[:1]:
        with bench.quick(path) as quick:
            assert quick.view == view, path.name
            layout = quick.figure.layout
            shown = {layout[key].title.text for key in layout if key[1:5] == "axis"}
            assert titles <= shown, (path.name, shown)
            sound(quick)


@pytest.mark.long
def test_every_sample_file_is_drawn(bench: Bench) -> None:
    for path in sorted(SAMPLES.glob("*/*")):
        if path.suffix not in (".py", ".pyc"):
            with bench.quick(path) as quick:
                sound(quick)


@pytest.mark.long
def test_real_files_are_drawn_or_refused_in_words(bench: Bench, shared_data: Path, long: bool) -> None:
    drawn = refused = 0
    named = json.loads((shared_data / "truth.json").read_text())["files"]
    for path in sorted(shared_data / name for name in ("README.md", "truth.json", *named)):
        if not long and (path.stat().st_size > 250_000 or (path.parent.name in ("train", "test2"))):
            continue
        if path.suffix in ELSEWHERE or path.name in PROSE:
            with pytest.raises(wb.FileRefused) as caught:
                bench.quick(path)
            assert len(str(caught.value)) > 30, path.name
            refused += 1
            continue
        try:
            with bench.quick(path) as quick:
                sound(quick)
                drawn += 1
        except wb.FileRefused as error:
            why = str(error)
        else:
            continue
        assert path.suffix in MAYBE, path.name
        assert len(why) > 30, path.name
    assert drawn >= 20
    assert refused >= 10


def test_of_a_file_of_several_cells_the_first_is_drawn_and_said(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "rack.csv"
    lines = (f"{60 * k},1.0,{4 - k / 100},{cell}" for cell in ("A", "B") for k in range(50))
    path.write_text("\n".join(("Time [s],Current [A],Voltage [V],cell", *lines)))
    with bench.quick(path, sign="discharge") as quick:
        assert "The file holds 2 tests. The first with samples is drawn" in told(quick, "assumed")[0]
        assert quick.figure.data[0].x.max() == pytest.approx(49)  # minutes


def test_the_cycles_of_several_cells_are_not_drawn_as_those_of_the_first(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "rack.csv"
    cycle = [*(f"1.0,{4 - k / 20}" for k in range(10)), *(f"-1.0,{3.5 + k / 20}" for k in range(10))]
    rows = [f"{60 * k},{one},{cell}" for cell in ("A", "B") for k, one in enumerate(cycle * 9)]
    path.write_text("\n".join(("Time [s],Current [A],Voltage [V],cell", *rows)))
    with bench.quick(path, sign="discharge") as quick:
        drawn = quick.figure.data[0].x
        assert len(quick.cycles()) == len(drawn) == len(set(drawn)) == 9
        over = bench.quick(path, sign="discharge", x="Cycle count", y="Discharge capacity [A.h]").figure
        assert len(over.data[0].x) == 9


def test_a_partial_last_cycle_is_left_out_and_told(bench: Bench) -> None:
    with bench.quick(SAMPLES / "bdf" / "LFP-C-03_ageing.bdf.csv.gz") as quick:
        assert max(quick.figure.data[0].x) == 119
        assert told(quick, "assumed")[-1].startswith("The last cycle, of count 120, is incomplete and left out")
        assert max(quick.bench.figure(quick.recipe, partial=True).data[0].x) == 120
        assert len(quick.cycles()) == 121


def test_cycles_count_from_0_and_no_legend_covers_them(bench: Bench) -> None:
    with bench.quick(SAMPLES / "neware" / "M50-A-03_ageing.csv.gz") as quick:
        assert min(quick.figure.data[0].x) == 0
        assert quick.figure.layout.legend.yref == "container"


@pytest.mark.parametrize(("most", "title"), [(2.0, "Current / A"), (0.02, "Current / mA"), (2e-5, "Current / µA")])
def test_small_currents_are_drawn_in_a_unit_of_their_size(bench: Bench, most: float, title: str) -> None:
    time = np.arange(0.0, 3600.0, 60.0)
    volts = np.where(time < 1800, 3.9, 3.7)
    frame = pd.DataFrame({"Time [s]": time, "Voltage [V]": volts, "Current [A]": np.where(time < 1800, 0.0, most)})
    with bench.quick(frame) as quick:
        assert quick.figure.layout.yaxis2.title.text == title
        assert max(quick.figure.data[1].y) == pytest.approx({"A": 2.0, "mA": 20.0, "µA": 20.0}[title.split()[-1]])
        assert quick.figure.workbench.lint == []


def test_what_a_file_holds_can_be_shown_otherwise(bench: Bench) -> None:
    path = SAMPLES / "biologic" / "PCH-02_cycling.mpt.gz"
    with bench.quick(path, show="time") as quick:
        assert quick.view == "time"
        assert quick.views == ["cycles", "time"]
        assert told(quick, "also") == ["show='cycles': capacity and coulombic efficiency of every cycle."]
        shown, all_samples = len(quick.figure.data[0].x), len(quick.table())
        assert shown <= 10_000
        assert all_samples > shown or "It shows" not in told(quick, "drawn")[0]
    with bench.quick(path, x="Discharge capacity [A.h]", y="Voltage [V]") as quick:
        assert told(quick, "drawn")[0].startswith("'Voltage [V]' over 'Discharge capacity [A.h]'.")
    with bench.quick(path, x="Cycle count", y=["Discharge energy [W.h]", "Coulombic efficiency"]) as quick:
        assert len(quick.figure.data[0].x) == len(quick.cycles())
    with bench.quick(path, y="Temperature [degC]") as quick:
        assert quick.figure.layout.xaxis.title.text == "Time / s"
    with bench.quick(path, x="Start time [s]", y="Duration [s]") as quick:
        assert len(quick.figure.data[0].x) == len(quick.steps())
    with pytest.raises(wb.BadRequest, match=r"no column 'Volts'. Did you mean"):
        bench.quick(path, y="Volts")
    with pytest.raises(wb.BadRequest, match="No table of the file has all of"):
        bench.quick(path, x="Duration [s]", y="Coulombic efficiency")
    with pytest.raises(wb.BadRequest, match="cannot be shown as 'impedance'"):
        bench.quick(path, show="impedance")
    with pytest.raises(wb.BadRequest, match="Give one or the other"):
        bench.quick(path, show="time", x="Time [s]")


def test_zeros_beside_the_samples_of_a_test_are_no_spectra(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "parstat.txt"
    rows = ["Elapsed Time (s)\tPotential (V)\tCurrent (A)\tFrequency (Hz)\tZre (ohms)\tZim (ohms)"]
    rows += [f"{10 * n}\t{3.5 - 0.001 * n + 0.1 * (n > 40)}\t{-0.15 + 0.3 * (n > 40)}\t0\t0\t0" for n in range(80)]
    rows += [f"{800 + n}\t3.5\t0\t{10.0 ** (4 - n)}\t{50 + n}\t{-n}" for n in range(6)]
    path.write_text("\n".join(rows) + "\n")
    with bench.quick(path) as quick:
        assert quick.views == ["time", "impedance"]
    with bench.quick(path, show="impedance") as quick:
        assert [len(trace.x) for trace in quick.figure.data] == [6]
        sound(quick)


def test_the_options_of_ingest_go_through(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    rows = "".join(f"{10 * n},1.0,{4.0 - n / 100}\n" for n in range(50))
    path.write_text("Seconds,Amps,Volts\n" + rows)
    names = {"Seconds": "Time [s]", "Amps": "Current [A]", "Volts": "Voltage [V]"}
    with bench.quick(path, column_map=names, sign="discharge") as quick:
        assert quick.view == "time"
        assert quick.figure.layout.xaxis2.title.text == "Time / min"
        assert quick.table()["Current [A]"].iloc[0] == 1
    with pytest.raises(wb.FileRefused):
        bench.quick(path, format="maccor")
    with pytest.raises(wb.BadRequest, match="There is no format 'mccor'"):
        bench.quick(path, format="mccor")


def test_a_frame_is_drawn_as_its_file_would_be(bench: Bench) -> None:
    time = np.arange(0, 3000, 10.0)
    frame = pd.DataFrame({"Time [s]": time, "Current [A]": 1.0, "Voltage [V]": 4.2 - time / 3000})
    with bench.quick(frame) as quick:
        assert quick.view == "time"
        assert told(quick, "frame") == ["300 rows, 1 cycle."]
        said = repr(quick)
        assert said.startswith("<quick look at a DataFrame: time>")
        assert "parquet" not in said
        assert "file" not in said
        assert quick.table()["Voltage [V]"].tolist() == frame["Voltage [V]"].tolist()
        sound(quick)
    fits = pd.DataFrame(
        {"kind": ["a", "b"] * 10, "R": np.arange(20.0), 3: 1.0}, index=pd.Index(range(20), name="n")
    )
    with bench.quick(fits) as quick:
        assert told(quick, "drawn") == ["'R' over 'n', by 'kind'."]
        assert [trace.name for trace in quick.figure.data] == ["a", "b"]
        with pytest.raises(wb.BadRequest, match="a plain table has no cycles"):
            quick.cycles()
    with pytest.raises(wb.BadRequest, match="cannot be stored"):
        bench.quick(pd.DataFrame({"a": [1, "x", object()]}))
    for empty in (pd.DataFrame(), pd.DataFrame({"Time [s]": []})):
        with pytest.raises(wb.BadRequest, match="The DataFrame is empty"):
            bench.quick(empty)
    with pytest.raises(wb.FileRefused, match="'DataFrame' has no column that is known") as refused:
        bench.quick(pd.DataFrame({"a": [1.0, 2.0]}), sign="discharge")
    assert "file" not in str(refused.value)


def test_a_time_of_texts_is_not_drawn_as_a_time(bench: Bench) -> None:
    with bench.quick(pd.DataFrame({"Time [s]": ["a", "b"], "Voltage [V]": [1.0, 2.0]})) as quick:
        assert quick.view == "table"
        sound(quick)


TABLES = {
    "commas in numbers": ("a;b\n" + "".join(f"{n};{n},5\n" for n in range(5)), ["a", "b"], 2.5),
    "header in a comment": (
        "# made by hand\n# a, b\n" + "".join(f"{n},{n + 0.5}\n" for n in range(5)),
        ["a", "b"],
        2.5,
    ),
    "no header": ("".join(f"{n}\t{n + 0.5}\n" for n in range(5)), ["column 1", "column 2"], 2.5),
    "a preamble": ("Export\nof today\n\na,b\n" + "".join(f"{n},{n + 0.5}\n" for n in range(9)), ["a", "b"], 2.5),
    "a name twice": ("b,b\n" + "".join(f"{n},{n + 0.5}\n" for n in range(5)), ["b", "b (2)"], 2.5),
    "one column": ("a\n" + "".join(f"{n + 0.5}\n" for n in range(5)), ["a"], 2.5),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_plain_tables_are_read_whatever_they_are_called(
    bench: Bench, tmp_path: Path, name: str, packed: bool
) -> None:
    text, columns, value = TABLES[name]
    path = tmp_path / ("table.csv.gz" if packed else "table.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode("latin-1"))
    with bench.quick(path) as quick:
        table = quick.table()
        assert list(table.columns) == ["Row", *columns]
        assert table[columns[-1]].iloc[2] == value
        assert "drawn as a plain table: nothing was converted or checked" in told(quick, "assumed")[0]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"Some words, and some more.\nNo numbers, in any of it.\n",
        b"\x00\x01\x02" * 50,
        b"PAR1 no",
        b"{}",
    ],
)
def test_what_is_no_table_is_refused_in_words(bench: Bench, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    with pytest.raises(wb.FileRefused, match=r"odd\.csv"):
        bench.quick(path)


def test_a_folder_and_nothing_are_refused(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(wb.BadRequest, match="is a folder, and quick draws one file"):
        bench.quick(tmp_path)
    with pytest.raises(wb.FileRefused, match="There is no file"):
        bench.quick(tmp_path / "none.csv")
    (tmp_path / "rpt.csv").touch()
    with pytest.raises(wb.FileRefused, match=r"Did you mean '.*rpt\.csv'\?"):
        bench.quick(tmp_path / "rtp.csv")


def test_nothing_is_registered_and_nothing_stays(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import tempfile

    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    quick = bench.quick(SAMPLES / "materials" / "M50_full_ocv.csv")
    assert len(list(folder.iterdir())) == 1
    assert len(bench.measurements.list()) == len(bench.instances.list()) == 0
    quick.close()
    quick.close()
    assert list(folder.iterdir()) == []
    assert len(quick.figure.data[0].x) == 201
    unreferenced = bench.quick(SAMPLES / "materials" / "M50_full_ocv.csv")
    del unreferenced
    gc.collect()
    assert list(folder.iterdir()) == []
    with pytest.raises(wb.FileRefused):
        bench.quick(Path(__file__).with_name("__nothing__"))
    assert list(folder.iterdir()) == []


def test_time_in_any_unit_can_be_traced_for_detail(bench: Bench) -> None:
    with bench.quick(SAMPLES / "neware" / "M50-A-01_RPT0.csv.gz") as quick:
        for unit in ("s", "min", "h", "d"):
            answer = quick.bench.backend.figure(quick.recipe.config, {"unit": unit})
            assert answer.at_hand is not None
            assert set(traceable(decode(answer.figure), answer.at_hand.dataset)) == {0, 1, 2}


def test_it_shows_itself(bench: Bench) -> None:
    with bench.quick(SAMPLES / "biologic" / "LFP-C-01_EIS_fresh.mpt") as quick:
        assert "quick look at 'LFP-C-01_EIS_fresh.mpt': impedance" in repr(quick)
        shown = quick._repr_html_()
        assert "<td" in shown
        assert "read as biologic: " in shown
        assert len(quick.figure.data) == 5


def test_a_table_with_commas_in_quoted_texts_is_drawn(bench: Bench, tmp_path: Path) -> None:
    """The numbers of a figure, exported: quick ended in StopIteration, or took the first row for the names."""
    rows = "".join(f'"A, 25 °C (n = 2)",{k},{100 - k}\n' for k in range(20))
    (tmp_path / "numbers.csv").write_text("Series,Cycle count,Retention [%]\n" + rows)
    table = bench.quick(tmp_path / "numbers.csv").table()
    assert [*table][-2:] == ["Cycle count", "Retention [%]"]
    assert table["Retention [%]"].tolist() == [100 - k for k in range(20)]


def test_lines_without_one_shape_are_refused_in_words(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "lines.csv"
    path.write_text("".join(",".join("1" * (2 + k % 5)) + "\n" for k in range(30)))
    with pytest.raises(wb.FileRefused, match=r"lines\.csv"):
        bench.quick(path)


@pytest.mark.parametrize("order", [["when", "capacity"], ["capacity", "when"]])
@pytest.mark.parametrize(
    "days", [["2026-01-01", "2026-02-01", "2026-03-01"], ["2026-03-01", "2026-01-01", "2026-02-01"]]
)
def test_days_are_the_abscissa_whatever_they_are_called(bench: Bench, order: list[str], days: list[str]) -> None:
    frame = pd.DataFrame({"when": pd.to_datetime(days), "capacity": [5.0, 4.9, 4.8]})[order]
    with bench.quick(frame) as quick:
        assert (quick.figure.workbench.values["x"], quick.figure.workbench.values["y"]) == ("when", ["capacity"])


def test_a_column_is_not_drawn_over_itself(bench: Bench) -> None:
    frame = pd.DataFrame({"Time [s]": [0.0, 1.0, 2.0], "Current [A]": [1.0] * 3, "Voltage [V]": [4.0, 3.9, 3.8]})
    with bench.quick(frame, x="Voltage [V]") as quick:
        assert quick.figure.workbench.values["y"] == ["Current [A]"]


@pytest.mark.parametrize("given", [None, ["a.csv"], {"a": [1]}, 3], ids=str)
def test_what_is_neither_a_file_nor_a_frame_is_called_so(bench: Bench, given: Any) -> None:
    with pytest.raises(wb.BadRequest, match="the path of one file or a DataFrame, not a "):
        bench.quick(given)
