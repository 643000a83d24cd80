"""Exports of makers and programs that no sample is kept of: look-alikes of one made test, checked by their charge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
from numpy.typing import NDArray

from workbench.errors import FileRefused
from workbench.readers import Reading, read
from workbench.table import Table, concat

# Rest, charge with 2 A, rest, discharge with 1.5 A: twenty samples each, one every 10 s.
N = 80
SEGMENT = np.arange(N) // 20
TIME = 10.0 * np.arange(N)
CHARGING = np.array([0.0, 2.0, 0.0, -1.5])[SEGMENT]
VOLTS = 3.6 + np.array([0.0, 0.1, 0.02, -0.1])[SEGMENT] + 0.002 * (np.arange(N) % 20) * np.sign(CHARGING)


def passed(time: NDArray[np.float64], current: NDArray[np.float64]) -> float:
    """A.h: the integral of the part of a current above zero, by trapezoids."""
    flow = np.maximum(current, 0.0)
    return float(((flow[1:] + flow[:-1]) / 2 * np.diff(time)).sum()) / 3600


def rows(write: Callable[[int], str]) -> str:
    return "".join(write(n) + "\n" for n in range(N))


def got(folder: Path, text: str | bytes, name: str = "file.csv") -> tuple[Reading, Table]:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    reading = read(path)
    return reading, concat(list(reading.batches))


def holds(table: Table, *, times: NDArray[np.float64] = TIME, current: NDArray[np.float64] = CHARGING) -> None:
    """The table is the test: its samples, and the charge that passes in either direction."""
    assert table["Time [s]"].floats() == pytest.approx(times, abs=1e-3)
    ours = table["Current [A]"].floats()
    assert ours == pytest.approx(-current, abs=1e-9)
    for way in (1, -1):
        assert passed(table["Time [s]"].floats(), way * ours) == pytest.approx(
            passed(times, -way * current), rel=1e-5
        )


def codes(reading: Reading) -> set[str]:
    return {note.code for note in reading.notes}


@pytest.mark.parametrize(
    "write",
    [
        lambda value: f"{value:,.2f}".replace(",", "\u00a0").replace(".", ","),
        lambda value: f"{value:,.2f}".replace(",", "\u202f").replace(".", ","),
        lambda value: f"{value:,.2f}".replace(",", " ").replace(".", ","),
        lambda value: f"{value:,.2f}".replace(",", ".")[::-1].replace(".", ",", 1)[::-1],
    ],
)
def test_thousands_as_other_countries_write_them(write: Callable[[float], str], tmp_path: Path) -> None:
    text = "Zeit [s];Spannung [V];Strom [mA]\n"
    text += rows(lambda n: f"{int(TIME[n])};{VOLTS[n]:.4f};".replace(".", ",") + write(1000 * CHARGING[n]))
    reading, table = got(tmp_path, text)
    holds(table)
    assert "unreadable_values" not in codes(reading)


def test_thousands_with_an_apostrophe(tmp_path: Path) -> None:
    text = "Time [s];Voltage [V];Current [mA]\n"
    text += rows(lambda n: f"{TIME[n]};{VOLTS[n]:.4f};{1000 * CHARGING[n]:,.2f}".replace(",", "'"))
    holds(got(tmp_path, text)[1])


@pytest.mark.parametrize("minus", ["\u2212", "\u2013"])
def test_a_minus_of_a_word_processor(minus: str, tmp_path: Path) -> None:
    text = "Time (s),Voltage (V),Current (A)\n" + rows(lambda n: f"{TIME[n]},{VOLTS[n]:.4f},{CHARGING[n]}")
    reading, table = got(tmp_path, text.replace("-", minus))
    holds(table)
    assert "unreadable_values" not in codes(reading)


@pytest.mark.parametrize(("unit", "of_one"), [("(hh:mm)", 60.0), ("[h:min]", 60.0), ("(mm:ss)", 1.0), ("", 1.0)])
def test_times_of_two_parts_end_in_what_the_header_says(unit: str, of_one: float, tmp_path: Path) -> None:
    text = f"Time {unit},Voltage (V),Current (A)\n"
    text += rows(lambda n: f"{int(TIME[n]) // 60:02}:{int(TIME[n]) % 60:02},{VOLTS[n]:.4f},{CHARGING[n]}")
    holds(got(tmp_path, text)[1], times=of_one * TIME)


@pytest.mark.parametrize("header", ["Current (mA/g)", "I(A/cm2)", "Current density [mA cm^-2]", "I [A g-1]"])
def test_a_current_per_mass_or_area_is_never_offered_as_that_of_the_cell(header: str, tmp_path: Path) -> None:
    text = f"Time (s),Voltage (V),{header}\n" + rows(lambda n: f"{TIME[n]},{VOLTS[n]:.4f},{CHARGING[n]}")
    with pytest.raises(FileRefused, match="per mass or area") as refused:
        got(tmp_path, text)
    assert '"Current [A]"' not in str(refused.value)


UNIX = 1715594400.0  # 13 May 2024, 10:00 UTC


@pytest.mark.parametrize(
    ("header", "write"),
    [
        ("timestamp", lambda t: f"{UNIX + t:.0f}"),
        ("timestamp", lambda t: f"{1e3 * (UNIX + t):.0f}"),
        ("timestamp", lambda t: f"{int(UNIX + t) * 1_000_000_000}"),
        ("Date", lambda t: f"{25569 + (UNIX + t) / 86400:.10f}"),
        ("datetime", lambda t: f"{719529 + (UNIX + t) / 86400:.10f}"),
    ],
)
def test_a_clock_that_is_a_number_gives_the_time(
    header: str, write: Callable[[float], str], tmp_path: Path
) -> None:
    text = f"{header},Voltage (V),Current (A)\n"
    text += rows(lambda n: f"{write(float(TIME[n]))},{VOLTS[n]:.4f},{CHARGING[n]}")
    reading, table = got(tmp_path, text)
    holds(table)
    assert reading.start_time is not None
    assert abs(reading.start_time.timestamp() - UNIX) < 1e-3
    assert "time_from_clock" in codes(reading)
    typed = pa.table(
        {header: [float(write(float(t))) for t in TIME], "Voltage (V)": VOLTS, "Current (A)": CHARGING}
    )
    pq.write_table(typed, tmp_path / "file.parquet")
    holds(concat(list(read(tmp_path / "file.parquet").batches)))


def test_a_column_of_whole_days_is_not_a_time(tmp_path: Path) -> None:
    text = "Date,Voltage (V),Current (A)\n" + rows(lambda n: f"45425,{VOLTS[n]:.4f},{CHARGING[n]}")
    with pytest.raises(FileRefused, match=r"'Date' of 'file\.csv' \(45425\) are not times of a clock"):
        got(tmp_path, text)


@pytest.mark.parametrize("clock", ["0", "unix", "none"])
def test_the_time_of_german_digatron_is_in_milliseconds(clock: str, tmp_path: Path) -> None:
    words = ("PAU", "LAD", "PAU", "ELA")
    zeit = {"0": lambda n: "0", "unix": lambda n: f"{UNIX + TIME[n]:.0f}", "none": lambda n: ""}[clock]
    text = "Schritt,Zustand,Zeit,Programmdauer,Zyklus,Spannung,Strom\n"
    text += rows(
        lambda n: f"{SEGMENT[n] + 1},{words[SEGMENT[n]]},{zeit(n)},{1000 * TIME[n]:.0f},1,{VOLTS[n]},{CHARGING[n]}"
    )
    reading, table = got(tmp_path, text)
    assert reading.format == "digatron"
    holds(table)
    assert "Time [ms]" in next(note.fix for note in reading.notes if note.code == "time_unit")


def fine(*, gap: float = 0.0) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Rows of Neware with a clock of whole seconds and times within steps in ms, and the true times and currents.

    Samples every 0.1 s; a pause of ``gap`` before the last step.
    """
    lines, times, currents = [], [], []
    begun = 0.4
    for step, (current, word) in enumerate([(0.0, "Rest"), (2.0, "CC Chg"), (0.0, "Rest"), (-1.5, "CC DChg")]):
        begun += gap if step == 3 else 0.0
        for tenth in range(36):
            time = begun + tenth / 10
            clock = f"2024-05-13 10:{int(time) // 60:02}:{int(time) % 60:02}"
            within = f"00:00:{tenth / 10:06.3f}"
            lines.append(
                f"{len(lines)},1,{step + 1},{word},{within},{3.6 + current / 20},{1000 * current},0,{clock}"
            )
            times.append(time - 0.4)
            currents.append(current)
        begun += 3.5
    return lines, np.array(times), np.array(currents)


