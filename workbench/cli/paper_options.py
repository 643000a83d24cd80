"""The options of figures for print."""

from __future__ import annotations

from typing import Annotated

import typer

PaperOption = Annotated[
    str | None,
    typer.Option(
        "--paper",
        metavar="JOURNAL",
        help="Fit the figure to the page of a journal: `nature`, `rsc`, `acs`, `elsevier` or `ecs`.",
    ),
]
WidthOption = Annotated[
    str | None, typer.Option("--width", metavar="LENGTH", help="Width on paper, such as `8.5 cm` or `3.25 in`.")
]
HeightOption = Annotated[
    str | None, typer.Option("--height", metavar="LENGTH", help="Height on paper. Without it: by the width.")
]
FontOption = Annotated[
    str | None, typer.Option("--font", metavar="SIZE", help="Size of all letters on paper, such as `8 pt`.")
]
ColumnsOption = Annotated[
    float | None, typer.Option("--columns", metavar="N", help="Columns of the journal's page: `1` or `2`.")
]
TidyOption = Annotated[
    bool,
    typer.Option(
        "--tidy",
        help="With `.csv` or `.parquet`: name the columns by the quantities and units of the axes, not `x` and `y`.",
    ),
]
