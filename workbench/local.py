"""`LocalBackend`: what a bench can do on a store that is open here. The server uses it too.

A figure takes these steps: check the recipe, decide choices and bind them, run the plan or take the dataset from the
cache, draw or take the figure from the cache.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from pydantic import JsonValue

from .backend import (
    DATASETS,
    Backend,
    Fields,
    FigureAnswer,
    SearchOptions,
    Span,
    Values,
    Where,
    drawable,
    only,
    without_rows,
)
from .errors import BadRequest, NotFound, Problem, StoreError, StoreNotice, instead
from .fan_out import FanOut
from .fan_out import Given as Executor
from .messages import counted
from .operations import Operation
from .operations.arguments import checked
from .operations.operation import Arguments, Detail
from .own_scripts import OwnScripts, own_scripts
from .quick_import import later
from .recipe.strict import Raw
from .records import Dashboard, Measurement, Organization, Plot, Project, Record, Specification
from .store.cache.cache import Cache, HitsOnly, NotCached
from .store.db.parallel import CORES
from .store.records import search as searches
from .store.records.alerts import Occurrence
from .store.records.constraints import refuse_kept
from .store.records.rows import LOCAL_USER
from .store.store import Scope, Store
from .table import Table

if TYPE_CHECKING:
    from . import typed_arrays
    from .alerts import looking as alerts_looking
    from .alerts import thread as alerts_thread
    from .alerts import webhooks
    from .analyses import marking
    from .analyses import run as analysing
    from .analyses.run import Analysed
    from .cycling import life, sign_check
    from .cycling import steps as cycling_steps
    from .engine import answer, complete_cycles, ratings, reader, zoom
    from .engine import check as engine_check
    from .engine import held_columns as held
    from .engine.reader import Cancel, Progress
    from .ingest import Growing, IngestOptions, Report
    from .ingest.options import FileProgress
    from .ingest.plan.paths import Paths
    from .ingest.recompute import Recomputed
    from .ingest.watch_folder import Watching
    from .recipe.plot import PlotConfig
    from .records import record_table
    from .store import Transaction
    from .store.objects import backup as store_backup
    from .transform.drawers import Drawer
else:  # to open a store and list its records needs no plan, script, analysis or alert
    alerts_looking = later("workbench.alerts.looking")
    alerts_thread = later("workbench.alerts.thread")
    webhooks = later("workbench.alerts.webhooks")
    marking = later("workbench.analyses.marking")
    analysing = later("workbench.analyses.run")
    life = later("workbench.cycling.life")
    sign_check = later("workbench.cycling.sign_check")
    cycling_steps = later("workbench.cycling.steps")
    answer = later("workbench.engine.answer")
    zoom = later("workbench.engine.zoom")
    engine_check = later("workbench.engine.check")
    complete_cycles = later("workbench.engine.complete_cycles")
    held = later("workbench.engine.held_columns")
    ratings = later("workbench.engine.ratings")
    typed_arrays = later("workbench.typed_arrays")
    store_backup = later("workbench.store.objects.backup")
    record_table = later("workbench.records.record_table")
    reader = later("workbench.engine.reader")

R = TypeVar("R", bound=Record)
Writing = Callable[..., AbstractContextManager["Transaction"]]
T = TypeVar("T")
_ROWS = 1 << 18


class LocalBackend(Backend):
    """What a bench can do on an open store, as one user. No method reaches records beyond its scope.

    ``protected`` says that every script runs in a locked process; without it only those that somebody else wrote.
    """

    def __init__(
        self,
        store: Store,
        cache: Cache,
        organization: Organization,
        project: Project | None,
        actor: str,
        *,
        scope: Scope | None = None,
        protected: bool = False,
        audited: Writing | None = None,
        own_scripts: OwnScripts | None = None,
        fan_out: FanOut | None = None,
    ) -> None:
        """``project`` is None for work on records that belong to no project; then ``scope`` says which can be reached.

        ``audited`` gives the transactions of operations, with their entry in the audit log of a server. ``own_scripts``
        is the record of the person at this machine; a server has none. ``fan_out``: where work over many tests runs, by
        default in threads.
        """
        self.store = store
        self.cache = cache
        self.organization = organization
        self._project = project
        self.actor = actor
        self.protected = protected
        self.own_scripts = own_scripts
        self.drawn_for = organization.id if protected else None
        self.scope = scope or Scope(organization.id, None if project is None else project.id)
        self._audited = audited
        self.fan_out = fan_out or FanOut.threads(CORES)
        self._heard: list[Occurrence] = []

    def carry_out(self, operation: Operation[..., T], arguments: Arguments) -> T:
        return operation.function(self, **checked(operation, self, arguments))

    @contextmanager
    def writing(self, target: str | None = None, **detail: Detail) -> Iterator[Transaction]:
        """One transaction for what an operation changes; on a server with its entry in the audit log."""
        with self.store.transaction() if self._audited is None else self._audited(target, **detail) as connection:
            yield connection

    @property
    def project(self) -> Project:
        if self._project is None:
            raise BadRequest("This needs a project. Name one with project=... (--project NAME).")
        return self._project

    @property
    def place(self) -> str:
        return Path(self.store.place).name

    @property
    def opening(self) -> str:
        return f"wb.open({self.store.place!r})"

    @classmethod
    def open(
        cls,
        path: str | Path,
        project: str | None = None,
        organization: str | None = None,
        *,
        create: bool = True,
        read_only: bool = False,
        executor: Executor = None,
    ) -> LocalBackend:
        """The backend of the store at ``path``, bound to the named project or to the only one.

        With ``read_only`` nothing in the store changes, not even its format.
        """
        fan_out = FanOut.of(executor, cores=CORES)
        store = Store.open(path, create=create, read_only=read_only)
        try:
            chosen = only(store.rows.organizations(), organization, "organization", "organizations")
            projects = store.rows.page(Project, Scope(chosen.id, None), limit=None).items
            bound = only(projects, project, "project", "projects")
            actor = store.rows.user(LOCAL_USER).id
            record = own_scripts()
            if not read_only:  # to list a store needs no such notice, and a figure is the same protected
                _say_untrusted(store, record)
            cache = Cache(f"{store.path}.cache")
            return cls(store, cache, chosen, bound, actor, own_scripts=record, fan_out=fan_out)
        except BaseException:  # also when the user interrupts: the file must not stay open
            store.close()
            raise

    def of_project(self, ref: str | Record) -> LocalBackend:
        """The same store and caches, bound to another project."""
        project = self.store.rows.find(Project, ref, Scope(self.organization.id, None))
        made = LocalBackend(
            self.store,
            self.cache,
            self.organization,
            project,
            self.actor,
            protected=self.protected,
            own_scripts=self.own_scripts,
            fan_out=self.fan_out,
        )
        return made if self.scope.as_of is None else made.as_of(self.scope.as_of)

    @property
    def moment(self) -> int | None:
        return self.scope.as_of

    def as_of(self, moment: int) -> LocalBackend:
        then = copy(self)
        then.scope = self.scope._replace(as_of=moment)
        return then

    def close(self) -> None:
        self.fan_out.close()
        self.cache.close()
        self.store.close()

    # Recipes

    def is_current(self, shown: FigureAnswer) -> bool:
        """Whether the store still has the data that a figure was drawn from; one query."""
        return shown.at_hand is None or shown.at_hand.is_current(self.store)

    def detail(
        self,
        config: Raw,
        values: Values,
        *,
        traces: Iterable[int],
        x: Span,
        y: Span | None = None,
        width: int = 1000,
        shown: FigureAnswer | None = None,
        cancel: Cancel | None = None,
        protected: bool | None = None,
        own: Drawer | None = None,
    ) -> dict[int, zoom.Detail]:
        checked = drawable(config, self._drawer(protected, own, config))
        with self.store.snapshot():  # figure, data and detail belong to one moment
            if shown is None or shown.at_hand is None or not self.is_current(shown):
                shown = self.figure(checked, values, cancel=cancel, protected=protected, own=own)
            if shown.at_hand is None:
                return {}
            return zoom.detail(
                typed_arrays.decode(shown.figure),
                shown.at_hand.dataset,
                checked,
                self.store,
                self.scope,
                traces=traces,
                x=x,
                y=y,
                width=width,
                cancel=cancel,
            )

    def answered(
        self,
        config: PlotConfig,
        values: Values,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> answer.Answered:
        found = answer.dataset(config, values, self.store, self.scope, self.cache, progress, cancel)
        return marking.marked(found, config, self.store, self.scope, self.cache)

    def against_store(self, config: PlotConfig, values: Values) -> list[Problem]:
        return engine_check.check_against_store(config, values, self.store, self.scope)

    def held_columns(self, ids: Sequence[str], dataset: str) -> Mapping[str, frozenset[str]]:
        """Record id -> the columns of its dataset that a plan can read; records without it are absent."""
        # Each recipe of a gallery asks for it, and the lives of all cells are read for it.
        datasets = held.together(dataset)
        found = self.store.kept_columns.get(
            (self.scope, datasets, tuple(ids)),
            self.store.catalogs.tables,
            lambda: held.held_columns(reader.Reader(self.store, self.scope), ids, datasets),
        )
        return found[dataset]

    def cached_figure(self, config: PlotConfig, values: Values) -> FigureAnswer | None:
        """The figure of a checked recipe if its data and its drawing are in the cache and fresh; else None."""
        looking = copy(self)
        looking.cache = HitsOnly(self.cache)
        try:
            found = looking.figure(config, values)
            return found if found.traced is not None and found.hinted is not None else None
        except NotCached:
            return None

    def live_choices(self, config: PlotConfig, values: Values) -> dict[str, list[dict[str, JsonValue]]]:
        return answer.live_choices(config, values, self.store, self.scope, self.cache)

    def units(self, sources: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for info in self.store.series.infos(sources, "series", scope=self.scope).values():
            for column in info.columns:
                if column.unit is not None:
                    found.setdefault(column.name, column.unit)
        return found

    # What there is

    def search(self, text: str, **options: Unpack[SearchOptions]) -> searches.Found:
        """The search of the interface, within the organization; the project restricts what belongs to one."""
        return searches.search(self.store, text, self.scope, **options)

    def ingest(
        self,
        paths: Paths,
        options: IngestOptions,
        *,
        growing: Growing | None = None,
        progress: FileProgress | None = None,
    ) -> Report:
        """Read cycler files or folders into the project, and analyse them if it asks for that."""
        from .ingest import ingest as ingest_files  # whoever reads no file should not wait for the readers

        report = ingest_files(
            self.store,
            self.scope,
            paths,
            options,
            growing=growing,
            progress=progress,
            actor=self.actor,
            fan_out=self.fan_out,
        )
        if report.stored and not report.dry_run and self.analysed_on_arrival():
            analysing.analyse(self.store, self.scope, self.actor, analysing.ARRIVAL_JOB, fan_out=self.fan_out)
        self._look_at_alerts()
        return report

    def watch(self, folder: str | Path, options: IngestOptions, **how: Unpack[Watching]) -> Iterator[Report]:
        """As for every backend; meanwhile a thread sends the webhooks of alerts."""
        self._look_at_alerts()  # what came in before somebody stopped the last watch
        alerts = alerts_thread.AlertThread(self.store, self.cache, self._heard.extend)
        alerts.start()
        try:
            yield from super().watch(folder, options, **how)
        finally:
            alerts.stop()
            webhooks.deliver(self.store)

    def _look_at_alerts(self) -> None:
        """Look at the alerts of the project after data came in. On a server its own thread does so."""
        if self._audited is None:
            stale = [one for one in self.store.alerts.stale() if one[1].project_id == self.scope.project_id]
            self._heard += alerts_looking.look(self.store, self.cache, stale)

    def heard(self) -> list[Occurrence]:
        """What alerts found since the last call, in this process."""
        found = list(self._heard)
        del self._heard[: len(found)]
        return found

    # Records

    def get(self, kind: type[R], ref: str | Record) -> R:
        return self.store.rows.find(kind, ref, self.scope)

    def create(self, kind: type[R], fields: Fields) -> R:
        refuse_kept(kind, fields)
        return self.store.rows.create(kind, fields, scope=self.scope, actor=self.actor)

    def update(self, kind: type[R], ref: str | Record, changes: Fields) -> R:
        record = self.get(kind, ref)
        refuse_kept(kind, changes)
        updated: R = self.store.rows.update(kind, record.id, changes, self.scope, self.actor)
        return updated

    def delete(self, kind: type[R], ref: str | Record) -> None:
        self.store.rows.delete(kind, self.get(kind, ref).id, self.scope)

    def count(self, kind: type[Record]) -> int:
        return self.store.rows.page(kind, self.scope, limit=1).total

    def listing(self, source: str, where: Where, fields: list[str] | None, limit: int | None) -> Table:
        """The rows of a plan source, as a ``list`` step gives them."""
        return self.store.rows.plan_list(source, self.scope, where, fields, limit).table

    def table(self, kind: type[Record], filters: Where, fields: list[str] | None, limit: int | None) -> Table:
        """The records of a kind that no plan lists: its flat fields, or those of ``fields``."""
        own = {"created_by": self.actor} if kind.private else {}
        where = {**record_table.named(filters), **own}
        items = self.store.rows.page(kind, self.scope, where=where, limit=limit).items
        return record_table.tabulated(kind, items, fields)

    # Sampled data

    def samples(self, record: Record, dataset: str, columns: list[str] | None = None) -> Table:
        with self.store.snapshot():
            if self.store.series.info(record.id, dataset, scope=self.scope) is None:
                status = getattr(record, "processing_status", None)
                hint = f" (its status is '{status}')" if status and status != "ready" else ""
                raise NotFound(f"The {record.label} '{record.name}' has no {DATASETS[dataset]}{hint}.")
            if dataset == "steps" and isinstance(record, Measurement):
                return self._selected(self.steps(record), columns)
            if dataset == "cycles" and isinstance(record, Measurement):
                return self._selected(self.cycles(record), columns)
            return self.sampled(record.id, dataset, columns)

    def sampled(
        self, owner: str, dataset: str, columns: list[str] | None = None, rows: tuple[int, int] | None = None
    ) -> Table:
        """The stored table of a record in scope, exact; ``rows``: from the first to before the second."""
        info = self.store.series.info(owner, dataset, scope=self.scope)
        there = [] if info is None else [column.name for column in info.columns]
        if unknown := [name for name in columns or [] if name not in there]:
            raise BadRequest(f"There is no column '{unknown[0]}'. {instead(unknown[0], there, 'columns')}")
        return self.store.series.read(owner, columns, rows, dataset=dataset, scope=self.scope)

    def _selected(self, table: Table, columns: list[str] | None) -> Table:
        """The chosen columns of a table, or all of it."""
        if unknown := [name for name in columns or [] if name not in table]:
            raise BadRequest(f"There is no column '{unknown[0]}'. {instead(unknown[0], table.names, 'columns')}")
        return table if columns is None else table.select(columns)

    def cycles(self, measurement: Measurement) -> Table:
        """The cycles of a measurement, with ``Complete`` by its present steps and ratings."""
        with self.store.snapshot():
            stored = {measurement.id: self.sampled(measurement.id, "cycles")}
            return complete_cycles.with_completeness(stored, reader.Reader(self.store, self.scope))[0][
                measurement.id
            ]

    def steps(self, measurement: Measurement) -> Table:
        """The steps of a measurement, with ``Step type`` by the present rated capacity."""
        with self.store.snapshot():
            stored = self.sampled(measurement.id, "steps")
            if cycling_steps.STEP_TYPE in stored:
                return stored
            rated = None
            if measurement.specification_id is not None:
                rated = ratings.rated_capacity(self.get(Specification, measurement.specification_id))
        return Table(
            cycling_steps.in_order(
                {**stored.columns, cycling_steps.STEP_TYPE: cycling_steps.step_types(stored, rated)}
            ),
            stored.n,
        )

    def over_life(self, measurement: Measurement, dataset: str) -> Table:
        with self.store.snapshot():
            table = self.samples(measurement, dataset)
            lives = reader.Reader(self.store, self.scope).lives
            return lives.tables({measurement.id: table}, list(life.KINDS), dataset)[measurement.id]

    def add_time_series(
        self, fields: Fields, samples: Table, steps: Table | None, sign: str | None = None
    ) -> Measurement:
        """A measurement from samples, which are checked as on ingest, with its steps and cycles."""
        refuse_kept(Measurement, fields)
        samples = sign_check.discharge_positive(samples, sign)
        settled = sign is not None
        from .ingest import register

        made = register(self.store, self.scope, fields, samples, steps=steps, settled=settled, actor=self.actor)
        self._look_at_alerts()
        return made

    def extend(self, measurement: str, samples: Table) -> Measurement:
        """Append samples to a running measurement; its steps and cycles are updated in the same transaction."""
        from .ingest import extend

        extended = extend(self.store, self.scope, measurement, samples, actor=self.actor)
        self._look_at_alerts()
        return extended

    def batches(self, measurement: Measurement) -> Iterator[Table]:
        info = self.store.series.info(measurement.id, scope=self.scope)
        for start in range(0, 0 if info is None else info.rows, _ROWS):
            yield self.store.series.read(measurement.id, None, (start, start + _ROWS), scope=self.scope)

    def export_measurement(self, measurement: Measurement, path: Path) -> list[Path]:
        with self.store.snapshot():
            return super().export_measurement(measurement, path)

    def create_with_tables(self, kind: type[R], fields: Fields, tables: Mapping[str, Table]) -> R:
        """A record with its tables, all or nothing: chunks are written first, then one transaction publishes them."""
        refuse_kept(kind, fields)
        if empty := next((name for name, table in tables.items() if not table.n), None):
            raise without_rows(empty)
        (id,) = self.store.rows.reserved_ids()
        with ExitStack() as stack:
            writers = [stack.enter_context(self.store.series.writer(id, dataset)) for dataset in tables]
            for writer, table in zip(writers, tables.values(), strict=True):
                writer.add(table)
            with self.store.transaction() as connection:
                rows = self.store.rows
                rows.create(kind, fields, scope=self.scope, actor=self.actor, id=id, connection=connection)
                for writer in writers:
                    writer.publish(connection)
        self.store.series.tidy()
        self._look_at_alerts()
        return self.store.rows.get(kind, id, self.scope)

    def assign(self, study: str | Record, kind: type[Record], ref: str | Record) -> None:
        self.store.rows.assign(self._study(study), kind, self.get(kind, ref).id, self.scope)

    def unassign(self, study: str | Record, kind: type[Record], ref: str | Record) -> None:
        self.store.rows.unassign(self._study(study), kind, self.get(kind, ref).id, self.scope)

    def _study(self, ref: str | Record) -> str:
        found: str = self.store.rows.find("studies", ref, self.scope).id
        return found

    # Dashboards and plots

    def save_plot(
        self, board: Dashboard, name: str, config: PlotConfig, origin: str = "save", *, since: int | None = None
    ) -> Plot:
        self.check_script(config)
        plots = self.store.plots
        return plots.save(board.id, name, config.dump(), self.scope, self.actor, origin=origin, since=since)

    def plots(self, board: Dashboard) -> list[Plot]:
        self.store.rows.get(Dashboard, board.id, self.scope)
        return self.store.rows.page(Plot, self.scope, where={"dashboard_id": board.id}, limit=None).items

    # The store as a whole

    def backup(self, destination: str | Path) -> None:
        store_backup.backup(self.store, Path(destination))

    def analyse(
        self,
        type: str,
        where: Where | None = None,
        parameters: Fields | None = None,
        *,
        check: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
        cancel: Cancel | None = None,
    ) -> Analysed:
        from .ingest.recompute import chosen

        ids = None if where is None else chosen(self.store, self.scope, where)
        return analysing.analyse(
            self.store,
            self.scope,
            self.actor,
            type,
            ids,
            parameters,
            check=check,
            fan_out=self.fan_out,
            progress=progress,
            cancel=cancel,
            cache=self.cache,
        )

    def recompute(
        self,
        where: Where | None = None,
        *,
        check: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Recomputed:
        from .ingest.recompute import chosen, recompute

        ids = chosen(self.store, self.scope, where)
        return recompute(self.store, ids, check=check, fan_out=self.fan_out, progress=progress)

    def sound(self, config: Mapping[str, Any]) -> list[Problem]:
        """Everything wrong with a recipe at its defaults."""
        return self.check(config, {})


def _say_untrusted(store: Store, record: OwnScripts) -> None:
    """Say once for each store that it holds scripts which are not this user's own, and how to trust them."""
    try:
        scripts = store.plots.scripts()
        untrusted = sum(not record.has(script) for script in scripts)
        if not scripts or not record.is_first_look(store.place_id()) or not untrusted:
            return
    except StoreError:
        return  # what is damaged is named where it is used; to say this can wait
    warnings.warn(
        f"{counted(untrusted, 'script')} of saved plots in '{store.place}' did not come from you on this machine. They "
        "run protected: no files, no network. If you made this store, or trust all who wrote in it, run once: "
        f"workbench trust --all --store {shlex.quote(store.place)}",
        StoreNotice,
        stacklevel=4,
    )
