"""Steps, cycles and search by today's rules: what older rules made is made anew from the stored samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..cycling import columns as c
from ..cycling.cycles import cycles_of
from ..cycling.steps import StepsBuilder, with_counted
from ..cycling.steps_builder import READ
from ..errors import BadRequest, Damaged, ExecutorAway, NotFound, StoreError, WorkbenchError, instead
from ..fan_out import FanOut, own_task
from ..messages import counted
from ..readers.table.states import column_of_step_types
from ..records import Project, Record
from ..store import Scope, Store
from ..store.db.parallel import CORES
from ..store.reached import Reached
from ..store.records import search
from ..store.records.name_order import ENTRIES
from ..store.scope import EVERYTHING
from ..store.series import derived
from ..store.series.derived import Outdated
from ..table import Column, Table, concat
from .commit.cells_apart import set_apart, shared_cells
from .read.cycler_step_types import CyclerStepTypes

R = TypeVar("R", bound=Record)
_PIECE = 1 << 18
_READ = frozenset((*READ, c.STEP_COUNT, c.CYCLE_COUNT))
_ATTEMPTS = 5
Progress = Callable[[int, int, str], None]
"""Called with how many are done, of how many, and the name of the next."""


@dataclass(frozen=True)
class Recomputed:
    """What a `recompute` did, or with ``check`` would do: the measurements, those that failed with the reason, whether
    the search was built anew, and the ``cells`` that got a specification of their own."""

    measurements: list[Outdated] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    search: bool = False
    cells: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        if self.is_nothing:
            return "Nothing to recompute: today's rules made all steps and cycles."
        parts = [f"{counted(len(self.measurements), 'measurement')} of older rules", f"{len(self.failed)} failed"]
        parts += ["the search"] if self.search else []
        parts += [f"{counted(len(self.cells), 'cell')} with a specification of their own"] if self.cells else []
        return "\n".join(
            [f"Recomputed: {', '.join(parts)}.", *(f"  {n}: {why}" for n, why in self.failed.items())]
        )

    @property
    def is_nothing(self) -> bool:
        """Whether all was up to date."""
        return not (self.measurements or self.failed or self.search or self.cells)


def recompute(
    store: Store,
    ids: Sequence[str] | None = None,
    *,
    check: bool = False,
    jobs: int | None = None,
    fan_out: FanOut | None = None,
    progress: Progress | None = None,
) -> Recomputed:
    """Make steps and cycles by today's rules where older rules made them; without ``ids`` the search too. Cells that
    share the specification "Unspecified" of 0.1.0 get one each.

    Each measurement is brought up to date in one transaction of its own: stopped at any moment, the rest is as it was,
    and the next call goes on. Step tables that were given stay as they are.

    Parameters
    ----------
    ids : of the measurements that are looked at; None for all of the store.
    check : only say what would be done.
    jobs : how many measurements are computed at the same time; without it, one for each core or worker.
    fan_out : where they are computed; by default in threads. This process alone writes.
    """
    found = derived.outdated(store, ids)
    old_search = ids is None and derived.search_rule(store) < search.RULE
    shared = shared_cells(store, None if ids is None else frozenset(ids))
    cells = [cell.name for _, cell in shared]
    if check:
        return Recomputed(found, {}, old_search, cells)
    done: list[Outdated] = []
    failed: dict[str, str] = {}
    for place, (one, problem) in enumerate(_all_anew(store, found, jobs, fan_out or FanOut.threads(CORES))):
        if progress is not None:
            progress(place, len(found), one.name)
        if problem is None:
            done.append(one)
        else:
            failed[one.name] = problem
    store.series.tidy()
    for scope, cell in shared:
        set_apart(store, scope, cell)
    if old_search:
        with store.transaction() as db:
            search.rebuild(db)
            store.bump(db, ENTRIES)
            derived.keep_search_rule(db)
    if progress is not None:
        progress(len(found), len(found), "")
    return Recomputed(done, failed, old_search, cells)


def chosen(store: Store, scope: Scope, where: Mapping[str, Any] | None) -> list[str]:
    """The ids of the measurements in reach that fit the filters, which are those of a ``list`` step."""
    ids: list[str] = (
        store.rows.plan_list("measurements", scope, dict(where or {}), ["id"], None).table["id"].tolist()
    )
    return ids


def chosen_in(
    store: Store, project: str | None, organization: str | None, where: Mapping[str, Any]
) -> list[str] | None:
    """The ids of the measurements of a project, by name or id, or of all projects; None where nothing is said."""
    if project is None and organization is None and not where:
        return None
    owners = _named(store.rows.organizations(), organization, "organization")
    projects = {
        one.id: (one, Scope(owner.id, one.id))
        for owner in owners
        for one in store.rows.page(Project, Scope(owner.id, None), limit=None).items
    }
    wanted = [projects[one.id][1] for one in _named([one for one, _ in projects.values()], project, "project")]

    def listing(source: str, filters: Mapping[str, Any], fields: list[str], limit: int | None) -> Table:
        return concat(
            [store.rows.plan_list(source, scope, dict(filters), fields, limit).table for scope in wanted]
        )

    if where and wanted:
        require_some(where, listing)
    return list(dict.fromkeys(id for scope in wanted for id in chosen(store, scope, where)))


_LISTED = {
    "batch": ("batch_name", "batches"),
    "name": ("name", "tests"),
    "nameContains": ("name", "tests"),
    "measurementType": ("measurement_type", "types of tests"),
}
"""Filter of measurements -> the column of the values that it can have, and what these are called."""


def require_some(
    where: Mapping[str, Any], listing: Callable[[str, Mapping[str, Any], list[str], int | None], Table]
) -> None:
    """Refuse filters that no measurement fits: whoever wrote them has misspelt a value.

    ``listing`` gives fields of the records of a source that fit filters, as that of a backend does.

    Raises
    ------
    NotFound
        With the values that there are.
    """
    if listing("measurements", where, ["id"], 1).n:
        return
    for key, value in where.items():
        if listing("measurements", {key: value}, ["id"], 1).n:
            continue
        words = [str(one) for one in (value if isinstance(value, list) else [value])]
        said = f"There is no test with {key} " + " or ".join(f"'{word}'" for word in words) + "."
        if key not in _LISTED:
            raise NotFound(said)
        name, what = _LISTED[key]
        known = sorted(
            {one for one in listing("measurements", {}, [name], None)[name].tolist() if one is not None}
        )
        raise NotFound(f"{said} {instead(words[0], map(str, known), what)}")
    raise NotFound(f"There is no test with {' and '.join(where)} as given, though there are some with each alone.")


def _named(found: list[R], wanted: str | None, what: str) -> list[R]:
    """Those of this name or id, or all where none is wanted; NotFound if there is none."""
    named = [one for one in found if wanted in (None, one.id, one.name)]
    if not named and wanted is not None:
        names = [one.name for one in found]
        raise NotFound(f"There is no {what} '{wanted}'. {instead(wanted, names, f'{what}s')}")
    return named


def filters(words: Sequence[str]) -> dict[str, str | list[str]]:
    """Filters from words such as ``batch=A``; a key that is given more than once takes any of its values."""
    made: dict[str, list[str]] = {}
    for word in words:
        key, is_there, value = word.partition("=")
        if not is_there:
            raise BadRequest(f"'{word}' is not a filter. Write it as KEY=VALUE: batch=A.")
        made.setdefault(key, []).append(value)
    return {key: values if len(values) > 1 else values[0] for key, values in made.items()}


def _all_anew(
    store: Store, found: Sequence[Outdated], jobs: int | None, fan_out: FanOut
) -> Iterator[tuple[Outdated, str | None]]:
    """Each measurement once it is done, with what went wrong; computed where work fans out, written here."""
    reached = Reached(store)
    for one, made in fan_out.results(made_anew, found, lambda one: (reached, one), jobs=jobs):
        try:
            _publish(store, one, made())
        except NotFound:  # deleted meanwhile
            continue
        except (Damaged, WorkbenchError) as error:
            if isinstance(error, ExecutorAway | StoreError) and not isinstance(error, Damaged):
                raise
            yield one, str(error)
        else:
            yield one, None


@dataclass(frozen=True)
class _Made:
    """New tables of a measurement, and the revisions of what they were made from."""

    tables: dict[str, Table]
    keys: list[tuple[str, str]]
    revisions: dict[tuple[str, ...], int]


@own_task
def made_anew(reached: Reached, one: Outdated) -> _Made:
    """The tables of a measurement by today's rules."""
    return _made(reached.store, one)


