"""The records with a table of samples: measurements, simulations, analyses and material properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ..quick_import import later
from ..records import Analysis, MaterialProperty, Measurement, Record, Simulation
from ..table import Table
from .collections import Collection, Ref, listed
from .recipe_input import Unchecked

if TYPE_CHECKING:
    import pandas as pd

    from ..backend import Backend
    from ..transform import frames
    from . import input_tables
    from .input_tables import TableLike
else:  # pandas waits for the first frame
    frames = later("workbench.transform.frames")
    input_tables = later("workbench.bench.input_tables")

R = TypeVar("R", bound=Record)


class Sampled(Collection[R]):
    """Records that have a table of samples each."""

    def __init__(self, backend: Backend, kind: type[R]) -> None:
        super().__init__(backend, kind)

    def _frame(self, ref: Ref, dataset: str, columns: Iterable[str] | None = None) -> pd.DataFrame:
        record = self.get(ref)
        table = self._backend.samples(record, dataset, listed(columns, "columns"))
        return frames.whole_frame(table, record.id) if dataset == "series" else frames.frame_of(table)


class Measurements(Sampled[Measurement]):
    """Measurements, with their time series, steps and cycles."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, Measurement)

    def create(
        self,
        *,
        time_series: TableLike | None = None,
        steps: TableLike | None = None,
        sign: str | None = None,
        **fields: Unchecked,
    ) -> Measurement:
        """Create a measurement. With ``time_series``, its samples are checked as on ingest.

        Parameters
        ----------
        time_series : samples under the column names of the workbench (``Time [s]``, ``Current [A]`` positive on
            discharge, ``Voltage [V]`` ...). Other columns are kept under their own names.
        steps : a step table, which is stored as it is. By default the steps are computed from the samples.
        sign : what a positive current in ``time_series`` means, "discharge" or "charge". It is needed if the checks
            cannot find it out or refuse the samples. With "charge", current and power change their sign when they are
            stored.
        fields : ``instance`` (id, name or record), ``name``, ``tags``, ``protocol`` ...

        Raises
        ------
        FileRefused
            If the samples break a convention; the message names it and the fix. Nothing is stored.
        """
        linked = self._linked(fields)
        with self._links_by_name():
            if time_series is None:
                return self._backend.create(Measurement, {"measurement_type": "properties", **linked})
            given = None if steps is None else input_tables.table_of(steps)
            return self._backend.add_time_series(linked, input_tables.table_of(time_series), given, sign)

    def extend(self, ref: Ref, time_series: TableLike) -> Measurement:
        """Append samples to a running test. Steps and cycles are updated in the same transaction.

        The rows need ``Step count`` and ``Time [s]``. The time must not decrease, and its first value must not be
        before the last stored one.

        Raises
        ------
        FileRefused
            If the rows break a convention; the message names it and the fix. Nothing is stored.
        """
        return self._backend.extend(self.get(ref).id, input_tables.table_of(time_series))

    def export(self, ref: Ref, path: str | Path) -> list[Path]:
        """Write a measurement with its record to a file.

        The ending of ``path`` selects the format: ``.bdf.csv`` or ``.bdf.parquet`` (Battery Data Format, current
        positive on charge), or ``.parquet`` (column names and sign of the workbench).

        `Bench.ingest` reads such a file back exactly, with its cell, batch, specification, tags, properties and what
        is excluded. For ``.bdf.csv`` these are in a ``.bdf.json`` next to it. Returns the paths of the written files.

        Raises
        ------
        BadRequest
            For another ending, a folder that does not exist, or a measurement without samples.
        """
        return self._backend.export_measurement(self.get(ref), Path(path))

    def time_series(self, ref: Ref, columns: Iterable[str] | None = None) -> pd.DataFrame:
        """All samples, exactly as stored, one row each; ``columns`` selects some columns."""
        return self._frame(ref, "series", columns)

    def steps(self, ref: Ref, *, life: bool = False) -> pd.DataFrame:
        """The ``steps`` summary, one row per step; ``life`` adds the columns over the life of the cell."""
        record = self.get(ref)
        return frames.frame_of(
            self._backend.over_life(record, "steps") if life else self._backend.samples(record, "steps")
        )

    def cycles(self, ref: Ref, *, life: bool = False) -> pd.DataFrame:
        """The ``cycles`` summary, one row per cycle; ``life`` adds the columns over the life of the cell."""
        return (
            frames.frame_of(self._backend.over_life(self.get(ref), "cycles"))
            if life
            else self._frame(ref, "cycles")
        )


class Simulations(Sampled[Simulation]):
    """Simulations, with their time series and steps."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, Simulation)

    def create(
        self, *, time_series: TableLike | None = None, steps: TableLike | None = None, **fields: Unchecked
    ) -> Simulation:
        """Create a simulation with its time series (columns as for measurements) and, if given, its steps."""
        tables = {"series": time_series, "steps": steps}
        return self._backend.create_with_tables(Simulation, self._linked(fields), _tables(tables))

    def time_series(self, ref: Ref, columns: Iterable[str] | None = None) -> pd.DataFrame:
        """All samples, exactly as stored, one row each; ``columns`` selects some columns."""
        return self._frame(ref, "series", columns)

    def steps(self, ref: Ref) -> pd.DataFrame:
        """The step table that was given with the simulation."""
        return self._frame(ref, "steps")


class Analyses(Sampled[Analysis]):
    """Analyses of measurements, each with a table."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, Analysis)

    def create(self, *, table: TableLike | None = None, **fields: Unchecked) -> Analysis:
        """Create an analysis of a measurement with its table. Column names stay as they are."""
        return self._backend.create_with_tables(Analysis, self._linked(fields), _tables({"series": table}))

    def table(self, ref: Ref) -> pd.DataFrame:
        """The table of an analysis."""
        return self._frame(ref, "series")


class MaterialProperties(Sampled[MaterialProperty]):
    """Property sets of materials (open-circuit curves and the like), each with a table."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend, MaterialProperty)

    def create(self, *, table: TableLike | None = None, **fields: Unchecked) -> MaterialProperty:
        """Create a property set of a material with its table."""
        return self._backend.create_with_tables(MaterialProperty, self._linked(fields), _tables({"series": table}))

    def table(self, ref: Ref) -> pd.DataFrame:
        """The table of a property set."""
        return self._frame(ref, "series")


def _tables(given: Mapping[str, TableLike | None]) -> dict[str, Table]:
    return {dataset: input_tables.table_of(frame) for dataset, frame in given.items() if frame is not None}
