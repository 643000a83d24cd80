"""The bench: one object with everything that a user does in one project of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, TypedDict, Unpack

from pydantic import JsonValue

from ..backend import Backend
from ..errors import BadRequest, Invalid, Problem
from ..local import LocalBackend
from ..quick_import import decorated_later, later
from ..records import (
    Batch,
    DriveCycle,
    Instance,
    Material,
    Model,
    Project,
    Specification,
)
from .alerts import Alerts
from .analysing import Analysing
from .as_of import AsOf, then
from .authoring import Authoring
from .boards import Boards, SavedPlot
from .collections import Collection, Ref
from .description import as_html, as_text
from .excluding import Excluding
from .exporting import Exporting
from .maintaining import Maintaining
from .named_recipes import AnyRecipe, meant
from .recipe_input import (
    ParamValue,
    RecipeLike,
    Unchecked,
    Values,
    as_json,
    checked,
    is_protected,
    merged,
    unchecked,
)
from .sampled_collections import Analyses, MaterialProperties, Measurements, Simulations
from .sessions import Sessions
from .simulating import Simulating
from .studies import Studies
from .trusting import Trusting

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import FigureWidget

    from ..ingest import IngestKeywords, Report
    from ..ingest import options as of_ingest
    from ..ingest.options import FileProgress
    from ..ingest.plan.paths import Paths
    from ..notebook.view import View
    from ..recipe.plot import PlotConfig
    from ..records.catalog import Catalog
    from ..store.records.search import Found
    from . import data as results
    from . import figure as figures
    from . import look as looking
    from . import quick as quick_look
    from .data import Data
    from .figure import Figure
    from .look import Look
    from .quick import Quick
    from .serving import Served
else:  # frames, figures, files and recipes wait until one is asked for
    figures = later("workbench.bench.figure")
    looking = later("workbench.bench.look")
    of_ingest = later("workbench.ingest.options")
    quick_look = later("workbench.bench.quick")
    pd = later("pandas")
    results = later("workbench.bench.data")


class SearchOptions(TypedDict, total=False):
    """The options of a search.

    ``limit`` and ``offset`` select a page of the hits, ``per_type`` is the most hits of one kind, ``entity_types`` the
    kinds to search (all by default).
    """

    limit: int
    offset: int
    per_type: int
    entity_types: Iterable[str] | None


class Bench(Trusting, Analysing, Authoring, Excluding, Exporting, Simulating, Maintaining):
    """One project of a store: ingest, records, recipes, figures, dashboards."""

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
        self.alerts = Alerts(backend)

    def __repr__(self) -> str:
        return as_text(self.backend)

    def _repr_html_(self) -> str:
        return as_html(self.backend)

    def project(self, ref: Ref) -> Bench:
        """A bench on the same store, bound to another project (id, name or record)."""
        return Bench(self.backend.of_project(ref))

    def close(self) -> None:
        """Close the store. The bench cannot be used afterwards."""
        self.backend.close()

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @decorated_later(lambda: of_ingest.shows_options)
    def ingest(
        self, paths: Paths, *, progress: FileProgress | None = None, **options: Unpack[IngestKeywords]
    ) -> Report:
        """Read cycler files, folders or patterns (``data/*.csv``) into the store.

        What does not exist yet is created, and the report lists it. One bad file never stops the others. The same
        samples are not stored twice in a project, and a file that has grown extends its measurement. For each file,
        the report says what was created, assumed, kept and repaired, and what you should check.
        ``report.frame()`` gives it as a DataFrame, and ``report.save("report.csv")`` writes it to a file.

        Parameters
        ----------
        paths : files, folders and patterns. A file that you name is always read; in a folder, only files of a known
            format are.
        options : the fields of `workbench.ingest.IngestOptions`.
        progress : called with (files done, files in all, the current file).

        Raises
        ------
        BadRequest
            For an option or a sheet that cannot be understood. Problems of a single file are in the report instead.
        """
        return self.backend.ingest(paths, of_ingest.IngestOptions.of(options), progress=progress)

    @decorated_later(lambda: of_ingest.shows_options)
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

        A file is read when it has stopped changing. A last line without an end is read later, when it is complete. A
        watch has no state besides the store, so you can stop it and start it again at any time.

        Parameters
        ----------
        every : seconds between two scans of the folder.
        settle : a file is read when its size and its modification time have not changed for this many seconds.
        once : stop when all files of the folder have been read.
        stopped : called a few times a second; the watch stops when it returns True.
        options : as `ingest` takes them (``sheet``, ``name_rule``, ``specification`` ...).
        """
        chosen = of_ingest.IngestOptions.of(options)
        return self.backend.watch(folder, chosen, every=every, settle=settle, once=once, stopped=stopped)

    def catalog(self) -> Catalog:
        """What can be plotted: sources, their columns and units, and the number of records in each."""
        return self.backend.catalog()

    def search(self, text: str, **options: Unpack[SearchOptions]) -> pd.DataFrame:
        """Records whose name contains ``text``, or whose notes have a word that begins with it, as a frame.

        ``options`` are those of `find`.
        """
        found = self.find(text, **options)
        columns = ["entity_type", "name", "id", "project_id", "parent_id", "parent_name", "created_at"]
        return pd.DataFrame([[getattr(hit, c) for c in columns] for hit in found.results], columns=columns)

    def find(self, text: str, **options: Unpack[SearchOptions]) -> Found:
        """Records by a part of their name or the beginning of a word in their notes, with the number of all hits."""
        if not isinstance(text, str):
            raise BadRequest(f"A search is for a text, such as 'cell 25'; this is {text!r:.40}.")
        as_python: dict[str, Unchecked] = {
            name: value.tolist() if hasattr(value, "tolist") else value for name, value in options.items()
        }
        return self.backend.search(text, **as_python)

    def config_of(self, recipe: AnyRecipe) -> PlotConfig:
        """The checked recipe of a Recipe, a mapping, the path of a recipe file, or a saved plot or its name.

        Raises
        ------
        BadRequest
            For a text that is neither the path of a file nor the name of a saved plot.
        Invalid
            If the recipe is not sound.
        """
        return checked(self._to_draw(recipe))

    def _to_draw(self, recipe: AnyRecipe) -> RecipeLike:
        """A recipe to draw. That of a saved plot knows whether somebody else wrote its script."""
        found = meant(self, recipe)
        return found.recipe() if isinstance(found, SavedPlot) else found

    def _meant(self, recipe: AnyRecipe) -> RecipeLike | SavedPlot:
        return meant(self, recipe)

    def _read(self, recipe: AnyRecipe) -> RecipeLike:
        """A recipe to look at or to run without its script; that of a saved plot need not be sound."""
        found = meant(self, recipe)
        return found.record.config if isinstance(found, SavedPlot) else found

    def check(
        self,
        recipe: AnyRecipe,
        values: Values | None = None,
        **by_name: ParamValue,
    ) -> list[Problem]:
        """Everything that is wrong with a recipe, also compared with the content of the store; empty if it is sound.

        Parameters
        ----------
        recipe : a recipe or a bare plan, the path of a recipe file, or a saved plot, its name or its id. A text is a
            path if there is such a file.

        Raises
        ------
        BadRequest
            If ``recipe`` is a file that cannot be read, or the name of neither a file nor a saved plot.
        """
        try:
            unsound = as_json(self._read(recipe))
        except Invalid as error:
            return error.problems
        return self.backend.check(unsound, merged(values, by_name))

    def values(self, recipe: AnyRecipe, words: Iterable[str]) -> dict[str, JsonValue]:
        """Param values from words as on the command line: ``["cells=M50-A-01", "fraction:=0.8"]``.

        ``name=text`` is read by the control: as the option with that value, else as the option with that label, else by
        the type of the default. ``name:=JSON`` is taken literally. A name that is given more than once makes a list.

        Raises
        ------
        BadRequest
            If a word is neither ``name=text`` nor ``name:=JSON``.
        Invalid
            For every unknown param and every text that cannot be read.
        """
        return self.backend.read_values(unchecked(self._read(recipe)), words)

    def dataset(
        self,
        recipe: AnyRecipe,
        values: Values | None = None,
        *,
        as_of: AsOf | None = None,
        **by_name: ParamValue,
    ) -> Data:
        """The data of a recipe or of a bare plan: step name -> DataFrame, or for a series step id -> DataFrame.

        ``recipe`` may be all that ``check`` takes, ``as_of`` what ``figure`` takes.

        Raises
        ------
        Invalid
            With every problem of the recipe and the values, each with its place.
        """
        return results.Data(
            then(self.backend, as_of).dataset(unchecked(self._read(recipe)), merged(values, by_name))
        )

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
        """Draw a file that is not in the store: a figure with suitable axes, and a report of what was assumed.

        The file passes the readers and checks of ``ingest`` into a store of its own in a temporary folder. This bench
        keeps nothing of it. A file that no reader recognizes as a test is drawn as a plain table.

        Parameters
        ----------
        file : the path of one file, or a DataFrame.
        show : the view to draw: ``"impedance"``, ``"cycles"``, ``"time"`` or ``"table"``. By default it is the first
            of those that fit the file (``.views``).
        x, y : columns to draw instead of a view: of the samples, the cycles or the steps. ``y`` may be several.
        format, column_map, sign, repair : as for ``ingest``.

        Raises
        ------
        FileRefused
            If no reader can read the file; the message says why.
        BadRequest
            For a column or a view that the file does not have; the message names the nearest.
        """
        return quick_look.quick(
            file,
            type(self),
            show=show,
            x=x,
            y=y if y is None or isinstance(y, str) else list(y),
            format=format,
            column_map=column_map,
            sign=sign,
            repair=repair,
        )

    def look(
        self,
        recipe: AnyRecipe,
        values: Values | None = None,
        **by_name: ParamValue,
    ) -> Look:
        """Every step of a recipe or of a bare plan: the size of its result, its columns, its first rows.

        A wrong step shows its problems. All other steps run, except those that read a wrong one. All rows are there:
        ``look["cycles"].page(2)`` shows the next ones, ``.frame()`` gives all of them.

        Raises
        ------
        Invalid
            If the recipe has no plan with steps.
        """
        return looking.Look(self.backend.look(as_json(self._read(recipe)), merged(values, by_name)))

    def figure(
        self,
        recipe: AnyRecipe,
        values: Values | None = None,
        *,
        protected: bool | None = None,
        as_of: AsOf | None = None,
        **by_name: ParamValue,
    ) -> Figure:
        """Draw a recipe. ``.workbench`` of the figure holds values, choices, warnings, cache, reads and timings.

        Parameters
        ----------
        recipe : a recipe, the path of a recipe file, or a saved plot, its name or its id. A text is a path if there is
            such a file.
        protected : run the script in a locked process: no files, no network, limited time and memory. By default this
            is done for a script that somebody else or a model wrote (``recipe.foreign``). A recipe file does not
            contain its author, so its script counts as your own.
        as_of : draw the data as they were then: a time (without a zone UTC), a day (to its end), a revision, or what
            was drawn then: a figure or the path of an exported file. What a person changed since gives the warning
            ``changed_since``.

        Raises
        ------
        Invalid
            With every problem of the recipe and the values, each with its place; ``ScriptError`` if the script failed.
            Also for a test whose samples were replaced since ``as_of``.
        NotProtected
            If the script must be protected and this machine cannot lock a process.
        """
        taken, backend = self._to_draw(recipe), then(self.backend, as_of)
        config, chosen = unchecked(taken), merged(values, by_name)
        answer = backend.figure(config, chosen, protected=is_protected(self.backend, taken, protected))
        return figures.figure_of(answer, lambda: backend.passport(config, answer))

    def show(
        self,
        recipe: AnyRecipe,
        values: Values | None = None,
        *,
        figure_widget: bool = False,
        protected: bool | None = None,
        time_limit: float | EllipsisType | None = ...,
        as_of: AsOf | None = None,
        **by_name: ParamValue,
    ) -> View:
        """A live view in a notebook: controls and a figure that is drawn again after every change.

        The view has ``values``, ``set(**values)``, ``refresh(wait=True)``, ``figure()``, ``recipe()``, ``undo()``,
        ``redo()``, ``stop()`` and ``close()``. Problems of a value or a script are shown next to the figure. Your own
        scripts run in a process beside the notebook, which can be stopped.

        Parameters
        ----------
        recipe : as for ``figure``. A save in the view of a saved plot becomes its next revision.
        figure_widget : draw on plotly's own FigureWidget, ``view.surface.figure``. It is slower and can be changed in
            Python.
        protected : as for ``figure``. It holds as long as the view exists, also for a script that is edited in it.
        time_limit : most seconds that a script of your own may take; None: no limit. By default it is the number in
            ``$WORKBENCH_SCRIPT_SECONDS``, else 60. It can be changed later: ``view.time_limit``.
        as_of : as for ``figure``.

        Raises
        ------
        Invalid
            If the recipe is not sound, or a param refuses its value.
        """
        found = meant(self, recipe)
        home = found.record if isinstance(found, SavedPlot) else None
        taken = found.recipe() if isinstance(found, SavedPlot) else found
        locked = is_protected(self.backend, taken, protected)
        # What draws and what shows are loaded only when they are used, and the process that draws before the widgets.
        from ..transform import own_processes

        if not locked:
            own_processes.begin_to_start()
        from ..notebook.view import View

        surface = None
        if figure_widget:
            from ..notebook.figure_widget import FigureSurface

            surface = FigureSurface()
        return View(
            then(self.backend, as_of),
            checked(taken),
            merged(values, by_name),
            figure=figures.figure_of,
            home=home,
            surface=surface,
            protected=locked,
            time_limit=time_limit,
        )

    def figure_widget(
        self,
        recipe: AnyRecipe,
        values: Values | None = None,
        *,
        protected: bool | None = None,
        **by_name: ParamValue,
    ) -> FigureWidget:
        """Draw a recipe as a plain plotly FigureWidget, which you can change in Python.

        It is as wide as its cell and has no button that uploads its data. It has no controls: see ``show``.
        ``recipe``, ``protected`` and the errors are those of ``figure``.
        """
        from ..notebook.figure_widget import figure_widget

        taken = self._to_draw(recipe)
        answer = self.backend.figure(
            unchecked(taken), merged(values, by_name), protected=is_protected(self.backend, taken, protected)
        )
        return figure_widget(answer.figure)

    def serve(
        self,
        port: int = 0,
        host: str = "127.0.0.1",
        *,
        trust_transforms: bool = False,
        trust_files: bool = False,
    ) -> Served:
        """Share the store while this process runs: a server in a thread, with a key of its own.

        The result has ``url``, ``api_key`` and ``stop()``, and works in a ``with`` block. Scripts of others run in
        locked processes, as with ``workbench serve``.

        Parameters
        ----------
        port : 0 takes a free one.
        host : the address to listen on. By default only this machine can connect.
        trust_transforms : run the scripts of everybody who has a key in this process, with all its rights.
        trust_files : read the files that they send without a lock. Where the machine has none, files are refused else.

        Raises
        ------
        NotProtected
            If this machine cannot lock processes and ``trust_transforms`` is not given.
        BadRequest
            If the server cannot listen on the address, or if this bench is on a server already.
        """
        from .serving import Served

        if not isinstance(self.backend, LocalBackend):
            raise BadRequest(
                f"This bench is on the server at {self.backend.place} already. Give that address to others."
            )
        return Served(
            self.backend, host=host, port=port, trust_transforms=trust_transforms, trust_files=trust_files
        )
