"""What helps with an error of a script, where its own words do not: the nearest name, and what to write instead."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterator

import pandas as pd
import plotly.graph_objects as go
from plotly.basedatatypes import BasePlotlyType

from ..errors import instead, near
from .frames import Data, SeriesFrames
from .modules import HELPERS
from .output import FILENAME

_OF_PLOTLY = re.compile(r"specified for object of type plotly\.graph_objs\.([\w.]+): '(\w+)'")
_ITS_GUESS = re.compile(r"\s*Did you mean \"(\w+)\"\?\s*$")
_SEVERAL_LABELS = re.compile(r"\['(.+?)'\]")
"""How pandas writes the labels that are not there, where several were asked for."""
_FRAME_ARGUMENTS = ("data_frame", "right")
"""What plotly express and ``merge`` call the frame that they are given."""
_FROM_DATA = "A script gets all its data from 'data' and 'params'."


def hint(error: BaseException, said: str) -> str:
    """The words of an error of a script with what helps."""
    if isinstance(error, KeyError):
        return _of_column(error) or said
    if (series := _series_as_frame(error)) is not None:
        return series.one_frame
    if isinstance(error, AttributeError):
        return said + _of_attribute(error)
    if isinstance(error, NameError):
        return said + _of_name(error)
    if isinstance(error, ImportError) and (error.name or "").startswith("plotly.io"):
        return "A script shows and writes no figure: end transform with 'return' and the figure."
    if isinstance(error, PermissionError) and error.filename:
        return f"A script reads and writes no files. {_FROM_DATA}"
    return _of_property(said) if isinstance(error, ValueError) else said


def _of_column(error: KeyError) -> str | None:
    """For a column that a frame does not have: the columns that it has, nearest first. Labels of rows have the same
    error, and keep their own words."""
    label = error.args[0] if error.args else None
    if not isinstance(label, str):
        return None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if any(one.f_code.co_name == "xs" and one.f_locals.get("axis") == 0 for one in frames):
        return None
    names = [label]
    if listed := _SEVERAL_LABELS.search(label):
        if "columns" not in label and all(one.f_locals.get("axis_name") != "columns" for one in frames):
            return None
        names = listed[1].split("', '")
    for one in frames:
        owner = one.f_locals.get("self")
        owner = getattr(owner, "obj", owner) if listed else owner  # that of loc, and of a group
        if isinstance(owner, pd.DataFrame) and (gone := [name for name in names if name not in owner.columns]):
            columns = [str(column) for column in owner.columns]
            return f"the frame has no column '{gone[0]}'. {instead(gone[0], columns, 'columns')}"
    return None


def _series_as_frame(error: BaseException) -> SeriesFrames | None:
    """The series step that a script took for a frame: it asked for what frames have, or gave it to plotly or pandas."""
    if isinstance(error, AttributeError):
        return error.obj if isinstance(error.obj, SeriesFrames) else None
    if not isinstance(error, ValueError | TypeError):
        return None
    given = (
        one.f_locals.get(name) for one, _ in traceback.walk_tb(error.__traceback__) for name in _FRAME_ARGUMENTS
    )
    return next((one for one in given if isinstance(one, SeriesFrames)), None)


def _of_attribute(error: AttributeError) -> str:
    """For a name that our helpers do not have, those that they have; for a key that is read as an attribute, how it is
    read."""
    name, owner = error.name, error.obj
    if not isinstance(name, str):
        return ""
    helpers = sys.modules.get(HELPERS)
    if helpers is not None and owner is helpers:
        return f". {instead(name, [one for one in helpers.__all__ if one.islower()], 'helpers')}"
    if isinstance(owner, dict | Data) and name not in dir(type(owner)):
        close = [name] if name in owner else near(name, [str(key) for key in owner], most=1)
        return f". Read it by its key: ['{close[0] if close else name}']."
    return ""


def _of_name(error: NameError) -> str:
    """For a name that a script does not define: the nearest that there is."""
    frames = [one for one, _ in traceback.walk_tb(error.__traceback__) if one.f_code.co_filename == FILENAME]
    if not frames or not isinstance(error.name, str):
        return ""
    there = [*frames[-1].f_locals, *(one for one in frames[-1].f_globals if not one.startswith("_"))]
    close = near(error.name, there, most=1)
    return f". Did you mean '{close[0]}'?" if close else ""


def _of_property(said: str) -> str:
    """For a property that plotly does not know: one of a part of the object, written together, where it is meant;
    plotly itself guesses only among the properties of the object: of ``linewidth`` ``legendwidth``."""
    found, guess = _OF_PLOTLY.search(said), _ITS_GUESS.search(said)
    if not found or not guess:
        return said
    bare = said[: guess.start()]
    inside = next(_inside(found[1], found[2]), None)
    return f"{bare}. Did you mean '{inside or guess[1]}'?"


def _inside(path: str, name: str) -> Iterator[str]:
    made: object = go
    for name_of_part in path.split("."):
        made = getattr(made, name_of_part, None)
    if not (isinstance(made, type) and issubclass(made, BasePlotlyType)):
        return
    owner = made()
    for member in owner:
        rest = name.removeprefix(member).lstrip("_")
        part = owner[member] if rest != name and rest else None
        if isinstance(part, BasePlotlyType) and rest in part:
            yield f"{member}_{rest}"
