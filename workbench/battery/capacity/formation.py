"""``formation``: what the first cycles of a cell lose."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..inputs import T_MEAN, Refusal, positive, refusing, temperatures
from ..result import Cell, Remark, result
from .step_table import Half, Steps, halves, largest_discharge

COLUMNS = (
    "Cycles",
    "First charge [A.h]",
    "First discharge [A.h]",
    "First-cycle loss [A.h]",
    "First-cycle loss [%]",
    "ICE",
    "Sum of losses [A.h]",
    "Sum of losses [%]",
    T_MEAN,
)
SLOW = 1 / 8
_SETTLED, _IN_A_ROW = 0.005, 3
_EMPTY = 0.2
_LEAST = 0.05


@refusing(COLUMNS)
def formation(
    steps: pd.DataFrame,
    *,
    rated: float | None = None,
    tagged: bool = False,
    half_cell: bool = False,
) -> pd.DataFrame:
    """The loss of the first cycle and of the slow cycles at the start of a cell's life.

    First-cycle loss = Q_c1 - Q_d1; ICE (initial coulombic efficiency) = Q_d1 / Q_c1; the sum of losses is over the
    cycles slower than C/8 at the start, until three in a row agree within 0.5 %. Percent are of the first charge. Of a
    half cell against lithium, lithiation comes first (discharge), and ICE = delithiation / lithiation.

    It refuses a test that does not start with the first charge from the assembled state: one that begins with the
    other direction, or above the lowest fifth of the voltages that the test passes (for a half cell below the
    highest), unless it is ``tagged`` as formation. A test of an old cell that begins empty looks the same, so that a
    test without a tag has a warning.

    Parameters
    ----------
    steps : the ``steps`` summary of one test.
    rated : rated capacity, A.h, for the C-rate; the largest discharge without it.
    tagged : somebody said that the test is a formation.
    half_cell : the cell is an electrode against lithium.
    """
    positive(rated, "rated capacity")
    table = Steps.of(steps)
    found = halves(table)
    found = halves(table, _LEAST * max((half.passed() for half in found), default=0.0))
    first, second = (1, -1) if half_cell else (-1, 1)
    if len(found) < 2 or found[0].direction != first:
        words = "lithiation (discharge)" if half_cell else "charge"
        turned = len(found) > 1 and not half_cell
        also = (
            " Of an electrode against lithium, which begins with a discharge, say half_cell=True."
            if turned
            else ""
        )
        raise Refusal("not_the_first", f"The test does not begin with a {words} and its reverse.{also}")
    if not tagged:
        _check_start(table, half_cell)
    base = rated or largest_discharge(found)
    pairs = [pair for pair in zip(found[::2], found[1::2], strict=False) if pair[1].direction == second]
    slow = _slow(pairs, base)
    if not slow:
        rate = pairs[0][0].current / base
        raise Refusal("too_fast", f"The first cycle is at {rate:.3g}C, and a formation is slower than C/8.")
    if any(half.is_excluded for pair in slow for half in pair):
        raise Refusal("excluded", "A cycle of the formation is excluded: its losses are not known without it.")
    into, out = slow[0][0].passed(), slow[0][1].passed()
    lost = sum(one.passed() - other.passed() for one, other in slow)
    row: dict[str, Cell] = {
        "Cycles": len(slow),
        "First charge [A.h]": into,
        "First discharge [A.h]": out,
        "First-cycle loss [A.h]": into - out,
        "First-cycle loss [%]": 100 * (into - out) / into,
        "ICE": out / into,
        "Sum of losses [A.h]": lost,
        "Sum of losses [%]": 100 * lost / into,
        T_MEAN: float(np.mean([half.temperature for pair in slow for half in pair])),
        "Warning": "the cell gives more than it took: it came charged" if out > into else "",
        "Valid": out <= into,
    }
    if out > into:
        row |= dict.fromkeys(COLUMNS[3:8], np.nan)
    remarks = temperatures(np.array([half.temperature for pair in slow for half in pair]))
    if not tagged:
        words = "Nobody said that this is the formation: it is taken for it, because it begins as a new cell does."
        remarks.append(Remark("start_assumed", words))
    if rated is None:
        remarks.append(Remark("no_rated_capacity", f"C-rate by the largest discharge, {base:.4g} A.h."))
    return result([row], COLUMNS, remarks)


def _check_start(table: Steps, half_cell: bool) -> None:
    """Refuse a test that begins partly charged (a half cell: partly lithiated)."""
    start, ends = table.column("Start voltage [V]"), table.column("End voltage [V]")
    known = np.concatenate([start, ends])
    known = known[np.isfinite(known)]
    if not len(known) or np.isnan(start[0]):
        raise Refusal("missing_column", "Without the voltages of the steps it is not known where the test begins.")
    low, high = float(known.min()), float(known.max())
    share = (start[0] - low) / (high - low) if high > low else np.nan
    share = 1 - share if half_cell else share
    if not share < _EMPTY:
        words = (
            f"The test begins at {start[0]:.3f} V, within {low:.3f} to {high:.3f} V: not as it was assembled. If it is "
            "the formation, say tagged=True."
        )
        raise Refusal("not_the_first", words)


def _slow(pairs: list[tuple[Half, Half]], base: float) -> list[tuple[Half, Half]]:
    """The slow cycles at the start, until three in a row agree."""
    taken: list[tuple[Half, Half]] = []
    for pair in pairs:
        if not max(half.current for half in pair) <= SLOW * base:
            break
        taken.append(pair)
        last = [second.passed() for _, second in taken[-_IN_A_ROW:]]
        if len(last) == _IN_A_ROW and max(last) - min(last) <= _SETTLED * max(last):
            break
    return taken
