"""Which stored analyses do not hold any more: what each hangs on, as it is now, compared with what its record says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..engine.reader import Reader
from ..records import Analysis
from ..store import Scope, Store
from ..table import to_micros
from .declaration import Declared
from .freshness import KINDS_JOB, Curves, key_of, kind_key, kind_tables, revisions_of
from .keeping import WORKBENCH
from .registry import ANALYSES
from .run import recognised
from .tests import Test, keys, tests_in


class _Record(NamedTuple):
    id: str
    state: str
    owners: list[str]
    kept_at: int
    """In microseconds, by the clock of the store."""


def stale(store: Store, scope: Scope, types: Sequence[str] | None) -> dict[str, str]:
    """The computed records in reach that do not hold any more: id -> analysis. ``types`` are those of records.

    One over several tests does not hold either once there is a newer test that it would read; a test that was there
    when it was kept may have been left out on purpose. Of a comparison of so many tests that its record does not name
    them, nothing is known here.
    """
    fields, parts = ("id", "updated_at"), ("analysis", "state", "sources", "others")
    where = {} if types is None else {"analysis_type": {"in": [*types]}}
    listed = store.rows.parts(
        Analysis, scope, fields, "metadata", [f"{WORKBENCH}.{one}" for one in parts], **where
    )
    read: dict[str, list[_Record]] = {}
    for id, kept_at, analysis, state, sources, others in listed:
        if analysis is not None and isinstance(sources, list) and others is None:
            owners = [str(one["measurement_id"]) for one in sources if isinstance(one, dict)]
            read.setdefault(str(analysis), []).append(_Record(str(id), str(state), owners, int(kept_at)))
    every = {owner for records in read.values() for one in records for owner in one.owners}
    among = {one.id: one for one in tests_in(store, scope, [*every], also_tables=True)} if every else {}
    curves = Curves(store, scope)
    arrivals = _Arrivals(store, scope)
    found: dict[str, str] = {}
    for analysis, records in read.items():
        declared = ANALYSES.get(analysis)
        if declared is None and analysis != KINDS_JOB:
            continue
        present = [*among.values()]
        tables = kind_tables(present) if declared is None else keys(declared, [*among])
        revisions = revisions_of(store, tables, present)
        for one in records:
            tests = [among[owner] for owner in one.owners if owner in among]
            if len(tests) < len(one.owners) or not tests:
                key = None
            elif declared is None:
                key = kind_key(tests[0], revisions[tests[0].id])
            else:
                key = key_of(declared, tests, {}, revisions, curves)
            holds = key is not None and key.state == one.state
            if not holds or (declared is not None and arrivals.belong(declared, tests, one.kept_at)):
                found[one.id] = analysis
    return found


class _Arrivals:
    """The tests that came after records were kept. The kinds of few are recognised: one that belongs is enough."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store, self._scope = store, scope
        self._times: list[tuple[int, str]] | None = None
        self._tests: dict[str, Test | None] = {}
        self._kinds: dict[str, set[str]] = {}

    def belong(self, declared: Declared, tests: Sequence[Test], kept_at: int) -> bool:
        """Whether an analysis of these tests would also read one that came later."""
        if declared.over == "test":
            return False
        read, cells = {one.id for one in tests}, {one.cell_id for one in tests}
        for one in self._since(kept_at):
            if one.id in read or (declared.over == "cell" and one.cell_id not in cells):
                continue
            if one.is_table and declared.reads != "cycles":
                continue
            if not declared.kinds or self._kinds_of(one) & set(declared.kinds):
                return True
        return False

    def _since(self, time: int) -> list[Test]:
        if self._times is None:
            listed = Reader(self._store, self._scope).rows("measurements", {}, ["id", "created_at"], None).table
            self._times = [(to_micros(row["created_at"]), str(row["id"])) for row in listed.records()]
        ids = [id for at, id in self._times if at > time]
        if missing := [id for id in ids if id not in self._tests]:
            known = {one.id: one for one in tests_in(self._store, self._scope, missing, also_tables=True)}
            self._tests |= {id: known.get(id) for id in missing}
        return [one for id in ids if (one := self._tests[id]) is not None]

    def _kinds_of(self, test: Test) -> set[str]:
        if test.id not in self._kinds:
            told = recognised(self._store, self._scope, [test])[test.id]
            self._kinds[test.id] = {kind.name for kind in told}
        return self._kinds[test.id]
