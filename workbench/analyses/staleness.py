"""Which stored analyses do not hold any more: what each hangs on, as it is now, compared with what its record says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from ..records import Analysis
from ..store import Scope, Store
from ..store.cache.cache import Cache
from ..table import Plain
from .declaration import Declared
from .freshness import KINDS_JOB, Curves, key_of, kind_key, kind_tables, revisions_of
from .keeping import CHOSEN, WORKBENCH
from .membership import Membership
from .registry import ANALYSES
from .tests import Test, keys, tests_in


@dataclass
class _Kept:
    """The records of an analysis that were kept with one state of the same tests."""

    state: str
    chosen: int | None
    """How many tests were compared, where no record names them all."""
    kept_at: int
    """The first of them, in microseconds, by the clock of the store."""
    ids: dict[str, JsonValue] = field(default_factory=dict)
    """Each with its parameters."""
    owners: dict[str, None] = field(default_factory=dict)
    """The tests that the records together name."""


def stale(
    store: Store, scope: Scope, types: Sequence[str] | None, cache: Cache | None = None
) -> dict[str, tuple[str, str]]:
    """The computed records in reach that do not hold any more: id -> analysis, and what computes it again.

    ``types`` are those of records.

    One over several tests does not hold either once it would read other tests: see `Membership`. ``cache`` remembers
    the kinds of tests that have no record of them.
    """
    read = _kept(store, scope, types)
    every = {owner for groups in read.values() for one in groups.values() for owner in one.owners}
    among = {one.id: one for one in tests_in(store, scope, [*every], also_tables=True)} if every else {}
    curves = Curves(store, scope)
    membership = Membership(store, scope, cache)
    found: dict[str, tuple[str, str]] = {}
    for analysis, groups in read.items():
        declared = ANALYSES.get(analysis)
        if declared is None and analysis != KINDS_JOB:
            continue
        present = [*among.values()]
        tables = kind_tables(present) if declared is None else keys(declared, [*among])
        revisions = revisions_of(store, tables, present)
        for group in groups.values():
            tests = [among[owner] for owner in _owners(group, groups) if owner in among]
            if not _holds(group, declared, tests, revisions, curves) or (
                declared is not None and membership.differs(declared, tests, group.kept_at)
            ):
                found |= {id: (analysis, _call(analysis, given)) for id, given in group.ids.items()}
    return found


def _kept(store: Store, scope: Scope, types: Sequence[str] | None) -> dict[str, dict[str, _Kept]]:
    """The computed records in reach: analysis -> state -> those that were kept with it."""
    fields, parts = ("id", "updated_at"), ("analysis", "state", "sources", "others", "parameters")
    where: dict[str, Plain] = {} if types is None else {"analysis_type": {"in": [*types]}}
    listed = store.rows.parts(
        Analysis, scope, fields, "metadata", [f"{WORKBENCH}.{one}" for one in parts], **where
    )
    read: dict[str, dict[str, _Kept]] = {}
    for id, kept_at, analysis, state, sources, others, parameters in listed:
        if analysis is None or not isinstance(sources, list):
            continue
        chosen = _chosen(others)
        if others is not None and chosen is None:
            continue  # kept before records said how many tests were compared: it is not known which
        groups = read.setdefault(str(analysis), {})
        group = groups.setdefault(str(state), _Kept(str(state), chosen, int(kept_at)))
        group.kept_at = min(group.kept_at, int(kept_at))
        group.ids[str(id)] = parameters
        group.owners |= {str(one["measurement_id"]): None for one in sources if isinstance(one, dict)}
    return read


def _call(analysis: str, parameters: JsonValue) -> str:
    """What computes a record again: with its parameters where they are not the defaults."""
    defaults = ANALYSES[analysis].defaults if analysis in ANALYSES else {}
    given = parameters if isinstance(parameters, dict) else {}
    own = [f"{name}={value!r}" for name, value in given.items() if name in defaults and value != defaults[name]]
    return f"bench.analyse({', '.join([repr(analysis), *own])})"


def _chosen(others: JsonValue) -> int | None:
    chosen = others.get(CHOSEN) if isinstance(others, dict) else None
    return chosen if isinstance(chosen, int) else None


def _owners(group: _Kept, groups: Mapping[str, _Kept]) -> list[str]:
    """The tests that the records of a state name, and those that they named before some were replaced by records of a
    part of the tests: these name them now."""
    lacking = 0 if group.chosen is None else group.chosen - len(group.owners)
    if lacking <= 0:
        return [*group.owners]
    spare = {owner for one in groups.values() for owner in one.owners if owner not in group.owners}
    return [*group.owners, *(spare if len(spare) == lacking else ())]


def _holds(
    group: _Kept,
    declared: Declared | None,
    tests: Sequence[Test],
    revisions: Mapping[str, Mapping[str, int]],
    curves: Curves,
) -> bool:
    """Whether all that these records hang on is as it was; not if one of their tests is gone."""
    if not tests or len(tests) < max(len(group.owners), group.chosen or 0):
        return False
    if declared is None:
        return kind_key(tests[0], revisions[tests[0].id]).state == group.state
    return key_of(declared, tests, {}, revisions, curves).state == group.state
