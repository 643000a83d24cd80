"""Real files of every format answer as their reference answers say, by the rules in the README beside them.

Where ours differs, the file, the reason and the evidence are in ``DIFFERS``.
"""

from __future__ import annotations

import json
import shutil
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.needs import mdbtools

from workbench.errors import FileRefused
from workbench.readers import SeveralTests, read, recognise
from workbench.table import Table, concat

FORMATS = {
    "bdf_csv/SINTEF__G20M7-202512-Gru6mV__20251228__C30__25degC__Neware.bdf.csv": "bdf",
    "bdf_csv/DLR__LiLNMOHydra0b__20221125__POCV__25degC__Basytec.bdf.csv.gz": "bdf",
    "bdf_parquet/legacy.bdf.parquet": "bdf-parquet",
    "arbin_csv/arbin_example.csv": "arbin",
    "arbin_csv/sample_data_arbin.csv": "arbin",
    "neware_ndax/BTS85-36-6-5-110-20240424.ndax": "neware-ndax",
    "neware_ndax/nw4-120-1-6-53.ndax": "neware-ndax",
    "neware_ndax/TESTCELL0001-B2-2025-M50T_NewareNDA_Investigation.ndax": "neware-ndax",
    "neware_ndax/Unit27_Example_Data_File.ndax": "neware-ndax",
    "neware_nda/2-1-6_61_07005012.nda": "neware-nda",
    "neware_nda/nda_v22.nda": "neware-nda",
    "neware_nda/new_nda_file.nda": "neware-nda",
    "neware_csv/neware_uio.csv": "neware",
    "maccor_txt/maccor_001.txt.gz": "maccor",
    "maccor_txt/xTESLADIAG_000019_CH70.070.gz": "maccor",
    "maccor_txt/PredictionDiagnostics_000151_paused.052": "maccor",
    "maccor_txt/maccor_two.txt": "maccor",
    "maccor_csv/testdata18.csv.gz": "maccor",
    "biologic_mpt/Sample_data_biologic_01_MB_CA1.txt": "biologic",
    "biologic_mpt/Sample_data_biologic_02_MB_CA1.txt.gz": "biologic",
    "biologic_mpt/Sample_data_biologic_no_header.mpt": "biologic",
    "biologic_csv/test_loopsnewoutput_MB_CE1_short10k.csv.gz": "biologic",
    "novonix_csv/test_Nova_Form-CH01-01_short.csv": "novonix",
    "basytec_txt/sample_data_basytec.txt": "basytec",
    "pec_csv/pec.csv": "pec",
    "landt_csv/SINTEF__LiGrR2032__2024-04-30__25degC__Landt.csv": "landt",
    "batterydata_csv/p492-13-raw.csv": "delimited",
    "pyprobe_parquet/NDK_-_LG_M50_deg_-_exp_2_2_-_rig_3_-_25degC_-_cell_C_-_BoL_-_RPT0_short_CA4.parquet": (
        "pyprobe-parquet"
    ),
    "arbin_res/20160805_test001_45_cc_01.res": "arbin-res",
    "arbin_res/20210210_FC_01_cc_01.res.gz": "arbin-res",
    "arbin_res/20210210_FC_01_cc_02.res.gz": "arbin-res",
    "arbin_res/mits7-0.res.gz": "arbin-res",
    "arbin_xlsx/bs542_004_gr_li_50ua_50mv_1v_191020_Channel_11.xlsx": "arbin",
    "arbin_xlsx/EIS_0.05A_Charge_part1.xlsx": "arbin",
    "arbin_sql_h5/20200624_test001_cc_01.h5": "hdf5",
    "biologic_mpr/jdb11-1_c3_gcpl_5cycles_2V-3p8V_C-24_data_C09.mpr": "biologic-mpr",
    "biologic_mpr/00_test_04_MB_C01.mpr": "biologic-mpr",
    "biologic_mpr/250116_kigr_gen6_01_02_GCPL_CD8.mpr": "biologic-mpr",
    "biologic_mpr/PEIS.mpr": "biologic-mpr",
    "custom_csv/custom_data_001.csv": "delimited",
    "custom_csv/T-cell_pOCV_data.txt": "biologic",
}

