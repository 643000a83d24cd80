"""``Data``, the result of ``bench.dataset``: frames by step, and how they were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import JsonValue

from ..dataset import Dataset
from ..messages import counted
from ..quick_import import later
from ..transform import frames
from .polars_frames import polars_frame

if TYPE_CHECKING:
    import polars as pl

    from .. import export
else:  # files are written later, if at all
    export = later("workbench.export")


class Data(frames.Data):
    """Step name -> DataFrame, or for a series step a mapping of id to DataFrame with ``.complete`` and ``.long()``.

    Attributes
    ----------
    params : all effective values, by param name.
    options : the current choices of each param that has some.
    warnings : what was left out or dropped, each with ``code`` and ``message``.
    cache : whether the data came from the cache, "hit" or "miss".
    reads : how many steps ran and how many sources were read.
    timings : milliseconds by stage.
    """

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset.steps, dataset.columns)
        self._steps = dataset.steps
        self.params: dict[str, JsonValue] = dataset.values
        self.options = dataset.options
        self.warnings = [warning.as_dict() for warning in dataset.warnings]
        self.cache = dataset.cache
        self.reads = dataset.reads
        self.timings = dataset.timings

    def to_polars(self) -> dict[str, pl.DataFrame]:
        """Each step as a polars frame. A series step is one long frame; ``id`` says which source a row is of.

        Raises
        ------
        BadRequest
            If polars is not installed.
        """
        tables = {name: export.step_table(step, self._columns.get(name)) for name, step in self._steps.items()}
        return {name: polars_frame(table) for name, table in tables.items()}

    def __repr__(self) -> str:
        parts = []
        for name, step in self.items():
            shape = counted(len(step), "source" if isinstance(step, frames.SeriesFrames) else "row")
            parts.append(f"{name}: {shape}")
        warned = f"; {counted(len(self.warnings), 'warning')}" if self.warnings else ""
        return f"<data of {', '.join(parts)}{warned}>"
