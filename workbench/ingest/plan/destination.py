"""Where measurements go: the cells, specification and batch that are named for all files, or for one."""

from __future__ import annotations

from dataclasses import dataclass

from ...records import Record
from .labels import Labels, Ratings

Ref = str | Record


@dataclass(frozen=True)
class Destination:
    """Where measurements go: which cell, of which specification and batch. What has no name yet follows the file."""

    specification: Ref | None = None
    ratings: Ratings | None = None
    instance: Ref | None = None
    batch: Ref | None = None
    by_batch: bool = False
    """The batch is said of this one file: a cell of that name in another batch is another cell."""

    def of(self, labels: Labels) -> Destination:
        """With what is said of one file in place of what is meant for all."""
        return Destination(
            labels.specification or self.specification,
            {**(self.ratings or {}), **labels.ratings} or None,
            labels.instance or self.instance,
            labels.batch or self.batch,
            by_batch=labels.batch is not None,
        )
