"""Matches the headers of a file to the columns of a series: which column each becomes, and in which unit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...cycling.columns import SERIES_COLUMNS
from ...errors import FileRefused, instead
from ...units import split_unit
from .header_units import Header, Unit, fold, split_header, unit_of
from .impedance_names import other_names

Role: TypeAlias = Literal["time", "number", "count", "clock", "free"]

T = TypeVar("T")
_HOUR = 3600.0
HOURS_AND_MINUTES = "(hh:mm)"
"""What says that times of two parts are hours and minutes; see `values.durations`."""
KNOWN = {described.name: described for described in SERIES_COLUMNS}
_PLACES = {name: place for place, name in enumerate(KNOWN)}
_LONGEST_NAME = 200
_TURNED = ("z re", "z im", "z phase")
"""Columns whose name may have a minus in a column map: ``{"Z2": "-Z_Im [Ohm]"}``."""
DATE_ORDERS = {"day first": True, "month first": False}
"""Words of a column map for the order of a date: ``{"Date Time": "Date [day first]"}``."""


@dataclass(frozen=True)
class From:
    """One column of a format: ``to`` is our name, ``names`` are the folded headers it can have, best first. A name
    with capitals is compared letter by letter: ``T`` is a temperature, ``t`` a time.

    ``unit`` is the unit of the values if the header names none. ``positive``: the sign is removed, for counters that
    some exports write below zero. ``negate``: the sign is reversed (``-Im(Z)``).
    """

    to: str
    names: tuple[str, ...]
    unit: str | None = None
    positive: bool = False
    negate: bool = False


@dataclass(frozen=True)
class Split:
    """A counter of both directions that starts again with each step: it becomes one of charge and one of discharge."""

    names: tuple[str, ...]
    charge: str
    discharge: str
    unit: str
    signed: bool = False
    """The counter itself rises above zero on charge and falls below it on discharge."""


@dataclass(frozen=True)
class Planned:
    """What one column of the file becomes: its ``header`` in the file, our ``name`` and its ``role``.

    ``unit`` converts to the unit of ``name``; None keeps the values. ``stated``: the header or the user named the unit.
    ``day_first``: the order of dates as the user said it; None if the user did not say it.
    """

    header: str
    name: str
    role: Role
    unit: Unit | None = None
    stated: bool = True
    positive: bool = False
    negate: bool = False
    day_first: bool | None = None
    restarts: bool = False
    """A time that starts again with each step."""
    per_time: bool = False
    """The charge of each sample: divided by the time since the sample before, it is a current."""

    @property
    def of_durations(self) -> str:
        """What says how times of two parts are meant: ``1:30`` in hours is an hour and a half."""
        return HOURS_AND_MINUTES if self.unit is not None and self.unit.times == _HOUR else self.header

    def apply(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) float of the file -> (n,) float in our unit and with our sign."""
        if self.unit is not None:
            values = self.unit.convert(values)
        if self.positive:
            values = np.abs(values)
        return 0.0 - values if self.negate else values


@dataclass
class Plan:
    """All columns of one file, canonical ones first; ``labels`` are its headers, made unique."""

    labels: list[str]
    columns: list[Planned] = field(default_factory=list)
    splits: list[tuple[str, Split, Unit]] = field(default_factory=list)
    mapped: frozenset[str] = frozenset()
    """The headers that a person mapped."""
    at_rest: bool = False
    """The cell has no load: the file has no current, and it is 0."""
    sweep: float | None = None
    """V/s: the potential was swept at this rate, and the file has no time."""
    held: float | None = None
    """V: the potential was held here, and the file has no column of it."""
    step_time: Planned | None = None
    """A time within steps beside a clock, which may be coarser."""

    def find(self, name: str) -> Planned | None:
        return next((column for column in self.columns if column.name == name), None)

    @property
    def kept(self) -> list[str]:
        return [column.name for column in self.columns if column.role == "free"]

    def again(self, name: str) -> list[str]:
        """The headers that repeat the one of a column of ours: ``Current (A) (2)``, or ``Current (A).1`` of pandas."""
        column = self.find(name)
        if column is None:
            return []
        form = re.compile(re.escape(column.header) + r"(?: \(\d+\)|\.\d+)")
        return [label for label in self.labels if form.fullmatch(label)]

    @property
    def headers(self) -> dict[str, str]:
        """Our name -> header, for the columns that the workbench knows."""
        return {column.name: column.header for column in self.columns if column.name in KNOWN}

    @property
    def clock(self) -> Planned | None:
        return next((column for column in self.columns if column.role == "clock"), None)


