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

from ...messages import option_name, spaced
from ...messages import place as typed_where

if TYPE_CHECKING:
    from .report import FileReport, Report, SumRow

HEADINGS = ("file", "status", "format", "rows", "steps", "cycles", "cell", "measurement", "remarks")
SEVERAL = 4
"""From so many files on there are also tables in sum."""
MANY = 30
"""From so many files on the terminal shows in full only those to be looked at; ``--report`` keeps all."""
UNMAPPED = "Tables that look like tests, with column names that no format knows"
_NUMBERS = ("rows", "steps", "cycles", "files")
_COLOURS = {"stored": "green", "extended": "green", "updated": "green", "duplicate": "yellow", "refused": "red"}
_LEVELS = {"odd": "yellow", "repaired": "yellow", "assumed": "", "changed": "", "created": "dim", "kept": "dim"}


def as_rich(report: Report) -> Group:
    """For a terminal: a row a file, the remarks below, then all in sum."""
    parts: list[RenderableType] = [Text(f"Ingest: {report.summary}", "bold")]
    many = len(report) > MANY
    names = dict(zip(map(id, report), _names(report.files), strict=True))
    shown = [file for file in report if not many or file.status == "refused" or file.odd or file.repaired]
    if shown:
        rows = [[names[id(file)], *_cells(file)[1:-1]] for file in shown]
        parts += ["", _grid(HEADINGS[:-1], rows, [_COLOURS[file.status] for file in shown])]
    for file in shown:
        if file.remarks:
            parts += ["", Text(names[id(file)], _COLOURS[file.status]), _remarks(file, brief=many)]
    if many:
        quiet = len(report) - len(shown)
        parts += ["", Text(f"{quiet} files were read without warnings.", "dim")] if quiet else []
    if len(report) >= SEVERAL:
        for title, table in _sums(report):
            headings = list(table[0])
            parts += [
                "",
                Text(title, "bold"),
                _grid(headings, [[_cell(v) for v in row.values()] for row in table]),
            ]
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
    rows = [_cells(file) for file in report]
    parts = [f"<p>{html.escape(report.summary)}</p>", _html_table(HEADINGS, rows)]
    if len(report) >= SEVERAL:
        for title, table in _sums(report):
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


def _sums(report: Report) -> list[tuple[str, list[SumRow]]]:
    found = [("By format", report.by_format()), ("What was assumed, and what settles it", report.assumptions())]
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
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    body = []
    for row in rows:
        cells = (html.escape(cell).replace("\n", "<br>") for cell in row)
        body.append("<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells) + "</tr>")
    return f"<table><thead><tr>{head}</tr></thead>" + "".join(body) + "</table>"


def _names(files: Sequence[FileReport]) -> list[str]:
    """The files by name where no two have the same name, else by path."""
    names = [os.path.basename(file.path) or file.path for file in files]
    counts = Counter(names)
    return [name if counts[name] == 1 else file.path for name, file in zip(names, files, strict=True)]


def _remarks(file: FileReport, *, brief: bool = False) -> RichTable:
    """The sentences about a file, warnings first; ``brief`` leaves out what the tables in sum say."""
    grid = RichTable.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    if file.why:
        grid.add_row("", Text(file.why))
    levels = ("odd", "repaired") if brief else ("odd",) if file.status == "duplicate" else tuple(_LEVELS)
    for level in levels:
        style, told = _LEVELS[level], getattr(file, level)
        for line in [", ".join(told)] if level in ("created", "kept") and told else told:
            grid.add_row(Text(f"  {level}", style), Text(line, style))
    return grid


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
