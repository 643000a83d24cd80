"""Exports figures and rows as files: pages, pictures, tables, notebooks. A file appears complete or not at all."""

from __future__ import annotations

import csv
import hashlib
import html as markup
import io
import pprint
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pydantic import JsonValue

from .arrow import to_arrow
from .csv_cells import harmless_cell
from .dataset import StepColumns, StepResult, stacked
from .errors import BadRequest, instead
from .exchange.writing import refuse_folder, whole_file
from .inert_page import POLICY_TAG, inert_script
from .messages import counted, spaced
from .passport import Passport, embedded, sidecar, sidecar_of
from .passport.passport import KEY
from .pictures import draw
from .plotly_files import plotly_source
from .table import Column, Table, concat_columns, time_text
from .typed_arrays import Decoded, centres, decode, mapping

PICTURES = ("png", "svg", "pdf")
TABLES = ("csv", "parquet")
ENDINGS = ("html", *PICTURES, "json", *TABLES)
CONFIG = {"showSendToCloud": False, "plotlyServerURL": "", "displaylogo": False, "responsive": True}
PLOTLY_FILE = "plotly.min.js"
_POINTS = (
    *("x", "y", "z", "r", "theta", "a", "b", "c", "real", "imag", "lat", "lon"),
    *("locations", "open", "high", "low", "close", "labels", "parents", "values", "base", "text", "hovertext"),
    *("lowerfence", "q1", "median", "q3", "upperfence", "mean", "sd", "notchspan", "u", "v", "w", "value"),
    *("intensity", "surfacecolor", "measure", "counts", "source", "target"),
)
GROUP = " group"
_OF_CATEGORIES = ("scatter", "scattergl", "bar", "box", "violin", "waterfall", "funnel", "histogram")
_ERRORS = ("error_x", "error_y", "error_z")
MOST_VALUES = 10_000_000
"""Most values of the table of a figure: a few bytes of a figure can describe very large tables."""
_TRACE = ("trace", "name")
_EXACT = 2**53
Trace: TypeAlias = Mapping[str, Decoded]
Listed: TypeAlias = list[Decoded] | NDArray[np.generic]


def ending_of(path: str | Path, endings: Sequence[str] = ENDINGS) -> str:
    """The ending of a path, in lower case.

    Raises
    ------
    BadRequest
        If it is not one of ``endings``.
    """
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in endings:
        what = (
            f"A file ending in '.{ending}' cannot be written" if ending else "The name of the file has no ending"
        )
        raise BadRequest(f"{what}: '{Path(path).name}'. {instead(ending, endings, 'endings')}")
    return ending


def save(path: str | Path, figure: bytes, *, title: str | None = None, passport: Passport | None = None) -> Path:
    """Write encoded figure bytes in the format that the ending of ``path`` names (one of ``ENDINGS``).

    With a ``passport`` the file holds it; that of a csv file is in a file beside it, ``name.csv.json``. A json file is
    the figure and nothing else.

    Raises
    ------
    BadRequest
        If the ending is unknown.
    ExportUnavailable
        For a picture, if kaleido or a browser is missing. The text says what to install.
    """
    ending = ending_of(path)
    return _write_with_sidecar(
        path, file(figure, ending, title=title or Path(path).stem, passport=passport), passport
    )


def file(figure: bytes, ending: str, *, title: str = "Figure", passport: Passport | None = None) -> bytes:
    """The bytes of a file of one of the ``ENDINGS`` with a figure or its traces; csv and json hold no passport.

    Raises
    ------
    ExportUnavailable
        As `picture`.
    """
    if ending == "html":
        return html(figure, title=title, passport=passport)
    if ending in PICTURES:
        drawn = picture(figure, ending)
        return drawn if passport is None else embedded(ending, drawn, passport)
    if ending == "json":
        return figure
    if ending == "csv":
        return table_csv(traces(figure))
    return table_parquet(traces(figure), passport)


def save_table(path: str | Path, table: Table, passport: Passport | None = None) -> Path:
    """Write a table as ``.csv`` or ``.parquet``, with its passport as `save` does; BadRequest for another ending."""
    ending = ending_of(path, TABLES)
    data = table_csv(table) if ending == "csv" else table_parquet(table, passport)
    return _write_with_sidecar(path, data, passport)


