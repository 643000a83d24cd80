"""Which parts of a nested structure are one test. Each cell, state and temperature has its own; cycles share one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence, Set
from datetime import timedelta

import numpy as np

from ...cycling.columns import TIME
from .nested_structures import Part

_CELL = re.compile(
    r"cell|zelle|batter|sample|specimen|module|pack|pouch|barcode|channel|serial|^batch$|^b\d{2,}$", re.I
)
_SERIES = re.compile(
    r"(?<!drive)(?<!drive[ _])cyc|step|segment|^seg|pulse|^part|piece|chunk|block|record|loop|period"
    r"|^(?:ch|dc|dis|chg|dch|dchg|charge|discharge|rest|ocv)\d*$|charg|^c\d+(?:ch|dc)$|^ocv(?:ch|dc)$",
    re.I,
)
"""Names of what follows in one test: cycles, steps, charge and discharge."""
_CONDITION = re.compile(
    r"temp|^t_?-?[mn]?\d|\d_?(?:deg|degc|c|k)$|^deg|soc|soh|dod|state|fresh|aged|^bol|^eol|rate|^c_?\d|\d+p?\d*c$"
    r"|drive|profile|test|rpt|hppc|gitt|eis|imped|spectr|udds|us06|la92|hwfet|wlt[cp]|nedc|fuds|^dst$|^ftp|mixed",
    re.I,
)
"""Names of a condition or a kind of test: what has several of them has several tests, and none of them is a cell."""
_SPECTRUM = re.compile(r"eis|imped|spectr", re.I)
"""Names of spectra, which belong to the series beside them."""
SEP = "/"
_Step = str | int
NO_NAMES: frozenset[str] = frozenset()


def names_a_cell(name: str) -> bool:
    """Whether the name of a list or structure says that it is of cells."""
    return bool(_CELL.search(name))


def name_of(step: _Step, key: str) -> str:
    """What a step of a path is called: its name, or the name of its list with its number."""
    return step if isinstance(step, str) else f"{key} {step + 1}".strip()


def by_test(parts: Sequence[Part], whole: Set[str] = NO_NAMES) -> dict[str, list[Part]]:
    """Name -> the parts of each test, in the order of the file.

    A name is that of the cell, "/", and what is particular of the test. It begins with "/" if nothing names the cell.
    One test alone has the name of its variable. ``whole`` are names of variables or lists whose parts are one test
    because a person said so.
    """
    found: dict[str, list[Part]] = {}
    for axes, of_test in _apart(list(parts), 0, (), whole):
        name = _name(axes) if axes else str(of_test[0].path[0]) if of_test[0].path else ""
        free, number = name, 2
        while free in found:
            free, number = f"{name} ({number})", number + 1
        found[free] = of_test
    return found


_Axis = tuple[str, str, int]
"""Where tests part: the name of the list or structure, the name of the one, and its depth."""


def _apart(
    parts: list[Part], depth: int, axes: tuple[_Axis, ...], whole: Set[str]
) -> list[tuple[tuple[_Axis, ...], list[Part]]]:
    if any(len(part.path) <= depth for part in parts):
        return _by_what_is_below(parts, depth, axes)
    children: dict[_Step, list[Part]] = {}
    for part in parts:
        children.setdefault(part.path[depth], []).append(part)
    key = next((step for step in reversed(parts[0].path[:depth]) if isinstance(step, str)), "")
    lists = all(isinstance(step, int) for step in children)
    if len(children) == 1:
        (step,) = children
        named = bool(axes) and isinstance(step, str) and bool(_CONDITION.search(step))
        return _apart(parts, depth + 1, (*axes, (key, str(step), depth)) if named else axes, whole)
    if lists and key in whole:
        return [(axes, parts)]
    if _are_one(children, key, depth):
        return _by_what_is_below(parts, depth + 1, axes)
    return [
        test
        for step, of_child in children.items()
        for test in _apart(of_child, depth + 1, (*axes, (key, name_of(step, key), depth)), whole)
    ]


def _by_what_is_below(
    parts: list[Part], depth: int, axes: tuple[_Axis, ...]
) -> list[tuple[tuple[_Axis, ...], list[Part]]]:
    """Parts of one test, unless cells or conditions are below it: then the parts of each cell or condition are one."""
    groups: dict[tuple[_Axis, ...], list[Part]] = {}
    for part in parts:
        groups.setdefault(_below(part, depth), []).append(part)
    if len(groups) == 1:
        return [(axes, parts)]
    return [((*axes, *below), of_group) for below, of_group in groups.items()]


def _below(part: Part, depth: int) -> tuple[_Axis, ...]:
    """The steps of a path below a depth that name a cell or a condition."""
    found: list[_Axis] = []
    key = ""
    for place, step in enumerate(part.path):
        if isinstance(step, str):
            key = step
        if place < depth or _SERIES.search(key) or _SPECTRUM.search(key):
            continue
        if _CELL.search(key) or _CONDITION.search(key):
            found.append(("", name_of(step, key), place))
    return tuple(found)


def _are_one(children: dict[_Step, list[Part]], key: str, depth: int) -> bool:
    """Whether what lies below one structure is one test."""
    names = [step for step in children if isinstance(step, str)]
    known = next(iter(children.values()))[0].set
    if _CELL.search(key) and not names:
        return False
    if names and any(_CELL.search(name) for name in names):
        return False
    if all(_SERIES.search(name) for name in names or [key]):
        return True
    if not names and known.cycles in ("part", "word"):
        return True
    if depth == 0 or any(_CONDITION.search(name) for name in names or [key]):
        return False
    return _follow([part for of_child in children.values() for part in of_child])


def _follow(parts: list[Part]) -> bool:
    """Whether each part begins when the one before it has ended, on one clock."""
    spans: list[tuple[float, float]] = []
    begun = [part.begun for part in parts]
    dated = all(moment is not None for moment in begun)
    for part, moment in zip(parts, begun, strict=True):
        time = part.values(TIME)
        if time is None or not len(time) or not np.isfinite(time[[0, -1]]).all():
            return False
        offset = 0.0
        if dated and moment is not None and begun[0] is not None:
            offset = (moment - begun[0]) / timedelta(seconds=1)
        spans.append((float(time[0]) + offset, float(time[-1]) + offset))
    return all(after[0] >= before[1] > before[0] for before, after in itertools.pairwise(spans))


def _name(axes: tuple[_Axis, ...]) -> str:
    """The name of a test: its cell first, then the rest of what is particular of it."""
    cell = next((axis for axis in axes if _CELL.search(axis[0]) or _CELL.search(axis[1])), None)
    if cell is None and not _CONDITION.search(axes[0][1]):
        cell = axes[0]
    rest = [axis[1].replace(SEP, " ") for axis in axes if axis is not cell]
    first = "" if cell is None else cell[1].replace(SEP, " ")
    return SEP.join([first, *rest]) if rest or not first else first


def names_of_paths(paths: Sequence[Sequence[str]]) -> list[str]:
    """The names of tests that are at these places, from where the places differ; "" for the only one."""
    deepest = max(map(len, paths))
    steps = [[*path, *[""] * (deepest - len(path))] for path in paths]
    differ = [depth for depth in range(deepest) if len({path[depth] for path in steps}) > 1]
    made: list[str] = []
    for path in steps:
        axes = tuple((path[depth - 1] if depth else "", path[depth], depth) for depth in differ if path[depth])
        name = _name(axes) if axes else ""
        made.append(name if name not in made else f"{name} ({made.count(name) + 1})")
    return made
