"""Figures and rows as files: pages, pictures, tables, notebooks. Every file appears whole or not at all."""

from __future__ import annotations

import csv
import hashlib
import html as markup
import importlib
import io
import os
import pprint
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from .arrow import to_arrow
from .dataset import StepResult
from .errors import BadRequest, ExportUnavailable, instead
from .messages import counted, spaced
from .table import Column, Table, concat, concat_columns, time_text
from .typed_arrays import decode

PICTURES = ("png", "svg", "pdf")
TABLES = ("csv", "parquet")
ENDINGS = ("html", *PICTURES, "json", *TABLES)
CONFIG = {"showSendToCloud": False, "plotlyServerURL": "", "displaylogo": False, "responsive": True}
PLOTLY_FILE = "plotly.min.js"
# An exported page must not fetch anything: an address inside a figure would tell its owner who looks at it.
# Unsafe-eval is for WebGL traces, whose shaders plotly.js compiles at run time.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self' file: 'unsafe-inline' 'unsafe-eval' blob:; worker-src blob:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
)
_POINTS = (
    *("x", "y", "z", "r", "theta", "a", "b", "c", "lat", "lon", "open", "high", "low", "close"),
    *("labels", "parents", "values", "base", "text", "hovertext"),
)
_ERRORS = ("error_x", "error_y", "error_z")
MOST_VALUES = 10_000_000
"""Most values of the table of a figure: a short row beside a long one, or an empty shape, may stand for many more."""
_EXACT = 2**53


def ending_of(path: str | Path, endings: Sequence[str] = ENDINGS) -> str:
    """The ending of a path, in small letters.

    Raises
    ------
    BadRequest
        If it is none of ``endings``.
    """
    ending = Path(path).suffix.lower().lstrip(".")
    if ending not in endings:
        raise BadRequest(f"'{Path(path).name}' has no known ending. {instead(ending, endings, 'endings')}")
    return ending


def save(path: str | Path, figure: bytes, *, title: str | None = None) -> Path:
    """Write encoded figure bytes in the format that the ending of ``path`` names (one of ``ENDINGS``).

    Raises
    ------
    BadRequest
        If the ending is unknown.
    ExportUnavailable
        For a picture, if kaleido or a browser is missing.
    """
    ending = ending_of(path)
    if ending == "html":
        return write(path, html(figure, title=title or Path(path).stem))
    if ending in PICTURES:
        return write(path, picture(figure, ending))
    if ending == "json":
        return write(path, figure)
    return save_table(path, traces(figure))


def save_table(path: str | Path, table: Table) -> Path:
    """Write a table as ``.csv`` or ``.parquet``."""
    ending = ending_of(path, TABLES)
    return write(path, table_csv(table) if ending == "csv" else table_parquet(table))


def write(path: str | Path, data: bytes) -> Path:
    """Write a file at once: a reader sees the old one or the new one, also after a crash."""
    target = Path(path)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return target


