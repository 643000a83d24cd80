"""The constant currents that tests really have: a wish says "at 2C", and a script must find those steps.

Read from the rows of steps of few tests: of those that the wish names, and of some of each protocol.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..engine.ratings import rated_capacities
from ..engine.reader import Reader
from ..table import Plain, Table

MOST_PROTOCOLS, OF_EACH = 10, 3
"""Protocols whose rates are told, the most frequent first, and tests that are read of each, of different designs."""
MOST_RATES = 8
_MEAN, _STD, _DURATION = "Mean current [A]", "Std current [A]", "Duration [s]"
_STEADY = 0.05
"""Largest deviation of a constant current, of its mean."""
_LEAST = 0.02
"""Of the rated capacity, or of the largest step: a step with less charge is a pulse or an interruption."""
_ALIKE = 1.06
"""Ratio up to which two rates are one: a cycler keeps a current within per cents."""
FIELDS = ("id", "protocol.name", "specification_id")
"""Columns of the tests that are read."""


class Rates(NamedTuple):
    """The constant currents of one test, ascending, by direction: in multiples of the rated capacity (``unit`` C, that
    is 1/h), or in A where there is only an estimate of it."""

    unit: str
    discharge: list[float]
    charge: list[float]


def rates_of_protocols(tests: Table, reader: Reader) -> str:
    """What rates each protocol has, in words; empty if no test has a protocol and a constant current.

    Parameters
    ----------
    tests : all tests, with ``id``, ``protocol.name`` and ``specification_id``.
    """
    by_protocol: dict[str, dict[Plain, list[str]]] = {}
    counts: Counter[str] = Counter()
    for test, protocol, design in zip(*(tests[name].tolist() for name in FIELDS), strict=True):
        if isinstance(protocol, str) and protocol:
            by_protocol.setdefault(protocol, {}).setdefault(design, []).append(str(test))
            counts[protocol] += 1
    chosen = {
        name: [of[0] for of in by_protocol[name].values()][:OF_EACH]
        for name, _ in counts.most_common(MOST_PROTOCOLS)
    }
    read = rates([test for of in chosen.values() for test in of], reader)
    told = {name: in_words([read[test] for test in of if test in read]) for name, of in chosen.items()}
    alike: dict[str, list[str]] = {}
    for name, text in told.items():
        alike.setdefault(text, []).append(json.dumps(name, ensure_ascii=False))
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in alike.items() if text)


def rates(tests: Sequence[str], reader: Reader) -> dict[str, Rates]:
    """The constant currents of tests, by id; tests without steps are absent."""
    rated = rated_capacities(tests, reader)[0]
    tables = reader.store.series.many(tests, [_MEAN, _STD, _DURATION], "steps", scope=reader.scope)
    return {
        test: _rates(table, rated.get(test)) for test, table in tables.items() if {_MEAN, _DURATION} <= {*table}
    }


def _rates(steps: Table, rated: float | None) -> Rates:
    mean = steps[_MEAN].floats()
    spread = steps[_STD].floats() if _STD in steps else np.zeros(steps.n)
    charge = np.nan_to_num(np.abs(mean) * steps[_DURATION].floats() / 3600)
    whole = rated or charge.max(initial=0.0)
    with np.errstate(invalid="ignore"):
        steady = (np.nan_to_num(spread) <= _STEADY * np.abs(mean)) & (charge >= _LEAST * whole)
        ways = [_distinct(sign * mean[steady & (sign * mean > 0)] / (rated or 1.0)) for sign in (1, -1)]
    return Rates("C" if rated else "A", *ways)


def _distinct(values: Iterable[float]) -> list[float]:
    """Values ascending, of those that are nearly alike the first."""
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value > _ALIKE * kept[-1]:
            kept.append(float(value))
    return kept


def in_words(found: Sequence[Rates]) -> str:
    """The currents of one test or several, by direction; empty if there are none."""
    parts = []
    for unit in ("C", "A"):
        of = [one for one in found if one.unit == unit]
        for name, several in (
            ("discharge", [one.discharge for one in of]),
            ("charge", [one.charge for one in of]),
        ):
            values = _distinct(value for one in several for value in one)
            if values:
                shown = values if len(values) <= MOST_RATES else [*values[: MOST_RATES - 1], values[-1]]
                numbers = ", ".join(f"{value:.2g}" for value in shown)
                parts.append(f"{name} {numbers} {unit}" + (f" of {len(values)}" if shown is not values else ""))
    return ", ".join(parts)
