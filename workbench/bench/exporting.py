"""``bench.export``: a recipe written to a file, as a figure, as a table or as a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from pydantic import JsonValue

from .. import export
from ..backend import Backend, FigureAnswer, Values
from ..dataset import Dataset
from ..engine.reader import Progress
from ..errors import BadRequest, instead
from ..recipe.recipe import Recipe
from .recipe_input import RecipeLike, is_protected, unchecked


class RunRecord(TypedDict):
    """How the exported answer was computed; the keys are those of a figure answer."""

    values: dict[str, JsonValue]
    warnings: list[dict[str, JsonValue]]
    cache: dict[str, str]
    reads: dict[str, int]
    timings: dict[str, float]


def export_figure(
    backend: Backend,
    recipe: RecipeLike,
    target: Path,
    values: Values,
    *,
    protected: bool | None,
    progress: Progress | None,
) -> RunRecord:
    """Write the figure of a recipe, its traces, or a notebook that draws it; as ``Bench.export``."""
    ending = _ending(target)
    config = unchecked(recipe)
    answer = backend.figure(config, values, progress, protected=is_protected(recipe, protected))
    if ending == "ipynb":
        raw = Recipe(config).raw()
        page = export.notebook(raw, name=target.stem, values=answer.values, opening=backend.opening)
        export.write(target, page)
    else:
        export.save(target, answer.figure, title=target.stem)
    return _record(answer, answer.warnings)


def export_step(
    backend: Backend, recipe: RecipeLike, target: Path, values: Values, *, step: str, progress: Progress | None
) -> RunRecord:
    """Write the rows of one step as a table; as ``Bench.export`` with ``step``."""
    ending = _ending(target)
    if ending not in export.TABLES:
        raise BadRequest(f"A step's rows go to .csv or .parquet, not to '.{ending}'.")
    data = backend.dataset(unchecked(recipe), values, progress)
    if step not in data.steps:
        raise BadRequest(f"The plan has no step '{step}'. {instead(step, data.steps, 'steps')}")
    export.save_table(target, export.step_table(data.steps[step]))
    return _record(data, [warning.as_dict() for warning in data.warnings])


def _ending(target: Path) -> str:
    ending = export.ending_of(target, (*export.ENDINGS, "ipynb"))
    if not target.parent.is_dir():
        raise BadRequest(
            f"There is no folder '{target.parent}' to write '{target.name}' in. Create it, or name another one."
        )
    return ending


def _record(answer: FigureAnswer | Dataset, warnings: list[dict[str, JsonValue]]) -> RunRecord:
    return {
        "values": answer.values,
        "warnings": warnings,
        "cache": answer.cache,
        "reads": answer.reads,
        "timings": answer.timings,
    }
