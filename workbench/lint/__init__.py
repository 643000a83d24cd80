"""Finds likely mistakes in a figure, such as wrong units or cut cycles. It reports them beside the figure.

Every rule is one entry of ``RULES``. The page ``docs/reference/lint.md`` is made from it. A rule reports only what is
certain from the traces and from the data that they were drawn from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from ..dataset import Dataset
from ..typed_arrays import Decoded, decode
from .figure_reader import Drawn
from .lint import Lint
from .rules import RULES, Rule

__all__ = ["RULES", "Lint", "Rule", "hints", "lint"]


_OF_ODD_FIGURES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""A script may put anything anywhere, such as an array in the place of an axis, and plotly.js leaves out what it cannot
read. A rule that meets such a thing has nothing to say, and the figure is shown."""


def lint(
    figure: Mapping[str, Decoded] | bytes,
    dataset: Dataset | None = None,
    warnings: Sequence[Mapping[str, JsonValue]] = (),
) -> list[Lint]:
    """Everything that looks wrong in a figure. Empty if nothing does.

    Parameters
    ----------
    figure : its JSON as bytes or, decoded, as a mapping with ``data`` and ``layout``.
    dataset : the data that it was drawn from. Without it only the rules that do not need data run.
    warnings : those of the figure answer, each with ``code`` and ``message``.
    """
    drawn = Drawn(decode(figure) if isinstance(figure, bytes) else figure, dataset, warnings)
    found: list[Lint] = []
    for code, rule in RULES.items():
        try:
            of_rule = list(rule.find(drawn))
        except _OF_ODD_FIGURES:
            continue
        found += [Lint(code, f"{one.message} {rule.fix}", one.trace, one.axis) for one in of_rule]
    return found


def hints(found: Sequence[Lint]) -> list[Lint]:
    """The first finding of each rule; its message says how many more there are of the kind."""
    first: dict[str, Lint] = {}
    for one in found:
        first.setdefault(one.code, one)
    more = Counter(one.code for one in found)
    return [
        replace(one, message=f"{one.message} {_more(more[code] - 1)}") if more[code] > 1 else one
        for code, one in first.items()
    ]


def _more(others: int) -> str:
    return f"There is {others} more of this kind." if others == 1 else f"There are {others} more of this kind."