DIFFERS: dict[tuple[str, str], str] = {
    ("maccor_csv/testdata18.csv.gz", "by_integration"): (
        "The current has no sign and no State; the reference adds it up as all positive. Ours is parted into charge "
        "and discharge by the voltage of each step (steps 11 and 19 end at 4.20 V, 13 and 21 at 2.50 V); the sum of "
        "both is compared with the reference."
    ),
    ("custom_csv/custom_data_001.csv", "rows"): (
        "The reference counts 2444 lines below the header; the last two hold nothing but ';;;;;;;;;' (tail of the "
        "file). They are no samples: 2442."
    ),
    ("arbin_xlsx/EIS_0.05A_Charge_part1.xlsx", "rows"): (
        "The reference counts the rows of the sheet Channel_1_1. The 21 frequencies of the sheet ACIM_Chan1 stand in "
        "ours behind the samples of their cycle and step, as impedance rows: 8339."
    ),
    ("biologic_mpr/250116_kigr_gen6_01_02_GCPL_CD8.mpr", "by_integration"): (
        "The file has no current. The tool of the reference takes it from the control value, which is a voltage in 475 "
        "samples of constant voltage, and leaves these out: 5.240 mA.h. The charges 'dq/mA.h' of the file itself add "
        "up to 6.102 mA.h; ours, derived from them, is 6.106."
    ),
    ("biologic_mpr/PEIS.mpr", "by_integration"): (
        "Four impedance sweeps weeks apart (6.1e6 s in 244 rows): the integral is that of the gaps between them."
    ),
    ("batterydata_csv/p492-13-raw.csv", "by_integration"): (
        "78 rows of impedance stand between samples; the reference leaves out the intervals next to them, ours "
        "integrates over all samples: 1 % more."
    ),
    ("bdf_csv/DLR__LiLNMOHydra0b__20221125__POCV__25degC__Basytec.bdf.csv.gz", "cycles"): (
        "The file has no cycle column; the one cycle of the reference is made up by one tool."
    ),
}


@pytest.fixture(scope="session")
def truth(shared_data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared_data / "truth.json").read_text())["files"]
    return found


@pytest.fixture(scope="module")
def reads(shared_data: Path) -> Any:
    known: dict[str, tuple[Any, Table]] = {}

    def get(name: str) -> tuple[Any, Table]:
        if name in known:
            return known[name]
        reading = read(shared_data / name)
        made = reading, concat(list(reading.batches))
        if made[1].n < 100_000:
            known[name] = made
        return made

    return get


def close(ours: float, theirs: float, relative: float, absolute: float = 1e-12) -> bool:
    return abs(ours - theirs) <= max(relative * abs(theirs), absolute)


def charge_passed(table: Table, where: np.ndarray | None = None) -> tuple[float, float]:
    """A.h charged and discharged by the trapezoid rule, each part of the current by itself."""
    time, current = table["Time [s]"].floats(), table["Current [A]"].floats()
    timed = np.isfinite(time)
    where = timed if where is None else where & timed
    time, current = time[where], current[where]
    step = np.maximum(np.diff(time), 0)  # no charge passes while a clock falls back
    parts = []
    for part in (np.maximum(-current, 0), np.maximum(current, 0)):
        parts.append(float(np.nansum((part[1:] + part[:-1]) / 2 * step)) / 3600)
    return parts[0], parts[1]


EVIDENCE = {
    "biologic_mpr/250116_kigr_gen6_01_02_GCPL_CD8.mpr": (6.10175918770334e-3, 5.485517759107219e-3),
    "biologic_mpr/PEIS.mpr": (1.503957e-2, 2.172953e-3),
}
"""Charged and discharged A.h by other evidence than the reference: the counter in the file, or ours."""
ROWS = {"custom_csv/custom_data_001.csv": 2442, "arbin_xlsx/EIS_0.05A_Charge_part1.xlsx": 8339}
NEEDS = {".mpr": "galvani", ".h5": "h5py"}


@pytest.fixture(autouse=True)
def _readable(request: pytest.FixtureRequest) -> None:
    """Skip files whose reader is not installed here."""
    name = request.node.callspec.params.get("name", "") if hasattr(request.node, "callspec") else ""
    if ".res" in name:
        mdbtools()
    need = next((need for ending, need in NEEDS.items() if ending in name), None)
    if need is not None and find_spec(need) is None:
        pytest.skip(f"{need} is not installed")


@pytest.mark.parametrize("name", FORMATS)
def test_is_recognised_from_content(name: str, shared_data: Path, tmp_path: Path) -> None:
    nameless = tmp_path / "file"
    nameless.write_bytes((shared_data / name).read_bytes())
    assert recognise(nameless) == FORMATS[name]


