"""The capacity to which others are compared: the first, a median, the rated, or the largest of the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from ..inputs import Floats, Refusal
from ..result import Remark

Kind = Literal["first", "median of 2..6", "rated", "max of first 10"]
KINDS: tuple[Kind, ...] = get_args(Kind)


PART = 0.8
"""A first discharge that passes less than this share of the next one began part-charged."""
REFILLED = 0.95
"""The same, where the charge that refills it is known."""
PART_CHARGED = Remark(
    "part_charged", "The first discharge is left out: the cell came part-charged, so it is not a capacity."
)


class Reference(NamedTuple):
    """A capacity, A.h, and which it is."""

    value: float
    kind: str


def came_part_charged(values: Floats, complete: Sequence[bool | None]) -> bool:
    """Whether the first of the capacities, in order, is of a cell that came part-charged, so that it is not one.

    Where it is known whether the first cycle is complete, that decides. A cycle that is not complete, and one without
    a capacity, is passed over.
    """
    if not len(values) or complete[0] is not None or not values[0] > 0:
        return False
    later = [value for value, one in zip(values[1:], complete[1:], strict=True) if one is not False and value > 0]
    return bool(later and values[0] < PART * later[0])


def reference_of(values: Floats, kind: str, rated: float | None) -> Reference:
    """The reference of capacities that count, in order; NaN are those that do not.

    Raises
    ------
    ValueError
        If the kind is not known, or "rated" without a rated capacity.
    Refusal
        If no value counts, or too few do.
    """
    if kind not in KINDS:
        raise ValueError(f"The reference must be one of {', '.join(repr(k) for k in KINDS)}; it is {kind!r}.")
    if kind == "rated":
        if rated is None:
            raise Refusal(
                "no_rated_capacity", "The reference 'rated' needs the rated capacity, and it is not known."
            )
        return Reference(rated, kind)
    known = values[np.isfinite(values) & (values > 0)]
    least = {"first": 1, "median of 2..6": 6, "max of first 10": 1}[kind]
    if len(known) < least:
        raise Refusal("too_few", f"The reference '{kind}' needs {least} complete cycles; there are {len(known)}.")
    if kind == "first":
        return Reference(float(known[0]), kind)
    if kind == "median of 2..6":
        return Reference(float(np.median(known[1:6])), kind)
    return Reference(float(known[:10].max()), kind)
