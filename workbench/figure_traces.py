"""The plotted values of a figure as one table in long form: a row for each point of each trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from .errors import BadRequest
from .messages import counted, spaced
from .table import Column, Table, concat_columns
from .typed_arrays import Decoded, centres, decode, mapping

_POINTS = (
    *("x", "y", "z", "r", "theta", "a", "b", "c", "real", "imag", "lat", "lon"),
    *("locations", "open", "high", "low", "close", "labels", "parents", "values", "base", "text", "hovertext"),
    *("lowerfence", "q1", "median", "q3", "upperfence", "mean", "sd", "notchspan", "u", "v", "w", "value"),
    *("intensity", "surfacecolor", "measure", "counts", "source", "target"),
)
GROUP = " group"
_OF_CATEGORIES = ("scatter", "scattergl", "bar", "box", "violin", "waterfall", "funnel", "histogram")
SCATTER = (None, "scatter", "scattergl")
"""Types of traces with lines and points; a trace without a type is one."""
_ERRORS = ("error_x", "error_y", "error_z")
MOST_VALUES = 10_000_000
"""Most values of the table of a figure: a few bytes of a figure can describe very large tables."""
_TRACE = ("trace", "name")
_EXACT = 2**53
Trace: TypeAlias = Mapping[str, Decoded]
Listed: TypeAlias = list[Decoded] | NDArray[np.generic]


def traces(figure: bytes) -> Table:
    """The plotted values in long form: one row for each point, with exact values.

    Columns: ``trace`` (number from 0), ``name``, then those of x, y, z, r, theta ... that occur, error bars as
    ``error_y`` and ``error_y_minus``, and custom data as ``customdata`` (``customdata 0`` ... if there are
    several). A grid (heatmap, contour) gives one row for each of its cells, with its centre. The columns of a table
    have the texts of its header as names. An x or y that is only implied (as a start and a step) is written out.

    Raises
    ------
    BadRequest
        If the table would have more than ``MOST_VALUES`` values.
    """
    parts = [
        _labelled(number, trace_name(trace.get("name"), number), points_of(trace))
        for number, trace in enumerate(map(mapping, listed(decode(figure)["data"])))
    ]
    names = dict.fromkeys(name for part in parts for name in part)
    order = dict.fromkeys([*(name for name in ("trace", "name", *_POINTS) if name in names), *names])
    _bounded(sum(part.n for part in parts), max(len(order), len(parts)))
    return Table(
        {
            name: concat_columns([part.columns.get(name) or Column.nulls(part.n) for part in parts])
            for name in order
        },
        sum(part.n for part in parts),
    )


def trace_name(name: Decoded, number: int) -> str:
    """The name of a trace; one without a name is called by its number."""
    return str(name) if isinstance(name, str | int | float) and name else f"trace {number}"


def _labelled(number: int, name: str, points: Table) -> Table:
    head = {
        "trace": Column.of(np.full(points.n, number)),
        "name": Column("text", np.zeros(points.n, np.int32), None, (name,)),
    }
    return Table({**head, **points.columns}, points.n)


def points_of(trace: Trace) -> Table:
    """The plotted values of one trace, a row for each point, under the names that plotly gives them."""
    if trace.get("type") == "table":
        return _cells(trace)
    if trace.get("type") == "sankey":
        return _links(trace)
    if trace.get("type") == "indicator":
        return _table({"value": _column(listed(trace.get("value")))}, 1)
    if _depth(trace.get("z")) == 2:
        return _grid(trace, listed(trace["z"]))
    shown = zip(dimension_labels(trace), listed(trace.get("dimensions")), strict=False)
    columns = {key: _column(listed(mapping(one).get("values"))) for key, one in shown}
    for key in _POINTS:
        if key not in columns and _depth(trace.get(key)) == 1:
            columns[key] = _column(listed(trace[key]))
    for key in ("x", "y"):
        columns.update(_levels(key, trace))
    for key in _ERRORS:
        columns.update(_error_bars(key, mapping(trace.get(key)), columns.get(key[-1])))
    columns.update(_custom(trace.get("customdata")))
    n = max((len(column) for column in columns.values()), default=0)
    base = trace.get("base")
    if isinstance(base, int | float) and n:  # one for all bars
        columns["base"] = Column.of(np.full(n, base))
    if trace.get("type", "scatter") in ("scatter", "scattergl", "bar", "waterfall", "funnel"):
        for key, other in (("x", "y"), ("y", "x")):
            if key not in columns and other in columns:
                columns[key] = _column(_implied(trace, key, n))
    return _table(columns, n)


def _error_bars(key: str, bars: Trace, of: Column | None) -> dict[str, Column]:
    """The lengths of error bars, also where they are only implied, as a percentage of the values ``of`` the axis."""
    made: dict[str, Column] = {}
    for part, name in (("array", key), ("arrayminus", f"{key}_minus")) if bars.get("visible") is not False else ():
        if _depth(bars.get(part)) == 1:
            made[name] = _column(listed(bars[part]))
    how = bars.get("type", "percent" if "value" in bars else None)
    if made or of is None or of.kind not in ("number", "integer") or bars.get("visible") is False:
        return made
    if how == "sqrt":
        return {key: Column.of(np.sqrt(np.abs(of.floats())))}
    for part, name in (("value", key), ("valueminus", f"{key}_minus")):
        value = bars.get(part, 10 if part == "value" else None)
        if how in ("percent", "constant") and isinstance(value, int | float):
            share = np.abs(of.floats()) / 100 if how == "percent" else np.ones(len(of))
            made[name] = Column.of(value * share)
    return made


def _levels(key: str, trace: Trace) -> dict[str, Column]:
    """An axis of categories in groups, as of the cycles of several tests: a category, and its group."""
    levels = listed(trace.get(key))
    two = _depth(trace.get(key)) == 2 and len(levels) == 2
    if not two or trace.get("type", "scatter") not in _OF_CATEGORIES:
        return {}
    group, category = (_column(listed(one)) for one in levels)
    return {key: category, f"{key}{GROUP}": group}


def _table(columns: Mapping[str, Column], n: int) -> Table:
    """The table of columns that may be shorter than others; the missing values are null."""
    _bounded(n, len(columns))
    return Table({name: _to_length(column, n) for name, column in columns.items()}, n)


def _bounded(rows: int, columns: int) -> None:
    if rows * columns > MOST_VALUES:
        raise BadRequest(
            f"The values of the figure would be a table of {counted(rows, 'row')} and "
            f"{counted(columns, 'column')}; it may have {spaced(MOST_VALUES)} values. Export a step instead."
        )


def listed(value: Decoded) -> Listed:
    """A list or array as it is; a single value as a list of one."""
    if isinstance(value, list | np.ndarray):
        return value
    return [] if value is None else [value]


def _implied(trace: Trace, key: str, n: int) -> Listed:
    start, step = trace.get(f"{key}0", 0), trace.get(f"d{key}", 1)
    if not isinstance(start, int | float) or not isinstance(step, int | float):
        return [None] * n
    if abs(start) + abs(step) * n >= _EXACT:
        start, step = float(start), float(step)
    with np.errstate(over="ignore", invalid="ignore"):
        return start + step * np.arange(n)


def _custom(given: Decoded) -> dict[str, Column]:
    depth, values = _depth(given), listed(given)
    if depth == 1:
        return {"customdata": _column(values)}
    if depth != 2:
        return {}
    _bounded(len(values), 1)
    width = max((len(listed(row)) for row in values), default=0)
    _bounded(len(values), width)
    rows = [[*listed(row), *[None] * (width - len(listed(row)))] for row in values]
    return {f"customdata {place}": _column([_scalar(row[place]) for row in rows]) for place in range(width)}


def _grid(trace: Trace, values: Listed) -> Table:
    _bounded(len(values), 1)
    height, width = len(values), max((len(listed(row)) for row in values), default=0)
    _bounded(height, width)
    turned = trace.get("transpose") is True and trace.get("type") in ("heatmap", "contour")

    def cells(rows: Listed) -> list[Decoded]:
        """The values of all cells, row by row as they are drawn."""
        held = [*map(list, map(listed, rows)), *([] for _ in range(height - len(rows)))]
        places = [[row[at] if at < len(row) else None for at in range(width)] for row in held[:height]]
        drawn = (one for row in (zip(*places, strict=True) if turned else places) for one in row)
        return [one if isinstance(one, list | np.ndarray) else _scalar(one) for one in drawn]

    kept = [key for key in ("z", "text", "hovertext", "surfacecolor") if _depth(trace.get(key)) == 2]
    filled = {key: _column([_scalar(one) for one in cells(listed(trace[key]))]) for key in kept}
    if _depth(trace.get("customdata")) == 2:
        filled |= _custom(cells(listed(trace["customdata"])))
    height, width = (width, height) if turned else (height, width)
    x = listed(trace["x"]) if _depth(trace.get("x")) == 1 else _implied(trace, "x", width)
    y = listed(trace["y"]) if _depth(trace.get("y")) == 1 else _implied(trace, "y", height)
    if trace.get("type") == "heatmap":  # it may have the edges of its cells
        x, y = centres(x, width), centres(y, height)
    across, down = np.tile(np.arange(width), height), np.repeat(np.arange(height), width)
    columns = {"x": _to_length(_column(x), width).take(across), "y": _to_length(_column(y), height).take(down)}
    for key in ("x", "y"):  # a surface may name the place of each of its cells
        if _depth(trace.get(key)) == 2:
            rows = [list(listed(row)) for row in listed(trace[key])[:height]]
            places = [row[at] if at < len(row) else None for row in rows for at in range(width)]
            columns[key] = _to_length(_column([_scalar(place) for place in places]), height * width)
    return Table({**columns, **filled}, height * width)


def _links(trace: Trace) -> Table:
    """The flows of a Sankey diagram: from which node to which one, and how much."""
    links = mapping(trace.get("link"))
    labels = dict(enumerate(listed(mapping(trace.get("node")).get("label"))))
    columns = {key: _column(listed(links.get(key))) for key in ("source", "target", "value")}
    for end in ("source", "target"):
        columns[end] = _column(
            [labels.get(one, one) if isinstance(one, int) else None for one in columns[end].tolist()]
        )
    return _table(columns, max(len(column) for column in columns.values()))


def dimension_labels(trace: Trace) -> dict[str, str]:
    """The labels of a trace that shows lists of values side by side, as parallel coordinates do, in their order, by the
    names of their columns in ``points_of``. A list without a label is called by its number.
    """
    if trace.get("type") not in ("parcoords", "parcats", "splom"):
        return {}
    shown = listed(trace.get("dimensions"))
    _bounded(len(shown), 1)
    labels: dict[str, str] = {}
    for number, one in enumerate(shown, 1):
        label = str(mapping(one).get("label") or f"Dimension {number}")
        name = label
        while name in labels or name in _TRACE:
            name = f"{name}, {number}"
        labels[name] = label
    return labels


def _cells(trace: Trace) -> Table:
    cells = listed(mapping(trace.get("cells")).get("values"))
    header = listed(mapping(trace.get("header")).get("values"))
    _bounded(len(cells), 1)
    made: dict[str, Column] = {}
    for place, values in enumerate(cells):
        title = header[place] if place < len(header) else place
        name = str(_scalar(title[0] if isinstance(title, list) and title else title))
        made[name if name not in made and name not in _TRACE else f"{name} ({place})"] = _column(listed(values))
    return _table(made, max((len(column) for column in made.values()), default=0))


def _depth(values: Decoded) -> int:
    """2 for an array of arrays, 1 for an array of scalars, 0 for other values."""
    if isinstance(values, np.ndarray):
        return min(values.ndim, 2)
    if not isinstance(values, list):
        return 0
    return 2 if any(isinstance(item, list | np.ndarray) for item in values) else 1


def _scalar(value: Decoded | np.generic) -> str | int | float | None:
    """A JSON scalar as it is; a list, mapping or array as its JSON text."""
    if isinstance(value, np.generic):
        number: int | float = value.item()
        return number
    if isinstance(value, list | dict | np.ndarray):
        return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    return value


def _column(values: Listed) -> Column:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        # A figure holds whole numbers in as few bytes as they need; whoever calculates with them needs all of them.
        return Column.of(values.astype(np.int64) if values.dtype.kind in "iu" and values.itemsize < 8 else values)
    return Column.from_python([_scalar(value) for value in values])


def _to_length(column: Column, n: int) -> Column:
    if len(column) > n:
        return column.take(np.arange(n))
    return column if len(column) == n else concat_columns([column, Column.nulls(n - len(column))])
