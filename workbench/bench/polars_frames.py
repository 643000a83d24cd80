"""Tables as polars frames, where polars is installed; the workbench itself does not need it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ..errors import BadRequest
from ..quick_import import later
from ..table import Table

if TYPE_CHECKING:
    import polars as pl

    from .. import export
else:  # files and polars frames are rare
    export = later("workbench.export")


def polars_frame(table: Table) -> pl.DataFrame:
    """A table as a polars frame: types and nulls as in the table.

    Raises
    ------
    BadRequest
        If polars is not installed.
    """
    try:
        polars = importlib.import_module("polars")
    except ImportError as error:
        raise BadRequest(
            "Polars frames need polars: pip install polars. A pandas frame works without it."
        ) from error
    made: pl.DataFrame = polars.from_arrow(export.arrow_table(table))
    return made