def unique_labels(headers: Sequence[str]) -> list[str]:
    """The headers, made unique. A plain ``Units`` gets the name of the column before it; others get a number.

    >>> unique_labels(["Aux #1", " Units", "Aux #1", ""])
    ['Aux #1', 'Aux #1 units', 'Aux #1 (2)', 'Column 4']
    """
    labels: list[str] = []
    taken: set[str] = set()
    for place, header in enumerate(headers, 1):
        label = "".join(character for character in header.strip().strip("\ufeff") if character.isprintable())
        label = label[:_LONGEST_NAME].strip()
        if fold(label) in ("units", "unit") and labels:
            label = f"{labels[-1]} units"
        label = _free(label or f"Column {place}", taken)
        taken.add(label)
        labels.append(label)
    return labels


def _free(label: str, taken: set[str]) -> str:
    made, number = label, 2
    while made in taken:
        made, number = f"{label} ({number})", number + 1
    return made


def plan_columns(
    labels: list[str],
    wanted: Sequence[From],
    *,
    clocks: Sequence[str] = (),
    splits: Sequence[Split] = (),
    within_step: Sequence[str] = (),
    charges: Sequence[str] = (),
    column_map: Mapping[str, str] | None = None,
    file: str = "the file",
) -> Plan:
    """Match headers to the columns of a format. All other columns keep their own names.

    ``column_map`` (header in the file -> our name, ``{"Volts": "Voltage [V]"}``) comes first. A unit there that is not
    the canonical one is the unit of the values: ``{"I": "Current [mA]"}``. ``Date [day first]`` and
    ``Date [month first]`` give the order of dates. ``within_step`` are names of times that start again with each step;
    they are used if the file has no other time. ``charges`` are names of charges of single samples; they are used if
    the file has no current.

    Raises
    ------
    FileRefused
        If the map names a header that the file does not have, or gives one name to two columns.
    """
    heads = {label: split_header(label) for label in labels}
    claimed: dict[str, Planned] = {}
    for header, target in (column_map or {}).items():
        label = _find_label(header, labels, file)
        planned = _mapped(heads[label], label, target)
        if any(other.name == planned.name for other in claimed.values()):
            raise FileRefused(f"The column map gives the name '{planned.name}' to two columns of '{file}'.")
        claimed[label] = planned
    others = other_names(labels)
    mapped = frozenset(claimed)
    for column in wanted:
        if any(planned.name == column.to for planned in claimed.values()):
            continue
        match = _match(column, heads, claimed) or _match(column, others, claimed)
        if match is not None:
            claimed[match.header] = match
    for label, head in heads.items():
        if label not in claimed and head.key in clocks:
            claimed[label] = Planned(label, label, "clock")
    time = None
    if not any(planned.role == "time" for planned in claimed.values()):
        time = _match(From("Time [s]", tuple(within_step), "s"), heads, claimed)
        if time is not None and not any(planned.role == "clock" for planned in claimed.values()):
            claimed[time.header] = replace(time, restarts=True)
    if not any(planned.name == "Current [A]" for planned in claimed.values()):
        claimed |= _as_current(charges, heads, claimed)
    plan = Plan(labels, _ordered(labels, claimed), mapped=mapped, step_time=time)
    plan.splits = [found for split in splits if (found := _split(split, heads, plan)) is not None]
    return plan


def _as_current(
    charges: Sequence[str], heads: Mapping[str, Header], claimed: Mapping[str, Planned]
) -> dict[str, Planned]:
    for label, head in heads.items():
        unit = unit_of(head.unit)
        if head.key in charges and label not in claimed and unit is not None and unit.base == "A.h":
            return {label: Planned(label, "Current [A]", "number", unit, per_time=True)}
    return {}