def html(figure: bytes, *, title: str = "Figure", plotlyjs: str | None = None) -> bytes:
    """A page that shows the figure without a network.

    Parameters
    ----------
    figure : encoded bytes.
    title : of the page; any text.
    plotlyjs : None puts plotly.js (4.8 MB) into the page; else the relative address of a file with it, such as
        ``PLOTLY_FILE`` beside the page (see ``write_plotlyjs``), for folders of many pages.
    """
    if plotlyjs is None:
        script = f"<script>{plotly_source()}</script>"
    else:
        script = f'<script src="{markup.escape(plotlyjs, quote=True)}"></script>'
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{PAGE_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{markup.escape(title)}</title>
<style>
html, body {{ margin: 0; height: 100%; }}
#figure {{ width: 100%; height: 100vh; min-height: 320px; }}
</style>
{script}
</head>
<body>
<div id="figure"></div>
<script type="application/json" id="content">{_inside_script(figure)}</script>
<script>
const content = JSON.parse(document.getElementById("content").textContent);
Plotly.newPlot("figure", {{...content, config: {_inside_script(orjson.dumps(CONFIG))}}});
</script>
</body>
</html>
"""
    return page.encode()


def write_plotlyjs(folder: str | Path) -> Path:
    """Put plotly.js beside pages that name it; returns its path."""
    return write(Path(folder) / PLOTLY_FILE, plotly_source().encode())


def plotly_source() -> str:
    """The plotly.js that belongs to the installed plotly."""
    source: str = importlib.import_module("plotly.offline").get_plotlyjs()
    return source


def _inside_script(data: bytes) -> str:
    """JSON that cannot end the script element it stands in."""
    text = data.decode()
    for character, safe in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(character, safe)
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def picture(
    figure: bytes, format: str, *, width: int | None = None, height: int | None = None, scale: float | None = None
) -> bytes:
    """The figure as ``png``, ``svg`` or ``pdf``, drawn by kaleido in an installed Chrome or Chromium.

    ``width`` and ``height`` in pixels: by default those of the layout, else 900 x 600. ``scale`` is 2 for png
    and 1 else.

    Raises
    ------
    ExportUnavailable
        If kaleido or a browser is missing, or the browser fails; the sentence says what to do.
    """
    try:
        kaleido = importlib.import_module("kaleido")
    except ImportError as error:
        message = "Pictures need kaleido: install battery-workbench[export]. A .html export works without it."
        raise ExportUnavailable(message) from error
    content = orjson.loads(figure)
    layout = content.get("layout", {})
    options = {
        "format": format,
        "width": width or layout.get("width") or 900,
        "height": height or layout.get("height") or 600,
        "scale": scale or (2 if format == "png" else 1),
    }
    try:
        # Without this kaleido's page loads MathJax from the network, for every picture.
        drawn: bytes = kaleido.calc_fig_sync(content, opts=options, kopts={"mathjax": False, "timeout": 60})
    except Exception as error:
        if type(error).__name__ == "ChromeNotFoundError":
            message = "Pictures need a browser: install Chrome or Chromium. A .html export works without one."
        else:
            message = (
                f"The browser could not draw the picture ({type(error).__name__}: {error}). Export .html instead."
            )
        raise ExportUnavailable(message) from error
    return drawn


def traces(figure: bytes) -> Table:
    """The plotted values in long form: one row a point, exact.

    Columns: ``trace`` (number from 0), ``name``, then those of x, y, z, r, theta ... that occur, error bars as
    ``error_y`` and ``error_y_minus``, and custom data as ``customdata`` (``customdata 0`` ... if there are
    several). A grid (heatmap, contour) gives a row a cell; a table's columns carry its header's words.
    Where x or y is only implied (as a start and a step), it is written out.

    Raises
    ------
    BadRequest
        If the table would have more than ``MOST_VALUES`` values.
    """
    parts = [
        _labelled(number, _name(trace.get("name"), number), _points(trace))
        for number, trace in enumerate(decode(figure)["data"])
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


def _name(name: Any, number: int) -> str:
    return str(name) if isinstance(name, str | int | float) and name else f"trace {number}"


def _labelled(number: int, name: str, points: Table) -> Table:
    head = {
        "trace": Column.of(np.full(points.n, number)),
        "name": Column("text", np.zeros(points.n, np.int32), None, (name,)),
    }
    return Table({**head, **points.columns}, points.n)


def _points(trace: Mapping[str, Any]) -> Table:
    if trace.get("type") == "table":
        return _cells(trace)
    if _depth(trace.get("z")) == 2:
        return _grid(trace, trace["z"])
    columns: dict[str, Column] = {}
    for key in _POINTS:
        if _depth(trace.get(key)) == 1:
            columns[key] = _column(trace[key])
    for key in _ERRORS:
        bars = _mapping(trace.get(key))
        for part, name in (("array", key), ("arrayminus", f"{key}_minus")):
            if _depth(bars.get(part)) == 1:
                columns[name] = _column(bars[part])
    columns.update(_custom(trace.get("customdata")))
    n = max((len(column) for column in columns.values()), default=0)
    if trace.get("type", "scatter") in ("scatter", "scattergl", "bar", "waterfall", "funnel"):
        for key, other in (("x", "y"), ("y", "x")):
            if key not in columns and other in columns:
                columns[key] = _column(_implied(trace, key, n))
    return _table(columns, n)


def _table(columns: Mapping[str, Column], n: int) -> Table:
    """Columns that may be shorter than others."""
    _bounded(n, len(columns))
    return Table({name: _to_length(column, n) for name, column in columns.items()}, n)


def _bounded(rows: int, columns: int) -> None:
    if rows * columns > MOST_VALUES:
        raise BadRequest(
            f"The values of the figure would be a table of {counted(rows, 'row')} and "
            f"{counted(columns, 'column')}; it may have {spaced(MOST_VALUES)} values. Take the rows of a step."
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> Any:
    """A list or array as it is; one value as a list of it."""
    if isinstance(value, list | np.ndarray):
        return value
    return [] if value is None else [value]


def _implied(trace: Mapping[str, Any], key: str, n: int) -> Any:
    start, step = trace.get(f"{key}0", 0), trace.get(f"d{key}", 1)
    if not isinstance(start, int | float) or not isinstance(step, int | float):
        return [None] * n
    if abs(start) + abs(step) * n >= _EXACT:
        start, step = float(start), float(step)
    with np.errstate(over="ignore", invalid="ignore"):
        return start + step * np.arange(n)


def _custom(values: Any) -> dict[str, Column]:
    depth = _depth(values)
    if depth == 1:
        return {"customdata": _column(values)}
    if depth != 2:
        return {}
    _bounded(len(values), 1)
    width = max((len(_listed(row)) for row in values), default=0)
    _bounded(len(values), width)
    rows = [[*_listed(row), *[None] * (width - len(_listed(row)))] for row in values]
    return {f"customdata {place}": _column([_scalar(row[place]) for row in rows]) for place in range(width)}


def _grid(trace: Mapping[str, Any], values: Any) -> Table:
    _bounded(len(values), 1)
    height, width = len(values), max((len(_listed(row)) for row in values), default=0)
    _bounded(height, width)
    grid = [list(_listed(row)) for row in values]
    x = trace["x"] if _depth(trace.get("x")) == 1 else _implied(trace, "x", width)
    y = trace["y"] if _depth(trace.get("y")) == 1 else _implied(trace, "y", height)
    across, down = np.tile(np.arange(width), height), np.repeat(np.arange(height), width)
    columns = {"x": _to_length(_column(x), width).take(across), "y": _to_length(_column(y), height).take(down)}
    filled = (row + [None] * (width - len(row)) for row in grid)
    columns["z"] = _column([_scalar(value) for row in filled for value in row])
    return Table(columns, height * width)


def _cells(trace: Mapping[str, Any]) -> Table:
    cells = _listed(_mapping(trace.get("cells")).get("values"))
    header = _listed(_mapping(trace.get("header")).get("values"))
    _bounded(len(cells), 1)
    made: dict[str, Column] = {}
    for place, values in enumerate(cells):
        title = header[place] if place < len(header) else place
        name = str(_scalar(title[0] if isinstance(title, list) and title else title))
        made[name if name not in made and name not in ("trace", "name") else f"{name} ({place})"] = _column(
            _listed(values)
        )
    return _table(made, max((len(column) for column in made.values()), default=0))


def _depth(values: Any) -> int:
    """0 for what is no array, 1 for an array of scalars, 2 for an array of arrays."""
    if isinstance(values, np.ndarray):
        return min(values.ndim, 2)
    if not isinstance(values, list):
        return 0
    return 2 if any(isinstance(item, list | np.ndarray) for item in values) else 1


def _scalar(value: Any) -> Any:
    """A JSON scalar as it is; what is nested, as its JSON text."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | dict | np.ndarray):
        return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    return value


def _column(values: Any) -> Column:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return Column.of(values)
    return Column.from_python([_scalar(value) for value in values])


def _to_length(column: Column, n: int) -> Column:
    if len(column) > n:
        return column.take(np.arange(n))
    return column if len(column) == n else concat_columns([column, Column.nulls(n - len(column))])


def step_table(result: StepResult) -> Table:
    """A step of a dataset as one table: rows as they are; series one below the other.

    Series get the columns ``id`` and ``sample`` (the sample number in the stored series) first; where the step
    has columns of these names, they are ``source id`` and ``source sample``.
    """
    if isinstance(result, Table):
        return result
    parts = list(result.values())
    below = concat([samples.table for samples in parts])
    key, sample = (name if name not in below else f"source {name}" for name in ("id", "sample"))
    lengths = [len(samples.rows) for samples in parts]
    codes = np.repeat(np.arange(len(parts), dtype=np.int32), lengths)
    rows = np.concatenate([samples.rows for samples in parts]) if parts else np.zeros(0, np.int64)
    head = {key: Column("text", codes, None, tuple(result)), sample: Column.of(rows)}
    return Table({**head, **below.columns}, len(codes))


def table_csv(table: Table) -> bytes:
    """UTF-8 CSV with a header: numbers so that they read back exactly, null empty, NaN ``NaN``, UTC times."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.names)
    writer.writerows(zip(*(_csv_values(column) for column in table.values()), strict=True))
    return text.getvalue().encode()


def _csv_values(column: Column) -> Iterator[Any]:
    if column.kind == "datetime":
        missing = column.null_mask().tolist()
        return ("" if no else time_text(value) for value, no in zip(column.values.tolist(), missing, strict=True))
    return (_csv_value(value) for value in column.tolist())


def _csv_value(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "NaN" if value != value else repr(value)
    return value


def table_parquet(table: Table) -> bytes:
    """Parquet (zstd) with the columns' own types; a column of mixed types becomes text."""
    made = pa.table({name: _arrow(column) for name, column in table.items()})
    sink = pa.BufferOutputStream()
    pq.write_table(made, sink, compression="zstd")
    return bytes(sink.getvalue())


def _arrow(column: Column) -> Any:
    if column.kind == "null":
        return pa.nulls(len(column), pa.float64())
    if column.kind == "mixed":
        column = Column.text([None if value is None else str(_csv_value(value)) for value in column.tolist()])
    return to_arrow(column)


def notebook(
    config: Mapping[str, Any],
    *,
    name: str = "Plot",
    values: Mapping[str, Any] | None = None,
    opening: str = "wb.open('workbench.db')",
) -> bytes:
    """A Jupyter notebook (format 4.5, no outputs) that draws a recipe: plan, transform and params as Python.

    Parameters
    ----------
    config : a PlotConfig as plain JSON values.
    values : the chosen values of its params.
    opening : the expression that gives the bench.
    """
    imports = "import os\n\nimport workbench as wb" if "os." in opening else "import workbench as wb"
    cells = [
        _cell("markdown", f"# {_one_line(name)}"),
        _cell("code", f"{imports}\n\nbench = {opening}"),
        _cell("code", f"plan = {_python(config['plan'])}"),
        _cell("code", f"transform = {_literal(str(config['transform']))}"),
        _cell("code", f"params = {_python(config.get('params') or {})}"),
        _cell("code", "recipe = wb.Recipe(plan=plan, transform=transform, params=params)\nbench.check(recipe)"),
        _cell("code", f"values = {_python(dict(values or {}))}\nbench.figure(recipe, values)"),
    ]
    for place, cell in enumerate(cells):
        cell["id"] = hashlib.sha256(f"{place}\n{cell['source']}".encode()).hexdigest()[:12]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return orjson.dumps(content, option=orjson.OPT_INDENT_2)


def _cell(kind: str, source: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": "", "metadata": {}, "source": source}
    return {**cell, "execution_count": None, "outputs": []} if kind == "code" else cell


def _python(value: Any) -> str:
    return pprint.pformat(value, width=100, sort_dicts=False)


def _literal(text: str) -> str:
    """Text as a Python literal that reads as a script does, where its content allows it."""
    if "'''" in text or text.endswith("'") or re.search(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]", text):
        return repr(text)
    prefix = "r" if "\\" in text else ""
    return repr(text) if text.endswith("\\") else f"{prefix}'''{text}'''"


def _one_line(text: str) -> str:
    return " ".join(text.split())
