"""How the report of an ingest shows itself, in a terminal and in a notebook."""

from __future__ import annotations

import html
import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from ...messages import counted, option_name, spaced
from ...messages import place as typed_where
from .said_often import SEVERAL, InSum, created, short_names

if TYPE_CHECKING:
    from .report import FileReport, Report, SumRow

HEADINGS = ("file", "status", "format", "rows", "steps", "cycles", "cell", "measurement", "remarks")
MANY = 30
"""From so many files on the terminal shows in full only those to be looked at; ``--report`` keeps all."""
UNMAPPED = "Tables that look like tests, with column names that no format knows"
_NUMBERS = ("rows", "steps", "cycles", "files")
_COLOURS = {"stored": "green", "extended": "green", "updated": "green", "duplicate": "yellow", "refused": "red"}
_LEVELS = {
    "refused": "",
    "": "",
    "warning": "yellow",
    "repaired": "yellow",
    "assumed": "",
    "changed": "",
    "created": "dim",
    "kept": "dim",
}
_BRIEFLY_NOT = ("assumed", "changed", "created", "kept")


def as_rich(report: Report) -> Group:
    """For a terminal: a row a file, then what each says alone, what many say alike, and all in sum."""
    said = InSum(report.files) if len(report) >= SEVERAL else None
    parts: list[RenderableType] = [Text(f"Ingest: {report.headline}", "bold")]
    many = len(report) > MANY
    names = (
        said.names if said else dict(zip(map(id, report), short_names([one.path for one in report]), strict=True))
    )
    shown = [file for file in report if not many or _is_to_be_looked_at(file, said)]
    if shown:
        rows = [[names[id(file)], *_cells(file)[1:-1]] for file in shown]
        parts += ["", _grid(HEADINGS[:-1], rows, [_COLOURS[file.status] for file in shown])]
    for file in shown:
        if (remarks := _remarks(file, said, brief=many)) is not None:
            parts += ["", Text(names[id(file)], _COLOURS[file.status]), remarks]
    if many and (quiet := _quiet(report, shown, said)):
        parts += ["", Text(quiet, "dim")]
    for title, table in _sums(report, said):
        headings = list(table[0])
        grid = _grid(headings, [[_cell(v) for v in row.values()] for row in table])
        parts += ["", Text(title, "bold"), grid]
    if said and (made := created(report.files)):
        parts += ["", Text(f"Created: {made}", "dim")]
    if report.unused:
        parts += ["", Text("Rows of the sheet that match no file", "yellow"), *map(Text, report.unused)]
    if report.unmapped:
        parts += ["", Text(UNMAPPED, "bold yellow")]
        parts += [line for file in report.unmapped for line in ("", Text(file.path, "yellow"), Text(file.why))]
    if report.skipped:
        parts += ["", Text(_skipped(report.skipped), "dim")]
    return Group(*parts)


def as_html(report: Report) -> str:
    """For a notebook: the same as tables."""
    said = InSum(report.files) if len(report) >= SEVERAL else None
    names = (
        said.names if said else dict(zip(map(id, report), short_names([one.path for one in report]), strict=True))
    )
    rows = [
        [names[id(file)], *_cells(file)[1:-1], "\n".join(file.remarks if said is None else _lines(said.own(file)))]
        for file in report
    ]
    parts = [f"<p>{html.escape(report.headline)}</p>", _html_table(HEADINGS, rows)]
    for title, table in _sums(report, said):
        body = [[_cell(value) for value in row.values()] for row in table]
        parts.append(f"<p><b>{html.escape(title)}</b></p>" + _html_table(list(table[0]), body))
    if report.unused:
        listed = "".join(f"<li>{html.escape(row)}</li>" for row in report.unused)
        parts.append(f"<p>Rows of the sheet that match no file</p><ul>{listed}</ul>")
    if report.unmapped:
        rows = [[file.path, file.why] for file in report.unmapped]
        parts.append(f"<p><b>{UNMAPPED}</b></p>" + _html_table(("file", "how to have it read"), rows))
    if report.skipped:
        parts.append(f"<p>{html.escape(_skipped(report.skipped))}</p>")
    return "".join(parts)


