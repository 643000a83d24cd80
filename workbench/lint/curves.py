"""Rules about curves: lines that join separate curves, and values drawn with the wrong sign."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .figure_reader import Drawn, Trace
from .observation import Observation

_LEAST_POINTS = 12
_FAR = 0.5
_ABRUPT = 8.0
_SAID = re.compile(
    r"charg\w*\W+(is\W+)?positive|positive\W+(on|is|=)?\W*charg|[-−–]\s*(I|P|current|power)\b", re.I
)


def joined_curves(drawn: Drawn) -> Iterator[Observation]:
    for trace in drawn.scatters:
        if not trace.has_lines or str(trace.raw.get("fill") or "none") == "toself":
            continue
        jumps = _jumps(trace)
        if jumps is not None and len(jumps):
            x = trace.x if trace.x is not None else np.zeros(0)
            place = int(jumps[0])
            more = len(jumps) - 1
            also = f", and {more} more time{'s' * (more > 1)}" if more else ""
            message = f"The line of {trace.label} jumps back from {x[place]:.4g} to {x[place + 1]:.4g}{also}."
            yield Observation(message, trace.n)


def _jumps(trace: Trace) -> NDArray[np.intp] | None:
    """The places where a line goes back over most of its width in one step, against its usual direction."""
    x, y = trace.x, trace.y
    if x is None or y is None or len(x) != len(y) or len(x) < _LEAST_POINTS:
        return None
    joined = np.isfinite(x[1:]) & np.isfinite(x[:-1]) & np.isfinite(y[1:]) & np.isfinite(y[:-1])
    steps = np.where(joined, np.diff(x), 0.0)
    moves = np.abs(steps[steps != 0])
    if len(moves) < _LEAST_POINTS - 1:
        return None
    way = np.sign(np.median(steps[steps != 0]))
    width = float(np.nanmax(x[np.isfinite(x)]) - np.nanmin(x[np.isfinite(x)]))
    abrupt = np.abs(steps) > max(_FAR * width, _ABRUPT * float(np.median(moves)))
    found: NDArray[np.intp] = np.flatnonzero(abrupt & (np.sign(steps) == -way))
    return found


def current_turned(drawn: Drawn) -> Iterator[Observation]:
    for trace in drawn.scatters:
        for letter, of in drawn.sources.get(trace.n, {}).items():
            name = trace.axis(letter)
            if of.factor < 0 and re.match(r"(Current|Power) \[", of.column):
                said = _SAID.search(f"{drawn.title(name)} {trace.name}")
                if not said:
                    message = f"{trace.label} shows '{of.column}' with its sign turned: charge is positive there."
                    yield Observation(message, trace.n, name)


def nyquist_turned(drawn: Drawn) -> Iterator[Observation]:
    for trace in drawn.scatters:
        of = drawn.sources.get(trace.n, {})
        x, y = of.get("x"), of.get("y")
        if x is None or y is None or (x.column, y.column) != ("Z_Re [Ohm]", "Z_Im [Ohm]"):
            continue
        reverse = drawn.axis(trace.axis("y")).get("autorange") == "reversed"
        if y.factor > 0 and not reverse:
            yield Observation(f"{trace.label} shows Z_Im against Z_Re.", trace.n, trace.axis("y"))
