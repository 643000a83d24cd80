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

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import JsonValue

from .arrow import to_arrow
from .csv_cells import harmless_cell
from .dataset import StepColumns, StepResult, stacked
from .errors import BadRequest, instead
from .figure_traces import traces
from .inert_page import fitted_notes, inert_script, page_start
from .passport import Passport, embedded, sidecar, sidecar_of
from .passport.passport import KEY
from .pictures import draw
from .plotly_files import plotly_source
from .table import Column, Table, time_text
from .whole_file import refuse_folder, whole_file

PICTURES = ("png", "svg", "pdf")
TABLES = ("csv", "parquet")
ENDINGS = ("html", *PICTURES, "json", *TABLES)
CONFIG = {"showSendToCloud": False, "plotlyServerURL": "", "displaylogo": False, "responsive": True}
PLOTLY_FILE = "plotly.min.js"


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
    beside = None if passport is None or place.suffix.lower() != ".csv" else sidecar(data, passport)
    with whole_file(place) as draft:
        draft.write_bytes(data)
        # Only now: where the disk has no room for the table, the older one keeps its passport.
        if beside is not None:
            write(place.with_name(sidecar_of(place.name)), beside)
    return place


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
    page = f"""{page_start(title)}
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
{fitted_notes()}
Plotly.newPlot("figure", {{...content, config: {inside_script(orjson.dumps(CONFIG))}}}).then(fitNotes);
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
    takes scripts out; of ``![a](address)`` it makes a picture, which whoever opens the notebook would fetch."""
    name = markup.escape(" ".join(text.split()), quote=False)
    return f"# {name.replace('](', ']&#40;')}"
