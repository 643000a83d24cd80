"""``wb.open_figure``, ``wb.why_changed``: an exported figure as what it was drawn from, and why two figures differ."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pydantic import JsonValue

from ..environment import meant_store
from ..errors import BadRequest, NotFound
from ..passport import Changes, Passport, meant, read_passport, read_passports, why_boards_changed
from ..passport import why_changed as compared
from ..recipe.recipe import Recipe
from .figure import Figure

if TYPE_CHECKING:
    from ..notebook.view import View
    from .bench import Bench


class OpenedFigure:
    """An exported figure: ``passport``, ``recipe``, ``values``, and drawn again by ``figure()`` and ``show()``.

    The script of its recipe counts as untrusted, whoever exported the file: it is drawn protected.
    """

    def __init__(self, path: Path, passport: Passport, bench: Bench | None) -> None:
        self.path = path
        self.passport = passport
        self._bench = bench

    @property
    def values(self) -> dict[str, JsonValue]:
        """The values that it was drawn with, by param name."""
        return dict(self.passport.values)

    @property
    def recipe(self) -> Recipe:
        """The recipe that it was drawn from.

        Raises
        ------
        BadRequest
            If the passport was written without the recipe.
        Invalid
            If the recipe is not sound.
        """
        if self.passport.recipe is None:
            raise BadRequest(f"'{self.path.name}' was exported without its recipe; only hashes of it are there.")
        made = Recipe(self.passport.recipe)
        made.foreign = True
        return made

    @property
    def bench(self) -> Bench:
        """The bench whose data it is drawn from: the one that was given, or that of the default store."""
        if self._bench is None:
            from .opening import open_bench

            place = meant_store(None)
            if not place.exists():
                raise NotFound(
                    f"There is no store at '{place}'. Say where the data are: open_figure(path, bench)."
                )
            self._bench = open_bench(place)
        return self._bench

    def figure(self) -> Figure:
        """The figure as the data are now; errors as ``Bench.figure``."""
        return self.bench.figure(self.recipe, self.values)

    def show(self) -> View:
        """The figure as a live view, as the data are now; errors as ``Bench.show``."""
        return self.bench.show(self.recipe, self.values)

    def why_changed(self) -> Changes:
        """Why it would be drawn differently now; empty if it would not."""
        return why_changed(self, self.figure())

    def __repr__(self) -> str:
        said = self.passport
        parts = [
            f"exported {said.made_at[:10]}" if said.made_at else "",
            said.versions.get("battery-workbench", ""),
        ]
        return f"<figure {said.code} of '{self.path.name}', {', '.join(part for part in parts if part)}>"


Told: TypeAlias = str | os.PathLike[str] | OpenedFigure | Passport | Figure
"""What has a passport: an exported file, an opened figure, or a figure that was just drawn."""


def open_figure(
    path: str | os.PathLike[str], bench: Bench | None = None, *, number: int | None = None
) -> OpenedFigure:
    """An exported figure: what it was drawn from, and the live figure where its data are at hand.

    Parameters
    ----------
    path : a png, svg, pdf, html, parquet, csv or ipynb file that the workbench exported, of a figure or a dashboard.
    bench : where its data are. By default the store of ``$WORKBENCH_STORE``, or ``workbench.db``.
    number : which figure is meant in the file of a dashboard, from 1.

    Raises
    ------
    NotFound
        If there is no such file, or it has no passport.
    BadRequest
        If its passport is damaged, or a newer workbench wrote it; or if there are several figures and none is meant.
    """
    return OpenedFigure(Path(path), read_passport(path, number), bench)


def why_changed(before: Told, after: Told) -> Changes:
    """Why two figures differ: by their data, recipe, script, values or versions, and by which of them.

    Parameters
    ----------
    before, after : exported files, opened figures, or figures of ``bench.figure``. Two files of a dashboard are
        compared plot by plot, and the place of each change begins with the name of its plot; a file of one figure is
        compared with the figure of the same plot.

    Returns
    -------
    Changes
        Each with ``kind`` (data, plan, code, params, values, versions or figure), ``place`` and ``text``; empty if the
        figures are the same. Data name each source that grew, and by how much.

    Raises
    ------
    NotFound, BadRequest
        As `open_figure`; BadRequest also for a figure that no bench drew.
    """
    old, new = _passports(before), _passports(after)
    if len(old) > 1 and len(new) > 1:
        return why_boards_changed(old, new)
    return compared(_same_plot(before, old, new), _same_plot(after, new, old))


def _same_plot(told: Told, found: list[Passport], other: list[Passport]) -> Passport:
    """The passport of what was given, or of its figure of the plot that the other one shows."""
    if len(found) > 1 and (plot := other[0].plot) is not None:
        for one in found:
            if one.plot is not None and one.plot.id == plot.id:
                return one
    return found[0] if len(found) == 1 else meant(found, _name(told), None)


def _name(told: Told) -> str:
    return Path(told).name if isinstance(told, str | os.PathLike) else "this"


def _passports(told: Told) -> list[Passport]:
    if isinstance(told, Passport):
        return [told]
    if isinstance(told, OpenedFigure):
        return [told.passport]
    if isinstance(told, Figure):
        return [told.workbench.passport]
    return read_passports(told)
