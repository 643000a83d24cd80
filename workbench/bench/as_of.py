"""``as_of=``: figures, views and files of the data as they were at an earlier time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeAlias

from ..backend import Backend
from ..errors import BadRequest
from ..moments import Moment, micros_of
from ..passport import Passport, read_passport
from .figure import Figure
from .opened_figure import OpenedFigure

AsOf: TypeAlias = Moment | Passport | OpenedFigure | Figure | os.PathLike[str]
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
    if isinstance(as_of, Figure):
        as_of = as_of.workbench.passport
    elif isinstance(as_of, OpenedFigure):
        as_of = as_of.passport
    elif isinstance(as_of, os.PathLike) or (
        isinstance(as_of, str) and Path(as_of).suffix and Path(as_of).is_file()
    ):
        as_of = read_passport(as_of)
    if not isinstance(as_of, Passport):
        return micros_of(as_of)
    if as_of.data_at is not None:
        return as_of.data_at
    if not as_of.made_at:
        raise BadRequest("This passport does not say when the figure was drawn. Give a time.")
    return micros_of(as_of.made_at)


def then(backend: Backend, as_of: AsOf | None) -> Backend:
    """The backend that shows the data as of a time; the same one where none is given."""
    return backend if as_of is None else backend.as_of(moment_of(as_of))
