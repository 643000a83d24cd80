"""The capacity to which others are compared: the first, a median, the rated, or the largest of the first."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from ..inputs import Floats, Refusal

Kind = Literal["first", "median of 2..6", "rated", "max of first 10"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Reference(NamedTuple):
    """A capacity, A.h, and which it is."""

    value: float
    kind: str


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
