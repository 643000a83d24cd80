"""Tests of cells made by chance: pulsed, interrupted, thinned, ramped, noisy, with and without counters; and what
passed in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
COUNTERS = ("Discharge capacity [A.h]", "Charge capacity [A.h]", "Discharge energy [W.h]", "Charge energy [W.h]")


@dataclass
class GeneratedTest:
    """The columns of a test as a cycler writes them; discharge is positive."""

    columns: dict[str, Any]
    counters: str | None
    """``step``, ``cycle`` or ``test``: where its counters start again; None if it has none."""

    @property
    def time(self) -> Floats:
        return np.asarray(self.columns["Time [s]"], np.float64)

    @property
    def current(self) -> Floats:
        return np.asarray(self.columns["Current [A]"], np.float64)


def generated(seed: int) -> GeneratedTest:
    """The test of this number; the same number gives the same test."""
    dice = np.random.default_rng(seed)
    scale = float(dice.choice([0.002, 0.5, 5.0, 200.0]))
    interval = float(dice.choice([1.0, 2.0, 5.0, 10.0, 30.0, 60.0]))
    parts = [_part(dice, interval) for _ in range(int(dice.integers(2, 12)))]
    time, rate, step, at = [], [], [], 0.0
    for number, (seconds, currents) in enumerate(parts):
        time.append(at + seconds)
        rate.append(currents)
        step.append(np.full(len(seconds), number))
        at += seconds[-1] + float(dice.choice([0.0, 0.01, interval, interval, 1.0]))
        if dice.random() < 0.1:
            at += float(dice.choice([61.0, 900.0, 40_000.0]))  # interrupted
    t, i, steps = np.concatenate(time), scale * np.concatenate(rate), np.concatenate(step)
    if dice.random() < 0.4:
        i = i + dice.normal(0.0, scale * float(dice.choice([1e-4, 5e-4, 2e-3])), len(i))
    power_at = 3.6 - 0.1 * i / scale
    flows = (np.maximum(i, 0), np.maximum(-i, 0), np.maximum(i * power_at, 0), np.maximum(-i * power_at, 0))
    sums = [np.concatenate([[0.0], np.cumsum(np.diff(t) * (flow[1:] + flow[:-1]) / 7200)]) for flow in flows]
    kept = np.arange(len(t))
    if dice.random() < 0.25:  # thinned
        kept = np.sort(dice.choice(len(t), max(len(t) // 3, 2), replace=False))
    cycle = steps // int(dice.integers(1, 5))
    columns: dict[str, Any] = {
        "Time [s]": t[kept] - t[kept[0]],
        "Current [A]": i[kept],
        "Voltage [V]": power_at[kept],
    }
    kind = str(dice.choice(["none", "none", "step", "cycle", "test"]))
    if kind != "none":
        starts = {"step": steps, "cycle": cycle, "test": np.zeros_like(steps)}[kind]
        begin = np.searchsorted(starts, starts)
        for name, total in zip(COUNTERS[: int(dice.choice([1, 2, 4]))], sums, strict=False):
            columns[name] = (total - total[begin])[kept]
    if dice.random() < 0.5:
        columns["Step from cycler"] = steps[kept] + 1
    if dice.random() < 0.5:
        columns["Cycle from cycler"] = cycle[kept] + 1
    return GeneratedTest(columns, None if kind == "none" else kind)


def _part(dice: np.random.Generator, interval: float) -> tuple[Floats, Floats]:
    """(n,) seconds from 0, and the current as a share of 1 C."""
    n = int(dice.integers(1, 60))
    seconds = np.arange(n) * interval
    kind = dice.choice(["rest", "constant", "pulses", "drive", "ramp", "tail"])
    way = float(dice.choice([-1.0, 1.0]))
    if kind == "rest":
        return seconds, np.zeros(n)
    if kind == "constant":
        return seconds, np.full(n, way * float(dice.choice([0.05, 0.5, 1.0])))
    if kind == "pulses":
        return seconds, way * ((np.arange(n) // int(dice.integers(1, 4))) % 2).astype(float)
    if kind == "drive":
        return seconds, dice.normal(0.0, 0.7, n)
    if kind == "ramp":
        return seconds, way * np.linspace(0.0, 1.0, n)
    return seconds, way * np.exp(-seconds / (10 * interval))


def integrals(time: Floats, current: Floats) -> tuple[float, float]:
    """A.h out and in by the trapezoid of max(I, 0) and max(-I, 0), without the gaps: intervals above 60 s, above 10
    times the median, and above 10 times the intervals beside them."""
    seconds = np.diff(time)
    rising = seconds[seconds > 0]
    usual = float(np.median(rising)) if len(rising) else 0.0
    beside = np.maximum(np.append(0.0, seconds[:-1]), np.append(seconds[1:], 0.0))
    used = (seconds > 0) & (np.round(seconds, 6) <= np.maximum(max(60.0, 10 * usual), np.round(10 * beside, 6)))
    out, back = (
        float((seconds * (np.maximum(flow[1:], 0) + np.maximum(flow[:-1], 0)))[used].sum()) / 7200
        for flow in (current, -current)
    )
    return out, back


def counted_by(values: Floats) -> float:
    """What a counter counted: its rises, and after each fall its value."""
    total = 0.0
    for before, value in zip(values[:-1].tolist(), values[1:].tolist(), strict=True):
        total += value - before if value >= before else value
    return total
