"""Which direction of a current a text file means: as it is said, by states, by its voltage. All files are our own."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from support.text_file import PLAIN, file, notes, table

from workbench.errors import BadRequest, FileRefused
from workbench.messages import typed_in
from workbench.readers import read


def test_the_sign_can_be_said(tmp_path: Path) -> None:
    path = file(tmp_path, PLAIN)
    assert table(path, sign="discharge")["Current [A]"].tolist() == [0.0, 1.0, 1.0, -1.0, -1.0]
    assert table(path, sign="charge")["Current [A]"].tolist() == [0.0, -1.0, -1.0, 1.0, 1.0]
    with pytest.raises(BadRequest, match="Did you mean 'discharge'"):
        read(path, sign="discharg")
    with pytest.raises(BadRequest, match=r"no format 'newar'.*'neware'"):
        read(path, format="newar")


def test_a_power_has_the_sign_of_the_current(tmp_path: Path) -> None:
    rows = [(0, 0, 3.5), (10, -1, 3.3), (20, -1, 3.2), (30, 0, 3.4), (40, 1, 3.6), (50, 1, 3.7)]
    text = "time [s],current [A],voltage [V],Power [W]\n" + "".join(f"{t},{i},{v},{i * v}\n" for t, i, v in rows)
    expected = [0.0, 3.3, 3.2, 0.0, -3.6, -3.7]
    path = file(tmp_path, text)
    assert table(path)["Current [A]"].tolist() == [0.0, 1.0, 1.0, 0.0, -1.0, -1.0]
    assert table(path)["Power [W]"].tolist() == expected
    assert table(path, sign="discharge")["Power [W]"].tolist() == [0.0 - value for value in expected]
    pd.read_csv(path).to_parquet(tmp_path / "test.parquet")
    assert table(tmp_path / "test.parquet")["Power [W]"].tolist() == expected
    bdf = text.replace(
        "time [s],current [A],voltage [V],Power [W]", "test_time_second,current_ampere,voltage_volt,power_watt"
    )
    (tmp_path / "test.bdf.csv").write_text(bdf)
    assert table(tmp_path / "test.bdf.csv")["Power [W]"].tolist() == expected
    unsigned = "time [s],current [A],voltage [V],Power [W]\n"
    unsigned += "".join(f"{t},{i},{v},{abs(i * v)}\n" for t, i, v in rows)
    assert table(file(tmp_path, unsigned))["Power [W]"].tolist() == expected


def test_a_direction_that_cannot_be_known_is_refused(tmp_path: Path) -> None:
    text = "time [s],current [A],voltage [V]\n" + "".join(f"{t},{(-1) ** t}.0,3.5\n" for t in range(10))
    with pytest.raises(FileRefused, match='sign="charge" or sign="discharge"'):
        read(file(tmp_path, text))
    assert table(file(tmp_path, text), sign="charge").n == 10
    unsigned = "time [s],current [A],voltage [V]\n" + "".join(f"{t},1.0,3.5\n" for t in range(10))
    with typed_in("terminal"), pytest.raises(FileRefused, match="--sign charge or --sign discharge"):
        read(file(tmp_path, unsigned))


def test_a_positive_discharge_is_found_by_its_voltage(tmp_path: Path) -> None:
    text = "t [s],I [A],U [V]\n0,0,3.5\n10,1,3.3\n20,1,3.2\n30,0,3.4\n40,-1,3.6\n50,-1,3.7\n"
    path = file(tmp_path, text)
    assert table(path)["Current [A]"].tolist() == [0.0, 1.0, 1.0, 0.0, -1.0, -1.0]
    assert "positive current discharges" in notes(path)["sign_from_voltage"]


def with_modes(words: tuple[str, str, str], *, signed: float | None = None) -> str:
    """Charge, rest and discharge at 1 A and a voltage that does not move; ``signed``: the sign of a discharge."""
    lines = ["time [s],current [A],voltage [V],Mode"]
    for step, (word, way) in enumerate(zip(words, (-1.0, 0.0, 1.0), strict=True)):
        current = abs(way) if signed is None else way * signed
        lines += [f"{10 * step + n},{current},3.5,{word}" for n in range(10)]
    return "\n".join(lines)


MODES = [
    ("CC Chg", "Rest", "CC DChg"), ("CC_Charge", "Rest", "CC_Discharge"), ("C", "R", "D"),
    ("CCCV Chg", "Rest", "Disch"), ("Charging", "Idle", "Discharging"), ("CHA", "OCV", "DIS"),
    ("Laden", "Pause", "Entladen"),
]  # fmt: skip


@pytest.mark.parametrize("words", MODES)
@pytest.mark.parametrize("signed", [None, 1.0, -1.0])
def test_words_of_a_state_say_the_direction(
    words: tuple[str, str, str], signed: float | None, tmp_path: Path
) -> None:
    path = file(tmp_path, with_modes(words, signed=signed))
    assert table(path)["Current [A]"].tolist() == [-1.0] * 10 + [0.0] * 10 + [1.0] * 10
    assert "'Mode'" in notes(path)["sign_from_state"]
    assert read(path).sign.means == {None: "unsigned", 1.0: "discharge", -1.0: "charge"}[signed]


def test_a_mode_that_says_nothing_of_the_direction_is_not_asked(tmp_path: Path) -> None:
    path = file(tmp_path, with_modes(("galvanostatic", "rest", "charge/discharge")))
    with pytest.raises(FileRefused, match="has no sign"):
        read(path)


UNSIGNED = [
    # step, state, current, voltages
    (1, "R", 0.0, [3.50, 3.50]),
    (2, "C", 1.0, [3.60, 3.70, 3.80]),
    (3, "C", 0.5, [3.80, 3.80, 3.80]),
    (4, "R", 0.0, [3.75, 3.74]),
    (5, "D", 1.0, [3.60, 3.50, 3.40]),
    (6, "S", 0.0, [3.50]),
]


def maccor_lines(state: bool = True) -> str:
    head = "Today's Date:\t01 January 2024\tDate of Test:\t01 January 2024, 10:00:00 AM\n\n"
    lines = ["Rec#\tCyc#\tStep\tTestTime\tStepTime\tAmp-hr\tWatt-hr\tAmps\tVolts\tState\tES\tDPt Time"]
    time = 0
    for step, word, current, voltages in UNSIGNED:
        for place, voltage in enumerate(voltages):
            clock = f"{time // 60:02d}:{time % 60:02d}"
            fields = [len(lines), 0, step, f"  0d 00:{time // 60:02d}:{time % 60}", "0d 00:00:0"]
            fields += [f"{place * current:.3f}", f"{place * current * 4:.3f}", current, voltage, word, 1]
            fields.append(f"01/01/2024 10:{clock}")
            lines.append("\t".join(map(str, fields)))
            time += 10
    if not state:
        lines = ["\t".join(field for place, field in enumerate(line.split("\t")) if place != 9) for line in lines]
    return head + "\n".join(lines) + "\n"


EXPECTED = [0.0, 0.0, -1.0, -1.0, -1.0, -0.5, -0.5, -0.5, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0]


def test_an_unsigned_current_takes_its_direction_from_the_state(tmp_path: Path) -> None:
    made = table(file(tmp_path, maccor_lines()))
    assert made["Current [A]"].tolist() == EXPECTED
    assert made["Charge capacity [A.h]"].tolist()[2:8] == [0.0, 1.0, 2.0, 0.0, 0.5, 1.0]
    assert made["Discharge capacity [A.h]"].tolist()[-4:] == [0.0, 1.0, 2.0, 0.0]
    assert made["Discharge energy [W.h]"].tolist()[-2] == 8.0
    assert made["Time [s]"].tolist() == [10.0 * place for place in range(14)]


@pytest.mark.parametrize("rows", [262_144, 3])
def test_an_unsigned_current_without_state_takes_it_from_the_voltage(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", rows)
    path = file(tmp_path, maccor_lines(state=False))
    assert table(path)["Current [A]"].tolist() == EXPECTED
    assert "sign_from_voltage" in notes(path)


def test_a_sign_that_is_said_goes_before_states_and_voltage(tmp_path: Path) -> None:
    for state in (True, False):
        made = table(file(tmp_path, maccor_lines(state)), sign="discharge")
        assert made["Current [A]"].tolist() == [abs(current) for current in EXPECTED]


def test_a_signed_maccor_current_is_turned(tmp_path: Path) -> None:
    text = maccor_lines().replace("\t1.0\t3.6\tD", "\t-1.0\t3.6\tD").replace("\t1.0\t3.5\tD", "\t-1.0\t3.5\tD")
    text = text.replace("\t1.0\t3.4\tD", "\t-1.0\t3.4\tD")
    assert table(file(tmp_path, text))["Current [A]"].tolist() == EXPECTED
