"""The temporary store of ``bench.quick``: ingests one file into it, and describes what the file holds."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ... import temporary_folder
from ...cycling.computed_columns import COMPUTED
from ...errors import BadRequest, FileRefused
from ...ingest.options import IngestKeywords, IngestOptions
from ...ingest.report.report import FileReport
from ...ingest.report.settled_by import settled_by
from ...local import LocalBackend
from ...messages import column_map
from ...near_files import meant_file
from ...records import Material, MaterialProperty
from ...table import Column as TableColumn
from ...table import Table
from ..input_tables import table_of
from .recipes import FREQUENCY, MOST_GROUPS, ROW, TIME, Column, Held
from .tables import NoTable, read_table

TABLES = "materialProperties"
FRAME = "DataFrame"
"""The name of the file that a frame is written to, and so what a frame is called in sentences about its columns."""
_FILE = re.compile(r"\bfile\b")
_LOOKED_AT = 200_000
_OF_THE_CELL = ("rating", "cell", "test")
"""What is assumed of the cell of a file. A quick look shows no cell."""
OPTIONS = ("format", "column_map", "sign", "repair")
"""The options of an ingest that a quick look takes."""


@dataclass
class Taken:
    """A file in its temporary store: the backend, the id of its record, what it holds, and what was assumed."""

    name: str
    backend: LocalBackend
    folder: Path
    held: Held
    record: str
    format: str
    notes: list[tuple[str, str]] = field(default_factory=list)
    is_frame: bool = False


def take(given: str | Path | pd.DataFrame, options: IngestKeywords) -> Taken:
    """Ingest a file or a frame into a store in a temporary folder, with the ordinary readers and checks.

    A file that no reader recognizes as a test is stored as a plain table, unless ``options`` say how to read it.

    Raises
    ------
    FileRefused
        If the file is neither; with the reasons of the readers.
    """
    is_frame = isinstance(given, pd.DataFrame)
    try:
        taken = _take(given, options)
    except FileRefused as error:
        raise FileRefused(_of_frame(str(error)) if is_frame else str(error)) from None
    if is_frame:
        taken.is_frame = True
        taken.notes = [(level, _of_frame(line)) for level, line in taken.notes]
    return taken


def _of_frame(text: str) -> str:
    """A sentence about a file as one about a frame."""
    return _FILE.sub("frame", text)


def _take(given: str | Path | pd.DataFrame, options: IngestKeywords) -> Taken:
    folder = temporary_folder.make()
    backend: LocalBackend | None = None
    try:
        path = _file(given, folder)
        backend = LocalBackend.open(folder / "quick.db")
        reports = backend.ingest(path, IngestOptions.of(options)).files
        report = next((one for one in reports if _has_samples(backend, one)), reports[0])
        if _has_samples(backend, report):
            return _as_measurement(backend, folder, path, report, of=len(reports))
        if not report.why:
            made = " and ".join(report.created) or "records of other kinds"
            report.why = f"'{path.name}' holds no samples of a test. An ingest makes {made} of it."
        frame = _table(path, report, options)
        return _as_table(backend, folder, path, frame, report)
    except BaseException:  # also on Ctrl-C: the temporary folder must go
        discard(backend, folder)
        raise


def discard(backend: LocalBackend | None, folder: Path) -> None:
    """Close the store and delete it."""
    if backend is not None:
        backend.close()
    shutil.rmtree(folder, ignore_errors=True)


def _file(given: str | Path | pd.DataFrame, folder: Path) -> Path:
    if isinstance(given, pd.DataFrame):
        if not len(given) or not len(given.columns):
            raise BadRequest("The DataFrame is empty: it has no rows, or no columns.")
        path = folder / FRAME
        frame = given if given.index.names == [None] else given.reset_index()
        try:
            frame.rename(columns=str).to_parquet(path, index=False)
        except (TypeError, ValueError, OverflowError) as error:
            raise BadRequest(f"The frame has a column that cannot be stored: {error}.") from None
        return path
    if not isinstance(given, str | Path):
        frame_of = " Give .to_pandas() of it." if hasattr(given, "to_pandas") else ""
        raise BadRequest(
            f"quick draws the path of one file or a DataFrame, not a {type(given).__name__}.{frame_of}"
        )
    path = Path(given).expanduser()
    if path.is_dir():
        raise BadRequest(
            f"'{path}' is a folder, and quick draws one file. bench.ingest(folder) reads all of them."
        )
    if not path.is_file():
        raise FileRefused(f"There is no file '{path}'.{meant_file(path)}")
    return path


def _table(path: Path, report: FileReport, options: IngestKeywords) -> pd.DataFrame:
    if options.get("format") or options.get("column_map") or options.get("sign"):
        raise FileRefused(report.why)
    try:
        return read_table(path)
    except NoTable:
        raise FileRefused(report.why) from None


def _has_samples(backend: LocalBackend, report: FileReport) -> bool:
    record = report.measurement_id
    return record is not None and backend.store.series.info(record, scope=backend.scope) is not None


def _as_measurement(backend: LocalBackend, folder: Path, path: Path, report: FileReport, of: int) -> Taken:
    record = report.measurement_id or ""
    series = backend.store.series
    infos = {name: series.info(record, name, scope=backend.scope) for name in ("series", "steps", "cycles")}
    info = infos["series"]
    columns = {}
    duration = 0.0
    for column in info.columns if info is not None else ():
        filled = (info.rows if info is not None else 0) - column.nulls
        columns[column.name] = Column(
            column.name,
            numeric=column.kind in ("number", "integer"),
            filled=filled,
            varies=column.min != column.max,
            rises=bool(column.sorted),
        )
        if column.name == TIME and filled:
            duration = float(column.max or 0) - float(column.min or 0)
    names = {key: [column.name for column in one.columns] if one is not None else [] for key, one in infos.items()}
    for key, computed in COMPUTED.items():
        names[key] += [computed.name] if names[key] else []
    spectral = None
    frequency = info.column(FREQUENCY) if info is not None else None
    if frequency is not None and frequency.min is not None and frequency.min <= 0:
        values = series.read(record, [FREQUENCY], scope=backend.scope)[FREQUENCY].floats()
        spectral = int((values > 0).sum())
    held = Held(
        "measurements",
        report.rows,
        columns,
        report.cycles,
        duration,
        spectral,
        names["cycles"],
        names["steps"],
        one_of_several=record if of > 1 else None,
    )
    notes = [("assumed", line) for line in _assumed(report)]
    if of > 1:
        said = f"The file holds {of} tests. The first with samples is drawn; bench.ingest stores all of them."
        notes.insert(0, ("assumed", said))
    notes += [("repaired", line) for line in report.repaired] + [("odd", line) for line in report.odd]
    if report.kept:
        notes.append(
            ("kept", "Columns under their own names: " + ", ".join(f"'{name}'" for name in report.kept) + ".")
        )
    return Taken(path.name, backend, folder, held, record, report.format, notes)


def _assumed(report: FileReport) -> list[str]:
    """What was assumed about the file, each with the option that settles it."""
    there = zip(report.codes, report.assumed, report.fixes, strict=True)
    return [f"{said}{_option(code, said, fix)}" for code, said, fix in there if code not in _OF_THE_CELL]


def _option(code: str, said: str, fix: str) -> str:
    how = settled_by(code, fix)
    if how is None or how.startswith("nothing"):
        return ""
    name = how.split("=")[0].split(":")[0]
    if f"{name}=" in said:
        return ""
    return f" Settled by {how}." if name in OPTIONS else f" Settled when it is ingested, by {how}."


def _as_table(backend: LocalBackend, folder: Path, path: Path, frame: pd.DataFrame, report: FileReport) -> Taken:
    table = table_of(frame)
    table = Table({name: _plain(column) for name, column in table.items()}, table.n)
    if ROW not in table:
        table = Table({ROW: TableColumn("integer", np.arange(1, table.n + 1)), **table.columns}, table.n)
    material = backend.create(Material, {"name": path.name[:200] or "table"})
    fields = {"material_id": material.id, "name": path.name[:200]}
    record = backend.create_with_tables(MaterialProperty, fields, {"series": table})
    notes = [
        (
            "assumed",
            "No reader recognizes a test in it, so it is drawn as a plain table: nothing was converted or checked. "
            f"Settled by {column_map({'their column': 'Voltage [V]'})} for each column of a test.",
        ),
        ("readers", report.why),
    ]
    return Taken(
        path.name, backend, folder, Held(TABLES, table.n, _described(table, frame)), record.id, "table", notes
    )


def _plain(column: TableColumn) -> TableColumn:
    """A column that a series can store: values of several kinds become their texts."""
    if column.kind != "mixed":
        return column
    return TableColumn.text([None if value is None else str(value) for value in column.tolist()])


def _described(table: Table, frame: pd.DataFrame) -> dict[str, Column]:
    made: dict[str, Column] = {}
    parts = _parts(table)
    for name, column in table.items():
        there = ~column.missing()
        numeric = column.kind in ("number", "integer")
        values = column.floats() if numeric else np.zeros(0)
        known = values[there] if numeric else values
        made[name] = Column(
            name,
            numeric=numeric or column.kind == "datetime",
            filled=int(there.sum()),
            varies=bool(len(known) and known.min() < known.max()) or column.kind == "datetime",
            rises=bool(len(known) and (np.diff(known) > 0).all()) and name != ROW,
            groups=len(set(column.tolist()) - {None}) if column.kind == "text" and table.n <= _LOOKED_AT else 0,
            within=parts is None or not numeric or _varies_within(values, parts),
            moments=column.kind == "datetime",
        )
    return made


def _parts(table: Table) -> list[NDArray[np.int64]] | None:
    """The row numbers of each group: by the first text column with few different values that repeat."""
    for column in table.values():
        if column.kind == "text" and table.n <= _LOOKED_AT:
            keys = np.array([str(value) for value in column.tolist()])
            found = np.unique(keys)
            if 1 < len(found) <= min(MOST_GROUPS, table.n / 2):
                return [np.flatnonzero(keys == key) for key in found]
    return None


def _varies_within(values: NDArray[np.float64], parts: list[NDArray[np.int64]]) -> bool:
    """Whether a column changes inside a group, and not only from group to group."""
    spans = [
        np.ptp(part[np.isfinite(part)]) if np.isfinite(part).any() else 0 for part in (values[p] for p in parts)
    ]
    return any(span > 0 for span in spans)
