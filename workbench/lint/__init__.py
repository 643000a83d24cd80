"""What a careful reader would ask about a figure, said beside it and never in it.

Every rule is one entry of ``RULES``; the page ``docs/reference/lint.md`` is made from it. A rule speaks only where
it is certain: it looks at the traces, and at the data that they were drawn from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..dataset import Dataset
from ..typed_arrays import decode
from .figure_reader import Drawn
from .lint import Lint
from .rules import RULES, Rule

__all__ = ["RULES", "Lint", "Rule", "lint"]


def lint(figure: Mapping[str, Any] | bytes, dataset: Dataset | None = None) -> list[Lint]:
    """Everything that is odd about a figure; empty where nothing is.

    Parameters
    ----------
    figure : its JSON as bytes or, decoded, as a mapping with ``data`` and ``layout``.
    dataset : what it was drawn from; without it only the rules that need none speak.
    """
    drawn = Drawn(decode(figure) if isinstance(figure, bytes) else figure, dataset)
    found: list[Lint] = []
    for code, rule in RULES.items():
        for odd in rule.find(drawn):
            found.append(Lint(code, f"{odd.message} {rule.mend}", odd.trace, odd.axis))
    return found
