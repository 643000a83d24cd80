"""The cycler's own word for each step: kept beside the computed type, and compared with the current."""

from __future__ import annotations

import numpy as np

from ...cycling import columns as c
from ...cycling.findings import Finding
from ...cycling.steps import EIS, END_INDEX, REST, START_INDEX, STEP_TYPE_FROM_CYCLER, in_order, step_types
from ...messages import counted
from ...readers.table.states import column_of_step_types, is_rest, meaning
from ...table import Column, Table

_SHOWN = 3
_LEAST_SAMPLES = 3
_SMALL = 0.01
"""A mean current below this share of the largest one of the test contradicts no word for a rest or a direction."""


class CyclerStepTypes:
    """Collects the cycler's word for each step from batches of samples: that of its first sample that has one."""

    def __init__(self) -> None:
        self.column: str | None = None
        self._looked = False
        self._number: int | None = None
        self._words: list[str | None] = []
        self._mixed: list[bool] = []

    def feed(self, table: Table) -> None:
        """Take the next samples, which have a ``Step count``."""
        if not self._looked:
            self.column, self._looked = column_of_step_types(table), True
        if self.column is None or not table.n:
            return
        words, numbers = table[self.column], table[c.STEP_COUNT].values
        if words.kind != "text":
            words = Column.nulls(table.n)
        codes = np.where(words.null_mask(), -1, words.values) if words.kind == "text" else np.full(table.n, -1)
        cuts = np.flatnonzero((np.diff(numbers) != 0) | (np.diff(codes) != 0)) + 1
        for start in (0, *cuts.tolist()):
            word = words.words[codes[start]].strip() if codes[start] >= 0 else None
            if self._number != int(numbers[start]):
                self._number = int(numbers[start])
                self._words.append(word or None)
                self._mixed.append(False)
            elif word and self._words[-1] is None:
                self._words[-1] = word
            elif word and word != self._words[-1]:
                self._mixed[-1] = True

    def added_to(self, steps: Table) -> Table:
        """The steps with the words of the cycler, where it wrote any."""
        if steps.n != len(self._words) or not any(self._words):
            return steps
        return Table(in_order({**steps.columns, STEP_TYPE_FROM_CYCLER: Column.text(self._words)}), steps.n)

    def findings(self, steps: Table, rated_capacity_ah: float | None) -> list[Finding]:
        """The warning about steps whose word contradicts the current: a rest with a load, a charge or a discharge
        without a current, or in the other direction."""
        if steps.n != len(self._words) or not any(self._words):
            return []
        types = step_types(steps, rated_capacity_ah).tolist()
        mean, low, high = (steps[f"{word} current [A]"].floats() for word in ("Mean", "Min", "Max"))
        largest = float(np.nanmax(np.abs(np.concatenate([low, high])), initial=0.0))
        samples = steps[END_INDEX].values - steps[START_INDEX].values + 1
        found = []
        for row, word in enumerate(self._words):
            if word is None or self._mixed[row] or types[row] == EIS or samples[row] < _LEAST_SAMPLES:
                continue
            flows = abs(mean[row]) > _SMALL * largest
            shown = "discharge" if mean[row] > 0 else "charge"
            meant = meaning(word)
            if is_rest(word) and types[row] != REST and flows:
                found.append((row, word, f"has a {shown} of {abs(mean[row]):.3g} A"))
            elif meant is not None and types[row] == REST and low[row] == high[row] == 0:
                found.append((row, word, "has no current"))
            elif meant is not None and flows and meant != shown:
                found.append((row, word, f"has a {shown} of {abs(mean[row]):.3g} A"))
        return [_finding(str(self.column), found)] if found else []


def _finding(column: str, found: list[tuple[int, str, str]]) -> Finding:
    listed = "; ".join(
        f"step {row}, '{word}', {what} on average" if " of " in what else f"step {row}, '{word}', {what}"
        for row, word, what in found[:_SHOWN]
    )
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    message = f"'{column}' contradicts the current in {counted(len(found), 'step')}: {listed}{more}."
    return Finding("odd", "step_type_apart", message)
