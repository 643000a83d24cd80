"""``as_of=``: figures, views and files of the data as they were at an earlier time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ..backend import Backend
from ..errors import BadRequest
from ..moments import Moment, micros_of
from ..quick_import import later

if TYPE_CHECKING:
    from .. import passport as passports
    from . import figure as figures
    from . import opened_figure as opened
else:  # figures and exported files bring plotly
    figures = later("workbench.bench.figure")
    opened = later("workbench.bench.opened_figure")
    passports = later("workbench.passport")


AsOf: TypeAlias = "Moment | passports.Passport | opened.OpenedFigure | figures.Figure | os.PathLike[str]"
"""When: a time, a day, a revision; or what was drawn then: a figure, an exported file, its passport."""


def moment_of(as_of: AsOf) -> int:
    """Microseconds since 1970 UTC by the clock of the store.

    Raises
    ------
    BadRequest
        If it names no time.
    NotFound
        If it is a file without a passport.
    """
    if isinstance(as_of, figures.Figure):
        as_of = as_of.workbench.passport
    elif isinstance(as_of, opened.OpenedFigure):
        as_of = as_of.passport
    elif isinstance(as_of, os.PathLike) or (
        isinstance(as_of, str) and Path(as_of).suffix and Path(as_of).is_file()
    ):
        as_of = passports.read_passport(as_of)
    if not isinstance(as_of, passports.Passport):
        return micros_of(as_of)
    if as_of.data_at is not None:
        return as_of.data_at
    if not as_of.made_at:
        raise BadRequest("This passport does not say when the figure was drawn. Give a time.")
    return micros_of(as_of.made_at)


def then(backend: Backend, as_of: AsOf | None) -> Backend:
    """The backend that shows the data as of a time; the same one where none is given."""
    return backend if as_of is None else backend.as_of(moment_of(as_of))
