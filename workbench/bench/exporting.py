"""``bench.export``: a recipe written to a file, as a figure, as a table or as a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from pydantic import JsonValue

from ..backend import Backend, FigureAnswer, Values
from ..dataset import Dataset
from ..errors import BadRequest, instead
from ..quick_import import later
from .as_of import AsOf, then
from .boards import SavedPlot
from .named_recipes import AnyRecipe
from .recipe_input import RecipeLike, is_protected, is_untrusted, merged, unchecked

if TYPE_CHECKING:
    from .. import export, pictures
    from ..engine.reader import Progress
    from ..pictures import PaperOptions, Remark
    from ..recipe import recipe as recipes
    from ..standalone_page import page as pages
    from ..standalone_page.page import PageSize, Sheet
    from . import figure_files, page_exports
else:  # whoever exports nothing need not wait for what draws pictures and pages
    export = later("workbench.export")
    pictures = later("workbench.pictures")
    pages = later("workbench.standalone_page.page")
    page_exports = later("workbench.bench.page_exports")
    figure_files = later("workbench.bench.figure_files")
    recipes = later("workbench.recipe.recipe")


class RunRecord(TypedDict):
    """How the exported answer was computed; the keys are those of a figure answer."""

    values: dict[str, JsonValue]
    warnings: list[dict[str, JsonValue]]
    cache: dict[str, str]
    reads: dict[str, int]
    timings: dict[str, float]


class Exporting:
    """What a bench can write to files: figures, tables, notebooks, pages whose controls work."""

    backend: Backend

    def _meant(self, recipe: AnyRecipe) -> RecipeLike | SavedPlot:
        """The recipe or the saved plot that a name stands for."""
        raise NotImplementedError

    def _read(self, recipe: AnyRecipe) -> RecipeLike:
        """The recipe, of which the script does not matter."""
        raise NotImplementedError

    def export(
        self,
        recipe: AnyRecipe,
        out: str | Path,
        values: Values | None = None,
        *,
        step: str | None = None,
        protected: bool | None = None,
        with_recipe: bool = True,
        progress: Progress | None = None,
        tidy: bool = False,
        controls: bool = False,
        as_of: AsOf | None = None,
        **paper: Unpack[PaperOptions],
    ) -> RunRecord:
        """Write a recipe to a file. The file is written completely or not at all.

        The answer has ``values``, ``warnings`` (also of a picture), ``cache``, ``reads`` and ``timings``.
        The file holds its passport (`workbench.open_figure`); csv has it in a file beside it, and json has none.

        Parameters
        ----------
        recipe : as for ``figure``; with ``step`` a bare plan too.
        out : the path. Its ending selects the content: ``.html .png .svg .pdf .json`` the figure, ``.csv .parquet``
            the traces in long form (or the rows of the step named ``step``), ``.ipynb`` a notebook that draws it.
        protected : as for ``figure``.
        with_recipe : the passport holds the recipe; without it only hashes of it.
        progress : called as ``progress(step, index, of, detail)`` while the plan runs.
        tidy : in a table, columns have the quantities and units of the axes, as ``Figure.tidy``.
        controls : in ``.html``, the view controls with few values work without a kernel: the figures of all their
            choices are computed now. ``export_size`` says before how many they are. A page has at most 10 MB.
        as_of : as for ``figure``.
        paper : ``paper`` (a journal, or True), ``width``, ``height``, ``font`` and ``columns`` fit the figure to a
            printed page, as in ``battery.paper``. A table is then tidy.

        Raises
        ------
        BadRequest
            For an unknown ending, step or paper, a paper for rows or a notebook, a table in another file, or an absent
            folder.
        Invalid
            As ``figure``.
        """
        target, chosen, backend = Path(out), merged(values, {}), then(self.backend, as_of)
        if step is not None:
            _refuse_paper(paper, "the rows of a step")
            return export_step(backend, self._read(recipe), target, chosen, step=step, progress=progress)
        found = self._meant(recipe)
        return export_figure(
            backend,
            found,
            target,
            chosen,
            protected,
            with_recipe,
            progress,
            tidy=tidy,
            paper=paper,
            controls=controls,
        )

    def export_size(
        self, recipe: AnyRecipe, values: Values | None = None, *, protected: bool | None = None
    ) -> PageSize:
        """What ``export(..., controls=True)`` would write: ``figures``, about how many ``bytes``, and what stays fixed.

        One figure is drawn for it. The bytes are an estimate as if the figures had nothing in common; most pages are
        smaller. ``fixed`` names each param that stays as it is, and why.
        """
        found = self._meant(recipe)
        source = page_exports.source_of(self.backend, found, "figure", merged(values, {}), protected=protected)
        return pages.size_of([pages.alone(source)])


def export_figure(
    backend: Backend,
    found: RecipeLike | SavedPlot,
    target: Path,
    values: Values,
    protected: bool | None,
    with_recipe: bool,
    progress: Progress | None,
    tidy: bool = False,
    paper: PaperOptions | None = None,
    controls: bool = False,
) -> RunRecord:
    """Write the figure of a recipe, its traces, or a notebook that draws it; as ``Bench.export``."""
    ending = figure_files.writable_ending(target)
    if controls:
        if ending != "html" or tidy or pictures.wants_paper(paper or {}):
            raise BadRequest(
                f"Controls work in a page for screens, .html without a paper, not in '{target.name}'."
            )
        source = page_exports.source_of(
            backend, found, target.stem, values, protected=protected, with_recipe=with_recipe, progress=progress
        )
        return page_record(page_exports.page_of(source, target, progress))
    recipe = found.recipe() if isinstance(found, SavedPlot) else found
    plot = page_exports.seen(found) if isinstance(found, SavedPlot) else None
    config = unchecked(recipe)
    if ending == "ipynb":
        _refuse_paper(paper or {}, "a notebook")
    remarks: list[Remark] = []
    answer = backend.figure(config, values, progress, protected=is_protected(backend, recipe, protected))
    said = backend.passport(config, answer, plot=plot, with_recipe=with_recipe)
    if ending == "ipynb":
        made = recipes.Recipe(config)
        made.foreign = bool(protected) or is_untrusted(backend, recipe)
        page = export.notebook(
            made.raw(), name=target.stem, values=answer.values, opening=backend.opening, passport=said
        )
        export.write(target, page)
    else:
        remarks = figure_files.save_figure(target, answer.figure, paper or {}, tidy=tidy, passport=said)
    return _record(answer, [*answer.warnings, *pictures.as_warnings(remarks)])


def _refuse_paper(paper: PaperOptions, what: str) -> None:
    if pictures.wants_paper(paper):
        raise BadRequest(f"A paper, its size, font and columns are for a figure, not for {what}. Leave them out.")


def export_step(
    backend: Backend, recipe: RecipeLike, target: Path, values: Values, *, step: str, progress: Progress | None
) -> RunRecord:
    """Write the rows of one step as a table; as ``Bench.export`` with ``step``."""
    ending = figure_files.writable_ending(target)
    if ending not in export.TABLES:
        raise BadRequest(f"A step's rows go to .csv or .parquet, not to '.{ending}'.")
    data = backend.dataset(unchecked(recipe), values, progress)
    if step not in data.steps:
        raise BadRequest(f"The plan has no step '{step}'. {instead(step, data.steps, 'steps')}")
    export.save_table(target, export.step_table(data.steps[step], data.columns.get(step)))
    return _record(data, [warning.as_dict() for warning in data.warnings])


def page_record(sheet: Sheet) -> RunRecord:
    """How the first figure of a page was computed."""
    if not isinstance(sheet.drawn, FigureAnswer):
        raise TypeError("A page that was written has its first figure.")
    return _record(sheet.drawn, [*sheet.drawn.warnings])


def _record(answer: FigureAnswer | Dataset, warnings: list[dict[str, JsonValue]]) -> RunRecord:
    return {
        "values": answer.values,
        "warnings": warnings,
        "cache": answer.cache,
        "reads": answer.reads,
        "timings": answer.timings,
    }
