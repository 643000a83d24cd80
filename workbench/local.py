"""The workbench on a store: the functions behind both the notebook and the server.

One figure request end to end: check the recipe, settle choices and bind, run the plan (or take the dataset from
the cache), draw (or take the figure from the cache). Nothing here knows frames or widgets.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from .cycling.life import KINDS
from .cycling.signs import turned
from .cycling.steps import STEP_TYPE, in_order, step_types
from .dataset import Dataset
from .engine import answer, choices, keys, zoom
from .engine.check import check_against_store
from .engine.ratings import in_ampere_hours
from .engine.reader import Cancel, Progress, Reader
from .errors import BadRequest, Cancelled, Invalid, Problem, instead
from .ingest import Growing, Report, extend, register
from .ingest import ingest as ingest_files
from .ingest import watch as watch_folder
from .lint import Lint, lint
from .recipe.check import sound
from .recipe.parse import parse
from .recipe.plot import PlotConfig
from .recipe.values import effective, read_cli_values
from .records import (
    Dashboard,
    Instance,
    Measurement,
    Organization,
    Plot,
    Project,
    Record,
    Revision,
    Specification,
)
from .records.catalog import Catalog
from .store import catalog as catalogs
from .store import outgoing
from .store import search as searches
from .store.cache import Cache
from .store.rows import LOCAL_USER, new_id
from .store.store import Scope, Store
from .table import Column, Kind, Table
from .transform.drawers import Drawer, drawer
from .transform.keys import check_keys
from .transform.script import check_script
from .typed_arrays import decode

R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class FigureAnswer:
    """A drawn recipe: ``figure`` is its JSON as bytes; the rest as in the interface's figure answer.

    ``at_hand`` is the dataset it was drawn from, for those who draw it again.
    """

    figure: bytes
    values: dict[str, Any]
    options: dict[str, list[dict[str, Any]]]
    warnings: list[dict[str, Any]]
    cache: dict[str, str]
    reads: dict[str, int]
    timings: dict[str, float] = field(default_factory=dict)
    log: str = ""
    at_hand: answer.Answered | None = field(default=None, repr=False, compare=False)

    @cached_property
    def lint(self) -> list[Lint]:
        """What is odd about the figure, told from its traces and its data; looked for when first asked."""
        return lint(self.figure, None if self.at_hand is None else self.at_hand.dataset)


class LocalWorkbench:
    """What can be done on a store within one scope, by one user. Every method sees its scope and nothing beyond.

    ``protected`` says that every script runs locked in; without it those alone that somebody else wrote.
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
    ) -> None:
        """``project`` is None, and ``scope`` says what is in reach, for work on records that belong to none."""
        self.store = store
        self.cache = cache
        self.organization = organization
        self._project = project
        self.actor = actor
        self.protected = protected
        self.scope = scope or Scope(organization.id, None if project is None else project.id)

    @property
    def project(self) -> Project:
        if self._project is None:
            raise BadRequest("This is about one project; name it.")
        return self._project

    @classmethod
    def open(
        cls, path: str | Path, project: str | None = None, organization: str | None = None, *, create: bool = True
    ) -> LocalWorkbench:
        """The workbench on the store at ``path``, bound to the project named or the only one there is."""
        store = Store.open(path, create=create)
        try:
            chosen = _only(store.rows.organizations(), organization, "organization", "organizations")
            projects = store.rows.page(Project, Scope(chosen.id, None), limit=None).items
            bound = _only(projects, project, "project", "projects")
            return cls(store, Cache(f"{store.path}.cache"), chosen, bound, store.rows.user(LOCAL_USER).id)
        except BaseException:
            store.close()
            raise

    def of_project(self, ref: str | Record) -> LocalWorkbench:
        """The same store and caches, bound to another project."""
        project = self.store.rows.find(Project, ref, Scope(self.organization.id, None))
        return LocalWorkbench(
            self.store, self.cache, self.organization, project, self.actor, protected=self.protected
        )

    def close(self) -> None:
        self.cache.close()
        self.store.close()

    # Recipes

    def check(self, config: Any, values: Mapping[str, Any]) -> list[Problem]:
        """Everything wrong with a recipe: its shape, its script, and what it asks of this store.

        A recipe of a plan alone, without a script, is checked as ``dataset`` takes it.
        """
        script = config.transform if isinstance(config, PlotConfig) else _member(config, "transform")
        told = (
            self._drawer().check(script) or check_keys(script, *_names(config))
            if isinstance(script, str) and script
            else []
        )
        try:
            checked = config if isinstance(config, PlotConfig) else sound(config, transform=script is not None)
        except Invalid as error:
            return [*self._causes(config, values, error.problems, script is not None), *error.problems, *told]
        return [*check_against_store(checked, values, self.store, self.scope), *told]

    def _causes(
        self, config: Any, values: Mapping[str, Any], found: list[Problem], transform: bool
    ) -> list[Problem]:
        """What the store says of a recipe in which only columns are unknown: which of two spellings it knows."""
        if any(problem.type != "unknown_column" for problem in found):
            return []
        places = {problem.loc for problem in found}
        told = check_against_store(parse(config, transform=transform), values, self.store, self.scope)
        return [problem for problem in told if problem.loc not in places]

    def read_values(self, config: Any, words: Iterable[str]) -> dict[str, Any]:
        """Param values from the words of a command line, read by the choices there are now.

        Raises
        ------
        BadRequest
            If a word is neither ``name=text`` nor ``name:=JSON``.
        Invalid
            For every unknown param and every text that cannot be read.
        """
        checked = config if isinstance(config, PlotConfig) else sound(config, transform=False)
        given = list(words)
        named = {word.partition("=")[0].rstrip(":") for word in given}
        options: dict[str, list[dict[str, Any]]] = {}
        known: list[str] = []
        for name in choices.order(checked):
            if name not in named:
                continue
            if choices.options_from(checked.params[name]) is not None:
                so_far = read_cli_values(checked, known, options)
                options |= answer.live_choices(checked, so_far, self.store, self.scope, self.cache)
            known += [word for word in given if word.partition("=")[0].rstrip(":") == name]
        return read_cli_values(checked, given, options)

    def dataset(
        self,
        config: Any,
        values: Mapping[str, Any],
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Dataset:
        """The data of a recipe; ``transform`` may be missing and is not looked at."""
        checked = config if isinstance(config, PlotConfig) else sound(config, transform=False)
        return self._answered(checked, values, progress, cancel).dataset

    def figure(
        self,
        config: Any,
        values: Mapping[str, Any],
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        *,
        protected: bool | None = None,
    ) -> FigureAnswer:
        """The figure of a recipe: no step runs and no source is read where the dataset is in the cache and fresh.

        ``protected`` runs its script locked in; None as this workbench does.
        """
        started = time.perf_counter()
        draws = self._drawer(protected)
        checked = _drawable(config, draws)
        checked_at = time.perf_counter()
        answered = self._answered(checked, values, progress, cancel)
        timings = {"check": _ms(started, checked_at), **answered.timings}
        return self._drawn(checked, answered, draws, timings, cancel)

    def redraw(
        self,
        config: Any,
        values: Mapping[str, Any],
        shown: FigureAnswer,
        cancel: Cancel | None = None,
        *,
        protected: bool | None = None,
    ) -> FigureAnswer:
        """A shown figure with other ``view`` values, from the data at hand: nothing is read, not even a revision.

        Raises
        ------
        Invalid
            For values that their controls refuse.
        """
        draws = self._drawer(protected)
        checked = _drawable(config, draws)
        if shown.at_hand is None:
            return self.figure(checked, values, cancel=cancel, protected=protected)
        taken = {**shown.at_hand.values, **effective(checked, values)}
        again = replace(
            shown.at_hand, values=taken, cache={"dataset": "hit"}, reads={"steps": 0, "sources": 0}, timings={}
        )
        return self._drawn(checked, again, draws, {}, cancel)

    def is_current(self, shown: FigureAnswer) -> bool:
        """Whether the store still holds what a figure was drawn from; one query."""
        return shown.at_hand is None or shown.at_hand.is_current(self.store)

    def detail(
        self,
        config: Any,
        values: Mapping[str, Any],
        *,
        traces: Iterable[int],
        x: Sequence[Any],
        y: Sequence[Any] | None = None,
        width: int = 1000,
        shown: FigureAnswer | None = None,
        cancel: Cancel | None = None,
        protected: bool | None = None,
    ) -> dict[int, zoom.Detail]:
        """Finer detail of some traces of a figure, for the visible part of it.

        Parameters
        ----------
        traces : numbers of traces; those without finer detail are absent from the answer.
        x, y : the visible range of each axis in its own units; y None: all of it.
        width : pixels of the plot; two samples a pixel are read.
        shown : the figure as it is on the screen, if the caller has it; it is asked for else.

        Raises
        ------
        Invalid
            As ``figure``.
        """
        checked = _drawable(config, self._drawer(protected))
        with self.store.snapshot():  # figure, data and detail are of one moment
            if shown is None or shown.at_hand is None or not self.is_current(shown):
                shown = self.figure(checked, values, cancel=cancel, protected=protected)
            if shown.at_hand is None:
                return {}
            return zoom.detail(
                decode(shown.figure),
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

    def _drawn(
        self,
        config: PlotConfig,
        answered: answer.Answered,
        draws: Drawer,
        timings: dict[str, float],
        cancel: Cancel | None,
    ) -> FigureAnswer:
        started = time.perf_counter()
        key = keys.figure_key(answered.content, config.transform, answered.values)

        def make() -> tuple[bytes, dict[str, Any]]:
            drawn = draws.draw(
                config.transform,
                answered.packed,
                answered.values,
                content=answered.content,
                organization=self.scope.organization_id if self.protected else None,
                cancelled=None if cancel is None else cancel.is_set,
            )
            return drawn.figure, {"log": drawn.log, "looked_at": draws.locked}

        def good(meta: Mapping[str, Any]) -> bool:
            return bool(meta.get("looked_at")) or not draws.locked

        def waiting() -> None:
            if cancel is not None and cancel.is_set():
                raise Cancelled("The request was withdrawn while another one drew its figure.")

        found = self.cache.get_or_make("figure", key, make, good, waiting)
        return FigureAnswer(
            figure=found.data,
            values=answered.values,
            options=answered.options,
            warnings=[warning.as_dict() for warning in answered.warnings],
            cache={**answered.cache, "figure": "hit" if found.hit else "miss"},
            reads=answered.reads,
            timings={**timings, "draw": _ms(started, time.perf_counter())},
            log=found.meta.get("log", ""),
            at_hand=answered,
        )

    def _drawer(self, protected: bool | None = None) -> Drawer:
        """Who draws: the one place that chooses."""
        return drawer(self.protected if protected is None else protected)

    def _answered(
        self, config: PlotConfig, values: Mapping[str, Any], progress: Progress | None, cancel: Cancel | None
    ) -> answer.Answered:
        return answer.dataset(config, values, self.store, self.scope, self.cache, progress, cancel)

    # What there is

    def catalog(self) -> Catalog:
        """Sources, columns, units and counts in reach."""
        return catalogs.catalog(self.store, self.scope)

    def search(self, text: str, **options: Any) -> searches.Found:
        """The search of the interface, within the organization; the project restricts what belongs to one."""
        return searches.search(self.store, text, self.scope, **options)

    def ingest(self, paths: str | Path | Iterable[str | Path], **options: Any) -> Report:
        """Read cycler files or folders into the project."""
        return ingest_files(self.store, self.scope, paths, actor=self.actor, **options)

    def watch(self, folder: str | Path, **options: Any) -> Iterator[Report]:
        """Take in what appears or grows in a folder; ``options`` are those of `watch_folder` and of `ingest`."""
        own = {name: options.pop(name) for name in ("every", "settle", "once", "stopped") if name in options}
        sheet = options.get("sheet")

        def take(files: list[Path], growing: Growing) -> Report:
            return self.ingest(files, growing=growing, **options)

        return watch_folder(folder, take, also=Path(sheet) if isinstance(sheet, str | Path) else None, **own)

    # Records

    def get(self, kind: type[R], ref: str | Record) -> R:
        return self.store.rows.find(kind, ref, self.scope)

    def create(self, kind: type[R], fields: Mapping[str, Any]) -> R:
        return self.store.rows.create(kind, fields, scope=self.scope, actor=self.actor)

    def update(self, kind: type[R], ref: str | Record, changes: Mapping[str, Any]) -> R:
        record = self.get(kind, ref)
        updated: R = self.store.rows.update(kind, record.id, changes, self.scope, self.actor)
        return updated

    def delete(self, kind: type[R], ref: str | Record) -> dict[str, int]:
        return self.store.rows.delete(kind, self.get(kind, ref).id, self.scope)

    def count(self, kind: type[Record]) -> int:
        return self.store.rows.page(kind, self.scope, limit=1).total

    def listing(self, source: str, where: Mapping[str, Any], fields: list[str] | None, limit: int | None) -> Table:
        """The rows of a plan source, as a ``list`` step gives them."""
        return self.store.rows.plan_list(source, self.scope, where, fields, limit).table

    def table(
        self, kind: type[Record], filters: Mapping[str, Any], fields: list[str] | None, limit: int | None
    ) -> Table:
        """The records of a kind that no plan lists: its flat fields, or those of ``fields``."""
        where: dict[str, Any] = {}
        if "name" in filters:
            where["name"] = filters["name"]
        if "name_contains" in filters:
            where["name"] = {"contains": filters["name_contains"]}
        items = self.store.rows.page(kind, self.scope, where=where, limit=limit).items
        members = kind.members()
        flat = [name for name, member in members.items() if member.storage != "json" and not member.aside]
        chosen = flat if fields is None else fields
        if unknown := [name for name in chosen if name not in members]:
            raise BadRequest(f"'{unknown[0]}' is no field of {kind.table}; its fields are {', '.join(members)}.")
        return Table(
            {name: _column([getattr(i, name) for i in items], members[name].kind) for name in chosen}, len(items)
        )

    # Sampled data

    def sampled(self, owner: str, dataset: str, columns: list[str] | None = None) -> Table:
        """The stored table of a record in reach, exact."""
        info = self.store.series.info(owner, dataset)
        there = [] if info is None else [column.name for column in info.columns]
        if unknown := [name for name in columns or [] if name not in there]:
            raise BadRequest(f"There is no column '{unknown[0]}'. {instead(unknown[0], there, 'columns')}")
        return self.store.series.read(owner, columns, dataset=dataset)

    def steps(self, measurement: Measurement) -> Table:
        """The steps summary, with ``Step type`` by the present rated capacity."""
        with self.store.snapshot():
            stored = self.sampled(measurement.id, "steps")
            if STEP_TYPE in stored:
                return stored
            rated = None
            if measurement.specification_id is not None:
                capacity = self.get(Specification, measurement.specification_id).ratings.capacity
                rated = in_ampere_hours(capacity.value, capacity.unit)
        return Table(in_order({**stored.columns, STEP_TYPE: step_types(stored, rated)}), stored.n)

    def over_life(self, measurement: Measurement, dataset: str) -> Table:
        """A summary of a measurement with the columns over the life of its cell, as far as they are known."""
        with self.store.snapshot():
            table = self.steps(measurement) if dataset == "steps" else self.sampled(measurement.id, dataset)
            lives = Reader(self.store, self.scope).lives
            return lives.tables({measurement.id: table}, list(KINDS), dataset)[measurement.id]

    def add_time_series(
        self, fields: Mapping[str, Any], samples: Table, steps: Table | None, sign: str | None = None
    ) -> Measurement:
        """A measurement from samples that passed the checks at the door, with its steps and cycles."""
        if sign not in (None, "charge", "discharge"):
            raise BadRequest(f"sign is what a positive current means, 'charge' or 'discharge', not {sign!r}.")
        if sign == "charge":
            samples = turned(samples)
        settled = sign is not None
        return register(self.store, self.scope, fields, samples, steps=steps, settled=settled, actor=self.actor)

    def extend(self, measurement: str, samples: Table) -> Measurement:
        """More samples of a running measurement; its steps and cycles follow in the same transaction."""
        return extend(self.store, self.scope, measurement, samples, actor=self.actor)

    def measurement(self, ref: str, cell: str | None = None) -> Measurement:
        """The measurement of a name or id, of this cell if one is named."""
        where = {} if cell is None else {"instance_id": self.get(Instance, cell).id}
        return self.store.rows.find(Measurement, ref, self.scope, where=where)

    def export_measurement(self, measurement: Measurement, path: Path) -> list[Path]:
        """Write the samples of a measurement with all that is known of it; answers the files that were written."""
        return outgoing.export(self.store, self.scope, measurement, path)

    def create_with_tables(self, kind: type[R], fields: Mapping[str, Any], tables: Mapping[str, Table]) -> R:
        """A record with its tables, all or nothing: chunks first, then one transaction that publishes them."""
        with self.store.transaction() as connection:
            id = new_id(self.store.clock(connection))
        with ExitStack() as stack:
            writers = [stack.enter_context(self.store.series.writer(id, dataset)) for dataset in tables]
            for writer, table in zip(writers, tables.values(), strict=True):
                writer.add(table)
            with self.store.transaction() as connection:
                rows = self.store.rows
                rows.create(kind, fields, scope=self.scope, actor=self.actor, id=id, connection=connection)
                for writer in writers:
                    writer.publish(connection)
        return self.store.rows.get(kind, id, self.scope)

    def assign(self, study: str | Record, kind: type[Record], ref: str | Record) -> None:
        self.store.rows.assign(self._study(study), kind, self.get(kind, ref).id, self.scope)

    def unassign(self, study: str | Record, kind: type[Record], ref: str | Record) -> None:
        self.store.rows.unassign(self._study(study), kind, self.get(kind, ref).id, self.scope)

    def _study(self, ref: str | Record) -> str:
        found: str = self.store.rows.find("studies", ref, self.scope).id
        return found

    # Dashboards and plots

    def save_plot(self, board: Dashboard, name: str, config: PlotConfig, origin: str = "save") -> Plot:
        """Save a recipe on a dashboard: a new plot, or the next revision of the one of that name."""
        if problems := self._drawer().check(config.transform):
            raise Invalid(problems)
        return self.store.plots.save(board.id, name, config.dump(), self.scope, self.actor, origin=origin)

    def plots(self, board: Dashboard) -> list[Plot]:
        return self.store.rows.page(Plot, self.scope, where={"dashboard_id": board.id}, limit=None).items

    def plot(self, board: Dashboard, ref: str | Record) -> Plot:
        return self.store.rows.find(Plot, ref, self.scope, where={"dashboard_id": board.id})

    def history(self, plot: Plot) -> list[Revision]:
        return self.store.plots.history(plot.id, self.scope)

    def revision(self, plot: Plot, number: int) -> Revision:
        return self.store.plots.revision(plot.id, number, self.scope)

    def restore(self, plot: Plot, number: int) -> Plot:
        return self.store.plots.restore(plot.id, number, self.scope, self.actor)

    def is_own(self, plot: Plot, number: int | None = None) -> bool:
        """Whether the user of this workbench wrote the script of a plot (its newest revision, or that of a number).

        Whose it is, is whoever first saved it in these words: to restore, rename or change other parts of somebody
        else's plot does not make its script one's own, and one that did not come by saving is a model's.
        """
        history = self.history(plot)
        wanted = plot.revision if number is None else number
        script = next(one.config.get("transform") for one in history if one.revision == wanted)
        first = next(one for one in history if one.config.get("transform") == script)
        return first.origin == "save" and first.created_by == self.actor


def _drawable(config: Any, draws: Drawer) -> PlotConfig:
    """The checked recipe, its script too: but a locked process checks that itself, since what crashes Python's parser
    is to crash that one."""
    checked = config if isinstance(config, PlotConfig) else sound(config)
    if not draws.locked and (problems := check_script(checked.transform)):
        raise Invalid(problems)
    return checked


def _only(found: list[R], wanted: str | None, what: str, several: str) -> R:
    """The one that is wanted by id or name, or the only one there is."""
    if wanted is None and len(found) == 1:
        return found[0]
    names = ", ".join(f"'{record.name}'" for record in found)
    if wanted is None:
        raise BadRequest(
            f"There are {len(found)} {several} here: {names}. Say which with {what}=... (--{what} NAME)."
        )
    for record in found:
        if wanted in (record.id, record.name):
            return record
    raise BadRequest(f"There is no {what} '{wanted}'. The {several} are {names}.")


def _member(config: Any, name: str) -> Any:
    return config.get(name) if isinstance(config, Mapping) else None


def _names(config: Any) -> tuple[list[str] | None, list[str] | None]:
    """The names of a recipe's steps and params, as far as they can be read."""
    if isinstance(config, PlotConfig):
        return list(config.plan.steps), list(config.params)
    steps, params = _member(_member(config, "plan"), "steps"), _member(config, "params")
    given = [] if params is None else params
    return tuple(list(one) if isinstance(one, Mapping) else None for one in (steps, given))  # type: ignore[return-value]


def _column(values: list[Any], kind: Kind) -> Column:
    """A column of this kind; what is no scalar (a date) as its text."""
    if kind == "text":
        return Column.text([None if value is None else str(value) for value in values])
    return Column.from_python(values, kind)


def _ms(start: float, end: float) -> float:
    return round((end - start) * 1000, 3)
