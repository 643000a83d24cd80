"""The warnings that an answer can carry, declared once. The operation in ``engine/ops`` that finds one makes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..dataset import Warn
from ..errors import listed

CODES: dict[str, str] = {
    "list_truncated": "A list step left out rows beyond its limit.",
    "options_truncated": "A param has more choices than are offered.",
    "value_dropped": "A chosen value is no longer among the choices.",
    "column_missing": "Some sources of a step lack a column; it is null there.",
    "field_unfilled": "No record in reach fills a dotted field.",
    "window_empty": "A window's lower bound is above its upper bound, so it holds nothing.",
    "infinity_as_null": "JSON has no infinity, so infinite values became null.",
    "points_shared": "Sources share the points of a step, and samples were left out for it.",
    "mixed_rules": "Steps or cycles of some sources were made by an older rule than those of others.",
    "life_order_unknown": "Tests of a cell have no start time or the same one: their order is not known.",
    "changed_since": "What is shown of an earlier time was changed since, or it is not certain that it was not.",
    "unverified": "The records of a large store are still being checked for damage on the disk.",
    "analysis_stale": "Stored analyses are of older data, ratings, exclusions or rules than there are now.",
    "unit_unknown": "A rated capacity in an unknown unit counts as none.",
    "limits_reversed": "Voltage limits whose lower one is above the upper one count as none.",
}
"""Code -> what it means."""


def analysis_stale(analyses: Sequence[tuple[str, str]]) -> Warn:
    """That stored records do not hold any more; of each the name of its analysis, and the call that computes it."""
    named = sorted({name for name, _ in analyses})
    again = ", ".join(sorted({call for _, call in analyses}))
    are = "A stored analysis is" if len(analyses) == 1 else f"{len(analyses)} stored analyses are"
    changed = f"of data, ratings, exclusions or a rule that changed since: {names_of(named)}"
    return Warn("analysis_stale", f"{are} {changed}. Compute again: {again}.")


def once(warnings: Iterable[Warn]) -> list[Warn]:
    """Each different warning once, in order of first appearance."""
    return list(dict.fromkeys(warnings))


def names_of(names: list[str], most: int = 3) -> str:
    """A few of the names and how many more there are, for a message."""
    return listed((f"'{name}'" for name in names), most)
