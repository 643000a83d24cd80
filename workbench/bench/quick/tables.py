"""Reading of plain tables: delimited text or parquet with columns of numbers under any names."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from ...errors import FileRefused
from ...messages import spaced
from ...readers.table.text_layout import DELIMITERS

MOST_ROWS = 2_000_000
MOST_BYTES = 256 << 20
_LOOKED_AT = 400
_NUMBER = re.compile(r"^[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?$|^[-+]?(nan|inf|infinity)$|^$", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"^[-+]?\d+,\d+([eE][-+]?\d+)?$")
_CLOCK = re.compile(r"date|time|start|end|stamp|clock", re.IGNORECASE)


class NoTable(Exception):
    """The file is not a table with numbers."""


def read_table(path: Path) -> pd.DataFrame:
    """The rows of a file. Its columns have the names of the header line, or ``column 1`` ... if there is none.

    Raises
    ------
    NoTable
        If it is not delimited text or parquet with a column of numbers.
    FileRefused
        If the table is too large for a quick look.
    """
    with path.open("rb") as file:
        head = file.read(4)
    frame = _parquet(path) if head == b"PAR1" else _text(path, packed=head[:2] == b"\x1f\x8b")
    if not len(frame) or not any(pd.api.types.is_numeric_dtype(kind) for kind in frame.dtypes):
        raise NoTable
    return frame.rename(columns=str)


def _too_large(path: Path) -> FileRefused:
    return FileRefused(
        f"'{path.name}' has more than {spaced(MOST_ROWS)} rows or {MOST_BYTES >> 20} MiB. That is too much for "
        "a quick look at a table of unknown format. Ingest it with a column_map."
    )


def _parquet(path: Path) -> pd.DataFrame:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if pq.ParquetFile(path).metadata.num_rows > MOST_ROWS:
            raise _too_large(path)
        return pd.read_parquet(path)
    except (pa.ArrowException, OSError, ValueError):
        raise NoTable from None


def _text(path: Path, *, packed: bool) -> pd.DataFrame:
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, EOFError, gzip.BadGzipFile):
        raise NoTable from None
    if b"\0" in raw[:4096] and not raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise NoTable
    if len(raw) > MOST_BYTES:
        raise _too_large(path)
    return _parsed(_decoded(raw), path)


def _decoded(raw: bytes) -> str:
    for encoding in ("utf-16", "utf-8-sig") if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1")


def _parsed(text: str, path: Path) -> pd.DataFrame:
    lines = text.splitlines()[:_LOOKED_AT]
    delimiter, width = _shape(lines)
    whole = (n for n, line in enumerate(lines) if not _is_comment(line) and _width(line, delimiter) == width)
    at = next(whole, None)
    if at is None:
        raise NoTable
    first = _fields(lines[at], delimiter)
    headed = not all(_NUMBER.match(field) for field in first)
    names = first if headed else _from_comment(lines[:at], delimiter, width)
    body = [_fields(line, delimiter) for line in lines[at + headed :] if line.strip() and not _is_comment(line)]
    _refuse_prose(body, width)
    comma = delimiter != "," and sum(bool(_DECIMAL_COMMA.match(f)) for row in body for f in row) > len(body) / 2
    try:
        frame = pd.read_csv(
            io.StringIO(text),
            sep=delimiter,
            skiprows=at + headed,
            header=None,
            names=_distinct(names),
            comment="#",
            skipinitialspace=True,
            decimal="," if comma else ".",
            nrows=MOST_ROWS + 1,
            index_col=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError):
        raise NoTable from None
    if len(frame) > MOST_ROWS:
        raise _too_large(path)
    return _with_times(frame)


def _shape(lines: Sequence[str]) -> tuple[str, int]:
    """The delimiter, and the number of fields that most lines have with it."""
    data = [line for line in lines if line.strip() and not _is_comment(line)]
    if not data:
        raise NoTable
    best = (",", 1, 0)
    for delimiter in DELIMITERS:
        width, count = Counter(_width(line, delimiter) for line in data).most_common(1)[0]
        if width > 1 and count > best[2] and count >= 0.7 * len(data):
            best = (delimiter, width, count)
    return best[:2]


def _refuse_prose(body: Sequence[Sequence[str]], width: int) -> None:
    """NoTable for lines of words: in a table most rows have all fields, and at least one column has numbers."""
    whole = [row for row in body if len(row) == width]
    columns = list(zip(*whole, strict=True))
    if not whole or len(whole) < 0.9 * len(body):
        raise NoTable
    if not any(
        sum(bool(field and _NUMBER.match(field)) for field in column) >= 0.5 * len(column) for column in columns
    ):
        raise NoTable


def _from_comment(lines: Sequence[str], delimiter: str, width: int) -> list[str]:
    """The names in the last comment line that has as many fields as the rows."""
    for line in reversed(lines):
        fields = _fields(line.lstrip("#% "), delimiter)
        if _is_comment(line) and len(fields) == width and all(fields):
            return fields
    return [f"column {n}" for n in range(1, width + 1)]


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", "%"))


def _width(line: str, delimiter: str) -> int:
    return len(_fields(line, delimiter))


def _fields(line: str, delimiter: str) -> list[str]:
    """The fields of a line; a delimiter within quotes is part of a text."""
    try:
        (read,) = csv.reader([line], delimiter=delimiter, skipinitialspace=True)
    except (csv.Error, ValueError):  # a field that is too long, or an empty line
        read = line.split(delimiter)
    return [field.strip().strip('"') for field in read]


def _distinct(names: Sequence[str]) -> list[str]:
    made: list[str] = []
    for place, name in enumerate(names, start=1):
        name = name or f"column {place}"
        made.append(name if name not in made else f"{name} ({place})")
    return made


def _with_times(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its ISO date-times as times."""
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]) and _CLOCK.search(str(name)):
            times = pd.to_datetime(frame[name], errors="coerce", utc=True, format="ISO8601")
            if times.notna().sum() == frame[name].notna().sum():
                frame[name] = times
    return frame
