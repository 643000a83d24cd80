"""Which kinds of test a measurement is, from its steps alone, and from what its user wrote.

The rules look at the steps summary: rests, pulses, charges of equal size, rates. A test may be of several kinds; each
comes with a certainty and with the evidence in words. A tag or a protocol name that names a kind replaces the guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..cached_property import cached_property
from ..cycling import columns as c
from ..cycling.half_cycles_of_steps import NEEDS as HALF_CYCLES_NEED
from ..cycling.half_cycles_of_steps import HalfCycles, directions, half_cycles_of
from ..cycling.steps import END_INDEX, START_INDEX, STEP_TYPE
from ..messages import counted
from ..table import Table

RULE = 5
"""The number of the rules. Raise it whenever the same steps give other kinds."""
KINDS = {
    "eis": "impedance spectra",
    "hppc": "pulses at several states of charge",
    "pulses": "one or two pulses after a rest",
    "gitt": "equal charges with long rests",
    "ici": "equal charges with short breaks",
    "rate": "discharges at several rates",
    "ageing": "the same cycle many times",
    "rpt": "a check-up: capacity at a low rate, and pulses or other rates",
    "pocv": "a slow charge or discharge",
    "formation": "the first slow cycles of a new cell",
    "dynamic": "a load that changes, such as a drive cycle",
    "storage": "a long rest",
}
"""Each kind, and what a test of it consists of."""
NEEDS = tuple(dict.fromkeys((*HALF_CYCLES_NEED, c.STEP_COUNT, START_INDEX, END_INDEX, "Std current [A]")))
"""Columns of ``steps`` without which a test has no recognised kind."""
SHORT, SOAKED = 120.0, 300.0
"""s: a pulse is at most as long, and follows a rest that is at least as long."""
SLOW = 1 / 8
_HOUR, _DAY = 3600.0, 86400.0
_PULSE_CHARGE = 0.03
_FULL = 0.6
_NOISE = 0.05
"""Of the largest current of a test: a load that changes is larger."""
_OFFSET, _PULSE = 0.003, 0.01
"""Of the largest mean current of a step: less is an offset at rest; a pulse has at least so much."""
_AGAINST = 0.01
"""Of the charge of a dynamic load, at least this share passes against the rest of it."""
REPEATED, _MOSTLY = 10, 0.7
"""An ageing test has so many full discharges, and such a share of them is alike."""
_PASSED = 10
"""Full charges that pass in a storage test at most, both ways together."""
_DRIFT = 0.5
"""V, between the rests of a storage test without a load."""
_SPECTRUM = 5
"""A spectrum has at least so many points."""
_MANY = 8
_LONG_REST = 1800.0
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_WORDS = {
    "eis": r"[pg]?eis|impedance",
    "hppc": r"hppc|pulse test",
    "gitt": r"gitt",
    "ici": r"ici|intermittent current",
    "rate": r"rate test|rates|rate capability|c-rate test",
    "ageing": r"age?ing|cycling|cycle life|cccv cycling",
    "rpt": r"rpt|check[- ]?up|capacity check|reference performance test",
    "pocv": r"p?ocv|pseudo[- ]ocv|slow cycle|c/(?:20|25|30|40|50) cycle",
    "formation": r"formation",
    "dynamic": r"drive cycle|dynamic|wltp|udds|us06|driving",
    "storage": r"storage|calendar(?: ageing)?|shelf",
}


@dataclass(frozen=True)
class TestKind:
    """A kind that a test is: its name in :data:`KINDS`, how certain that is, from 0 to 1, and why."""

    __test__ = False  # not a test of pytest

    name: str
    certainty: float
    evidence: str


def kinds_of(
    steps: Table | None,
    *,
    cycles: Table | None = None,
    rated: float | None = None,
    tags: Iterable[str] = (),
    protocol: str | None = None,
) -> list[TestKind]:
    """The kinds of a test: those that its tags or its protocol name, else those of its steps, else of its cycles.

    Parameters
    ----------
    steps : the steps summary; None if it has none.
    cycles : the cycles of a test without steps: a table of capacities.
    rated : A.h, the rated capacity; None if it is unknown, then the largest half cycle counts as full.
    tags, protocol : what the user wrote.
    """
    if said := kinds_from_words(tags, protocol):
        return said
    if steps is not None:
        return kinds_from_steps(steps, rated)
    return [] if cycles is None else _kinds_from_cycles(cycles)


def _kinds_from_cycles(cycles: Table) -> list[TestKind]:
    """A table of at least ten capacities of which 70 % are full, that is 60 % of the largest, is of an ageing test."""
    if c.DISCHARGE_CAPACITY not in cycles:
        return []
    capacity = cycles[c.DISCHARGE_CAPACITY].floats()
    capacity = capacity[np.isfinite(capacity) & (capacity > 0)]
    full = int((capacity >= _FULL * capacity.max(initial=0.0)).sum())
    if len(capacity) < REPEATED or full < _MOSTLY * len(capacity):
        return []
    return [TestKind("ageing", 0.7, f"a table of {len(capacity)} cycles, {full} of them full discharges")]


def kinds_from_words(tags: Iterable[str], protocol: str | None) -> list[TestKind]:
    """The kinds that tags or the name of a protocol say; tags come first."""
    said = [(f"tag '{tag}'", tag) for tag in tags]
    found: dict[str, TestKind] = {}
    for evidence, text in said:
        for kind in _named(text):
            found.setdefault(kind, TestKind(kind, 1.0, evidence))
    if not found and protocol:
        for kind in _named(protocol):
            found.setdefault(kind, TestKind(kind, 1.0, f"protocol '{protocol}'"))
    return list(found.values())


def _named(text: str) -> list[str]:
    return [
        kind for kind, words in _WORDS.items() if re.search(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])", text.lower())
    ]


def kinds_from_steps(steps: Table, rated: float | None = None) -> list[TestKind]:
    """The kinds of a test by its steps alone; none if no rule fits, or if its steps lack :data:`NEEDS`."""
    if not steps.n or any(name not in steps for name in NEEDS):
        return []
    seen = _Steps.of(steps, rated)
    if (share := float(np.mean(seen.impedance))) >= 0.3:
        return [TestKind("eis", 0.95, f"{share:.0%} of the steps have a frequency")]
    return [*_kinds_under_current(seen), *_spectra_between(seen)]


def _spectra_between(seen: _Steps) -> list[TestKind]:
    """Spectra between the charges of a test, as a check-up has them: in one step, or in one for each point."""
    points = int(seen.samples[seen.impedance].sum())
    if points < _SPECTRUM:
        return []
    return [TestKind("eis", 0.9, f"{int(seen.impedance.sum())} of {len(seen.impedance)} steps have a frequency")]


def _kinds_under_current(seen: _Steps) -> list[TestKind]:
    if not seen.loaded.any() or not seen.full_charge > 0:
        return _storage(seen)
    found = [*_pulses(seen), *_dynamic(seen)]
    if not any(one.name == "hppc" for one in found):  # between its pulses the charge falls in equal steps too
        found += _equal_charges(seen)
    special = {one.name for one in found}
    if "dynamic" not in special:
        found += _ageing(seen)
        if not special & {"gitt", "hppc", "ici"} and not any(one.name == "ageing" for one in found):
            found += _rate(seen)
    found += _slow(seen, {one.name for one in found})
    return found or _storage(seen)


@dataclass(frozen=True)
class _Steps:
    """The steps of a test in order. One value for each step, (n,):

    ``direction`` 1 discharge, -1 charge, 0 rest; ``duration`` s; ``charge`` A.h; ``current`` mean, A; ``rested`` s of
    rest just before, and ``rests`` s just after. ``against`` is the smaller of the charges that passed one way and the
    other, over the larger. ``full_charge`` A.h is the rated or the largest half cycle's charge.
    """

    direction: NDArray[np.int64]
    impedance: Flags
    duration: Floats
    charge: Floats
    against: Floats
    current: Floats
    lowest: Floats
    highest: Floats
    spread: Floats
    samples: Floats
    voltage: Floats
    rested: Floats
    rests: Floats
    full_charge: float
    is_rated: bool
    swings: HalfCycles

    @classmethod
    def of(cls, steps: Table, rated: float | None) -> _Steps:
        order = np.argsort(steps[START_INDEX].floats(), kind="stable")
        of = {name: steps[name].floats()[order] for name in NEEDS}
        impedance = of["Mean frequency [Hz]"] > 1e-8
        current = of["Mean current [A]"]
        flows = directions(of) != 0
        words = [str(word) for word in steps[STEP_TYPE].tolist()] if STEP_TYPE in steps else []
        if words:
            flows &= np.array(words)[order] != "Rest"
        # The cycler's offset at rest does not load the cell; C/100 beside 3 C does.
        flows &= np.abs(np.nan_to_num(current)) >= _OFFSET * np.nanmax(np.abs(current), initial=0.0)
        direction = np.where(flows, np.sign(np.nan_to_num(current)), 0).astype(np.int64)
        duration = np.nan_to_num(of["Duration [s]"])
        out, back = np.nan_to_num(of[c.DISCHARGE_CAPACITY]), np.nan_to_num(of[c.CHARGE_CAPACITY])
        charge = np.abs(out - back)
        charge = np.where(charge > 0, charge, np.abs(np.nan_to_num(current)) * duration / _HOUR)
        swings = half_cycles_of(steps)
        full = rated if rated is not None and rated > 0 else _full(swings.charge)
        still = np.where(direction == 0, duration, 0.0)
        return cls(
            direction=direction,
            impedance=impedance,
            duration=duration,
            charge=charge,
            against=np.minimum(out, back) / np.maximum(np.maximum(out, back), 1e-300),
            current=np.nan_to_num(current),
            lowest=np.nan_to_num(of["Min current [A]"]),
            highest=np.nan_to_num(of["Max current [A]"]),
            spread=np.nan_to_num(of["Std current [A]"]),
            samples=of[END_INDEX] - of[START_INDEX] + 1,
            voltage=of["Mean voltage [V]"],
            rested=_run_before(still, direction != 0),
            rests=_run_before(still[::-1], direction[::-1] != 0)[::-1],
            full_charge=full,
            is_rated=rated is not None and rated > 0,
            swings=swings,
        )

    @property
    def loaded(self) -> Flags:
        return np.asarray(self.direction != 0, bool)

    @cached_property
    def pulses(self) -> Flags:
        """The short pulses after a long rest."""
        short = (
            self.loaded
            & (self.duration <= SHORT)
            & (self.duration > 0)
            & (self.charge <= _PULSE_CHARGE * self.full_charge)
            & (np.abs(self.current) >= _PULSE * np.abs(self.current).max(initial=0.0))
        )
        return np.asarray(short & (self.rested >= SOAKED), bool)

    @cached_property
    def halves(self) -> list[_Half]:
        """Steps of one direction one after the other, with nothing but short rests between them."""
        found: list[_Half] = []
        for place in np.flatnonzero(self.loaded).tolist():
            direction, charge = int(self.direction[place]), float(self.charge[place])
            rate = abs(float(self.current[place])) / self.full_charge
            if found and found[-1].direction == direction and self.rested[place] < SHORT:
                last = found[-1]
                rate = last.rate if last.part >= charge else rate
                found[-1] = _Half(direction, last.charge + charge, rate, max(last.part, charge))
            else:
                found.append(_Half(direction, charge, rate, charge))
        return found

    def full(self, direction: int | None = None) -> list[_Half]:
        """The half cycles that pass most of the full charge."""
        return [
            half
            for half in self.halves
            if half.charge >= _FULL * self.full_charge and direction in (None, half.direction)
        ]

    @property
    def basis(self) -> str:
        return "rated" if self.is_rated else f"largest half cycle, {self.full_charge:.3g} A.h"


@dataclass(frozen=True)
class _Half:
    """A charge or a discharge: its charge in A.h, the rate of its largest step in 1/h, and the charge of that."""

    direction: int
    charge: float
    rate: float
    part: float


def _full(charges: Floats) -> float:
    """The charge of a full half cycle in A.h: the largest that is no more than 1.3 times ten others which are alike.

    A larger one is two of the same direction, because what passed between them was not recorded.
    """
    largest = np.sort(charges[np.isfinite(charges)])[::-1]
    for place, charge in enumerate(largest.tolist()):
        others = largest[place + 1 : place + 1 + REPEATED]
        middle = float(np.median(others)) if len(others) == REPEATED else np.inf
        if charge <= 1.3 * middle or others[-1] < 0.8 * middle:
            return float(charge)
    return 0.0


def _run_before(still: Floats, ends: Flags) -> Floats:
    """(n,) the sum of ``still`` since the last step that ended it, without the step itself."""
    found, passed = np.zeros(len(still)), 0.0
    for place, (seconds, is_end) in enumerate(zip(still.tolist(), ends.tolist(), strict=True)):
        found[place] = passed
        passed = 0.0 if is_end else passed + seconds
    return found


def _pulses(seen: _Steps) -> list[TestKind]:
    number = int(seen.pulses.sum())
    if not number:
        return []
    seconds = float(np.median(seen.duration[seen.pulses]))
    evidence = f"{counted(number, 'pulse')} of {seconds:.3g} s after a rest of 5 min or more"
    if number < 3:
        return [TestKind("pulses", 0.8, evidence)]
    net = np.cumsum(np.where(seen.direction != 0, seen.charge * seen.direction, 0.0))
    levels = len(set(np.round(net[seen.pulses] / (0.02 * seen.full_charge)).tolist()))
    return [TestKind("hppc", 0.9 if levels >= 3 else 0.7, f"{evidence}, at {counted(levels, 'state')} of charge")]


def _equal_charges(seen: _Steps) -> list[TestKind]:
    """GITT and ICI: many equal charges, with long or with short rests."""
    sized = seen.loaded & ~seen.pulses & (seen.charge >= 0.002 * seen.full_charge)
    sized &= seen.charge <= 0.12 * seen.full_charge
    least, around = np.minimum(seen.rested, seen.rests), np.maximum(seen.rested, seen.rests)
    long = sized & ((least >= _LONG_REST) | ((least >= 2 * seen.duration) & (least > 0)))
    brief = sized & (least > 0) & (around <= SHORT) & (around <= 0.2 * seen.duration)
    for name, which, words in (("gitt", long, "a rest of"), ("ici", brief, "a break of")):
        equal = _equal(seen.charge, which)
        if int(equal.sum()) >= _MANY:
            size = float(np.median(seen.charge[equal])) / seen.full_charge
            rest = float(np.median(seen.rests[equal]))
            found = f"{int(equal.sum())} equal charges of {size:.1%} of the capacity ({seen.basis})"
            return [TestKind(name, 0.9, f"{found}, each with {words} {rest:.4g} s")]
    return []


def _equal(charge: Floats, among: Flags) -> Flags:
    """The charges within 15 % of the median of those that are asked for."""
    if not among.any():
        return among
    middle = float(np.median(charge[among]))
    return np.asarray(among & (np.abs(charge - middle) <= 0.15 * middle), bool)


def _dynamic(seen: _Steps) -> list[TestKind]:
    swing = np.maximum(np.abs(seen.lowest), np.abs(seen.highest))
    both_ways = (seen.lowest < -0.05 * swing) & (seen.highest > 0.05 * swing)
    varied = seen.spread >= 0.5 * np.abs(seen.current)
    large = swing >= _NOISE * swing.max(initial=0.0)
    # A charge whose first sample is still a discharge changes its sign too; hardly any charge passes that way.
    both_ways &= seen.against >= _AGAINST
    which = (seen.duration >= 300) & (seen.samples >= 60) & varied & both_ways & large & ~seen.impedance
    if not which.any():
        return []
    longest = float(seen.duration[which].max())
    share = float(seen.duration[which].sum()) / max(float(seen.duration[seen.loaded].sum()), 1e-9)
    evidence = f"a step of {longest:.0f} s in which the current changes its sign"
    return [TestKind("dynamic", 0.75 if share >= 0.3 else 0.5, evidence)]


def _groups(rates: Sequence[float]) -> list[int]:
    """How many rates are within 10 % of each other, for each group, from the slowest."""
    sizes: list[int] = []
    begun = -np.inf
    for rate in sorted(rates):
        if rate <= 1.1 * begun:
            sizes[-1] += 1
        else:
            sizes.append(1)
            begun = rate
    return sizes


def _ageing(seen: _Steps) -> list[TestKind]:
    full = (
        (seen.swings.direction == 1)
        & (seen.swings.charge >= _FULL * seen.full_charge)
        & (seen.swings.duration > 0)
    )
    rates = (seen.swings.charge[full] / seen.full_charge / (seen.swings.duration[full] / _HOUR)).tolist()
    sizes = _groups(rates)
    if len(rates) < REPEATED or max(sizes) < _MOSTLY * len(rates):
        return []
    evidence = f"{len(rates)} full discharges, {max(sizes)} of them at one rate"
    return [TestKind("ageing", 0.9 if seen.is_rated else 0.8, evidence)]


def _rate(seen: _Steps) -> list[TestKind]:
    least = 0.1 * seen.full_charge
    rates = [half.rate for half in seen.halves if half.direction == 1 and half.charge >= least]
    sizes = _groups(rates)
    if len(rates) < 4 or len(sizes) < 3 or max(sizes) > 0.6 * len(rates) or min(rates) * 2 > max(rates):
        return []
    found = (
        f"{counted(len(rates), 'discharge')} at {len(sizes)} rates, C/{1 / min(rates):.3g} to {max(rates):.3g} C"
    )
    return [TestKind("rate", 0.85, f"{found} (by the {seen.basis})")]


def _slow(seen: _Steps, other: set[str]) -> list[TestKind]:
    """Check-ups, slow curves and formation: what full half cycles at a low rate mean beside the others."""
    full, slow = seen.full(), [half for half in seen.full() if half.rate <= SLOW]
    if not slow or other & {"gitt", "ici", "rate", "dynamic"}:
        return []
    large = [half for half in seen.halves if half.charge >= 0.1 * seen.full_charge]
    said = f"{counted(len(slow), 'full half cycle')} at C/8 or slower (by the {seen.basis})"
    if len(slow) == len(large) and not other:
        sure = 0.85 if seen.is_rated else 0.7
        return [TestKind("pocv", sure if len(large) <= 3 else round(sure - 0.2, 2), said)]
    if (made := _formation(seen, full, said)) is not None:
        return [made]
    if "ageing" in other:
        return []
    if other & {"pulses", "hppc"}:
        return [TestKind("rpt", 0.9 if seen.is_rated else 0.75, f"{said}, and pulses after a rest")]
    if len(_groups([half.rate for half in large])) > 1:
        return [TestKind("rpt", 0.6, f"{said}, and half cycles at other rates")]
    return []


def _formation(seen: _Steps, full: list[_Half], said: str) -> TestKind | None:
    """Two slow half cycles first, and only faster ones after, of a cell that comes from its assembly."""
    first = next((place for place, half in enumerate(full) if half.rate > SLOW), len(full))
    faster = all(half.rate > SLOW for half in full[first:])
    if first < 2 or first == len(full) or not faster or seen.pulses.any() or len(seen.voltage) < 3:
        return None
    begins, later = float(seen.voltage[0]), seen.voltage[1:]
    low, high = float(np.nanmin(later)), float(np.nanmax(later))
    empty = begins <= low + 0.2 * (high - low) and full[0].direction == -1
    half_cell = begins >= high + 0.2 * (high - low) and full[0].direction == 1
    if not empty and not half_cell:
        return None
    state = "an empty cell" if empty else "a half cell above its limits"
    return TestKind("formation", 0.6, f"{said} first, from {state}, and faster ones after")


def _storage(seen: _Steps) -> list[TestKind]:
    still = np.where(seen.loaded | seen.impedance, 0.0, seen.duration)
    runs = _run_before(np.append(still, 0.0), np.append(seen.loaded | seen.impedance, True))
    longest, whole = float(runs.max()), float(seen.duration.sum())
    if longest < _DAY or longest <= 0.5 * whole or seen.charge[seen.loaded].sum() > _PASSED * seen.full_charge:
        return []
    level = seen.voltage[still > 0]
    if not seen.loaded.any() and np.nanmax(level, initial=-np.inf) - np.nanmin(level, initial=np.inf) > _DRIFT:
        return []  # a cell without a load does not go from empty to full: its current is not in the file
    return [TestKind("storage", 0.85, f"a rest of {longest / _DAY:.3g} days, {longest / whole:.0%} of the test")]
