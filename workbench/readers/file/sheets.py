"""Which sheets of a workbook are read: those of the series, in order, and those with impedance."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from ...cycling.columns import CURRENT, TIME, VOLTAGE
from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import column_map as mapping
from ...messages import quoted
from ..table.columns import plan_columns, unique_labels
from ..table.header_units import is_of_statistics, split_header
from ..table.text_format import TextFormat
from ..table.text_layout import HeaderLine, header_lines, is_number
from ..table.values import clock_format, clocks, durations, numbers
from .cells_of_sheets import cell_notes, refuse_formulas
from .source import Head
from .workbook import Sheet, chosen, is_workbook, joined, sheets_of

Known = Callable[[Head], TextFormat | None]
_TAIL = 1 << 16
_SHEET = "!"
_PLAIN = (
    "sheet", "tabelle", "feuille", "record", "data", "detail", "detaildata", "cycle", "cyc", "zyklus", "loop", "step",
    "schritt", "循环", "工步",
)  # fmt: skip
"""Names of sheets that are parts of one test, whatever their number: the same words before ``1`` and ``2``."""
_STATISTICS = re.compile(r"statisti", re.IGNORECASE)
_MOST_KEPT = 2


@dataclass
class _Chain:
    """Sheets that continue each other: one series."""

    format: TextFormat
    header: HeaderLine
    sheets: list[Sheet] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return sum(sheet.rows for sheet in self.sheets)

    @property
    def hidden(self) -> bool:
        return all(sheet.hidden for sheet in self.sheets)


def view(head: Head, known: Known, column_map: Mapping[str, str] | None = None) -> Head:
    """What is read from a file: the file itself, or the text of those sheets of a workbook that are one series.

    ``known`` gives the format of a text. A ``column_map`` may name the sheet: ``{"Sheet2!Volts": "Voltage [V]"}``.

    Raises
    ------
    FileRefused
        If no sheet can be read, or the workbook does not have the named sheet.
    """
    if not is_workbook(head):
        return head
    sheets = text_sheets(head)
    if not sheets:
        raise FileRefused(f"'{head.name}' is an empty workbook. Export the test again with its data.")
    wanted = {header.partition(_SHEET)[0] for header in column_map or {} if _names_sheet(header, sheets)}
    if len(wanted) > 1:
        raise FileRefused(
            f"The column map names {quoted(sorted(wanted))} of '{head.name}', but a series comes from one. Name one."
        )
    if wanted:
        sheet = chosen(sheets, wanted.pop(), head.name)
        read_from = replace(sheet.head, left=(sheet.name,))
        return _with_notes(read_from, [sheet], known(sheet.head), without_sheet(read_from, column_map))
    spectra = [sheet for sheet in sheets if _holds_spectra(known(sheet.head))]
    chains = _chains([sheet for sheet in sheets if sheet not in spectra], known)
    if not chains:
        if not spectra:
            refuse_formulas(head.name, sheets)
        sheet = spectra[0] if spectra else max(sheets, key=lambda sheet: sheet.rows)
        return _with_notes(sheet.head, [sheet], known(sheet.head), column_map)
    chains = [chain for chain in chains if not _is_statistics(chain)] or chains
    chains = [chain for chain in chains if not chain.format.at_rest] or chains
    main = max(chains, key=lambda chain: (not chain.hidden, chain.rows))
    first, *others = main.sheets
    text = joined(first.head, others, lambda later: _line_of_header(main.format, later) + 1)
    left = [sheet.name for chain in chains if chain is not main for sheet in chain.sheets]
    read = tuple(sheet.name for sheet in main.sheets)
    bare = [sheet.name for sheet in sheets if sheet.name not in (*read, *left) and _has_rows_of(main, sheet)]
    made = replace(
        text,
        beside=tuple(sheet.head for sheet in spectra),
        left=(", ".join(read), *left),
        read_sheets=read,
        bare_sheets=tuple(bare),
    )
    return _with_notes(made, main.sheets, main.format, column_map)


def _with_notes(
    text: Head, sheets: Sequence[Sheet], format: TextFormat | None, column_map: Mapping[str, str] | None
) -> Head:
    """The text of these sheets, with the notes about their cells without a value.

    Raises
    ------
    FileRefused
        If the time, the current or the voltage is of formulas that were never computed.
    """
    if not any(sheet.formulas or sheet.errors for sheet in sheets):
        return text
    headers = [header] if format is not None and (header := format.header(sheets[0].head)) else header_lines(text)
    asked = set(column_map or {})
    fields = max(
        (line.fields for line in headers), key=lambda names: (len(asked & set(names)), len(names)), default=()
    )
    labels, columns = unique_labels(fields), format.columns if format is not None else ()
    plan = plan_columns(labels, columns, clocks=format.clocks if format is not None else ())
    needed = {name: found.header for name in (TIME, CURRENT, VOLTAGE) if (found := plan.find(name)) is not None}
    if TIME not in needed and plan.clock is not None:
        needed[TIME] = plan.clock.header
    for label, ours in (column_map or {}).items():
        needed |= {
            name: label for name in (TIME, CURRENT, VOLTAGE) if split_header(ours).key == split_header(name).key
        }
    return replace(text, said=tuple(cell_notes(text.name, sheets, labels, needed.values())))


def without_sheet(head: Head, column_map: Mapping[str, str] | None) -> Mapping[str, str] | None:
    """The column map without the name of the sheet that was read in front of its headers."""
    if column_map is None or not head.left:
        return column_map
    named = f"{head.left[0]}{_SHEET}".casefold()
    return {
        header[len(named) :] if header.casefold().startswith(named) else header: ours
        for header, ours in column_map.items()
    }


def sheet_notes(head: Head) -> list[Finding]:
    """The notes about the sheets of a workbook that were not read."""
    made = list(head.said)
    if head.bare_sheets:
        one = len(head.bare_sheets) == 1
        text = (
            f"{quoted(head.bare_sheets)} {'has' if one else 'have'} rows like those of the series, but no header line, "
            f"and {'was' if one else 'were'} left out. Repeat the header line above them."
        )
        made.append(Finding("odd", "sheets", text))
    return [*made, *_other_series(head)]


def _other_series(head: Head) -> list[Finding]:
    if len(head.left) < 2:
        return []
    read, *left = head.left
    how = mapping({f"{left[0]}{_SHEET}its header": "Voltage [V]"})
    several = head.read_sheets if len(head.read_sheets) > 1 else ()
    was = f"The sheets {quoted(several)} were read as one series" if several else f"The sheet '{read}' was read"
    hold = "holds a series too, and was" if len(left) == 1 else "hold series too, and were"
    text = f"{was}; {quoted(left)} {hold} left out. To read one, name a header in it, as in {how}."
    return [Finding("odd", "sheets", text)]


def _names_sheet(header: str, sheets: list[Sheet]) -> bool:
    sheet, mark, _ = header.partition(_SHEET)
    return bool(mark) and sheet.casefold() in {known.name.casefold() for known in sheets}


def text_sheets(head: Head) -> list[Sheet]:
    """The sheets of a workbook. The last workbooks are cached, since a file is recognised before it is read."""
    state = head.path.stat()
    return _cached(_Key(head, (str(head.path), head.name, state.st_size, state.st_mtime_ns)))


class _Key:
    """A head as a cache key: heads of the same file, unchanged, are equal."""

    def __init__(self, head: Head, identity: tuple[str, str, int, int]) -> None:
        self.head, self.identity = head, identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.identity == other.identity


@lru_cache(maxsize=_MOST_KEPT)
def _cached(key: _Key) -> list[Sheet]:
    return sheets_of(key.head)


def _holds_spectra(format: TextFormat | None) -> bool:
    return format is not None and format.name.startswith("impedance")


def _chains(sheets: list[Sheet], known: Known) -> list[_Chain]:
    chains: list[_Chain] = []
    for sheet in sheets:
        format = known(sheet.head)
        header = format.header(sheet.head) if format is not None else None
        if format is None or header is None:
            whole = next((one for one in chains if _has_rows_of(one, sheet) and _follows(one, sheet, 0)), None)
            if whole is not None:
                whole.sheets.append(sheet)
            continue
        for chain in chains:
            if header.fields != chain.header.fields:
                continue
            if _follows(chain, sheet, header.line + 1):
                chain.sheets.append(sheet)
                break
            if (place := _place_before(chain, sheet, header.line + 1)) is not None:
                chain.sheets.insert(place, sheet)
                break
        else:
            chains.append(_Chain(format, header, [sheet]))
    return chains


def _has_rows_of(chain: _Chain, sheet: Sheet) -> bool:
    """Whether a sheet begins with a row like those of a series, without a header line: as many fields, most of them
    numbers."""
    cells = next(csv.reader(sheet.head.lines[:1]), [])
    filled = [cell for cell in cells if cell.strip()]
    return len(cells) == len(chain.header.fields) and 2 * sum(map(is_number, filled)) > len(chain.header.fields)


def _follows(chain: _Chain, sheet: Sheet, skip: int) -> bool:
    """Whether a sheet with the columns of a series continues it: the same name except its number, and later times."""
    last, column = chain.sheets[-1], _time_column(chain)
    return column is not None and _are_parts(last.name, sheet.name) and _in_order(last, sheet, skip, column)


def _place_before(chain: _Chain, sheet: Sheet, skip: int) -> int | None:
    """Where a sheet belongs that stands behind the sheets that follow on it: by its number and by its times."""
    column = _time_column(chain)
    if column is None:
        return None
    for place, later in enumerate(chain.sheets):
        lines = _line_of_header(chain.format, later.head) + 1
        if (
            _are_parts(sheet.name, later.name)
            and _numbers_in(sheet.name) < _numbers_in(later.name)
            and _in_order(sheet, later, lines, column)
        ):
            first = place == 0 or _in_order(chain.sheets[place - 1], sheet, skip, column)
            return place if first else None
    return None


def _time_column(chain: _Chain) -> int | None:
    """The place of the time in the columns of a series; None if it has none."""
    plan = plan_columns(unique_labels(chain.header.fields), chain.format.columns, clocks=chain.format.clocks)
    time = plan.find(TIME) or plan.clock
    return None if time is None else plan.labels.index(time.header)


def _in_order(before: Sheet, after: Sheet, skip: int, column: int) -> bool:
    """Whether the times of a sheet begin after the last one of another. ``skip``: the lines above its rows."""
    last, first = _last_cell(before.head.path, column), _first_cell(after.head, skip, column)
    return first is not None and last is not None and first > last


def _numbers_in(name: str) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", name)]


def _are_parts(before: str, after: str) -> bool:
    """Whether the names allow that sheets are one series: Channel_1_1 and Channel_1_2, but not Cell 1 and Cell 2."""
    words, numbers = zip(
        *((re.sub(r"[\W\d_]+", "", n).casefold(), re.findall(r"\d+", n)) for n in (before, after)), strict=True
    )
    if words[0] != words[1]:
        return False
    first, second = numbers
    same = len(first) == len(second) and len(first) > 1 and first[:-1] == second[:-1]
    return same or words[0] in _PLAIN or first == second[: len(first)] or second == first[: len(second)]


def _is_statistics(chain: _Chain) -> bool:
    """Whether sheets hold a summary by the cycler: a row for each cycle or step."""
    summed = any(is_of_statistics(key) for key in chain.header.keys)
    return summed or all(_STATISTICS.match(sheet.name) for sheet in chain.sheets)


def _line_of_header(format: TextFormat, head: Head) -> int:
    header = format.header(head)
    return -1 if header is None else header.line


def _last_cell(path: Path, place: int) -> float | None:
    with open(path, "rb") as file:
        file.seek(max(path.stat().st_size - _TAIL, 0))
        lines = file.read().decode("utf-8", "replace").split("\n")
    return next((value for line in reversed(lines) if (value := _value(line, place)) is not None), None)


def _first_cell(head: Head, skip: int, place: int) -> float | None:
    return next((value for line in head.lines[skip:] if (value := _value(line, place)) is not None), None)


def _value(line: str, place: int) -> float | None:
    """A time in a line of text: seconds of any origin, or None."""
    cells = next(csv.reader([line]), [])
    if len(cells) <= place or not cells[place].strip():
        return None
    cell = pd.Series([cells[place]], dtype="str")
    for read in (numbers, durations):
        value = float(read(cell)[0][0])
        if np.isfinite(value):
            return value
    pattern, _ = clock_format([cells[place]])
    return None if pattern is None else float(clocks(cell, pattern).astype(np.int64)[0])
