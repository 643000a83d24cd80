"""What an operation is given and what it gives, and where its meaning is registered.

A module ``engine/ops/<op>.py`` registers a function for the class of the step: ``@run_step.register``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import NamedTuple

from pydantic import JsonValue

from ..dataset import StepColumns, StepResult, Warn
from ..errors import Invalid, Problem
from ..recipe.bind import Bound
from ..recipe.filters import Filters
from ..recipe.names import StepRef
from ..recipe.plot import Caps
from ..recipe.steps import Step
from ..recipe.strict import Scalar
from ..table import Table
from .columns import column_of, kinds_of
from .equality import distinct
from .reader import Reader


class Part(NamedTuple):
    """What one step gave: its result, the kinds of its columns, its warnings.

    ``open`` are the columns of rows whose kind is that of the values in reach: no declaration fixes it.
    """

    result: StepResult
    columns: StepColumns
    warnings: list[Warn]
    open: frozenset[str] = frozenset()

    @classmethod
    def of_rows(cls, table: Table, warnings: Sequence[Warn] = (), *, open: Iterable[str] = ()) -> Part:
        return cls(table, kinds_of(table), [*warnings], frozenset(open))


class Plan:
    """The steps that have run so far, for the one that runs now."""

    def __init__(self, bound: Bound, reader: Reader) -> None:
        self.reader = reader
        self.caps: Caps = bound.caps
        self.parts: dict[str, Part] = {}

    def table(self, name: str) -> Table:
        """The rows of an earlier step. The check of the recipe has seen that they are rows."""
        result = self.parts[name].result
        if not isinstance(result, Table):
            raise Invalid(Problem((), f"Step '{name}' is a series step, which has no rows."))
        return result

    def values(self, ref: StepRef, place: tuple[str, ...]) -> list[JsonValue]:
        """The distinct non-null values of a column of an earlier step, in row order."""
        return distinct(column_of(self.table(ref.from_), ref.column, (*place, "column")))

    def ids(self, ids: list[Scalar] | str | StepRef) -> list[JsonValue]:
        return self.values(ids, ("ids",)) if isinstance(ids, StepRef) else list(ids)

    def where(self, where: Filters | None) -> dict[str, JsonValue]:
        return {
            key: self.values(value, ("where", key)) if isinstance(value, StepRef) else value
            for key, value in (where.items() if where is not None else ())
        }


@singledispatch
def run_step(step: Step, plan: Plan) -> Part:
    """What a bound step gives, by its operation; every operation registers its own function."""
    raise TypeError(
        f"The operation '{step.op}' has no meaning: register one in workbench/engine/ops/{step.op}.py."
    )
