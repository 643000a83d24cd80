"""Where measurements go: the cells, specification and batch that are named for all files, or for one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from ...records import Record
from ..limits import JsonObject
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
    rated: Mapping[str, Ratings] = field(default_factory=dict)
    """Specification -> its ratings, as said of any file: a sheet often writes them once. Those to be made have them."""
    estimate: Mapping[str, JsonValue] = field(default_factory=dict)
    """The ``source`` of ratings that an exported file brings and that were estimated there."""
    known: Mapping[str, JsonObject] = field(default_factory=dict)
    """What an exported file knows besides of the records that it names: of its ``specification``, ``batch`` and
    ``instance``, where these are to be made."""

    def of(self, labels: Labels) -> Destination:
        """With what is said of one file in place of what is meant for all."""
        specification = labels.specification or self.specification
        rated = self.rated.get(specification, {}) if isinstance(specification, str) else {}
        return Destination(
            specification,
            {**(self.ratings or {}), **rated, **labels.ratings} or None,
            labels.instance or self.instance,
            labels.batch or self.batch,
            by_batch=labels.batch is not None,
            rated=self.rated,
        )

    def rated_by(self, labels: Iterable[Labels]) -> Destination:
        """With the ratings that are said of any of the files; of two for one specification the later one holds."""
        rated: dict[str, Ratings] = {}
        for one in labels:
            if one.specification is not None and one.ratings:
                rated[one.specification] = {**rated.get(one.specification, {}), **one.ratings}
        return replace(self, rated=rated)
