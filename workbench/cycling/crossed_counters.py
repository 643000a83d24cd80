"""Counters of charge and discharge that are named the other way round than the current says."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..table import Table
from . import columns as c
from .owned_intervals import CHARGE_IN, CHARGE_OUT, Owned

OTHER_WAY = {
    c.DISCHARGE_CAPACITY: c.CHARGE_CAPACITY,
    c.CHARGE_CAPACITY: c.DISCHARGE_CAPACITY,
    c.DISCHARGE_ENERGY: c.CHARGE_ENERGY,
    c.CHARGE_ENERGY: c.DISCHARGE_ENERGY,
}
"""Each counter, and that of the other direction."""
_ONE_WAY = 0.95
"""A step in which this share of the charge passes in one direction is of that direction."""
_NEARLY_ALL = 0.9
_NEAR = 0.1


def are_crossed(steps: Table, owned: Owned, present: Collection[str]) -> bool:
    """Whether the counters of charge counted nearly all in steps in which the current went the other way, and as much
    as it passed there.

    Parameters
    ----------
    steps : (g,) with what their counters counted.
    owned : what each of them passed by its current.
    present : the columns of the series; a counter that is not among them was integrated.
    """
    if not {c.DISCHARGE_CAPACITY, c.CHARGE_CAPACITY} <= set(present):
        return False
    out, into = owned.both[:, CHARGE_OUT], owned.both[:, CHARGE_IN]
    both = out + into
    little = (1 - _ONE_WAY) * both
    counted = crosswise = 0.0
    for name, flow, back in ((c.DISCHARGE_CAPACITY, into, out), (c.CHARGE_CAPACITY, out, into)):
        values, other_way = np.nan_to_num(steps[name].floats()), (both > 0) & (back <= little)
        passed = float(flow[other_way].sum())
        mine = float(values[other_way].sum())
        if abs(mine - passed) > _NEAR * max(passed, mine):
            return False
        counted += float(values.sum())
        crosswise += mine
    return counted > 0 and crosswise >= _NEARLY_ALL * counted