def _write_with_sidecar(path: str | Path, data: bytes, passport: Passport | None) -> Path:
    """Write a file, and that of its passport beside it if it is csv, which cannot hold one."""
    place = Path(path)
    refuse_folder(place)
    if passport is not None and place.suffix.lower() == ".csv":
        write(place.with_name(sidecar_of(place.name)), sidecar(data, passport))
    return write(path, data)


def write(path: str | Path, data: bytes) -> Path:
    """Write a file in one step: a reader sees the old file or the new file, also after a crash."""
    target = Path(path)
    with whole_file(target) as draft:
        draft.write_bytes(data)
    return target


def html(
    figure: bytes, *, title: str = "Figure", plotlyjs: str | None = None, passport: Passport | None = None
) -> bytes:
    """A page that shows the figure without a network.

    Parameters
    ----------
    figure : encoded bytes.
    title : title of the page; any text.
    plotlyjs : None puts plotly.js (4.8 MB) into the page. For a folder of many pages give the relative address of one
        file, such as ``PLOTLY_FILE`` beside the page (see ``write_plotlyjs``).
    """
    if plotlyjs is None:
        script = f"<script>{plotly_source()}</script>"
    else:
        script = f'<script src="{markup.escape(plotlyjs, quote=True)}"></script>'
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{POLICY_TAG}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{markup.escape(title)}</title>
{_passport_element(passport)}<style>
html, body {{ margin: 0; height: 100%; }}
#figure {{ width: 100%; height: 100vh; min-height: 320px; }}
</style>
<script>{inert_script()}</script>
{script}
</head>
<body>
<div id="figure"></div>
<script type="application/json" id="content">{inside_script(figure)}</script>
<script>
const content = JSON.parse(document.getElementById("content").textContent);
const height = content.layout?.height; // plotly forgets it when the window changes, and takes that of the element
if (height) document.getElementById("figure").style.height = height + "px";
Plotly.newPlot("figure", {{...content, config: {inside_script(orjson.dumps(CONFIG))}}});
</script>
</body>
</html>
"""
    return page.encode()


def write_plotlyjs(folder: str | Path) -> Path:
    """Write plotly.js into a folder, for the pages that refer to it. Returns its path."""
    return write(Path(folder) / PLOTLY_FILE, plotly_source().encode())


def _passport_element(passport: Passport | None) -> str:
    if passport is None:
        return ""
    return f'<script type="application/json" id="{KEY}">{inside_script(passport.as_json())}</script>\n'


def inside_script(data: bytes) -> str:
    """JSON that cannot end the script element that contains it."""
    text = data.decode()
    for character, safe in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, safe)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def picture(
    figure: bytes, format: str, *, width: int | None = None, height: int | None = None, scale: float | None = None
) -> bytes:
    """The figure as ``png``, ``svg`` or ``pdf``, drawn by kaleido in an installed Chrome or Chromium.

    The browser has no network: pictures and maps that a figure loads from elsewhere are not drawn.

    ``width`` and ``height`` are in pixels, 96 in an inch; by default those of the layout or of its paper, or 900 x 600.
    ``scale`` is by default 2 for png, or what the paper of the figure asks. `pictures.draw` also says what is to be
    known about the picture.

    Raises
    ------
    ExportUnavailable
        If kaleido or a browser is missing, or the browser fails, or an svg could run or fetch when it is opened. The
        text says what to do.
    """
    return draw(figure, format, width=width, height=height, scale=scale).file


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


def step_table(result: StepResult, columns: StepColumns | None = None) -> Table:
    """A step of a dataset as one table: rows as they are, series one below the other.

    ``columns`` are those of the dataset for the step: a series step that read no source has them from there.

    For series the first columns are ``id`` and ``sample`` (the sample number in the stored series). If the step has
    columns of these names, they are called ``source id`` and ``source sample``.
    """
    if isinstance(result, Table):
        return result
    ids, rows, below = stacked(result, columns)
    key, sample = (name if name not in below else f"source {name}" for name in ("id", "sample"))
    return Table({key: ids, sample: Column.of(rows), **below.columns}, len(rows))


def table_csv(table: Table) -> bytes:
    """UTF-8 CSV with a header. Numbers read back exactly, null is empty, NaN is ``NaN``, times are UTC. A text that a
    spreadsheet would run as a formula has a ``'`` before it."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([harmless_cell(name) for name in table.names])
    writer.writerows(zip(*(_csv_values(column) for column in table.values()), strict=True))
    return text.getvalue().encode()


