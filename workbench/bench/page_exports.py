"""Pages whose controls work without a kernel, and dashboards as one file, from a bench."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from .. import board_export, export
from ..backend import Backend, FigureAnswer
from ..engine.reader import Progress
from ..errors import BadRequest, Invalid, Problem, instead
from ..passport import Passport, PlotSeen
from ..standalone_page.page import PageSize, Sheet, Source, Told, alone, looked_at, page, size_of
from .recipe_input import RecipeLike, Values, is_protected, merged, unchecked

if TYPE_CHECKING:
    from .boards import Board, SavedPlot

BOARD_ENDINGS = ("html", "pdf", "ipynb", "zip")


def source_of(
    backend: Backend,
    found: RecipeLike | SavedPlot,
    name: str,
    values: Values,
    *,
    protected: bool | None = None,
    with_recipe: bool = True,
    progress: Progress | None = None,
) -> Source:
    """A recipe or a saved plot as a page takes it."""
    from .boards import SavedPlot

    saved = found if isinstance(found, SavedPlot) else None
    recipe = found.recipe() if isinstance(found, SavedPlot) else found
    plot = None if saved is None else seen(saved)
    config = unchecked(recipe)
    guarded = is_protected(backend, recipe, protected)

    def draw(given: Mapping[str, JsonValue]) -> FigureAnswer:
        return backend.figure(config, given, progress, protected=guarded)

    def said(drawn: FigureAnswer) -> Passport:
        return backend.passport(config, drawn, plot=plot, with_recipe=with_recipe)

    return Source(name, config, merged(values, {}), draw, said)


def seen(plot: SavedPlot) -> PlotSeen:
    """A saved plot as a passport names it."""
    return PlotSeen.of(plot.id, plot.revision, plot.name)


def page_of(source: Source, target: Path, progress: Progress | None) -> Sheet:
    """Write a recipe as a page whose controls work; what was drawn first."""
    sheet = alone(source)
    export.write(target, page(target.stem, [sheet], day=today(), told=_told(progress)))
    return sheet


def board_size(board: Board, values: Mapping[str, Values] | None, protected: bool | None) -> PageSize:
    """What the page of a dashboard would hold."""
    return size_of(looked_at(_sources(board, values, protected=protected)))


def export_board(
    board: Board,
    out: str | Path,
    values: Mapping[str, Values] | None,
    *,
    controls: bool,
    protected: bool | None,
    with_recipe: bool,
    progress: Progress | None,
    backend: Backend,
) -> PageSize:
    """Write a dashboard to a file; as ``Board.export``."""
    target = Path(out)
    ending = export.ending_of(target, BOARD_ENDINGS)
    if controls and ending != "html":
        raise BadRequest(f"Controls work in .html alone, not in '.{ending}'.")
    sources = _sources(board, values, protected=protected, with_recipe=with_recipe, backend=backend)
    sheets = looked_at(sources, controls=controls)
    about = board.record.description or ""
    if ending == "html":
        content = page(board.name, sheets, day=today(), description=about, told=_told(progress))
    elif ending == "pdf":
        content = board_export.report(board.name, sheets, day=today(), description=about)
    elif ending == "ipynb":
        content = board_export.notebook(board.name, board_export.parts_of(sheets), board.backend.opening)
    else:
        content = board_export.archive(board_export.parts_of(sheets))
    export.write(target, content)
    return {**size_of(sheets), "bytes": len(content)}


def _sources(
    board: Board,
    values: Mapping[str, Values] | None,
    *,
    protected: bool | None,
    with_recipe: bool = True,
    backend: Backend | None = None,
) -> list[Source]:
    """The plots of a dashboard in the order of their places; ``values`` by the name or the id of a plot."""
    record = board.record
    places = {tile.plot_id: (tile.y, tile.x) for tile in record.layout}
    last = (1 << 31, 0)
    plots = sorted(board.plots(), key=lambda one: places.get(one.id, last))
    known = {key for one in plots for key in (one.id, one.name)}
    for key in values or {}:
        if key not in known:
            words = (
                f"There is no plot '{key}' on '{board.name}'. {instead(key, [one.name for one in plots], 'plots')}"
            )
            raise Invalid(Problem(("values", key), words, "value_error"))
    given = values or {}
    return [
        source_of(
            backend or board.backend,
            plot,
            plot.name,
            given.get(plot.id) or given.get(plot.name) or {},
            protected=protected,
            with_recipe=with_recipe,
        )
        for plot in plots
    ]


def _told(progress: Progress | None) -> Told | None:
    if progress is None:
        return None
    return lambda done, of, word: progress("figures", done, of, word)


def today() -> str:
    return datetime.fromtimestamp(time.time(), UTC).strftime("%Y-%m-%d")
