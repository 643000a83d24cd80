"""Nested structures, such as MATLAB files: finds the parts that hold samples, by the layouts of public data sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...cycling.columns import (
    CURRENT,
    CYCLER_CYCLE,
    CYCLER_STEP,
    FREQUENCY,
    IMPEDANCE_AXES,
    TIME,
    VOLTAGE,
)
from ...errors import TooLarge
from ...messages import spaced
from ...units import split_unit
from ..formats.delimited import CLOCK_NAMES, COLUMNS
from ..reading import Sign
from ..table.columns import From, Plan, Planned, plan_columns, unique_labels
from ..table.header_units import fold, unit_of

Vector: TypeAlias = NDArray[np.generic]
Structure: TypeAlias = "dict[str, Structure] | list[Structure] | Vector | str | int | float | None"
"""Dicts, lists, arrays and scalars, as `scipy.io.loadmat(simplify_cells=True)` gives them."""
Group: TypeAlias = dict[str, Structure]
Path = tuple[str | int, ...]

_DEEPEST = 12
_MOST_PARTS = 200_000
_CYCLE = re.compile(r"^cyc\w*?0*(\d+)$", re.IGNORECASE)
_CYCLES = re.compile(r"^cycles?$", re.IGNORECASE)
_SPECTRAL = re.compile(r"impedance|^eis|_eis$|^z_?(?:re|im)|^(?:re|im)_?\(?z|nyquist|spectr", re.IGNORECASE)
"""Names of what is a spectrum, or a part of one."""
_PART_OF_Z = re.compile(r"z_?(r|i|abs|mod|ph)|omega|freq", re.IGNORECASE)
_DATES = (2, 6)
_COMPLEX = ("z", "impedance", "zcell", "z cell")
_MOST_LENGTHS = 20
_MOST_TEXT = 40


@dataclass(frozen=True)
class PublicSet:
    """The layout of a public set of ageing data.

    Each part must have these ``fields``, with exactly these names. ``charge``: a signed counter from which the current
    is computed if the set has no current. ``cycles``: what starts a cycle: each part ("part"), each cycle that the
    path names ("path"), or each charge or discharge by the words in ``type`` ("word"), whichever came first.
    """

    name: str
    fields: tuple[str, ...]
    columns: tuple[From, ...]
    sign: Sign = "charge"
    charge: str | None = None
    cycles: Literal["part", "path", "word", ""] = ""


SETS = (
    PublicSet(
        "NASA ageing",
        ("Voltage_measured", "Current_measured", "Time"),
        (
            From(TIME, ("time",), "s"),
            From(CURRENT, ("current measured",), "A"),
            From(VOLTAGE, ("voltage measured",), "V"),
            From("Temperature [degC]", ("temperature measured",), "degC"),
        ),
        cycles="word",
    ),
    PublicSet(
        "NASA randomized use",
        ("relativeTime", "time", "voltage", "current"),
        (
            From(TIME, ("time",), "s"),
            From(CURRENT, ("current",), "A"),
            From(VOLTAGE, ("voltage",), "V"),
            From("Temperature [degC]", ("temperature",), "degC"),
        ),
        sign="discharge",
    ),
    PublicSet(
        "Oxford degradation",
        ("t", "v", "q", "T"),
        (
            From(TIME, ("t",), "d"),
            From(VOLTAGE, ("v",), "V"),
            From("Temperature [degC]", ("t (2)",), "degC"),
        ),
        charge="q",
        cycles="path",
    ),
    PublicSet(
        "Severson fast charge",
        ("I", "V", "t", "Qc", "Qd"),
        (
            From(TIME, ("t",), "min"),
            From(CURRENT, ("i",), "A"),
            From(VOLTAGE, ("v",), "V"),
            From("Charge capacity [A.h]", ("qc",), "A.h", positive=True),
            From("Discharge capacity [A.h]", ("qd",), "A.h", positive=True),
            From("Temperature [degC]", ("t (2)",), "degC"),
        ),
        cycles="part",
    ),
    PublicSet(
        "Panasonic and LG drive cycles",
        ("Voltage", "Current", "Ah", "Time"),
        (
            From(TIME, ("time",), "s"),
            From(CURRENT, ("current",), "A"),
            From(VOLTAGE, ("voltage",), "V"),
            From("Temperature [degC]", ("battery temp",), "degC"),
            From("Ambient temperature [degC]", ("chamber temp",), "degC"),
        ),
    ),
    PublicSet(
        "XJTU",
        ("relative_time_min", "current_A", "voltage_V"),
        (
            From(TIME, ("relative time",), "min"),
            From(CURRENT, ("current",), "A"),
            From(VOLTAGE, ("voltage",), "V"),
            From("Temperature [degC]", ("temperature",), "degC"),
        ),
        cycles="part",
    ),
)
ANY = PublicSet("MATLAB structure", (), COLUMNS, sign="found", cycles="path")
_OF_SPECTRA = tuple(column for column in COLUMNS if column.to not in (TIME, CURRENT, VOLTAGE))


@dataclass
class Part:
    """Samples: vectors of one length, ``columns``, by their names in the file, and the facts ``around`` them."""

    path: Path
    set: PublicSet
    columns: dict[str, NDArray[np.float64]]
    plan: Plan
    around: Group = field(default_factory=dict)

    def values(self, name: str) -> NDArray[np.float64] | None:
        """(n,) the canonical column ``name`` in our unit, with the sign of the file; None if there is none."""
        planned = self.plan.find(name)
        if planned is not None:
            return np.asarray(planned.apply(self.columns[planned.header]), np.float64)
        if name == CURRENT and self.set.charge in self.columns:
            return _derived(self.columns[str(self.set.charge)], self.values(TIME))
        return None

    @property
    def begun(self) -> datetime | None:
        """When the part began, from a date vector beside it; None if there is none."""
        for key in ("time", "date", "start_time"):
            found = _moment(self.around.get(key))
            if found is not None:
                return found
        return None

    @property
    def word(self) -> str:
        """The kind of operation: charge, discharge ..."""
        for key in ("type", "comment", "description"):
            if isinstance(self.around.get(key), str):
                return str(self.around[key])
        return next((str(step) for step in reversed(self.path) if isinstance(step, str)), "")

    @property
    def cycle(self) -> int | None:
        """The number of the cycle in the path, or the place in a list of cycles; None if the path names none."""
        for before, step in zip(("", *self.path), self.path, strict=False):
            if isinstance(step, int):
                if isinstance(before, str) and _CYCLES.match(before):
                    return step + 1
            elif found := _CYCLE.match(step):
                return int(found[1])
        return None

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def is_spectrum(self) -> bool:
        """Whether it is impedance by frequency, without a time."""
        return self.plan.find(FREQUENCY) is not None and self.plan.find(CURRENT) is None


def _derived(charge: NDArray[np.float64], time: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """(n,) current, A: the slope of a counter in mA.h over the time in s."""
    if time is None or len(time) < 3:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        made = np.gradient(charge * 3.6, time)
    return np.where(np.isfinite(made), made, np.nan)


def _moment(value: Structure) -> datetime | None:
    if isinstance(value, np.ndarray) and value.shape == (_DATES[1],) and value.dtype.kind in "fiu":
        year, month, day, hour, minute = (int(part) for part in value[:5])
        try:
            return datetime(year, month, day, hour, minute, tzinfo=UTC) + timedelta(seconds=float(value[5]))
        except (ValueError, OverflowError):
            return None
    return None


def parts_of(structure: Structure, column_map: Mapping[str, str] | None = None) -> Iterator[Part]:
    """The parts of a structure that hold samples, in the order of the file.

    Raises
    ------
    TooLarge
        If there are too many.
    """
    for number, part in enumerate(_walk(structure, (), {}, column_map or {})):
        if number >= _MOST_PARTS:
            raise TooLarge(
                f"The file holds more than {spaced(_MOST_PARTS)} separate series. Save one cell by itself."
            )
        yield part


def _walk(node: Structure, path: Path, around: Group, column_map: Mapping[str, str]) -> Iterator[Part]:
    if len(path) > _DEEPEST:
        return
    if isinstance(node, dict):
        near = around | {key: value for key, value in node.items() if _is_fact(value)} | _units_in(node)
        found = list(_parts_in(node, path, near, column_map))
        yield from found
        for key, value in node.items():
            if isinstance(value, np.ndarray) and value.dtype != object and found:
                continue
            yield from _walk(value, (*path, key), near, column_map)
        if not found:
            yield from _columns_of_lists(node, path, near, column_map)
    elif isinstance(node, list) or (isinstance(node, np.ndarray) and node.dtype == object and node.ndim == 1):
        for place, value in enumerate(node):
            yield from _walk(value, (*path, place), around, column_map)


def without_samples(node: Structure, depth: int = 0) -> Counter[str]:
    """Word in ``type`` -> the number of operations without samples; most are impedance."""
    found: Counter[str] = Counter()
    if depth > _DEEPEST:
        return found
    word = node.get("type") if isinstance(node, dict) else None
    if isinstance(word, str):
        found[word] += next(_walk(node, (), {}, {}), None) is None
        return found
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        found += without_samples(inner, depth + 1)
    return found


def is_spectral(name: str) -> bool:
    """Whether the name of a vector is that of a spectrum, or of a part of one."""
    return bool(_SPECTRAL.search(name)) or bool(_PART_OF_Z.match(name))


def spectra_left(node: Structure, taken: Mapping[Path, set[int]], path: Path = ()) -> list[str]:
    """The places of vectors that look like impedance by their names, and are in no part.

    ``taken``: the places of all parts, each with the lengths of their vectors.
    """
    if len(path) > _DEEPEST or (isinstance(node, dict) and isinstance(node.get("type"), str)):
        return []
    items: list[tuple[str | int, Structure]] = []
    if isinstance(node, dict):
        items = [*node.items()]
    elif isinstance(node, list):
        items = [*enumerate(node)]
    found = []
    for key, value in items:
        place = (*path, key)
        named = any(isinstance(step, str) and _SPECTRAL.search(step) for step in place)
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiuc" and value.size > 1:
            # The vectors of a list are in the part at their place in it.
            inside = value.ndim == 1 and len(value) in (taken.get(path) or taken.get((*path[:-1], key)) or ())
            found += [".".join(map(str, place))] if named and not inside else []
        else:
            found += spectra_left(value, taken, place)
    return found


def groups_left(structure: Structure, taken: Mapping[Path, set[int]]) -> dict[str, int]:
    """The groups beside the samples of parts that are in no part, but have vectors of their length, and how many: the
    same group of the elements of a list once.

    ``taken``: the places of all parts, each with the lengths of their vectors.
    """
    found: dict[str, int] = {}
    within = {path[:depth] for path in taken for depth in range(len(path) + 1)}
    for path, lengths in taken.items():
        node = structure
        for step in path:
            if isinstance(node, dict) and isinstance(step, str):
                node = node.get(step)
            elif isinstance(node, list) and isinstance(step, int):
                node = node[step] if step < len(node) else None
        for key, value in node.items() if isinstance(node, dict) else ():
            if isinstance(value, dict) and (*path, key) not in within:
                held = sum(_is_as_long(one, lengths) for one in value.values())
                name = ".".join(step for step in (*path, key) if isinstance(step, str))
                if held:
                    found.setdefault(name, held)
    return found


def _is_as_long(value: Structure, lengths: set[int]) -> bool:
    return (
        isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiu" and len(value) in lengths
    )


def _columns_of_lists(node: Group, path: Path, near: Group, column_map: Mapping[str, str]) -> Iterator[Part]:
    """The parts of a structure that holds lists of vectors: the vectors at one place of all lists are one part."""
    lists = {key: value for key, value in node.items() if isinstance(value, list) and len(value) > 1}
    lengths = {len(value) for value in lists.values()}
    if len(lists) < 3 or len(lengths) != 1:
        return
    for place in range(lengths.pop()):
        at_place = {key: value[place] for key, value in lists.items()}
        yield from _parts_in(at_place, (*path, place), near, column_map)


def _units_in(node: Group) -> Group:
    """The units that a structure lists for the vectors beside it, each by the name of its vector and "unit"."""
    listed = [value for key, value in node.items() if fold(key) in ("unit", "units") and isinstance(value, dict)]
    return {f"{name} unit": unit for units in listed for name, unit in units.items() if isinstance(unit, str)}


def without_origin(unit: str) -> str:
    """A unit of time without its origin, which NetCDF names: ``seconds since 2024-05-13``."""
    return unit.partition(" since ")[0].strip()


def _units_of_complex(node: Group, near: Group) -> Group:
    """The unit of a vector of complex numbers, under the names of the two vectors that it becomes."""
    complex_ones = {
        fold(key) for key, value in node.items() if isinstance(value, np.ndarray) and value.dtype.kind == "c"
    }
    units = [unit for name, unit in near.items() if fold(name).removesuffix(" unit") in complex_ones]
    return {f"Z_{part} unit": unit for part in ("Re", "Im") for unit in units[:1]}


def _in_units(plan: Plan, near: Group) -> Plan:
    """The plan with the units beside the vectors: in a structure of units, or as ``current_unit``.

    A vector whose unit is not known, or of another quantity, keeps its own name.
    """
    beside = {fold(key).replace(" units", " unit"): value for key, value in near.items() if isinstance(value, str)}

    def settled(column: Planned) -> Planned:
        text = without_origin(str(beside.get(f"{fold(column.header)} unit", "")))
        unit = unit_of(text)
        if column.stated or column.role == "free" or not text or (unit is not None and unit.base == "1"):
            return column
        if unit is None or unit.base != split_unit(column.name)[1]:
            # As in a header: a current per area, for example, is not the current of the cell.
            return Planned(column.header, column.header, "free")
        return replace(column, unit=unit, stated=True)

    return replace(plan, columns=[settled(column) for column in plan.columns])


def _is_fact(value: Structure) -> bool:
    if isinstance(value, str | int | float):
        return True
    return isinstance(value, np.ndarray) and value.shape == (_DATES[1],) and value.dtype.kind in "fiu"


def _parts_in(node: Group, path: Path, near: Group, column_map: Mapping[str, str]) -> Iterator[Part]:
    """The series in the vectors of one structure, and the spectrum beside it, whose vectors have another length."""
    vectors = _vectors(node)
    near = _units_of_complex(node, near) | near
    while len(vectors) > 2:
        part = _part_of(vectors, path, near, column_map)
        if part is None:
            return
        yield part
        vectors = {key: value for key, value in vectors.items() if len(value) != part.rows}


def _vectors(node: Group) -> dict[str, Vector]:
    """The vectors of numbers in a structure. One of complex numbers is two: its real and its imaginary part."""
    made: dict[str, Vector] = {}
    for key, value in node.items():
        if not isinstance(value, np.ndarray) or value.ndim != 1 or len(value) < 2:
            continue
        if value.dtype.kind in "fiub":
            made[key] = value
        elif value.dtype.kind == "c":
            name, unit = split_unit(key)
            ending = "" if unit is None else f" [{unit}]"
            plain = fold(name) in _COMPLEX or bool(_SPECTRAL.search(name))
            stem = "Z" if plain and "Z_Re" + ending not in made else name
            made |= {f"{stem}_Re{ending}": value.real, f"{stem}_Im{ending}": value.imag}
    return made


def _part_of(vectors: Mapping[str, Vector], path: Path, near: Group, column_map: Mapping[str, str]) -> Part | None:
    for known in (*SETS, ANY):
        if not set(known.fields) <= vectors.keys():
            continue
        length = len(vectors[known.fields[0]]) if known.fields else _usual(vectors)
        columns = {key: value.astype(np.float64) for key, value in vectors.items() if len(value) == length}
        labels = unique_labels(_distinct(list(columns)))
        named = dict(zip(labels, columns.values(), strict=True))
        mapped = {theirs: ours for theirs, ours in column_map.items() if theirs in named}
        plan = plan_columns(labels, known.columns, column_map=mapped)
        plan = _in_units(plan, near) if known is ANY else plan
        has = {column.name for column in plan.columns}
        if {TIME, VOLTAGE} <= has and (CURRENT in has or (known.charge in columns)):
            return Part(path, known, named, plan, near)
        if known is ANY and FREQUENCY in has and any(axes <= has for axes in IMPEDANCE_AXES):
            spectrum = _in_units(plan_columns(labels, _OF_SPECTRA, column_map=mapped), near)
            return Part(path, known, named, spectrum, near)
    if len({len(value) for value in vectors.values()}) > 1:  # the most usual length need not be that of the series
        by_length = Counter(len(value) for value in vectors.values())
        for length in list(by_length)[:_MOST_LENGTHS]:
            alike = {key: value for key, value in vectors.items() if len(value) == length}
            part = _part_of(alike, path, near, column_map) if len(alike) > 2 else None
            if part is not None:
                return part
    return None


def _distinct(names: list[str]) -> list[str]:
    """The names with a number where two differ in case only: "t" and "T" would be one column."""
    made: list[str] = []
    for name in names:
        same = sum(name.casefold() == other.casefold() for other in names[: len(made)])
        made.append(f"{name} ({same + 1})" if same else name)
    return made


def unfit_series(structure: Structure, column_map: Mapping[str, str], path: Path = ()) -> str | None:
    """The sentence about vectors that are by their names time, current and voltage, and are not a series: their times
    are texts, or they differ in length; None if there are none."""
    if len(path) > _DEEPEST:
        return None
    if isinstance(structure, dict):
        said = _unfit(structure, path, column_map)
        if said is not None:
            return said
        inner: Iterator[tuple[str | int, Structure]] = iter(structure.items())
    else:
        inner = iter(enumerate(structure[:1]) if isinstance(structure, list) else ())
    return next((said for key, value in inner if (said := unfit_series(value, column_map, (*path, key)))), None)


def _unfit(node: Group, path: Path, column_map: Mapping[str, str]) -> str | None:
    texts = {key: text for key, value in node.items() if (text := _first_text(value))}
    lengths = {key: len(value) for key, value in _vectors(node).items()}
    keys = [*texts, *lengths]
    labels = unique_labels(_distinct(keys))
    of_label = dict(zip(labels, keys, strict=True))
    mapped = {theirs: ours for theirs, ours in column_map.items() if theirs in of_label}
    plan = plan_columns(labels, COLUMNS, clocks=CLOCK_NAMES, column_map=mapped)
    series = [plan.find(TIME) or plan.clock, plan.find(CURRENT), plan.find(VOLTAGE)]
    names = [of_label[planned.header] for planned in series if planned is not None]
    if len(names) < len(series):
        return None
    called = {name: ".".join(step for step in (*path, name) if isinstance(step, str)) for name in names}
    if names[0] in texts:
        return (
            f"The times in '{called[names[0]]}' are texts, such as '{texts[names[0]]}'. Save them as numbers, in "
            "seconds since the start of the test, or save the test as csv, where times may be texts."
        )
    if any(name in texts for name in names):
        name = next(name for name in names if name in texts)
        return f"The values in '{called[name]}' are texts, such as '{texts[name]}'. Save them as numbers."
    if len({lengths[name] for name in names}) == 1:
        return None
    listed = ", ".join(f"'{called[name]}' {spaced(lengths[name])}" for name in names)
    return (
        f"The vectors of one test differ in length: {listed}. Save them with one value of each for every sample."
    )


def _first_text(value: Structure) -> str | None:
    """The first text of a list of texts; None if the value is something else."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "U" and value.size > 1:
        return str(value.flat[0])[:_MOST_TEXT]
    if isinstance(value, list) and len(value) > 1 and all(isinstance(one, str) for one in value[:_MOST_LENGTHS]):
        return str(value[0])[:_MOST_TEXT]
    return None


