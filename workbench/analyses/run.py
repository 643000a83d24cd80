"""Runs an analysis over tests: what is fresh stays, what is missing or stale is computed and kept.

A few tests are kept in each transaction: stopped at any moment, what was kept before stays, and the next call goes on
with the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial

from pydantic import JsonValue

from ..engine.reader import Cancel
from ..errors import BadRequest, NotFound, WorkerDied, instead
from ..fan_out import FanOut, own_task
from ..messages import counted
from ..messages import place as typed_where
from ..records.measurement import KIND
from ..store import Scope, Store
from ..store.cache.cache import Cache
from ..store.db.parallel import CORES
from ..store.reached import Reached
from . import test_kinds
from .computing import Outputs, outputs
from .declaration import Declared
from .freshness import KINDS_JOB, Curves, key_of, kind_key, kind_tables, revisions_of
from .half_cells import ELECTRODES
from .keeping import Computed, Kept, Key, Output, keep, kept
from .kinds_in_cache import KindsInCache
from .registry import ANALYSES, ON_ARRIVAL
from .tests import Test, keys, steps_of, tests_in

OTHER = "other"
"""The kind of a test that no rule fits."""
KEPT_TOGETHER = 8
"""Tests that are kept in one transaction. Each commit waits for the disk."""
KEPT_AFTER = 0.5
"""Seconds after which what was computed is kept, however little: whoever waits for slow tests sees that one is done."""
ARRIVAL_JOB = "arrival"
"""The name of the job that computes what is due of tests that arrived."""
Progress = Callable[[int, int, str], None]
"""Called with how many are done, of how many, and the name of the next."""


@dataclass
class Analysed:
    """What a run did.

    Attributes
    ----------
    type : the analysis.
    tests : how many tests it was asked for.
    computed : names of the tests that were computed now; with ``check``, of those that would be.
    unchanged : how many were fresh already.
    stale : names of those among ``computed`` that had a record of older data or of an older rule.
    invalid : test -> why nothing could be computed of it. The reason is kept with its record.
    cancelled : whether it was stopped before the end.
    """

    type: str
    tests: int = 0
    computed: list[str] = field(default_factory=list)
    unchanged: int = 0
    stale: list[str] = field(default_factory=list)
    invalid: dict[str, str] = field(default_factory=dict)
    cancelled: bool = False

    def as_dict(self) -> dict[str, JsonValue]:
        """The same as JSON values."""
        return asdict(self)

    @classmethod
    def of(cls, sent: Mapping[str, JsonValue]) -> Analysed:
        """From the JSON values that ``as_dict`` gives."""
        made = cls(str(sent["type"]))
        for name in cls.__dataclass_fields__:
            setattr(made, name, sent[name])
        return made

    def __repr__(self) -> str:
        return self.in_words()

    def in_words(self, *, check: bool = False) -> str:
        """What the run did, or with ``check`` what one would do."""
        if not self.tests:
            return f"{self.type}: there is no test to compute it of."
        without = len(self.invalid.keys() & {*self.computed})
        of_them = [f"{len(self.stale)} of them stale{'' if check else ' before'}"] if self.stale else []
        of_them += [f"{without} of them without a result"] if without else []
        parts = [
            f"{len(self.computed)} {'to compute' if check else 'computed'}"
            + (f" ({', '.join(of_them)})" if of_them else "")
        ]
        parts += [f"{len(self.invalid) - without} failed"] if len(self.invalid) > without else []
        parts += [f"{self.unchanged} unchanged"]
        parts += ["stopped before the end"] if self.cancelled else []
        lines = [f"{self.type}: {', '.join(parts)}, of {counted(self.tests, 'test')}."]
        lines += [f"  {name}: {why}" for name, why in [*self.invalid.items()][:10]]
        if len(self.invalid) > 10:
            where = "see .invalid" if typed_where() == "python" else "--json lists all"
            lines.append(f"  and {len(self.invalid) - 10} more; {where}")
        return "\n".join(lines)


@dataclass(frozen=True)
class _Unit:
    """What is computed at once: tests, and the records that are there already, by the test that they belong to.
    ``owners`` are the tests that have records once all is kept. ``left``: the records of the same comparison as old
    ones that belong to tests which it does not read any more."""

    tests: Sequence[Test]
    key: Key
    old: Mapping[str, Sequence[Kept]]
    owners: Sequence[str]
    left: Mapping[str, Sequence[Kept]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.tests[-1].shown if len(self.tests) == 1 else f"{len(self.tests)} tests"


"""Measurement -> the records that belong to it."""


def known(type: str) -> Declared:
    """The declaration of an analysis.

    Raises
    ------
    BadRequest
        If there is none of that name; names the nearest.
    """
    if not isinstance(type, str) or type not in ANALYSES:
        raise BadRequest(
            f"There is no analysis '{type}'. {instead(str(type), [*ANALYSES, KINDS_JOB], 'analyses')}"
        )
    return ANALYSES[type]


def analyse(
    store: Store,
    scope: Scope,
    actor: str,
    type: str,
    ids: Sequence[str] | None = None,
    parameters: Mapping[str, JsonValue] | None = None,
    *,
    check: bool = False,
    jobs: int | None = None,
    fan_out: FanOut | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    cache: Cache | None = None,
) -> Analysed:
    """Compute an analysis for the tests that lack it or whose record is stale, and keep the results.

    Parameters
    ----------
    type : an analysis; or ``kinds``: recognise the kinds of the tests; or ``arrival``: all that a project computes of
        tests that arrive, by their kinds.
    ids : of the measurements; None: all in reach whose kind the analysis reads, or that have a record of it.
    check : only say what would be computed.
    jobs : how many tests are computed at the same time; without it, one for each core or worker.
    fan_out : where they are computed; by default in threads. This process alone writes.
    cache : remembers the kinds of tests that have no record of them.

    Raises
    ------
    BadRequest
        For an unknown analysis or parameter.
    NotFound
        For an id that no measurement in reach has.
    """
    where = fan_out or FanOut.threads(CORES)
    if type in (KINDS_JOB, ARRIVAL_JOB) and parameters:
        raise BadRequest(f"'{type}' takes no parameters.")
    if type == ARRIVAL_JOB:
        return _due(store, scope, actor, ids, check, jobs, where, progress, cancel, cache)
    if type == KINDS_JOB:
        units = _kind_units(store, scope, _chosen(store, scope, ids, also_tables=True))
        return _run(store, scope, actor, KINDS_JOB, units, {}, check, jobs, where, progress, cancel)
    declared = known(type)
    full = declared.parameters(parameters or {})
    chosen = _chosen(store, scope, ids, also_tables=declared.reads == "cycles")
    if ids is None and declared.kinds:
        kinds = _kind_units(store, scope, chosen)
        if not check and not all(map(_is_fresh, kinds)):
            analyse(store, scope, actor, KINDS_JOB, jobs=jobs, fan_out=where, cancel=cancel)
            kinds = _kind_units(store, scope, chosen)
        known_kinds = KindsInCache(store, scope, cache)
        of = _recognised(store, scope, kinds, known_kinds)
        known_kinds.keep()
        named = _have_records(store, scope, declared, full)
        chosen = [
            one for one in chosen if {kind.name for kind in of[one.id]} & set(declared.kinds) or one.id in named
        ]
    units = _units(store, scope, declared, chosen, full, by_kind=ids is None)
    return _run(store, scope, actor, type, units, parameters or {}, check, jobs, where, progress, cancel)


def _have_records(store: Store, scope: Scope, declared: Declared, full: Mapping[str, JsonValue]) -> set[str]:
    """The tests that have a record of an analysis of each test: of another kind, where a user named them or said their
    kind since. Else nothing but their names would compute them again."""
    if declared.over != "test":
        return set()
    identity = Key(declared.type, declared.version, full, {}, {}).identity
    old = kept(store, scope, declared.type, [declared.type])
    return {id for id, found in old.items() if any(one.identity == identity for one in found)}


def _due(
    store: Store,
    scope: Scope,
    actor: str,
    ids: Sequence[str] | None,
    check: bool,
    jobs: int | None,
    fan_out: FanOut,
    progress: Progress | None,
    cancel: Cancel | None,
    cache: Cache | None,
) -> Analysed:
    """Each analysis of `ON_ARRIVAL`, of the tests whose kind it reads; of whole cells, of all tests of their kind."""
    chosen = _chosen(store, scope, ids, also_tables=True)
    done = Analysed(ARRIVAL_JOB, len(chosen))
    if not check:
        these = [one.id for one in chosen]
        analyse(store, scope, actor, KINDS_JOB, these, cancel=cancel, jobs=jobs, fan_out=fan_out)
    kinds = recognised(store, scope, chosen, cache if ids is None else None)
    curves = Curves(store, scope)
    touched: set[str] = set()
    for place, type in enumerate(ON_ARRIVAL):
        declared = known(type)
        fits = [one for one in chosen if {kind.name for kind in kinds[one.id]} & set(declared.kinds)]
        fits = [one for one in fits if not one.is_table or declared.reads == "cycles"]
        if declared.given.keys() & ELECTRODES:
            fits = [one for one in fits if all(curves.of(one, name) is not None for name in ELECTRODES.values())]
        if not fits or (cancel is not None and cancel.is_set()):
            continue
        if progress is not None:
            progress(place, len(ON_ARRIVAL), type)
        if ids is None or declared.over == "test":
            units = _units(store, scope, declared, fits, declared.parameters({}), by_kind=ids is None)
            part = _run(store, scope, actor, type, units, {}, check, jobs, fan_out, None, cancel)
        else:
            part = analyse(store, scope, actor, type, check=check, jobs=jobs, fan_out=fan_out, cancel=cancel)
        done.computed += [f"{name}: {type}" for name in part.computed]
        done.stale += [f"{name}: {type}" for name in part.stale]
        done.invalid |= {f"{name}: {type}": why for name, why in part.invalid.items()}
        touched.update(part.computed)
    done.cancelled = cancel is not None and cancel.is_set()
    done.unchanged = sum(one.shown not in touched for one in chosen)
    return done


def recognised(
    store: Store, scope: Scope, among: Sequence[Test], cache: Cache | None = None, *, these_alone: bool = False
) -> dict[str, list[test_kinds.TestKind]]:
    """The kinds of tests, by id: from their records where these are fresh, else from the cache, else recognised now.
    ``these_alone``: there are other tests, which stay in the cache."""
    known = KindsInCache(store, scope, cache)
    found = _recognised(store, scope, _kind_units(store, scope, among), known)
    known.keep(but_add=these_alone)
    return found


def _recognised(
    store: Store, scope: Scope, units: Sequence[_Unit], known: KindsInCache
) -> dict[str, list[test_kinds.TestKind]]:
    found: dict[str, list[test_kinds.TestKind]] = {}
    for unit in units:
        (test,) = unit.tests
        fresh = [one for one in unit.old.get(test.id, []) if one.state == unit.key.state]
        if fresh:
            outputs = [_told(one) for one in fresh]
        else:
            outputs = known.of(test.id, unit.key.state, partial(_kinds, store, scope, test))
        found[test.id] = [one for one in outputs if one.name != OTHER]
    return found


def _told(one: Kept) -> test_kinds.TestKind:
    certainty, evidence = one.results.get("certainty"), one.results.get("evidence")
    certain = float(certainty) if isinstance(certainty, int | float) else 1.0
    return test_kinds.TestKind(one.type.removeprefix(KIND), certain, "" if evidence is None else str(evidence))


def _chosen(store: Store, scope: Scope, ids: Sequence[str] | None, *, also_tables: bool = False) -> list[Test]:
    found = tests_in(store, scope, ids, also_tables=also_tables)
    missing = set(ids or ()) - {one.id for one in found}
    if missing:
        raise NotFound(f"There is no measurement with samples '{sorted(missing)[0]}' in reach.")
    return found


def _kind_units(store: Store, scope: Scope, among: Sequence[Test]) -> list[_Unit]:
    revisions = revisions_of(store, kind_tables(among), among)
    types = [KIND + name for name in (*test_kinds.KINDS, OTHER)]
    old = kept(store, scope, KINDS_JOB, types)
    units = []
    for one in among:
        units.append(_Unit([one], kind_key(one, revisions[one.id]), {one.id: old.get(one.id, [])}, [one.id]))
    return units


def _kinds(store: Store, scope: Scope, test: Test) -> list[test_kinds.TestKind]:
    has_steps = store.series.info(test.id, "steps", scope=scope) is not None
    steps = steps_of(store, scope, test) if has_steps else None
    has_cycles = not has_steps and store.series.info(test.id, "cycles", scope=scope) is not None
    cycles = store.series.read(test.id, dataset="cycles", scope=scope) if has_cycles else None
    found = test_kinds.kinds_of(steps, cycles=cycles, rated=test.rated, tags=test.tags, protocol=test.protocol)
    return found or [
        test_kinds.TestKind(OTHER, 1.0, "no rule fits its steps, and no tag or protocol names a kind")
    ]


def _kinds_of(store: Store, scope: Scope, tests: Sequence[Test]) -> Outputs:
    (test,) = tests
    outputs = [
        Output(
            f"{KIND}{one.name}",
            f"{test.name}: {one.name}",
            results={"certainty": one.certainty, "evidence": one.evidence},
        )
        for one in _kinds(store, scope, test)
    ]
    return {test.id: outputs}


def _units(
    store: Store,
    scope: Scope,
    declared: Declared,
    chosen: Sequence[Test],
    full: Mapping[str, JsonValue],
    *,
    by_kind: bool,
) -> list[_Unit]:
    wanted = keys(declared, [one.id for one in chosen])
    revisions = revisions_of(store, wanted, chosen)
    old = kept(store, scope, declared.type, [declared.type])
    units = []
    curves = Curves(store, scope)
    for group in _groups(declared, chosen):
        key = key_of(declared, group, full, revisions, curves)
        same = {one.id: [kept for kept in old.get(one.id, []) if kept.identity == key.identity] for one in group}
        left = _left(old, same, key) if by_kind and declared.over == "cells" else {}
        units.append(_Unit(group, key, same, _owners(declared, group), left))
    return units


def _left(
    old: Mapping[str, Sequence[Kept]], same: Mapping[str, Sequence[Kept]], key: Key
) -> dict[str, list[Kept]]:
    """The records of tests that are of another kind now, of comparisons that are replaced: nothing else would replace
    them. Those of another state a user computed of tests that they named."""
    replaced = {
        (kept.identity, kept.state) for found in same.values() for kept in found if kept.state != key.state
    }
    gone = {
        id: [kept for kept in found if (kept.identity, kept.state) in replaced]
        for id, found in old.items()
        if id not in same
    }
    return {id: found for id, found in gone.items() if found}


def _groups(declared: Declared, chosen: Sequence[Test]) -> list[list[Test]]:
    """The tests that are computed together, those of a cell in the order of time."""
    if declared.over == "test":
        return [[one] for one in chosen]
    if declared.over == "cells":
        return [list(chosen)] if chosen else []
    of_cell: dict[str, list[Test]] = {}
    for one in chosen:
        of_cell.setdefault(one.cell_id, []).append(one)
    return [sorted(group, key=lambda one: one.began) for group in of_cell.values()]


def _owners(declared: Declared, group: Sequence[Test]) -> list[str]:
    """The tests of a group that its records belong to: of each cell the newest."""
    if declared.over != "cells":
        return [group[-1].id]
    return [*{one.cell: one.id for one in group}.values()]


def _is_fresh(unit: _Unit) -> bool:
    """Whether a unit has all its records, each once, and they are fresh. A run that was stopped may have kept some of
    them alone, and two runs of an older version at once kept each twice."""
    old = [one for found in unit.old.values() for one in found]
    twice = any(len({one.type for one in found}) < len(found) for found in unit.old.values())
    whole = all(unit.old.get(owner) for owner in unit.owners)
    return whole and not twice and all(one.state == unit.key.state for one in old)


def _run(
    store: Store,
    scope: Scope,
    actor: str,
    type: str,
    units: Sequence[_Unit],
    given: Mapping[str, JsonValue],
    check: bool,
    jobs: int | None,
    fan_out: FanOut,
    progress: Progress | None,
    cancel: Cancel | None,
) -> Analysed:
    done = Analysed(type, sum(len(unit.tests) for unit in units))
    todo = [unit for unit in units if not _is_fresh(unit)]
    done.unchanged = done.tests - sum(len(unit.tests) for unit in todo)
    for unit in todo:
        if any(one.state != unit.key.state for found in unit.old.values() for one in found):
            done.stale += [one.shown for one in unit.tests]
    if check:
        done.computed = [one.shown for unit in todo for one in unit.tests]
        return done
    keeper = _Keeper(store, scope, actor, done)
    reached = Reached(store)
    try:
        for unit, computed in fan_out.results(
            computed_of, todo, lambda unit: (reached, scope, type, unit.tests, given), jobs=jobs, cancel=cancel
        ):
            try:
                outputs = computed()
            except NotFound:  # deleted meanwhile
                continue
            except WorkerDied as error:
                done.invalid |= {one.shown: str(error) for one in unit.tests}
                continue
            if progress is not None:  # what it says is done is kept
                progress(done.unchanged + keeper.finished, done.tests, unit.name)
            keeper.add(unit, outputs)
    finally:
        keeper.keep()
    if progress is not None and not (cancel is not None and cancel.is_set()):
        progress(done.tests, done.tests, "")
    if cancel is not None and cancel.is_set():
        done.cancelled = keeper.finished < sum(len(unit.tests) for unit in todo)
    if done.computed:
        store.series.tidy()
    return done


@own_task
def computed_of(
    reached: Reached, scope: Scope, type: str, tests: Sequence[Test], given: Mapping[str, JsonValue]
) -> Outputs:
    """What a job computes of tests that belong together, as they are at one moment."""
    with reached.store.snapshot():
        if type == KINDS_JOB:
            return _kinds_of(reached.store, scope, tests)
        return outputs(reached.store, scope, known(type), tests, given)


class _Keeper:
    """Keeps what was computed, some tests in each transaction; the reasons of what could not be are noted with the
    run."""

    def __init__(self, store: Store, scope: Scope, actor: str, done: Analysed) -> None:
        self._store, self._scope, self._actor, self._done = store, scope, actor, done
        self._waiting: list[tuple[Test, Computed]] = []
        self._kept_at = time.monotonic()
        self.finished = 0

    def add(self, unit: _Unit, found: Outputs) -> None:
        for test in unit.tests:
            self._waiting.append(
                (test, Computed(test.id, unit.key, found.get(test.id, []), unit.old.get(test.id, [])))
            )
            if len(self._waiting) >= KEPT_TOGETHER or time.monotonic() - self._kept_at >= KEPT_AFTER:
                self.keep()
        if unit.left:
            left = [Computed(id, unit.key, [], found) for id, found in unit.left.items()]
            keep(self._store, self._scope, self._actor, left)

    def keep(self) -> None:
        """Keep what waits."""
        waiting, self._waiting = self._waiting, []
        are_there = keep(self._store, self._scope, self._actor, [one for _, one in waiting])
        for (test, one), is_there in zip(waiting, are_there, strict=True):
            if is_there:
                self._done.computed.append(test.shown)
                for output in one.outputs:
                    if output.why:
                        self._done.invalid[test.shown] = output.why
        self.finished += len(waiting)
        self._kept_at = time.monotonic()


__all__ = ["KINDS_JOB", "Analysed", "Kept", "analyse", "known", "recognised"]
