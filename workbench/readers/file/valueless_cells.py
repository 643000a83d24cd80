"""Cells of a workbook that are read as empty though something is in them: formulas without a value, and errors."""

from __future__ import annotations

import mmap
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import IO

_BLOCK = 1 << 20
_MOST_CELL = 1 << 16
"""No formula is longer: a spreadsheet program allows 8192 characters."""
_CELL = re.compile(
    rb"""<(?:\w+:)?c\b([^<>]*)>\s*
    (?:<(?:\w+:)?f\b(?:[^<>]*/>|[^<>]*>[^<]*</(?:\w+:)?f>)\s*)
    (?:<(?:\w+:)?v\s*(?:/>|>([^<]*)</(?:\w+:)?v>)\s*)?
    </(?:\w+:)?c>""",
    re.VERBOSE,
)
_ERROR = re.compile(rb"""<(?:\w+:)?c\b((?:(?!\bt\s*=\s*["']e["'])[^<>])*+\bt\s*=\s*["']e["'][^<>]*+)>""")
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,4})\d""")
_OF_TEXT = re.compile(rb"""\bt\s*=\s*["']str["']""")
_XLS = re.compile(rb"\x09\x08\x10\0\0\x06\x10\0|\x06\0.\0..(?P<column>.)\0..\x03\0{5}\xff\xff", re.DOTALL)
"""Records of an .xls: the beginning of a sheet, and a formula (row, column, look) whose value is an empty text."""
_START = re.compile(rb"<(?:\w+:)?c\b")
_LATER = re.compile(rb"""\bfullCalcOnLoad\s*=\s*["'](?:1|true)["']""")
_ATTRIBUTE = re.compile(r"""(?:\w+:)?(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_MOST_LISTED = 1 << 22


@dataclass
class Valueless:
    """Of a sheet: number of the column, from 1 -> how many of its cells are formulas without a value, or errors."""

    formulas: Counter[int] = field(default_factory=Counter)
    errors: Counter[int] = field(default_factory=Counter)


def column_number(letters: bytes) -> int:
    """The number of the column of these letters: A is 1."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def letters(column: int) -> str:
    """The letters of a column: 1 is A."""
    made = ""
    while column:
        column, rest = divmod(column - 1, 26)
        made = chr(65 + rest) + made
    return made


def may_lack_values(block: bytes) -> bool:
    """Whether a part of a sheet can hold formulas or errors."""
    return b"f>" in block or b"<f " in block or b":f " in block or b't="e"' in block or b"t='e'" in block


def valueless_cells(container: zipfile.ZipFile, members: frozenset[str]) -> dict[str, Valueless]:
    """Name of a sheet -> its cells without values, of the sheets whose xml is one of ``members``.

    Programs that write formulas and do not compute them leave the value out, or write 0 and ask the spreadsheet
    program to compute all of them when it opens the file. A column of which each formula is 0 there was not computed.
    """
    listed = _read(container, "xl/workbook.xml")
    later = _LATER.search(listed) is not None
    found = {}
    for name, member in _sheets(listed, _read(container, "xl/_rels/workbook.xml.rels")).items():
        if member in members:
            with container.open(member) as file:
                found[name] = _of_sheet(file, later)
    return found


def blank_formulas_of_xls(path: Path, names: Sequence[str]) -> dict[str, Valueless]:
    """Name of a sheet of an old workbook (.xls) -> its formulas whose value is an empty text, as programs such as xlwt
    write those that they do not compute. Sheets come one after the other, each from a record of its own."""
    found = [Valueless()]
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for record in _XLS.finditer(data):
            if record["column"] is None:
                found.append(Valueless())
            else:
                found[-1].formulas[record["column"][0] + 1] += 1
    return dict(zip(names, found[1:], strict=True)) if len(found) == len(names) + 1 else {}


def _read(container: zipfile.ZipFile, wanted: str) -> bytes:
    name = next((name for name in container.namelist() if name.casefold() == wanted.casefold()), None)
    if name is None:
        return b""
    with container.open(name) as file:
        return file.read(_MOST_LISTED)


def _sheets(listed: bytes, relations: bytes) -> Mapping[str, str]:
    """Name of a sheet -> the member of the archive that holds it."""
    targets = {about.get("Id"): about.get("Target", "") for about in _tags("Relationship", relations)}
    found = {about.get("name", ""): targets.get(about.get("id"), "") for about in _tags("sheet", listed)}
    return {
        name: target.lstrip("/") if target.startswith("/") else f"xl/{target}" for name, target in found.items()
    }


def _tags(name: str, xml: bytes) -> Iterator[dict[str, str]]:
    """The attributes of each tag of this name, without the prefixes of namespaces."""
    text = xml.decode("utf-8", "replace")
    for tag in re.findall(rf"<(?:\w+:)?{name}\b([^<>]*)>", text):
        yield {key: unescape(double or single) for key, double, single in _ATTRIBUTE.findall(tag)}


def _of_sheet(file: IO[bytes], later: bool) -> Valueless:
    made = Valueless()
    zeros: Counter[int] = Counter()
    computed: set[int] = set()
    for block in _whole_cells(file):
        for about, value in _CELL.findall(block):
            place = _PLACE.search(about)
            if place is None:
                continue
            column = column_number(place[1])
            if not value.strip() and not _OF_TEXT.search(about):
                made.formulas[column] += 1
            elif value.strip() == b"0":
                zeros[column] += 1
            else:
                computed.add(column)
        for about in _ERROR.findall(block):
            if place := _PLACE.search(about):
                made.errors[column_number(place[1])] += 1
    for column in zeros if later else ():
        if column not in computed:
            made.formulas[column] += zeros[column]
    return made


def _whole_cells(file: IO[bytes]) -> Iterator[bytes]:
    """The text of a sheet in blocks that cut no cell."""
    rest = b""
    while block := file.read(_BLOCK):
        block = rest + block
        starts = list(_START.finditer(block, max(len(block) - _MOST_CELL, 0)))
        end = starts[-1].start() if starts else len(block)
        yield block[:end]
        rest = block[end:]
    yield rest
