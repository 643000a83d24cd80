"""What cyclers write besides plain numbers: marks, units, encodings, headers, quotes, signs. All files are our own."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from support.text_file import IMPEDANCE, PLAIN, TEST, file, holds_the_test, lines, notes, table

from workbench.errors import FileRefused
from workbench.messages import typed_in
from workbench.readers import read, recognise
from workbench.table import concat


def test_a_plain_file_gives_canonical_columns(tmp_path: Path) -> None:
    reading = read(file(tmp_path, PLAIN))
    (batch,) = list(reading.batches)
    assert reading.format == "delimited"
    assert batch.names == ["Time [s]", "Current [A]", "Voltage [V]"]
    assert batch["Time [s]"].tolist() == [0.0, 10.0, 20.0, 30.0, 40.0]
    assert batch["Current [A]"].tolist() == [0.0, -1.0, -1.0, 1.0, 1.0]
    assert not np.signbit(batch["Current [A]"].values[0])
    assert "sign_from_voltage" in {note.code for note in reading.notes}


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", ";").replace(".", ","),
        PLAIN.replace(",", "\t").replace(".", ","),
        PLAIN.replace(",", "|"),
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        "\ufeff" + PLAIN,
        "\n\n" + PLAIN,
        "Test of a cell\nOperator: A. Person\nDate: today, 12:00\n\n" + PLAIN,
        "".join(f'"{line}"\n' for line in PLAIN.splitlines()),
        PLAIN.replace("current [A]", '"current [A]"'),
        PLAIN.replace("\n", ",\n").replace("[V],", "[V]"),
        PLAIN.replace("\n", ",\n"),
        PLAIN.rstrip("\n"),
        PLAIN.replace("time [s],current [A],voltage [V]\n", "time,current,voltage\ns,A,V\n"),
        PLAIN + "\n\n",
        PLAIN + "End of test\n",
    ],
)
def test_the_same_samples_in_other_clothes(text: str, tmp_path: Path) -> None:
    made = table(file(tmp_path, text))
    assert (
        made.select(["Time [s]", "Current [A]", "Voltage [V]"]).records()
        == table(file(tmp_path, PLAIN, "plain.csv")).records()
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_encodings_keep_names_and_texts(encoding: str, tmp_path: Path) -> None:
    text = PLAIN.replace("voltage [V]", "voltage [V];temperature [°C];note µ").replace(",", ";")
    lines = [text.splitlines()[0], *(line + ";25.5;größer" for line in text.splitlines()[1:])]
    made = table(file(tmp_path, "\n".join(lines).encode(encoding)))
    assert made["Temperature [degC]"].tolist() == [25.5] * 5
    assert made["note µ"].tolist() == ["größer"] * 5


def test_gzip_is_opened_whatever_its_name(tmp_path: Path) -> None:
    path = file(tmp_path, gzip.compress(PLAIN.encode()), "test.dat")
    assert recognise(path) == "delimited"
    assert table(path).n == 5


@pytest.mark.parametrize(
    ("header", "divided"),
    [("current [mA]", 1e3), ("Current(uA)", 1e6), ("I/µA", 1e6), ("current_ma", 1e3), ("I (kA)", 1e-3)],
)
def test_current_units_from_the_header(header: str, divided: float, tmp_path: Path) -> None:
    made = table(file(tmp_path, PLAIN.replace("current [A]", header)))
    assert made["Current [A]"].tolist() == pytest.approx([0, -1 / divided, -1 / divided, 1 / divided, 1 / divided])


def test_units_divide_to_the_nearest_number(tmp_path: Path) -> None:
    text = "time [s],current [mA],voltage [mV]\n0,3.3,3300.1\n10,-3.3,3200.7\n"
    made = table(file(tmp_path, text), sign="discharge")
    assert made["Current [A]"].tolist() == [0.0033, -0.0033]
    assert made["Voltage [V]"].tolist() == [3.3001, 3.2007]


def test_a_header_that_is_a_unit_names_it(tmp_path: Path) -> None:
    path = file(tmp_path, PLAIN.replace("current [A]", "Amps").replace("voltage [V]", "Volts"))
    assert "unit" not in notes(path)


def test_a_unit_that_is_not_named_is_assumed_and_said(tmp_path: Path) -> None:
    said = notes(file(tmp_path, PLAIN.replace(" [s]", "").replace(" [A]", "").replace(" [V]", "")))
    assert said["time_unit"] == "'time' names no unit. It was read as seconds."
    assert "It was read in" in said["unit"]


def test_thousands_commas_in_quotes(tmp_path: Path) -> None:
    text = (
        PLAIN.replace("\n10,", '\n"1,010.5",')
        .replace("\n20,", '\n"1,000,020",')
        .replace("\n30,-", '\n"2,000,030",-')
    )
    text = text.replace("\n40,-", '\n"3,000,040.25",-')
    assert table(file(tmp_path, text))["Time [s]"].tolist() == [0.0, 1010.5, 1000020.0, 2000030.0, 3000040.25]


def test_thousands_commas_that_come_late(tmp_path: Path) -> None:
    rows = "".join(f"{place},{1 - 2 * (place % 2)}.5,3.{place % 2}\n" for place in range(1000))
    text = "time [s],current [A],voltage [V]\n" + rows + '"1,000.5",1.5,3.0\n'
    assert table(file(tmp_path, text))["Time [s]"].tolist()[-1] == 1000.5


def test_decimal_commas_that_come_late(tmp_path: Path) -> None:
    rows = "".join(f"{place};{1 - 2 * (place % 2)};{4 - place % 2}\n" for place in range(1000))
    text = "time [s];current [A];voltage [V]\n" + rows + "1000,5;1;3,25\n"
    made = table(file(tmp_path, text))
    assert made["Time [s]"].tolist()[-1] == 1000.5
    assert made["Voltage [V]"].tolist()[-1] == 3.25


def test_commas_for_fields_and_decimals_are_refused(tmp_path: Path) -> None:
    text = "time [s],current [A],voltage [V]\n0,0,0,0,3,5\n10,5,1,0,3,6\n20,5,1,0,3,7\n"
    with pytest.raises(FileRefused, match="decimal point"):
        read(file(tmp_path, text))


def test_unknown_columns_stay_with_their_types(tmp_path: Path) -> None:
    text = "\n".join(
        [
            "time [s],current [A],voltage [V],Range,Comment,Open,Serial,Late,Empty,Range",
            "0,1.5,3.6,1,,True,00A,,,7",
            "10,-1.5,3.4,2,pause,False,00B,,,8",
            "20,1.5,3.6,3,,True,00B,0.25,,9",
        ]
    )
    path = file(tmp_path, text)
    made = table(path)
    kinds = {name: made[name].kind for name in made.names[3:]}
    assert kinds == {
        "Range": "integer", "Comment": "text", "Open": "boolean", "Serial": "text", "Late": "number", "Empty": "null",
        "Range (2)": "integer",
    }  # fmt: skip
    assert made["Comment"].tolist() == [None, "pause", None]
    assert made["Late"].tolist() == [None, None, 0.25]
    assert "'Range', 'Comment'" in notes(path)["columns_kept"]


def test_a_column_has_one_kind_in_all_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", 10)
    lines = ["time [s],current [A],voltage [V],cycle,whole,part,word,none"]
    for place in range(35):
        part = "0.5" if place > 25 else str(place)
        word = "x" if place == 30 else str(place)
        none = "12" if place == 33 else ""
        lines.append(f"{place},{1.5 - 3 * (place % 2)},{3.6 - 0.2 * (place % 2)},1,{place},{part},{word},{none}")
    batches = list(read(file(tmp_path, "\n".join(lines))).batches)
    assert [batch.n for batch in batches] == [10, 10, 10, 5]
    for batch in batches:
        assert {name: batch[name].kind for name in batch.names[3:]} == {
            "Cycle from cycler": "integer", "whole": "integer", "part": "number", "word": "text", "none": "number",
        }  # fmt: skip
    assert concat(batches)["word"].tolist()[29:32] == ["29", "x", "31"]


def test_a_value_that_is_no_number_is_left_empty_and_said(tmp_path: Path) -> None:
    path = file(tmp_path, PLAIN.replace("20,1.0,3.62", "20,1.0,OVER"))
    assert table(path)["Voltage [V]"].tolist() == [3.5, 3.6, None, 3.4, 3.38]
    assert notes(path)["unreadable_values"] == (
        "1 value in 'voltage [V]' could not be read and is left empty: 'OVER' in line 4."
    )


def test_values_that_are_none_are_named_with_their_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = "Operator: me\n\ntime [s],current [A],voltage [V]\n"
    rows = [f"{t},{1 - 2 * (t % 2)}.0,{3.5 - 0.1 * (1 - 2 * (t % 2))}" for t in range(100)]
    for place, text in ((7, "OVL"), (40, "x y"), (80, "--?"), (90, "OVL")):
        rows[place] = f"{place},1.0,{text}"
    rows.insert(20, "")
    rows.insert(60, "time [s],current [A],voltage [V]")
    told = (
        "4 values in 'voltage [V]' could not be read and are left empty: 'OVL' in line 11, 'x y' in line 45, "
        "'--?' in line 86 and 1 more."
    )
    for chunk in (1000, 9):
        monkeypatch.setattr("workbench.readers.limits.CHUNK_ROWS", chunk)
        assert notes(file(tmp_path, head + "\n".join(rows)))["unreadable_values"] == told


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("block", [1 << 18, 16, 33])
def test_a_header_that_is_repeated_is_left_out_and_changes_no_kind(
    block: int, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.readers.file.source._BLOCK", block)
    titles = "time,current,voltage,cycle,other\ns,A,V,,\n"
    rows = [f"{t},{1 - 2 * (t % 2)}.0,{3.5 - 0.1 * (1 - 2 * (t % 2))},{t // 9},{t}\n" for t in range(30)]
    resumed = [*rows[:9], titles, *rows[9:21], titles, *rows[21:]]
    plain = table(file(tmp_path, (titles + "".join(rows)).replace("\n", end)))
    path = file(tmp_path, (titles + "".join(resumed)).replace("\n", end))
    made = table(path)
    assert {name: column.tolist() for name, column in made.items()} == {n: c.tolist() for n, c in plain.items()}
    assert made["other"].kind == made["Cycle from cycler"].kind == "integer"
    told = notes(path)
    assert (
        told["header_repeated"]
        == "4 lines within the file repeat the header and were left out (lines 12, 13, 26, ...)."
    )
    assert "unreadable_values" not in told
    assert "lines_left_out" not in told


def test_a_last_line_cut_short_is_left_out_and_said(tmp_path: Path) -> None:
    path = file(tmp_path, PLAIN + "50,-1.0")
    assert table(path).n == 5
    assert "is incomplete" in notes(path)["cut_short"]


def test_lines_without_samples_are_left_out_and_counted(tmp_path: Path) -> None:
    path = file(tmp_path, PLAIN.replace("\n30,", "\ntime [s],current [A],voltage [V]\n,,\n30,"))
    assert table(path).n == 5
    assert notes(path)["lines_left_out"].startswith("1 line without")
    assert "(line 5)" in notes(path)["header_repeated"]


def test_fields_beyond_the_header_are_counted(tmp_path: Path) -> None:
    path = file(tmp_path, PLAIN.replace("3.62\n", "3.62,surplus,more\n"))
    assert table(path).n == 5
    assert notes(path)["more_fields"].startswith("1 line has")


def test_cycles_that_are_not_whole_stay(tmp_path: Path) -> None:
    text = "\n".join(line + (",cycle" if place == 0 else ",6.28") for place, line in enumerate(PLAIN.splitlines()))
    path = file(tmp_path, text)
    assert table(path)["Cycle from cycler"].kind == "number"
    assert "not whole" in notes(path)["not_whole"]


def test_a_column_map_names_columns_and_units(tmp_path: Path) -> None:
    text = PLAIN.replace("time [s],current [A],voltage [V]", "a,b,c").replace("\n", ",7\n").replace("c,7", "c,d")
    with pytest.raises(FileRefused, match="'a', 'b', 'c' and 'd'"):
        read(file(tmp_path, text))
    mapping = {"a": "Time [min]", "B": "Current [mA]", "c": "Voltage [V]", "d": "Pressure [bar]"}
    made = table(file(tmp_path, text), column_map=mapping)
    assert made["Time [s]"].tolist() == [0.0, 600.0, 1200.0, 1800.0, 2400.0]
    assert made["Current [A]"].tolist() == [0.0, -0.001, -0.001, 0.001, 0.001]
    assert made["Pressure [bar]"].tolist() == [7] * 5


def test_a_column_map_goes_before_what_the_format_knows(tmp_path: Path) -> None:
    text = (
        PLAIN.replace("voltage [V]", "voltage [V],anode [mV]").replace("\n", ",100\n").replace("[mV],100", "[mV]")
    )
    made = table(file(tmp_path, text), column_map={"anode [mV]": "Voltage [V]"}, sign="charge")
    assert made["Voltage [V]"].tolist() == [0.1] * 5
    assert made["voltage [V]"].tolist()[0] == 3.5


def test_a_column_map_of_what_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match=r"no column 'voltag'.*Did you mean 'voltage \[V\]'"):
        read(file(tmp_path, PLAIN), column_map={"voltag": "Voltage [V]"})
    with pytest.raises(FileRefused, match="to two columns"):
        read(file(tmp_path, PLAIN), column_map={"voltage [V]": "Voltage [V]", "current [A]": "Voltage [V]"})


def test_a_slip_in_the_map_of_a_file_of_unknown_names_is_said(tmp_path: Path) -> None:
    rows = "0,3.6,1.0\n1,3.5,1.0\n"
    slip = {"Zeit": "Time [s]", "U_zel": "Voltage [V]", "I_zelle": "Current [A]"}
    with pytest.raises(FileRefused, match=r"no column 'U_zel' to map. Did you mean 'U_zelle'\?"):
        read(file(tmp_path, f"Zeit,U_zelle,I_zelle\n{rows}"), column_map=slip)
    with pytest.raises(FileRefused, match=r"no header line, so its columns have no names to map. Add a line"):
        read(file(tmp_path, rows), column_map={"0": "Time [s]", "1": "Voltage [V]", "2": "Current [A]"})


def test_what_is_missing_is_named_with_the_mend(tmp_path: Path) -> None:
    text = PLAIN.replace("voltage [V]", "U_zell")
    with pytest.raises(FileRefused, match=r"known as voltage.*'U_zell'.*column_map=\{.*: \"Voltage \[V\]\"\}"):
        read(file(tmp_path, text))
    with typed_in("terminal"), pytest.raises(FileRefused, match=r'known as voltage.*--map "\S.*=Voltage \[V\]"'):
        read(file(tmp_path, text), column_map={"U_zell": "Something"})


def test_columns_that_could_be_meant_are_named_with_the_map_that_mends_it(tmp_path: Path) -> None:
    def why(header: str) -> str:
        with typed_in("terminal"), pytest.raises(FileRefused) as refused:
            read(file(tmp_path, f"{header}\n0,3.6,1.0,25\n1,3.5,1.0,25\n"))
        return str(refused.value)

    meant = '--map "Zeitachse=Time [s]" --map "Stromwert=Current [A]" --map "Spannungswert=Voltage [V]"'
    assert meant in why("Zeitachse,Spannungswert,Stromwert,Raum")
    assert '--map "Kanal 2 [mA]=Current [A]"' in why("time [s],voltage [V],Kanal 2 [mA],Raum")
    assert '--map "Curent=Current [A]"' in why("time [s],voltage [V],Curent,Raum")
    lacking = why("time [s],voltage [V],temperature [C],cycle")
    assert "no column that is known as current" in lacking
    assert "export the test again" in lacking
    assert '--map "Amps?=Current [A]"' in why("Time [s],Date,Amps?,Voltage [V]")  # a time and a clock


def test_impedance_columns(tmp_path: Path) -> None:
    reading = read(file(tmp_path, IMPEDANCE, "eis.mpt"))
    (batch,) = list(reading.batches)
    assert batch["Frequency [Hz]"].tolist() == [1000.0, 100.0]
    assert batch["Z_Re [Ohm]"].tolist() == [0.01, 0.011]
    assert batch["Z_Im [Ohm]"].tolist() == [-0.002, 0.001]
    assert batch["Z_Phase [deg]"].tolist() == [-11.3, 5.2]
    assert batch["Time [s]"].tolist() == [0.0, 2.0]
    assert batch["Current [A]"].tolist() == [0.001, -0.001]
    assert batch["Cycle from cycler"].tolist() == [1, 1]
    assert batch["Cycle from cycler"].kind == "integer"
    assert reading.start_time == datetime(2024, 5, 13, 11, 19, 53, 602000, tzinfo=UTC)


def test_impedance_alone_has_null_time_current_and_voltage(tmp_path: Path) -> None:
    path = file(tmp_path, "Frequency (Hz),Z' (Ohm),-Z'' (Ohm)\n1000,0.01,0.002\n100,0.02,0.003\n")
    reading = read(path)
    (batch,) = list(reading.batches)
    assert reading.format == "impedance"
    assert batch["Z_Im [Ohm]"].tolist() == [-0.002, -0.003]
    for name in ("Time [s]", "Current [A]", "Voltage [V]"):
        assert batch[name].tolist() == [None, None]


def test_open_circuit_data_need_neither_time_nor_current(tmp_path: Path) -> None:
    path = file(tmp_path, "Stoichiometry,Voltage [V]\n0.1,3.5\n0.2,3.6\n")
    reading = read(path)
    (batch,) = list(reading.batches)
    assert reading.format == "open-circuit"
    assert batch.names == ["Voltage [V]", "Stoichiometry"]


NEWARE = """DataPoint,Cycle Index,Step Index,Step Type,Time,Total Time,Current(mA),Voltage(V),Chg. Cap.(mAh),Date
1,1,1,Rest,00:00:00,00:00:00,0.0,3.5,0,2024-05-13 10:00:00
2,1,2,CC Chg,00:00:00,00:00:10,500.0,3.6,0.0,2024-05-13 10:00:10
3,1,2,CC Chg,00:00:10,00:00:20,500.0,3.7,1.5,2024-05-13 10:00:20
4,2,3,CC DChg,00:00:00,00:00:30,-500.0,3.4,0,2024-05-13 10:00:30
"""


def test_neware_flat(tmp_path: Path) -> None:
    reading = read(file(tmp_path, NEWARE))
    (batch,) = list(reading.batches)
    assert (reading.format, reading.counters) == ("neware", "step")
    assert batch["Current [A]"].tolist() == [0.0, -0.5, -0.5, 0.5]
    assert batch["Charge capacity [A.h]"].tolist() == [0.0, 0.0, 0.0015, 0.0]
    assert batch["Step from cycler"].tolist() == [1, 2, 2, 3]
    assert batch["Step Type"].tolist()[1] == "CC Chg"


NESTED = """Cycle ID,Cap_Chg(mAh),Cap_DChg(mAh)
,Step ID,Step Name,Step Time(h:min:s.ms),Capacity(mAh)
,,Record ID,Time(h:min:s.ms),Voltage(V),Current(mA),Capacity(mAh),Realtime
1,10.5,9.5
,1,Rest,0:00:20.000,0
,,1,0:00:00.000,3.500,0.0,0,2024-05-13 10:00:00
,,2,0:00:20.000,3.501,0.0,0,2024-05-13 10:00:20
,2,CC_Chg,0:00:10.000,1.5
,,3,0:00:00.000,3.600,500.0,0,2024-05-13 10:00:20
,,4,0:00:10.000,3.700,500.0,1.5,2024-05-13 10:00:30
2,10.5,9.5
,3,CC_DChg,0:00:10.000,1.5
,,5,0:00:00.000,3.400,-500.0,0,2024-05-13 10:00:30
"""


@pytest.mark.parametrize("mark", [",", "\t"])
@pytest.mark.parametrize("end", ["\n", ""])
def test_neware_in_three_nested_levels(mark: str, end: str, tmp_path: Path) -> None:
    reading = read(file(tmp_path, NESTED.replace(",", mark).rstrip("\n") + end))
    (batch,) = list(reading.batches)
    assert reading.format == "neware-nested"
    assert batch["Cycle from cycler"].tolist() == [1, 1, 1, 1, 2]
    assert batch["Step from cycler"].tolist() == [1, 1, 2, 2, 3]
    assert batch["Time [s]"].tolist() == [0.0, 20.0, 20.0, 30.0, 30.0]
    assert batch["Current [A]"].tolist() == [0.0, 0.0, -0.5, -0.5, 0.5]
    assert batch["Record ID"].tolist() == [1, 2, 3, 4, 5]


IN_CHINESE = {
    "Cycle ID": "循环序号",
    "Cap_Chg": "充电容量",
    "Cap_DChg": "放电容量",
    "Step ID": "工步序号",
    "Step Name": "工步名称",
    "Record ID": "记录序号",
    "Time(h": "时间(h",
    "Voltage": "电压",
    "Current": "电流",
    "Realtime": "绝对时间",
}


def test_nested_levels_in_chinese(tmp_path: Path) -> None:
    text = NESTED
    for english, chinese in IN_CHINESE.items():
        text = text.replace(english, chinese)
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode("gb18030"))
    reading = read(path)
    (batch,) = list(reading.batches)
    assert reading.format == "neware-nested"
    assert batch["Cycle from cycler"].tolist() == [1, 1, 1, 1, 2]
    assert batch["Time [s]"].tolist() == [0.0, 20.0, 20.0, 30.0, 30.0]
    assert batch["Current [A]"].tolist() == [0.0, 0.0, -0.5, -0.5, 0.5]


def test_lines_of_steps_are_never_read_as_samples(tmp_path: Path) -> None:
    text = "Step ID,Step Name,Step Time(h:min:s.ms)\n,Record ID,Time(h:min:s.ms),Voltage(V),Current(mA)\n"
    for step in (1, 2):
        text += f"{step},CC_Chg,0:00:50.000\n"
        text += "".join(f",{k},0:00:{10 * k}.000,{3.5 + k / 100},{500 * step}\n" for k in range(6))
    with pytest.raises(FileRefused, match=r"has lines of several kinds: 2 lines of .*Export it flat"):
        read(file(tmp_path, text))


def test_marks_in_a_first_column_without_a_name_are_no_lines_of_steps(tmp_path: Path) -> None:
    rows = "".join(f"{'7' if k % 9 == 0 else ''},{10 * k},{3.6 + k / 1e3},1\n" for k in range(40))
    path = file(tmp_path, f",time [s],voltage [V],current [A]\n{rows}")
    assert concat(list(read(path, sign="discharge").batches)).n == 40


CARRIED = """Cycle ID,Step ID,Step Name,Capacity(mAh)
,,Record ID,Time(h:min:s.ms),Voltage(V),Current(mA),Capacity(mAh),Realtime
1,1,Rest,0
,,1,0:00:00.000,3.500,0.0,0,2024-05-13 10:00:00
,,2,0:00:20.000,3.501,0.0,0,2024-05-13 10:00:20
,2,CC_Chg,1.5
,,3,0:00:00.000,3.600,500.0,0,2024-05-13 10:00:20
,,4,0:00:10.000,3.700,500.0,1.5,2024-05-13 10:00:30
2,3,CC_DChg,1.5
,,5,0:00:00.000,3.400,-500.0,0,2024-05-13 10:00:30
,,6,0:00:10.000,3.300,-500.0,1.5,2024-05-13 10:00:40
,4,Rest,0
,,7,0:00:00.000,3.350,0.0,0,2024-05-13 10:00:40
"""


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_a_line_of_a_cycle_that_carries_its_first_step(mark: str, tmp_path: Path) -> None:
    (batch,) = list(read(file(tmp_path, CARRIED.replace(",", mark))).batches)
    assert batch["Cycle from cycler"].tolist() == [1, 1, 1, 1, 2, 2, 2]
    assert batch["Step from cycler"].tolist() == [1, 1, 2, 2, 3, 3, 4]
    assert batch["Current [A]"].tolist() == [0.0, 0.0, -0.5, -0.5, 0.5, 0.5, 0.0]
    assert batch["Record ID"].tolist() == [1, 2, 3, 4, 5, 6, 7]


def test_a_file_without_header_rows_or_text_is_refused_in_words(tmp_path: Path) -> None:
    cases = {
        b"": "is empty",
        b"1,2,3\n4,5,6\n": "has no header line",
        b"time [s],current [A],voltage [V]\n": "has a header but no rows",
        b"\x00\x01\x02binary" * 50: "binary file of an unknown format",
        b"PK\x03\x04" + b"\0" * 50: "damaged or incomplete zip archive",
        b"time [s],current [A],voltage [V]\na,b,c\nd,e,f\n": "'.*",
        b"\x1f\x8b\x08\x00broken": "gzip data",
    }
    for content, words in cases.items():
        with pytest.raises(FileRefused, match=words) as refused:
            list(read(file(tmp_path, content)).batches)
        assert str(tmp_path) not in str(refused.value)
    with pytest.raises(FileRefused, match=r"There is no file 'absent\.csv'"):
        read(tmp_path / "absent.csv")
    with pytest.raises(FileRefused, match="is a folder"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("header", "encoding"),
    [
        ("시간(s),전류(A),전압(V)", "cp949"),
        ("経過時間[Sec],電流[A],電圧[V]", "cp932"),
        ("時間(s),電流(A),電壓(V)", "big5"),
        ("Время, с;Ток, А;Напряжение, В", "cp1251"),
        ("Время (мин)\tТок (мА)\tНапряжение (мВ)", "cp1251"),
    ],
)
def test_headers_in_encodings_older_than_unicode(header: str, encoding: str, tmp_path: Path) -> None:
    mark = next((mark for mark in ";\t" if mark in header), ",")
    rows = PLAIN.partition("\n")[2].replace(",", mark)
    path = tmp_path / "old.csv"
    path.write_bytes(f"{header}\n{rows}".encode(encoding))
    minutes, milli = "мин" in header, "мА" in header
    made = table(path)
    assert made["Time [s]"].tolist() == [60.0 * t if minutes else t for t in (0.0, 10.0, 20.0, 30.0, 40.0)]
    assert made["Current [A]"].floats() == pytest.approx([i / (1e3 if milli else 1) for i in (0, -1, -1, 1, 1)])


@pytest.mark.parametrize(
    "second",
    ["time [s],current [A],voltage [V]", "time [s].1,current [A].1,voltage [V].1", ",current [A],voltage [V]"],
)
def test_tests_side_by_side_are_refused_until_one_is_named(second: str, tmp_path: Path) -> None:
    first, rows = "time [s],current [A],voltage [V]", PLAIN.splitlines()[1:]
    turned = [f"{t},{-float(i)},{7.3 - float(v)}" for t, i, v in (row.split(",") for row in rows)]
    both = [f"{row},{other}" for row, other in zip(rows, turned, strict=True)]
    path = file(tmp_path, "\n".join([f"{first},{second}", *both]) + "\n")
    with pytest.raises(FileRefused, match="holds 2 tests side by side"):
        read(path)
    mark = ".1" if ".1" in second else " (2)"
    chosen = {f"current [A]{mark}": "Current [A]", f"voltage [V]{mark}": "Voltage [V]"}
    assert concat(list(read(path, column_map=chosen).batches))["Voltage [V]"].floats() == pytest.approx(
        [7.3 - float(row.split(",")[2]) for row in rows]
    )


def test_a_second_voltage_alone_is_no_second_test(tmp_path: Path) -> None:
    text = "\n".join(
        ["time [s],current [A],voltage [V],voltage [V]", *(f"{row},1" for row in PLAIN.splitlines()[1:])]
    )
    assert table(file(tmp_path, text))["voltage [V] (2)"].tolist() == [1] * 5


@pytest.mark.parametrize("tail", [["Max,1.5,3.7", "Min,-1,3.5"], ["Average,0.2,3.61"]])
def test_sums_below_the_rows_are_no_samples(tail: list[str], tmp_path: Path) -> None:
    """Read as samples they jump far, and that turned the sign of the whole file."""
    path = file(tmp_path, "\n".join(["time [s],current [A],voltage [V]", *lines(TEST), *tail]) + "\n")
    holds_the_test(table(path))
    assert f"{len(tail)} line" in notes(path)["lines_left_out"]


@pytest.mark.parametrize(("current", "voltage"), [(-999, -999), (9.9e37, 3.6), (1.5, 9.91e37)])
def test_marks_instead_of_values_do_not_turn_the_sign(current: float, voltage: float, tmp_path: Path) -> None:
    marked = [*TEST[:21], (210.0, current, voltage), *TEST[22:]]
    made = table(file(tmp_path, "\n".join(["time [s],current [A],voltage [V]", *lines(marked)]) + "\n"))
    assert made["Current [A]"].floats()[:21] == pytest.approx([i for _, i, _ in TEST[:21]])
    seen = [made[name].tolist()[21] for name in ("Current [A]", "Voltage [V]")]
    assert seen == [None if abs(value) > 1e30 else value for value in (current, voltage)]