def _usual(vectors: Mapping[str, Vector]) -> int:
    lengths = [len(value) for value in vectors.values()]
    return max(set(lengths), key=lengths.count) if lengths else 0


def _by_words(discharges: list[bool]) -> Iterator[int]:
    """The cycle of each part, from 0. If the cell began with a charge, a cycle is all charges and then a discharge.
    If it began with a discharge, a cycle is a discharge and all that follows up to the next one."""
    begins, passed, last = discharges[0], 0, not discharges[0]
    for discharge in discharges:
        passed += discharge == begins and (begins or discharge != last)
        last = discharge
        yield passed


def counts(of: list[Part]) -> dict[str, list[int | None]]:
    """Step and cycle number of each part, as far as the layout of the set gives them."""
    how = of[0].set.cycles
    steps: list[int | None] = [number for number, _ in enumerate(of, 1)]
    cycles: list[int | None] = [None] * len(of)
    if how == "part":
        return {CYCLER_CYCLE: steps}
    if how == "path":
        cycles = [part.cycle for part in of]
    if how == "word":
        cycles = list(_by_words([part.word.casefold().startswith("dis") for part in of]))
    return {CYCLER_STEP: steps} | ({CYCLER_CYCLE: cycles} if any(cycle is not None for cycle in cycles) else {})
