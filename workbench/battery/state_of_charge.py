"""State of charge within one test: charge counted between the named limits of voltage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .charge import counted
from .checked import Checked
from .half_cycles import rest_limit
from .inputs import Floats
from .result import Remark

_REACHED = 0.02
_SHORT = 180.0
_HARD = 1.2
_OFF = 0.1
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
    comes within 20 mV of the lower limit. A load that is shorter than 3 minutes and harder than most of the charge of
    its direction does not count, such as a pulse that ends at a limit: its voltage is far from that at rest. With one
    of them, ``capacity`` (A.h) gives the other. With neither, SOC
    is relative: 0 and 1 are the least and the most charged sample of the test. With both, a remark says so where the
    charge between them differs from ``capacity`` by more than 10 %.

    Raises
    ------
    ValueError
        If the lower limit is not below the upper one.
    """
    if limits is not None and not limits[0] < limits[1]:
        raise ValueError(
            f"The limits are the lower and the upper voltage, such as (2.5, 4.2); they are {limits!r}."
        )
    removed = removed_charge(samples.frame, samples.current)
    full, empty = _anchors(samples, removed, limits)
    if full is not None and empty is not None and empty > full:
        return CountedCharge(
            removed, 1 - (removed - full) / (empty - full), "", _span_remark(empty - full, capacity)
        )
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
    low = (samples.voltage <= limits[0] + _REACHED) & ~_pulsed(samples.time, samples.current)
    high = (samples.voltage >= limits[1] - _REACHED) & ~_pulsed(samples.time, -samples.current)
    return (
        float(removed[high].min()) if high.any() else None,
        float(removed[low].max()) if low.any() else None,
    )


def _pulsed(time: Floats, current: Floats) -> NDArray[np.bool_]:
    """Whether each sample is in a short load with a current that is large for its test, (n,); loads are currents above
    0. Large is in relation to the current at which half of the charge has passed, so that the last part of a slow
    discharge in portions, which may be short too, is none."""
    pulsed = np.zeros(len(time), bool)
    loaded = np.flatnonzero(current > rest_limit(current))
    if not len(loaded):
        return pulsed
    charge = current[loaded] * np.diff(time, prepend=time[0])[loaded]
    order = np.argsort(current[loaded])
    passed = np.cumsum(charge[order])
    usual = float(current[loaded][order][int(np.searchsorted(passed, passed[-1] / 2))])
    for part in np.split(loaded, np.flatnonzero(np.diff(loaded) > 1) + 1):
        if time[part[-1]] - time[part[0]] < _SHORT:
            pulsed[part] = current[part] > _HARD * usual
    return pulsed


def _span_remark(span: float, capacity: float | None) -> Remark | None:
    if capacity is None or not capacity > 0 or abs(span / capacity - 1) <= _OFF:
        return None
    return Remark(
        "soc_span",
        f"SOC counts between the limits of voltage, where {span:.4g} A.h lie between 0 and 1; the capacity given is "
        f"{capacity:.4g} A.h. If the cell did not reach its limits at a low current, SOC is wrong by as much.",
    )
