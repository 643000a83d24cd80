"""The page of the rules of figure lint."""

from __future__ import annotations

from workbench.lint import RULES

from .prose import MADE, cell


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# Figure lint",
        "",
        f"<!-- {MADE} -->",
        "",
        "Warnings about a figure: what a careful reader would ask. They are beside the figure, never in it, as",
        "`figure.workbench.lint`: a list whose entries have `code`, `message` (what is wrong, the fix), `trace` (the",
        "place in `figure.data`) and `axis` (its name in the layout). A rule warns only where it is certain, from the",
        "traces and the data that they were drawn from. A trace counts as a column if it is that column, point by",
        "point, times a sign, a prefix or a unit of time.",
        "",
        "| code | what it finds | the fix |",
        "|---|---|---|",
        *(f"| `{code}` | {cell(rule.finds)} | {cell(rule.fix)} |" for code, rule in RULES.items()),
        "",
    ]
    return "\n".join(lines)