def _split(split: Split, heads: Mapping[str, Header], plan: Plan) -> tuple[str, Split, Unit] | None:
    if plan.find(split.charge) or plan.find(split.discharge) or not plan.find("Current [A]"):
        return None
    for label, head in heads.items():
        unit = unit_of(head.unit or split.unit)
        if head.key in split.names and unit is not None and unit.base == split_unit(split.charge)[1]:
            return label, split, unit
    return None


def _find_label(header: str, labels: list[str], file: str) -> str:
    if header in labels:
        return header
    folded = {label.strip().casefold(): label for label in reversed(labels)}
    label = folded.get(header.strip().casefold())
    if label is None:
        raise FileRefused(
            f"'{file}' has no column '{header}' to map. {instead(header, labels, 'columns of the file')}"
        )
    return label


def _mapped(head: Header, label: str, target: str) -> Planned:
    negate = target.startswith("-") and fold(split_unit(target[1:])[0]) in _TURNED
    name, unit_text = split_unit(target[1:] if negate else target)
    if fold(name) == "date" and unit_text in (None, *DATE_ORDERS):
        return Planned(label, label, "clock", day_first=None if unit_text is None else DATE_ORDERS[unit_text])
    for known in KNOWN:
        known_name, known_unit = split_unit(known)
        if fold(name) != fold(known_name):
            continue
        given = unit_of(unit_text)
        if unit_text is not None and unit_text != known_unit and (given is None or known_unit is None):
            break
        if given is not None and unit_of(known_unit) != given and given.base != known_unit:
            break
        in_file = given if given is not None and unit_text != known_unit else unit_of(head.unit)
        fits = in_file is not None and in_file.base == known_unit
        return Planned(label, known, _role(known), in_file if fits else None, negate=negate)
    return Planned(label, target.strip(), "free")


def _match(column: From, heads: Mapping[str, Header], claimed: Mapping[str, Planned]) -> Planned | None:
    """The column of the file that has the best of the names; of several with that name, one whose header has a unit.

    Of times, ``t`` goes before ``T``, which then is a temperature.
    """
    for name in column.names:
        key, found, best = name.casefold(), None, (False, False)
        for label, head in heads.items():
            if label in claimed or head.key != key or (name != key and not head.text.startswith(name)):
                continue
            planned = _fitting(column, label, head)
            rank = (head.unit is not None, column.to == "Time [s]" and head.text.startswith(name))
            if planned is not None and (found is None or rank > best):
                found, best = planned, rank
        if found is not None:
            return found
    return None


def _fitting(column: From, label: str, head: Header) -> Planned | None:
    """The column of the file as one of ours; None if its unit is of another quantity."""
    base = split_unit(column.to)[1]
    unit = unit_of(head.unit)
    if base == "degC" and unit == unit_of("deg"):
        return Planned(label, column.to, "number", None, stated=False)
    duration = base == "s" and head.unit is not None and ":" in head.unit
    if head.unit is not None and not duration and (unit is None or unit.base != (base or "1")):
        return None
    itself = unit_of(head.text) if head.unit is None else None
    named = unit if itself is None or itself.base != base else itself
    stated = head.unit is not None or base is None or named is not None
    used = named if base and not duration else None
    if not stated and column.unit is not None:
        used = unit_of(column.unit)
    return Planned(
        label, column.to, _role(column.to), used, stated, positive=column.positive, negate=column.negate
    )


def in_order(made: Mapping[str, T]) -> dict[str, T]:
    """Canonical columns first, in the order of the catalog, then the others in their order."""
    return dict(sorted(made.items(), key=lambda item: order_of(item[0])))


def order_of(name: str) -> int:
    """The place of a column in the catalog; all others come after it."""
    return _PLACES.get(name, len(_PLACES))


def _role(name: str) -> Role:
    if name == "Time [s]":
        return "time"
    return "count" if KNOWN[name].kind == "integer" else "number"


def _ordered(labels: list[str], claimed: Mapping[str, Planned]) -> list[Planned]:
    known = [planned for planned in claimed.values() if planned.name in KNOWN]
    known.sort(key=lambda planned: order_of(planned.name))
    taken = {planned.name for planned in known}
    rest: list[Planned] = []
    for label in labels:
        planned = claimed.get(label, Planned(label, label, "free"))
        if planned.name in KNOWN and planned in known:
            continue
        name = _free(planned.name, taken)
        taken.add(name)
        rest.append(replace(planned, name=name))
    return known + rest
