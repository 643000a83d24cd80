"""Keeping a store: the part of `Bench` that copies, verifies and recomputes what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..backend import Backend
from ..quick_import import later
from ..records import Dashboard, Measurement, Record
from .collections import filters_of
from .recipe_input import ParamValue

if TYPE_CHECKING:
    from .. import fleet
    from ..engine.reader import Cancel
    from ..fleet import Warmed
    from ..ingest.recompute import Recomputed
else:  # whoever works on no dashboard as a whole need not wait for it
    fleet = later("workbench.fleet")


class Maintaining:
    """What `Bench` does with its whole store."""

    backend: Backend

    def backup(self, destination: str | Path) -> None:
        """Copy the whole store to a new file while it is in use. A server writes the copy on its own machine.

        Samples that a local store keeps outside of its file go to the folder with the name of the copy and
        ``.samples``; those of a server's store go into the copy.
        """
        self.backend.backup(destination)

    def verify(self) -> list[str]:
        """Everything that is wrong with the store, as sentences; empty if it is sound. Reads the whole store."""
        return self.backend.verify()

    def warm(
        self,
        dashboards: str | Record | Sequence[str | Record] | None = None,
        *,
        progress: Callable[[int, int, str], None] | None = None,
        cancel: Cancel | None = None,
    ) -> Warmed:
        """Make what the plots of dashboards show at their defaults, so that whoever opens them next does not wait.

        The data are made where the executor of this bench says (``wb.open(..., executor=...)``); each figure is drawn
        on this machine, by the rules for its script.

        Parameters
        ----------
        dashboards : names, ids or records of dashboards, one or several; without them all of the project.
        progress : called with the number done, the number in all, and the name of the next plot.
        cancel : stops the work when it is set.

        Returns
        -------
        Warmed
            How many ``plots`` are ready, and ``failed``: "dashboard: plot" -> reason.

        Raises
        ------
        NotFound
            For a dashboard that does not exist.
        """
        if dashboards is None:
            wanted: Sequence[str | Record] = [
                str(id) for id in self.backend.table(Dashboard, {}, ["id"], None)["id"].tolist()
            ]
        else:
            wanted = [dashboards] if isinstance(dashboards, str | Record) else list(dashboards)
        boards = [self.backend.get(Dashboard, one) for one in wanted]
        return fleet.warm(self.backend, boards, progress=progress, cancel=cancel)

    def export_tests(
        self,
        folder: str | Path,
        where: Mapping[str, ParamValue] | None = None,
        *,
        ending: str = ".bdf.parquet",
        progress: Callable[[int, int, str], None] | None = None,
        cancel: Cancel | None = None,
    ) -> dict[str, str]:
        """Write many tests to a folder, each to a file with the name of its cell and its own; see
        ``bench.measurements.export``.

        Parameters
        ----------
        folder : an existing folder; files of these names in it are replaced.
        where : filters as in a ``list`` step, such as ``{"batch": ["A"]}``; without them all of the project.
        ending : ``.bdf.csv``, ``.bdf.parquet`` or ``.parquet``.
        progress : called with the number done, the number in all, and the name of the next file.
        cancel : stops the work when it is set.

        Returns
        -------
        dict
            File name -> why it could not be written; empty if all were.

        Raises
        ------
        BadRequest
            For another ending, or a folder that does not exist.
        """
        ids = self.backend.listing("measurements", filters_of(where or {}), ["id"], None)["id"].tolist()
        found = [self.backend.get(Measurement, str(id)) for id in ids]
        return fleet.export(self.backend, found, Path(folder), ending, progress=progress, cancel=cancel)

    def recompute(
        self,
        where: Mapping[str, ParamValue] | None = None,
        *,
        check: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Recomputed:
        """Compute steps and cycles again where an older rule computed them. Tables that a user gave stay as they are.

        Each measurement is written in one transaction: after an interruption, the next call continues.

        Parameters
        ----------
        where : filters as in a ``list`` step, such as ``{"batch": ["A"]}``; without them all of the project.
        check : only report what would be done.
        progress : called with the number done, the number in all, and the name of the next measurement.

        Returns
        -------
        Recomputed
            ``measurements`` that were recomputed, and ``failed``: name -> reason.

        Raises
        ------
        BadRequest
            On a remote bench: run ``workbench recompute`` on the server's machine.
        """
        chosen = None if where is None else filters_of(where)
        return self.backend.recompute(chosen, check=check, progress=progress)
