"""MATLAB structures of public sets, HDF5, Access and mpr: small files of our own in their layouts."""

from __future__ import annotations

import importlib
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from support.needs import mdbtools

from workbench.errors import FileRefused
from workbench.readers import SeveralTests, read, recognise
from workbench.readers.formats import arbin_access, biologic_binary
from workbench.table import Table, concat

N = 20
T = np.arange(N, dtype=float)
FLOW = np.where(T < 10, 1.0, -1.0)
VOLTS = 3.6 + 0.1 * FLOW + 0.001 * T * FLOW


def mat(path: Path, **variables: Any) -> Path:
    scipy.io.savemat(path, variables)
    return path


def table_of(path: Path, **how: Any) -> Table:
    return concat(list(read(path, **how).batches))


def codes(path: Path, **how: Any) -> set[str]:
    reading = read(path, **how)
    list(reading.batches)
    return {note.code for note in reading.notes}


def test_nasa_operations_stand_on_one_clock(tmp_path: Path) -> None:
    def operation(word: str, hour: int, flow: float) -> dict[str, Any]:
        data = {
            "Voltage_measured": 3.6 + 0.1 * flow + 0.01 * flow * T,
            "Current_measured": np.full(N, 1.5 * flow),
            "Temperature_measured": np.full(N, 24.0),
            "Time": T,
        }
        return {
            "type": word,
            "ambient_temperature": 24,
            "time": np.array([2009, 4, 7, hour, 0, 0.5]),
            "data": data,
        }

    sweep = {"type": "impedance", "ambient_temperature": 24, "time": np.array([2009, 4, 7, 2, 0, 0.0])}
    sweep |= {"data": {"Battery_impedance": np.arange(5) * 1j, "Re": 0.02, "Rct": 0.04}}
    cycle = np.array([operation("charge", 1, 1), sweep, operation("discharge", 3, -1), operation("charge", 4, 1)])
    reading = read(mat(tmp_path / "B9.mat", B9={"cycle": cycle}))
    table = concat(list(reading.batches))
    assert reading.format == "matlab"
    assert reading.start_time == datetime(2009, 4, 7, 1, 0, 0, 500000, tzinfo=UTC)
    assert table["Time [s]"].floats() == pytest.approx(np.concatenate([T, T + 7200, T + 10800]))
    assert table["Current [A]"].tolist() == [-1.5] * N + [1.5] * N + [-1.5] * N
    assert table["Operation"].tolist() == ["charge"] * N + ["discharge"] * N + ["charge"] * N
    assert table["Step from cycler"].tolist() == [1] * N + [2] * N + [3] * N
    assert table["Cycle from cycler"].tolist() == [1] * N * 2 + [2] * N
    assert set(table["Ambient temperature [degC]"].tolist()) == {24.0}


def test_oxford_cells_one_by_one_with_a_current_from_the_charge(tmp_path: Path) -> None:
    def piece(flow: float) -> dict[str, Any]:
        return {
            "t": 736000 + T / 86400,
            "v": 3.6 + flow * T / 100,
            "q": flow * 740 * T / 3600,
            "T": np.full(N, 40.0),
        }

    cells = {
        name: {"cyc0000": {"C1ch": piece(1), "C1dc": piece(-1)}, "cyc0100": {"C1ch": piece(1)}} for name in "AB"
    }
    path = mat(tmp_path / "set.mat", CellA=cells["A"], CellB=cells["B"])
    with pytest.raises(SeveralTests) as several:
        read(path)
    assert several.value.tests == ("CellA", "CellB")
    table = table_of(path, test="CellA")
    assert table.n == 3 * N
    assert table["Current [A]"].floats() == pytest.approx([-0.74] * N + [0.74] * N + [-0.74] * N, rel=1e-3)
    assert table["Cycle from cycler"].tolist() == [0] * 2 * N + [100] * N
    assert table["Temperature [degC]"].tolist() == [40.0] * 3 * N
    assert {"one_of_cells", "current_derived"} <= codes(path, test="CellA")
    assert table_of(path, column_map={"CellB!v": "Voltage [V]"}).n == 3 * N
    with pytest.raises(FileRefused, match="no cell 'CellC'; it has 'CellA' and 'CellB'"):
        read(path, column_map={"CellC!v": "Voltage [V]"})


