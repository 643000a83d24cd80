"""What stored analyses hang on, as it is now: a record is fresh while it says the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from ..store import Scope, Store
from . import test_kinds
from .declaration import Declared
from .half_cells import ELECTRODES, Electrode, HalfCellCurve, curve_of
from .keeping import Key
from .tests import OneOfCell, Test

KINDS_JOB = "kinds"
"""The name of the job that recognises the kinds of tests."""


def kind_tables(among: Sequence[Test]) -> list[tuple[str, str]]:
    """The tables that the kinds of tests are recognised from."""
    return [(one.id, name) for one in among for name in ("steps", "cycles")]


def kind_key(test: Test, revisions: Mapping[str, int]) -> Key:
    """What the kinds of a test hang on."""
    facts: dict[str, JsonValue] = {"rated": test.rated, "tags": [*test.tags], "protocol": test.protocol}
    return Key(KINDS_JOB, test_kinds.RULE, {}, {test.id: revisions}, {test.id: facts})


def key_of(
    declared: Declared,
    tests: Sequence[Test],
    parameters: Mapping[str, JsonValue],
    revisions: Mapping[str, Mapping[str, int]],
    curves: Curves,
) -> Key:
    """What an analysis of these tests hangs on."""
    facts = {one.id: _facts(curves, declared, one) for one in tests}
    if declared.in_life:
        _add_life(facts, curves, declared, tests, revisions)
    of = {one.id: revisions[one.id] for one in tests}
    return Key(declared.type, declared.version, parameters, of, facts)


def revisions_of(
    store: Store, wanted: Sequence[tuple[str, str]], among: Sequence[Test]
) -> dict[str, dict[str, int]]:
    """The revisions of tables of tests: id -> dataset -> number."""
    found: dict[str, dict[str, int]] = {one.id: {} for one in among}
    for key, number in store.series.revisions(wanted).items():
        found[key[-2]][key[-1]] = number
    return found


class Curves:
    """The half cells of specifications, each looked for once in a run: many tests have the same."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store, self._scope = store, scope
        self._found: dict[tuple[str, str], HalfCellCurve | None] = {}

    def revisions(self, ids: Iterable[str]) -> dict[str, int]:
        """The revisions of the cycles of tests that an analysis does not read itself."""
        found = self._store.series.revisions([(id, "cycles") for id in ids])
        return {key[-2]: number for key, number in found.items()}

    def of(self, test: Test, electrode: Electrode) -> HalfCellCurve | None:
        key = ("" if test.specification is None else test.specification.id, electrode)
        if key not in self._found:
            self._found[key] = curve_of(self._store, self._scope, test.specification, electrode)
        return self._found[key]


def _add_life(
    facts: Mapping[str, dict[str, JsonValue]],
    curves: Curves,
    declared: Declared,
    tests: Sequence[Test],
    revisions: Mapping[str, Mapping[str, int]],
) -> None:
    """Add what follows from the other tests of a cell; nothing for the only test of one."""
    if declared.over == "test":
        for one in tests:
            if one.earlier or one.perhaps_earlier:
                facts[one.id]["life"] = [len(one.earlier), len(one.perhaps_earlier)]
        return
    read: dict[str, list[Test]] = {}
    for one in tests:
        if len(one.of_cell) > 1:
            read.setdefault(one.cell_id, []).append(one)
    lives = {cell: _until(some) for cell, some in read.items()}
    of = curves.revisions({other.id for life in lives.values() for other in life} - revisions.keys())
    of |= {id: numbers["cycles"] for id, numbers in revisions.items()}
    for cell, some in read.items():
        if len(lives[cell]) > 1:
            # One test of each cell speaks for all, whatever the order in which they are given.
            life: list[JsonValue] = [[other.id, other.began, of[other.id]] for other in lives[cell]]
            facts[max(one.id for one in some)]["life"] = life


def _until(tests: Sequence[Test]) -> list[OneOfCell]:
    """What a cell had until these tests of it: all but the tests that began after them, which change nothing."""
    last = max(one.began for one in tests) if all(one.began for one in tests) else ""
    return [other for other in sorted(tests[0].of_cell) if not last or other.began <= last]


def _facts(curves: Curves, declared: Declared, test: Test) -> dict[str, JsonValue]:
    facts: dict[str, JsonValue] = {}
    for name, fact in declared.given.items():
        if fact in ELECTRODES:
            curve = curves.of(test, ELECTRODES[fact])
            facts[name] = (
                None if curve is None else {"id": curve.id, "name": curve.name, "revision": curve.revision}
            )
        else:
            facts[name] = test.fact(fact)
    if test.excluded:
        # Samples and steps of excluded cycles were once not left out: such records are stale.
        facts["excluded" if declared.reads == "cycles" else "left out"] = [*test.excluded]
    if declared.reads != "samples":
        # One limit alone decides 'Complete' too.
        facts["complete between"] = [test.voltages.low, test.voltages.high] if test.voltages.given else None
    if declared.reads == "steps":
        facts["rated"] = test.rated  # the types of steps follow from it, whether or not the analysis takes it
    if declared.over != "test":
        facts |= {"cell": test.cell, "batch": test.batch}
    if declared.over == "cell":
        facts |= {"name": test.name, "began": test.began}  # tests are read in this order, and distinguished so
    return facts
