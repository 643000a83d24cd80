"""What the parameters of analyses take: a value outside of it is an error that names the parameter and its range.

Without it a window that is written the other way round finds no sample, and a geometry with a capital is a slab.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")


class Allowed(NamedTuple):
    """Whether a value is allowed, and in words what is."""

    fits: Callable[[object], bool]
    words: str

    def lacking(self, name: str, value: object) -> str | None:
        """The sentence that refuses a value; None if it is allowed. A parameter that is None is not given."""
        if value is None or self.fits(value):
            return None
        return f"'{name}' must be {self.words}; it is {value!r:.60}."


def takes(**allowed: Allowed) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """An analysis whose parameters are checked before anything is computed.

    Raises
    ------
    ValueError
        By the analysis, for the first value that is not allowed.
    """

    def made(analysis: Callable[P, R]) -> Callable[P, R]:
        unknown = {*allowed} - {*signature(analysis).parameters}
        if unknown:
            raise TypeError(f"{analysis.__name__} has no parameter {sorted(unknown)}")

        @wraps(analysis)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            for name, value in kwargs.items():
                if name in allowed and (why := allowed[name].lacking(name, value)) is not None:
                    raise ValueError(why)
            return analysis(*args, **kwargs)

        run.__dict__["allowed"] = allowed
        return run

    return made


def one_of(*words: str) -> Allowed:
    return Allowed(
        lambda value: isinstance(value, str) and value in words, " or ".join(f"'{word}'" for word in words)
    )


def whole(least: int) -> Allowed:
    return Allowed(
        lambda value: _is_number(value) and isinstance(value, Integral) and int(value) >= least,
        f"a whole number from {least}",
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _float(value: object) -> float:
    return float(value) if isinstance(value, Real) else float("nan")


def _numbers(value: object) -> list[float] | None:
    """Numbers of a sequence; None if it is another thing, or one of them is none."""
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        return None
    return [_float(one) for one in value] if all(map(_is_number, value)) else None


def _ascends(value: object, low: float, high: float) -> bool:
    pair = _numbers(value)
    return pair is not None and len(pair) == 2 and low <= pair[0] < pair[1] <= high


_ENDLESS = float("inf")
ABOVE_0 = Allowed(lambda value: _is_number(value) and _float(value) > 0, "a number above 0")
FROM_0 = Allowed(lambda value: _is_number(value) and _float(value) >= 0, "a number from 0")
SHARE = Allowed(lambda value: _is_number(value) and 0 <= _float(value) <= 1, "a number from 0 to 1")
TIMES = Allowed(
    lambda value: (found := _numbers(value)) is not None and all(0 <= one < _ENDLESS for one in found),
    "numbers from 0, s",
)
WINDOW = Allowed(
    lambda value: _ascends(value, 0.0, _ENDLESS), "two numbers from 0, s, of which the second is the larger"
)
SHARES = Allowed(
    lambda value: (pair := _numbers(value)) is not None and len(pair) == 2 and all(0 <= one <= 1 for one in pair),
    "two numbers from 0 to 1",
)
LIMITS = Allowed(lambda value: _ascends(value, -1e6, 1e6), "the lower and the upper voltage, such as (2.5, 4.2)")
