"""Workbooks: formulas that were never computed, errors in cells, merged headers and sheets in any order."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path

import pytest
from support.workbooks import ARBIN, Formula, Wrong, parts, samples, sheet_xml, workbook, write

from workbench.errors import BadRequest, FileRefused
from workbench.ingest.plan.sheet import read_sheet
from workbench.readers import read
from workbench.readers.non_series.recognise import holding
from workbench.table import Table, concat

HEADER = ["Time [s]", "Current [A]", "Voltage [V]", "C-rate"]


def rows(count: int = 40) -> list[list[object]]:
    """A cell that is charged and discharged by turns of ten samples."""
    ways = [1.0 if n // 10 % 2 == 0 else -1.0 for n in range(count)]
    return [[10.0 * n, way, 3.6 + way * 0.05 + way * n % 10 / 100, way] for n, way in enumerate(ways)]


def formulas(column: int, count: int = 40) -> list[list[object]]:
    made = rows(count)
    for n, row in enumerate(made):
        row[column] = Formula(f"A{n}/1000")
    return made


def table_of(path: Path, **how: object) -> Table:
    return concat(list(read(path, **how).batches))  # type: ignore[arg-type]


def said(path: Path) -> list[str]:
    reading = read(path)
    list(reading.batches)
    return [note.message for note in reading.notes if note.level == "odd"]


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_series_of_formulas_that_were_never_computed_is_refused(column: int, tmp_path: Path) -> None:
    path = workbook(tmp_path / "test.xlsx", {"Data": [HEADER, *formulas(column)]})
    with pytest.raises(FileRefused) as refused:
        read(path)
    for part in (
        f"'{HEADER[column]}'",
        "sheet 'Data'",
        "40 cells",
        "Open the file in a spreadsheet program, save it",
    ):
        assert part in str(refused.value)


def test_a_table_that_does_not_begin_in_the_first_column_names_the_right_one(tmp_path: Path) -> None:
    moved = [[None, None, *row] for row in [HEADER, *formulas(1)]]
    path = workbook(tmp_path / "test.xlsx", {"Data": [[], [], *moved]})
    with pytest.raises(FileRefused, match=r"formulas in column 'Current .A.' of sheet 'Data'"):
        read(path)


def test_a_mapped_column_of_formulas_is_refused(tmp_path: Path) -> None:
    own = ["Seconds", "Amps", "Volts"]
    path = workbook(tmp_path / "own.xlsx", {"Data": [own, *(row[:3] for row in formulas(1))]})
    for sheet in ("", "Data!"):
        own_map = {f"{sheet}Seconds": "Time [s]", "Amps": "Current [mA]", "Volts": "Voltage [V]"}
        with pytest.raises(FileRefused, match="formulas in column 'Amps'"):
            read(path, column_map=own_map, sign="charge")


def test_formulas_beside_the_series_or_below_it_are_a_warning(tmp_path: Path) -> None:
    path = workbook(tmp_path / "test.xlsx", {"Data": [HEADER, *formulas(3)]})
    (text,) = said(path)
    assert text.startswith("40 formulas in column 'C-rate' of sheet 'Data' were never computed")
    below = [None, Formula("AVERAGE(B2:B41)")]
    path = workbook(tmp_path / "below.xlsx", {"Data": [HEADER, *rows(), below]})
    assert any("1 formula in column 'Current [A]'" in text for text in said(path))
    assert table_of(path).n == 40


def test_formulas_with_values_are_read_and_nothing_is_said(tmp_path: Path) -> None:
    computed = [[Formula("ROW()", row[0]), row[1], Formula("0", row[2]), 0] for row in rows()]
    path = workbook(tmp_path / "test.xlsx", {"Data": [HEADER, *computed]})
    assert table_of(path)["Voltage [V]"].tolist() == [row[2] for row in rows()]
    assert not said(path)


def test_zeros_of_a_program_that_leaves_the_formulas_to_the_next_one_are_no_values(tmp_path: Path) -> None:
    zeros = [[row[0], Formula("1", 0), row[2], Formula("1", row[3])] for row in rows()]
    made = parts({"Data": sheet_xml([HEADER, *zeros])})
    later = made["xl/workbook.xml"].replace("</workbook>", '<calcPr fullCalcOnLoad="1"/></workbook>')
    with pytest.raises(FileRefused, match=r"formulas in column 'Current .A.' of"):
        read(write(tmp_path / "test.xlsx", made | {"xl/workbook.xml": later}))
    assert table_of(write(tmp_path / "computed.xlsx", made), sign="charge")["Current [A]"].tolist() == [0.0] * 40


def test_a_workbook_of_formulas_alone_says_so(tmp_path: Path) -> None:
    path = workbook(tmp_path / "own.xlsx", {"Data": [["a", "b", "c"], *([Formula("1")] * 3 for _ in range(9))]})
    with pytest.raises(FileRefused, match="The formulas in columns 'A', 'B' and 'C' of sheet 'Data'"):
        read(path)


def test_records_that_are_no_series_say_it_too(tmp_path: Path) -> None:
    capacities = [[n + 1, 5 - n / 100, Formula("1")] for n in range(30)]
    path = workbook(tmp_path / "caps.xlsx", {"Cap": [["Cycle", "Discharge capacity (Ah)", "CE"], *capacities]})
    found = holding(path)
    assert found is not None
    assert any("30 formulas in column 'CE'" in note.message for note in found.notes)
    lacking = [[n + 1, 5000 - n, Formula("1")] for n in range(30)]
    path = workbook(tmp_path / "none.xlsx", {"Cap": [["Cycle", "x", "Discharge capacity (Ah)"], *lacking]})
    with pytest.raises(FileRefused, match="formulas in column 'C' of sheet 'Cap' of 'none"):
        holding(path)


def test_a_sheet_of_labels_with_formulas_is_refused(tmp_path: Path) -> None:
    sheet = [["file", "cell", "mass [g]"], *([f"{n}.csv", f"A{n}", Formula("1")] for n in range(3))]
    with pytest.raises(BadRequest, match="formulas in its column C were never computed"):
        read_sheet(workbook(tmp_path / "labels.xlsx", {"Cells": sheet}))


def test_errors_in_cells_are_a_warning(tmp_path: Path) -> None:
    wrong = [[*row[:3], Wrong("#DIV/0!") if n % 4 == 0 else 1.0] for n, row in enumerate(rows())]
    path = workbook(tmp_path / "test.xlsx", {"Data": [HEADER, *wrong]})
    assert said(path) == [
        "10 cells in column 'C-rate' of sheet 'Data' hold an error, such as #DIV/0! or #N/A, and are left empty."
    ]


@pytest.mark.parametrize("order", [(2, 1, 3), (3, 2, 1), (1, 3, 2), (10, 9, 2)])
def test_sheets_that_stand_in_another_order_are_one_series(order: tuple[int, ...], tmp_path: Path) -> None:
    sheets = {f"Channel_7_{n}": [ARBIN, *samples(1 + 10 * n, 10)] for n in order}
    path = workbook(tmp_path / "test.xlsx", sheets)
    volts = [3.6 + n / 300 for part in sorted(order) for n in range(1 + 10 * part, 11 + 10 * part)]
    assert table_of(path)["Voltage [V]"].tolist() == volts
    assert not said(path)


def test_an_earlier_sheet_whose_number_is_higher_is_not_put_in_front(tmp_path: Path) -> None:
    sheets = {"Channel_7_1": [ARBIN, *samples(50, 12)], "Channel_7_2": [ARBIN, *samples(1, 10)]}
    path = workbook(tmp_path / "test.xlsx", sheets)
    assert table_of(path).n == 12
    assert any("'Channel_7_2' holds a series too" in text for text in said(path))


def test_a_header_that_is_merged_over_two_rows_is_read(tmp_path: Path) -> None:
    lines = [["Time [s]", "Cell"], [None, "Current [A]", "Voltage [V]"], *(row[:3] for row in rows())]
    merged = '<mergeCells count="2"><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/></mergeCells>'
    xml = sheet_xml(lines).replace("</worksheet>", f"{merged}</worksheet>")
    path = write(tmp_path / "test.xlsx", parts({"Data": xml}))
    assert table_of(path)["Time [s]"].tolist() == [10.0 * n for n in range(40)]


OF_XLWT = (
    "c-rllT}V_x6oAj%pZ#CmH4D~279lIM2kD^*Y}G93p)d=JOlr+7Oxu-h3-X~X^C^O;r?Lpk2qDZO`X>x}h=`1Okb=OUAfh0Oq9AoU"
    "b7r>GZkHCye%N!Fb7#)Xd~@#n-g_VRdi&ciWDURsSp+JK#_eDkV`CWXiG&9*KOX1N#NCD=o|1n`>^2-oiw-y3_pN*k`FIb20^Qne"
    ")BuAR)<Yw#h=fD_Nt6=uA;`E7g-pY_r@(OxY2YKjGDvSCJ%#jnDtnW35m^qBF2u6^Y#sClR^%;^^LVY2LwRYa8C;<{PsvgMQ{gV3"
    "$9oPjQC5fIXkD=3@65>7T+jhHa%G`#C>m_&hfEy84)_rF1H4bH)gFJ!KDl-VX#X_cZZ)tUQ8a*Nh;L+kBDR7HUaLGugJt2(5uPs5"
    "MY=Q?3l774i~$8Sha<7jcHDGV*KG^=tF~7=0T%CwMnmD4zp9w0DkBZC;1<lQtak9do7TE#+*)_j3UHyWg>;I0X&rcQHy`eN`)GMh"
    "d0+!snrVL*r@##EHpF2suYr}*zUBy>M>Xb<-bd8w6we}^iO%Caw|uIMEN!7O`zbdU+nGo5I52Zed=|!AU#+~F-8vMQjq$Fsfu_u^"
    "zCb(V;HgxL_4(BT`7ECuJIdu+AaQ4Mzj#L4_ubxMQ#{i5xIF68VFVl$^@{UQ$$-neDDExaWHNfyO<MhjdsQ{;RsO^xmFOLjQZS{;"
    "+H6AY-HL;3UhE6r(?0S}l;`grAlu7kpkntig7tn}HFT!UUBrQk0Z<`eg#;>QK!t!>W!l_}Cj?M60ICFRl0elAs1k7DrMo+CofJUL"
    "0H_i0lmu#KK#hQrjFz5z?E<J90CfW1lR(`Js1vZGvCz?XS^zBuKnnriNub3HXd&Q}2Ygfn&}sm*5-^Jipw$d$C15%Z$(yqRXfpuX"
    "2v{P4HZ!1&fTaf-UVQEpK)V6ZPQa}aXg34e3ApQJZh`Hb06GkS4gwyQK*x`Oq9{#lU91wP0nACT>k{TP^Ug`I=V#jP_`8L7E(4&8"
    "fP)g~G6T8@=%Z!gE~1?ijCRhHq$DLNNy(oRMsHl={Zf8b&|z+s|8+(%jHZ5*{I^m85xipfS-J$mc#p!aq~^~w&{=}TezH#De<7DO"
    "*m@M|p@#gZPkR317YG~sJU?C0^XrySvh9y1<L7T~{|j3WRpI"
)
"""A workbook that xlwt wrote: notes, and a sheet 'Data' of 12 samples whose current is a formula. Packed."""


def test_formulas_of_an_xls_that_were_never_computed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.xls"
    path.write_bytes(zlib.decompress(base64.b85decode(OF_XLWT)))
    with pytest.raises(
        FileRefused, match=r"'Current .A.' of sheet 'Data' of 'old.xls' were never computed: 12 cells"
    ):
        read(path)
