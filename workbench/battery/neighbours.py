"""What a frame without its rests remembers of the rows that were left out: when the samples beside them were."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

TIME, CURRENT = "Time [s]", "Current [A]"
KEY = "workbench neighbours"
"""The key of ``frame.attrs``."""
Floats = NDArray[np.float64]


class _Attribute(dict[str, None]):
    """A ``Neighbours`` in ``frame.attrs``: pandas copies attributes with every new frame, compares them in ``concat``
    and writes them as JSON into Parquet files. This one is copied by reference, equal to itself alone, and empty in
    JSON."""

    def __init__(self, held: Neighbours) -> None:
        super().__init__()
        self.held = held

    def __deepcopy__(self, _: dict[int, object]) -> _Attribute:
        return self

    def __eq__(self, other: object) -> bool:
        return self is other

    def __reduce__(self) -> tuple[type[_Attribute], tuple[Neighbours]]:
        return _Attribute, (self.held,)


@dataclass(frozen=True)
class Neighbours:
    """Of the rows of a frame, (n,): ``labels`` of its index; ``time``, s; ``order``, their place among the samples with
    time and current, -1 for those without; ``place``, that among the rows of the half cycle; ``before`` and ``after``,
    the time to the sample before and after, s, NaN at the ends. ``missing``: in words, which samples the whole frame
    lacked.
    """

    labels: pd.Index
    time: Floats
    order: NDArray[np.int64]
    place: NDArray[np.int64]
    before: Floats
    after: Floats
    missing: str | None

    @classmethod
    def of(cls, frame: pd.DataFrame, missing: str | None) -> Neighbours | None:
        """Those of a whole frame, or those that it remembers; None without time or current."""
        if TIME not in frame or CURRENT not in frame:
            return None
        if (known := cls.in_frame(frame)) is not None:
            return known
        time = frame[TIME].to_numpy(float, na_value=np.nan)
        kept = np.flatnonzero(np.isfinite(time) & np.isfinite(frame[CURRENT].to_numpy(float, na_value=np.nan)))
        apart = np.maximum(np.diff(time[kept]), 0.0)
        order = np.full(len(frame), -1)
        order[kept] = np.arange(len(kept))
        before, after = np.full(len(frame), np.nan), np.full(len(frame), np.nan)
        before[kept[1:]], after[kept[:-1]] = apart, apart
        return cls(frame.index, time, order, np.arange(len(frame)), before, after, missing)

    @staticmethod
    def remembered(frame: pd.DataFrame, known: Neighbours | None, rows: NDArray[np.intp]) -> pd.DataFrame:
        """``frame``, which has the ``rows`` of another one, with what is ``known`` of those."""
        if known is not None:
            frame.attrs[KEY] = _Attribute(known.of_half_cycle(rows))
        return frame

    @staticmethod
    def told(frame: pd.DataFrame | pd.Series) -> Neighbours | None:
        """What a frame or a column remembers, whatever rows it has now; None if it does not."""
        held = frame.attrs.get(KEY)
        return held.held if isinstance(held, _Attribute) else None

    @classmethod
    def in_frame(cls, frame: pd.DataFrame) -> Neighbours | None:
        """What a frame remembers, for its present rows; None if it does not, or if its rows are not among them."""
        known = cls.told(frame)
        if known is None:
            return None
        if not known.labels.equals(frame.index):
            if not known.labels.is_unique or known.labels.nlevels != frame.index.nlevels:
                return None
            rows = known.labels.get_indexer(frame.index)
            if bool((rows < 0).any()):
                return None
            known = known._take(rows)
        # Rows that were numbered anew may have the numbers of others.
        time = frame[TIME].to_numpy(float, na_value=np.nan) if TIME in frame else np.zeros(0)
        return known if np.array_equal(known.time, time, equal_nan=True) else None

    def of_half_cycle(self, rows: NDArray[np.intp]) -> Neighbours:
        """Those of the rows of a half cycle."""
        return replace(self._take(rows), place=np.arange(len(rows)))

    def _take(self, rows: NDArray[np.intp]) -> Neighbours:
        return Neighbours(
            self.labels[rows],
            self.time[rows],
            self.order[rows],
            self.place[rows],
            self.before[rows],
            self.after[rows],
            self.missing,
        )
