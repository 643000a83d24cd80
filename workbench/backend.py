"""What a bench can do with a store, whether the store is open here or on a server.

A bench, its collections, boards and views use `Backend` and nothing behind it. `Backend` does what is the same in
both cases: drawing, checking a script, reading values from a command line, looking at steps. `local.LocalBackend`
does the rest on an open store, and `remote.RemoteBackend` asks a server for it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, Unpack

from pydantic import JsonValue

from .dataset import Dataset
from .drawing import Drawing, FigureAnswer, Values, drawable, script_in
from .errors import BadRequest, FileRefused, Invalid, NotFound, Problem, instead, listed
from .messages import option_name, place
from .operations.operation import pages, rows_of
from .quick_import import later
from .recipe.strict import Raw
from .records import Dashboard, Instance, Measurement, Message, Plot, Record, Revision, Session
from .records.values import is_same_name
from .store.records.alerts import Occurrence
from .table import Table

if TYPE_CHECKING:
    from . import measurement_export as outgoing
    from .analyses.run import Analysed
    from .authoring import AuthoringContext
    from .engine import choices, zoom
    from .engine import look as looking
    from .engine.reader import Cancel, Progress
    from .ingest import Growing, IngestOptions, Report
    from .ingest.options import FileProgress
    from .ingest.plan.paths import Paths
    from .ingest.recompute import Recomputed
    from .ingest.watch_folder import Watching
    from .recipe import check as recipe_check
    from .recipe import cli_values, sentence
    from .recipe import parse as recipe_parse
    from .recipe import plot as recipe_plot
    from .recipe.plot import PlotConfig
    from .store.records.search import Found
    from .transform.drawers import Drawer
    from .transform.used_names import Names
else:  # to open a store and list its records needs no plan, script or export
    outgoing = later("workbench.measurement_export")
    choices = later("workbench.engine.choices")
    looking = later("workbench.engine.look")
    cli_values = later("workbench.recipe.cli_values")
    sentence = later("workbench.recipe.sentence")
    recipe_check = later("workbench.recipe.check")
    recipe_parse = later("workbench.recipe.parse")
    recipe_plot = later("workbench.recipe.plot")

__all__ = [
    "DATASETS",
    "Backend",
    "Fields",
    "FigureAnswer",
    "Ref",
    "SearchOptions",
    "Span",
    "Values",
    "Where",
    "drawable",
    "only",
    "without_rows",
]

R = TypeVar("R", bound=Record)
Ref = str | Record
Fields: TypeAlias = Mapping[str, Any]
"""Values of a record's fields by name. Its class checks them, so they may be anything."""
Where = Mapping[str, Raw]
"""Filters of a list, as a ``list`` step of a plan has them."""
Span = Sequence[JsonValue] | Sequence[datetime]
"""The visible range of an axis: two numbers or two times."""
DATASETS = {"series": "sampled data", "steps": "steps", "cycles": "cycles"}
"""The tables that a record may have, and what people call them."""


def without_rows(dataset: str) -> FileRefused:
    """The error of a table of a record that has no rows, in the same words on a store and on a server."""
    return FileRefused(f"The {DATASETS[dataset]} that came with the record have no rows. Leave them out.")


class SearchOptions(TypedDict, total=False):
    """How much a search gives, and of which kinds; see ``store.records.search.search``."""

    limit: int
    offset: int
    per_type: int
    entity_types: Iterable[str] | None


