"""Tables shown to people: the same table for a terminal, a notebook and plain text."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Group


@dataclass(frozen=True)
class Shown:
    """One table; ``note`` is a sentence below it."""

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""


def as_rich(tables: Sequence[Shown]) -> Group:
    """For a terminal, as ``rich`` prints it."""
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table as RichTable

    parts: list[RichTable | str] = []
    for table in tables:
        grid = RichTable(
            title=escape(table.title),
            title_justify="left",
            title_style="bold",
            header_style="dim",
            caption=escape(table.note) or None,
            caption_justify="left",
            show_edge=False,
            pad_edge=False,
        )
        for heading in table.headings:
            grid.add_column(heading, justify="right" if heading in _NUMBERS else "left", overflow="fold")
        for row in table.rows:
            grid.add_row(*map(escape, row))
        parts += [grid if table.rows else f"[bold]{escape(table.title)}[/bold]\n[dim]{table.note}[/dim]", ""]
    return Group(*parts)


_NUMBERS = ("filled", "records", "measurements")
_OPEN_TOGETHER = 3


def as_html(tables: Sequence[Shown]) -> str:
    """HTML for a notebook. Each table can be folded. Up to three tables are open; of more, only the titles show."""
    parts = []
    few = sum(bool(table.rows) for table in tables) <= _OPEN_TOGETHER
    for table in tables:
        head = "".join(f"<th style='text-align:left'>{heading}</th>" for heading in table.headings)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in table.rows
        )
        inside = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if table.rows else ""
        note = f"<p><small>{html.escape(table.note)}</small></p>" if table.note else ""
        opened = " open" if table.rows and few else ""
        parts.append(
            f"<details{opened}><summary><b>{html.escape(table.title)}</b></summary>{inside}{note}</details>"
        )
    return "".join(parts)


def as_text(tables: Sequence[Shown]) -> str:
    """Plain text: columns aligned with blanks."""
    parts = []
    for table in tables:
        lines = [table.headings, *table.rows] if table.rows else []
        widths = [max(len(line[place]) for line in lines) for place in range(len(table.headings))] if lines else []
        drawn = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        parts.append("\n".join(line.rstrip() for line in (table.title, *drawn, table.note) if line))
    return "\n\n".join(parts)
