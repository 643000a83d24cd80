"""Whether an analysis over several tests would read other ones now than it did: tests come, grow, and get tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..cached_property import cached_property
from ..engine.reader import Reader
from ..records import Analysis
from ..records.measurement import KIND
from ..store import Scope, Store
from ..store.cache.cache import Cache
from ..table import to_micros
from .declaration import Declared
from .freshness import KINDS_JOB
from .keeping import WORKBENCH
from .run import OTHER, recognised
from .test_kinds import KINDS
from .tests import Test, tests_in

_FIRST, _TIMES = 1, 4
"""Tests whose kinds are recognised at once, and how many times as many the next time: one that belongs is enough."""


class _Moments(NamedTuple):
    """When a test came, and when it was last changed in any way that its kind may follow from, in microseconds."""

    came: int
    edited: int
    """Its record or its specification."""
    changed: int
    """Its steps or cycles too."""


class Membership:
    """The tests of a project, as far as they may belong to a comparison that was kept before.

    A test that belonged when a record was kept and is not in it was left out on purpose. Its kind at that time is known
    from the record of it. Where the tests that were read had no such records then, a user named them, and left out all
    others.
    """

    def __init__(self, store: Store, scope: Scope, cache: Cache | None = None) -> None:
        self._store, self._scope, self._cache = store, scope, cache
        self._tests: dict[str, Test | None] = {}
        self._kinds: dict[str, set[str]] = {}

    def differs(self, declared: Declared, tests: Sequence[Test], kept_at: int) -> bool:
        """Whether an analysis of these tests would also read another one now, or one of them no more."""
        if declared.over == "test":
            return False
        return self._another(declared, tests, kept_at) or self._no_more(declared, tests, kept_at)

    def _another(self, declared: Declared, tests: Sequence[Test], kept_at: int) -> bool:
        read, cells = {one.id for one in tests}, {one.cell_id for one in tests}
        were_known = any(self._kinds_then(one.id, kept_at) for one in tests)
        ids = []
        for id, moments in self._moments.items():
            if id in read or moments.changed <= kept_at:
                continue
            if moments.came <= kept_at:
                may_have_moved = declared.over == "cell" and moments.edited > kept_at
                belonged = not declared.kinds or self._kinds_then(id, kept_at) & set(declared.kinds)
                if not were_known or (belonged and not may_have_moved):
                    continue
            ids.append(id)
        candidates = [
            one
            for one in self._found(ids)
            if (declared.over != "cell" or one.cell_id in cells)
            and (not one.is_table or declared.reads == "cycles")
        ]
        if not declared.kinds:
            return bool(candidates)
        return any(kinds & set(declared.kinds) for kinds in self._each_kinds(candidates))

    def _no_more(self, declared: Declared, tests: Sequence[Test], kept_at: int) -> bool:
        if not declared.kinds:
            return False
        suspects = []
        for one in tests:
            moments = self._moments.get(one.id)
            if moments is None or moments.edited <= kept_at:
                continue  # other data would be another state
            then = self._kinds_then(one.id, kept_at)
            if not then or then & set(declared.kinds):  # else a user named it though it is of another kind
                suspects.append(one)
        return any(
            not kinds & set(declared.kinds)
            and (self._kinds_then(one.id, kept_at) or self._by_steps(one) & set(declared.kinds))
            for one, kinds in zip(suspects, self._each_kinds(suspects), strict=True)
        )

    def _by_steps(self, test: Test) -> set[str]:
        """The kinds of a test whatever its user wrote: it had these before it got a tag that says otherwise."""
        bare = replace(test, tags=(), protocol=None)
        return {kind.name for kind in recognised(self._store, self._scope, [bare])[test.id]}

    @cached_property
    def _moments(self) -> dict[str, _Moments]:
        """Those of all tests, in the order in which they came."""
        reader = Reader(self._store, self._scope)
        designs = reader.rows("cellSpecifications", {}, ["id", "updated_at"], None).table
        of_design = {row["id"]: to_micros(row["updated_at"]) for row in designs.records() if designs.n}
        fields = ["id", "created_at", "updated_at", "specification_id"]
        rows = reader.rows("measurements", {}, fields, None).table.records()
        tables = [(str(row["id"]), dataset) for row in rows for dataset in ("steps", "cycles")]
        revisions = self._store.series.revisions(tables)
        found = {}
        for row in rows:
            id = str(row["id"])
            edited = max(to_micros(row["updated_at"]), of_design.get(row["specification_id"], 0))
            # A revision is a time of the store's clock.
            data = max(revisions["series", id, "steps"], revisions["series", id, "cycles"])
            found[id] = _Moments(to_micros(row["created_at"]), edited, max(edited, data))
        return found

    @cached_property
    def _recorded(self) -> dict[str, list[tuple[str, int]]]:
        """The kinds of which tests have a record, each with the time when it was first recorded."""
        fields, paths = ("measurement_id", "analysis_type", "created_at"), ("analysis", "version")
        of_kinds = {"analysis_type": {"in": [KIND + name for name in (*KINDS, OTHER)]}}
        found: dict[str, list[tuple[str, int]]] = {}
        for test, type, at, analysis, _ in self._store.rows.parts(
            Analysis, self._scope, fields, "metadata", [f"{WORKBENCH}.{one}" for one in paths], **of_kinds
        ):
            if analysis == KINDS_JOB:
                found.setdefault(str(test), []).append((str(type).removeprefix(KIND), int(at)))
        return found

    def _kinds_then(self, id: str, moment: int) -> set[str]:
        """The kinds of a test that were recorded by a time, and still are; empty if there are none."""
        return {kind for kind, at in self._recorded.get(id, []) if at <= moment}

    def _found(self, ids: Sequence[str]) -> list[Test]:
        """Those of these tests that have data."""
        if missing := [id for id in ids if id not in self._tests]:
            known = {one.id: one for one in tests_in(self._store, self._scope, missing, also_tables=True)}
            self._tests |= {id: known.get(id) for id in missing}
        return [one for id in ids if (one := self._tests[id]) is not None]

    def _each_kinds(self, tests: Sequence[Test]) -> Iterator[set[str]]:
        """The kinds of each test, recognised when they are asked for."""
        begin, together = 0, _FIRST
        while some := tests[begin : begin + together]:
            if missing := [one for one in some if one.id not in self._kinds]:
                known = recognised(self._store, self._scope, missing, self._cache, these_alone=True)
                self._kinds |= {id: {kind.name for kind in kinds} for id, kinds in known.items()}
            yield from (self._kinds[one.id] for one in some)
            begin, together = begin + together, together * _TIMES
