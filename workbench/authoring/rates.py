"""The constant currents that tests really have: a wish says "at 2C", and a script must find those steps.

Read from the rows of steps of few tests: of those that the wish names, and of some of each protocol.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..engine.ratings import rated_capacities
from ..engine.reader import Reader
from ..table import Plain, Table

MOST_PROTOCOLS, OF_EACH = 10, 3
"""Protocols whose rates are said, the most frequent first, and tests that are read of each, of different designs."""
MOST_RATES = 8
_MEAN, _STD, _MIN, _DURATION = "Mean current [A]", "Std current [A]", "Min current [A]", "Duration [s]"
_STEADY = 0.05
"""Largest deviation of a constant current, of its mean."""
_LEAST = 0.02
"""Of the rated capacity, or of the largest step: a step with less charge is a pulse or an interruption."""
_SHARE = 0.1
"""The least mean of a charge at constant current and voltage, of its largest current: less is a pulse."""
_ALIKE = 1.06
"""Ratio up to which two rates are one: a cycler keeps a current within per cents."""
FIELDS = ("id", "protocol.name", "specification_id")
"""Columns of the tests that are read."""


class Rates(NamedTuple):
    """The constant currents of one test, ascending, by direction: in multiples of the rated capacity (``unit`` C, that
    is 1/h), or in A where there is only an estimate of it. ``largest`` is the charge of the largest step, A.h."""

    unit: str
    discharge: list[float]
    charge: list[float]
    largest: float = 0.0


def rates_of_protocols(tests: Table, reader: Reader) -> str:
    """What rates each protocol has, as `in_short`; empty if no test has a protocol and a constant current.

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
    told = {name: in_short([read[test] for test in of if test in read]) for name, of in chosen.items()}
    alike: dict[str, list[str]] = {}
    for name, text in told.items():
        alike.setdefault(text, []).append(json.dumps(name, ensure_ascii=False))
    return "; ".join(f"{', '.join(names)} {text}" for text, names in alike.items() if text)


def rates(tests: Sequence[str], reader: Reader) -> dict[str, Rates]:
    """The constant currents of tests, by id; tests without steps are absent."""
    rated = rated_capacities(tests, reader)[0]
    tables = reader.store.series.many(tests, [_MEAN, _STD, _MIN, _DURATION], "steps", scope=reader.scope)
    return {
        test: _rates(table, rated.get(test)) for test, table in tables.items() if {_MEAN, _DURATION} <= {*table}
    }


def _rates(steps: Table, rated: float | None) -> Rates:
    mean = steps[_MEAN].floats()
    spread = steps[_STD].floats() if _STD in steps else np.zeros(steps.n)
    least = steps[_MIN].floats() if _MIN in steps else mean
    charge = np.nan_to_num(np.abs(mean) * steps[_DURATION].floats() / 3600)
    whole = rated or charge.max(initial=0.0)
    with np.errstate(invalid="ignore"):
        long = charge >= _LEAST * whole
        steady = long & (np.nan_to_num(spread) <= _STEADY * np.abs(mean))
        # A charge at constant current and then at constant voltage is one step in many files: it begins with the most.
        falls = long & ~steady & (mean < 0) & (mean > least) & (mean < _SHARE * least)
        charges = np.concatenate([-mean[steady & (mean < 0)], -least[falls]])
        discharges = mean[steady & (mean > 0)]
    one = rated or 1.0
    largest = float(charge.max(initial=0.0))
    return Rates("C" if rated else "A", _distinct(discharges / one), _distinct(charges / one), largest)


def _distinct(values: Iterable[float]) -> list[float]:
    """Values ascending, of those that are nearly alike the first."""
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value > _ALIKE * kept[-1]:
            kept.append(float(value))
    return kept


def in_words(found: Sequence[Rates]) -> str:
    """The currents of one test or several, by direction; empty if there are none.

    >>> in_words([Rates("C", [0.05, 1.0], [0.5])])
    'discharge 0.05, 1 C, charge 0.5 C'
    """
    return ", ".join(f"{name} {numbers} {unit}" for unit, name, numbers in _parts(found))


def in_short(found: Sequence[Rates]) -> str:
    """The same in few letters: discharge and charge on both sides of a stroke, the unit only if it is A.

    >>> in_short([Rates("C", [0.05, 1.0], [])])
    '0.05, 1 / -'
    """
    parts = {(unit, name): numbers for unit, name, numbers in _parts(found)}
    ways = [
        f"{parts.get((unit, 'discharge'), '-')} / {parts.get((unit, 'charge'), '-')}{'' if unit == 'C' else ' A'}"
        for unit in dict.fromkeys(unit for unit, _ in parts)
    ]
    return ", ".join(ways)


def _parts(found: Sequence[Rates]) -> Iterator[tuple[str, str, str]]:
    """Unit, direction, and the currents as a text."""
    for unit in ("C", "A"):
        of = [one for one in found if one.unit == unit]
        for name, several in (
            ("discharge", [one.discharge for one in of]),
            ("charge", [one.charge for one in of]),
        ):
            values = _distinct(value for one in several for value in one)
            if values:
                shown = values if len(values) <= MOST_RATES else [*values[: MOST_RATES - 1], values[-1]]
                gap = "" if shown is values else " …"
                yield unit, name, ", ".join(f"{float(f'{value:.2g}'):g}" for value in shown) + gap