HEADER = (
    "Record number,Cycle number,Step number,State,Time(h:min:s.ms),Voltage(V),Current(mA),Capacity(mAh),"
    "Absolute Time"
)


def test_times_within_steps_are_used_where_they_are_finer_than_the_clock(tmp_path: Path) -> None:
    lines, times, currents = fine()
    reading, table = got(tmp_path, "\n".join([HEADER, *lines]))
    assert reading.format == "neware"
    holds(table, times=times, current=currents)
    assert "finer" in next(note.message for note in reading.notes if note.code == "time_from_clock")


def test_a_pause_between_steps_stays_where_times_within_steps_are_finer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", 7)
    lines, times, _ = fine(gap=50.0)
    _, table = got(tmp_path, "\n".join([HEADER, *lines]))
    ours = table["Time [s]"].floats()
    assert ours[:108] == pytest.approx(times[:108], abs=1e-6)
    assert ours == pytest.approx(times, abs=1.0)
    assert np.diff(ours)[108:] == pytest.approx(0.1, abs=1e-6)


def test_a_column_that_is_no_time_within_steps_does_not_change_the_clock(tmp_path: Path) -> None:
    lines, times, _ = fine()
    other = [line.replace(",00:00:0", ",00:07:0") if n % 2 else line for n, line in enumerate(lines)]
    _, table = got(tmp_path, "\n".join([HEADER, *other]))
    assert table["Time [s]"].floats() == pytest.approx(np.floor(times + 0.4), abs=1e-9)