def _csv_values(column: Column) -> Iterator[JsonValue]:
    if column.kind == "datetime":
        missing = column.null_mask().tolist()
        return ("" if no else time_text(value) for value, no in zip(column.values.tolist(), missing, strict=True))
    return (_csv_value(value) for value in column.tolist())


def _csv_value(value: JsonValue) -> JsonValue:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "NaN" if value != value else repr(value)
    return harmless_cell(value) if isinstance(value, str) else value


def table_parquet(table: Table, passport: Passport | None = None) -> bytes:
    """Parquet (zstd). Each column keeps its type; one with values of several types becomes text. The passport is in the
    metadata of its schema."""
    made = arrow_table(table)
    if passport is not None:
        made = made.replace_schema_metadata({KEY: passport.text()})
    sink = pa.BufferOutputStream()
    pq.write_table(made, sink, compression="zstd")
    return bytes(sink.getvalue())


def arrow_table(table: Table) -> pa.Table:
    """A table in Arrow's form. Each column keeps its type; one with values of several types becomes text."""
    return pa.table({name: _arrow(column) for name, column in table.items()})


def _arrow(column: Column) -> pa.Array:
    column = column.narrowed()
    if column.kind == "null":
        return pa.nulls(len(column), pa.float64())
    if column.kind == "mixed":
        column = Column.text([None if value is None else str(_csv_value(value)) for value in column.tolist()])
    return to_arrow(column)


def notebook(
    config: Mapping[str, JsonValue],
    *,
    name: str = "Plot",
    values: Mapping[str, JsonValue] | None = None,
    opening: str = "wb.open('workbench.db')",
    passport: Passport | None = None,
) -> bytes:
    """A Jupyter notebook (format 4.5, without outputs) that draws a recipe, with plan, transform and params as Python.

    Parameters
    ----------
    config : a PlotConfig as plain JSON values.
    values : the chosen values of its params.
    opening : the Python expression that opens the bench.
    """
    imports = "import os\n\nimport workbench as wb" if "os." in opening else "import workbench as wb"
    cells = [
        notebook_cell("markdown", heading(name)),
        notebook_cell("code", f"{imports}\n\nbench = {opening}"),
        notebook_cell("code", f"plan = {_python(config['plan'])}"),
        notebook_cell("code", f"transform = {_literal(str(config['transform']))}"),
        notebook_cell("code", f"params = {_python(config.get('params') or {})}"),
        notebook_cell(
            "code", "recipe = wb.Recipe(plan=plan, transform=transform, params=params)\nbench.check(recipe)"
        ),
        notebook_cell("code", f"values = {_python(dict(values or {}))}\nbench.figure(recipe, values)"),
    ]
    for place, cell in enumerate(cells):
        cell["id"] = hashlib.sha256(f"{place}\n{cell['source']}".encode()).hexdigest()[:12]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    said = {} if passport is None else {"battery_workbench": orjson.Fragment(passport.as_json())}
    content = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}, **said},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return orjson.dumps(content, option=orjson.OPT_INDENT_2)


def notebook_cell(kind: str, source: str) -> dict[str, JsonValue]:
    """A cell of a notebook, not run, with an empty id."""
    cell: dict[str, JsonValue] = {"cell_type": kind, "id": "", "metadata": {}, "source": source}
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell


def _python(value: JsonValue) -> str:
    return pprint.pformat(value, width=100, sort_dicts=False)


def _literal(text: str) -> str:
    """A text as a Python literal, over several lines like a script if its content allows that."""
    if "'''" in text or text.endswith("'") or re.search(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]", text):
        return repr(text)
    prefix = "r" if "\\" in text else ""
    return repr(text) if text.endswith("\\") else f"{prefix}'''{text}'''"


def heading(text: str) -> str:
    """A name as the heading of a notebook. Markdown takes tags as they are, and not every program that shows a notebook
    takes scripts out."""
    return f"# {markup.escape(' '.join(text.split()), quote=False)}"