@pytest.mark.parametrize("name", FORMATS)
def test_rows_cycles_voltages_and_duration(name: str, truth: dict[str, Any], reads: Any) -> None:
    reference = truth[name]["reference"]
    reading, table = reads(name)
    assert reading.format == FORMATS[name]
    assert table.n == (ROWS[name] if (name, "rows") in DIFFERS else reference["rows"])
    if "cycles" in reference and (name, "cycles") not in DIFFERS:
        assert len(set(table["Cycle from cycler"].tolist())) == reference["cycles"]
    voltage = table["Voltage [V]"].floats()
    assert close(np.nanmin(voltage), reference["voltage_min_V"], 1e-6)
    assert close(np.nanmax(voltage), reference["voltage_max_V"], 1e-6)
    time = table["Time [s]"].floats()
    time = time[np.isfinite(time)]
    assert time[0] == 0.0
    assert close(time[-1], reference["duration_s"], 1e-6, 0.01)


@pytest.mark.parametrize("name", FORMATS)
def test_charge_by_integration_and_its_direction(name: str, truth: dict[str, Any], reads: Any) -> None:
    reference = truth[name]["reference"]["by_integration"]
    _, table = reads(name)
    charged, discharged = charge_passed(table)
    if name.startswith("maccor_csv"):
        assert close(charged + discharged, reference["positive_current_Ah"], 1e-3)
        assert close(charged, discharged, 0.05)
        return
    if name in EVIDENCE:
        assert close(charged, EVIDENCE[name][0], 1e-3)
        assert close(discharged, EVIDENCE[name][1], 1e-3)
        return
    relative = 2e-2 if (name, "by_integration") in DIFFERS else 1e-3
    assert close(charged, reference["positive_current_Ah"], relative)
    assert close(discharged, reference["negative_current_Ah"], relative)
    if "positive_first_cycle_Ah" not in reference or "Cycle from cycler" not in table:
        return
    cycles = table["Cycle from cycler"].floats()
    for which, cycle in (("first", cycles[0]), ("last", cycles[-1])):
        charged, discharged = charge_passed(table, cycles == cycle)
        assert close(charged, reference[f"positive_{which}_cycle_Ah"], relative)
        assert close(discharged, reference[f"negative_{which}_cycle_Ah"], relative)


@pytest.mark.parametrize("name", FORMATS)
def test_charge_by_the_counters_of_the_cycler(name: str, truth: dict[str, Any], reads: Any) -> None:
    reference = truth[name]["reference"].get("by_counter")
    if reference is None:
        pytest.skip("the reference has no counters")
    _, table = reads(name)
    cycles = table["Cycle from cycler"].floats()
    for way in ("charge", "discharge"):
        counter = table[f"{way.capitalize()} capacity [A.h]"].floats()
        counted = ~np.isnan(counter)
        first, last = (counter[counted & (cycles == cycle)] for cycle in cycles[[0, -1]])
        counter = counter[counted]
        assert counter.min() >= 0
        # The reference takes the first cycle from 0, all else between the samples.
        assert close(rises(first) + first[0], reference[f"{way}_capacity_first_cycle_Ah"], 1e-4)
        assert close(rises(last), reference[f"{way}_capacity_last_cycle_Ah"], 1e-4)
        assert close(rises(counter), reference[f"{way}_throughput_Ah"], 1e-4)


def rises(counter: np.ndarray) -> float:
    return float(np.maximum(np.diff(counter), 0).sum())


def test_the_cells_of_the_large_parquet(shared_data: Path, truth: dict[str, Any]) -> None:
    name = "large_parquet/nasa_ageing_10cells.parquet"
    expected = truth[name]["reference"]
    with pytest.raises(SeveralTests) as several:
        read(shared_data / name)
    assert set(several.value.tests) == expected["cells"].keys()
    rows = 0
    for cell, reference in expected["cells"].items():
        reading = read(shared_data / name, test=cell)
        assert reading.format == "parquet"
        table = concat(list(reading.batches))
        rows += table.n
        assert table["Voltage [V]"].values.dtype == np.float32
        voltage, time = table["Voltage [V]"].floats(), table["Time [s]"].floats()
        good = ~np.isnan(voltage)
        assert int(good.sum()) == reference["rows"]
        # The reference is rounded to six decimals.
        assert close(float(voltage[good].min()), reference["voltage_min_V"], 1e-6, 5e-7)
        assert close(float(voltage[good].max()), reference["voltage_max_V"], 1e-6, 5e-7)
        assert close(float(time[-1]), reference["last_time_s"], 1e-6, 0.01)
    assert rows == expected["rows"]


