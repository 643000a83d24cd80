"""The columns of a step as far as the recipe alone tells them, so that a misspelt one is found without a store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..errors import Loc, Problem, instead, near
from .references import refer, references
from .steps import AggregateStep, JoinStep, ListStep, Step, SummaryStep


@dataclass(frozen=True)
class Known:
    """Column names of a step; ``exact`` is False where it may have fewer than these, ``named_in`` the field in which
    a step that reads says which it reads."""

    names: tuple[str, ...]
    exact: bool = True
    named_in: str = ""


def known_columns(steps: Mapping[str, Step]) -> dict[str, Known]:
    """Step name -> its columns; a step is missing where only the store knows (a list without fields)."""
    found: dict[str, Known] = {}
    for name, step in steps.items():
        known = _columns(step, found)
        if known is not None:
            found[name] = known
    return found


def _columns(step: Step, earlier: Mapping[str, Known]) -> Known | None:
    if isinstance(step, ListStep):
        if step.fields is None:
            return None
        return Known(_distinct("id", *step.fields), exact=not step.fields, named_in="fields")
    if isinstance(step, SummaryStep):
        return Known(_distinct("measurement_id", *step.columns), named_in="columns")
    if isinstance(step, AggregateStep):
        return Known(_distinct(*step.group_by, *step.metrics))
    if isinstance(step, JoinStep) and step.left in earlier:
        return _joined(step, earlier[step.left], earlier.get(step.right))
    return None


def _joined(step: JoinStep, left: Known, right: Known | None) -> Known | None:
    if step.fields is not None:
        attached, exact = _distinct(*step.fields), left.exact
    elif right is not None:
        attached, exact = tuple(n for n in right.names if n != step.on.right), left.exact and right.exact
    else:
        return None
    names = list(left.names)
    for column in attached:
        if column in names or not exact:
            names.append(f"{column}_right")
        if column not in left.names:
            names.append(column)
    return Known(_distinct(*names), exact)


def _distinct(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def column_problems(steps: Mapping[str, Step], name: str, known: Mapping[str, Known]) -> list[Problem]:
    """Columns that step ``name`` takes and that its inputs certainly lack; places relative to the step."""
    step = steps[name]
    known = {other: known[other] for other in list(steps)[: list(steps).index(name) + 1] if other in known}
    if name in references(step):
        return []
    taken = [
        (found.step, found.column, (*found.at, "column")) for found in refer(step) if found.column is not None
    ]
    if isinstance(step, AggregateStep):
        taken += [(step.input, column, at) for column, at in _aggregated(step)]
    if isinstance(step, JoinStep):
        taken.append((step.left, step.on.left, ("on", "left")))
        taken.append((step.right, step.on.right, ("on", "right")))
        taken += [(step.right, column, ("fields", place)) for place, column in enumerate(step.fields or ())]
        taken += [(name, column, ("where", column)) for column in step.where or ()]
    problems = [lacking(source, column, at, known) for source, column, at in taken]
    clashes = _clashes(step, known) if isinstance(step, JoinStep) else []
    return [problem for problem in problems if problem is not None] + clashes


def _aggregated(step: AggregateStep) -> Iterator[tuple[str, Loc]]:
    for place, column in enumerate(step.group_by):
        yield column, ("group_by", place)
    if step.sort_by is not None:
        yield step.sort_by, ("sort_by",)
    for name, metric in step.metrics.items():
        if metric.column is not None:
            yield metric.column, ("metrics", name, "column")
        if metric.where is not None:
            yield metric.where.column, ("metrics", name, "where", "column")


def lacking(step: str, column: str, at: Loc, known: Mapping[str, Known]) -> Problem | None:
    """The problem that ``step`` has no such column; None where it has, or where only the store knows."""
    columns = known.get(step)
    if columns is None or column in columns.names:
        return None
    if not columns.named_in:
        message = f"Step '{step}' has no column '{column}'. {instead(column, columns.names, 'columns')}"
        return Problem(at, message, "unknown_column")
    # Which of the two is misspelt, only the store knows.
    close = " or ".join(f"'{name}'" for name in near(column, columns.names))
    meant = f", or did you mean {close}, which it reads?" if close else f". It reads {_listed(columns.names)}."
    message = f"Step '{step}' does not read '{column}': name it in its '{columns.named_in}'{meant}"
    return Problem(at, message, "unknown_column")


def _listed(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(f"'{name}'" for name in names[:most]) + more


def _clashes(step: JoinStep, known: Mapping[str, Known]) -> list[Problem]:
    """A column whose name with the suffix ``_right`` is taken too."""
    left, right = known.get(step.left), known.get(step.right)
    if left is None or not left.exact or (step.fields is None and (right is None or not right.exact)):
        return []
    attached = step.fields if step.fields is not None else [n for n in right.names if n != step.on.right]  # type: ignore[union-attr]
    problems: list[Problem] = []
    names = set(left.names)
    for column in _distinct(*attached):
        target = f"{column}_right" if column in left.names else column
        if target in names:
            message = (
                f"'{column}' would be attached as '{target}', and both '{column}' and '{target}' are taken: "
                "name other columns in 'fields'."
            )
            problems.append(Problem(("fields",), message, "name_taken"))
        names.add(target)
    return problems
