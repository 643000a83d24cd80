"""Rules about axes: titles, units, logarithms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..messages import spaced
from ..typed_arrays import mapping
from ..units import split_unit
from .figure_reader import Drawn, Of, Trace, numbers
from .observation import Observation
from .units import factor_between, has_unit, plain_unit, unit_of_column, unit_of_title


def _shown(drawn: Drawn) -> Iterator[tuple[Trace, str, str]]:
    """Every trace with each of its axes: letter and name in the layout."""
    for trace in drawn.flat:
        for letter in "xy":
            yield trace, letter, trace.axis(letter)


def axis_untitled(drawn: Drawn) -> Iterator[Observation]:
    titled = {_lane(drawn, name) for _, _, name in _shown(drawn) if drawn.title(name)}
    shared = set(_shared_titles(drawn))
    told: set[str] = set()
    for trace, letter, name in _shown(drawn):
        axis = drawn.axis(name)
        if letter in shared and not axis.get("overlaying"):
            continue
        hidden = axis.get("visible") is False or axis.get("showticklabels") is False
        if name in told or hidden or drawn.title(name) or _lane(drawn, name) in titled:
            continue
        if axis.get("type") in ("date", "category", "multicategory") or not _has_numbers(trace, letter):
            continue
        told.add(name)
        yield Observation(f"The axis {name} has no title.", trace.n, name)


def _shared_titles(drawn: Drawn) -> Iterator[str]:
    """``x`` or ``y`` where all these axes share a title: a note below or left of the paper, as of ``make_subplots``."""
    notes = drawn.layout.get("annotations")
    for note in map(mapping, notes if isinstance(notes, list) else ()):
        x, y = note.get("x"), note.get("y")
        if not note.get("text") or (note.get("xref"), note.get("yref")) != ("paper", "paper"):
            continue
        if note.get("yanchor") == "top" and isinstance(y, int | float) and y <= 0:
            yield "x"
        if note.get("textangle") == -90 and isinstance(x, int | float) and x <= 0:
            yield "y"


def _has_numbers(trace: Trace, letter: str) -> bool:
    """Whether a trace puts numbers on an axis. An axis that a bar or box leaves out only counts."""
    values = trace.raw.get(letter)
    found = numbers(values) if values is not None else None
    return found is not None and bool(np.isfinite(found).any()) and trace.raw.get("base") is None


def _lane(drawn: Drawn, name: str) -> tuple[str, tuple[float, ...], str]:
    """The row of panels of a y axis, or the column of panels of an x axis. One title serves them all."""
    domain = drawn.axis(name).get("domain")
    side = str(drawn.axis(name).get("side") or "")
    over = str(drawn.axis(name).get("overlaying") or "")
    given = domain if isinstance(domain, list) else [0, 1]
    shown = tuple(float(edge) for edge in given if isinstance(edge, int | float))
    return name[0], shown, side + over


def mixed_units(drawn: Drawn) -> Iterator[Observation]:
    first: dict[str, tuple[str, Trace]] = {}
    told: set[str] = set()
    for trace in drawn.scatters:
        for letter in "xy":
            name = trace.axis(letter)
            unit = _unit(drawn, trace, letter)
            if unit is None or name in told:
                continue
            known, other = first.setdefault(name, (unit, trace))
            if known != unit:
                told.add(name)
                message = f"{other.label} is in {known} and {trace.label} in {unit}, on the same axis {name}."
                yield Observation(message, trace.n, name)


def _unit(drawn: Drawn, trace: Trace, letter: str) -> str | None:
    """The unit of the values of a trace on an axis: from the column that it shows, or from its name."""
    of = drawn.sources.get(trace.n, {}).get(letter)
    if of is not None and of.factor == 1:
        return unit_of_column(of.column)
    named = split_unit(trace.name)[1] if letter == "y" else None
    return plain_unit(named) if named is not None else None


def wrong_unit(drawn: Drawn) -> Iterator[Observation]:
    told: set[str] = set()
    for trace in drawn.scatters:
        for letter, of in drawn.sources.get(trace.n, {}).items():
            name = trace.axis(letter)
            title, unit = drawn.title(name), unit_of_column(of.column)
            shown = unit_of_title(title)
            if name not in told and unit is not None and shown is not None and _differs(of, unit, shown):
                told.add(name)
                times = "" if abs(of.factor) == 1 else f" times {abs(of.factor):.4g}"
                message = (
                    f"The axis {name} says '{title}', and {trace.label} shows the column '{of.column}'{times}."
                )
                yield Observation(message, trace.n, name)


def _differs(of: Of, unit: str, shown: str) -> bool:
    if unit == shown:
        expected: float | None = 1.0
    else:
        expected = factor_between(unit, shown)
    if expected is None:
        return abs(of.factor) == 1
    return abs(abs(of.factor) - expected) > 1e-6 * expected


def unit_missing(drawn: Drawn) -> Iterator[Observation]:
    told: set[str] = set()
    for trace in drawn.scatters:
        for letter, of in drawn.sources.get(trace.n, {}).items():
            name = trace.axis(letter)
            title, unit = drawn.title(name), split_unit(of.column)[1]
            if title and unit and abs(of.factor) == 1 and name not in told and not has_unit(title):
                told.add(name)
                yield Observation(
                    f"The axis {name} says '{title}'; the column '{of.column}' is in {unit}.", trace.n, name
                )


def log_not_positive(drawn: Drawn) -> Iterator[Observation]:
    for trace, letter, name in _shown(drawn):
        if drawn.axis(name).get("type") != "log":
            continue
        values = numbers(trace.raw.get(letter))
        lost = 0 if values is None else int((values <= 0).sum())
        if lost:
            whole = len(values) if values is not None else 0
            some = f"{spaced(lost)} of {spaced(whole)} values"
            message = f"{trace.label} has {some} at or below 0 on the logarithmic axis {name}."
            yield Observation(message, trace.n, name)