BASYTEC = (
    "~Resultfile from Basytec Battery Test System\n~Battery: X1(16)\n~Start of Test: 13.05.2024 10:00:00\n~\n"
)


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("decimal", [".", ","])
def test_basytec_with_blanks_between_fields(dated: bool, decimal: str, tmp_path: Path) -> None:
    words = ("Pause", "Charge", "Pause", "Discharge")
    clock = "DateTime " if dated else ""
    text = f"{BASYTEC}~Time[h] DataSet {clock}t-Step[h] Line Command U[V] I[A] Ah[Ah] T1[°C] Cyc-Count State\n"
    for n in range(N):
        day = f"13.05.2024 10:{int(TIME[n]) // 60:02}:{int(TIME[n]) % 60:02} " if dated else ""
        measured = f"{VOLTS[n]:.4f} {CHARGING[n]} 0.0 25.5".replace(".", decimal)
        hours = f"{TIME[n] / 3600:.8f}".replace(".", decimal)
        text += f"{hours} {n} {day}0 {SEGMENT[n] + 1} {words[SEGMENT[n]]} {measured} 1 0\n"
    reading, table = got(tmp_path, text.encode("latin-1"), "file.txt")
    assert reading.format == "basytec-blanks"
    holds(table)
    assert table["Voltage [V]"].floats() == pytest.approx(VOLTS, abs=1e-4)
    assert table["Temperature [degC]"].floats() == pytest.approx(25.5)
    assert reading.start_time is not None
    assert (reading.start_time.month, reading.start_time.day) == (5, 13)


@pytest.mark.parametrize(
    "header",
    [
        "Time/s   Voltage/V   Current/A",
        "   Time (s)   Voltage (V)   Current (A)",
        "% time[s] voltage[V] current[A]",
    ],
)
def test_text_in_columns_of_blanks(header: str, tmp_path: Path) -> None:
    text = f"A test of a cell\n\n{header}\n" + rows(
        lambda n: f"{TIME[n]:12.3f}{VOLTS[n]:12.4f}{CHARGING[n]:12.4f}"
    )
    reading, table = got(tmp_path, text, "file.txt")
    assert reading.format == "delimited-blanks"
    holds(table)


def test_a_row_of_blanks_that_lacks_a_field_is_never_shifted(tmp_path: Path) -> None:
    lines = [f"{TIME[n]:12.3f}{VOLTS[n]:12.4f}{CHARGING[n]:12.4f}{25.0:12.1f}" for n in range(N)]
    lines[50] = f"{TIME[50]:12.3f}{CHARGING[50]:12.4f}{25.0:12.1f}"
    reading, table = got(
        tmp_path, "Time/s Voltage/V Current/A Temperature/C\n" + "\n".join(lines) + "\n", "file.txt"
    )
    assert table.n == N - 1
    assert table["Voltage [V]"].floats() == pytest.approx(np.delete(VOLTS, 50), abs=1e-4)
    assert "'500.000 0.0000 25.0'" in next(
        note.message for note in reading.notes if note.code == "unreadable_values"
    )


def of_matlab(folder: Path, structure: dict[str, object]) -> tuple[Reading, Table]:
    scipy.io.savemat(folder / "file.mat", {"data": structure})
    reading = read(folder / "file.mat")
    return reading, concat(list(reading.batches))


