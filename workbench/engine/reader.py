"""What a running plan may read: one store as one caller sees it, counted, revisioned and cancellable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from pydantic import JsonValue

from ..cycling.life import KINDS
from ..dataset import Samples
from ..errors import Cancelled, Invalid, Problem
from ..recipe.jsontext import show
from ..records import SOURCES, Record
from ..store.records.listing import Listed
from ..store.scope import Scope
from ..store.series.past import Replaced
from ..store.series.series import SeriesInfo
from ..store.store import Store
from ..table import Column, Kind, Table
from . import cell_life as lifetimes
from .as_of import Then, not_kept
from .cell_life import InLife, Lives
from .columns import merged

Dependency: TypeAlias = tuple[str, ...]
"""``("rows", table)`` or ``("series", owner, dataset)``, as the store names revisions."""


class Cancel(Protocol):
    """Cancels a request: a ``threading.Event`` will do."""

    def is_set(self) -> bool: ...


class Progress(Protocol):
    """Called with the progress of a plan: the step, its index, the number of steps, and what is being read."""

    def __call__(self, step: str, index: int, of: int, detail: str) -> None: ...


class Source(NamedTuple):
    """A source that a step reads: its id, its name, and what its series holds."""

    id: str
    name: str
    info: SeriesInfo


class Reader:
    """Reads for a plan. Whatever is read is counted in ``reads`` and noted in ``dependencies``."""

    def __init__(
        self, store: Store, scope: Scope, *, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> None:
        self.store = store
        self.scope = scope
        self.reads = {"steps": 0, "sources": 0}
        self.dependencies: set[Dependency] = set()
        self.lives = Lives(self)
        self.then = Then(store, scope)
        self._progress = progress
        self._cancel = cancel
        self._at = ("", 0, 0)
        self._revisions: dict[Dependency, int] = {}

    def begin(self, step: str, index: int, of: int) -> None:
        """A step begins."""
        self._at = (step, index, of)
        self.tell("")

    def tell(self, detail: str) -> None:
        """Say where the plan is, and stop if the request was cancelled."""
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled(f"The request was cancelled in step '{self._at[0]}'.")
        if self._progress is not None:
            self._progress(*self._at, detail)

    def rows(
        self, source: str, where: Mapping[str, JsonValue], fields: Sequence[str] | None, limit: int | None
    ) -> Listed:
        """Rows of records, as ``store.rows`` gives them."""
        tables = self.store.rows.dependencies(source, fields, where)
        self.dependencies.update(("rows", table) for table in tables)
        self.then.listed(source, where, limit, tables)
        return self.store.rows.plan_list(source, self.scope, where, None if fields is None else [*fields], limit)

    def sources(
        self, source: str, ids: Sequence[JsonValue], dataset: str, columns: Sequence[str] = ()
    ) -> list[Source]:
        """The records of ``ids`` with what their series holds, in that order; of measurements also those of
        ``columns`` that stand over the life of the cell.

        Raises
        ------
        Invalid
            At ``("ids",)``: an id that no record in reach has, or a record without that data.
        """
        record = SOURCES[source]
        fields = ["id", "name", *(field for field in (record.kind_field, record.status_field) if field)]
        wanted = [key for key in ids if isinstance(key, str)]
        table = self.rows(source, {"ids": [*wanted]}, fields, max(len(wanted), 1)).table if ids else Table({}, 0)
        records = {record["id"]: record for record in table.records()}
        unknown = [key for key in ids if not isinstance(key, str) or key not in records]
        if unknown:
            raise Invalid([_unknown(record, key) for key in unknown])
        self.dependencies.update(("series", key, dataset) for key in wanted)
        names = {key: str(records[key]["name"]) for key in wanted}
        try:
            infos = self.store.series.infos(wanted, dataset, scope=self.scope)
            self.then.sampled(names, dataset)
        except Replaced as error:
            raise not_kept(error, names) from None
        bare = [key for key in wanted if key not in infos]
        if bare:
            raise Invalid([_bare(record, records[key], dataset) for key in bare])
        if self.scope.as_of is None:
            self._revisions.update((("series", key, dataset), info.revision) for key, info in infos.items())
        if _has_life(record) and KINDS.keys() & set(columns):
            infos = self.lives.widened(infos, dataset, columns)
        return [Source(key, names[key], infos[key]) for key in wanted]

    def kinds_in_reach(self, source: str, dataset: str) -> dict[str, Kind]:
        """The columns of sampled data that any record in reach has, with their kinds."""
        ids = self.rows(source, {}, ["id"], None).table["id"].tolist()
        self.dependencies.add(("rows", "series"))  # the revision that rises with every series there is
        found: dict[str, list[Kind]] = {}
        for info in self.store.series.infos(ids, dataset, scope=self.scope).values():
            for name, kind in info.kinds.items():
                found.setdefault(name, []).append(kind)
        over_life = KINDS if _has_life(SOURCES[source]) and found else {}
        return {**over_life, **{name: merged(kinds) for name, kinds in found.items()}}

    def read_ahead(self, sources: Sequence[Source]) -> None:
        """Samples of these are read next."""
        if len(sources) > 1:
            self.store.objects.read_ahead([source.id for source in sources])

    def sample(
        self,
        owner: str,
        x: str,
        columns: Sequence[str],
        window: tuple[float | int | None, float | int | None] | None,
        most: int,
    ) -> Samples:
        """Samples of one source, at most ``most``."""
        self.reads["sources"] += 1
        if (life := self._life(owner, [x, *columns])) is not None:
            return life.sample(x, columns, window, most)
        return self.store.series.sample(owner, x, [*columns], window=window, most=most, scope=self.scope)

    def stretch(self, owner: str, x: str, columns: Sequence[str], rows: tuple[int, int], most: int) -> Samples:
        """Samples of one source with numbers from ``rows[0]`` to before ``rows[1]``, at most ``most``."""
        self.reads["sources"] += 1
        if (life := self._life(owner, [x, *columns])) is not None:
            return life.stretch(x, columns, rows, most)
        return self.store.series.sample_rows(owner, x, [*columns], rows, most, scope=self.scope)

    def _life(self, owner: str, names: Sequence[str]) -> InLife | None:
        """A series whose columns over life are asked for; None if none is."""
        info = self.store.series.info(owner, scope=self.scope) if KINDS.keys() & set(names) else None
        return None if info is None else self.lives.beside(info, names)

    def summaries(self, owners: Sequence[str], columns: Sequence[str], dataset: str) -> dict[str, Table]:
        """Whole summary tables, with those of ``columns`` that each has."""
        self.reads["sources"] += len(owners)
        tables = self.store.series.many([*owners], lifetimes.needed(columns, dataset), dataset, scope=self.scope)
        return self.lives.tables(tables, columns, dataset) if KINDS.keys() & set(columns) else tables

    def stacked(self, sources: Sequence[Source], columns: Sequence[str]) -> dict[str, Column]:
        """Columns of whole summary tables of sources, one below the other; none of them over the life of a cell."""
        self.reads["sources"] += len(sources)
        return self.store.series.stacked([source.info for source in sources], columns, scope=self.scope)

    def revisions(self) -> dict[Dependency, int]:
        """The present revision of everything read so far, in the snapshot in which it was read."""
        found = self._revisions | revisions(self.store, self.dependencies - self._revisions.keys())
        return {key: found[key] for key in sorted(self.dependencies)}


def revisions(store: Store, dependencies: Iterable[Dependency]) -> dict[Dependency, int]:
    """The present revision of each dependency; 0 where there is nothing."""
    wanted = list(dependencies)
    tables = [key[1] for key in wanted if key[0] == "rows"]
    series = [(key[1], key[2]) for key in wanted if key[0] == "series"]
    present = store.revisions(tables, series)
    return {key: int(present.get(key, 0)) for key in wanted}


def source_ids(ids: Sequence[JsonValue]) -> list[JsonValue]:
    """The distinct ids in the given order, without nulls. A boolean is not a number."""
    return [key for _, key in dict.fromkeys((isinstance(key, bool), key) for key in ids if key is not None)]


def _has_life(record: type[Record]) -> bool:
    """Whether records have cycles, so that they are a part of the life of a cell."""
    return "cycles" in record.samples


def _unknown(record: type[Record], key: JsonValue) -> Problem:
    shown = f"'{key}'" if isinstance(key, str) else show(key)
    return Problem(
        ("ids",),
        f"There is no {record.label} {shown} in reach. Take ids from a list step, or choose among its rows.",
        ctx={"id": key},
    )


def _bare(kind: type[Record], record: Mapping[str, JsonValue], dataset: str) -> Problem:
    given = record.get(kind.kind_field or "")
    of_kind = f" of type '{given}'" if given is not None else ""
    status = record.get(kind.status_field or "")
    state = f", and its status is '{status}'" if status is not None else ""
    data = "series" if dataset == "series" else f"'{dataset}' summary"
    return Problem(
        ("ids",),
        f"The {kind.label} '{record['name']}' ({record['id']}){of_kind} has no {data}{state}. Leave it out of 'ids'.",
        ctx={"id": record["id"]},
    )
