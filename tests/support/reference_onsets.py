"""Slow, plain Python onsets of steps, one step at a time, to compare the fast ones with."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
NAMES = ("Time [s]", "Current [A]", "Voltage [V]")
EQUAL = 1e-5


def complete(rows: list[Row]) -> list[tuple[float, float, float]]:
    """Time, current and voltage of the samples that have all three."""
    found = [tuple(row.get(name) for name in NAMES) for row in rows]
    return [one for one in found if all(value is not None and value == value for value in one)]


def onset(before: list[Row], rows: list[Row], std: float) -> Row:
    """Resistance and onset gap of a step from its ``rows`` and those ``before`` it; ``std`` is that of its current."""
    nothing: Row = {"Resistance at 10 s [Ohm]": None, "Onset gap [s]": None}
    earlier, samples = complete(before), complete(rows)
    if not earlier or not samples:
        return nothing
    samples = [earlier[-1], *samples]
    start, rest_current = samples[0][0], samples[0][1]
    near = [n for n in range(1, len(samples)) if samples[n][0] <= start + 10 + EQUAL]
    level = abs(samples[near[-1] if near else 1][1] - rest_current)
    first = next(n for n in range(1, len(samples)) if abs(samples[n][1] - rest_current) >= 0.02 * level)
    t0, i0, u0 = samples[first - 1]
    moment = t0 + 10
    after = next((n for n in range(first, len(samples)) if samples[n][0] >= moment - EQUAL), None)
    resistance, load = None, samples[-1][1]
    if after is not None:
        exact = samples[after][0] <= moment + EQUAL
        low = samples[after] if exact else samples[max(after - 1, first)]
        high = samples[after]
        share = 0.0 if low is high else (moment - low[0]) / (high[0] - low[0])
        load = low[1] + share * (high[1] - low[1])
        last = after if exact else max(after - 1, first)
        late = [n for n in range(first, last) if samples[n][0] >= t0 + 5 - EQUAL] + [last]
        currents = [samples[n][1] for n in late]
        middle = (max(currents) + min(currents)) / 2
        step = load - i0
        if step and (exact or after > first) and abs(middle - load) <= 0.01 * abs(step):
            resistance = -(low[2] + share * (high[2] - low[2]) - u0) / step
    step = load - i0
    if not step or abs(i0) > 0.01 * abs(load) or std > 0.5 * abs(step) or step != step:
        return nothing
    return {"Resistance at 10 s [Ohm]": resistance, "Onset gap [s]": samples[first][0] - t0}
