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
    # Which of the two is misspelt, only the store knows.
    close = " or ".join(f"'{name}'" for name in near(column, columns.likely))
    reads = listed(f"'{name}'" for name in columns.likely)
    meant = f", or did you mean {close}, which it reads?" if close else f". It reads {reads}."
    message = f"Step '{step}' does not read '{column}': name it in its '{columns.named_in}'{meant}"
    return Problem(at, message, "unknown_column")
