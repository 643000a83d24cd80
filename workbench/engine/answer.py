"""A dataset for a request: choices settled, the plan run or its answer taken from the cache, never stale."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from ..cached_property import cached_property
from ..dataset import COLUMNS, Dataset, StepColumns, Warn, packed, unpack
from ..errors import Cancelled
from ..recipe.bind import Bound, bind
from ..recipe.plot import PlotConfig
from ..recipe.steps import SummaryStep
from ..store.cache.cache import LARGE, Cache, Data, Found
from ..store.scope import Scope
from ..store.store import Store
from ..table import Table
from . import keys
from .choices import Chosen, resolve
from .ops.summary import is_stored
from .plan import Part
from .reader import Cancel, Dependency, Progress, revisions
from .run import Known, Ran, run
from .warnings import once

KIND = "dataset"
_UNVERIFIED = Warn(
    "unverified",
    "The store was opened a moment ago, and its records and indexes are still being checked for damage. Ask again to "
    "get an answer that is verified.",
)


class Named:
    """What names packed bytes; computed when it is first asked for, if it is not ``known``."""

    def __init__(self, packed: Data, known: str | None) -> None:
        self._packed, self._known = packed, known

    @cached_property
    def content(self) -> str:
        return self._known or keys.content_key(bytes(self._packed))


@dataclass(frozen=True)
class Answered:
    """The answer to a plan. ``packed`` are its steps as a transform takes them; ``content`` names them.

    ``values`` are all effective ones, data and view; ``cache`` says hit or miss; ``reads`` counts the steps
    run and the sources read for this request; ``timings`` are ms by stage and, as ``step:<name>``, by step;
    ``dependencies`` are the revisions of all that the steps were read from; ``data_at`` is a time at which the
    data were just so, in microseconds since 1970 by the clock of the store, None where an older server does not say.
    """

    packed: Data
    named: Named
    values: dict[str, JsonValue]
    options: dict[str, list[dict[str, JsonValue]]]
    warnings: list[Warn]
    columns: dict[str, StepColumns]
    cache: dict[str, str]
    reads: dict[str, int]
    timings: dict[str, float] = field(default_factory=dict)
    dependencies: dict[Dependency, int] = field(default_factory=dict)
    data_at: int | None = None

    @property
    def content(self) -> str:
        return self.named.content

    def is_current(self, store: Store) -> bool:
        """Whether what was read has still the revisions that it had then."""
        return revisions(store, self.dependencies) == self.dependencies

    @cached_property
    def dataset(self) -> Dataset:
        """The same with its steps unpacked; arrays are read-only views into ``packed``."""
        steps, _ = unpack(self.packed)
        return Dataset(
            steps=steps,
            values=self.values,
            options=self.options,
            warnings=self.warnings,
            cache=self.cache,
            reads=self.reads,
            timings=self.timings,
            columns=self.columns,
        )


def dataset(
    config: PlotConfig,
    values: Mapping[str, JsonValue] | None,
    store: Store,
    scope: Scope,
    cache: Cache | None = None,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
) -> Answered:
    """The steps of a recipe's plan with the given values, on one view of the store.

    Parameters
    ----------
    config : a checked recipe; its transform is not looked at.
    values : chosen values by param name; what is missing takes its default.
    cache : where answers are kept, None to run whatever is asked.
    progress, cancel : as for ``run``.

    Raises
    ------
    Invalid
        Everything wrong with values, choices or a step, at its place in the request.
    Cancelled
        If ``cancel`` is set.
    """
    with store.snapshot():
        return _Request(config, store, scope, cache, progress, cancel).answer(values)


def live_choices(
    config: PlotConfig,
    values: Mapping[str, JsonValue] | None,
    store: Store,
    scope: Scope,
    cache: Cache | None = None,
) -> dict[str, list[dict[str, JsonValue]]]:
    """Every live choice of each param that takes them from a step, for the given values; errors as ``dataset``."""
    with store.snapshot():
        return _Request(config, store, scope, cache, None, None).choices(values)


class _Request:
    """One request: the same view of the store for choices, revisions and steps."""

    def __init__(
        self,
        config: PlotConfig,
        store: Store,
        scope: Scope,
        cache: Cache | None,
        progress: Progress | None,
        cancel: Cancel | None,
    ) -> None:
        self.config, self.store, self.scope, self.cache = config, store, scope, cache
        self.progress, self.cancel = progress, cancel
        self.reads = {"steps": 0, "sources": 0}
        self.timings: dict[str, float] = {}
        self.seen: list[tuple[Bound, Known]] = []
        self.made: set[str] = set()
        self.quick: set[str] = set()
        self.read: tuple[Mapping[str, Any], dict[Dependency, int]] | None = None
        self.unverified = store.unverified

    def answer(self, values: Mapping[str, JsonValue] | None) -> Answered:
        started = time.perf_counter()
        chosen = resolve(self.config, values, self._options)
        bound = bind(self.config, chosen.values, checked=True)
        settled = time.perf_counter()
        found = self._found(bound)
        self.timings["choices"] = (settled - started) * 1e3
        self.timings["steps"] = (time.perf_counter() - settled) * 1e3
        return self._answered(chosen, found)

    def choices(self, values: Mapping[str, JsonValue] | None) -> dict[str, list[dict[str, JsonValue]]]:
        return resolve(self.config, values, self._options).live

    def _answered(self, chosen: Chosen, found: Found) -> Answered:
        warnings = [Warn(**warning) for warning in found.meta["warnings"]]
        return Answered(
            packed=found.data,
            named=Named(found.data, found.meta.get("content")),
            values=chosen.values,
            options=chosen.options,
            warnings=once([*chosen.warnings, *warnings, *([_UNVERIFIED] if self.unverified else [])]),
            columns=_columns(found),
            cache={"dataset": "hit" if found.hit else "miss"},
            reads=self.reads,
            timings=self.timings,
            dependencies=self._dependencies(found.meta),
            data_at=self.store.latest() if self.scope.as_of is None else self.scope.as_of,
        )

    def _options(self, bound: Bound, step: str) -> tuple[Table, list[Warn]]:
        known = _known(self._found(bound))
        self.seen.append((bound, known))
        result = known.parts[step].result
        if not isinstance(result, Table):
            raise TypeError(f"step '{step}' gives choices and has no rows")
        return result, [warning for part in known.parts.values() for warning in part.warnings]

    def _found(self, bound: Bound) -> Found:
        if self.cache is None:
            data, meta = self._make(bound)
            return Found(data, dict(meta), False)
        key = keys.dataset_key(bound, self.scope, self.store.identity())
        found = self.cache.get_or_make(
            KIND,
            key,
            lambda: self._make(bound, key),
            self._is_good,
            self._waiting,
            keep=not self.unverified,  # what may be wrong is not kept
            quick=lambda: key in self.quick,
        )
        if key not in self.made and "content" not in found.meta:
            found.meta["content"] = keys.content_key(found.bytes)
            self.cache.put(KIND, key, found.bytes, found.meta, soon=True)
        return found._replace(hit=key not in self.made)

    def _make(self, bound: Bound, key: str = "") -> tuple[Data, Mapping[str, Any]]:
        ran = run(
            bound,
            self.store,
            self.scope,
            progress=self.progress,
            cancel=self.cancel,
            known=self._reusable(bound),
        )
        self.made.add(key)
        for what, count in ran.reads.items():
            self.reads[what] += count
        self.timings.update({f"step:{name}": spent for name, spent in ran.timings.items()})
        parts = packed(ran.steps, {COLUMNS: _series_columns(ran)})
        meta = _meta(ran)
        if self.scope.as_of is None and _is_quick(bound, ran, len(parts)):
            self.quick.add(key)
            return parts, meta
        whole = bytes(parts)
        meta["content"] = keys.content_key(whole)
        return whole, meta

    def _reusable(self, bound: Bound) -> Known:
        """Steps that gave choices a moment ago, where the whole plan has them bound just so."""
        parts: dict[str, Part] = {}
        dependencies: dict[Dependency, int] = {}
        for before, known in self.seen:
            if _same(before, bound):
                parts |= known.parts
                dependencies |= known.dependencies
        return Known(parts, dependencies)

    def _is_good(self, meta: Mapping[str, Any]) -> bool:
        stored = self._dependencies(meta)
        return revisions(self.store, stored) == stored

    def _dependencies(self, meta: Mapping[str, Any]) -> dict[Dependency, int]:
        """The revisions that the meta of an entry names; those read last are kept, as an answer needs them twice."""
        if self.read is None or self.read[0] is not meta:
            self.read = meta, keys.from_json(meta["dependencies"])
        return self.read[1]

    def _waiting(self) -> None:
        if self.cancel is not None and self.cancel.is_set():
            raise Cancelled("The request was cancelled while another one computed its answer.")


def _same(part: Bound, whole: Bound) -> bool:
    """Whether ``whole`` contains the steps of ``part``, bound to the same values."""
    return part.canonical() == whole.only(part.steps).canonical()


def _is_quick(bound: Bound, ran: Ran, size: int) -> bool:
    """Whether a large answer is nearly all steps or cycles as they are stored: reading them again takes no longer than
    reading the answer from the cache's file. It enters the file, and gets its name, when it is asked for again."""
    results = [(bound.steps[name], part.result) for name, part in ran.parts.items()]
    if size < LARGE or not all(isinstance(result, Table) for _, result in results):
        return False
    stored = sum(
        result.nbytes
        for step, result in results
        if isinstance(result, Table) and isinstance(step, SummaryStep) and is_stored(step)
    )
    return size - stored < LARGE


def _meta(ran: Ran) -> dict[str, Any]:
    return {
        "dependencies": keys.as_json(ran.dependencies),
        "warnings": [warning.as_dict() for warning in ran.warnings],
        "columns": ran.columns,
        "open": {name: sorted(part.open) for name, part in ran.parts.items() if part.open},
    }


def _series_columns(ran: Ran) -> dict[str, StepColumns]:
    """Those of the steps whose result alone would not tell them: a series step may have no source."""
    return {name: part.columns for name, part in ran.parts.items() if not isinstance(part.result, Table)}


def _columns(found: Found) -> dict[str, StepColumns]:
    stored: dict[str, StepColumns] = found.meta["columns"]
    return {step: [(name, kind) for name, kind in columns] for step, columns in stored.items()}


def _known(found: Found) -> Known:
    steps, _ = unpack(found.data)
    columns = _columns(found)
    warnings = [Warn(**warning) for warning in found.meta["warnings"]]
    parts = {
        name: Part(
            result,
            columns[name],
            [warning for warning in warnings if warning.step == name],
            frozenset(found.meta.get("open", {}).get(name, ())),  # an older version kept none
        )
        for name, result in steps.items()
    }
    return Known(parts, keys.from_json(found.meta["dependencies"]))
