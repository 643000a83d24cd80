"""The page of the catalog, and of the columns that series and summaries have."""

from __future__ import annotations

from workbench.cycling.columns import SERIES_COLUMNS
from workbench.cycling.cycles import CYCLE_COLUMNS
from workbench.cycling.life import LIFE_COLUMNS
from workbench.cycling.steps import STEP_COLUMNS

from .prose import MADE, cell


def page() -> str:
    """The page as Markdown."""
    lines = [
        "# The catalog, and the columns of series and summaries",
        "",
        f"<!-- {MADE} -->",
        "",
        "`bench.catalog()` and `workbench catalog` say what a store holds: of each source its columns with type, unit,",
        "how many records fill them and examples; the names found under open objects (`properties.`, `protocol.` ...);",
        "the columns of its sampled data and how many records have each; and the columns of the two summaries of",
        'measurements. `bench.catalog()["measurements"]` is one source, `.as_dict()` all of it as JSON. The fields of',
        "every record are in [records.md](records.md). How the summaries are computed, sample by sample, is in",
        "[Steps and cycles](../explanation/cycling.md).",
        "",
    ]
    for title, told, columns in (
        (
            "Time series",
            "Of measurements and simulations; a file's other columns keep their names.",
            SERIES_COLUMNS,
        ),
        ("steps", "One row per step: `op` `summary`, `dataset` `steps`.", STEP_COLUMNS),
        ("cycles", "One row per cycle: `op` `summary`, `dataset` `cycles`.", CYCLE_COLUMNS),
        ("Life", _LIFE, LIFE_COLUMNS),
    ):
        lines += [f"## {title}", "", told, "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{c.name}` | {c.kind} | {c.unit or ''} | {cell(c.meaning)} |" for c in columns]
        lines.append("")
    return "\n".join(lines)


_LIFE = (
    "Computed on read over all tests of a cell, in `steps` and `cycles`; the first two also in a time series. "
    "See [the life of a cell](../how-to/grow.md#the-life-of-a-cell)."
)
