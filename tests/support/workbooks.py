"""Workbooks of our own making, as small as they can be written."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACK = "http://schemas.openxmlformats.org/package/2006"
TIME, LONG = 1, 2
"""Styles: a cell as date and time, and as hours that may pass 24."""


@dataclass(frozen=True)
class Formula:
    """A cell with a formula; without ``value`` it was never computed."""

    text: str
    value: object = None


@dataclass(frozen=True)
class Wrong:
    """A cell with an error, such as #DIV/0!."""

    error: str


ARBIN = [
    "Date_Time",
    "Test_Time(s)",
    "Step_Time(s)",
    "Step_Index",
    "Cycle_Index",
    "Voltage(V)",
    "Current(A)",
    "Charge_Capacity(Ah)",
]
DAY = 45425.0
"""2024-05-13 in Excel."""


def samples(first: int, count: int, step: int = 1) -> list[list[object]]:
    made: list[list[object]] = []
    for n in range(first, first + count):
        row = [(DAY + n / 86400, TIME), n * 1.1, n * 1.1, step, 1, 3.6 + n / 300, 1 / 3, n / 7000]
        made.append([*row])
    return made


def letters(column: int) -> str:
    made = ""
    while column:
        column, rest = divmod(column - 1, 26)
        made = chr(65 + rest) + made
    return made


def cell(row: int, column: int, value: object) -> str:
    place = f"{letters(column)}{row}"
    if value is None:
        return ""
    if isinstance(value, Formula):
        found = "<v />" if value.value is None else f"<v>{value.value}</v>"
        return f'<c r="{place}"><f>{escape(value.text)}</f>{found}</c>'
    if isinstance(value, Wrong):
        return f'<c r="{place}" t="e"><v>{value.error}</v></c>'
    if isinstance(value, tuple):
        number, style = value
        return f'<c r="{place}" s="{style}"><v>{number!r}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'


def sheet_xml(rows: Sequence[Sequence[object]]) -> str:
    body = "".join(
        f'<row r="{n}">' + "".join(cell(n, m, value) for m, value in enumerate(row, 1)) + "</row>"
        for n, row in enumerate(rows, 1)
    )
    return f'<?xml version="1.0"?><worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData></worksheet>'


def parts(sheets: Mapping[str, str], shared: str = "") -> dict[str, str]:
    """The members of a workbook whose sheets are the xml given."""
    numbered = list(enumerate(sheets, 1))
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for n, _ in numbered
    )
    listed = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"/>' for n, name in numbered)
    rels = "".join(
        f'<Relationship Id="rId{n}" Type="{_RELS}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n, _ in numbered
    )
    if shared:
        rels += f'<Relationship Id="rIdS" Type="{_RELS}/sharedStrings" Target="sharedStrings.xml"/>'
    rels += f'<Relationship Id="rIdT" Type="{_RELS}/styles" Target="styles.xml"/>'
    made = {
        "[Content_Types].xml": f'<Types xmlns="{_PACK}/content-types"><Default Extension="xml" '
        f'ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-'
        f'package.relationships+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACK}/relationships"><Relationship Id="rId1" '
        f'Type="{_RELS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_RELS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACK}/relationships">{rels}</Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}"><numFmts count="1"><numFmt numFmtId="164" '
        'formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/></numFmts><cellXfs count="3"><xf numFmtId="0"/>'
        '<xf numFmtId="164"/><xf numFmtId="46"/></cellXfs></styleSheet>',
    }
    if shared:
        made["xl/sharedStrings.xml"] = shared
    return made | {f"xl/worksheets/sheet{n}.xml": sheets[name] for n, name in numbered}


def write(path: Path, members: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as container:
        for name, content in members.items():
            container.writestr(name, content)
    return path


def workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    """A workbook of rows of numbers, texts and (number, style)."""
    return write(path, parts({name: sheet_xml(rows) for name, rows in sheets.items()}))
