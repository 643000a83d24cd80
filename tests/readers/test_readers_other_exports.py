"""Exports whose headers, clocks and lines above the table are written in yet other ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from workbench.errors import FileRefused
from workbench.readers import Reading, read
from workbench.table import Table, concat

# Rest, charge with 2 A, rest, discharge with 2 A: four samples each, one every 10 s.
FLOW = [(0.0, 2.0, 0.0, -2.0)[n // 4] for n in range(16)]
VOLTS = [3.6 + (0.0, 0.1 + 0.01 * (n % 4), 0.02, -0.1 - 0.01 * (n % 4))[n // 4] for n in range(16)]


def got(folder: Path, text: str, name: str = "file.csv", encoding: str = "utf-8") -> tuple[Reading, Table]:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    reading = read(path)
    return reading, concat(list(reading.batches))


def rows(line: str) -> str:
    made = []
    for n in range(16):
        step, t = n // 4, 10 * n
        made.append(
            line.format(
                n=n, t=t, step=step + 1, within=10 * (n % 4), i=FLOW[n], u=VOLTS[n], size=abs(FLOW[n]),
                mv=1000 * VOLTS[n], ma=1000 * FLOW[n], sizema=1000 * abs(FLOW[n]), code=(0, 1, 3, 2)[step],
                word=("休止", "充電", "充電休止", "放電")[step], state=("Rest", "CC Chg", "Rest", "CC DChg")[step],
                day="2024/05/13", hms=f"9:{t // 60:02}:{t % 60:02}", hmsw=f"00:00:{10 * (n % 4):02}",
            )
        )  # fmt: skip
    return "\n".join(made) + "\n"


def holds(table: Table) -> None:
    assert table["Time [s]"].floats() == pytest.approx(10.0 * np.arange(16))
    flows(table)


def flows(table: Table) -> None:
    assert table.n == 16
    assert table["Current [A]"].floats() == pytest.approx(-np.array(FLOW))
    assert table["Voltage [V]"].floats() == pytest.approx(np.array(VOLTS), abs=1e-4)


TOYO_RAW = "0,0,1,0,0,0,0\n\n\n"
TOYO_RAW += (
    "Date,Time,PassTime[Sec],Voltage[V],Current[mA],,,Temp1[Deg],Condition,Mode,Cycle,TotlCycle,Temp1[Deg]\n"
)
TOYO_KANA = "0,0,1,0,0,0\n日付,時刻,経過時間[Sec],電圧[V],電流[mA],,,状態,ﾓｰﾄﾞ,ｻｲｸﾙ,総ｻｲｸﾙ\n"


def test_toyo_has_a_time_of_the_step_and_a_current_without_a_sign(tmp_path: Path) -> None:
    body = rows("{day},{hms},{within},{u:.4f},{sizema:.1f},0,0,25.1,{code},{step},1,{step},25.1")
    reading, table = got(tmp_path, TOYO_RAW + body, "000001")
    assert reading.format == "toyo"
    assert str(reading.start_time) == "2024-05-13 09:00:00+00:00"
    holds(table)
    assert table["Step from cycler"].tolist() == [1 + n // 4 for n in range(16)]
    assert table["Temperature [degC]"].floats()[0] == 25.1
    body = rows("{day},{hms},{within},{u:.4f},{sizema:.1f},0,0,{code},{step},1,{step}")
    reading, table = got(tmp_path, TOYO_KANA + body, "000002", "shift_jis")
    assert reading.format == "toyo"
    holds(table)
    assert table["Cycle from cycler"].tolist() == [1] * 16


def test_toyo_without_dates_joins_the_times_of_its_steps(tmp_path: Path) -> None:
    head = "サイクル,モード,状態,経過時間[Sec],電圧[V],電流[mA],電気量[mAh/g]\n,,,,,,\n,,,,,,\n"
    text = head + rows("1,{step},{word},{within},{u:.4f},{sizema:.1f},0.1")
    reading, table = got(tmp_path, text, encoding="shift_jis")
    assert "time_joined" in {note.code for note in reading.notes}
    assert table["Time [s]"].floats()[[3, 4, 15]] == pytest.approx([30.0, 30.0, 120.0])
    flows(table)


NEWARE_IDS = "循环ID,工步ID,记录ID,时间(h:min:s.ms),电压(V),电流(mA),温度(℃),绝对时间,工步类型\n"


def test_a_table_with_nothing_but_the_time_of_its_steps_joins_them(tmp_path: Path) -> None:
    text = "Cycle,Step,Step Time (s),Current (A),Voltage (V)\n" + rows("1,{step},{within},{i},{u:.4f}")
    reading, table = got(tmp_path, text)
    assert "time_joined" in {note.code for note in reading.notes}
    assert table["Time [s]"].floats()[[3, 4, 15]] == pytest.approx([30.0, 30.0, 120.0])
    flows(table)


def test_neware_whose_numbers_are_called_ids(tmp_path: Path) -> None:
    text = NEWARE_IDS + rows("1,{step},{n},{hmsw}.000,{u:.4f},{ma},25.1,{day} {hms},搁置")
    reading, table = got(tmp_path, text, encoding="gbk")
    assert reading.format == "neware"
    holds(table)
    assert table["Step from cycler"].tolist()[-1] == 4


def test_neware_with_a_lost_unit_and_a_clock_called_date_time(tmp_path: Path) -> None:
    text = "DataPoint,Cycle Index,Step Index,Step Type,Time,Current(A),Voltage(V),DateTime,T1(?)\n"
    text += rows("{n},1,{step},{state},{hmsw},{i},{u:.4f},{day} {hms},26.6")
    reading, table = got(tmp_path, text)
    assert str(reading.start_time) == "2024-05-13 09:00:00+00:00"
    holds(table)
    assert table["Temperature [degC]"].floats()[0] == 26.6


def test_a_clock_called_system_time_gives_the_time(tmp_path: Path) -> None:
    text = "System Time,Relative Time(Sec),Voltage(V),Current(A),Cycle ID,Step ID,Step State\n"
    words = ("Rest", "Charge", "Rest", "Discharge")
    body = rows(" {day} {hms},{within},{u:.4f},{size},1,{step},W{step}")
    for step, word in enumerate(words, 1):
        body = body.replace(f"W{step}\n", f"{word}\n")
    reading, table = got(tmp_path, text + body)
    holds(table)
    assert "sign_from_state" in {note.code for note in reading.notes}


@pytest.mark.parametrize("first", [True, False], ids=["first", "second"])
@pytest.mark.parametrize(
    "others", ["Test Time / s,Voltage / V,Current / A", "Time [s],Voltage [V],Current [A]"], ids=["bdf", "own"]
)
def test_of_two_columns_of_one_name_the_one_with_a_unit_is_taken(others: str, first: bool, tmp_path: Path) -> None:
    named, plain = "{t},{u:.4f},{i}", "{n},{mv:.1f},{ma}"
    bare = "Test_Time,Voltage,Current" if "Test" in others else "Time,Voltage,Current"
    head, line = (f"{others},{bare}", f"{named},{plain}") if first else (f"{bare},{others}", f"{plain},{named}")
    _, table = got(tmp_path, head + "\n" + rows(line))
    holds(table)


UNITS_TWICE = [
    ("Time (s),Current (mA),Voltage (V),Temp\ns,mA,V,degC\n", "{t},{ma},{u:.4f},25.5"),
    ("Time [s],Current [A],Voltage [mV],Temp\n[s],[A],[mV],[C]\n", "{t},{i},{mv:.1f},25.5"),
]


@pytest.mark.parametrize(("head", "line"), UNITS_TWICE, ids=["round", "square"])
def test_a_unit_may_be_in_the_name_and_below_it(head: str, line: str, tmp_path: Path) -> None:
    _, table = got(tmp_path, head + rows(line))
    holds(table)
    assert table["Temperature [degC]"].floats()[0] == 25.5


@pytest.mark.parametrize("below", ["", ",,,s,s,V,mA,Ah,Ah,degC,degC\n"], ids=["names", "names and units"])
def test_digatron_with_units_behind_a_hash(below: str, tmp_path: Path) -> None:
    text = "Step,Status,Timestamp,Program Duration#s,Step Duration#s,Voltage#V,Current#mA,"
    text += "AhCha#Ah,AhDch#Ah,Tenv#degC,T1#degC\n"
    text += below + rows("{step},{state},{day} {hms},{t}.0,{within}.0,{u:.4f},{ma},0.1,0.2,24.0,25.1")
    reading, table = got(tmp_path, text)
    assert reading.format == "digatron"
    holds(table)
    assert table["Charge capacity [A.h]"].floats()[0] == 0.1
    assert table["Temperature [degC]"].floats()[0] == 25.1
    assert table["Ambient temperature [degC]"].floats()[0] == 24.0


def test_a_temperature_in_degrees_is_one(tmp_path: Path) -> None:
    _, table = got(tmp_path, "Time (s),Current (A),Voltage (V),Temperature (deg)\n" + rows("{t},{i},{u:.4f},25.5"))
    assert table["Temperature [degC]"].floats()[0] == 25.5
    head = "Voltage_measured,Current_measured,Temperature_measured,Current_load,Voltage_load,Time\n"
    _, table = got(tmp_path, head + rows("{u:.4f},{i},24.3,{size},{u:.4f},{t}"))
    assert table["Temperature [degC]"].floats()[0] == 24.3
    holds(table)


@pytest.mark.parametrize("unit", ["degF", "°F", "deg F", "Fahrenheit"])
def test_degrees_fahrenheit_become_celsius(unit: str, tmp_path: Path) -> None:
    _, table = got(
        tmp_path, f"Time (s),Current (A),Voltage (V),Temperature ({unit})\n" + rows("{t},{i},{u:.4f},77")
    )
    assert table["Temperature [degC]"].floats()[0] == 25.0


DAMAGED = ["ÂµA", "Î¼A", "¦ÌA", "µA", "uA"]


@pytest.mark.parametrize("unit", DAMAGED, ids=["utf-8 micro", "utf-8 mu", "gbk mu", "micro", "u"])
def test_a_damaged_millionth_is_known(unit: str, tmp_path: Path) -> None:
    text = f"Time (s),Current({unit}),Voltage (V)\n"
    text += "".join(f"{10 * n},{1e6 * FLOW[n]:.0f},{VOLTS[n]:.4f}\n" for n in range(16))
    _, table = got(tmp_path, text)
    holds(table)


@pytest.mark.parametrize("unit", ["oC", "¡æ", "¡ãC", "â„ƒ"], ids=["letter o", "gbk", "gbk degree", "utf-8"])
def test_damaged_degrees_are_known(unit: str, tmp_path: Path) -> None:
    _, table = got(
        tmp_path, f"Time (s),Current (A),Voltage (V),Temperature({unit})\n" + rows("{t},{i},{u:.4f},25.5")
    )
    assert table["Temperature [degC]"].floats()[0] == 25.5


@pytest.mark.parametrize("mark", ["# ", "#"])
def test_a_header_written_as_a_comment_is_read(mark: str, tmp_path: Path) -> None:
    text = f"{mark}made by hand\n{mark}t / s,U_cell / V,I_cell / A\n" + rows("{t},{u:.4f},{i}")
    _, table = got(tmp_path, text)
    holds(table)


SPECTRUM = [(10.0**n, 0.02 - 0.002 * n, -0.001 * n - 0.001) for n in range(4, -2, -1)]


def test_the_number_of_points_below_a_header_is_no_spectrum(tmp_path: Path) -> None:
    text = " f/Hz  \t Z'/Ohm \t -Z''/Ohm \t time/s \t\n 6 \n"
    text += "".join(f" {f:.4e}\t {re:.4e}\t {-im:.4e}\t 59.3\t\n" for f, re, im in SPECTRUM)
    reading, table = got(tmp_path, text, "data.P00")
    assert table["Frequency [Hz]"].floats() == pytest.approx([f for f, _, _ in SPECTRUM])
    assert table["Z_Im [Ohm]"].floats() == pytest.approx([im for _, _, im in SPECTRUM])
    assert "lines_left_out" in {note.code for note in reading.notes}


def test_modulus_and_phase_give_the_part_that_is_missing(tmp_path: Path) -> None:
    text = "Frequency (Hz),Zreal (Ohm),|Z| (Ohm),Phase (deg)\n"
    for f, re, im in SPECTRUM:
        text += f"{f},{re},{np.hypot(re, im)},{np.degrees(np.arctan2(im, re))}\n"
    _, table = got(tmp_path, text)
    assert table["Z_Re [Ohm]"].floats() == pytest.approx([re for _, re, _ in SPECTRUM])
    assert table["Z_Im [Ohm]"].floats() == pytest.approx([im for _, _, im in SPECTRUM])


MACCOR = "Rec#,Cyc#,Step,TestTime(s),StepTime(s),Amp-hr,Watt-hr,Amps,Volts,State,ES,DPt Time\n"


@pytest.mark.parametrize(
    ("above", "said"),
    [
        (
            "Today's Date,04/08/2019 1:39:09 PM\nDate of Test:,02/28/2018 11:12:44 AM\n",
            {"Today's Date": "04/08/2019 1:39:09 PM", "Date of Test": "02/28/2018 11:12:44 AM"},
        ),
        ("Comment: two, at 10:30\nOperator,,\n", {"Comment": "two, at 10:30"}),
        ("Comment:,two, at 10:30\n", {"Comment": "two, at 10:30"}),
        ("TestRegime Name,Formation,,\nMass (g),0.5\n", {"TestRegime Name": "Formation", "Mass (g)": "0.5"}),
    ],
    ids=["times", "prose", "a colon and prose", "two fields"],
)
def test_names_and_values_above_a_table_with_commas(above: str, said: dict[str, str], tmp_path: Path) -> None:
    text = above + MACCOR + rows("{n},1,{step},{t},{within},0,0,{size},{u:.4f},{state},1,{day} {hms}")
    reading, _ = got(tmp_path, text)
    assert reading.metadata == said


def test_several_names_and_values_in_a_line(tmp_path: Path) -> None:
    above = "Today's Date:\t14 December 2020\tDate of Test:\t11 December 2020, 12:22:12 PM\n"
    above += "Filename:\tM50_01\tTester Channel:\t1\nProcedure:\tM50.000\tDescription:\t\n"
    line = "{n},1,{step},{t},{within},0,0,{size},{u:.4f},{state},1,{day} {hms}"
    text = above + MACCOR.replace(",", "\t") + rows(line.replace(",", "\t"))
    assert got(tmp_path, text)[0].metadata == {
        "Today's Date": "14 December 2020",
        "Date of Test": "11 December 2020, 12:22:12 PM",
        "Filename": "M50_01",
        "Tester Channel": "1",
        "Procedure": "M50.000",
    }


@pytest.mark.parametrize(
    "names",
    [
        "Datum;Uhrzeit",
        "Date;Clock",
        "Fecha;Hora",
        "日付;時刻",
        "Date;Timestamp",
        "Date;hh:mm:ss",
        "date;local time",
    ],
)
def test_a_column_of_times_of_day_is_joined_with_one_of_days(names: str, tmp_path: Path) -> None:
    body = rows("{day};{hms};{u:.4f};{i}")
    reading, table = got(tmp_path, f"{names};Voltage [V];Current [A]\n{body}")
    holds(table)
    assert str(reading.start_time) == "2024-05-13 09:00:00+00:00"
    assert "is the time of day of" in " ".join(note.message for note in reading.notes)


@pytest.mark.parametrize("days", ["{day}", "2024-05-13 0{hms}"])
def test_times_within_steps_and_those_beside_a_full_date_are_no_times_of_day(days: str, tmp_path: Path) -> None:
    body = rows(days + ";{hmsw};{u:.4f};{i}")
    reading, table = got(tmp_path, f"Datum;Dauer;Voltage [V];Current [A]\n{body}")
    assert "Dauer" in table
    assert "is the time of day of" not in " ".join(note.message for note in reading.notes)


NAMES = [
    "Time,s;Test step;I,A;U,V",
    "Tid (s);Steg;Ström (A);Spänning (V)",
    "Tijd (s);Stap;Stroom (A);Spanning (V)",
    "Czas [s];Krok;Prąd [A];Napięcie [V]",
    "Testtime;Line;Channel Current;Channel Voltage",
]


@pytest.mark.parametrize("names", NAMES)
def test_names_of_other_languages_and_units_behind_a_comma(names: str, tmp_path: Path) -> None:
    holds(got(tmp_path, f"{names}\n" + rows("{t};{state};{i};{u:.4f}"))[1])


def test_counters_under_short_and_other_names(tmp_path: Path) -> None:
    names = "DataSequence,StepNo,TotTime(H:M:S),Voltage(V),Current(A),TotCycle,Char. Cap.(Ah),Dischar. Cap.(Ah)"
    holds(table := got(tmp_path, f"{names}\n" + rows("{n},{step},0{hms},{u:.4f},{i},7,0.5,0.25"))[1])
    assert table["Step from cycler"].tolist() == [n // 4 + 1 for n in range(16)]
    assert set(table["Cycle from cycler"].tolist()) == {7}
    assert set(table["Charge capacity [A.h]"].tolist()) == {0.5}
    assert set(table["Discharge capacity [A.h]"].tolist()) == {0.25}
    names = "总时间,步序号,循环圈数,电压(V),电流(A)"
    table = got(tmp_path, f"{names}\n" + rows("{t},{step},7,{u:.4f},{i}"))[1]
    assert table["Step from cycler"].tolist() == [n // 4 + 1 for n in range(16)]
    assert set(table["Cycle from cycler"].tolist()) == {7}


def test_rows_that_end_before_the_current_are_refused(tmp_path: Path) -> None:
    """The step has a name and no field, so the voltage stands below it."""
    body = rows("{t};{u:.4f};{i}")
    with pytest.raises(FileRefused, match=r"3 fields below a header of 4, so none has a value in 'Current \[A\]'"):
        got(tmp_path, f"Time [s];Step name;Voltage [V];Current [A]\n{body}")


def test_rows_that_end_before_another_column_are_told(tmp_path: Path) -> None:
    reading, table = got(tmp_path, "Time [s];Voltage [V];Current [A];Remark\n" + rows("{t};{u:.4f};{i}"))
    holds(table)
    told = {note.code: note.message for note in reading.notes}["rows_end_early"]
    assert told.startswith("Rows have 3 fields below a header of 4: 'Remark' has no value.")


def test_a_current_that_only_later_rows_have_is_no_reason_to_refuse(tmp_path: Path) -> None:
    rest = "".join(f"{10 * n};3.6\n" for n in range(40))
    table = got(tmp_path, "Time [s];Voltage [V];Current [A]\n" + rest + "400;3.7;1\n410;3.71;1\n")[1]
    assert table["Current [A]"].floats()[-2:] == pytest.approx([-1, -1])
