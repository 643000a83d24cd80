"""The catalog as people see it: the same tables in a terminal, in a notebook and as plain text."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.markup import escape
from rich.table import Table as RichTable

if TYPE_CHECKING:
    from .catalog import Catalog, CatalogColumn, CatalogSource

WIDEST = 60
"""Characters of examples that are shown of a column; all of them are in ``as_dict``."""
_ORDER = (
    *("measurements", "instances", "cellSpecifications", "analyses"),
    *("simulations", "materials", "materialProperties"),
)
_EVERYWHERE = (
    "id",
    "project_id",
    "organization_id",
    "created_at",
    "updated_at",
    "created_by",
    "created_by_email",
    "content_hash",
)


@dataclass(frozen=True)
class Shown:
    """One table of the catalog; ``note`` is a sentence below it."""

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""


def shown(catalog: Catalog) -> list[Shown]:
    """The tables: of each source its filled columns and its sampled columns, then the two summaries."""
    sources = sorted(catalog.sources, key=lambda entry: _ORDER.index(entry.source))
    tables = [table for source in sources for table in _of_source(source)]
    for name, columns in (("steps", catalog.steps), ("cycles", catalog.cycles)):
        there = [column for column in columns if column.records]
        rows = [(c.name, c.type, c.unit or "", f"{c.records:,}", c.meaning) for c in there]
        title = f"summary of {name} (op 'summary', dataset '{name}')"
        tables.append(
            Shown(title, ("column", "type", "unit", "measurements", "meaning"), rows, _rest(columns, there))
        )
    return [table for table in tables if table.rows or table.note]


def _of_source(source: CatalogSource) -> list[Shown]:
    counted = f"{source.records:,} record" + ("" if source.records == 1 else "s")
    title = f"{source.source}: {counted}. {source.meaning}"
    if not source.records:
        return [Shown(title, (), [], "There are none yet.")]
    columns = [*source.columns, *source.names]
    filled = [column for column in columns if column.filled]
    told = [column for column in filled if not (column.name in _EVERYWHERE or column.name.endswith("_id"))]
    rows = [(c.name, c.type, c.unit or "", f"{c.filled:,}", _examples(c)) for c in told]
    also = f"Also {', '.join(column.name for column in filled if column not in told)}. "
    note = also + _rest(columns, filled)
    tables = [Shown(title, ("column", "type", "unit", "filled", "examples"), rows, note.strip())]
    if source.series:
        sampled = [(c.name, c.type, c.unit or "", f"{c.records:,}") for c in source.series]
        tables.append(Shown(f"sampled data of {source.source}", ("column", "type", "unit", "records"), sampled))
    return tables


def _rest(columns: Sequence[Any], there: Sequence[Any]) -> str:
    names = {column.name for column in there}
    rest = [column.name for column in columns if column.name not in names]
    return f"Nothing fills {', '.join(rest)}." if rest and there else ""


def _examples(column: CatalogColumn) -> str:
    text = ", ".join(_example(example) for example in column.examples)
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _example(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) else str(value)


def as_rich(catalog: Catalog) -> Group:
    """For a terminal."""
    parts: list[Any] = []
    for table in shown(catalog):
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


def as_html(catalog: Catalog) -> str:
    """For a notebook: each table folds; sources with records are open."""
    parts = []
    for table in shown(catalog):
        head = "".join(f"<th style='text-align:left'>{heading}</th>" for heading in table.headings)
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in table.rows
        )
        inside = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if table.rows else ""
        note = f"<p><small>{html.escape(table.note)}</small></p>" if table.note else ""
        opened = " open" if table.rows else ""
        parts.append(
            f"<details{opened}><summary><b>{html.escape(table.title)}</b></summary>{inside}{note}</details>"
        )
    return "".join(parts)


def as_text(catalog: Catalog) -> str:
    """For a plain prompt: columns set with blanks."""
    parts = []
    for table in shown(catalog):
        lines = [table.headings, *table.rows] if table.rows else []
        widths = [max(len(line[place]) for line in lines) for place in range(len(table.headings))] if lines else []
        drawn = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        parts.append("\n".join(line.rstrip() for line in (table.title, *drawn, table.note) if line))
    return "\n\n".join(parts)
