"""The columns of a step, as far as the recipe alone shows them, so that a misspelt one is found without a store."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import Loc, Problem, instead, listed, near
from .steps import Known, Step, Taken


def known_columns(steps: Mapping[str, Step]) -> dict[str, Known]:
    """Step name -> its columns; a step is missing where only the store knows (a list without fields)."""
    found: dict[str, Known] = {}
    for name, step in steps.items():
        known = step.known_columns(found)
        if known is not None:
            found[name] = known
    return found


def column_problems(name: str, step: Step, known: Mapping[str, Known]) -> list[Problem]:
    """Columns that a step takes and that its inputs certainly lack; places relative to the step.

    ``known`` are the columns of the steps before it and its own.
    """
    references = list(step.references())
    if any(found.step == name for found in references):
        return []
    named = [
        Taken(found.step, found.column, (*found.at, "column")) for found in references if found.column is not None
    ]
    taken = [*named, *step.taken()]
    problems = [lacking(name if one.step is None else one.step, one.column, one.at, known) for one in taken]
    return [problem for problem in problems if problem is not None]


def lacking(step: str, column: str, at: Loc, known: Mapping[str, Known]) -> Problem | None:
    """The problem that ``step`` has no such column; None where it has, or where only the store knows."""
    columns = known.get(step)
    if columns is None or column in columns.names:
        return None
    if not columns.named_in:
        message = f"Step '{step}' has no column '{column}'. {instead(column, columns.likely, 'columns')}"
        return Problem(at, message, "unknown_column")
    alike = near(column, columns.likely)
    if columns.named_in == "columns" and alike and _is_ours(column) and not _is_ours(alike[0]):
        message = f"Step '{step}' does not read '{column}': name it in its 'columns', in place of '{alike[0]}'."
        return Problem(at, message, "unknown_column")
    # Which of the two is misspelt, only the store knows.
    close = " or ".join(f"'{name}'" for name in alike)
    reads = listed(f"'{name}'" for name in columns.likely)
    meant = f", or did you mean {close}, which it reads?" if close else f". It reads {reads}."
    message = f"Step '{step}' does not read '{column}': name it in its '{columns.named_in}'{meant}"
    return Problem(at, message, "unknown_column")


def _is_ours(column: str) -> bool:
    """Whether samples, steps or cycles have a column of this name by the workbench's own rules."""
    # Numpy comes with these, which a recipe without a mistake does not need.
    from ..cycling.columns import SERIES_COLUMNS
    from ..cycling.cycles import CYCLE_COLUMNS
    from ..cycling.life import LIFE_COLUMNS
    from ..cycling.steps import STEP_COLUMNS

    return any(column == one.name for one in (*SERIES_COLUMNS, *STEP_COLUMNS, *CYCLE_COLUMNS, *LIFE_COLUMNS))
