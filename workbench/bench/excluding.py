"""``bench.exclude``: cycles or whole tests that shall not count, with the reason; and how that is undone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..backend import Backend
from ..errors import BadRequest, NotFound, instead
from ..quick_import import later
from ..records import Analysis, Instance, Measurement
from ..records.exclusion import CYCLES, EXCLUSION, REASON, cycles_text, exclusion_of, runs_of
from ..records.values import is_whole
from .collections import Ref

if TYPE_CHECKING:
    import pandas as pd

    from ..cycling import columns
    from ..transform import frames
else:  # pandas waits for the first frame
    columns = later("workbench.cycling.columns")
    frames = later("workbench.transform.frames")


class Excluding:
    """What a bench can do about cycles and tests that shall not count."""

    backend: Backend

    def exclude(
        self, test: Ref, *, reason: str, cycles: Iterable[int] | int | str | None = None, name: str | None = None
    ) -> Analysis:
        """Leave cycles of a test, or the whole test, out of what is computed and drawn. Nothing is deleted.

        Excluded cycles are not ``Complete`` any more, so that recipes which keep complete cycles leave them out; those
        of the gallery leave out their steps and samples too. Stored analyses become stale and are computed without
        them; in their frames a column ``Excluded`` marks the samples and steps that give no result. A figure of the
        gallery says what was left out. ``bench.include(name)`` undoes it.

        Parameters
        ----------
        test : name, id or record of the measurement.
        reason : why, in words; shown wherever something was left out.
        cycles : numbers of cycles as in ``Cycle count``, or a text such as ``"3-5, 9"``; None: the whole test.
        name : what to call it; by default the test, the cycles and the reason, and the cell where that is taken.

        Raises
        ------
        BadRequest
            Without a reason, or for numbers that are not cycles, or of which the test has none.
        """
        if not isinstance(reason, str) or not reason.strip():
            raise BadRequest("Say why it is excluded: reason='the channel failed'.")
        record = self.backend.get(Measurement, test)
        text = cycles_text(cycles)
        self._check_there(record, text)
        called = name or f"{record.name}, {'all' if text == 'all' else f'cycles {text}'}: {reason.strip()}"
        there = self.exclusions().set_index("name")["instance_name"].to_dict()
        if name is None and called in there:  # tests of several cells may have one name
            cell = self.backend.get(Instance, record.instance_id).name
            called = called if there[called] == cell else f"{cell}, {called}"
        if called in there:
            raise BadRequest(f"There is an exclusion '{called[:80]}' already. Give this one another name=...")
        return self.backend.create(Analysis, exclusion_of(record.id, called, text, reason.strip()))

    def _check_there(self, test: Measurement, text: str) -> None:
        """Refuse runs of cycles without one of the test. A test without cycles may get them later."""
        there = self._numbers(test, "cycles")
        absent = [run for run in runs_of(text) if not _has(there, *run)] if len(there) else []
        if absent:  # samples may come with numbers of their own, which their cycles need not have
            there = np.concatenate([there, self._numbers(test, "series")])
        for first, last in absent:
            if not _has(there, first, last):
                which = f"cycle {first}" if first == last else f"cycles {first} to {last}"
                raise BadRequest(
                    f"The test '{test.name}' has no {which}: its '{columns.CYCLE_COUNT}' goes from {there.min():g} to "
                    f"{there.max():g}."
                )

    def _numbers(self, test: Measurement, dataset: str) -> NDArray[np.float64]:
        """(n,) the ``Cycle count`` of a table of a test; none if it has no such column."""
        name = columns.CYCLE_COUNT
        try:
            found = self.backend.samples(test, dataset, [name])[name].floats()
        except (BadRequest, NotFound):
            return np.empty(0)
        return found[np.isfinite(found)]

    def exclusions(self) -> pd.DataFrame:
        """What is excluded: name, test, cell, cycles, reason."""
        fields = ["name", "measurement_name", "instance_name", CYCLES, REASON, "id"]
        found = frames.frame_of(self.backend.listing("analyses", {"analysisType": EXCLUSION}, fields, None))
        return found.rename(columns={CYCLES: "cycles", REASON: "reason"})

    def include(self, name: str) -> None:
        """Undo an exclusion by its name.

        Raises
        ------
        NotFound
            If there is none of that name; the message has the nearest.
        """
        there = self.exclusions()
        found = (
            there[(there["name"] == name) | (there["id"] == name)]
            if isinstance(name, str) and is_whole(name)
            else there[:0]
        )
        if found.empty:
            raise NotFound(
                f"There is no exclusion '{name}'. {instead(str(name), list(there['name']), 'exclusions')}"
            )
        self.backend.delete(Analysis, str(found["id"].iloc[0]))


def _has(there: NDArray[np.float64], first: int, last: int) -> bool:
    """Whether a number from ``first`` to ``last`` is there."""
    return bool(((there >= first) & (there <= last)).any())
