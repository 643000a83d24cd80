"""Exports of makers and programs that no sample is kept of: look-alikes of one made test, checked by their charge."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
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
