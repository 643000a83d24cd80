"""A dashboard as one file: a report, a notebook, or an archive of its plots, each figure with its passport. The page is
made by `standalone_page`."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from pydantic import JsonValue

from . import export
from .errors import Invalid
from .passport import Passport, attached, sidecar
from .pictures import printed
from .plotly_files import plotly_source
from .recipe.recipe import Recipe
from .standalone_page import page as standalone
from .standalone_page.page import Sheet


@dataclass(frozen=True)
class Part:
    """A plot of a dashboard: its figure, or why it could not be drawn."""

    name: str
    recipe: dict[str, JsonValue]
    figure: bytes | None
    passport: Passport | None
    warnings: Sequence[str] = ()
    problem: str = ""

    @property
    def values(self) -> dict[str, JsonValue]:
        """The values that it was drawn with."""
        return {} if self.passport is None else dict(self.passport.values)


def parts_of(sheets: Sequence[Sheet]) -> list[Part]:
    """Plots that were looked at, for the files that hold one figure of each."""
    return [_part(one) for one in sheets]


def _part(sheet: Sheet) -> Part:
    source, drawn = sheet.source, sheet.drawn
    recipe: dict[str, JsonValue] = {"plan": {}, "transform": ""}
    try:
        made = Recipe(source.config)
        made.foreign = True  # Whoever opens the notebook did not write the script, as far as anybody there knows.
        recipe = made.raw()
    except Invalid:
        pass  # the problem of the sheet says so
    if drawn is None:
        return Part(source.name, recipe, None, None, problem=sheet.problem)
    warned = [str(one["message"]) for one in drawn.warnings]
    return Part(source.name, recipe, drawn.figure, source.said(drawn), warned)


def report(name: str, sheets: Sequence[Sheet], *, day: str, description: str = "") -> bytes:
    """A dashboard as one pdf: title, day, and of each plot the figure, its values and what it warns of.

    The passports of its figures are attached.

    Raises
    ------
    ExportUnavailable
        If kaleido or a browser is missing.
    """
    said = [one.source.said(one.drawn) for one in sheets if one.drawn is not None]
    return attached(printed(standalone.page(name, sheets, day=day, description=description, report=True)), said)


def notebook(name: str, parts: Sequence[Part], opening: str) -> bytes:
    """A notebook with a section for each plot, which draws it again."""
    first: dict[str, JsonValue] = {}
    cells: list[JsonValue] = []
    for number, part in enumerate(parts):
        made = orjson.loads(export.notebook(part.recipe, name=part.name, values=part.values, opening=opening))
        first = first or made
        title, opens, *rest = made["cells"]
        title["source"] = f"#{title['source']}"
        if part.passport is not None:
            title["metadata"] = {"battery_workbench": orjson.loads(part.passport.as_json())}
        for cell in [title, *([] if number else [opens]), *rest]:
            cell["id"] = f"{cell['id'][:8]}{number:04}"
            cells.append(cell)
    head = export.notebook_cell("markdown", export.heading(name))
    head["id"] = "dashboard"
    made_of = first or orjson.loads(export.notebook({"plan": {}, "transform": ""}, opening=opening))
    return orjson.dumps({**made_of, "cells": [head, *cells]}, option=orjson.OPT_INDENT_2)


def archive(parts: Sequence[Part]) -> bytes:
    """A zip archive with a page and a table of each plot, and the passport of each table."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, part in enumerate(parts, 1):
            stem = f"{number:02} {_plain(part.name)}"
            if part.figure is None or part.passport is None:
                packed.writestr(f"{stem}.txt", part.problem)
                continue
            packed.writestr(
                f"{stem}.html",
                export.html(part.figure, title=part.name, plotlyjs=export.PLOTLY_FILE, passport=part.passport),
            )
            table = export.file(part.figure, "csv")
            packed.writestr(f"{stem}.csv", table)
            packed.writestr(f"{stem}.csv.json", sidecar(table, part.passport))
        packed.writestr(export.PLOTLY_FILE, plotly_source())
    return sink.getvalue()


def _plain(name: str) -> str:
    """A name of a file that every system takes."""
    kept = "".join(letter if letter.isalnum() or letter in " -_." else " " for letter in name)
    return " ".join(kept.split())[:80].rstrip(".") or "plot"
