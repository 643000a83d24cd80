"""Loss of lithium and of active material, from slow curves of one cell and the half cells of its electrodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeGuard

import numpy as np
import pandas as pd

from ..allowed import ABOVE_0, FROM_0, one_of, takes, whole
from ..checked import T_COLUMNS, checked, joined, temperature_cells
from ..half_cycles import Direction
from ..inputs import Floats, Refusal, refusing
from ..result import VALID, WARNING, Cell, Remark, result
from .half_cells import NAMES, Fit, HalfCell, fit_cell
from .slow_half_cycles import Curve, curves_of, slowest

_MODES = ("LLI", "LAM anode", "LAM cathode")
COLUMNS = (
    "Check-up",
    "Test",
    "Half cycle",
    "Direction",
    "C-rate [1/h]",
    "Capacity [A.h]",
    *(name for one in NAMES[:4] for name in (one, f"{one} sd")),
    "Offset [V]",
    "Offset sd [V]",
    *(name for one in ("Qn", "Qp", "Li inventory") for name in (f"{one} [A.h]", f"{one} sd [A.h]")),
    "LLI [A.h]",
    *(name for one in _MODES for name in (f"{one} [%]", f"{one} sd [%]")),
    "rms [mV]",
    "Starts",
    *T_COLUMNS,
)
_WHAT = "Degradation modes"
_MARGIN = 1.005
_WORST_RMS = 0.010
_LEAST_STARTS = 0.6
_POINT = 1.0


class _Chosen(NamedTuple):
    """The curve of a check-up, or why there is none."""

    test: str
    curve: Curve | None
    why: str


@dataclass(frozen=True)
class _State:
    """One curve as two electrodes: ``amounts`` are Qn, Qp and the lithium, A.h, (3,), with their covariance."""

    test: str
    curve: Curve
    fit: Fit
    amounts: Floats
    covariance: Floats
    why: str


@takes(
    direction=one_of("discharge", "charge"),
    fastest=ABOVE_0,
    starts=whole(1),
    points=whole(10),
    seed=whole(0),
    rest=FROM_0,
)
@refusing(COLUMNS)
def degradation_modes(
    frame: pd.DataFrame,
    *,
    anode: pd.DataFrame,
    cathode: pd.DataFrame,
    by: str | None = None,
    direction: Direction = "discharge",
    compare: bool = True,
    fastest: float = 1 / 8,
    starts: int = 25,
    points: int = 400,
    seed: int = 0,
    rated: float | None = None,
    rest: float | None = None,
) -> pd.DataFrame:
    """Loss of lithium inventory (LLI) and of active material (LAM) of one cell over its check-ups.

    Each slow curve is fitted as V(s) = Up(xp(s)) - Un(xn(s)) - U0 with s the SOC from 0 to 1 and x linear in s; U0 is
    the drop I R. Qn = Q / (xn1 - xn0), Qp = Q / (xp0 - xp1), Li = xn0 Qn + xp0 Qp, and each loss is 1 - value / value
    of the first check-up that is valid; a warning says so where others come before it. M. Dubarry et al., J. Power
    Sources 219 (2012) 204; C. R. Birkl et al., J. Power Sources 341 (2017) 373; Weng et al. (2023), DOI
    10.3389/fenrg.2023.1087269.

    Parameters
    ----------
    frame : ``Time [s]``, ``Current [A]``, ``Voltage [V]`` of the check-ups of one cell, in order.
    anode, cathode : tables with ``Stoichiometry`` (lithium content, 0 to 1) and ``Voltage [V]`` against lithium. LLI
        needs the absolute stoichiometry of the cathode: scaled from 0 to 1, LLI of a simulated cell was 6.33 % for
        4.75 %.
    by : the column that distinguishes tests (``id`` of a long frame); each gives its slowest curve. Without it each
        slow half cycle of the frame is a check-up.
    direction : of the curves that are fitted.
    compare : fit the other direction too, where it is there, and give no loss of an electrode on which the two differ
        by more than 1 point.
    fastest : 1/h; a faster half cycle is not a slow curve.
    starts, points, seed : starts of the fit, points of SOC, and the seed of the starts.
    rated, rest : as in ``ic_peaks``.

    Returns one row a check-up: ``xn0``, ``xn1``, ``xp0``, ``xp1`` (at SOC 0 and 1), ``Offset [V]``, ``Qn [A.h]``, ``Qp
    [A.h]``, ``Li inventory [A.h]``, ``LLI [A.h]``, ``LLI [%]``, ``LAM anode [%]``, ``LAM cathode [%]``, standard
    deviations (from the Jacobian: of the fit alone), ``rms [mV]``, ``Starts`` (that reached the optimum within 2 %).
    A row is not valid where the rms is above 10 mV or a parameter is at its bound (so also where the cell's window
    goes beyond that of the half cell). A loss of an electrode is NaN where its deviation is above 1 point, charge and
    discharge differ by more than 1 point, or fewer than 60 % of the starts reach the optimum.
    """
    electrodes = HalfCell.of(anode, "anode"), HalfCell.of(cathode, "cathode")
    tests, remarks = _tests(frame, by, rated, rest)
    other: Direction = "charge" if direction == "discharge" else "discharge"
    chosen = _chosen(tests, direction, fastest, one_each=by is not None)
    if not any(one.curve for one in chosen):
        raise Refusal("no_slow_half_cycle", _none(tests, direction, fastest))
    beside = _chosen(tests, other, fastest, one_each=by is not None) if compare else []
    pairs = len(beside) == len(chosen)
    states = [_state(one, electrodes, starts, points, seed) for one in chosen]
    others = [_state(one, electrodes, starts, points, seed) for one in beside] if pairs else []
    if any(one.relative for one in electrodes):
        remarks.append(
            Remark(
                "stoichiometry_relative",
                "The half cells are scaled from 0 to 1. LLI depends on the origin of the cathode's stoichiometry: do "
                "not compare it with results of other half cells.",
            )
        )
    return result(_rows(states, others, starts), COLUMNS, [*remarks, *_later_reference(states)])


def _tests(
    frame: pd.DataFrame, by: str | None, rated: float | None, rest: float | None
) -> tuple[list[tuple[str, list[Curve]]], list[Remark]]:
    """The curves of each test, and the remarks of all."""
    if by is not None and by not in frame:
        raise Refusal("missing_column", f"{_WHAT} are distinguished by '{by}', which the frame does not have.")
    parts = [("", frame)] if by is None else [(str(key), part) for key, part in frame.groupby(by, sort=False)]
    found: list[tuple[str, list[Curve]]] = []
    remarks: dict[str, Remark] = {}
    for name, part in parts:
        samples = checked(part, _WHAT)
        curves, _ = curves_of(samples, rated, rest)
        found.append((name, curves))
        remarks |= {remark.message: replace(remark, where=name) for remark in samples.remarks}
    largest = max((curve.total for _, curves in found for curve in curves), default=0.0)
    if rated is not None or not largest:
        return found, list(remarks.values())
    words = f"C-rates refer to the largest half cycle of all check-ups, {largest:.4g} A.h: give rated."
    return [
        (name, [replace(curve, c_rate=curve.current / largest) for curve in curves]) for name, curves in found
    ], [*remarks.values(), Remark("c_rate_by_largest", words)]


def _chosen(
    tests: list[tuple[str, list[Curve]]], direction: Direction, fastest: float, *, one_each: bool
) -> list[_Chosen]:
    """The slow curves of one direction, in order; with ``one_each`` one of each test, or why it has none."""
    found = []
    for name, curves in tests:
        if one_each:
            curve = slowest(curves, direction)
            fast = curve is not None and curve.c_rate > fastest * _MARGIN
            why = _none([(name, curves)], direction, fastest) if curve is None or fast else ""
            found.append(_Chosen(name, None if why else curve, why))
            continue
        most = max((curve.total for curve in curves), default=0.0)
        for curve in curves:
            slow = curve.total >= 0.5 * most and curve.c_rate <= fastest * _MARGIN
            if curve.direction == direction and not curve.why and slow:
                found.append(_Chosen(name, curve, ""))
    return found


def _none(tests: list[tuple[str, list[Curve]]], direction: Direction, fastest: float) -> str:
    why = [
        f"{curve.named}: {curve.why or f'{curve.c_rate:.3g} C'}"
        for _, curves in tests
        for curve in curves
        if curve.direction == direction
    ]
    seen = f" Seen: {'; '.join(why[:3])}." if why else ""
    return f"{_WHAT} need a whole {direction} at C/{1 / fastest:.3g} or slower; the test has none.{seen}"


def _state(
    chosen: _Chosen, electrodes: tuple[HalfCell, HalfCell], starts: int, points: int, seed: int
) -> _State | _Chosen:
    """A curve as two electrodes; what has no curve stays."""
    curve = chosen.curve
    if curve is None:
        return chosen
    known = np.isfinite(curve.voltage)
    passed, volts = curve.charge[known] / curve.capacity, curve.voltage[known]
    if curve.direction == "discharge":
        passed, volts = (1 - passed)[::-1], volts[::-1]
    soc = np.linspace(0, 1, points)
    fit = fit_cell(soc, np.interp(soc, passed, volts), *electrodes, starts, seed)
    amounts, slopes = _amounts(fit.parameters, curve.capacity)
    why = [
        f"rms of the fit is {1000 * fit.rms:.1f} mV, above 10 mV" if fit.rms > _WORST_RMS else "",
        f"{' and '.join(fit.at_bound)} at a bound: the curve is not that of these half cells"
        if fit.at_bound
        else "",
    ]
    return _State(chosen.test, curve, fit, amounts, slopes @ fit.covariance @ slopes.T, joined(why))


def _amounts(p: Floats, capacity: float) -> tuple[Floats, Floats]:
    """Qn, Qp and the lithium, A.h, and their derivatives by the parameters, (3, 5)."""
    anode, cathode = p[1] - p[0], p[2] - p[3]
    qn, qp = capacity / anode, capacity / cathode
    slope_n = np.array([qn / anode, -qn / anode, 0, 0, 0])
    slope_p = np.array([0, 0, -qp / cathode, qp / cathode, 0])
    lithium = p[0] * slope_n + p[2] * slope_p + np.array([qn, 0, qp, 0, 0])
    return np.array([qn, qp, p[0] * qn + p[2] * qp]), np.stack([slope_n, slope_p, lithium])


def _losses(state: _State, first: _State) -> tuple[Floats, Floats]:
    """LAM of the anode and of the cathode and LLI, %, and their deviations."""
    ratio = state.amounts / first.amounts
    relative = [np.sqrt(np.maximum(np.diag(one.covariance), 0)) / one.amounts for one in (state, first)]
    spread = np.zeros(3) if state is first else 100 * ratio * np.hypot(*relative)
    return 100 * (1 - ratio), spread


def _first(states: Sequence[_State | _Chosen]) -> int | None:
    """The place of the check-up to which losses refer."""
    return next((place for place, state in enumerate(states) if _is_valid(state)), None)


def _is_valid(state: _State | _Chosen) -> TypeGuard[_State]:
    return isinstance(state, _State) and not state.why


def _later_reference(states: Sequence[_State | _Chosen]) -> list[Remark]:
    """The remark that losses do not refer to the first check-up; none if they do."""
    place = _first(states)
    if not place:
        return []
    named = f"check-up {place}" + (f" ({states[place].test})" if states[place].test else "")
    words = f"The losses are those since {named}: no check-up before it is valid, and what was lost by then is missing."
    return [Remark("reference_later", words)]


def _rows(
    states: Sequence[_State | _Chosen], others: Sequence[_State | _Chosen], starts: int
) -> list[dict[str, Cell]]:
    place = _first(states)
    first = states[place] if place is not None else None
    first_other = others[place] if place is not None and others else None
    rows: list[dict[str, Cell]] = []
    for number, state in enumerate(states):
        if isinstance(state, _Chosen):
            rows.append({"Check-up": number, "Test": state.test, VALID: False, WARNING: state.why})
            continue
        row = _head(number, state)
        if state.why or not isinstance(first, _State):
            rows.append(row | {VALID: False, WARNING: state.why})
            continue
        losses, spread = _losses(state, first)
        said = []
        beside = others[number] if others else None
        if beside is not None and _is_valid(beside) and first_other is not None and _is_valid(first_other):
            differ = np.abs(_losses(beside, first_other)[0] - losses)
        else:
            differ = np.zeros(3)
        kept = losses.copy()
        for electrode, name in enumerate(("the anode", "the cathode")):
            why = _unsure(spread[electrode], differ[electrode], state, starts)
            if why and state is not first:
                kept[electrode] = np.nan
                said.append(f"LAM of {name} is not known: {why}")
        rows.append(row | _cells(state, first, kept, spread) | {WARNING: joined(said)})
    return rows


def _unsure(spread: float, differ: float, state: _State, starts: int) -> str:
    if spread > _POINT:
        return f"its deviation is {spread:.1f} points"
    if differ > _POINT:
        return f"charge and discharge differ by {differ:.1f} points"
    if state.fit.reached < _LEAST_STARTS * starts:
        return f"{state.fit.reached} of {starts} starts reach the optimum"
    return ""


def _head(number: int, state: _State) -> dict[str, Cell]:
    return {
        "Check-up": number,
        "Test": state.test,
        "Half cycle": state.curve.number,
        "Direction": state.curve.direction,
        "C-rate [1/h]": state.curve.c_rate,
        "Capacity [A.h]": state.curve.capacity,
        "rms [mV]": 1000 * state.fit.rms,
        "Starts": state.fit.reached,
        **temperature_cells(state.curve.temperature),
    }


def _cells(state: _State, first: _State, losses: Floats, spread: Floats) -> dict[str, Cell]:
    fit = state.fit
    deviations = np.sqrt(np.maximum(np.diag(fit.covariance), 0))
    cells: dict[str, Cell] = {"Offset [V]": float(fit.parameters[4]), "Offset sd [V]": float(deviations[4])}
    for place, name in enumerate(NAMES[:4]):
        cells |= {name: float(fit.parameters[place]), f"{name} sd": float(deviations[place])}
    amounts = np.sqrt(np.maximum(np.diag(state.covariance), 0))
    for place, name in enumerate(("Qn", "Qp", "Li inventory")):
        cells |= {f"{name} [A.h]": float(state.amounts[place]), f"{name} sd [A.h]": float(amounts[place])}
    for place, name in enumerate(("LAM anode", "LAM cathode", "LLI")):
        cells |= {f"{name} [%]": float(losses[place]), f"{name} sd [%]": float(spread[place])}
    return cells | {"LLI [A.h]": float(first.amounts[2] - state.amounts[2])}