def test_the_operations_of_nasa(shared_data: Path, truth: dict[str, Any]) -> None:
    """Charges and discharges on one clock; the impedance in the file names no frequencies and has no place."""
    reference = truth["nasa_mat/B0029.mat"]["reference"]
    reading = read(shared_data / "nasa_mat/B0029.mat")
    table = concat(list(reading.batches))
    assert (reading.format, table.n) == ("matlab", reference["rows"])
    voltage, time = table["Voltage [V]"].floats(), table["Time [s]"].floats()
    assert close(float(voltage.min()), reference["voltage_min_V"], 1e-6)
    assert close(float(voltage.max()), reference["voltage_max_V"], 1e-6)
    operations = np.array(table["Operation"].tolist())
    assert set(operations) == {"charge", "discharge"}
    steps, cycles = table["Step from cycler"].floats(), table["Cycle from cycler"].floats()
    for word in ("charge", "discharge"):
        assert len(np.unique(steps[operations == word])) == reference["operations"][word]
    assert len(np.unique(cycles)) == 40
    # The same samples are in the large parquet, with the same clock.
    assert close(
        float(time[-1]),
        truth["large_parquet/nasa_ageing_10cells.parquet"]["reference"]["cells"]["B0029"]["last_time_s"],
        1e-9,
    )
    for cycle, wanted in ((1, "discharge_capacity_first_Ah"), (40, "discharge_capacity_last_Ah")):
        discharged = charge_passed(table, (cycles == cycle) & (operations == "discharge"))[1]
        assert close(discharged, reference[wanted], 4e-2)  # the set counts to its own cut-off, ours to the end


def test_the_workbook_of_two_sheets(shared_data: Path, truth: dict[str, Any]) -> None:
    reading = read(shared_data / "custom_xlsx/multipulse_hppc.xlsx")
    assert concat(list(reading.batches)).n == truth["custom_xlsx/multipulse_hppc.xlsx"]["reference"]["rows"]


def without(path: Path, shared_data: Path, *lacks: str) -> Path:
    """The archive of two temperatures without some of its files."""
    with (
        zipfile.ZipFile(shared_data / "neware_ndax" / "Unit27_Example_Data_File.ndax") as whole,
        zipfile.ZipFile(path, "w") as made,
    ):
        for name in whole.namelist():
            if name not in lacks:
                made.writestr(name, whole.read(name))
    return path


def test_an_ndax_that_lacks_a_temperature_says_so(shared_data: Path, tmp_path: Path) -> None:
    """It was stored without the temperature, and without a word."""
    assert not [note for note in read(without(tmp_path / "a.ndax", shared_data)).notes if note.level == "odd"]
    reading = read(without(tmp_path / "b.ndax", shared_data, "data_AUX_9_3_1.ndc"))
    (text,) = [note.message for note in reading.notes if note.code == "channels_missing"]
    assert "2 auxiliary channels, and has no file of 'temperature of channel 9'. These values are missing." in text
    assert "Those of the other channels could not be distinguished" in text
    assert "Temperature [degC]" not in concat(list(reading.batches)).names
    reading = read(without(tmp_path / "c.ndax", shared_data, "data_AUX_9_3_1.ndc", "data_AUX_10_3_1.ndc"))
    (text,) = [note.message for note in reading.notes if note.code == "channels_missing"]
    assert (
        "no file of 'temperature of channel 9' and 'temperature of channel 10'. These values are missing." in text
    )


@pytest.mark.parametrize("lacks", ["data.ndc", "data_runInfo.ndc", "data_step.ndc"])
def test_an_ndax_that_lacks_a_file_says_which(lacks: str, shared_data: Path, tmp_path: Path) -> None:
    path = without(tmp_path / "cell.ndax", shared_data, lacks)
    with pytest.raises(FileRefused, match=rf"^The archive 'cell\.ndax' lacks '{lacks}', without which"):
        read(path)


