"""The part of a plan that most entries share: the tests of a kind with what is known of their cells, and the control
that chooses among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ..messages import counted
from ..records.measurement import KIND
from .entry import Params, Steps, Unmet
from .facts import MOST_LISTED, Facts, TestRow

RATED, RATED_UNIT = "ratings.capacity.value", "ratings.capacity.unit"
CYCLE = "Cycle count"
MOST_TESTS, MOST_ROWS = 400, 160_000
"""As many tests are chosen at first at most, with as many rows of cycles or steps: four fifths of what a plan reads. So
it still does when tests go on and others arrive."""
# What entries say where a store has no test for them.
NO_AGEING = "No test repeats a full cycle at least ten times. Ingest an ageing test, or give one the tag 'ageing'."
NO_SPECTRUM = "No test has an impedance spectrum. Ingest a file with frequency and impedance."
NO_RATES = "No test has discharges at three rates or more. A rate test would do."
NO_SLOW_CYCLE = "No test has a slow charge or discharge. Ingest a check-up (RPT) or a cycle at C/10 or slower."
NO_SAMPLES = "The store has no test with samples. Ingest a cycler file: workbench ingest FILE."
RATE = ("Mean discharge current [A]", "Discharge energy [W.h]", "Discharge duration [s]")
"""What says at which current a cycle was discharged: see ``battery.off_course``."""


@dataclass(frozen=True)
class Reads:
    """What an entry reads of each test.

    Parameters
    ----------
    dataset : ``series``, ``steps`` or ``cycles``.
    needs : columns without which a test is left out; the figure names it.
    also : columns that are read if all tests have them.
    of_any : these are read if any test has them, null for the others: one test may not change the numbers of another.
        Since a plan fails where all the sources of a step lack a column, it then reads all tests and not only the
        chosen ones, if it can read so many. Its scripts take the chosen ones from ``with_tests`` or ``of_chosen``.
    """

    dataset: str
    needs: tuple[str, ...]
    also: tuple[str, ...] = ()
    of_any: bool = False

    def columns(self, facts: Facts, tests: Sequence[TestRow]) -> list[str]:
        """The columns that a plan reads of these tests."""
        ids = [one.id for one in tests]
        held = facts.of_any if self.reads_all(facts, tests) else facts.shared
        return [*self.needs, *held(ids, self.dataset, self.also)]

    def reads_all(self, facts: Facts, tests: Sequence[TestRow]) -> bool:
        """Whether a plan reads all of these tests, whichever are chosen."""
        ids = [one.id for one in tests]
        if not self.of_any or len(tests) > MOST_TESTS or sum(map(facts.summary_rows_in, tests)) > MOST_ROWS:
            return False
        found = (held(ids, self.dataset, self.also) for held in (facts.of_any, facts.shared))
        return next(found) != next(found)


def drawable(facts: Facts, tests: Sequence[TestRow], lacking: str, *reads: Reads) -> list[TestRow]:
    """The tests that have what an entry reads.

    Parameters
    ----------
    lacking : the sentence for a store that has no such tests.

    Raises
    ------
    Unmet
        If there is no test, or each of them lacks a column; names the test and the column.
    """
    facts.undrawn.clear()
    if not tests:
        raise Unmet(lacking)
    found = list(tests)
    for one in reads:
        found = facts.drawable(found, one.dataset, one.needs)
        # Which samples are excluded is known by their cycle: if one test had none, those of all would be drawn.
        if one.dataset == "series" and CYCLE in one.also and any(row.id in facts.excluded_cycles for row in found):
            found = facts.drawable(found, one.dataset, (CYCLE,))
    if not found:
        name, why = next(iter(facts.undrawn.values()))
        others = len(facts.undrawn) - 1
        more = f" The other {counted(others, 'test')} of that kind cannot be drawn either." if others else ""
        raise Unmet(f"The test '{name}' cannot be drawn: it has {why}.{more}")
    return found


def chosen_tests(
    facts: Facts, tests: Sequence[TestRow], kind: str = "", *, most: int = MOST_TESTS, by: str = "instance_name"
) -> tuple[Steps, Params]:
    """The steps ``tests``, ``cells``, ``designs`` and ``chosen``, and the control of the tests.

    Parameters
    ----------
    tests : those to choose from.
    kind : of the tests. If just these tests are kept as of that kind, or if they are all tests of the project, the plan
        also finds those that come later.
    most : how many cells, or names of tests, are chosen at first at most; fewer if they have more tests or rows than a
        plan reads.
    by : what the control chooses: ``instance_name``, the param ``cells``; or ``name``, the param ``tests``.
    """
    steps: Steps = {}
    if kind and facts.are_kept(kind, tests):
        where: dict[str, JsonValue] = {"analysisType": KIND + kind}
        steps["kinds"] = _list("analyses", ["measurement_id"], where)
        steps["tests"] = _list(
            "measurements", of_tests(facts), {"ids": {"from": "kinds", "column": "measurement_id"}}
        )
    elif facts.are_all(tests):
        steps["tests"] = _list("measurements", of_tests(facts))
    else:
        steps["tests"] = _list("measurements", of_tests(facts), {"ids": [one.id for one in tests[:MOST_LISTED]]})
    steps["cells"] = _list("instances", ["id", *of_source(facts, "instances")])
    steps["designs"] = _list(
        "cellSpecifications", ["id", *rating_of(facts), *of_source(facts, "cellSpecifications")]
    )
    steps["described"] = {"op": "join", "left": "tests", "right": "cells", "how": "left"}
    steps["described"] |= {
        "on": {"left": "instance_id", "right": "id"},
        "fields": [*of_source(facts, "instances")],
    }
    param = "cells" if by == "instance_name" else "tests"
    places = [(one.cell, one.name) for one in tests]
    beside = cells_beside(places, "tests", most) if by == "name" else {}
    steps["chosen"] = {
        "op": "join",
        "left": "described",
        "right": "designs",
        "on": {"left": "specification_id", "right": "id"},
        "fields": [*rating_of(facts), *of_source(facts, "cellSpecifications")],
        "where": {by: f"${param}", **({"instance_name": "$cells"} if beside else {})},
        "how": "left",
    }
    names: dict[str, list[TestRow]] = {}
    for one in tests:
        names.setdefault(one.cell if by == "instance_name" else one.name, []).append(one)
    chosen = _within_caps(facts, names, most)
    label = "Cells" if by == "instance_name" else "Tests"
    control: dict[str, JsonValue] = {"label": label, "optionsFrom": {"step": "tests", "value": by}}
    return steps, {**beside, param: {"kind": "data", "default": chosen, "control": control}}


def _within_caps(facts: Facts, names: Mapping[str, Sequence[TestRow]], most: int) -> list[JsonValue]:
    """The first names whose tests a plan can read at once; at least one."""
    chosen: list[JsonValue] = []
    tests = rows = 0
    for name, of in names.items():
        tests += len(of)
        rows += sum(map(facts.summary_rows_in, of))
        if chosen and (len(chosen) == most or tests > MOST_TESTS or rows > MOST_ROWS):
            break
        chosen.append(name)
    return chosen


def cells_beside(tests: Sequence[tuple[str, str]], step: str, most: int) -> Params:
    """The control of the cells beside that of the names of tests, if tests of several cells have the same name.

    Parameters
    ----------
    tests : the cell and the name of each.
    step : has a row for each test, with the name of its cell.
    most : about so many tests are chosen at first; at least those of one cell.
    """
    if len({name for _, name in tests}) == len(tests):
        return {}
    cells: dict[str, int] = {}
    for cell, _ in tests:
        cells[cell] = cells.get(cell, 0) + 1
    chosen: list[JsonValue] = []
    for cell, count in cells.items():
        most -= count
        if not chosen or most >= 0:
            chosen.append(cell)
    control: dict[str, JsonValue] = {"label": "Cells", "optionsFrom": {"step": step, "value": "instance_name"}}
    return {"cells": {"kind": "data", "default": chosen, "control": control}}


def attached(facts: Facts) -> list[str]:
    """The columns of ``chosen`` that rows of steps and cycles take along."""
    own = ["name", "instance_name", "batch_name", *rating_of(facts)]
    test = facts.with_unit("measurements", facts.test_temperature)
    of_cells, of_designs = of_source(facts, "instances"), of_source(facts, "cellSpecifications")
    doubled = [f"{name}_right" for name in of_designs if name in of_cells]
    return [*dict.fromkeys([*own, *test, *of_cells, *of_designs, *doubled])]


def summary(facts: Facts, tests: Sequence[TestRow], reads: Reads) -> dict[str, JsonValue]:
    """A step with rows of the steps or cycles of the chosen ones of these tests; of all, where that is needed for
    columns that only some have."""
    wanted: list[JsonValue] = [*reads.columns(facts, tests)]
    return {
        "op": "summary",
        "dataset": reads.dataset,
        "ids": {"from": "described" if reads.reads_all(facts, tests) else "chosen", "column": "id"},
        "columns": wanted,
    }


def with_tests(facts: Facts, left: str, *, complete: bool = False) -> dict[str, JsonValue]:
    """A step with the rows of another one and what is known of their tests; of cycles only those that are complete, or
    of which nothing is known."""
    step: dict[str, JsonValue] = {"op": "join", "left": left, "right": "chosen"}
    step |= {"on": {"left": "measurement_id", "right": "id"}, "fields": [*attached(facts)]}
    if complete:
        step["where"] = {"Complete": [True, None]}
    return step


def per(facts: Facts) -> Params:
    """The control of what values are referred to, if cells have a mass or an area."""
    if len(facts.bases) == 1:
        return {}
    labels = {"cell": "per cell", "g": "per g", "cm2": "per cm²"}
    options: list[JsonValue] = [{"value": base, "label": labels[base]} for base in facts.bases]
    return {"per": {"kind": "view", "default": "cell", "control": {"label": "Refer to", "options": options}}}


def per_area(facts: Facts) -> Params:
    """The control of what resistances are referred to, if cells have an area."""
    return {"per": choice("Refer to", "cell", {"cell": "per cell", "cm2": "per cm²"})} if facts.area else {}


def choice(label: str, default: JsonValue, options: dict[str, str]) -> dict[str, JsonValue]:
    """A view param with fixed options: value -> label."""
    listed: list[JsonValue] = [{"value": value, "label": text} for value, text in options.items()]
    return {"kind": "view", "default": default, "control": {"label": label, "options": listed}}


def _list(source: str, fields: Sequence[str], where: dict[str, JsonValue] | None = None) -> dict[str, JsonValue]:
    step: dict[str, JsonValue] = {"op": "list", "source": source}
    if where:
        step["where"] = where
    return {**step, "fields": [*fields], "limit": MOST_LISTED}


def rating_of(facts: Facts) -> list[str]:
    """The columns of designs with the rated capacity, and with what says that it was only estimated."""
    return [RATED, RATED_UNIT, *facts.of_estimates]


def of_tests(facts: Facts) -> list[str]:
    """The columns of tests that figures use."""
    own = ["id", "name", "instance_id", "instance_name", "batch_name", "specification_id", "start_time"]
    return [*own, *facts.with_unit("measurements", facts.test_temperature)]


def of_source(facts: Facts, source: str) -> list[str]:
    """The columns of cells or of designs that figures use: temperature, mass and area, with units."""
    found = facts.with_unit(source, facts.cell_temperature) if source == "instances" else []
    for name in (facts.mass.get(source), facts.area.get(source)):
        if name is not None:
            found += [name, f"{name.removesuffix('.value')}.unit"]
    return found