@pytest.mark.parametrize(
    "beside",
    [
        {"units": {"time": "s", "current": "mA", "voltage": "V"}},
        {"Unit": {"current": "mA", "voltage": "V"}},
        {"current_unit": "mA"},
    ],
)
def test_units_beside_the_vectors_of_a_structure_count(beside: dict[str, object], tmp_path: Path) -> None:
    vectors = {"time": TIME, "current": 1000 * CHARGING, "voltage": VOLTS}
    reading, table = of_matlab(tmp_path, {**vectors, **beside, "cell_id": "A1"})
    holds(table)
    assert "'current' names no unit. It was read in A." not in {note.message for note in reading.notes}


def test_a_unit_that_a_structure_does_not_say_is_reported(tmp_path: Path) -> None:
    reading, table = of_matlab(
        tmp_path, {"time": TIME, "current": CHARGING, "voltage_V": VOLTS, "units": {"time": "s"}}
    )
    holds(table)
    assert [note.message for note in reading.notes if note.code in ("unit", "time_unit")] == [
        "'current' names no unit. It was read in A."
    ]


def test_the_steps_of_a_structure_and_the_time_of_german_digatron(tmp_path: Path) -> None:
    vectors = {"Programmdauer": 1000 * TIME, "Strom": CHARGING, "Spannung": VOLTS, "Schritt": SEGMENT + 1}
    _, table = of_matlab(tmp_path, vectors)
    holds(table)
    assert table["Step from cycler"].floats() == pytest.approx(SEGMENT + 1)


@pytest.mark.parametrize(
    "header",
    [
        "so long,voltage,current,capacity",
        "time (s),voltage (V),I_of_cell,SOC",
        "TestTimer(s),Voltage(V),CellAmps(A),Capacity(Ah)",
        "Time(s),Voltage(V),Load,Capacity(Ah)",
    ],
)
def test_a_test_whose_time_or_current_has_another_name_is_no_open_circuit_curve(
    header: str, tmp_path: Path
) -> None:
    text = header + "\n" + rows(lambda n: f"{TIME[n]},{VOLTS[n]:.4f},{CHARGING[n]},0.5")
    with pytest.raises(FileRefused, match=r"no column that is known as (time|current)") as refused:
        got(tmp_path, text)
    assert 'format="open-circuit"' in str(refused.value)
    curve = read(tmp_path / "file.csv", format="open-circuit")
    assert concat(list(curve.batches))["Voltage [V]"].floats() == pytest.approx(VOLTS, abs=1e-4)
    columns = np.array([TIME, VOLTS, CHARGING, TIME])
    pq.write_table(pa.table(dict(zip(header.split(","), columns, strict=True))), tmp_path / "file.parquet")
    with pytest.raises(FileRefused, match=r"no column that is known as (time|current)"):
        read(tmp_path / "file.parquet")


@pytest.mark.parametrize(
    "header",
    [
        "时间（s）,电流（mA）,电压（mV）",
        "経過時間／秒,電流／mA,電圧／mV",
        "时间(毫秒),电流(毫安),电压(毫伏)",
    ],
)
def test_wide_marks_and_eastern_units_in_a_header(header: str, tmp_path: Path) -> None:
    times = 1000.0 if "毫秒" in header else 1.0
    text = header + "\n" + rows(lambda n: f"{TIME[n] * times},{CHARGING[n] * 1e3},{VOLTS[n] * 1e3:.1f}")
    _, table = got(tmp_path, text)
    holds(table)
    assert table["Voltage [V]"].floats() == pytest.approx(VOLTS, abs=1e-4)


def by(mark: str, value: float, digits: int = 0) -> str:
    """A number with this mark between its thousands, and the other one as its decimal mark."""
    text = f"{value:,.{digits}f}"
    return text if mark == "," else text.replace(",", "\0").replace(".", ",").replace("\0", ".")


LATE = 20.0 * np.arange(N)


@pytest.mark.parametrize("mark", [",", "."])
@pytest.mark.parametrize("volts", ["V", "mV"])
def test_thousands_of_whole_numbers_are_no_decimals(mark: str, volts: str, tmp_path: Path) -> None:
    def write(n: int) -> str:
        voltage = by(mark, VOLTS[n], 4) if volts == "V" else by(mark, VOLTS[n] * 1e3)
        return f"{by(mark, LATE[n])};{by(mark, CHARGING[n] * 1e3)};{voltage}"

    _, table = got(tmp_path, f"Time [s];Current [mA];Voltage [{volts}]\n" + rows(write))
    holds(table, times=LATE)
    assert table["Voltage [V]"].floats() == pytest.approx(VOLTS, abs=1e-3)


