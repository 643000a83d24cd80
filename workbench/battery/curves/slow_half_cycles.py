"""The constant-current part of each half cycle, and why a half cycle cannot be used as a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..charge import ChargeRows, counted_of
from ..checked import Checked, joined, voltage_noise
from ..completeness import left_out, read_without
from ..half_cycles import Direction, rows_of_half_cycles
from ..inputs import Floats, positive
from ..neighbours import Neighbours
from ..result import Remark

_LEVEL = 0.03
_RESTS = 0.01
_OFF_LEVEL = 0.01
_PARTS = 100
_PART_LEVEL = 0.15
_JUMP, _JUMPS = 0.5, 0.002
_FEWEST = 20
_COARSE = 0.5
_DIFFER = 0.005
_SHORT = 0.05
_CONSTANT_VOLTAGE = 0.01


@dataclass(frozen=True)
class Curve:
    """The samples of a half cycle at one current.

    ``voltage`` V, ``charge`` A.h (from 0) and ``temperature`` degC are (n,), ``current`` is its magnitude, A,
    ``total`` the charge of the whole half cycle, A.h, ``c_rate`` 1/h. ``why`` says why it cannot be used, ``said``
    what is to be known of its charge; empty if nothing is.
    """

    number: int
    direction: Direction
    voltage: Floats
    charge: Floats
    temperature: Floats
    current: float
    total: float
    seconds: float
    c_rate: float
    why: str
    said: str = ""

    @property
    def capacity(self) -> float:
        """The charge at constant current, A.h."""
        return float(self.charge[-1]) if len(self.charge) else 0.0

    @property
    def sign(self) -> int:
        """1 where the voltage rises (charge), -1 where it falls."""
        return 1 if self.direction == "charge" else -1

    @property
    def named(self) -> str:
        """As a sentence names it."""
        return f"half cycle {self.number} ({self.direction})"


def curves_of(samples: Checked, rated: float | None, rest: float | None) -> tuple[list[Curve], list[Remark]]:
    """The curve of each half cycle, in order, and what C-rates refer to.

    A half cycle cannot be used with rests of more than 1 % of its time, with more than one level of current before the
    constant voltage, or if its voltage goes against its direction. Half cycles below 5 % of the largest charge are
    left out: they are pulses.

    Parameters
    ----------
    rated : A.h, to which C-rates refer; by default the largest half cycle, and a remark says so.
    rest : as in ``half_cycles``.
    """
    positive(rated, "rated capacity")
    passed = _passed(samples, rest)
    largest = max((float(one.charge[-1]) for one in passed), default=0.0)
    # Pulses by the thousands are left out before they become curves.
    found = [_curve(samples, one) for one in passed if 0 < one.charge[-1] >= _SHORT * largest]
    remarks = []
    reference = rated
    if reference is None and found:
        best = max(found, key=lambda curve: curve.total)
        reference = best.total
        words = f"C-rates refer to the largest {best.direction} of the test, {best.total:.4g} A.h: give rated."
        remarks.append(Remark("c_rate_by_largest", words))
    if reference is None:
        return found, remarks
    return [replace(curve, c_rate=curve.current / reference) for curve in found], remarks


class _Passed(NamedTuple):
    """A half cycle: its number, its rows, the charge that passed, (n,) A.h, and what is to be said of that."""

    number: int
    direction: Direction
    rows: NDArray[np.intp]
    held: ChargeRows
    charge: Floats
    said: str


def _passed(samples: Checked, rest: float | None) -> list[_Passed]:
    frame = samples.frame
    known = Neighbours.of(frame, left_out(frame))
    missing = "" if known is None else known.missing or ""
    lacks = read_without(frame) is not None
    every = ChargeRows.of(frame)
    made = []
    for number, (direction, rows) in enumerate(rows_of_half_cycles(frame, rest)):
        if samples.excluded[rows].any():
            continue
        lacking = (read_without(frame.iloc[rows]) or missing) if lacks else missing
        held = every.half_cycle(rows, known, lacking)
        made.append(_Passed(number, direction, rows, held, *_charge(held, direction)))
    return made


def _curve(samples: Checked, half: _Passed) -> Curve:
    time, current = samples.time[half.rows], np.abs(samples.current[half.rows])
    voltage, charge, said = samples.voltage[half.rows], half.charge, half.said
    owned = _owned(half.held.known, time)
    total, whole = float(charge[-1]), float(owned.sum())
    level = _level(current, owned, voltage, 1 if half.direction == "charge" else -1)
    noise = 1.4826 * float(np.median(np.abs(current - level))) if len(current) else 0.0
    on = np.flatnonzero(np.abs(current - level) <= max(_LEVEL * level, min(5 * noise, 2 * _LEVEL * level)))
    first, last = (int(on[0]), int(on[-1])) if len(on) else (0, 0)
    part = slice(first, last + 1)
    curve = Curve(
        half.number,
        half.direction,
        voltage[part],
        charge[part] - charge[first],
        samples.temperature[half.rows][part],
        level,
        total,
        float(owned[part].sum()),
        float("nan"),
        "",
        said,
    )
    return replace(curve, why=_why(curve, time, current, voltage, owned, whole, (first, last)))


def _charge(held: ChargeRows, direction: Direction) -> tuple[Floats, str]:
    """The charge passed, (n,) A.h, and what is to be said of it. A counter in coarse steps would give a slope that
    jumps: then it is the integral of the current."""
    passed, missing = counted_of(held, direction)
    if direction not in held.counters:
        return passed, missing
    integral = counted_of(held, direction, by_counter=False)[0]
    by_counter, by_current = float(passed[-1]), float(integral[-1])
    differ = abs(by_counter - by_current) > _DIFFER * max(by_counter, by_current)
    both = (
        f"the counter has {by_counter:.4g} A.h, the integral of the current {by_current:.4g} A.h" if differ else ""
    )
    if len(np.unique(passed)) < _COARSE * len(passed) and by_current > 0:
        step = float(np.diff(np.unique(passed)).min(initial=np.inf))
        coarse = f"the counter has steps of {step:.2g} A.h: the integral of the current is used"
        return integral, joined([coarse, both, missing])
    return passed, joined([both, missing])


def _owned(known: Neighbours | None, time: Floats) -> Floats:
    """The time until each sample from the one before it, (n,) s; 0 for the first and after rows that were left out."""
    apart = np.diff(time, prepend=time[:1])
    if known is not None:
        apart[1:][np.diff(known.order) > 1] = 0.0
    return np.maximum(apart, 0.0)


def _level(current: Floats, owned: Floats, voltage: Floats, sign: int) -> float:
    """The current that lasted longest before the voltage reached its end, A."""
    reached = int(np.argmax(sign * voltage))
    before = slice(0, max(reached, min(2, len(current))) + 1)
    values, weights = current[before], owned[before]
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    return float(values[order][min(int(np.searchsorted(passed, passed[-1] / 2)), len(values) - 1)])


def _why(
    curve: Curve,
    time: Floats,
    current: Floats,
    voltage: Floats,
    owned: Floats,
    whole: float,
    part: tuple[int, int],
) -> str:
    """Why a half cycle cannot be used as a curve, in words; empty if it can."""
    first, last = part
    if len(curve.voltage) < _FEWEST:
        return f"{len(curve.voltage)} samples at constant current, fewer than {_FEWEST}"
    lasts = float(time[last] - time[first])
    rests = lasts - float(owned[first + 1 : last + 1].sum())
    if rests > _RESTS * max(lasts, 1e-9):
        return f"pulses inside: rests of {rests:.4g} s, {rests / lasts:.0%} of its time"
    inside = slice(first, last + 1)
    other = _off_level(current[inside], owned[inside], curve.current) + float(owned[: first + 1].sum())
    if other > _OFF_LEVEL * max(lasts, 1e-9):
        return f"pulses inside: more than one level of current, {other:.4g} s of {whole:.4g} s at others"
    jumps = float(owned[inside][np.abs(current[inside] - curve.current) > _JUMP * curve.current].sum())
    if jumps > _JUMPS * max(lasts, 1e-9):
        return f"pulses inside: the current jumps by more than half for {jumps:.4g} s"
    tail = voltage[last + 1 :]
    width = float(np.ptp(curve.voltage))
    if len(tail) > 2 and float(np.abs(np.median(tail) - voltage[last])) > _CONSTANT_VOLTAGE * max(width, 1e-9):
        return "more than one level of current: what follows the constant current is not a constant voltage"
    if voltage[last] == voltage[first]:
        return "the voltage ends where it began: there is no curve"
    if curve.sign * (voltage[last] - voltage[first]) < 0:
        return "the voltage goes against the direction of the current: the sign of the current looks reversed"
    return ""


def _off_level(current: Floats, owned: Floats, level: float) -> float:
    """How long the current is at another level, s: by the medians of hundredths, so that noise does not count."""
    size = max(1, len(current) // _PARTS)
    whole = len(current) // size * size
    medians = np.median(current[:whole].reshape(-1, size), axis=1)
    off = np.abs(medians - level) > _PART_LEVEL * level
    return float(owned[:whole].reshape(-1, size)[off].sum())


def noise_of(curve: Curve) -> float:
    """The noise of the voltage of a curve, V; the slope and the bend of the curve do not count."""
    return voltage_noise(curve.voltage)


def apart_of(curve: Curve) -> float:
    """How far the samples of a curve are apart, V: half of the charge passes between samples that are further apart."""
    moves, passed = np.abs(np.diff(curve.voltage)), np.diff(curve.charge)
    order = np.argsort(moves, kind="stable")
    share = np.cumsum(passed[order])
    if not len(moves) or not share[-1] > 0:
        return 0.0
    return float(moves[order][min(int(np.searchsorted(share, share[-1] / 2)), len(moves) - 1)])


def slowest(curves: Sequence[Curve], direction: Direction) -> Curve | None:
    """The slowest usable curve of a direction that holds at least 90 % of the largest charge; None without one."""
    usable = [curve for curve in curves if curve.direction == direction and not curve.why]
    most = max((curve.total for curve in usable), default=0.0)
    whole = [curve for curve in usable if curve.total >= 0.9 * most]
    return min(whole, key=lambda curve: curve.current, default=None)
