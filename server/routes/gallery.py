"""The figures and data of the gallery's recipes, for all who may read. The list and the recipes are operations."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from workbench.figure_sketch import SketchLine, sketch
from workbench.operations.galleries import MOST_CHOSEN, gallery_config

from ..auth import ProjectReader
from ..context import Slow
from ..parameters import AsOf
from ..routing import Route, heavy, takes
from ..schemas import Body, Json, Text
from .recipes import ARROW, DatasetShown, FigureShown, Part, TracesShown, data, detail, drawn

router = APIRouter(route_class=Route, tags=["The gallery"])


class GallerySketch(Body):
    """With ``measurements``, ids of tests, the recipe is made for these."""

    measurements: Annotated[list[Text], Field(max_length=MOST_CHOSEN)] | None = None


class GalleryFigure(GallerySketch):
    """Values of the params of a recipe, by name; with ``measurements``, ids of tests, the recipe is made for these."""

    values: Json = Field(default_factory=dict)


class GalleryDetail(Part, GalleryFigure):
    """Values of the params, and the part of the figure that is wanted in detail."""


@router.post("/projects/{project_id}/gallery/{name}/figure", response_model=FigureShown)
@takes("small")
def gallery_figure(
    context: ProjectReader, name: str, body: GalleryFigure | None = None, as_of: AsOf = None
) -> Response | Slow:
    """The figure of a recipe of the gallery, made for what the project has."""
    asked = body or GalleryFigure()
    config = gallery_config(context.backend, name, asked.measurements)
    context.show_as_of(as_of)
    return drawn(context, config, asked.values)


@router.post("/projects/{project_id}/gallery/{name}/sketch")
@heavy
@takes("small")
def gallery_sketch(context: ProjectReader, name: str, body: GallerySketch | None = None) -> list[SketchLine]:
    """The figure of a recipe of the gallery as a few thin lines, for its card; none for a table or a message.

    It is drawn if it is not in the cache: a gallery shows what the data of the project say."""
    config = gallery_config(context.backend, name, None if body is None else body.measurements)
    answer = context.backend.cached_figure(config, {}) or context.backend.figure(config, {}, cancel=context.cancel)
    return sketch(answer.figure)


@router.post("/projects/{project_id}/gallery/{name}/figure/detail")
@heavy
@takes("small")
def gallery_figure_detail(
    context: ProjectReader, name: str, body: GalleryDetail, as_of: AsOf = None
) -> TracesShown:
    """Finer detail of a part of the figure of a recipe of the gallery."""
    config = gallery_config(context.backend, name, body.measurements)
    context.show_as_of(as_of)
    return detail(context, config, body.values, body)


@router.post("/projects/{project_id}/gallery/{name}/dataset", response_model=DatasetShown, responses=ARROW)
@heavy
@takes("small")
def gallery_dataset(
    context: ProjectReader, name: str, body: GalleryFigure | None = None, as_of: AsOf = None
) -> Response:
    """The data of a recipe of the gallery with chosen values, as JSON or Arrow."""
    asked = body or GalleryFigure()
    config = gallery_config(context.backend, name, asked.measurements)
    context.show_as_of(as_of)
    return data(context, config, asked.values)
