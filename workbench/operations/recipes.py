"""Operations on recipes: what a project has to plot, and what is wrong with a recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Protocol

from pydantic import Field, JsonValue
from typing_extensions import TypedDict

from ..errors import Problem, ProblemDetail
from ..quick_import import later
from ..recipe.strict import NotNull, Raw
from ..store.records.people import Right
from ..store.series import derived, rule_notes
from .operation import Local, Sent, operation

if TYPE_CHECKING:
    from ..recipe import check as recipe_check
    from ..recipe import plot as recipe_plot
    from ..records import catalog as catalogs
else:  # an operation is declared without what carries it out
    recipe_plot = later("workbench.recipe.plot")
    recipe_check = later("workbench.recipe.check")
    catalogs = later("workbench.records.catalog")


Json = dict[str, Sent]
Unsaved = Annotated[Sent, Field(description="A recipe; its transform may be missing.")]


class Problems(TypedDict):
    """Everything that is wrong with a recipe; empty if it is sound."""

    problems: list[ProblemDetail]


class Options(TypedDict):
    """The present choices of each param that takes them from a step."""

    options: dict[str, list[Json]]


class Checker(Local, Protocol):
    """A store as one user sees it, against which recipes are checked."""

    def check(self, config: Raw, values: Mapping[str, JsonValue]) -> list[Problem]: ...
    def live_choices(
        self, config: recipe_plot.PlotConfig, values: Mapping[str, JsonValue]
    ) -> dict[str, list[Json]]: ...


class RecipeOperations:
    """What users can ask about recipes without running them."""

    group = "Recipes"

    @operation("GET", "/projects/{project_id}/catalog", Right.READ, heavy=True)
    def catalog(self: Local) -> catalogs.Catalog:
        """Sources, columns, units and counts that the caller may see; notes on what older rules made."""
        with self.store.snapshot():
            found = self.store.catalogs.of(self.scope, self.cache)
            reach = derived.in_reach(self.store, self.scope)
            return replace(found, notes=rule_notes.notes(self.store, reach, self.cache))

    @operation("POST", "/projects/{project_id}/recipes/check", Right.WRITE, heavy=True, reads=True)
    def problems_of(self: Checker, config: Unsaved, values: Annotated[Json | None, NotNull()] = None) -> Problems:
        """Everything wrong with a recipe, also what it needs of the store; its transform may be missing."""
        found = self.check(config, values or {})
        return {"problems": [problem.as_detail() for problem in found]}

    @operation("POST", "/projects/{project_id}/recipes/options", Right.WRITE, heavy=True, reads=True)
    def options_of(self: Checker, config: Unsaved, values: Annotated[Json | None, NotNull()] = None) -> Options:
        """The present choices of the params that take them from a step."""
        return {"options": self.live_choices(recipe_check.sound(config, transform=False), values or {})}