def test_a_drive_cycle_of_panasonic(tmp_path: Path) -> None:
    meas = {
        "Time": T,
        "Voltage": VOLTS,
        "Current": FLOW * 2.9,
        "Ah": T / 3600,
        "Battery_Temp_degC": np.full(N, 25.1),
    }
    table = table_of(mat(tmp_path / "US06.mat", meas=meas))
    assert table["Current [A]"].floats() == pytest.approx(-2.9 * FLOW)
    assert table["Temperature [degC]"].tolist() == [25.1] * N
    assert table["Ah"].floats() == pytest.approx(T / 3600)


def test_any_structure_with_time_current_and_voltage(tmp_path: Path) -> None:
    path = mat(
        tmp_path / "own.mat", test={"Time_min": T, "Current_mA": 500 * FLOW, "Voltage_V": VOLTS, "note": "x"}
    )
    reading = read(path)
    table = concat(list(reading.batches))
    assert table["Time [s]"].floats() == pytest.approx(60 * T)
    assert table["Current [A]"].floats() == pytest.approx(-0.5 * FLOW)
    mapped = {"x": "Time [s]", "y": "Current [A]", "z": "Voltage [V]"}
    path = mat(tmp_path / "odd.mat", x=T, y=FLOW, z=VOLTS)
    with pytest.raises(FileRefused, match="It holds 'x', 'y' and 'z'"):
        read(path)
    assert table_of(path, column_map=mapped, sign="charge").n == N


