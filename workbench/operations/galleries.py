"""Operations on the gallery: its recipes for a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Protocol

from pydantic import Field, JsonValue

from ..analyses.shapes import KindOfTest
from ..errors import Problem
from ..gallery.catalog import config_of
from ..gallery.facts import Facts
from ..gallery.listing import GalleryItem, listed
from ..recipe.plot import PlotConfig
from ..records.catalog import Catalog
from ..store.records.people import Right
from ..table import Table
from .operation import Local, Sent, operation

Json = dict[str, Sent]
MOST_CHOSEN = 1000
Chosen = Annotated[list[str], Field(max_length=MOST_CHOSEN, description="Ids of tests.")]


class Looking(Local, Protocol):
    """A store as one user sees it, at which the gallery looks."""

    def catalog(self) -> Catalog: ...
    def kinds_of_tests(self) -> list[KindOfTest]: ...
    def held_columns(self, ids: Sequence[str], dataset: str) -> Mapping[str, frozenset[str]]: ...
    def against_store(self, config: PlotConfig, values: Mapping[str, JsonValue]) -> list[Problem]: ...
    def listing(
        self, source: str, where: Mapping[str, JsonValue], fields: list[str] | None, limit: int | None
    ) -> Table: ...


class GalleryOperations:
    """What users can do with the ready recipes."""

    group = "The gallery"

    @operation("GET", "/projects/{project_id}/gallery", Right.READ, heavy=True, since="0.1.1")
    def gallery_items(self: Looking) -> list[GalleryItem]:
        """The ready recipes, those first for which the project has the data; of the others, what is missing."""
        return listed(Facts(self))

    @operation("GET", "/projects/{project_id}/gallery/{name}", Right.READ, heavy=True, since="0.1.1")
    def gallery_recipe(self: Looking, name: str) -> Json:
        """A recipe of the gallery, made for what the project has."""
        made: Json = config_of(name, self).dump()
        return made

    @operation("POST", "/projects/{project_id}/gallery", Right.READ, heavy=True, reads=True, since="0.1.1")
    def gallery_items_of(self: Looking, measurements: Chosen) -> list[GalleryItem]:
        """The ready recipes, those first for which these tests have the data; of the others, what is missing."""
        return listed(Facts(self, measurements))

    @operation("POST", "/projects/{project_id}/gallery/{name}", Right.READ, heavy=True, reads=True, since="0.1.1")
    def gallery_recipe_of(self: Looking, name: str, measurements: Chosen) -> Json:
        """A recipe of the gallery, made for these tests."""
        made: Json = config_of(name, self, measurements).dump()
        return made
