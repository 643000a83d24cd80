"""Units that the numbers or the names of a file prove, and those that they do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workbench.errors import FileRefused
from workbench.readers import Reading, read
from workbench.readers.table.header_units import unit_of
from workbench.table import Table, concat

N = 120
T = np.arange(N) * 10.0
CHARGE = np.where(T < 100, 0.0, np.where(T < 600, 1.5, -1.5))
V = 3.6 + 5 * np.cumsum(CHARGE) * 10 / 3600 / 40 + 0.03 * CHARGE


def summed(flow: np.ndarray) -> np.ndarray:
    """(N,) the integral of a flow over time, in hours."""
    size = np.abs(flow)
    return np.concatenate([[0], np.cumsum((size[1:] + size[:-1]) / 2 * np.diff(T))]) / 3600


PASSED, WORK = summed(CHARGE), summed(CHARGE * V)
WORK = (
    np.concatenate([[0], np.cumsum((np.abs(CHARGE[1:] * V[1:]) + np.abs(CHARGE[:-1] * V[:-1])) / 2 * np.diff(T))])
    / 3600
)


def got(
    folder: Path, columns: dict[str, np.ndarray], *, parquet: bool = False, **options: object
) -> tuple[Reading, Table]:
    frame = pd.DataFrame(columns)
    path = folder / ("a.parquet" if parquet else "a.csv")
    frame.to_parquet(path) if parquet else frame.to_csv(path, index=False)
    reading = read(path, **options)  # type: ignore[arg-type]
    return reading, concat(list(reading.batches))


def is_the_test(table: Table) -> None:
    assert table["Time [s]"].floats() == pytest.approx(T)
    assert table["Current [A]"].floats() == pytest.approx(-CHARGE)
    assert table["Voltage [V]"].floats() == pytest.approx(V)


def proved(reading: Reading) -> list[str]:
    return [note.message for note in reading.notes if note.code == "unit_proved"]


PLAIN = {"Time (s)": T, "Current (A)": CHARGE, "Voltage (V)": V, "Capacity (Ah)": PASSED, "Energy (Wh)": WORK}


def with_(**other: np.ndarray) -> dict[str, np.ndarray]:
    """The sound test with another column in the place of the one that begins with the same word."""
    by_word = {name.split()[0]: name for name in other}
    return {
        by_word.get(old.split()[0], old): other.get(by_word.get(old.split()[0], ""), v) for old, v in PLAIN.items()
    }


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize(
    ("name", "values", "unit"),
    [
        ("Voltage", 1e3 * V, "mV"),
        ("Voltage (V)", 1e3 * V, "mV"),
        ("Voltage", 1e6 * V, "uV"),
        ("Current", 1e3 * CHARGE, "mA"),
        ("Current", 1e6 * CHARGE, "uA"),
        ("Time", 1e3 * T, "ms"),
        ("Time", T / 60, "min"),
        ("Time", T / 3600, "h"),
    ],
)
def test_the_numbers_prove_a_unit(name: str, values: np.ndarray, unit: str, parquet: bool, tmp_path: Path) -> None:
    reading, table = got(tmp_path, with_(**{name: values}), parquet=parquet)
    is_the_test(table)
    (said,) = proved(reading)
    assert said.startswith(f"'{name}' was read in {unit}: ")
    assert "time_unit" not in {note.code for note in reading.notes}


@pytest.mark.parametrize(("capacity", "energy", "factor"), [("mA.h", "mW.h", 1e3), ("C", "J", 3600.0)])
def test_counters_of_other_units_prove_it_too(capacity: str, energy: str, factor: float, tmp_path: Path) -> None:
    capacity = "coulomb" if capacity == "C" else capacity
    columns = {"Time (s)": T, "Current (A)": CHARGE, "Voltage": 1e3 * V}
    columns |= {f"Capacity ({capacity})": factor * PASSED, f"Energy ({energy})": factor * WORK}
    is_the_test(got(tmp_path, columns)[1])


def test_a_unit_in_the_header_can_be_kept(tmp_path: Path) -> None:
    reading, _ = got(tmp_path, with_(**{"Voltage (V)": 1e3 * V}))
    (said,) = proved(reading)
    assert said.endswith('To keep the unit of the header, say column_map={"Voltage (V)": "Voltage [V]"}.')
    kept, table = got(tmp_path, with_(**{"Voltage (V)": 1e3 * V}), column_map={"Voltage (V)": "Voltage [V]"})
    assert table["Voltage [V]"].floats() == pytest.approx(1e3 * V)
    assert not proved(kept)


@pytest.mark.parametrize(
    "columns",
    [
        PLAIN,
        {"Time": T, "Current": CHARGE, "Voltage": V, "Capacity (Ah)": PASSED, "Energy (Wh)": WORK},
        {
            "Time (s)": T,
            "Current (A)": CHARGE,
            "Voltage (V)": 200 * V,
            "Capacity (Ah)": PASSED,
            "Energy (Wh)": 200 * WORK,
        },
        {"Time (s)": T, "Current (A)": CHARGE, "Voltage (V)": V, "Capacity": 1e3 * PASSED, "Energy": WORK},
    ],
    ids=["sound", "no units", "a pack of 720 V", "counters without units"],
)
def test_nothing_is_guessed(columns: dict[str, np.ndarray], tmp_path: Path) -> None:
    reading, table = got(tmp_path, columns)
    assert not proved(reading)
    assert table["Voltage [V]"].floats() == pytest.approx(columns.get("Voltage (V)", V))


def test_kelvin_without_a_unit_and_celsius_with_one(tmp_path: Path) -> None:
    reading, table = got(tmp_path, {**PLAIN, "Temperature": np.full(N, 298.15)})
    assert table["Temperature [degC]"].floats() == pytest.approx(25.0)
    assert "in K" in proved(reading)[0]
    for name, value in (("Temperature", 25.0), ("Temperature (degC)", 298.15)):
        assert got(tmp_path, {**PLAIN, name: np.full(N, value)})[1]["Temperature [degC]"].tolist()[0] == value
    heated = np.linspace(25, 300, N)
    assert got(tmp_path, {**PLAIN, "Temperature": heated})[1]["Temperature [degC]"].floats() == pytest.approx(
        heated
    )


@pytest.mark.parametrize(
    "name",
    [
        "Voltage_mV", "Voltage mV", "Voltage, mV", "Voltage-mV", "VoltagemV", "Voltage {mV}", "Voltage [ mV ]", "mV",
        "voltage (millivolts)", "Millivolts", "mVolt", "mVolts", "voltage_in_mV", "voltage_millivolt", "Ewe/mV",
        "<Ewe>/mV", "Potential/mV vs. Li", "E mV", "U[mV]",
    ],
)  # fmt: skip
def test_a_name_that_says_millivolts(name: str, tmp_path: Path) -> None:
    is_the_test(got(tmp_path, {"time_s": T, "current_A": CHARGE, name: 1e3 * V})[1])


@pytest.mark.parametrize(
    "name",
    [
        "Current, mA",
        "CurrentmA",
        "Current-mA",
        "Milliamps",
        "current (milliamperes)",
        "mAmp",
        "<I>/mA",
        "current_in_mA",
    ],
)
def test_a_name_that_says_milliamperes(name: str, tmp_path: Path) -> None:
    is_the_test(got(tmp_path, {"time_s": T, name: 1e3 * CHARGE, "voltage_V": V})[1])


@pytest.mark.parametrize("name", ["Cell_mV", "Pack mVolts", "Klemmen (mV)"])
def test_the_advice_for_an_unknown_name_keeps_its_unit(name: str, tmp_path: Path) -> None:
    columns = {"time_s": T, "current_A": CHARGE, name: 1e3 * V}
    with pytest.raises(FileRefused) as refused:
        got(tmp_path, columns)
    assert f'column_map={{"{name}": "Voltage [V]"}}' in str(refused.value)
    is_the_test(got(tmp_path, columns, column_map={name: "Voltage [V]"})[1])


@pytest.mark.parametrize(
    ("text", "base", "value"),
    [
        ("MΩ", "Ohm", 1e6), ("MOhm", "Ohm", 1e6), ("mΩ", "Ohm", 1e-3), ("kΩ", "Ohm", 1e3), ("µΩ", "Ohm", 1e-6),
        ("milliohms", "Ohm", 1e-3), ("kHz", "Hz", 1e3), ("MHz", "Hz", 1e6), ("mHz", "Hz", 1e-3), ("MA", "A", 1e-3),
        ("mAh", "A.h", 1e-3), ("milliampere hours", "A.h", 1e-3), ("mWh", "W.h", 1e-3), ("°", "deg", 1.0),
        ("K", "degC", -272.15), ("ms", "s", 1e-3),
    ],
)  # fmt: skip
def test_prefixes(text: str, base: str, value: float) -> None:
    unit = unit_of(text)
    assert unit is not None
    assert unit.base == base
    assert unit.convert(np.ones(1))[0] == pytest.approx(value)


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize(
    ("of_time", "of_current", "time_in", "current_in"),
    [
        (1 / 3600, 1e3, "h", "mA"),
        (1 / 60, 1.0, "min", "A"),
        (1.0, 1e3, "s", "mA"),
        (1e3, 1.0, "ms", "A"),
        (1 / 60, 1e6, "min", "uA"),
    ],
)
def test_a_counter_proves_the_units_of_time_and_current_together(
    of_time: float, of_current: float, time_in: str, current_in: str, parquet: bool, tmp_path: Path
) -> None:
    columns = {"Time": of_time * T, "Current": of_current * CHARGE, "Voltage": V, "Capacity (mAh)": 1e3 * PASSED}
    reading, table = got(tmp_path, columns, parquet=parquet)
    is_the_test(table)
    assert [said.partition(":")[0] for said in proved(reading)] == [
        f"'Current' was read in {current_in}",
        f"'Time' was read in {time_in}",
    ]


def dates(seconds: np.ndarray) -> np.ndarray:
    return (
        (pd.Timestamp("2024-05-13 10:00:00") + pd.to_timedelta(seconds, "s"))
        .strftime("%Y-%m-%d %H:%M:%S")
        .to_numpy()
    )


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize(("times", "unit"), [(T / 60, "min"), (T / 3600, "h"), (1e3 * T, "ms")])
def test_a_clock_shows_that_the_header_names_the_wrong_unit_of_time(
    times: np.ndarray, unit: str, parquet: bool, tmp_path: Path
) -> None:
    columns = {"Date": dates(T), "Time (s)": times, "Current (A)": CHARGE, "Voltage (V)": V}
    reading, _ = got(tmp_path, columns, parquet=parquet)
    (note,) = [note for note in reading.notes if note.code == "time_unit"]
    assert note.level == "odd"
    assert note.message.endswith(f'If so, say column_map={{"Time (s)": "Time [{unit}]"}}.')
    mapped, table = got(tmp_path, columns, parquet=parquet, column_map={"Time (s)": f"Time [{unit}]"})
    is_the_test(table)
    assert "time_unit" not in {note.code for note in mapped.notes}


def test_a_time_that_agrees_with_the_clock_or_was_paused_is_no_warning(tmp_path: Path) -> None:
    for seconds in (T, T + np.where(T > 600, 4000.0, 0.0)):
        columns = {"Date": dates(seconds), "Time (s)": T, "Current (A)": CHARGE, "Voltage (V)": V}
        assert "time_unit" not in {note.code for note in got(tmp_path, columns)[0].notes}


@pytest.mark.parametrize("parquet", [False, True])
def test_a_temperature_beside_dates_is_not_the_time(parquet: bool, tmp_path: Path) -> None:
    columns = {"Date": dates(T), "T": 25 + T / 1000, "I": CHARGE, "V": V}
    reading, table = got(tmp_path, columns, parquet=parquet)
    is_the_test(table)
    assert table["T"].floats() == pytest.approx(columns["T"])
    assert "not_time" in {note.code for note in reading.notes}
    is_the_test(got(tmp_path, columns | {"T": T / 60}, parquet=parquet)[1])


@pytest.mark.parametrize("parquet", [False, True])
def test_a_time_without_a_unit_is_read_as_the_clock_shows(parquet: bool, tmp_path: Path) -> None:
    columns = {"Date": dates(T), "Time": T / 60, "Current (A)": CHARGE, "Voltage (V)": V}
    is_the_test(got(tmp_path, columns, parquet=parquet)[1])
    columns["Time"] = T * 7 / 60
    reading, _ = got(tmp_path, columns, parquet=parquet)
    (note,) = [note for note in reading.notes if note.level == "odd"]
    assert "the clock times in 'Date' go on by 1190 s" in note.message


@pytest.mark.parametrize(("over", "unit"), [(60.0, "min"), (3600.0, "h"), (86400.0, "d")])
def test_intervals_that_are_whole_seconds_in_another_unit_are_a_warning(
    over: float, unit: str, tmp_path: Path
) -> None:
    reading, _ = got(tmp_path, {"Time": T / over, "Current (A)": CHARGE, "Voltage (V)": V})
    assert f"Time [{unit}]" in next(note.message for note in reading.notes if note.level == "odd")
    for fine in (T / 1e3, T / 10, T / 80):
        notes = got(tmp_path, {"Time": fine, "Current (A)": CHARGE, "Voltage (V)": V})[0].notes
        assert "time_unit" not in {note.code for note in notes if note.level == "odd"}


@pytest.mark.parametrize("parquet", [False, True])
def test_a_clock_of_whole_minutes_is_a_warning(parquet: bool, tmp_path: Path) -> None:
    columns = {"Date": dates(T // 60 * 60), "Current (A)": CHARGE, "Voltage (V)": V}
    reading, _ = got(tmp_path, columns, parquet=parquet)
    (note,) = [note for note in reading.notes if note.code == "coarse_clock"]
    assert "'Date' goes on by 60 s at a time" in note.message
    reading, _ = got(tmp_path, {"Date": dates(T), "Current (A)": CHARGE, "Voltage (V)": V})
    assert "coarse_clock" not in {note.code for note in reading.notes}


@pytest.mark.parametrize("parquet", [False, True])
@pytest.mark.parametrize(("factor", "charge", "work"), [(1e3, "mA.h", "mW.h"), (3600.0, "A.s", "J")])
def test_the_current_proves_the_units_of_counters(
    factor: float, charge: str, work: str, parquet: bool, tmp_path: Path
) -> None:
    up = {"Charge capacity": PASSED, "Charge energy": WORK}
    first = np.where(T < 600, 1.0, 0.0)
    columns = {"Time (s)": T, "Current (A)": CHARGE * first, "Voltage (V)": V}
    columns |= {name: factor * np.where(first > 0, values, values[59]) for name, values in up.items()}
    reading, table = got(tmp_path, columns, parquet=parquet)
    assert table["Charge capacity [A.h]"].floats()[-1] == pytest.approx(PASSED[59])
    assert table["Charge energy [W.h]"].floats()[-1] == pytest.approx(WORK[59])
    assert [said.partition(":")[0] for said in proved(reading)] == [
        f"'Charge capacity' was read in {charge}",
        f"'Charge energy' was read in {work}",
    ]


def test_a_current_of_which_most_values_cannot_be_read_is_refused(tmp_path: Path) -> None:
    texts = np.array([f"{abs(flow):.2f} {'C' if flow > 0 else 'D'}" if flow else "0.0" for flow in CHARGE])
    with pytest.raises(FileRefused, match=r"Most values in 'Current \(A\)' .* are not numbers \('1.50 C'\)"):
        got(tmp_path, {"Time (s)": T, "Voltage (V)": V, "Current (A)": texts})
    texts = np.where(CHARGE == 0, "open", CHARGE.astype(str))
    assert got(tmp_path, {"Time (s)": T, "Voltage (V)": V, "Current (A)": texts})[1].n == N


@pytest.mark.parametrize("parquet", [False, True])
def test_the_c_of_a_charge_is_the_coulomb(parquet: bool, tmp_path: Path) -> None:
    """Of a temperature it is the degree Celsius."""
    columns = {"Time (s)": T, "Current (A)": CHARGE, "Voltage (V)": V, "Temp (C)": 25.0 + V}
    _, table = got(tmp_path, {**columns, "Charge Capacity (C)": PASSED * 3600}, parquet=parquet)
    assert table["Charge capacity [A.h]"].floats() == pytest.approx(PASSED)
    assert table["Temperature [degC]"].floats() == pytest.approx(25.0 + V)


def test_a_current_comes_from_a_charge_in_coulombs(tmp_path: Path) -> None:
    """Such a text of EC-Lab could not be read."""
    columns = {"time/s": T, "Ewe/V": V, "dQ/C": CHARGE * 10}
    reading, table = got(tmp_path, columns)
    assert reading.format == "biologic"
    assert table["Current [A]"].floats()[1:] == pytest.approx(-CHARGE[1:])