def test_days_of_matlab_that_name_no_unit_give_a_warning_with_the_map(tmp_path: Path) -> None:
    days = 739385 + 22 / 24 + np.arange(40) * 10 / 86400
    current = np.array([(0, -1.0, 0, 1.5)[n // 5 % 4] for n in range(40)])
    path = mat(tmp_path / "cell.mat", time=days, current=current, voltage=3.6 - 0.05 * current)
    reading = read(path)
    list(reading.batches)
    assert any("10 s if it is in days" in note.message for note in reading.notes if note.level == "odd")
    made = table_of(path, column_map={"time": "Time [d]"})
    assert made["Time [s]"].floats() == pytest.approx(10.0 * np.arange(40), abs=1e-4)


def test_hdf5_of_matlab_with_references(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "batch.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        batch = file.create_group("batch")
        cells = []
        for cell in range(2):
            cycles = file.create_group(f"#refs#/cell{cell}")
            for name, values in {"I": FLOW, "V": VOLTS, "t": T, "Qc": T / 100, "Qd": T / 200}.items():
                refs = []
                for number in range(3):
                    place = file.create_dataset(f"#refs#/{cell}{name}{number}", data=values[np.newaxis, :] + 0.0)
                    refs.append([place.ref])
                cycles.create_dataset(name, data=np.array(refs, dtype=h5py.ref_dtype))
            cells.append([cycles.ref])
        batch.create_dataset("cycles", data=np.array(cells, dtype=h5py.ref_dtype))
    with open(path, "r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(512))
    assert recognise(path) == "hdf5"
    with pytest.raises(SeveralTests) as several:
        read(path)
    assert several.value.tests == ("batch 1", "batch 2")
    table = table_of(path, test="batch 1")
    assert table.n == 3 * N
    assert table["Current [A]"].floats() == pytest.approx(-np.tile(FLOW, 3))
    assert table["Cycle from cycler"].tolist() == [1] * N + [2] * N + [3] * N
    assert {"one_of_cells", "pieces_joined"} <= codes(path, test="batch 2")
    assert table_of(path, column_map={"batch 2!t": "Time [min]"}).n == 3 * N


def test_a_pickle_in_hdf5_is_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pandas keeps names and texts as pickles; the names are read as text, the texts not at all."""
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr("pickle.loads", lambda *_: pytest.fail("a pickle was loaded"))
    path = tmp_path / "frame.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("df")
        group.attrs["pandas_type"] = np.bytes_(b"frame_table")
        kind = np.dtype([("index", "<i8"), ("values_block_0", "<f8", (3,)), ("values_block_1", "S9", (1,))])
        rows = np.zeros(N, kind)
        rows["values_block_0"] = np.column_stack([T, FLOW, VOLTS])
        table = group.create_dataset("table", data=rows)
        names = b"(lp0\nVTest_Time\np1\naVCurrent\np2\naVVoltage\np3\na."
        table.attrs["values_block_0_kind"] = np.bytes_(names)
        table.attrs["values_block_1_kind"] = np.bytes_(b"cos\nsystem\n(S'exit 1'\ntR.")
    assert table_of(path)["Current [A]"].floats() == pytest.approx(-FLOW)


@pytest.mark.parametrize(
    ("head", "missing", "words"),
    [
        (b"\x89HDF\r\n\x1a\n" + b"\0" * 600, "h5py", "battery-workbench\\[hdf5\\]"),
    ],
)
def test_without_its_library_a_binary_is_refused_with_the_mend(
    head: bytes, missing: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "test.bin"
    path.write_bytes(head)
    imported = importlib.import_module

    def absent(name: str, package: str | None = None) -> Any:
        if name == missing:
            raise ImportError(name)
        return imported(name, package)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(FileRefused, match=words):
        read(path)


def test_a_database_without_mdbtools_is_refused_with_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "test.res"
    path.write_bytes(b"\0\x01\0\0Standard Jet DB\0" + b"\0" * 4096)
    assert recognise(path) == "arbin-res"
    monkeypatch.setattr(arbin_access.shutil, "which", lambda name: None)
    with pytest.raises(FileRefused, match="install mdbtools"):
        read(path)


def test_a_damaged_database_is_refused_in_words(tmp_path: Path) -> None:
    mdbtools()
    path = tmp_path / "test.res"
    path.write_bytes(b"\0\x01\0\0Standard Jet DB\0" + b"\xff" * 8192)
    with pytest.raises(FileRefused, match=r"'test\.res' is"):
        read(path)


GALVANI = """
from datetime import datetime
from pathlib import Path
import numpy as np

class MPRfile:
    timestamp = datetime(2024, 5, 13, 10)

    def __init__(self, path):
        {fault}
        self.data = np.load(Path(__file__).with_name("data.npy"))
"""
YADG = """
from pathlib import Path
import numpy as np

class Variable:
    def __init__(self, values, units):
        self.values, self.shape, self.attrs = values, values.shape, {{"units": units}} if units else {{}}

class Tree(dict):
    attrs = {{}}
    variables = property(lambda self: list(self))

def extract(filetype, path):
    {fault}
    data = np.load(Path(__file__).with_name("data.npy"))
    tree = Tree()
    for header in data.dtype.names:
        name, _, unit = header.partition("/")
        unit = unit.replace(".", "\u00b7").replace("Ohm", "\u03a9")
        tree[name] = Variable(data[header], unit)
        tree[name + "_uncertainty"] = Variable(np.array(0.1), unit)
    tree["uts"] = Variable(tree["time"].values + 1715594400.0, "s")
    return tree
"""
"""What two libraries that users install offer of themselves; they read one array whatever the file is."""


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, data: Any = None, **faults: str | None) -> None:
    """Lay the libraries into a folder of their own; a fault is raised by one, and None leaves it uninstalled."""
    place = folder / "installed"
    for library, module, code in (("galvani", "BioLogic", GALVANI), ("yadg", "extractors", YADG)):
        fault = faults.get(library)
        (place / library).mkdir(parents=True, exist_ok=True)
        (place / library / "__init__.py").write_text("" if fault is not None else "raise ImportError")
        (place / library / f"{module}.py").write_text(code.format(fault=fault or "pass"))
        if data is not None:
            np.save(place / library / "data.npy", data)
    monkeypatch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)


def modular_file(folder: Path) -> Path:
    path = folder / "test.mpr"
    path.write_bytes(b"BIO-LOGIC MODULAR FILE\x1a" + b"\0" * 99)
    return path


def of_a_cell() -> Any:
    data = np.zeros(N, [("time/s", "<f8"), ("I/mA", "<f8"), ("Ewe/V", "<f4"), ("Ns", "<u2"), ("dq/mA.h", "<f8")])
    data["time/s"], data["I/mA"], data["Ewe/V"] = 5 + 2 * T, 1000 * FLOW, VOLTS
    return data


def test_a_second_reader_reads_what_the_first_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = "raise NotImplementedError('Column ID 441 after column Ns is unknown')"
    installed(tmp_path, monkeypatch, of_a_cell(), galvani=fault, yadg="")
    reading = read(modular_file(tmp_path))
    table = concat(list(reading.batches))
    assert table["Current [A]"].floats() == pytest.approx(-FLOW)
    assert table["Time [s]"].floats() == pytest.approx(2 * T)
    assert "dq/mA.h" in table
    assert not any("uncertainty" in name for name in table)
    assert reading.start_time == datetime(2024, 5, 13, 10, 0, 5, tzinfo=UTC)
    (said,) = [note.message for note in reading.notes if note.code == "second_reader"]
    assert "Column ID 441" in said
    assert "yadg" in said


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        ({}, r"is not installed\. Run pip install galvani"),
        ({"galvani": "raise ValueError('441')"}, r"galvani does not know \(galvani: 441\)\. Run pip install yadg"),
        ({"galvani": "1 / 0", "yadg": "1 / 0"}, r"galvani and yadg do not know .*Export it as text"),
    ],
)
def test_an_mpr_that_no_reader_reads_is_refused_with_what_to_install(
    faults: dict[str, str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, monkeypatch, of_a_cell(), **faults)
    monkeypatch.syspath_prepend(tmp_path / "installed")
    for name in ("galvani", "galvani.BioLogic", "yadg", "yadg.extractors"):
        monkeypatch.setitem(sys.modules, name, None)  # so that what the test imports goes again
        del sys.modules[name]
    path = modular_file(tmp_path)
    job = {"loader": "", "path": str(path), "name": path.name, "table": "", "column_map": {}, "typed_in": "python"}
    with pytest.raises(FileRefused, match=words):
        biologic_binary.loaded({**job, "seconds": 1})  # type: ignore[arg-type, typeddict-item]


def test_an_mpr_whose_reader_dies_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, of_a_cell(), galvani="print('x' * 10_000); import os; os.abort()")
    with pytest.raises(FileRefused, match="its parser crashed"):
        read(modular_file(tmp_path))


def test_an_mpr_without_current_takes_it_from_the_charge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = [
        ("flags", "u1"),
        ("Ns", "<u2"),
        ("time/s", "<f8"),
        ("dq/mA.h", "<f8"),
        ("Ewe/V", "<f4"),
        ("half cycle", "<u4"),
    ]
    data = np.zeros(N, kind)
    data["time/s"], data["Ewe/V"] = 5 + 2 * T, VOLTS
    data["dq/mA.h"] = FLOW * 2 / 3.6
    installed(tmp_path, monkeypatch, data, galvani="")
    path = modular_file(tmp_path)
    reading = read(path)
    table = concat(list(reading.batches))
    assert table["Current [A]"].floats()[1:] == pytest.approx(-FLOW[1:])
    assert reading.start_time == datetime(2024, 5, 13, 10, 0, 5, tzinfo=UTC)
    assert "current_derived" in {note.code for note in reading.notes}


def test_an_mpr_whose_charge_is_in_coulombs_is_no_record_at_open_circuit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = np.zeros(N, [("time/s", "<f8"), ("Ewe/V", "<f4"), ("dQ/C", "<f4"), ("Ewe-Ece/V", "<f4")])
    data["time/s"], data["Ewe/V"], data["dQ/C"] = 2 * T, VOLTS, FLOW * 2
    installed(tmp_path, monkeypatch, data, galvani="")
    reading = read(modular_file(tmp_path))
    table = concat(list(reading.batches))
    assert table["Current [A]"].floats()[1:] == pytest.approx(-FLOW[1:])
    assert {"current_derived", "electrode"} <= {note.code for note in reading.notes}


def test_an_mpr_of_impedance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = [
        ("freq/Hz", "<f4"),
        ("Re(Z)/Ohm", "<f4"),
        ("-Im(Z)/Ohm", "<f4"),
        ("time/s", "<f8"),
        ("<Ewe>/V", "<f4"),
        ("<I>/mA", "<f4"),
    ]
    data = np.zeros(4, kind)
    data["freq/Hz"], data["-Im(Z)/Ohm"] = [1000, 100, 10, 1], 0.25
    installed(tmp_path, monkeypatch, data, galvani="")
    table = table_of(modular_file(tmp_path))
    assert table["Frequency [Hz]"].tolist() == [1000, 100, 10, 1]
    assert table["Z_Im [Ohm]"].tolist() == [-0.25] * 4


def test_what_is_beside_the_vectors_is_kept(tmp_path: Path) -> None:
    vectors = {"time": T, "current": FLOW, "voltage": VOLTS}
    said = {"cell_id": "LG-07", "temperature_setpoint": 25.0}
    for structure in ({**said, **vectors}, {**said, "data": vectors}, {"data": {**said, **vectors}}):
        assert read(mat(tmp_path / "one.mat", **structure)).metadata == said
    cycles = [{**vectors, "number": number, "cell_id": "LG-07"} for number in range(3)]
    assert read(mat(tmp_path / "many.mat", cycle=cycles)).metadata == {"cell_id": "LG-07"}


def with_attributes(folder: Path, group: str, attribute: str, vectors: dict[str, tuple[object, Any]]) -> Path:
    """An HDF5 file with vectors whose units are attributes."""
    path = folder / "file.h5"
    with pytest.importorskip("h5py").File(path, "w") as file:
        for name, (unit, values) in vectors.items():
            file.create_dataset(f"{group}{name}", data=values).attrs[attribute] = unit
    return path


N_ATTRIBUTES = 60
TIMES = 10.0 * np.arange(N_ATTRIBUTES)
FLOWS = np.where(np.arange(N_ATTRIBUTES) % 20 < 10, 0.0, 2.0)
LEVELS = 3.6 + 0.001 * np.cumsum(FLOWS) + 0.05 * FLOWS


@pytest.mark.parametrize(
    ("group", "attribute", "minutes", "milliamperes"),
    [
        ("", "units", "min", "mA"),
        ("cells/A1/", "Unit", np.bytes_("minutes"), np.bytes_("mA")),
        ("", "UNITS", np.array([b"min"]), np.array([b"milliampere"])),
        ("", "units", "minutes since 2024-05-13 10:00:00", "mA"),
    ],
)
def test_units_in_the_attributes_of_hdf5_count(
    group: str, attribute: str, minutes: object, milliamperes: object, tmp_path: Path
) -> None:
    vectors = {
        "time": (minutes, TIMES / 60),
        "current": (milliamperes, 1e3 * FLOWS),
        "voltage": ("mV", 1e3 * LEVELS),
    }
    reading = read(with_attributes(tmp_path, group, attribute, vectors))
    table = concat(list(reading.batches))
    assert table["Time [s]"].floats() == pytest.approx(TIMES)
    assert table["Current [A]"].floats() == pytest.approx(-FLOWS)
    assert table["Voltage [V]"].floats() == pytest.approx(LEVELS)
    assert not {note.code for note in reading.notes} & {"unit", "time_unit"}


def test_a_unit_per_area_in_an_attribute_is_refused_until_it_is_mapped(tmp_path: Path) -> None:
    vectors = {"time": ("s", TIMES), "current": ("mA/cm^2", 1e3 * FLOWS), "voltage": ("V", LEVELS)}
    path = with_attributes(tmp_path, "", "units", vectors)
    with pytest.raises(FileRefused, match=r"'current' in 'mA/cm\^2'.*column_map="):
        read(path)
    table = concat(list(read(path, column_map={"current": "Current [mA]"}).batches))
    assert table["Current [A]"].floats() == pytest.approx(-FLOWS)


@pytest.mark.parametrize("of_two", [True, False])
def test_units_of_impedance_in_attributes_count(of_two: bool, tmp_path: Path) -> None:
    frequency = np.logspace(4, -1, 30)
    z = 0.02 + 0.03 / (1 + 1j * frequency / 10)
    parts = {"Zre": ("mOhm", 1e3 * z.real), "Zim": ("mOhm", 1e3 * z.imag)} if of_two else {"Z": ("mOhm", 1e3 * z)}
    reading = read(with_attributes(tmp_path, "eis/", "units", {"freq": ("kHz", frequency / 1e3), **parts}))
    table = concat(list(reading.batches))
    assert table["Frequency [Hz]"].floats() == pytest.approx(frequency)
    assert table["Z_Re [Ohm]"].floats() == pytest.approx(z.real)
    assert table["Z_Im [Ohm]"].floats() == pytest.approx(z.imag)


def test_a_group_within_a_test_that_has_no_time_of_its_own_is_named(tmp_path: Path) -> None:
    samples = {"time_s": T, "current_A": FLOW, "voltage_V": VOLTS}
    aux = {"T1": T, "T2": T, "serial": "x"}
    path = mat(tmp_path / "a.mat", cell={**samples, "aux": aux, "limits": {"U": np.array([2.5, 4.2])}})
    reading = read(path)
    assert sum(table.n for table in reading.batches) == N
    said = [note.message for note in reading.notes if note.code == "left_out"]
    assert said == [
        "'cell.aux' holds 2 vectors as long as the samples beside it, but no time of its own, and was left out. To "
        "keep that, save it beside the time."
    ]
    path = mat(tmp_path / "b.mat", cycles=[{**samples, "aux": aux}, {**samples, "time_s": T + 50, "aux": aux}])
    reading = read(path, test=None)
    assert [note.message for note in reading.notes if note.code == "left_out"] == [
        "'cycles.aux' holds 2 vectors as long as the samples beside it, but no time of its own, and was left out. To "
        "keep that, save it beside the time."
    ]


TEXTS = [f"2024-05-13 10:00:{second:02d}" for second in range(N)]
AS_TEXT = r"The times in 'time' are texts, such as '2024-05-13 10:00:00'\. Save them as numbers, in seconds"


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ({"voltage": VOLTS[:-3]}, r"differ in length: 'time' 20, 'current' 20, 'voltage' 17\. Save them with one"),
        ({"time": np.array(TEXTS, object)}, AS_TEXT),
        ({"time": np.array(TEXTS)}, AS_TEXT),
    ],
)
def test_vectors_that_are_no_series_are_refused_with_what_does_not_fit(
    vectors: dict[str, Any], said: str, tmp_path: Path
) -> None:
    file = {"time": T, "current": FLOW, "voltage": VOLTS} | vectors
    with pytest.raises(FileRefused, match=said):
        read(mat(tmp_path / "one.mat", **file))
    with pytest.raises(FileRefused, match="d.time" if "voltage" in vectors else "'cell.d.time' are texts"):
        read(mat(tmp_path / "nested.mat", cell={"d": file}))
    with pytest.importorskip("h5py").File(tmp_path / "one.h5", "w") as written:
        for name, values in file.items():
            written[name] = values.astype("S") if values.dtype.kind in "OU" else values
    with pytest.raises(FileRefused, match=said):
        read(tmp_path / "one.h5")


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_matlab_file_of_version_4_is_refused_with_how_to_save_it(order: str, tmp_path: Path) -> None:
    path = tmp_path / "old.mat"
    scipy.io.savemat(path, {"time": T, "current": FLOW, "voltage": VOLTS}, format="4")
    if order == ">":
        numbers = np.array([1000, N, 1, 0, 5], ">i4").tobytes()
        path.write_bytes(numbers + b"time\0" + T.astype(">f8").tobytes())
    with pytest.raises(FileRefused, match=r"MATLAB file of version 4.*'-v7'"):
        read(path)
