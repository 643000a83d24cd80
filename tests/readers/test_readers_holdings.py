"""Files without a series: BPX sets, drive cycles and tables of capacity by cycle."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from support.parameter_set import bpx
from support.workbooks import workbook

import workbench as wb
from workbench.errors import FileRefused
from workbench.readers import read, recognise
from workbench.readers.non_series.recognise import Holding, holding


def held(folder: Path, content: str | bytes, name: str = "file.csv") -> Holding | None:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return holding(path)


CURVE = "US06-like, made up\n"


@pytest.mark.parametrize(
    "text",
    [
        "time [s],current [A]\n0,1\n1,-0.5\n2,0\n",
        "# made up\n# Time [s], Current [A]\n0, 1\n1, -0.5\n2, 0\n",
        "# made up,\nTime (min);Current (mA)\n0;1000\n0,0166666666666667;-500\n0,0333333333333333;0\n",
        "t\tI\n0\t1\n1\t-0.5\n\n2\t0\n",
    ],
)
def test_time_and_current_alone_are_a_drive_cycle(text: str, tmp_path: Path) -> None:
    found = held(tmp_path, text)
    assert found is not None
    assert (found.format, found.kind) == ("drive-cycle", "drive_cycle")
    rows = found.records[0]["data"]
    assert [row[0] for row in rows] == pytest.approx([0, 1, 2])
    assert [row[1] for row in rows] == [1, -0.5, 0]
    assert recognise(tmp_path / "file.csv") == "drive-cycle"
    with pytest.raises(FileRefused, match="is not a time series"):
        read(tmp_path / "file.csv")


@pytest.mark.parametrize(
    "text",
    [
        ",time [s],current [A]\n0,0,1.5\n1,0.5,-2.25\n",  # the row numbers of pandas
        "\ttime [s]\tcurrent [A]\n0\t0\t1.5\n1\t0.5\t-2.25\n",
        "#\ttime [s]\tcurrent [A]\n0\t1.5\n0.5\t-2.25\n",
        "time [s],,current [A]\n0,,1.5\n0.5,,-2.25\n",
        "time,current\nms,mA\n0,1500\n500,-2250\n",
        "time;current\n[s];[mA]\n0;1500\n0,5;-2250\n",
        "time [s];current [A]\n0;1,500\n0,500;-2,250\n",
    ],
)
def test_a_drive_cycle_has_the_numbers_of_its_columns(text: str, tmp_path: Path) -> None:
    found = held(tmp_path, text)
    assert found is not None
    assert found.records[0]["data"] == [[0.0, 1.5], [0.5, -2.25]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("time [s],current [A]\n0,0,1,5\n1,0,2,5\n", "4 fields below a header of 2"),
        ("time [s],current [A]\n" + 900 * "1,1\n" + "1,1,5\n", "more fields than the 2 of its header"),
        ("time [s],current [C]\n0,1\n1,2\n", r"'current \[C\]' of .* name the column 'current \[A\]'"),
        ("time [s],current [mA/cm2]\n0,1\n1,2\n", "is not in a unit that gives A"),
    ],
)
def test_a_drive_cycle_of_other_numbers_is_refused(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match=why):
        held(tmp_path, text)


def test_what_a_drive_cycle_does_not_say_is_a_note(tmp_path: Path) -> None:
    found = held(tmp_path, "time,current\n0,1\n1,2\nend of the cycle\n")
    assert found is not None
    assert found.records[0]["data"] == [[0, 1], [1, 2]]
    said = [(note.level, note.message) for note in found.notes]
    assert ("assumed", "'current' names no unit. It was read in A.") in said
    assert (
        "odd",
        "Left out, without a number: 1 row of 'file.csv', the first of them 'end of the cycle'.",
    ) in said


def test_a_profile_of_power_says_what_would_make_it_one(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match="Divide the power by the voltage"):
        held(tmp_path, "# time [s],Power [kW]\n0,0.5\n1,0.6\n")


@pytest.mark.parametrize("rows", ["0,1\n1,x\n", "0,1\n1,\n", ""])
def test_a_drive_cycle_with_what_is_no_number_is_refused(rows: str, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match=r"'file\.csv'"):
        held(tmp_path, f"time [s],current [A]\n{rows}")


@pytest.mark.parametrize(
    "header",
    ["time [s],current [A],voltage [V]", "time [s],voltage [V]", "cycle,capacity,voltage", "cycle,soc", "a,b"],
)
def test_what_else_is_no_such_file(header: str, tmp_path: Path) -> None:
    assert held(tmp_path, f"{header}\n" + ",".join("1" * (header.count(",") + 1)) + "\n") is None


def test_capacities_of_one_cell(tmp_path: Path) -> None:
    text = "Cycle Index,Chg. Cap.(mAh),DChg. Cap.(mAh),V_min\n1,1000,-990,2.5\n2,995,985,2.5\n,,,\n4,,980,2.5\n"
    found = held(tmp_path, text)
    assert found is not None
    assert found.kind == "cycles"
    (record,) = found.records
    assert record["cell"] is None
    assert record["columns"]["Cycle from cycler"] == [1, 2, 4]
    assert record["columns"]["Discharge capacity [A.h]"] == pytest.approx([0.99, 0.985, 0.98])
    assert record["columns"]["Charge capacity [A.h]"] == [1.0, 0.995, None]
    assert not found.notes


def test_the_unit_below_a_name_is_that_of_the_capacity(tmp_path: Path) -> None:
    found = held(tmp_path, "cycle,discharge capacity\n-,mAh\n1,2000\n2,1990\n")
    assert found is not None
    assert found.records[0]["columns"]["Discharge capacity [A.h]"] == [2.0, 1.99]


def test_capacities_with_decimal_commas_beside_a_word(tmp_path: Path) -> None:
    found = held(tmp_path, "cycle;discharge capacity [Ah]\n1;2,000\n2;1,990\n3;aborted\n4;1,975\n")
    assert found is not None
    assert found.records[0]["columns"]["Discharge capacity [A.h]"] == [2.0, 1.99, 1.975]


@pytest.mark.parametrize(
    ("rows", "kept", "code"),
    [
        ("3,1.7\n1,2\n2,1.9\n", [2.0, 1.9, 1.7], "cycles_sorted"),
        ("1,2\n2,1.9\n2,1.8\n", [2.0, 1.9, 1.8], "cycles_repeated"),
        ("1,2\nformation,1.9\n2,1.7\n", [2.0, 1.7], "rows_left_out"),
    ],
)
def test_cycles_out_of_order_repeated_or_without_a_number(
    rows: str, kept: list[float], code: str, tmp_path: Path
) -> None:
    found = held(tmp_path, f"cycle,discharge capacity [Ah]\n{rows}")
    assert found is not None
    assert found.records[0]["columns"]["Discharge capacity [A.h]"] == kept
    assert code in {note.code for note in found.notes}


def test_a_capacity_per_mass_is_a_warning(tmp_path: Path) -> None:
    found = held(tmp_path, "cycle,discharge capacity [mAh/g]\n1,150\n2,149\n")
    assert found is not None
    assert [note.level for note in found.notes] == ["odd"]


def test_capacities_of_many_cells_are_parted(tmp_path: Path) -> None:
    rows = "".join(f"{cell},25,{n},{1 - n / 100}\n" for n in (1, 2, 3) for cell in ("B1", "B2"))
    found = held(tmp_path, gzip.compress(f"cell,temperature_degC,cycle,capacity\n{rows}".encode()))
    assert found is not None
    assert [record["cell"] for record in found.records] == ["B1", "B2"]
    assert found.records[1]["columns"]["Discharge capacity [A.h]"] == [0.99, 0.98, 0.97]
    assert {note.code for note in found.notes} == {"unit", "capacity_means"}


def test_a_parameter_set_becomes_a_specification(tmp_path: Path) -> None:
    found = held(tmp_path, bpx(), "cell.json")
    assert found is not None
    (record,) = found.records
    assert (record["name"], record["form_factor"]) == ("Made up pouch cell", "pouch")
    assert record["ratings"]["capacity"] == {"value": 12.5, "unit": "A.h"}
    assert record["ratings"]["voltage_max"] == {"value": 4.2, "unit": "V"}
    assert record["properties"]["volume"] == {"value": 1e-4, "unit": "m3"}
    assert record["properties"]["bpx"] == json.loads(bpx())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (bpx()[:-40], "not valid JSON"),
        (bpx(**{"Nominal cell capacity [A.h]": "much"}), "not a valid BPX"),
        ('{"Header": {"BPX": 1.0}, "Parameterisation": {}}', "not a valid BPX"),
        ("{" + '"Header": {"BPX": ' + "[" * 100_000, "not valid JSON"),
    ],
)
def test_a_set_that_is_not_sound_is_refused_in_words(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match=why):
        held(tmp_path, text, "cell.json")


def test_the_sets_and_cycles_of_the_shared_data(shared_data: Path) -> None:
    truth = json.loads((shared_data / "truth.json").read_text())["files"]
    for name, entry in truth.items():
        reference = entry.get("reference", {})
        if name.startswith("bpx_json"):
            found = holding(shared_data / name)
            assert found is not None
            assert found.records[0]["ratings"]["capacity"]["value"] == reference["nominal_cell_capacity_Ah"]
        if name.startswith("drive_cycles") and "WLTC" not in name:  # WLTC is of power: refused in words
            found = holding(shared_data / name)
            assert found is not None
            rows = found.records[0]["data"]
            assert len(rows) == reference["rows"]
            assert [min(column) for column in zip(*rows, strict=True)] == pytest.approx(reference["column_min"])
            assert [max(column) for column in zip(*rows, strict=True)] == pytest.approx(reference["column_max"])


def test_the_capacities_of_the_shared_data(shared_data: Path) -> None:
    truth = json.loads((shared_data / "truth.json").read_text())["files"]
    name = "ageing_sunwoda/capacity_by_cycle.csv"
    found = holding(shared_data / name)
    assert found is not None
    reference = truth[name]["reference"]
    assert sum(len(record["columns"]["Cycle from cycler"]) for record in found.records) == reference["rows"]
    for record in found.records:
        cell, passed = reference["cells"][record["cell"]], record["columns"]["Discharge capacity [A.h]"]
        assert (len(passed), passed[0], passed[-1]) == (cell["cycles"], cell["first_Ah"], cell["last_Ah"])
    name = "large_parquet/nasa_capacity_by_discharge.csv"
    found = holding(shared_data / name)
    assert found is not None
    for record in found.records:
        cell, passed = (
            truth[name]["reference"]["cells"][record["cell"]],
            record["columns"]["Discharge capacity [A.h]"],
        )
        assert len(passed) == cell["discharges_with_capacity"]
        assert passed[0] == pytest.approx(cell["discharge_capacity_first_Ah"], abs=1e-6)
        assert passed[-1] == pytest.approx(cell["discharge_capacity_last_Ah"], abs=1e-6)


PROFILE = [["Time [s]", "Current [A]"], [0, 1.5], [1, -0.5], [2, 0]]
TABLE = [["Cycle", "Capacity [Ah]"], [1, 2.5], [2, 2.4]]


def test_a_drive_cycle_in_a_workbook(tmp_path: Path) -> None:
    path = workbook(tmp_path / "city.xlsx", {"Profile": PROFILE, "Notes": [["made", "up"], ["by", "us"]]})
    found = holding(path)
    assert found is not None
    assert (found.format, len(found.records)) == ("drive-cycle", 1)
    assert found.records[0]["data"] == [[0.0, 1.5], [1.0, -0.5], [2.0, 0.0]]
    assert "sheet" not in found.records[0]
    assert any("'Notes'" in note.message for note in found.notes)
    assert recognise(path) == "drive-cycle"


def test_each_sheet_with_a_drive_cycle_is_one(tmp_path: Path) -> None:
    path = workbook(tmp_path / "city.xlsx", {"Urban": PROFILE, "Motorway": [*PROFILE, [3, 2.5]]})
    with wb.open(tmp_path / "lab.db") as bench:
        assert [file.status for file in bench.ingest(path)] == ["stored"]
        assert set(bench.drive_cycles.list(fields=["name"])["name"]) == {"city Urban", "city Motorway"}
        assert [file.status for file in bench.ingest(path)] == ["duplicate"]
    path = workbook(tmp_path / "fade.xlsx", {"A": TABLE, "B": TABLE})
    found = holding(path)
    assert found is not None
    assert [record["sheet"] for record in found.records] == ["A", "B"]


def test_a_workbook_with_a_series_stays_one(tmp_path: Path) -> None:
    rows = [
        ["Time [s]", "Current [A]", "Voltage [V]"],
        *([t, (-1) ** (t // 5), 3.6 - (-1) ** (t // 5) / 10] for t in range(20)),
    ]
    path = workbook(tmp_path / "test.xlsx", {"Profile": PROFILE, "Data": rows})
    assert holding(path) is None
    assert recognise(path) == "delimited"