@pytest.mark.parametrize("unit", ["A", "mA"])
@pytest.mark.parametrize("mark", [",", "."])
def test_three_decimals_are_no_thousands(unit: str, mark: str, tmp_path: Path) -> None:
    def point(value: float) -> str:
        return f"{value:.3f}".replace(".", mark)

    text = f"Time [s];Current [{unit}];Voltage [V]\n"
    text += rows(lambda n: f"{TIME[n]:.0f};{point(CHARGING[n])};{point(VOLTS[n])}")
    _, table = got(tmp_path, text)
    holds(table, current=CHARGING if unit == "A" else CHARGING / 1e3)
    assert table["Voltage [V]"].floats() == pytest.approx(VOLTS, abs=1e-3)


@pytest.mark.parametrize("minus", ["({})", "( {} )", "{}-"])
def test_a_minus_around_or_behind_a_number(minus: str, tmp_path: Path) -> None:
    def amps(n: int) -> str:
        return minus.format(f"{-CHARGING[n]:.2f}") if CHARGING[n] < 0 else f"{CHARGING[n]:.2f}"

    reading, table = got(
        tmp_path, "time (s),I (A),U (V)\n" + rows(lambda n: f"{TIME[n]},{amps(n)},{VOLTS[n]:.4f}")
    )
    holds(table)
    assert "unreadable_values" not in codes(reading)


@pytest.mark.parametrize(("amps", "volts"), [("{} A", "{}"), ("{}", "{} V")])
def test_a_column_of_which_nothing_can_be_read_is_refused(amps: str, volts: str, tmp_path: Path) -> None:
    text = "time (s),I (A),U (V)\n"
    text += rows(lambda n: f"{TIME[n]},{amps.format(CHARGING[n])},{volts.format(VOLTS[n])}")
    with pytest.raises(FileRefused, match=r"No value in '[IU] .*with their unit in the header"):
        got(tmp_path, text)


def test_texts_in_a_parquet_column_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "file.parquet"
    columns = {"time": TIME, "current": CHARGING, "voltage": VOLTS}
    pq.write_table(pa.table({**columns, "current": [f"{value} A" for value in CHARGING]}), path)
    with pytest.raises(FileRefused, match="No value in 'current'"):
        read(path)
    degrees = ["25.0", "", "n/a", "too hot", None, "25"] + ["25"] * (N - 6)
    pq.write_table(pa.table({**columns, "current": CHARGING.astype(str), "temperature": degrees}), path)
    reading = read(path)
    holds(concat(list(reading.batches)))
    assert [note.message for note in reading.notes if note.code == "unreadable_values"] == [
        "2 values in 'temperature' could not be read and are left empty."
    ]


@pytest.mark.parametrize(
    "below", ["时间(s),电压(V),电流(A)", "Time(s),Voltage(V),Current(A)", "Time(s),Current(A)"]
)
def test_a_table_below_with_the_same_names_in_another_order_is_left_out(below: str, tmp_path: Path) -> None:
    above = rows(lambda n: f"{TIME[n]},{CHARGING[n]},{VOLTS[n]:.4f}")
    other = rows(lambda n: f"{TIME[n]},{VOLTS[n]:.4f},{CHARGING[n]}")
    reading, table = got(tmp_path, f"Time(s),Current(A),Voltage(V)\n{above}\n{below}\n{other}")
    holds(table)
    assert "other_table" in codes(reading)
    reading, table = got(
        tmp_path, f"Time(s),Current(A),Voltage(V),,\n{above}time(s),Current(A) ,Voltage(V)\n{above}"
    )
    assert table.n == 2 * N
    assert "other_table" not in codes(reading)


def test_advice_for_columns_that_cannot_be_mapped_as_they_are(tmp_path: Path) -> None:
    text = "time(s),Charge Current(A),Discharge Current(A),Voltage(V)\n"
    text += rows(lambda n: f"{TIME[n]},{max(CHARGING[n], 0)},{max(-CHARGING[n], 0)},{VOLTS[n]}")
    with pytest.raises(FileRefused, match="one current in two columns") as refused:
        got(tmp_path, text)
    assert '"Current [A]"' not in str(refused.value)
    text = "time(s),Current(x10mA),Voltage(V)\n" + rows(lambda n: f"{TIME[n]},{CHARGING[n] * 100},{VOLTS[n]}")
    with pytest.raises(FileRefused, match=r"The unit 'x10mA' is not known: .*such as 'Current \[mA\]'"):
        got(tmp_path, text)
