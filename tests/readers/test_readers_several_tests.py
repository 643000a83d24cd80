"""Structures and HDF5 files that hold several cells, states, temperatures or spectra: each is a test of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from numpy.typing import NDArray

import workbench as wb
from workbench.errors import FileRefused
from workbench.readers import SeveralTests, read
from workbench.readers.file.nested_structures import Group, parts_of
from workbench.readers.file.structure_samples import samples_of
from workbench.readers.file.structure_tests import by_test
from workbench.table import Table, concat

N = 24
T = 300.0 * np.arange(N)
FLOW = np.where(np.arange(N) < N // 2, 1.0, -1.0)
VOLTS = 3.8 - 0.1 * FLOW - 0.02 * np.minimum(np.arange(N), N - np.arange(N))
FREQUENCY = np.logspace(4, -2, 13)
Z = 0.05 + 0.02 / (1 + 1j * FREQUENCY / 10)


def series(size: float = 1.0, start: float = 0.0) -> Group:
    return {"time_s": T + start, "current_A": FLOW * size, "voltage_V": VOLTS}


def names(structure: Group, *whole: str) -> list[str]:
    return list(by_test(list(parts_of(structure)), frozenset(whole)))


def table_of(structure: Group, test: str, **column_map: str) -> tuple[Any, Any]:
    facts, table = samples_of(structure, "x.mat", column_map)
    begun = 0
    for one in facts["tests"]:
        if one["name"] == test:
            return one, table.slice(begun, one["rows"]).select(one["columns"])
        begun += one["rows"]
    raise AssertionError([one["name"] for one in facts["tests"]])


def codes(facts: Any) -> list[str]:
    return [note["code"] for note in facts["notes"]]


def whole(path: Path, **how: Any) -> Table:
    return concat(list(read(path, **how).batches))


GRID: Group = {
    f"cell{cell}": {state: {f"T{degrees}": series(cell) for degrees in (10, 25)} for state in ("fresh", "aged")}
    for cell in (1, 2)
}


@pytest.mark.parametrize(
    ("structure", "expected"),
    [
        ({"data": GRID}, [f"cell{c}/{s}/T{t}" for c in (1, 2) for s in ("fresh", "aged") for t in (10, 25)]),
        ({"data": [[[series() for _ in range(2)] for _ in range(2)] for _ in range(2)]},
         [f"data {a}/data {b}/data {c}" for a in (1, 2) for b in (1, 2) for c in (1, 2)]),
        ({"cells": [series(), series()]}, ["cells 1", "cells 2"]),
        ({"meas": {"T25": {"UDDS": series(), "US06": series()}, "T40": {"UDDS": series()}}},
         ["/T25/UDDS", "/T25/US06", "/T40/UDDS"]),
        ({"B0005": series(), "B0006": series()}, ["B0005", "B0006"]),
        ({"data": {"A": series(), "B": series()}}, ["A", "B"]),
        ({"B5": {"cycle": [series(), series()]}}, ["B5"]),
        ({"B5": {"charge": series(), "discharge": series()}}, ["B5"]),
        ({"charge": series(), "discharge": series()}, ["charge"]),
        ({"B5": {"cyc0001": series(), "cyc0100": series()}}, ["B5"]),
        ({"log": [series(), series(start=T[-1] + 1)]}, ["log"]),
        ({"log": [series(), series()]}, ["log 1", "log 2"]),
        ({"charge": {"cell1": series(), "cell2": series()}, "discharge": {"cell1": series(), "cell2": series()}},
         ["cell1", "cell2"]),
        ({"B5": {"cycles": [{"T25": series(), "T40": series()}, {"T25": series()}]}}, ["/T25", "/T40"]),
        ({"B5": {"cycles": [{**series(), "EIS": {"freq": FREQUENCY, "Z": Z, "f": FREQUENCY}}, series()]}}, ["B5"]),
        ({"cell1": {"cycles": [series(), series()]}, "cell2": {"cycles": [series()]}}, ["cell1", "cell2"]),
    ],
)  # fmt: skip
def test_cells_states_and_temperatures_are_apart_and_cycles_are_not(structure: Group, expected: list[str]) -> None:
    assert names(structure) == expected


def test_every_sample_is_in_the_test_that_is_named_for_it() -> None:
    structure: Group = {"data": GRID}
    for cell in (1, 2):
        facts, table = table_of(structure, f"cell{cell}/aged/T25")
        assert np.abs(table["Current [A]"].to_numpy()).max() == cell
        assert table["Time [s]"].to_pylist() == T.tolist()
        assert codes(facts) == ["one_of_cells"]


def test_a_person_says_that_a_list_is_one_test_and_the_advice_says_how() -> None:
    structure: Group = {"log": [series(), series()]}
    facts, _ = table_of(structure, "log 1")
    assert 'column_map={"log!time_s": "Time [s]"}' in facts["notes"][0]["message"]
    facts, table = table_of(structure, "log", **{"log!time_s": "Time [s]"})
    assert table.num_rows == 2 * N
    assert codes(facts) == ["pieces_joined"]
    facts, table = table_of({"data": GRID}, "cell2/aged/T25", **{"cell2!time_s": "Time [s]"})
    with pytest.raises(FileRefused, match="no cell 'cell3'; it has 'cell1' and 'cell2'"):
        samples_of({"data": GRID}, "x.mat", {"cell3!time_s": "Time [s]"})


def test_a_list_of_cycles_counts_them() -> None:
    _, table = table_of({"B5": {"cycles": [series(), series()]}}, "B5")
    assert table["Cycle from cycler"].to_pylist() == [1] * N + [2] * N


def test_a_spectrum_beside_a_series_is_in_its_test() -> None:
    spectrum = {"freq_Hz": FREQUENCY, "Z_Re_Ohm": Z.real, "Z_Im_Ohm": Z.imag}
    beside: Group = {"run": {**series(), **spectrum}}
    below: Group = {"run": {**series(), "EIS": spectrum}}
    for structure in (beside, below):
        facts, table = table_of(structure, "run")
        assert table.num_rows == N + len(FREQUENCY)
        assert table["Frequency [Hz]"].to_pylist()[N:] == FREQUENCY.tolist()
        assert table["Z_Im [Ohm]"].to_pylist()[N:] == pytest.approx(Z.imag.tolist())
        assert table["Time [s]"].null_count == len(FREQUENCY)
        assert codes(facts) == []


@pytest.mark.parametrize(
    "spectrum",
    [
        {"f": FREQUENCY, "frequency": FREQUENCY, "Z": Z},
        {"frequency": FREQUENCY, "impedance": Z, "time_s": FREQUENCY},
        {"freq": FREQUENCY, "Zre": Z.real, "minusZim": -Z.imag, "-Zim": -Z.imag},
        {"freq": FREQUENCY, "zreal": Z.real, "zimag": -Z.imag},
        {"freq": FREQUENCY, "zmod": np.abs(Z), "phase": np.degrees(np.angle(Z))},
    ],
)
def test_spectra_of_cells_and_states(spectrum: Group) -> None:
    structure: Group = {"eis": {f"cell{cell}": {f"SOC{soc}": spectrum for soc in (20, 50)} for cell in (1, 2)}}
    _, table = table_of(structure, "cell2/SOC50")
    assert names(structure) == ["cell1/SOC20", "cell1/SOC50", "cell2/SOC20", "cell2/SOC50"]
    assert table.num_rows == len(FREQUENCY)
    if "Z_Im [Ohm]" in table.column_names:
        assert table["Z_Im [Ohm]"].to_pylist() == pytest.approx(Z.imag.tolist())
    else:
        assert table["Z_Phase [deg]"].to_pylist() == pytest.approx(np.degrees(np.angle(Z)).tolist())
    assert "Time [s]" not in table.column_names


def test_a_spectrum_that_cannot_be_read_is_named() -> None:
    structure: Group = {"run": {**series(), "EIS": {"Zre": Z.real, "Zim": Z.imag}, "Z_impedance": Z}}
    facts, _ = table_of(structure, "run")
    (said,) = [note["message"] for note in facts["notes"]]
    assert "'run.EIS.Zre', 'run.EIS.Zim' and 'run.Z_impedance'" in said


def test_a_mat_file_of_cells_and_temperatures_is_ingested_test_by_test(tmp_path: Path) -> None:
    path = tmp_path / "matrix.mat"
    grid = {f"cell{cell}": {f"T{t}": series(cell) for t in (10, 25)} for cell in (1, 2)}
    eis = {"freq": FREQUENCY, "Zre": Z.real, "Zim": Z.imag}
    scipy.io.savemat(path, {"data": grid | {"cell3": {"T10": eis}}})
    with wb.open(tmp_path / "lab.db") as bench:
        report = bench.ingest(path)
        assert [file.status for file in report] == ["stored"] * 5, report
        assert [(file.instance, file.measurement) for file in report] == [
            ("cell1", "T10"), ("cell1", "T25"), ("cell2", "T10"), ("cell2", "T25"), ("cell3", "T10"),
        ]  # fmt: skip
        for file in list(report)[:4]:
            cycles = bench.measurements.cycles(file.measurement_id)
            size = int(file.instance[-1])
            assert float(cycles["Discharge capacity [A.h]"].max()) == pytest.approx(size, rel=0.1)
        assert bench.measurements.time_series(report[4].measurement_id)["Z_Re [Ohm]"].notna().all()
        assert [file.status for file in bench.ingest(path)] == ["duplicate"] * 5


def stored(group: Any, columns: dict[str, np.ndarray], *, own: bool = False, **text: np.ndarray) -> None:
    """A table as pandas writes it with ``format="table"``; ``own``: each column is a field of its own."""
    group.attrs["pandas_type"] = np.bytes_(b"frame_table")
    kind: list[Any] = [("index", "<i8")]
    kind += [(name, "<f8") for name in columns] if own else [("values_block_0", "<f8", (len(columns),))]
    kind += [(f"values_block_{place}", "S8", (1,)) for place, _ in enumerate(text, 1)]
    rows = np.zeros(N, kind)
    for name, values in columns.items() if own else ():
        rows[name] = values
    if not own:
        rows["values_block_0"] = np.column_stack(list(columns.values()))
    for place, values in enumerate(text.values(), 1):
        rows[f"values_block_{place}"][:, 0] = values
    table = group.create_dataset("table", data=rows)
    table.attrs["index_kind"] = np.bytes_(b"integer")
    listed = [list(columns), *([name] for name in text)]
    for place, block in enumerate(listed):
        words = "".join(f"V{name}\np{n}\na" for n, name in enumerate(block, 1))
        table.attrs[f"values_block_{place}_kind"] = np.bytes_(f"(lp0\n{words}.".encode())


COLUMNS = {"Test_Time": T, "Current": FLOW, "Voltage": VOLTS}


def hdf5(path: Path) -> Any:
    return pytest.importorskip("h5py").File(path, "w")


def test_tables_of_pandas_in_groups_are_tests(tmp_path: Path) -> None:
    path = tmp_path / "rack.h5"
    with hdf5(path) as file:
        for size, cell in enumerate(("A1", "A2"), 1):
            stored(file.create_group(f"cells/{cell}/raw"), COLUMNS | {"Current": FLOW * size}, own=cell == "A2")
        stored(file.create_group("about"), {"mass": T})
    with pytest.raises(SeveralTests) as several:
        read(path)
    assert several.value.tests == ("A1", "A2")
    reading = read(path, test="A2")
    assert concat(list(reading.batches))["Current [A]"].floats().max() == 2.0
    assert any("'about'" in note.message for note in reading.notes if note.code == "left_out")


def test_a_map_of_columns_is_honoured_in_tables(tmp_path: Path) -> None:
    path = tmp_path / "own.h5"
    with hdf5(path) as file:
        stored(file.create_group("a/b"), {"Sec": T, "Amps": FLOW * 1000, "Pot": VOLTS})
        file["c"] = np.rec.fromarrays([T, FLOW, VOLTS], names="Sec,Amps,Pot")
    with pytest.raises(FileRefused, match="'Sec', 'Amps' and 'Pot'"):
        read(path)
    mapped = {"Sec": "Time [s]", "Amps": "Current [mA]", "Pot": "Voltage [V]"}
    with pytest.raises(SeveralTests, match="'a/b' and 'c'"):
        read(path, column_map=mapped)
    one = {f"a/b!{header}": ours for header, ours in mapped.items()}
    assert whole(path, column_map=one)["Current [A]"].floats().max() == 1.0


def test_a_header_with_the_mark_of_places_in_it_can_be_mapped(tmp_path: Path) -> None:
    path = tmp_path / "own.h5"
    with hdf5(path) as file:
        stored(file.create_group("a/b"), {"Sec": T, "Amps!x": FLOW, "Pot": VOLTS})
        stored(file.create_group("c"), {"mass": T})
    mapped = {"Sec": "Time [s]", "Amps!x": "Current [mA]", "Pot": "Voltage [V]"}
    assert whole(path, column_map=mapped)["Current [A]"].floats().max() == 0.001
    one = {f"a/b!{header}": ours for header, ours in mapped.items()}
    assert whole(path, column_map=one)["Current [A]"].floats().max() == 0.001
    with pytest.raises(FileRefused, match="no table 'a/d'; it has"):
        read(path, column_map={"a/d!Sec": "Time [s]"})


def test_vectors_beside_a_table_that_is_not_a_series(tmp_path: Path) -> None:
    path = tmp_path / "both.h5"
    with hdf5(path) as file:
        file["about"] = np.rec.fromarrays([T], names="mass")
        for name, values in {"Time_s": T, "Current_A": FLOW, "Voltage_V": VOLTS}.items():
            file[f"run/{name}"] = values
    assert whole(path).n == N


def test_a_column_that_names_cells_in_a_table_of_hdf5(tmp_path: Path) -> None:
    path = tmp_path / "cells.h5"
    with hdf5(path) as file:
        stored(file.create_group("df"), COLUMNS, cell=np.array([b"K1", b"K2"] * (N // 2)))
    assert whole(path, test="K2").n == N // 2
    with pytest.raises(FileRefused, match="no test 'K3'"):
        read(path, test="K3")


def test_python_objects_in_hdf5_are_not_damage(tmp_path: Path) -> None:
    path = tmp_path / "objects.h5"
    for block, words in ((b"frame", "Python objects"), (b"none", "no vectors of numbers|It holds 'df'")):
        with hdf5(path) as file:
            h5py = pytest.importorskip("h5py")
            group = file.create_group("df")
            group.attrs["pandas_type"] = np.bytes_(block) if block == b"frame" else np.bytes_(b"")
            group.attrs["nblocks"] = 1
            for name in ("axis0", "block0_items"):
                group[name] = np.array([b"Test_Time", b"Current", b"Voltage"])
            values = group.create_dataset("block0_values", (1,), h5py.vlen_dtype(np.uint8))
            values[0] = np.frombuffer(b"cos\nsystem\n.", np.uint8)
        with pytest.raises(FileRefused, match=words) as refused:
            read(path)
        assert "damaged" not in str(refused.value)
    with hdf5(path) as file:
        file["x"] = pytest.importorskip("h5py").Empty("f")
    with pytest.raises(FileRefused, match="It holds 'x'"):
        read(path)
    hdf5(path).close()
    with pytest.raises(FileRefused, match="holds no vectors of numbers"):
        read(path)


def structures(shape: tuple[int, ...]) -> NDArray[np.object_]:
    """A cell array of structures, each with the current of its place."""
    made = np.empty(shape, object)
    for number, place in enumerate(np.ndindex(*shape), 1):
        made[place] = series(number)
    return made


def test_structures_in_cell_arrays_of_two_and_three_dimensions_are_read(tmp_path: Path) -> None:
    for shape in ((2, 3), (2, 2, 2)):
        path = tmp_path / f"{len(shape)}.mat"
        scipy.io.savemat(path, {"data": structures(shape), "one": series(99)})
        with pytest.raises(SeveralTests) as several:
            read(path)
        tests = [name for name in several.value.tests if name.startswith("data")]
        assert len(tests) == np.prod(shape)
        flows = [float(whole(path, test=name)["Current [A]"].floats().max()) for name in tests]
        assert flows == [float(number) for number in range(1, len(tests) + 1)]


def test_matrices_are_named_with_their_size_and_never_dropped_silently(tmp_path: Path) -> None:
    path = tmp_path / "x.mat"
    scipy.io.savemat(path, {"time": T, "current": np.c_[FLOW, FLOW], "voltage": np.c_[VOLTS, VOLTS]})
    with pytest.raises(FileRefused, match=rf"matrices: 'current' \({N} x 2\), 'voltage' \({N} x 2\)"):
        read(path)
    scipy.io.savemat(path, {"A": series(), "current": np.c_[FLOW, FLOW]})
    assert f"'current' ({N} x 2) is a matrix, not a vector, and was left out." in [
        note.message for note in read(path).notes
    ]
    scipy.io.savemat(path, {"omega": FREQUENCY, "Zr": Z.real, "Zi": Z.imag})
    with pytest.raises(FileRefused, match='"Frequency \\[Hz\\]"'):
        read(path)
