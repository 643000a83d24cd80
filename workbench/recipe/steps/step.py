"""What every step of a plan says of itself: its references, where params bind, its columns, what is wrong with it.

References and value positions follow from the types of the fields (``recipe.marks``); an operation adds only what
its types do not say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, ClassVar, NamedTuple, Self, TypeAlias

from pydantic import Field, JsonValue

from ...errors import Loc, Problem
from ..filters import Filters
from ..marks import Binds, Earlier, Position, mark_of
from ..names import ColumnName, Identifier, StepRef
from ..shapes import models_in
from ..strict import Strict

Visit: TypeAlias = Callable[[JsonValue, Position, Loc], JsonValue]
"""Gives the new value of a value position: ``visit(value, position, place)``."""

EarlierStep: TypeAlias = Annotated[Identifier, Earlier()]
"""The name of an earlier row-shaped step."""
Fields: TypeAlias = Annotated[list[ColumnName], Field(max_length=30)]
Columns: TypeAlias = Annotated[list[ColumnName], Field(min_length=1, max_length=12)]


@dataclass(frozen=True)
class Known:
    """Column names of a step.

    ``exact`` is False where it may have fewer than these, ``named_in`` the field in which a step that reads says which
    it reads. ``unlikely`` are names among them that nobody should be shown: the step has them only if an input has a
    column of the name of another one.
    """

    names: tuple[str, ...]
    exact: bool = True
    named_in: str = ""
    unlikely: frozenset[str] = frozenset()

    @property
    def likely(self) -> tuple[str, ...]:
        """The names to suggest."""
        return tuple(name for name in self.names if name not in self.unlikely)

    @classmethod
    def of(cls, *names: str, exact: bool = True, named_in: str = "") -> Known:
        """Each name once, in order."""
        return cls(tuple(dict.fromkeys(names)), exact, named_in)


class Reference(NamedTuple):
    """A step named by another: the step, where its name stands, and the column taken (None: the rows)."""

    step: str
    at: Loc
    column: str | None


class Taken(NamedTuple):
    """A column that a step takes of an earlier one, or of its own result (``step`` None), and where it says so."""

    step: str | None
    column: str
    at: Loc


class Step(Strict):
    """Base of every operation of a plan: one class says all of it that needs no store.

    ``has_rows`` is False if the result is series by id and not rows; then steps cannot refer to it. ``row_key`` is
    the column with the ids of its rows, which a builder takes where the step itself stands for ids; a step that
    keeps the rows of another names the field with that one in ``rows_from`` instead.
    """

    has_rows: ClassVar[bool] = True
    row_key: ClassVar[str | None] = None
    rows_from: ClassVar[str | None] = None

    op: str

    @property
    def stored_in(self) -> str | None:
        """The source whose stored samples are the columns of this step as they are; None where it computes."""
        return None

    def references(self) -> Iterator[Reference]:
        """The references of the step, places relative to it."""
        return _references(self, ())

    def rebuilt(self, visit: Visit) -> Self:
        """The step with every value position replaced by ``visit(value, position, place)``; StepRefs stay.

        Conditions of Filters and of a mapping that become None are left out. The result is not validated again:
        it may hold what only a bound step holds.
        """
        return self.model_copy(update=_bound_fields(self, visit, ()))

    def known_columns(self, earlier: Mapping[str, Known]) -> Known | None:
        """The columns as far as the recipe alone shows them; None where only the store knows."""
        return None

    def taken(self) -> Iterator[Taken]:
        """The columns that the step takes by name, besides those of its StepRefs."""
        return iter(())

    def problems(self, earlier: Mapping[str, Known]) -> Iterator[Problem]:
        """What is wrong with the step besides its shape, references, columns and params; places relative to it."""
        return iter(())


class _Place(NamedTuple):
    """A field in which, or below which, params bind or steps are named."""

    name: str
    json: str
    position: Position | None
    earlier: bool


@cache
def _places(model: type[Strict]) -> tuple[_Place, ...]:
    found = []
    for name, field in model.model_fields.items():
        binds, earlier = mark_of(field, Binds), mark_of(field, Earlier)
        if binds or earlier or any(_places(inner) for inner in models_in(field)):
            position = None if binds is None else binds.position
            found.append(_Place(name, field.alias or name, position, earlier is not None))
    return tuple(found)


def earlier_fields(model: type[Strict]) -> list[str]:
    """The JSON names of the fields that hold the name of an earlier step."""
    return [place.json for place in _places(model) if place.earlier]


def _references(model: Strict, at: Loc) -> Iterator[Reference]:
    for place in _places(type(model)):
        value, here = getattr(model, place.name), (*at, place.json)
        if isinstance(value, StepRef):
            yield Reference(value.from_, here, value.column)
        elif isinstance(value, Strict):
            yield from _references(value, here)
        elif place.earlier:
            yield Reference(value, here, None)


def _bound_fields(model: Strict, visit: Visit, at: Loc) -> dict[str, JsonValue]:
    """Field -> its value after ``visit``, for the fields that are not null."""
    found = {}
    for name, json, position, _ in _places(type(model)):
        value = getattr(model, name)
        if value is not None:
            found[name] = _value(value, position, visit, (*at, json))
    return found


def _value(value: JsonValue, position: Position | None, visit: Visit, at: Loc) -> JsonValue:
    if isinstance(value, Strict):
        if isinstance(value, StepRef):
            return value
        inside = _bound_fields(value, visit, at)
        if isinstance(value, Filters):
            return value.holding(inside)
        return value.model_copy(update=inside) if inside else value
    if isinstance(value, dict):
        made = {key: _value(item, position, visit, (*at, key)) for key, item in value.items() if item is not None}
        return {key: item for key, item in made.items() if item is not None}
    return value if position is None else visit(value, position, at)
