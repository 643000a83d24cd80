"""Nested structures, as of MATLAB files: the pieces in them that hold samples, and the sets whose layout is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...cycling.columns import CURRENT, CYCLER_CYCLE, CYCLER_STEP, TIME, VOLTAGE
from ...errors import TooLarge
from ...messages import spaced
from ..formats.delimited import COLUMNS
from ..reading import Sign
from ..table.columns import From, Plan, plan_columns, unique_labels

Vector: TypeAlias = NDArray[np.generic]
Structure: TypeAlias = "dict[str, Structure] | list[Structure] | Vector | str | int | float | None"
"""Dicts, lists, arrays and scalars, as `scipy.io.loadmat(simplify_cells=True)` gives them."""
Group: TypeAlias = dict[str, Structure]
Path = tuple[str | int, ...]

_DEEPEST = 12
_MOST_PIECES = 200_000
_CYCLE = re.compile(r"^cyc\w*?0*(\d+)$", re.IGNORECASE)
_DATES = (2, 6)


@dataclass(frozen=True)
class PublicSet:
    """The layout of a public set of ageing data.

    ``fields`` must stand in each piece, to the letter. ``charge``: a signed counter that current is derived from
    where the set has none. ``cycles``: what begins a cycle: each piece, each cycle named in the path, or
    ("word") by the words in ``type`` each charge or each discharge, whichever the cell began with.
    """

    name: str
    fields: tuple[str, ...]
    columns: tuple[From, ...]
    sign: Sign = "charge"
    charge: str | None = None
    cycles: Literal["piece", "path", "word", ""] = ""


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
        cycles="piece",
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
        cycles="piece",
    ),
)
ANY = PublicSet("MATLAB structure", (), COLUMNS, sign="found", cycles="path")


@dataclass
class Piece:
    """Vectors of one length that are samples: ``columns`` by their names in the file, and what stands around them."""

    path: Path
    set: PublicSet
    columns: dict[str, NDArray[np.float64]]
    plan: Plan
    around: Group = field(default_factory=dict)

    def values(self, name: str) -> NDArray[np.float64] | None:
        """A canonical column in our unit, its sign as in the file; None where there is none."""
        planned = self.plan.find(name)
        if planned is not None:
            return np.asarray(planned.apply(self.columns[planned.header]), np.float64)
        if name == CURRENT and self.set.charge in self.columns:
            return _derived(self.columns[str(self.set.charge)], self.values(TIME))
        return None

    @property
    def begun(self) -> datetime | None:
        """When the piece began, where a date vector or text beside it says so."""
        for key in ("time", "date", "start_time"):
            found = _moment(self.around.get(key))
            if found is not None:
                return found
        return None

    @property
    def word(self) -> str:
        """What the piece is called: charge, discharge ..."""
        for key in ("type", "comment", "description"):
            if isinstance(self.around.get(key), str):
                return str(self.around[key])
        return next((str(step) for step in reversed(self.path) if isinstance(step, str)), "")

    @property
    def cycle(self) -> int | None:
        """The number of the cycle that the path names."""
        for step in self.path:
            found = _CYCLE.match(step) if isinstance(step, str) else None
            if found:
                return int(found[1])
        return None


def _derived(charge: NDArray[np.float64], time: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Current in A from a counter in mA.h over s."""
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


def pieces(structure: Structure, column_map: Mapping[str, str] | None = None) -> Iterator[Piece]:
    """The pieces of a structure that hold samples, in the order in which they stand."""
    for number, piece in enumerate(_walk(structure, (), {}, column_map or {})):
        if number >= _MOST_PIECES:
            raise TooLarge(
                f"The file holds more than {spaced(_MOST_PIECES)} separate series. Save one cell by itself."
            )
        yield piece


