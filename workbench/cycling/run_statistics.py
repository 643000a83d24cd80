"""Statistics of runs of samples, block by block, so that memory is bounded for a series of any length.

A *run* is a row of samples with the same key (their step). Blocks end at fixed sample numbers, whatever the batches
are, and partial results are merged in order. So the same samples give the same bits, read at once, in batches or
continued later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..exact_sum import group_sums

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Partial = dict[str, Floats]


@dataclass(frozen=True)
class Cut:
    """A block cut into runs: where each starts and ends, (g,), the run of each sample, (n,), and whether the first run
    continues the last run of the block before."""

    starts: Ints
    ends: Ints
    run: Ints
    continues: bool

    @classmethod
    def at_changes(cls, keys: Ints, previous: int | None) -> Cut:
        """Runs of equal ``keys`` (n,), n > 0; ``previous`` is the key before the block, None at the start."""
        change = np.flatnonzero(np.diff(keys)) + 1
        starts = np.concatenate([[0], change]).astype(np.int64)
        ends = np.concatenate([change, [len(keys)]]).astype(np.int64)
        run = np.repeat(np.arange(len(starts)), ends - starts)
        return cls(starts, ends, run, previous is not None and int(keys[0]) == previous)

    def sums(self, values: Floats) -> Floats:
        """(g,) sums over each run."""
        return group_sums(values, self.starts)

    def sums_of(self, run: Ints, values: Floats) -> Floats:
        """(g,) sums of ``values`` that belong to the runs ``run`` (ascending); 0 for a run without values."""
        total = np.zeros(len(self.starts))
        if len(run):
            first = np.concatenate([[0], np.flatnonzero(np.diff(run)) + 1])
            total[run[first]] = group_sums(values, first)
        return total


def spread(cut: Cut, values: Floats) -> Partial:
    """Count, sum, extremes, ends and inner deviation of one quantity in each run; NaN is null.

    The inner samples are those between the first and the last of the run. The last sample of a block is not counted
    as inner until :func:`merge_spread` knows that the run goes on.
    """
    ok = ~np.isnan(values)
    filled = np.where(ok, values, 0.0)
    inner = ok.copy()
    inner[cut.ends - 1] = False
    inner[cut.starts[1:] if cut.continues else cut.starts] = False
    count = cut.sums(inner.astype(np.float64))
    mean = cut.sums(np.where(inner, values, 0.0)) / np.maximum(count, 1)
    off = np.where(inner, values - mean[cut.run], 0.0)
    squares = cut.sums(off * off) - cut.sums(off) ** 2 / np.maximum(count, 1)
    return {
        "rows": (cut.ends - cut.starts).astype(np.float64),
        "n": cut.sums(ok.astype(np.float64)),
        "sum": cut.sums(filled),
        "rest": np.zeros(len(cut.starts)),
        "min": np.minimum.reduceat(np.where(ok, values, np.inf), cut.starts),
        "max": np.maximum.reduceat(np.where(ok, values, -np.inf), cut.starts),
        "first": values[cut.starts],
        "last": values[cut.ends - 1],
        "inner_n": count,
        "inner_mean": mean,
        "inner_squares": np.maximum(squares, 0.0),
    }


def merge_spread(a: Partial, b: Partial) -> Partial:
    """The run ``a`` continued by ``b``. The last sample of ``a`` becomes an inner one, unless it is also the first."""
    inner = _merge_moments(_moments(a), _single(np.where(a["rows"] > 1, a["last"], np.nan)))
    inner_n, inner_mean, inner_squares = _merge_moments(inner, _moments(b))
    total, rest = _two_sum(a["sum"], b["sum"])
    return {
        "rows": a["rows"] + b["rows"],
        "n": a["n"] + b["n"],
        "sum": total,
        "rest": a["rest"] + b["rest"] + rest,
        "min": np.minimum(a["min"], b["min"]),
        "max": np.maximum(a["max"], b["max"]),
        "first": a["first"],
        "last": b["last"],
        "inner_n": inner_n,
        "inner_mean": inner_mean,
        "inner_squares": inner_squares,
    }


def mean_of(part: Mapping[str, Floats]) -> Floats:
    """(g,) means; NaN for a run without values. Clipped to the extremes, so the mean of a constant is exact."""
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (part["sum"] + part["rest"]) / part["n"]
    return np.where(part["n"] > 0, np.clip(mean, part["min"], part["max"]), np.nan)


def extreme(part: Mapping[str, Floats], which: str) -> Floats:
    """(g,) ``min`` or ``max``; NaN for a run without values."""
    return np.where(part["n"] > 0, part[which], np.nan)


def deviation(part: Partial) -> Floats:
    """(g,) sample deviation of each run without its first and last sample.

    A run of three samples leaves out the first only, a shorter run none. With fewer than two values it is 0.
    """
    rows = part["rows"]
    moments = _moments(part)
    with_last = _merge_moments(moments, _single(part["last"]))
    both = _merge_moments(_single(part["first"]), _single(part["last"]))
    chosen = [
        np.where(rows >= 4, a, np.where(rows == 3, b, c)) for a, b, c in zip(moments, with_last, both, strict=True)
    ]
    n, _, squares = chosen
    return np.where((n >= 2) & (rows >= 2), np.sqrt(squares / np.maximum(n - 1, 1)), 0.0)


def ends(cut: Cut, values: Floats) -> Partial:
    """First and last value that is not null in each run; NaN for a run without values."""
    n = len(values)
    ok = ~np.isnan(values)
    place = np.arange(n)
    first = np.minimum.reduceat(np.where(ok, place, n), cut.starts)
    last = np.maximum.reduceat(np.where(ok, place, -1), cut.starts)
    some = last >= 0
    padded = np.concatenate([values, [np.nan]])
    return {"first": np.where(some, padded[first], np.nan), "last": np.where(some, padded[last], np.nan)}


def merge_ends(a: Partial, b: Partial) -> Partial:
    return {
        "first": np.where(np.isnan(a["first"]), b["first"], a["first"]),
        "last": np.where(np.isnan(b["last"]), a["last"], b["last"]),
    }


def passed(
    cut: Cut, time: Floats, rate: Floats, carry: tuple[float, float] | None
) -> tuple[Partial, tuple[float, float] | None]:
    """Integrals of max(rate, 0) and max(-rate, 0) over time in each run, by the trapezoid rule, per hour.

    Also gives the sample with which the next block continues.

    Parameters
    ----------
    time : (n,) float, s.
    rate : (n,) float: A gives A.h, W gives W.h. A sample with a null is left out.
    carry : last complete sample (time, rate) of the run that continues from the block before, if any.
    """
    ok = np.flatnonzero(~(np.isnan(time) | np.isnan(rate)))
    run, t, r = cut.run[ok], time[ok], rate[ok]
    if cut.continues and carry is not None:
        run, t, r = np.concatenate([[0], run]), np.concatenate([[carry[0]], t]), np.concatenate([[carry[1]], r])
    pair = np.flatnonzero(run[1:] == run[:-1])
    hours = (t[pair + 1] - t[pair]) / 7200
    made: Partial = {}
    for name, flow in (("out", np.maximum(r, 0.0)), ("in", np.maximum(-r, 0.0))):
        made[name] = cut.sums_of(run[pair], hours * (flow[pair] + flow[pair + 1]))
        made[name + "_rest"] = np.zeros(len(cut.starts))
    last = len(cut.starts) - 1
    held = (float(t[-1]), float(r[-1])) if len(run) and int(run[-1]) == last else None
    return made, held


def merge_passed(a: Partial, b: Partial) -> Partial:
    made: Partial = {}
    for name in ("out", "in"):
        made[name], rest = _two_sum(a[name], b[name])
        made[name + "_rest"] = a[name + "_rest"] + b[name + "_rest"] + rest
    return made


def _moments(part: Partial) -> tuple[Floats, Floats, Floats]:
    return part["inner_n"], part["inner_mean"], part["inner_squares"]


def _single(value: Floats) -> tuple[Floats, Floats, Floats]:
    known = ~np.isnan(value)
    return known.astype(np.float64), np.where(known, value, 0.0), np.zeros(len(value))


def _merge_moments(
    a: tuple[Floats, Floats, Floats], b: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Count, mean and sum of squared deviations of two sets of values together (Chan, Golub and LeVeque)."""
    n = a[0] + b[0]
    share = b[0] / np.maximum(n, 1)
    apart = b[1] - a[1]
    mean = np.where(a[0] == 0, b[1], a[1] + apart * share)
    squares = a[2] + b[2] + np.where((a[0] > 0) & (b[0] > 0), apart * apart * a[0] * share, 0.0)
    return n, mean, squares


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and its rounding error (Knuth's TwoSum)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)