def test_a_file_without_rows_is_refused(shared_data: Path) -> None:
    with pytest.raises(FileRefused, match=r"'empty\.ndax' has no rows"):
        read(shared_data / "neware_ndax/empty.ndax")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("maccor_txt/maccor_001.txt.gz", "2020-12-11T12:22:12"),
        ("maccor_txt/PredictionDiagnostics_000151_paused.052", "2019-10-21T10:59:59"),
        ("biologic_mpt/Sample_data_biologic_01_MB_CA1.txt", "2024-05-13T11:19:51.602"),
        ("neware_csv/neware_uio.csv", "2022-05-18T16:27:52"),
        ("bdf_csv/SINTEF__G20M7-202512-Gru6mV__20251228__C30__25degC__Neware.bdf.csv", "2025-12-22T08:44:24.885"),
        ("basytec_txt/sample_data_basytec.txt", "2023-06-19T17:56:53"),
    ],
)
def test_start_time(name: str, start: str, shared_data: Path) -> None:
    begun = read(shared_data / name).start_time
    assert begun is not None
    assert begun.isoformat().startswith(start)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("maccor_txt/maccor_two.txt", "cut_short"),
        ("maccor_txt/maccor_two.txt", "time_unit"),
        ("maccor_txt/maccor_001.txt.gz", "sign_from_state"),
        ("maccor_csv/testdata18.csv.gz", "sign_from_voltage"),
        ("bdf_csv/SINTEF__G20M7-202512-Gru6mV__20251228__C30__25degC__Neware.bdf.csv", "not_whole"),
        ("bdf_csv/DLR__LiLNMOHydra0b__20221125__POCV__25degC__Basytec.bdf.csv.gz", "very_long"),
        ("custom_csv/custom_data_001.csv", "lines_left_out"),
        ("biologic_csv/test_loopsnewoutput_MB_CE1_short10k.csv.gz", "time_from_clock"),
    ],
)
def test_what_is_odd_is_said(name: str, code: str, reads: Any) -> None:
    reading, _ = reads(name)
    assert code in {note.code for note in reading.notes}


def test_batches_of_any_size_add_up_to_the_same(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in FORMATS:
        if (
            FORMATS[name] in ("neware-ndax", "neware-nda", "biologic-mpr", "arbin-res", "hdf5")
            or (shared_data / name).stat().st_size > 2_200_000
        ):
            continue
        monkeypatch.undo()
        whole = concat(list(read(shared_data / name).batches))
        monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", 997)
        batches = list(read(shared_data / name).batches)
        assert len(batches) == -(-whole.n // 997), name
        parts = concat(batches)
        assert parts.names == whole.names, name
        for column in whole:
            assert parts[column].kind == whole[column].kind, (name, column)
            assert parts[column].missing().tolist() == whole[column].missing().tolist(), (name, column)
            present = ~whole[column].missing()
            left, right = parts[column].take(present), whole[column].take(present)
            assert left.tolist() == right.tolist(), (name, column)


@pytest.mark.parametrize(
    ("name", "called"),
    [("neware_ndax/Unit27_Example_Data_File.ndax", "a.zip"), ("neware_nda/nda_v22.nda", "a.bak")],
)
def test_the_ending_of_a_neware_file_does_not_matter(
    name: str, called: str, shared_data: Path, tmp_path: Path
) -> None:
    pytest.importorskip("fastnda")
    shutil.copyfile(shared_data / name, tmp_path / called)
    found, wanted = (read(path) for path in (tmp_path / called, shared_data / name))
    assert found.format == wanted.format
    tables = [concat(list(reading.batches)) for reading in (found, wanted)]
    assert tables[0]["Voltage [V]"].tolist() == tables[1]["Voltage [V]"].tolist()


@pytest.mark.parametrize("name", ["2-1-6_61_07005012.nda", "nda_v22.nda", "new_nda_file.nda"])
def test_a_cut_nda_is_read_with_a_warning(name: str, shared_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("fastnda")
    whole = (shared_data / "neware_nda" / name).read_bytes()

    def of(content: bytes) -> tuple[int, list[str]]:
        (tmp_path / "a.nda").write_bytes(content)
        reading = read(tmp_path / "a.nda")
        rows = sum(batch.n for batch in reading.batches)
        return rows, [note.message for note in reading.notes if note.code == "file_cut"]

    rows, said = of(whole)
    assert not said
    left, said = of(whole[: len(whole) * 9 // 10])
    assert left < rows
    assert len(said) == 1
    assert "of its records. The later samples are missing" in said[0]


def test_a_nda_that_ends_in_zeros_is_read_with_a_warning(shared_data: Path, tmp_path: Path) -> None:
    pytest.importorskip("fastnda")
    whole = (shared_data / "neware_nda" / "nda_v22.nda").read_bytes()
    (tmp_path / "a.nda").write_bytes(whole[:90_000] + bytes(len(whole) - 90_000))
    assert [note.level for note in read(tmp_path / "a.nda").notes if note.code == "file_cut"] == ["odd"]


def test_fastnda_leaves_zlib_as_it_was(shared_data: Path) -> None:
    pytest.importorskip("fastnda")
    own = (zlib.decompress, zlib.decompressobj)
    for batch in read(shared_data / "neware_ndax" / "Unit27_Example_Data_File.ndax").batches:
        assert batch.n
    assert (zlib.decompress, zlib.decompressobj) == own
