"""The data of a recipe as a person holds it: frames by step, and the account of how they were read."""

from __future__ import annotations

from typing import Any

from ..dataset import Dataset
from ..messages import counted
from ..transform import frames


class Data(frames.Data):
    """Step name -> DataFrame, or for a series step a mapping of id to DataFrame with ``.complete`` and ``.long()``.

    ``params`` are all effective values; ``options`` the present choices; ``warnings`` what was left out or dropped;
    ``cache`` says whether it was a hit; ``reads`` how many steps ran and sources were read; ``timings`` are
    milliseconds by stage.
    """

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset.steps, dataset.columns)
        self.params: dict[str, Any] = dataset.values
        self.options = dataset.options
        self.warnings = [warning.as_dict() for warning in dataset.warnings]
        self.cache = dataset.cache
        self.reads = dataset.reads
        self.timings = dataset.timings

    def __repr__(self) -> str:
        parts = []
        for name, step in self.items():
            shape = counted(len(step), "source" if isinstance(step, frames.SeriesFrames) else "row")
            parts.append(f"{name}: {shape}")
        warned = f"; {counted(len(self.warnings), 'warning')}" if self.warnings else ""
        return f"<data of {', '.join(parts)}{warned}>"