def _made(store: Store, one: Outdated) -> _Made:
    """The steps and cycles of a measurement by today's rules; steps that are up to date or given stay."""
    with store.snapshot():
        keys = [(one.id, dataset) for dataset in ("series", "steps")]
        revisions = store.series.revisions(keys)
        if "steps" not in one.datasets:
            cycles = cycles_of(store.series.read(one.id, dataset="steps", scope=EVERYTHING))
            return _Made({"cycles": cycles}, keys, revisions)
        builder, words = StepsBuilder(owning=one.owning), CyclerStepTypes()
        for part in _samples(store, one.id):
            builder.feed(Table({name: part[name] for name in part if name in _READ}, part.n))
            words.feed(part)
        steps = builder.finish()
        if one.owning:
            steps = with_counted(
                steps, store.series.read(one.id, dataset="steps", scope=EVERYTHING), _counters(store, one.id)
            )
        steps = words.added_to(steps)
    return _Made({"steps": steps, "cycles": cycles_of(steps)}, keys, revisions)


def _counters(store: Store, id: str) -> list[str]:
    """The counters that the samples have."""
    info = store.series.info(id, scope=EVERYTHING)
    return [name for name in c.COUNTERS if info is not None and name in info.names]


def _samples(store: Store, id: str) -> Iterator[Table]:
    """The columns that steps are made of, piece by piece."""
    info = store.series.info(id, scope=EVERYTHING)  # who asks was checked when the tests were chosen
    if info is None:
        raise NotFound(f"The measurement '{id}' has no samples any more.")
    texts = Table({column.name: Column.text([]) for column in info.columns if column.kind == "text"}, 0)
    names = [name for name in info.names if name in _READ or name == column_of_step_types(texts)]
    for start in range(0, info.rows, _PIECE):
        yield store.series.read(id, names, (start, min(start + _PIECE, info.rows)), scope=EVERYTHING)


def _publish(store: Store, one: Outdated, made: _Made) -> None:
    """Put new tables in the place of the old ones; made once more where the measurement changed meanwhile."""
    rules = derived.rules()
    for _ in range(_ATTEMPTS):
        with store.transaction() as db:
            if store.series.revisions(made.keys) == made.revisions:
                for dataset, table in made.tables.items():
                    with store.series.writer(one.id, dataset, rule=rules[dataset]) as writer:
                        writer.add(table)
                        writer.publish(db)
                return
        made = _made(store, one)
    raise WorkbenchError(f"'{one.name}' changes all the time; run this again when it rests.")
