"""Finds likely mistakes in a figure, such as wrong units or cut cycles. It reports them beside the figure.

Every rule is one entry of ``RULES``. The page ``docs/reference/lint.md`` is made from it. A rule reports only what is
certain from the traces and from the data that they were drawn from.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..dataset import Dataset
from ..typed_arrays import Decoded, decode
from .figure_reader import Drawn
from .lint import Lint
from .rules import RULES, Rule

__all__ = ["RULES", "Lint", "Rule", "lint"]


def lint(figure: Mapping[str, Decoded] | bytes, dataset: Dataset | None = None) -> list[Lint]:
    """Everything that looks wrong in a figure. Empty if nothing does.

    Parameters
    ----------
    figure : its JSON as bytes or, decoded, as a mapping with ``data`` and ``layout``.
    dataset : the data that it was drawn from. Without it only the rules that do not need data run.
    """
    drawn = Drawn(decode(figure) if isinstance(figure, bytes) else figure, dataset)
    found: list[Lint] = []
    for code, rule in RULES.items():
        for one in rule.find(drawn):
            found.append(Lint(code, f"{one.message} {rule.fix}", one.trace, one.axis))
    return found
