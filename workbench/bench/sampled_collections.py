"""The collections whose records hold sampled data: measurements, simulations, analyses, property sets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from ..records import Analysis, MaterialProperty, Measurement, Record, Simulation
from ..transform.frames import frame_of
from .collections import Collection, Ref
from .input_tables import table_of

if TYPE_CHECKING:
    from ..backend import Backend

R = TypeVar("R", bound=Record)
Frame = Any
"""A DataFrame, an Arrow table, a mapping of arrays or a workbench Table."""


class Sampled(Collection[R]):
    """Records with one table of sampled columns each."""

    def __init__(self, backend: Backend, kind: type[R]) -> None:
        super().__init__(backend, kind)

    def _frame(self, ref: Ref, dataset: str, columns: list[str] | None = None) -> pd.DataFrame:
        return frame_of(self._backend.samples(self.get(ref), dataset, columns))


class Measurements(Sampled[Measurement]):
    """Measurements, with their time series, steps and cycles."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, Measurement)

    def create(
        self,
        *,
        time_series: Frame | None = None,
        steps: Frame | None = None,
        sign: str | None = None,
        **fields: Any,
    ) -> Measurement:
        """Make a measurement; with ``time_series`` its samples pass the checks at the door.

        Parameters
        ----------
        time_series : samples under the names of the interface (``Time [s]``, ``Current [A]`` positive on
            discharge, ``Voltage [V]`` ...); other columns are kept under their own names.
        steps : a step table to be used as it is; by default it is computed from the samples.
        sign : what a positive current in ``time_series`` means, "discharge" or "charge", where the checks cannot
            tell or object; with "charge" current and power change their sign on the way in.
        fields : ``instance`` (id, name or record), ``name``, ``tags``, ``protocol`` ...

        Raises
        ------
        FileRefused
            If the samples break a convention; says which, and the mend. Nothing is stored.
        """
        linked = self._linked(fields)
        if time_series is None:
            return self._backend.create(Measurement, {"measurement_type": "properties", **linked})
        given = None if steps is None else table_of(steps)
        return self._backend.add_time_series(linked, table_of(time_series), given, sign)

    def extend(self, ref: Ref, time_series: Frame) -> Measurement:
        """Append samples to a running test; steps and cycles follow in the same transaction.

        The rows need ``Time [s]``, not falling and not before the last stored one, and ``Step count``.
        """
        return self._backend.extend(self.get(ref).id, table_of(time_series))

    def export(self, ref: Ref, path: str | Path) -> list[Path]:
        """Write a measurement with all that is known of it: ``.bdf.csv`` and ``.bdf.parquet`` (Battery Data Format,
        current positive on charge) or ``.parquet`` (our names and sign).

        `Bench.ingest` reads such a file back to the bit, with its cell, batch, specification, tags and properties; in
        text that stands in a ``.bdf.json`` beside it. Answers the files that were written.

        Raises
        ------
        BadRequest
            For another ending, a folder that is not there, or a measurement without samples.
        """
        return self._backend.export_measurement(self.get(ref), Path(path))

    def time_series(self, ref: Ref, columns: list[str] | None = None) -> pd.DataFrame:
        """All samples, exact; ``columns`` picks some."""
        return self._frame(ref, "series", columns)

    def steps(self, ref: Ref, *, life: bool = False) -> pd.DataFrame:
        """One row per step: the ``steps`` summary; ``life`` adds the columns over the life of the cell."""
        record = self.get(ref)
        return frame_of(
            self._backend.over_life(record, "steps") if life else self._backend.samples(record, "steps")
        )

    def cycles(self, ref: Ref, *, life: bool = False) -> pd.DataFrame:
        """One row per cycle: the ``cycles`` summary; ``life`` adds the columns over the life of the cell."""
        return frame_of(self._backend.over_life(self.get(ref), "cycles")) if life else self._frame(ref, "cycles")


class Simulations(Sampled[Simulation]):
    """Simulations, with their time series and steps."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, Simulation)

    def create(self, *, time_series: Frame | None = None, steps: Frame | None = None, **fields: Any) -> Simulation:
        """Make a simulation from its time series (columns as for measurements) and, if given, its steps."""
        tables = {"series": time_series, "steps": steps}
        return self._backend.create_with_tables(Simulation, self._linked(fields), _tables(tables))

    def time_series(self, ref: Ref, columns: list[str] | None = None) -> pd.DataFrame:
        """All samples, exact."""
        return self._frame(ref, "series", columns)

    def steps(self, ref: Ref) -> pd.DataFrame:
        """The step table it came with."""
        return self._frame(ref, "steps")


class Analyses(Sampled[Analysis]):
    """Analyses of measurements, each with a table."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, Analysis)

    def create(self, *, table: Frame | None = None, **fields: Any) -> Analysis:
        """Make an analysis of a measurement with its table; column names are kept as they are."""
        return self._backend.create_with_tables(Analysis, self._linked(fields), _tables({"series": table}))

    def table(self, ref: Ref) -> pd.DataFrame:
        """The table of an analysis."""
        return self._frame(ref, "series")


class MaterialProperties(Sampled[MaterialProperty]):
    """Property sets of materials (open-circuit curves and the like), each with a table."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, MaterialProperty)

    def create(self, *, table: Frame | None = None, **fields: Any) -> MaterialProperty:
        """Make a property set of a material with its table."""
        return self._backend.create_with_tables(MaterialProperty, self._linked(fields), _tables({"series": table}))

    def table(self, ref: Ref) -> pd.DataFrame:
        """The table of a property set."""
        return self._frame(ref, "series")


def _tables(given: Mapping[str, Frame | None]) -> dict[str, Any]:
    return {dataset: table_of(frame) for dataset, frame in given.items() if frame is not None}
