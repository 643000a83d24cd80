"""``bench.trust``: makes scripts of others this user's own, by one clear step, and takes it back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..backend import Backend
from ..drawing import script_in
from ..errors import BadRequest, NotFound, instead
from ..own_scripts import OwnScripts, own_scripts
from ..quick_import import later
from ..records import Dashboard, Project
from .recipe_input import RecipeLike, as_json, unchecked

if TYPE_CHECKING:
    import pandas as pd

    from .boards import SavedPlot
else:  # pandas waits for the first frame
    pd = later("pandas")


class Saved(NamedTuple):
    """A script of a saved revision: where it is, and who saved it as the store or the server says."""

    project: str
    dashboard: str
    plot: str
    revision: int
    author: str
    origin: str
    script: str


class Trusting:
    """What a bench can do about scripts of others."""

    backend: Backend

    def trust(
        self,
        what: RecipeLike | SavedPlot | None = None,
        *,
        plot: str | None = None,
        author: str | None = None,
    ) -> int:
        """Make scripts of others your own on this machine: from now on they run with your rights, not protected.

        Exactly these scripts are trusted. One that changes by a letter, or that is saved later, is untrusted again.
        Read them first: ``bench.untrusted()``.

        Parameters
        ----------
        what : a saved plot (its newest revision) or a recipe. Without it: every script saved in this store, or in the
            projects of the server that your key opens.
        plot : only the scripts of all revisions of the plots of this name.
        author : only scripts that the user of this e-mail address has saved, as the store or the server says. With a
            server you trust its operator too.

        Returns
        -------
        int
            How many scripts became your own; 0 if all were.
        """
        return _record(self.backend).add(_scripts(self.backend, what, plot, author), "trusted")

    def distrust(
        self,
        what: RecipeLike | SavedPlot | None = None,
        *,
        plot: str | None = None,
        author: str | None = None,
    ) -> int:
        """Take `trust` back; your own scripts become untrusted too. Returns how many scripts are untrusted now."""
        return _record(self.backend).remove(_scripts(self.backend, what, plot, author))

    def untrusted(self) -> pd.DataFrame:
        """Every saved script that is not your own: project, dashboard, plot, revision, author, origin, script."""
        record = _record(self.backend)
        rows = [one for one in saved(self.backend) if not record.has(one.script)]
        return pd.DataFrame(rows, columns=list(Saved._fields))


def saved(backend: Backend) -> Iterator[Saved]:
    """The scripts of all revisions of all plots, in every project that can be reached."""
    for project in backend.table(Project, {}, ["id", "name"], None).records():
        there = backend.of_project(str(project["id"]))
        for row in there.table(Dashboard, {}, ["id", "name"], None).records():
            board = there.get(Dashboard, str(row["id"]))
            for plot in there.plots(board):
                for one in there.history(plot):
                    if (script := script_in(one.config)) is not None:
                        by = one.created_by_email or ""
                        yield Saved(
                            str(project["name"]), board.name, plot.name, one.revision, by, one.origin, script
                        )


def _scripts(
    backend: Backend, what: RecipeLike | SavedPlot | None, plot: str | None, author: str | None
) -> list[str]:
    if sum(one is not None for one in (what, plot, author)) > 1:
        raise BadRequest("Name one of a recipe, a plot and an author.")
    if what is not None:
        return [_script(what)]
    found = list(saved(backend))
    if plot is not None:
        return _of(found, "plot", plot, "plot")
    if author is not None:
        # Not what a model wrote or what was restored: somebody else wrote that.
        return _of([one for one in found if one.origin == "save"], "author", author, "author of a saved plot")
    return [one.script for one in found]


def _of(found: list[Saved], field: str, wanted: str, noun: str) -> list[str]:
    names = sorted({name for one in found if (name := str(getattr(one, field)))})
    if wanted not in names:
        raise NotFound(f"There is no {noun} '{wanted}' here. {instead(wanted, names, f'{field}s')}")
    return [one.script for one in found if getattr(one, field) == wanted]


def _script(what: RecipeLike | SavedPlot) -> str:
    from .boards import SavedPlot

    recipe = what.recipe() if isinstance(what, SavedPlot) else what
    script = script_in(unchecked(recipe) if not isinstance(recipe, str) else as_json(recipe))
    if script is None:
        raise BadRequest("This recipe has no script, so there is nothing to trust.")
    return script


def _record(backend: Backend) -> OwnScripts:
    return backend.own_scripts or own_scripts()
