"""``knee``: where fade becomes faster."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ..allowed import FROM_0, takes, whole
from ..capacity.reference import Kind
from ..inputs import CYCLE, DISCHARGE, T_MEAN, Floats, refusing
from ..result import Cell, Remark, result
from .broken_lines import Broken, BrokenLines
from .course import Course, course
from .course import jumps as jumps_of

COLUMNS = (
    "Onset cycle",
    "Onset low",
    "Onset high",
    "Knee cycle",
    "Knee low",
    "Knee high",
    "Second bend",
    "Slope 1 [1/cycle]",
    "Slope 2 [1/cycle]",
    "Slope 3 [1/cycle]",
    "Jump cycles",
    "n",
    "Reference [A.h]",
    "Reference kind",
    T_MEAN,
)
FEWEST = 50
STEEPER = 1.25
_FELL = 0.05
_SHORTEST = 0.05
_INSIDE = 0.05, 0.95
_BLOCK = 50
_BAND = 5, 95
_AT_JUMP = 0.02
Jumps = Literal["steps", "keep"]


class Bends(NamedTuple):
    """The fits with one bend and with two, whether the two are ``apart``, and why they are not a knee; empty if they
    are."""

    single: Broken
    double: Broken
    apart: bool
    reason: str


@takes(jump=FROM_0, bootstrap=whole(0), seed=whole(0))
@refusing(COLUMNS)
def knee(
    cycles: pd.DataFrame,
    *,
    reference: Kind = "first",
    rated: float | None = None,
    value: str = DISCHARGE,
    x: str = CYCLE,
    jump: float = 0.005,
    jumps: Jumps = "steps",
    bootstrap: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """The knee and its onset, by the change points of Bacon and Watts.

    Y = a0 + a1 (x - x1) + a2 (x - x1) tanh((x - x1)/g): x1 is the knee; in the double one, with a term more for x2, x1
    is the onset and x2 the second bend; g is 1e-3 of the range. Fermin-Cueto et al., *Energy and AI* 1 (2020) 100006,
    doi 10.1016/j.egyai.2020.100006. ``low`` and ``high`` are the 5th and 95th percentile of a bootstrap of the
    residuals in blocks of 50 cycles, since those of neighbours are alike. The band of the onset is widened for the
    noise that the fit takes into itself, and since few blocks say little of it (Künsch, *Annals of Statistics* 17
    (1989) 1217). Of made courses of 100 to 1000 cycles it held the onset in 85 to 94 %, and in 83 % where residuals of
    neighbours correlate by 0.9.

    There is a knee only if the three slopes steepen by 1.25 times at each bend, the bends are inside 5 to 95 % of the
    range and at least 5 % of it apart, and retention fell by 5 %; else the numbers are NaN and the reason is given. The
    slopes are there if the bends are apart, in share of the reference per unit of x.

    Parameters
    ----------
    cycles : the ``cycles`` of one cell; those that are complete and at the usual current count, at least 50.
    reference, rated, value : as for ``retention``.
    x : the column along which to look, such as ``Cycle count`` or ``Equivalent full cycles``.
    jump : the least change of level, as a share of the reference, that is a jump.
    jumps : "steps" gives each jump a level of its own in the fit, and refuses a bend within 2 % of the range of one;
        "keep" fits over them and only names them. Where "steps" has no knee and "keep" has one, the reason says so.
    bootstrap : how many samples; 0 for none.
    seed : of the bootstrap; equal seeds give equal numbers.
    """
    if jumps not in ("steps", "keep"):
        raise ValueError(f"jumps must be 'steps' or 'keep'; it is {jumps!r}.")
    held = course(cycles, value=value, x=x, reference=reference, rated=rated, least=FEWEST)
    places = jumps_of(held.retention, jump)
    lines, bends = fitted(held, places, jumps)
    reason = bends.reason
    if reason and places and jumps == "steps":
        # Levels of their own may hide a bend beside a jump: where both ways differ, the reason says so.
        _, over = fitted(held, places, "keep")
        if not over.reason:
            reason += f"; a fit over the jumps (jumps='keep') has one at {over.single.bends[0]:.0f}"
    row: dict[str, Cell] = {
        "Jump cycles": ", ".join(f"{held.x[place]:g}" for place in places),
        "n": len(held.x),
        "Reference [A.h]": held.reference.value,
        "Reference kind": held.reference.kind,
        T_MEAN: held.temperature,
        "Valid": not reason,
        "Warning": reason,
    }
    if bends.apart:
        row |= {f"Slope {n} [1/cycle]": slope for n, slope in enumerate(bends.double.slopes, 1)}
    if not reason:
        row |= {
            "Onset cycle": bends.double.bends[0],
            "Second bend": bends.double.bends[1],
            "Knee cycle": bends.single.bends[0],
        }
        if bootstrap:
            random = np.random.default_rng(seed)
            for name, fit, levels in (("Onset", bends.double, 3), ("Knee", bends.single, 2)):
                drawn = _resampled(held.retention, fit, bootstrap, random)
                low, high = np.percentile(lines.bends_of(drawn, len(fit.bends), levels)[:, 0], _BAND)
                if name == "Onset":
                    shown = lines.shown_by_blocks(fit.bends, _block(len(held.x)))
                    low, high = (fit.bends[0] + (end - fit.bends[0]) / shown for end in (low, high))
                row[f"{name} low"], row[f"{name} high"] = float(low), float(high)
    return result([row], COLUMNS, [*held.remarks, *_remarks(places, jumps)])


def fitted(held: Course, places: list[int], treated: Jumps) -> tuple[BrokenLines, Bends]:
    """The fits of a course with its jumps, and whether they are a knee."""
    steps = [float(held.x[place]) for place in places] if treated == "steps" else []
    lines = BrokenLines(held.x, steps)
    single, double = lines.fit(held.retention, 1), lines.fit(held.retention, 2)
    apart = double.bends[1] - double.bends[0] >= _SHORTEST * (held.x[-1] - held.x[0])
    return lines, Bends(single, double, bool(apart), _reason(held, single, double, steps, bool(apart)))


def _reason(held: Course, single: Broken, double: Broken, steps: list[float], apart: bool) -> str:
    """Why there is no knee; empty if there is."""
    low, span = float(held.x[0]), float(held.x[-1] - held.x[0])
    fell = 1 - float(np.median(held.retention[-5:])) / float(np.median(held.retention[:5]))
    if fell < _FELL:
        return f"no knee: retention fell by {100 * fell:.2g} %, less than {100 * _FELL:g} %"
    if not apart:
        return "no knee: the two bends are less than 5 % of the range apart"
    first, second, third = double.slopes
    if not (second < min(0.0, STEEPER * first) and third <= STEEPER * second):
        listed = ", ".join(f"{100 * slope:.3g}" for slope in double.slopes)
        return f"no knee: the slopes do not steepen each time by {STEEPER:g} times ({listed} % per unit of x)"
    places = (np.array([*double.bends, *single.bends]) - low) / span
    if places.min() < _INSIDE[0] or places.max() > _INSIDE[1]:
        return "no knee: a bend is at the edge of the range"
    for bend in (*double.bends, *single.bends):
        if any(abs(bend - step) <= _AT_JUMP * span for step in steps):
            return f"no knee: the bend at {bend:.0f} is at a jump of the capacity"
    return ""


def _resampled(y: Floats, fit: Broken, count: int, random: np.random.Generator) -> Floats:
    """(n, count) the fit with its residuals drawn anew in blocks."""
    n, block = len(y), _block(len(y))
    starts = random.integers(0, n - block + 1, (count, -(-n // block)))
    drawn = (starts[:, :, None] + np.arange(block)).reshape(count, -1)[:, :n]
    return np.asarray((fit.fitted + (y - fit.fitted)[drawn]).T)


def _block(n: int) -> int:
    """How many cycles are drawn at once, of ``n``."""
    return min(_BLOCK, n // 2)


def _remarks(places: list[int], treated: Jumps) -> list[Remark]:
    if not places:
        return []
    how = "each has a level of its own in the fit" if treated == "steps" else "the fit goes over them"
    return [Remark("jumps", f"The capacity jumps {len(places)} times; {how}.")]
