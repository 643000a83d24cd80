"""What stands for a recipe where a bench takes one: the recipe itself, a saved plot, or a text.

A text is the path of an existing file, or else the id or the exact name of a saved plot of the project, or else the
name of a recipe of the gallery; ``gallery:fade`` is always that of the gallery.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ..backend import Backend
from ..errors import BadRequest, instead, near
from ..operations.galleries import gallery_config
from ..quick_import import later
from ..records import Dashboard, Plot
from ..records.values import is_same_name
from .boards import SavedPlot
from .recipe_input import RecipeLike

if TYPE_CHECKING:
    from ..gallery import catalog as gallery
    from .bench import Bench
else:  # a recipe of the gallery has to be named first
    gallery = later("workbench.gallery.catalog")

AnyRecipe: TypeAlias = "RecipeLike | SavedPlot"
"""A recipe as `RecipeLike` has it, a saved plot, or the name of one."""


def meant(bench: Bench, recipe: AnyRecipe) -> AnyRecipe:
    """The recipe, the path or the saved plot that a text stands for; anything else as it is.

    Raises
    ------
    BadRequest
        If there is neither a file nor a saved plot of that name, or if several plots have it. The message has the
        nearest names.
    """
    if not isinstance(recipe, str):
        return recipe
    if _is_file(recipe):
        return Path(recipe)
    if recipe.startswith(gallery.PREFIX):
        return gallery_config(bench.backend, recipe)
    plots = saved_plots(bench.backend)
    found = [one for one in plots if one[1].id == recipe] or [
        one for one in plots if is_same_name(one[1].name, recipe)
    ]
    if len(found) == 1:
        return SavedPlot(bench, found[0][1])
    if found:
        listed = ", ".join(f"'{plot.id}' is on '{board.name}'" for board, plot in found)
        raise BadRequest(f"There are {len(found)} saved plots '{recipe}'. Give the id of one: {listed}.")
    if gallery.is_entry(recipe):
        return gallery_config(bench.backend, recipe)
    raise BadRequest(_unknown(recipe, [plot.name for _, plot in plots]))


def saved_plots(backend: Backend) -> list[tuple[Dashboard, Plot]]:
    """All saved plots of the project with their dashboards, the oldest first."""
    table = backend.table(Dashboard, {}, ["id", "plot_count"], None)
    rows = zip(table["id"].tolist(), table["plot_count"].tolist(), strict=True)
    boards = [backend.get(Dashboard, id) for id, count in rows if count]
    return [(board, plot) for board in boards for plot in backend.plots(board)]


def _is_file(text: str) -> bool:
    return os.path.exists(text) and not os.path.isdir(text)


def _unknown(text: str, plots: list[str]) -> str:
    """That a text is neither a file nor a plot, with the nearest of both."""
    closest = near(text, [*plots, *gallery.entries(), *_files_beside(text)])
    if text.lower().endswith(".json") or os.sep in text:
        problem, ready = f"The recipe '{text}' cannot be read: No such file.", ""
    else:
        problem = f"There is no saved plot '{text}', and no file of that name."
        ready = "" if closest else " bench.gallery() in Python, or workbench gallery, lists the ready recipes."
    return f"{problem} {instead(text, closest or plots, 'saved plots')}{ready}"


def _files_beside(text: str) -> list[str]:
    """The recipe files in the folder that a text points to, written as the text is."""
    folder = os.path.dirname(text)
    try:
        names = sorted(os.listdir(folder or "."))
    except (OSError, ValueError):  # no such folder, or a text that cannot be a path
        return []
    return [os.path.join(folder, name) for name in names if name.lower().endswith(".json")]