def _walk(node: Structure, path: Path, around: Group, column_map: Mapping[str, str]) -> Iterator[Piece]:
    if len(path) > _DEEPEST:
        return
    if isinstance(node, dict):
        near = around | {key: value for key, value in node.items() if _is_fact(value)}
        piece = _piece(node, path, near, column_map)
        if piece is not None:
            yield piece
            return
        for key, value in node.items():
            yield from _walk(value, (*path, key), near, column_map)
        yield from _columns_of_lists(node, path, near, column_map)
    elif isinstance(node, list) or (isinstance(node, np.ndarray) and node.dtype == object and node.ndim == 1):
        for place, value in enumerate(node):
            yield from _walk(value, (*path, place), around, column_map)


def without_samples(node: Structure, depth: int = 0) -> Counter[str]:
    """The operations of a structure, by the words in ``type``, that hold no samples: impedance, mostly."""
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


def _columns_of_lists(node: Group, path: Path, near: Group, column_map: Mapping[str, str]) -> Iterator[Piece]:
    """A structure of lists of vectors is a list of structures of vectors."""
    lists = {key: value for key, value in node.items() if isinstance(value, list) and len(value) > 1}
    lengths = {len(value) for value in lists.values()}
    if len(lists) < 3 or len(lengths) != 1:
        return
    for place in range(lengths.pop()):
        piece = _piece({key: value[place] for key, value in lists.items()}, (*path, place), near, column_map)
        if piece is not None:
            yield piece


def _is_fact(value: Structure) -> bool:
    if isinstance(value, str | int | float):
        return True
    return isinstance(value, np.ndarray) and value.shape == (_DATES[1],) and value.dtype.kind in "fiu"


def _piece(node: Group, path: Path, near: Group, column_map: Mapping[str, str]) -> Piece | None:
    vectors = {
        key: value
        for key, value in node.items()
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiub" and len(value) > 1
    }
    for known in (*SETS, ANY):
        if not set(known.fields) <= vectors.keys():
            continue
        length = len(vectors[known.fields[0]]) if known.fields else _usual(vectors)
        columns = {key: value.astype(np.float64) for key, value in vectors.items() if len(value) == length}
        labels = unique_labels(_apart(list(columns)))
        named = dict(zip(labels, columns.values(), strict=True))
        mapped = {theirs: ours for theirs, ours in column_map.items() if theirs in named}
        plan = plan_columns(labels, known.columns, column_map=mapped)
        has = {column.name for column in plan.columns}
        if {TIME, VOLTAGE} <= has and (CURRENT in has or (known.charge in columns)):
            return Piece(path, known, named, plan, near)
    return None


def _apart(names: list[str]) -> list[str]:
    """Names of which none differs from another by case alone: "t" and "T" would be one column."""
    made: list[str] = []
    for name in names:
        same = sum(name.casefold() == other.casefold() for other in names[: len(made)])
        made.append(f"{name} ({same + 1})" if same else name)
    return made


def _usual(vectors: Mapping[str, Vector]) -> int:
    lengths = [len(value) for value in vectors.values()]
    return max(set(lengths), key=lengths.count) if lengths else 0


def _by_words(discharges: list[bool]) -> Iterator[int]:
    """The cycle of each piece. One that begins with a charge holds all charges up to its discharge; one that begins
    with a discharge holds what follows, up to the next."""
    begins, passed, last = discharges[0], 0, not discharges[0]
    for discharge in discharges:
        passed += discharge == begins and (begins or discharge != last)
        last = discharge
        yield passed


def counts(of: list[Piece]) -> dict[str, list[int | None]]:
    """Step and cycle number of each piece, as far as the set tells."""
    how = of[0].set.cycles
    steps: list[int | None] = [number for number, _ in enumerate(of, 1)]
    cycles: list[int | None] = [None] * len(of)
    if how == "piece":
        return {CYCLER_CYCLE: steps}
    if how == "path":
        cycles = [piece.cycle for piece in of]
    if how == "word":
        cycles = list(_by_words([piece.word.casefold().startswith("dis") for piece in of]))
    return {CYCLER_STEP: steps} | ({CYCLER_CYCLE: cycles} if any(cycle is not None for cycle in cycles) else {})
