"""State of charge within one test: charge counted between the named limits of voltage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from .charge import counted
from .checked import Checked
from .half_cycles import rest_limit
from .inputs import Floats
from .result import Remark

_REACHED = 0.02
Limits = tuple[float, float]
"""The lower and the upper limit of voltage, V."""


@dataclass(frozen=True)
class CountedCharge:
    """Of each sample, (n,): ``removed``, A.h discharged since the first one; ``soc``, from 0 to 1, NaN where nothing
    passed. ``words`` say what SOC refers to, empty if to the named limits; ``remark`` is that for the whole table."""

    removed: Floats
    soc: Floats
    words: str
    remark: Remark | None

    @property
    def remarks(self) -> tuple[Remark, ...]:
        return () if self.remark is None else (self.remark,)


def count_charge(samples: Checked, limits: Limits | None, capacity: float | None) -> CountedCharge:
    """Count the charge of a test.

    SOC is 1 at the most charged sample that comes within 20 mV of the upper limit, and 0 at the least charged one that
    comes within 20 mV of the lower limit. With one of them, ``capacity`` (A.h) gives the other. With neither, SOC
    is relative: 0 and 1 are the least and the most charged sample of the test.
    """
    removed = removed_charge(samples.frame, samples.current)
    full, empty = _anchors(samples, removed, limits)
    if full is not None and empty is not None and empty > full:
        return CountedCharge(removed, 1 - (removed - full) / (empty - full), "", None)
    if capacity is not None and capacity > 0 and (full is not None or empty is not None):
        top = full if full is not None else (empty or 0.0) - capacity
        return CountedCharge(removed, 1 - (removed - top) / capacity, "", None)
    span = float(np.ptp(removed)) if len(removed) else 0.0
    if not span > 0:
        nothing = Remark("soc_unknown", "SOC is unknown: no charge passed between the samples.")
        return CountedCharge(removed, np.full(len(removed), np.nan), "SOC is unknown", nothing)
    why = "no limits of voltage are given" if limits is None else "the test does not reach both limits of voltage"
    remark = Remark(
        "soc_relative",
        f"SOC is relative: {why}, so that 0 and 1 are the least and the most charged sample of this test.",
    )
    return CountedCharge(removed, 1 - (removed - removed.min()) / span, "SOC is relative to this test", remark)


def removed_charge(frame: pd.DataFrame, current: Floats) -> Floats:
    """The charge that was discharged since the first sample, net of what was charged: (n,) A.h."""
    limit = rest_limit(current)
    removed: Floats = np.zeros(len(frame))
    if bool((current > limit).any()):
        removed = removed + counted(frame, "discharge")[0]
    if bool((current < -limit).any()):
        removed = removed - counted(frame, "charge")[0]
    return removed


def _anchors(samples: Checked, removed: Floats, limits: Limits | None) -> tuple[float | None, float | None]:
    """What was removed when the cell was full, and when it was empty, A.h; None where it was not."""
    if limits is None:
        return None, None
    low, high = samples.voltage <= limits[0] + _REACHED, samples.voltage >= limits[1] - _REACHED
    return (
        float(removed[high].min()) if high.any() else None,
        float(removed[low].max()) if low.any() else None,
    )
