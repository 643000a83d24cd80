"""The views of ``bench.quick``: which of them fit a file, the best one first, and the recipe of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ... import steps
from ...errors import BadRequest, instead
from ...recipe.build import param, plan
from ...recipe.drafts import StepDraft
from ...recipe.recipe import Recipe
from ...recipe.steps.series import MOST_POINTS
from . import drawings

TIME, VOLTAGE, CURRENT, TEMPERATURE = "Time [s]", "Voltage [V]", "Current [A]", "Temperature [degC]"
REAL, IMAGINARY, FREQUENCY = "Z_Re [Ohm]", "Z_Im [Ohm]", "Frequency [Hz]"
CYCLES = [
    drawings.CYCLE,
    drawings.OUT,
    drawings.IN,
    "Coulombic efficiency",
    drawings.COMPLETE,
]
MANY_CYCLES = 8
MOST_PANELS, MOST_Y = 4, 8
MOST_GROUPS = 20
# Quantities of cells come first. Clocks, counters and conditions are drawn only if there is nothing else.
_TELLING = (
    r"capacity|retention|^q_",
    r"efficien|^ce$",
    r"resist|impedance|[\[_]m?ohm",
    r"voltage|potential",
    r"energy|current|power|temperature",
)
_DULL = r"index|number|label|^rows?$|time|date|throughput|count|start|^end|ambient|cycles$|tsecs|slippage"
_TIMES = r"time|date|clock"
_ABSCISSAS = (
    r"^cycle|cycles$|cycle[_ ](number|index|count)|discharge_number",
    _TIMES,
    r"^soc|state of charge|stoichiometry|^sto$",
    r"freq",
    r"capacity|voltage",
)


@dataclass(frozen=True)
class Column:
    """What is known about a column.

    ``numeric``: it holds numbers or times; ``filled``: how many values it has; ``varies``: they differ; ``rises``: each
    is greater than the one before; ``groups``: the number of different texts; ``within``: it varies inside a group;
    ``moments``: it holds days or times.
    """

    name: str
    numeric: bool
    filled: int
    varies: bool = True
    rises: bool = False
    groups: int = 0
    within: bool = True
    moments: bool = False


@dataclass(frozen=True)
class Held:
    """What a file holds: its source in the store, rows, columns, cycles, and its duration in s.

    ``one_of_several`` is the id of the measurement that is looked at, if the file holds more than this one.
    """

    source: str
    rows: int
    columns: dict[str, Column]
    cycles: int = 0
    duration: float = 0.0
    spectral: int | None = None
    """Rows with a frequency above 0, where others have 0: some programs fill the impedance of all other rows with 0."""
    cycle_columns: Sequence[str] = ()
    step_columns: Sequence[str] = ()
    one_of_several: str | None = None

    def has(self, *names: str) -> bool:
        """Whether each of these columns is there and has values."""
        return all(name in self.columns and self.columns[name].filled for name in names)

    def measures(self, *names: str) -> bool:
        """Whether each of these columns is there and holds numbers."""
        return self.has(*names) and all(self.columns[name].numeric for name in names)


@dataclass(frozen=True)
class View:
    """A view of a file: its name for ``show=``, what it shows, and its recipe."""

    name: str
    about: str
    recipe: Callable[[Held], Recipe]


def views(held: Held) -> list[View]:
    """The views that fit a file, the one that says most first."""
    found: list[View] = []
    filled = held.columns[REAL].filled if held.measures(REAL, IMAGINARY) else 0
    spectra = filled if held.spectral is None else min(filled, held.spectral)
    if spectra >= max(3, held.rows / 2):
        found.append(IMPEDANCE)
    if held.cycles >= MANY_CYCLES and held.measures(TIME, CURRENT):
        found.append(PER_CYCLE)
    if held.measures(TIME, VOLTAGE):
        found.append(OVER_TIME)
    if spectra >= 3 and IMPEDANCE not in found:
        found.append(IMPEDANCE)
    if held.source == "measurements" and 1 < held.cycles < MANY_CYCLES and held.measures(TIME, CURRENT):
        found.append(PER_CYCLE)
    x, _ = _abscissa(held)
    if not found and _ordinates(held, x):
        found.append(TABLE)
    return found


def _listed(held: Held) -> StepDraft:
    """The record of the file. The recipe has its id only if the store holds others."""
    only: dict[str, Any] = {"where": {"ids": [held.one_of_several]}} if held.one_of_several is not None else {}
    listed: StepDraft = steps.list(held.source, fields=["id", "name"], **only)
    return listed


def _over_time(held: Held) -> Recipe:
    measured = _listed(held)
    columns = [name for name in (VOLTAGE, CURRENT) if held.measures(name)]
    columns += [TEMPERATURE] if held.measures(TEMPERATURE) and held.columns[TEMPERATURE].varies else []
    samples = steps.series(held.source, measured, TIME, columns, max_points=MOST_POINTS)
    unit = next(
        u for u, least in (("d", 20 * 86400), ("h", 7200), ("min", 300), ("s", -1)) if held.duration >= least
    )
    asked = param("unit", unit, label="Time in", options=list(drawings.SECONDS))
    return Recipe(plan=plan(measured=measured, samples=samples), transform=drawings.over_time, params=[asked])


def _per_cycle(held: Held) -> Recipe:
    measured = _listed(held)
    cycles = steps.summary("cycles", measured, CYCLES)
    asked = param("partial", False, label="Show incomplete cycles")
    return Recipe(plan=plan(measured=measured, cycles=cycles), transform=drawings.per_cycle, params=[asked])


def _impedance(held: Held) -> Recipe:
    measured = _listed(held)
    columns = [name for name in (REAL, IMAGINARY, FREQUENCY, drawings.CYCLE) if name in held.columns]
    x, window = "Step count", None
    if held.spectral is not None:
        columns[columns.index(FREQUENCY)] = x
        x, window = FREQUENCY, {"min": 1e-9, "max": None}
    samples = steps.series(held.source, measured, x, columns, max_points=MOST_POINTS, window=window)
    return Recipe(plan=plan(measured=measured, samples=samples), transform=drawings.nyquist)


def _table(held: Held) -> Recipe:
    x, group = _abscissa(held)
    y: list[str] = []
    for name in _ordinates(held, x):
        if len({drawings.unit_of(one) for one in [*y, name]}) <= MOST_PANELS and len(y) < MOST_Y:
            y.append(name)
    return over(held, x, y, group)


def over(held: Held, x: str, y: Sequence[str], group: str | None = None) -> Recipe:
    """The recipe of columns over another one: of the samples, else of the cycles or the steps.

    Raises
    ------
    BadRequest
        If none of these has all the columns; the message names the nearest.
    """
    wanted = [x, *y, *([group] if group is not None else [])]
    listed = _listed(held)
    if all(name in held.columns for name in wanted):
        others = list(dict.fromkeys(name for name in wanted if name != x)) or [x]
        rows = steps.series(held.source, listed, x, others, max_points=MOST_POINTS)
    else:
        rows = steps.summary(_summary_with(held, wanted), listed, wanted)
    asked = [param("x", x), param("y", list(y)), param("group", group)]
    return Recipe(plan=plan(listed=listed, rows=rows), transform=drawings.lines, params=asked)


def _summary_with(held: Held, wanted: Sequence[str]) -> str:
    for name, columns in (("cycles", held.cycle_columns), ("steps", held.step_columns)):
        if all(column in columns for column in wanted):
            return name
    known = list(dict.fromkeys([*held.columns, *held.cycle_columns, *held.step_columns]))
    unknown = next((name for name in wanted if name not in known), None)
    if unknown is None:
        quoted = ", ".join(f"'{name}'" for name in wanted)
        raise BadRequest(
            f"No table of the file has all of {quoted}. Choose columns of its samples, of its cycles or of its steps."
        )
    raise BadRequest(f"The file has no column '{unknown}'. {instead(unknown, known, 'columns')}")


def _abscissa(held: Held) -> tuple[str, str | None]:
    """The column of the x axis, and the column whose values are groups."""
    alone = ROW if ROW in held.columns else "Step count"
    groups = [c.name for c in held.columns.values() if 1 < c.groups <= MOST_GROUPS]
    group = groups[0] if groups and held.source != "measurements" else None
    numeric = [c for c in held.columns.values() if c.numeric and c.varies and c.filled]
    if len([c for c in numeric if c.name != ROW]) < 2:  # a single column is drawn over its rows
        return alone, group
    patterns: Sequence[str] = _ABSCISSAS
    if held.source == "measurements":  # a curve without time is drawn over its state of charge
        numeric = [c for c in numeric if c.name not in ("Step count", drawings.CYCLE, VOLTAGE)]
        patterns = _ABSCISSAS[2:]
    for pattern in patterns:
        for column in numeric:
            named = re.search(pattern, column.name, re.IGNORECASE) or (column.moments and pattern == _TIMES)
            if named and column.within:
                return column.name, group
    rising = [c.name for c in numeric if c.rises]
    return (rising[0] if rising else alone), group


def _ordinates(held: Held, x: str) -> list[str]:
    skipped = {x, ROW, "Step count", drawings.CYCLE, "Step from cycler", "Cycle from cycler"}
    numeric = [c for c in held.columns.values() if c.numeric and c.filled and c.name not in skipped]
    numeric = [c for c in numeric if not c.moments] or numeric
    wanted = [c.name for c in numeric if c.varies and c.within] or [c.name for c in numeric]
    if VOLTAGE in wanted and held.source == "measurements":
        return [VOLTAGE]
    quantities = [name for name in wanted if not re.search(_DULL, name, re.IGNORECASE)]
    return sorted(quantities or wanted, key=_telling)


def _telling(name: str) -> int:
    places = (place for place, words in enumerate(_TELLING) if re.search(words, name, re.IGNORECASE))
    return next(places, len(_TELLING))


ROW = "Row"
IMPEDANCE = View("impedance", "impedance as a Nyquist plot, one curve for each loop", _impedance)
PER_CYCLE = View("cycles", "capacity and coulombic efficiency of every cycle", _per_cycle)
OVER_TIME = View("time", "voltage and current over time", _over_time)
TABLE = View("table", "columns over another", _table)
