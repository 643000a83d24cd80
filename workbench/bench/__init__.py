"""The object that users hold: a bench, bound to one project of a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from .. import export
from ..authoring import AuthoringContext
from ..backend import Backend
from ..engine.reader import Progress
from ..environment import API_KEY, ORGANIZATION, PROJECT, meant_store
from ..errors import BadRequest, Invalid, Problem, instead
from ..ingest import IngestKeywords, IngestOptions, Report
from ..ingest.options import FileProgress, shows_options
from ..ingest.plan.paths import Paths
from ..ingest.recompute import Recomputed
from ..local import LocalBackend
from ..recipe.assemble import PlanDraft
from ..recipe.plot import PlotConfig
from ..recipe.recipe import Recipe, read_file
from ..records import (
    Batch,
    DriveCycle,
    Instance,
    Material,
    Model,
    Project,
    Specification,
)
from ..records.catalog import Catalog
from ..remote import RemoteBackend
from ..store.records.search import Found
from .boards import Board, Boards, SavedPlot
from .collections import Collection, Ref
from .data import Data
from .description import as_html, as_text
from .figure import Figure, figure_of
from .look import Look
from .quick import Quick, quick
from .sampled_collections import Analyses, MaterialProperties, Measurements, Simulations
from .sessions import Sessions
from .studies import Studies

if TYPE_CHECKING:
    from plotly.graph_objects import FigureWidget

    from ..notebook.view import View
    from .serving import Served

__all__ = ["Bench", "Board", "Data", "Figure", "SavedPlot", "connect", "open_bench"]


def open_bench(
    path: str | Path | None = None, project: str | None = None, organization: str | None = None
) -> Bench:
    """A bench on a local store, which is made if it is absent.

    Parameters
    ----------
    path : the store, one file; its caches stand beside it and may be deleted. Without one it is the store of the
        commands, ``$WORKBENCH_STORE`` or ``workbench.db``, in their ``$WORKBENCH_PROJECT`` and
        ``$WORKBENCH_ORGANIZATION``: what ``workbench lab --store`` was started with.
    project, organization : name or id; needed only where there are several.

    Raises
    ------
    NotFound
        If there is no such project or organization.
    BadRequest
        If none is named and there are several; lists them.
    """
    if path is None:
        path = meant_store(None)
        project = project or os.environ.get(PROJECT) or None
        organization = organization or os.environ.get(ORGANIZATION) or None
    return Bench(LocalBackend.open(path, project, organization))


def connect(url: str, api_key: str | None = None, project: str | None = None) -> Bench:
    """A bench on a server: the same object as ``wb.open`` gives, with the same methods and the same answers.

    Plans run on the server; the transforms of your own recipes run here, on data that come once.

    Parameters
    ----------
    url : the server's address, ``http://lab:8765``.
    api_key : the key that ``workbench keys create`` printed; without it that of ``$WORKBENCH_API_KEY``.
    project : name or id; without it ``$WORKBENCH_PROJECT``, or the only one that the key opens.

    Raises
    ------
    ServerAway
        If nothing answers there, or what answers is no workbench server.
    OtherVersion
        If the server is of another version and would not give the same answers.
    Unauthorized
        If the key is unknown, revoked or expired.
    NotFound, BadRequest
        If there is no such project, or there are several and none is named.
    """
    key = api_key or os.environ.get(API_KEY)
    if not key:
        raise BadRequest(f"A server is opened with a key: wb.connect(url, api_key='wb_...'), or set ${API_KEY}.")
    return Bench(RemoteBackend.connect(url, key, project or os.environ.get(PROJECT) or None))


class Bench:
    """A store as seen from one project: ingest, records, recipes, figures, dashboards."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.projects: Collection[Project] = Collection(backend, Project)
        self.specifications: Collection[Specification] = Collection(backend, Specification)
        self.batches: Collection[Batch] = Collection(backend, Batch)
        self.instances: Collection[Instance] = Collection(backend, Instance)
        self.measurements = Measurements(backend)
        self.analyses = Analyses(backend)
        self.materials: Collection[Material] = Collection(backend, Material)
        self.material_properties = MaterialProperties(backend)
        self.models: Collection[Model] = Collection(backend, Model)
        self.simulations = Simulations(backend)
        self.studies = Studies(backend)
        self.drive_cycles: Collection[DriveCycle] = Collection(backend, DriveCycle)
        self.dashboards = Boards(self)
        self.sessions = Sessions(backend)

    def __repr__(self) -> str:
        return as_text(self.backend)

    def _repr_html_(self) -> str:
        return as_html(self.backend)

    def project(self, ref: Ref) -> Bench:
        """A bench on the same store, bound to another project (id, name or record)."""
        return Bench(self.backend.of_project(ref))

    def close(self) -> None:
        """Close the store; the bench is of no use afterwards."""
        self.backend.close()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @shows_options
    def ingest(
        self, paths: Paths, *, progress: FileProgress | None = None, **options: Unpack[IngestKeywords]
    ) -> Report:
        """Read cycler files, folders or patterns (``data/*.csv``) into the store.

        What does not exist yet is created and reported. One bad file never stops the others. The same samples are not
        stored twice in a project, and a file that has grown extends its measurement. The report says of each file
        what was created, assumed, kept and repaired, and what to look at; ``report.frame()`` gives it as a DataFrame,
        and ``report.save("report.csv")`` keeps it.

        Parameters
        ----------
        paths : files, folders and patterns. A file that is named is read whatever it is; in a folder only files of a
            known format count.
        options : the fields of `workbench.ingest.IngestOptions`.
        progress : called with (files done, files in all, the current file).

        Raises
        ------
        BadRequest
            For an option or a sheet that cannot be understood. What is wrong with a file is in the report instead.
        """
        return self.backend.ingest(paths, IngestOptions.of(options), progress=progress)

    @shows_options
    def watch(
        self,
        folder: str | Path,
        *,
        every: float = 5.0,
        settle: float = 10.0,
        once: bool = False,
        stopped: Callable[[], bool] | None = None,
        **options: Unpack[IngestKeywords],
    ) -> Iterator[Report]:
        """Ingest what appears or grows in a folder: ``for report in bench.watch("data"): ...``. Each round in which
        something was ingested gives a report.

        A file is read when it stops changing; a last line that has no end yet waits for it. A watch keeps nothing but
        the store, so it can be stopped and started again at any moment.

        Parameters
        ----------
        every : seconds between two looks at the folder.
        settle : a file is read when its size and its time have not changed for this many seconds.
        once : stop when all files that are there have been read.
        stopped : called a few times a second; the watch stops when it gives True.
        options : as `ingest` takes them (``sheet``, ``name_rule``, ``specification`` ...).
        """
        chosen = IngestOptions.of(options)
        return self.backend.watch(folder, chosen, every=every, settle=settle, once=once, stopped=stopped)

    def catalog(self) -> Catalog:
        """What there is to plot: sources, their columns, units, and how many records fill them."""
        return self.backend.catalog()

    def search(self, text: str, **options: Any) -> pd.DataFrame:
        """Records whose name holds ``text`` or whose notes have words that begin with it, as a frame."""
        found = self.find(text, **options)
        columns = ["entity_type", "name", "id", "project_id", "parent_id", "created_at"]
        return pd.DataFrame([[getattr(hit, c) for c in columns] for hit in found.results], columns=columns)

    def find(self, text: str, **options: Any) -> Found:
        """The search of the interface, with ``limit``, ``offset``, ``per_type`` and ``entity_types``."""
        return self.backend.search(text, **options)

    def config_of(self, recipe: Recipe | Mapping[str, Any] | str | Path) -> PlotConfig:
        """The checked recipe of a Recipe, a mapping, or the path of a recipe file."""
        if isinstance(recipe, str | Path):
            recipe = Recipe.load(recipe)
        return recipe.config if isinstance(recipe, Recipe) else Recipe(recipe).config

    def check(
        self,
        recipe: Recipe | Mapping[str, Any] | str | Path,
        values: Mapping[str, Any] | None = None,
        **by_name: Any,
    ) -> list[Problem]:
        """Everything wrong with a recipe, also against what the store holds; empty when it is sound.

        Raises
        ------
        BadRequest
            If it is the path of a file that cannot be read.
        """
        try:
            raw = read_file(recipe) if isinstance(recipe, str | Path) else _raw(recipe)
        except Invalid as error:
            return error.problems
        return self.backend.check(raw, _merged(values, by_name))

    def values(self, recipe: Recipe | Mapping[str, Any] | str | Path, words: Iterable[str]) -> dict[str, Any]:
        """Param values from words as on the command line: ``["cells=M50-A-01", "fraction:=0.8"]``.

        ``name=text`` is read by the control (the option with that value, then with that label, then by the type of
        the default); ``name:=JSON`` is literal; a name given more than once makes a list.
        """
        return self.backend.read_values(_raw(recipe), words)

    def dataset(
        self,
        recipe: Recipe | Mapping[str, Any] | str | Path,
        values: Mapping[str, Any] | None = None,
        **by_name: Any,
    ) -> Data:
        """The data of a recipe or of a bare plan: step name -> frame, or series by id.

        Raises
        ------
        Invalid
            With every problem of recipe or values, each with its place.
        """
        return Data(self.backend.dataset(_raw(recipe), _merged(values, by_name)))

    def quick(
        self,
        file: str | Path | pd.DataFrame,
        *,
        show: str | None = None,
        x: str | None = None,
        y: str | Iterable[str] | None = None,
        format: str | None = None,
        column_map: Mapping[str, str] | None = None,
        sign: str | None = None,
        repair: str | Iterable[str] = (),
    ) -> Quick:
        """A file never seen before as a figure with sensible axes, and an account of what was assumed.

        It goes through the readers and checks of ``ingest`` into a store of its own in a temporary folder; this bench
        keeps nothing of it. A file that no reader takes for a test is drawn as a plain table.

        Parameters
        ----------
        file : the path of one file, or a DataFrame.
        show : how, if not as the first of the ways that fit (``.views``): ``"impedance"``, ``"cycles"``, ``"time"`` or
            ``"table"``.
        x, y : columns to draw instead, of the samples, the cycles or the steps; ``y`` may be several.
        format, column_map, sign, repair : as for ``ingest``.

        Raises
        ------
        FileRefused
            If nothing can read it; says why.
        BadRequest
            For a column or a way that it does not have; names the nearest.
        """
        several = y if y is None or isinstance(y, str) else list(y)
        options = {"format": format, "column_map": column_map, "sign": sign, "repair": repair}
        return quick(file, type(self), show=show, x=x, y=several, **options)

    def look(
        self,
        recipe: Recipe | Mapping[str, Any] | str | Path,
        values: Mapping[str, Any] | None = None,
        **by_name: Any,
    ) -> Look:
        """A look at every step of a recipe or of a bare plan: how much it gave, its columns, its first rows.

        A step that is wrong shows its problems; all others run, save those that read it. Nothing is cut from what was
        read: ``look["cycles"].page(2)`` shows the next rows, ``.frame()`` all of them.

        Raises
        ------
        Invalid
            If there is no plan with steps at all.
        """
        raw = read_file(recipe) if isinstance(recipe, str | Path) else _raw(recipe)
        return Look(self.backend.look(raw, _merged(values, by_name)))

    def figure(
        self,
        recipe: Recipe | Mapping[str, Any] | str | Path,
        values: Mapping[str, Any] | None = None,
        *,
        protected: bool | None = None,
        **by_name: Any,
    ) -> Figure:
        """Draw a recipe; ``.workbench`` of the figure tells values, choices, warnings, cache, reads and times.

        Parameters
        ----------
        protected : run the script in a process that is locked in: no files, no network, bounded time and memory. By
            default where somebody else or a model wrote it (``recipe.foreign``); a recipe file does not tell who did.

        Raises
        ------
        Invalid
            With every problem of recipe or values, each with its place; ``ScriptError`` where the script failed.
        NotProtected
            If it is to be protected and the lock does not hold on this machine.
        """
        answer = self.backend.figure(
            _raw(recipe), _merged(values, by_name), protected=_protected(recipe, protected)
        )
        return figure_of(answer)

    def show(
        self,
        recipe: Recipe | SavedPlot | Mapping[str, Any] | str | Path,
        values: Mapping[str, Any] | None = None,
        *,
        figure_widget: bool = False,
        protected: bool | None = None,
        **by_name: Any,
    ) -> View:
        """A live view in a notebook: controls and picture, drawn anew at every change.

        The view has ``values``, ``set(**values)``, ``refresh(wait=True)``, ``figure()``, ``recipe()``, ``undo()``
        and ``redo()``. What is wrong with a value or a script stands beside the picture. With ``figure_widget`` it
        draws on plotly's own FigureWidget, ``view.surface.figure``, which is slower and can be changed in Python.
        ``protected`` as for ``figure``; it holds for the view's whole life, also for a script that is edited in it.

        Raises
        ------
        Invalid
            If the recipe is not sound, or a value is not one of a param.
        """
        from ..notebook.view import View  # what draws on a page is loaded by those who have one

        home = recipe.record if isinstance(recipe, SavedPlot) else None
        taken = recipe.recipe() if isinstance(recipe, SavedPlot) else recipe
        surface = None
        if figure_widget:
            from ..notebook.figure_widget import FigureSurface

            surface = FigureSurface()
        return View(
            self.backend,
            self.config_of(taken),
            _merged(values, by_name),
            figure=figure_of,
            home=home,
            surface=surface,
            protected=_protected(taken, protected),
        )

    def figure_widget(
        self,
        recipe: Recipe | Mapping[str, Any] | str | Path,
        values: Mapping[str, Any] | None = None,
        *,
        protected: bool | None = None,
        **by_name: Any,
    ) -> FigureWidget:
        """Draw a recipe as a plain plotly FigureWidget, to be changed in Python.

        It is as wide as its cell and has no button that uploads its data. It has no controls: see ``show``.
        ``protected`` and errors are those of ``figure``.
        """
        from ..notebook.figure_widget import figure_widget

        answer = self.backend.figure(
            _raw(recipe), _merged(values, by_name), protected=_protected(recipe, protected)
        )
        return figure_widget(answer.figure)

    def export(
        self,
        recipe: Recipe | Mapping[str, Any] | str | Path,
        out: str | Path,
        values: Mapping[str, Any] | None = None,
        *,
        step: str | None = None,
        protected: bool | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Write a recipe to a file whose ending says what: ``.html .png .svg .pdf .json`` its figure, ``.csv .parquet``
        its traces in long form or, with ``step``, that step's rows, ``.ipynb`` a notebook that draws it.

        Answers the account of the run: ``values``, ``warnings``, ``cache``, ``reads``, ``timings``. The file is
        written whole or not at all.
        ``progress`` is called as ``progress(step, index, of, detail)`` while the plan runs; ``protected`` as for
        ``figure``.

        Raises
        ------
        BadRequest
            For an unknown ending or step, a step with an ending that holds no table, or a folder that is not there.
        Invalid
            As ``figure``.
        """
        target = Path(out)
        ending = export.ending_of(target, (*export.ENDINGS, "ipynb"))
        if not target.parent.is_dir():
            raise BadRequest(f"There is no folder '{target.parent}' to write '{target.name}' in.")
        config = _raw(recipe)
        chosen = dict(values or {})
        if step is not None:
            return self._export_step(config, target, ending, chosen, step, progress)
        answer = self.backend.figure(config, chosen, progress, protected=_protected(recipe, protected))
        if ending == "ipynb":
            raw = Recipe(config).raw()
            opened = self.backend.opening
            export.write(target, export.notebook(raw, name=target.stem, values=answer.values, opening=opened))
        else:
            export.save(target, answer.figure, title=target.stem)
        account = {"values": answer.values, "warnings": answer.warnings, "cache": answer.cache}
        return {**account, "reads": answer.reads, "timings": answer.timings}

    def _export_step(
        self,
        config: Any,
        target: Path,
        ending: str,
        values: Mapping[str, Any],
        step: str,
        progress: Progress | None,
    ) -> dict[str, Any]:
        if ending not in export.TABLES:
            raise BadRequest(f"A step's rows go to .csv or .parquet, not to '.{ending}'.")
        data = self.backend.dataset(config, values, progress)
        if step not in data.steps:
            raise BadRequest(f"The plan has no step '{step}'. {instead(step, data.steps, 'steps')}")
        export.save_table(target, export.step_table(data.steps[step]))
        warnings = [warning.as_dict() for warning in data.warnings]
        account = {"values": data.values, "warnings": warnings, "cache": data.cache}
        return {**account, "reads": data.reads, "timings": data.timings}

    def serve(self, port: int = 0, host: str = "127.0.0.1", *, trust_transforms: bool = False) -> Served:
        """Open the store to others while this process runs: a server in a thread, with a key of its own.

        The answer has ``url``, ``api_key`` and ``stop()``, and is good for a ``with`` block. What others draw runs
        locked in, as on ``workbench serve``.

        Parameters
        ----------
        port : 0 takes a free one.
        host : the address to listen on; by default that of this machine alone.
        trust_transforms : run the scripts of all who have a key in this process, with all its rights.

        Raises
        ------
        NotProtected
            If scripts cannot be locked in on this machine and are not said to be trusted.
        BadRequest
            If the address cannot be listened on, or the store is a server's already.
        """
        from .serving import Served

        if not isinstance(self.backend, LocalBackend):
            raise BadRequest(
                f"This bench is on the server at {self.backend.place} already; give its address to others."
            )
        return Served(self.backend, host=host, port=port, trust_transforms=trust_transforms)

    def authoring_context(
        self,
        board: Board | Ref,
        prompt: str,
        plot: SavedPlot | Ref | None = None,
        draft: Mapping[str, Any] | None = None,
    ) -> AuthoringContext:
        """Two texts, ``.system`` and ``.prompt``, from which a language model that knows nothing else writes a recipe
        for this project; ``.session_id`` is the conversation that they begin, or go on with.

        Parameters
        ----------
        board : the dashboard that the plot is for.
        prompt : what the plot is to show, in words.
        plot : the plot that is to be changed; none: a new one.
        draft : ``{"name", "config"}``, the recipe to go on from; kept as the newest draft.

        Raises
        ------
        Invalid
            For a prompt or draft that breaks its limits.
        """
        held, wanted = self._place(board, plot)
        return self.backend.authoring_context(held.record, prompt, wanted, draft)

    def authoring_decision(
        self,
        board: Board | Ref,
        *,
        name: str | None = None,
        plot: SavedPlot | Ref | None = None,
        new_plot_id: str | None = None,
        session: str | None = None,
    ) -> SavedPlot:
        """Accept your newest sound draft on a dashboard: the next revision of ``plot``, or a new plot.

        Parameters
        ----------
        name : of the plot; without it the draft's.
        plot : whose draft it is. Without ``new_plot_id`` it becomes its next revision.
        new_plot_id : the id, a UUID, of the plot that is made.
        session : only drafts of this session.

        Raises
        ------
        Conflict
            If the name or the id is taken, or no draft is sound; ``detail`` says what is wrong in the newest.
        """
        held, wanted = self._place(board, plot)
        given = {"name": name, "plot_id": wanted, "new_plot_id": new_plot_id, "session_id": session}
        return SavedPlot(self, self.backend.decide(held.record, **given))

    def _place(self, board: Board | Ref, plot: SavedPlot | Ref | None) -> tuple[Board, str | None]:
        """A dashboard, and the id of one of its plots."""
        held = board if isinstance(board, Board) else self.dashboards.get(board)
        if plot is None:
            return held, None
        return held, self.backend.plot(held.record, plot.record if isinstance(plot, SavedPlot) else plot).id

    def backup(self, destination: str | Path) -> None:
        """Copy the whole store to a new file while it is in use; that of a server is copied on its own machine."""
        self.backend.backup(destination)

    def verify(self) -> list[str]:
        """Everything wrong with the store, as sentences; empty if it is sound. Reads all of it."""
        return self.backend.verify()

    def recompute(
        self,
        where: Mapping[str, Any] | None = None,
        *,
        check: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
    ) -> Recomputed:
        """Make steps and cycles anew by today's rules, where older rules made them; what was given stays as it is.

        Each measurement is done in one step: stopped at any moment, the next call goes on.

        Parameters
        ----------
        where : filters as of a ``list`` step, such as ``{"batch": ["A"]}``; all of the project without them.
        check : only say what would be done.
        progress : called with how many are done, of how many, and the name of the next.

        Returns
        -------
        Recomputed
            ``measurements`` that were recomputed, and ``failed``: name -> reason.

        Raises
        ------
        BadRequest
            On a remote workbench: it is done on the server's machine.
        """
        return self.backend.recompute(where, check=check, progress=progress)


def _raw(recipe: Recipe | Mapping[str, Any] | str | Path) -> Any:
    """A recipe as the workbench takes it: a PlotConfig, or JSON; a bare plan becomes a config without transform."""
    if isinstance(recipe, str | Path):
        recipe = Recipe.load(recipe)
    if isinstance(recipe, Recipe):
        return recipe.config
    if isinstance(recipe, PlanDraft):
        return recipe.config()
    return {"plan": dict(recipe)} if "steps" in recipe and "plan" not in recipe else recipe


def _protected(recipe: Any, asked: bool | None) -> bool | None:
    """What was asked; else True for a script that somebody else wrote, and None for the bench's own way."""
    return True if asked is None and isinstance(recipe, Recipe) and recipe.foreign else asked


def _merged(values: Any, by_name: Mapping[str, Any]) -> Any:
    """Values as one mapping; what is none is for the recipe to refuse."""
    return values if not by_name and values is not None else {**(values or {}), **by_name}