class Backend(Drawing):
    """What a bench can do with a store, as one user and within one scope."""

    @property
    @abstractmethod
    def place(self) -> str:
        """Where the store is: its file name, or the address of its server."""

    @property
    @abstractmethod
    def opening(self) -> str:
        """The Python expression that opens a bench on the same store and project."""

    @property
    @abstractmethod
    def moment(self) -> int | None:
        """The time as of which data are shown, in microseconds since 1970; None: as they are now."""

    @abstractmethod
    def of_project(self, ref: Ref) -> Backend:
        """The same store and caches, bound to another project."""

    @abstractmethod
    def as_of(self, moment: int) -> Backend:
        """The same store, whose data are shown as they were at a time (microseconds since 1970 by its clock).

        Each series has the samples that it had then, with the steps and cycles that follow from them; records that
        plans list and that were made later are hidden. What is shown of a record that somebody changed since is what is
        known today, with the warning ``changed_since``. Recipes and dashboards are those of today.
        """

    @abstractmethod
    def close(self) -> None:
        """Close the store or the connections."""

    # Recipes

    @abstractmethod
    def against_store(self, config: PlotConfig, values: Values) -> list[Problem]:
        """What a parsed recipe needs and the store does not have; no samples are read."""

    @abstractmethod
    def live_choices(self, config: PlotConfig, values: Values) -> dict[str, list[dict[str, JsonValue]]]:
        """The present choices of each param that takes them from a step, for the given values."""

    @abstractmethod
    def units(self, sources: Sequence[str]) -> dict[str, str]:
        """The unit of each stored column of these records, by column name."""

    @abstractmethod
    def is_current(self, shown: FigureAnswer) -> bool:
        """Whether the store still has the data that a figure was drawn from."""

    @abstractmethod
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
        """More samples of some traces of a figure, for its visible part.

        Parameters
        ----------
        traces : numbers of traces; those without finer detail are absent from the answer.
        x, y : the visible range of each axis in its own units; y None: all of it.
        width : pixels of the plot; two samples a pixel are read.
        shown : the figure on the screen; without it, or if the data have changed, the figure is drawn first.
        protected, own : who draws it then, as for ``figure``.

        Raises
        ------
        Invalid
            As ``figure``.
        """

    def check(self, config: Raw, values: Values, *, protected: bool | None = None) -> list[Problem]:
        """Everything wrong with a recipe: its shape, its script, and what it needs of this store.

        A recipe without a script is checked as ``dataset`` takes it. ``protected`` reads its script in a locked
        process; by default that is done where every script is protected.
        """
        script = config.transform if isinstance(config, recipe_plot.PlotConfig) else _member(config, "transform")
        of_script = self.script_problems(config, protected=protected)
        try:
            checked = (
                config
                if isinstance(config, recipe_plot.PlotConfig)
                else recipe_check.sound(config, transform=script is not None)
            )
        except Invalid as error:
            return [*self._causes(config, values, error.problems, script is not None), *error.problems, *of_script]
        return [*self.against_store(checked, values), *of_script]

    def script_problems(self, config: Raw, *, protected: bool | None = None) -> list[Problem]:
        """Everything wrong with the script of a recipe, also names of steps and params that the recipe does not have;
        ``protected`` as for ``check``."""
        script = config.transform if isinstance(config, recipe_plot.PlotConfig) else _member(config, "transform")
        if not isinstance(script, str) or not script:
            return []
        return self._drawer(protected).check(script, _names(config), organization=self.drawn_for)

    def _causes(self, config: Raw, values: Values, found: list[Problem], transform: bool) -> list[Problem]:
        """What the store adds to the problems of a recipe, if these are unknown columns only."""
        if any(problem.type != "unknown_column" for problem in found):
            return []
        places = {problem.loc for problem in found}
        more = self.against_store(recipe_parse.parse(config, transform=transform), values)
        return [problem for problem in more if problem.loc not in places]

    def read_values(self, config: Raw, words: Iterable[str]) -> dict[str, Any]:
        """Param values from the words of a command line; each is read by the param's present choices.

        Raises
        ------
        BadRequest
            If a word is neither ``name=text`` nor ``name:=JSON``.
        Invalid
            For every unknown param and every text that cannot be read.
        """
        checked = (
            config if isinstance(config, recipe_plot.PlotConfig) else recipe_check.sound(config, transform=False)
        )
        script = (
            config.transform
            if isinstance(config, recipe_plot.PlotConfig)
            else isinstance(config, Mapping) and config.get("transform")
        )
        if sentence.sentence_of(str(script)) is not None:
            return {}  # the sentence is the answer, whatever is asked
        given = list(words)
        named = {word.partition("=")[0].rstrip(":") for word in given}
        options: dict[str, list[dict[str, JsonValue]]] = {}
        known: list[str] = []
        for name in choices.order(checked):
            if name not in named:
                continue
            if choices.options_from(checked.params[name]) is not None:
                so_far = cli_values.read_cli_values(checked, known, options)
                options |= self.live_choices(checked, so_far)
            known += [word for word in given if word.partition("=")[0].rstrip(":") == name]
        return cli_values.read_cli_values(checked, given, options)

    def dataset(
        self,
        config: Raw,
        values: Values,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Dataset:
        """The data of a recipe; ``transform`` may be missing and is not checked."""
        checked = (
            config if isinstance(config, recipe_plot.PlotConfig) else recipe_check.sound(config, transform=False)
        )
        return self.answered(checked, values, progress, cancel).dataset

    def look(self, raw: Raw, values: Values) -> looking.Seen:
        """The steps of a recipe that run, and what is wrong with the others.

        Raises
        ------
        Invalid
            If there is no plan with steps at all.
        """
        return looking.look(raw, values, lambda config, chosen: self.answered(config, chosen).dataset, self.units)

    # What there is

    @abstractmethod
    def search(self, text: str, **options: Unpack[SearchOptions]) -> Found:
        """The search of the interface, within the organization; the project restricts what belongs to one."""

    @abstractmethod
    def ingest(
        self,
        paths: Paths,
        options: IngestOptions,
        *,
        growing: Growing | None = None,
        progress: FileProgress | None = None,
    ) -> Report:
        """Read cycler files or folders into the project; ``growing`` says which files to take now."""

    def heard(self) -> list[Occurrence]:
        """What alerts found since the last call, in this process; a server looks at its alerts itself."""
        return []

    def watch(self, folder: str | Path, options: IngestOptions, **how: Unpack[Watching]) -> Iterator[Report]:
        """Ingest files that appear or grow in a folder; ``how`` says when to look and when to stop."""
        from .ingest import watch as watch_folder  # whoever reads no file should not wait for the readers

        sheet = options.sheet

        def take(files: list[Path], growing: Growing) -> Report:
            return self.ingest(files, options, growing=growing)

        return watch_folder(folder, take, also=Path(sheet) if isinstance(sheet, str | Path) else None, **how)

    # Records

    @abstractmethod
    def get(self, kind: type[R], ref: Ref) -> R:
        """The record of an id or an exact name."""

    @abstractmethod
    def create(self, kind: type[R], fields: Fields) -> R:
        """A new record."""

    @abstractmethod
    def update(self, kind: type[R], ref: Ref, changes: Fields) -> R:
        """A record with the named fields changed."""

    @abstractmethod
    def delete(self, kind: type[R], ref: Ref) -> None:
        """Delete a record and what belongs to it alone."""

    @abstractmethod
    def count(self, kind: type[Record]) -> int:
        """How many records of a kind the user can reach."""

    @abstractmethod
    def listing(self, source: str, where: Where, fields: list[str] | None, limit: int | None) -> Table:
        """The rows of a plan source, as a ``list`` step gives them."""

    @abstractmethod
    def table(self, kind: type[Record], filters: Where, fields: list[str] | None, limit: int | None) -> Table:
        """The records of a kind that no plan lists, by ``name`` or ``name_contains``: its flat fields, or those of
        ``fields``."""

    # Sampled data

    @abstractmethod
    def samples(self, record: Record, dataset: str, columns: list[str] | None = None) -> Table:
        """A stored table of a record (``series``, ``steps`` or ``cycles``), exact; the steps of a measurement with
        their type by the present rated capacity.

        Raises
        ------
        NotFound
            If the record has none.
        BadRequest
            For a column that it does not have.
        """

    @abstractmethod
    def over_life(self, measurement: Measurement, dataset: str) -> Table:
        """The steps or cycles of a measurement with the columns over the life of its cell, if they are known."""

    @abstractmethod
    def batches(self, measurement: Measurement) -> Iterator[Table]:
        """The samples of a measurement, exact and in order, in tables of bounded size."""

    def measurement(self, ref: str, cell: str | None = None) -> Measurement:
        """The measurement of a name or id, of this cell if one is named.

        Raises
        ------
        NotFound
            If there is none, or none of this cell.
        BadRequest
            If there are several of that name.
        """
        if cell is None:
            return self.get(Measurement, ref)
        instance = self.get(Instance, cell)
        where: Where = {"instanceIds": [instance.id], "name": ref}
        named = self.listing("measurements", where, ["id"], 1)
        found = self.get(Measurement, str(named["id"].tolist()[0]) if named.n else ref)
        if found.instance_id != instance.id:
            raise NotFound(
                f"The instance '{instance.name}' has no measurement '{ref}': it belongs to another cell."
            )
        return found

    def export_measurement(self, measurement: Measurement, path: Path) -> list[Path]:
        """Write the samples of a measurement and all that is known of it; gives the written files.

        Raises
        ------
        BadRequest
            If it has no samples, or the ending of the file is unknown.
        """
        return outgoing.export(
            measurement,
            path,
            get=self.get,
            batches=lambda: self.batches(measurement),
            steps=lambda: self.samples(measurement, "steps"),
            exclusions=outgoing.excluded(measurement, self.listing),
        )

    @abstractmethod
    def add_time_series(
        self, fields: Fields, samples: Table, steps: Table | None, sign: str | None = None
    ) -> Measurement:
        """A measurement from samples, which are checked as on ingest, with its steps and cycles.

        ``sign`` is what a positive current means: ``charge`` or ``discharge``; None finds out.
        """

    @abstractmethod
    def extend(self, measurement: str, samples: Table) -> Measurement:
        """Append samples to a running measurement; its steps and cycles are updated in the same transaction."""

    @abstractmethod
    def create_with_tables(self, kind: type[R], fields: Fields, tables: Mapping[str, Table]) -> R:
        """A record with its tables, all or nothing."""

    @abstractmethod
    def assign(self, study: Ref, kind: type[Record], ref: Ref) -> None:
        """Put a measurement or a simulation into a study."""

    @abstractmethod
    def unassign(self, study: Ref, kind: type[Record], ref: Ref) -> None:
        """Take a measurement or a simulation out of a study."""

    # Dashboards and plots

    @abstractmethod
    def save_plot(
        self, board: Dashboard, name: str, config: PlotConfig, origin: str = "save", *, since: int | None = None
    ) -> Plot:
        """Save a recipe on a dashboard: as a new plot, or as the next revision of the plot of that name.

        ``since`` is the revision that the change started from.

        Raises
        ------
        Conflict
            If the plot has a newer revision than ``since``.
        """

    @abstractmethod
    def plots(self, board: Dashboard) -> list[Plot]:
        """The plots of a dashboard, the oldest first."""

    def plot(self, board: Dashboard, ref: Ref) -> Plot:
        """A plot of a dashboard by its id or name."""
        wanted = ref.id if isinstance(ref, Record) else ref
        plots = self.plots(board)
        found = [one for one in plots if one.id == wanted]
        found = found or [one for one in plots if is_same_name(one.name, wanted)]
        if not found:
            raise NotFound(f"There is no plot '{wanted}'. {instead(str(wanted), (one.name for one in plots))}")
        return found[0]

    def is_own(self, plot: Plot, number: int | None = None) -> bool:
        """Whether the script of a plot is this user's own: of its newest revision, or of the revision ``number``.

        It is if this user saved or trusted exactly this script on this machine. What the store or the server says
        about its author does not count.
        """
        script = script_in(plot.config if number in (None, plot.revision) else self.revision(plot, number).config)
        return script is not None and self.own_scripts is not None and self.own_scripts.has(script)

    def own(self, config: PlotConfig) -> None:
        """Note the script of a recipe that this user has just saved as this user's own.

        It is the recipe that was sent, not the plot that came back: a server may answer with another script.
        """
        if self.own_scripts is not None:
            self.own_scripts.add([config.transform], "saved")

    def met(self, plot: Plot) -> Plot:
        """A plot that came from a store or a server: its script is untrusted if it is not this user's own."""
        if self.own_scripts is not None:
            self.own_scripts.meet(script_in(plot.config))
        return plot

    def history(self, plot: Plot) -> list[Revision]:
        """All revisions of a plot, the oldest first."""
        return list(pages(lambda limit, offset: self.revisions(plot, limit, offset)))

    # Authoring and conversations

    def authoring_context(
        self,
        board: Dashboard,
        prompt: str,
        plot: str | None = None,
        draft: Mapping[str, Any] | None = None,
        session: str | None = None,
    ) -> AuthoringContext:
        """The two texts from which a language model writes a recipe for a dashboard; a given draft is kept.

        ``session`` is the id of a session to go on with; else that of the plot, or a new one.

        Raises
        ------
        Invalid
            For a prompt or a draft that breaks its limits.
        NotFound
            If the dashboard has no plot of the id ``plot``, or there is no such session.
        """
        given = None if draft is None else dict(draft)
        more = {} if session is None else {"session_id": session}
        return self.authoring_texts(board, {"prompt": prompt, "plot_id": plot, "draft": given, **more})

    def sessions(self, *, limit: int | None = None, offset: int = 0) -> list[Session]:
        """The chat sessions of this user in the project, the newest first."""
        return rows_of(self.session_page, limit, offset)

    def messages(self, session_id: str) -> list[Message]:
        """All messages of a session, the oldest first."""
        found: list[Message] = rows_of(lambda limit, offset: self.message_page(session_id, limit, offset))
        if self.own_scripts is not None:
            for script in scripts_of(message.content for message in found):
                self.own_scripts.meet(script)
        return found

    # The store as a whole

    @abstractmethod
    def backup(self, destination: str | Path) -> None:
        """Copy the whole store to a new file, also while it is in use."""

    def verify(self) -> list[str]:
        """Everything wrong with the store, as sentences."""
        return self.soundness()["problems"]

    @abstractmethod
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
        """Compute an analysis of the tests that fit the filters, and keep the results; see ``Bench.analyse``."""

    @abstractmethod
    def recompute(
        self,
        where: Where | None = None,
        *,
        check: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Recomputed:
        """Recompute steps and cycles that older rules made; see ``Bench.recompute``."""


def only(found: list[R], wanted: str | None, what: str, several: str) -> R:
    """The record with the wanted id or name, or the only one if none is wanted.

    Raises
    ------
    BadRequest
        If there is no such record, or none is wanted and there are several.
    """
    if wanted is None and len(found) == 1:
        return found[0]
    if wanted is None:
        names = listed(f"'{record.name}'" for record in found)
        how = f"{what}=..." if place() == "python" else f"{option_name(what)} NAME"
        raise BadRequest(f"There are {len(found)} {several} here: {names}. Say which with {how}.")
    for record in found:
        if wanted in (record.id, record.name):
            return record
    there = (record.name for record in found)
    raise BadRequest(f"There is no {what} '{wanted}'. {instead(wanted, there, several)}")


def _member(config: Raw, name: str) -> Raw:
    return config.get(name) if isinstance(config, Mapping) else None


def _names(config: Raw) -> Names:
    """The names of a recipe's steps and params, as far as they can be read."""
    if isinstance(config, recipe_plot.PlotConfig):
        return list(config.plan.steps), list(config.params)
    steps, params = _member(_member(config, "plan"), "steps"), _member(config, "params")
    return _keys(steps), [] if params is None else _keys(params)


def scripts_of(contents: Iterable[Raw]) -> Iterator[str]:
    """The script of every recipe in the content of messages, however deep."""
    waiting = list(contents)
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            if (script := script_in(one)) is not None:
                yield script
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _keys(value: Raw) -> list[str] | None:
    return list(value) if isinstance(value, Mapping) else None
