"""``bench.studies``: sets of measurements and simulations that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..records import Measurement, Record, Simulation, Study
from .collections import Collection, Ref

if TYPE_CHECKING:
    from ..backend import Backend


class Studies(Collection[Study]):
    """The studies of the project; ``assign`` puts measurements and simulations into one."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, Study)

    def assign(
        self, study: Ref, *, measurements: list[Ref] | None = None, simulations: list[Ref] | None = None
    ) -> None:
        """Put measurements and simulations (ids, names or records) into a study. A second call changes nothing."""
        for kind, ref in _each(measurements, simulations):
            self._backend.assign(study, kind, ref)

    def unassign(
        self, study: Ref, *, measurements: list[Ref] | None = None, simulations: list[Ref] | None = None
    ) -> None:
        """Take measurements and simulations out of a study. The records themselves stay."""
        for kind, ref in _each(measurements, simulations):
            self._backend.unassign(study, kind, ref)


def _each(measurements: list[Ref] | None, simulations: list[Ref] | None) -> list[tuple[type[Record], Ref]]:
    return [(Measurement, ref) for ref in measurements or []] + [(Simulation, ref) for ref in simulations or []]
