"""Operations on the gallery: its recipes for a project."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Protocol

from pydantic import Field, JsonValue

from ..analyses.shapes import KindOfTest
from ..errors import Problem
from ..quick_import import later
from ..store.records.people import Right
from ..table import Table
from .operation import Local, Sent, operation

if TYPE_CHECKING:
    from ..gallery import catalog, facts, listing
    from ..recipe import plot as recipe_plot
    from ..records import catalog as catalogs
else:  # an operation is declared without what carries it out: the gallery and its recipes
    catalog = later("workbench.gallery.catalog")
    facts = later("workbench.gallery.facts")
    listing = later("workbench.gallery.listing")
    recipe_plot = later("workbench.recipe.plot")
    catalogs = later("workbench.records.catalog")


Json = dict[str, Sent]
MOST_CHOSEN = 1000
Chosen = Annotated[list[str], Field(max_length=MOST_CHOSEN, description="Ids of tests.")]


class Looking(Local, Protocol):
    """A store as one user sees it, at which the gallery looks."""

    def catalog(self) -> catalogs.Catalog: ...
    def kinds_of_tests(self) -> list[KindOfTest]: ...
    def held_columns(self, ids: Sequence[str], dataset: str) -> Mapping[str, frozenset[str]]: ...
    def against_store(self, config: recipe_plot.PlotConfig, values: Mapping[str, JsonValue]) -> list[Problem]: ...
    def listing(
        self, source: str, where: Mapping[str, JsonValue], fields: list[str] | None, limit: int | None
    ) -> Table: ...


class GalleryOperations:
    """What users can do with the ready recipes."""

    group = "The gallery"

    @operation("GET", "/projects/{project_id}/gallery", Right.READ, heavy=True, since="0.1.1")
    def gallery_items(self: Looking) -> list[listing.GalleryItem]:
        """The ready recipes, those first for which the project has the data; of the others, what is missing."""
        return _items(self, None)

    @operation("GET", "/projects/{project_id}/gallery/{name}", Right.READ, heavy=True, since="0.1.1")
    def gallery_recipe(self: Looking, name: str) -> Json:
        """A recipe of the gallery, made for what the project has."""
        return _recipe(self, name, None)

    @operation("POST", "/projects/{project_id}/gallery", Right.READ, heavy=True, reads=True, since="0.1.1")
    def gallery_items_of(self: Looking, measurements: Chosen) -> list[listing.GalleryItem]:
        """The ready recipes, those first for which these tests have the data; of the others, what is missing."""
        return _items(self, measurements)

    @operation("POST", "/projects/{project_id}/gallery/{name}", Right.READ, heavy=True, reads=True, since="0.1.1")
    def gallery_recipe_of(self: Looking, name: str, measurements: Chosen) -> Json:
        """A recipe of the gallery, made for these tests."""
        return _recipe(self, name, measurements)


class Galleries(Protocol):
    """A bench or a server's request, here or far away, as far as it gives recipes of the gallery."""

    def gallery_recipe(self, name: str) -> Json: ...
    def gallery_recipe_of(self, name: str, measurements: list[str]) -> Json: ...


def gallery_config(of: Galleries, name: str, measurements: list[str] | None = None) -> recipe_plot.PlotConfig:
    """The recipe of the gallery as the project's own side makes it, so that a reader of the project can draw it.

    With ``measurements``, ids of tests, it is made for these.

    Raises
    ------
    NotFound
        If the gallery has none of that name; the message has the nearest.
    """
    known = catalog.entry(name).name
    made = of.gallery_recipe(known) if measurements is None else of.gallery_recipe_of(known, measurements)
    return recipe_plot.PlotConfig.model_validate(made)


def _items(of: Looking, measurements: list[str] | None) -> list[listing.GalleryItem]:
    return of.store.kept_answer(
        _name(of, None, measurements), lambda: listing.listed(facts.Facts(of, measurements))
    )


def _recipe(of: Looking, name: str, measurements: list[str] | None) -> Json:
    known = _name(of, catalog.entry(name).name, measurements)
    return of.store.kept_answer(known, lambda: catalog.config_of(name, of, measurements).dump())


def _name(of: Looking, recipe: str | None, measurements: list[str] | None) -> Hashable:
    """What distinguishes an answer: each looks at all tests, so it is kept until something changes."""
    return (of.scope, "gallery", recipe, None if measurements is None else tuple(measurements))