def _is_to_be_looked_at(file: FileReport, said: InSum | None) -> bool:
    """Whether a file says something that has to be read, which not many others say too."""
    own = [("refused", file.why)] if said is None else said.own(file)
    return any(level in ("refused", "warning", "repaired") for level, _ in own)


def _quiet(report: Report, shown: Sequence[FileReport], said: InSum | None) -> str:
    """The sentence about the files that are not shown one by one."""
    left = {id(file) for file in report} - {id(file) for file in shown}
    refused = sum(file.status == "refused" for file in report if id(file) in left)
    if not left:
        return ""
    alone = " of their own" if said and said.often else ""
    read = f"{counted(len(left) - refused, 'file was', 'files were')} read without warnings{alone}"
    return f"{read}, and {refused} {'was' if refused == 1 else 'were'} refused." if refused else f"{read}."


def _lines(own: Sequence[tuple[str, str]]) -> list[str]:
    joined = {"": "", "created": "created ", "changed": "changed ", "kept": "kept ", "refused": ""}
    return [f"{joined.get(level, f'{level}: ')}{sentence}" for level, sentence in own]


def _sums(report: Report, said: InSum | None) -> list[tuple[str, list[SumRow]]]:
    if said is None:
        return []
    often: list[SumRow] = [
        {"what": one.level or "note", "files": len(one.files), "example": one.sentence, "which": one.where}
        for one in said.often
    ]
    found = [
        ("Said of several files", often),
        ("By format", report.by_format()),
        ("What was assumed, and what settles it", report.assumptions()),
    ]
    return [(title, table) for title, table in found if table]


def _cells(file: FileReport) -> list[str]:
    """A file as a row under :data:`HEADINGS`."""
    counts = [spaced(count) if file.rows else "" for count in (file.rows, file.steps, file.cycles)]
    if file.status == "extended":
        counts[0] += f" (+{spaced(file.added)})"
    remarks = "\n".join(file.remarks)
    return [file.path, file.status, file.format, *counts, file.instance, file.measurement, remarks]


def _cell(value: str | int) -> str:
    return spaced(value) if isinstance(value, int) else str(value)


def _grid(headings: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> RichTable:
    table = RichTable(header_style="bold", show_edge=False, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading in _NUMBERS else "left", overflow="fold")
    for place, row in enumerate(rows):
        table.add_row(*map(Text, row), style=styles[place] if styles else "")
    return table


def _html_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    sides = [f"style='text-align:{'right' if heading in _NUMBERS else 'left'}'" for heading in headings]
    head = "".join(f"<th {side}>{html.escape(name)}</th>" for side, name in zip(sides, headings, strict=True))
    body = []
    for row in rows:
        cells = (html.escape(cell).replace("\n", "<br>") for cell in row)
        told = "".join(f"<td {side}>{cell}</td>" for side, cell in zip(sides, cells, strict=True))
        body.append(f"<tr>{told}</tr>")
    return f"<table><thead><tr>{head}</tr></thead>" + "".join(body) + "</table>"


def _remarks(file: FileReport, said: InSum | None, *, brief: bool = False) -> RichTable | None:
    """The sentences about a file, warnings first, without those that many files say; ``brief`` leaves out what the
    tables in sum say. None if nothing is left."""
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    own = InSum([file]).own(file) if said is None else said.own(file)
    for level, style in _LEVELS.items():
        if (brief and level in _BRIEFLY_NOT) or (level == "created" and said is not None):
            continue
        for sentence in (sentence for one, sentence in own if one == level):
            shown = level if level not in ("", "refused") else ""
            grid.add_row(Text(f"  {shown}" if shown else "", style), Text(sentence, style))
    return grid if grid.row_count else None


def _skipped(names: Sequence[str]) -> str:
    """The files that were skipped, all of them; of very many how many there are of each ending, and where all stand."""
    if len(names) <= MANY:
        return f"Skipped: {', '.join(names)}"
    endings = Counter(os.path.splitext(name)[1].lower() or "no ending" for name in names)
    counts = ", ".join(f"{spaced(count)} of {ending}" for ending, count in endings.most_common())
    where = (
        "skipped of the report names them"
        if typed_where() == "python"
        else f"{option_name('report')} keeps their names"
    )
    return f"Skipped: {spaced(len(names))} files ({counts}); {where}."
