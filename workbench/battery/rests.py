"""The rests of a test, and how the voltage moves in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .checked import Checked
from .inputs import Floats

_NEAR_NONE = 0.01
"""A current that is less than this share of the largest may be an offset of the cycler."""


class Rest(NamedTuple):
    """A rest: its first and last sample, and when the load before it ended, s (the first sample without one)."""

    first: int
    last: int
    began: float
    loaded: bool


def rests_of(samples: Checked, still: float, least: float) -> list[Rest]:
    """The rests that last at least ``least``, s, in order; ``still`` is the largest ``|I|`` that is rest, A."""
    resting = np.abs(samples.current) <= still
    edges = np.flatnonzero(np.diff(resting)) + 1
    found = []
    for part in np.split(np.arange(len(resting)), edges):
        first, last = int(part[0]), int(part[-1])
        if not resting[first]:
            continue
        began = float(samples.time[first - 1] if first else samples.time[0])
        if float(samples.time[last]) - began >= least:
            found.append(Rest(first, last, began, first > 0))
    return found


def drift(time: Floats, voltage: Floats, seconds: float) -> float:
    """How fast the voltage moves over the last part of a rest, V/s: the slope of a line through its samples, at least
    two, that span at least half of that part where the rest is that long; NaN for one."""
    if len(time) < 2:
        return float("nan")
    # Many cyclers log every 10 min in a rest, and once more at its end: of samples 0.1 s apart a line shows the noise.
    wide = int(np.searchsorted(time, time[-1] - seconds / 2 + 1e-6)) - 1
    first = min(int(np.searchsorted(time, time[-1] - seconds - 1e-6)), len(time) - 2, max(wide, 0))
    t, u = time[first:] - time[first:].mean(), voltage[first:]
    return float(t @ (u - u.mean()) / (t @ t)) if float(t @ t) > 0 else float("nan")


def why_no_rest(current: Floats, still: float) -> str:
    """What is to be added where no rest is found, because no sample rests, although the current comes near to none;
    empty otherwise."""
    size = np.abs(current)
    least = float(size.min(initial=np.inf))
    if not still < least <= _NEAR_NONE * float(size.max(initial=0.0)):
        return ""
    return (
        f" No sample rests: the smallest current is {least:.3g} A, above {still:.3g} A. If the cycler shows that at "
        f"rest, give rest={1.2 * least:.2g}."
    )
