"""What is said of cells that are read as empty: formulas that were never computed, and errors such as #DIV/0!."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import counted, quoted
from .valueless_cells import letters
from .workbook import Sheet

_HOW = "Open the file in a spreadsheet program, save it, and ingest it again."


def cell_notes(
    file: str, sheets: Sequence[Sheet], labels: Sequence[str] = (), needed: Collection[str] = ()
) -> list[Finding]:
    """The notes about cells of these sheets without a value. ``labels`` are the names of their columns.

    Raises
    ------
    FileRefused
        If most cells of a column in ``needed`` are formulas that were never computed.
    """
    formulas = _by_column([(sheet, sheet.formulas) for sheet in sheets], labels)
    errors = _by_column([(sheet, sheet.errors) for sheet in sheets], labels)
    rows = sum(sheet.rows for sheet in sheets)
    empty = {name: count for name, count in formulas.items() if name in needed and 2 * count >= rows - len(sheets)}
    if empty:
        raise uncomputed(file, sheets, empty)
    made = []
    if formulas:
        text = (
            f"{counted(sum(formulas.values()), 'formula')} in {_places(formulas, sheets)} "
            f"{'was' if sum(formulas.values()) == 1 else 'were'} never computed, so that cells are empty. {_HOW}"
        )
        made.append(Finding("odd", "formulas", text))
    if errors:
        one = sum(errors.values()) == 1
        text = (
            f"{counted(sum(errors.values()), 'cell')} in {_places(errors, sheets)} {'holds' if one else 'hold'} an "
            f"error, such as #DIV/0! or #N/A, and {'is' if one else 'are'} left empty."
        )
        made.append(Finding("odd", "error_cells", text))
    return made


def refuse_formulas(file: str, sheets: Sequence[Sheet]) -> None:
    """Refuse a workbook in which nothing is known, where a sheet of it has columns of formulas without values."""
    for sheet in sheets:
        full = {
            place: count for place, count in sheet.formulas.items() if count > 1 and 2 * count >= sheet.rows - 1
        }
        if full:
            raise uncomputed(file, [sheet], _by_column([(sheet, full)], ()))


def uncomputed(file: str, sheets: Sequence[Sheet], columns: Mapping[str, int]) -> FileRefused:
    """The refusal of a file whose formulas in ``columns`` (name -> number of cells) have no values."""
    cells = sum(columns.values())
    return FileRefused(
        f"The formulas in {_places(columns, sheets)} of '{file}' were never computed: "
        f"{counted(cells, 'cell has', 'cells have')} no value. The program that wrote them cannot compute. {_HOW}"
    )


def _by_column(found: Sequence[tuple[Sheet, Mapping[int, int]]], labels: Sequence[str]) -> Counter[str]:
    """Name of a column, or its letters -> the number of its cells."""
    made: Counter[str] = Counter()
    for sheet, counts in found:
        for place, count in sorted(counts.items()):
            named = 0 <= place < len(labels)
            made[labels[place] if named else letters(sheet.first + place + 1)] += count
    return made


def _places(columns: Collection[str], sheets: Sequence[Sheet]) -> str:
    of = "sheet" if len(sheets) == 1 else "sheets"
    what = "column" if len(columns) == 1 else "columns"
    return f"{what} {quoted(columns)} of {of} {quoted(sheet.name for sheet in sheets)}"
