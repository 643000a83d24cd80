"""Keeping a store: the part of `Bench` that copies, verifies and recomputes what is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..backend import Backend
from .recipe_input import ParamValue

if TYPE_CHECKING:
    from ..ingest.recompute import Recomputed


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
        return self.backend.recompute(where, check=check, progress=progress)
