"""Reads the passport of a file from anywhere. Nothing of the file is run, fetched or drawn; every size has a limit."""

from __future__ import annotations

import hashlib
import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import orjson

from ..errors import BadRequest, NotFound
from ..messages import counted
from ..near_files import meant_file
from .embedding import PNG, sidecar_of
from .passport import KEY, MOST_BYTES, Passport, from_json, from_packed, from_text

MOST_FILE = 256 << 20
"""Most bytes of a file that is looked at."""
_MOST_FOOTER = 32 << 20
_MOST_UNPACKED = 64 << 20
"""Most bytes of the pages in an archive."""
_SVG = re.compile(rb'<metadata id="%b">([A-Za-z0-9+/=\s]{1,%d})</metadata>' % (KEY.encode(), 8 << 20))
_HTML = re.compile(rb'<script type="application/json" id="%b(?:-\d{1,4})?">' % KEY.encode())
MOST_FIGURES = 200
_MOST_NAMED = 12
"""Figures of a file that a sentence names."""
_FILESPEC = re.compile(rb"/F \(%b(-\d{3})?\.json\)[^>]{0,200}/EF << /F (\d{1,9}) 0 R" % re.escape(KEY.encode()))
_LENGTH = re.compile(rb"/Length (\d{1,9})\b")


def read_passport(path: str | os.PathLike[str], number: int | None = None) -> Passport:
    """The passport of a file, as `read_passports`; of a dashboard's that of one figure.

    ``number`` is that of a figure in the file of a dashboard, from 1.

    Raises
    ------
    NotFound
        As `read_passports`.
    BadRequest
        As `read_passports`; or if there are several figures and none is meant.
    """
    return meant(read_passports(path), Path(path).name, number)


def read_passports(path: str | os.PathLike[str]) -> list[Passport]:
    """The passports of a file: png, svg, pdf, html, parquet, ipynb, zip; of a csv file that of the file beside it.

    The file of a dashboard has one for each figure, in the order of the plots.

    Raises
    ------
    NotFound
        If there is no such file, or it has no passport.
    BadRequest
        If a passport is damaged or too large, or a newer workbench wrote it; or if a csv file is not the one that the
        passport beside it is of.
    """
    place = Path(path)
    if place.suffix.lower() == ".csv":
        place = place.with_name(sidecar_of(place.name))
        if not place.exists():
            raise NotFound(
                f"The passport of '{Path(path).name}' is in '{place.name}' beside it, which is missing."
            )
    data = _read(place)
    found = passports_in(data)
    if found and place != Path(path):
        _compare(_read(Path(path)), data, Path(path).name, place.name)
    if not found and place.suffix.lower() == ".json":
        raise NotFound(
            f"'{place.name}' has no passport: a json file is the figure alone. Inspect a file of another ending."
        )
    if not found:
        raise NotFound(
            f"'{place.name}' has no passport: bench.export and the page write one, figure.save and plotly do not, and "
            "a program that wrote the file since may not have kept it."
        )
    return found


def _read(place: Path) -> bytes:
    try:
        if place.stat().st_size > MOST_FILE:
            raise BadRequest(f"'{place.name}' is larger than {MOST_FILE >> 20} MiB; no figure is.")
        return place.read_bytes()
    except OSError as error:
        raise NotFound(f"'{place}' cannot be read: {error.strerror or error}.{meant_file(place)}") from None


def _compare(table: bytes, beside: bytes, name: str, of: str) -> None:
    """Refuse a csv file that was changed since its passport was written; other ends of lines do not matter."""
    said = orjson.loads(beside).get("sha256")
    written = {hashlib.sha256(one).hexdigest() for one in (table, table.replace(b"\r\n", b"\n"))}
    if isinstance(said, str) and said not in written:
        raise BadRequest(
            f"'{name}' is not the table that its passport is of: it was changed or replaced since it was exported. "
            f"What the exported one was drawn from is in '{of}'; name that file. Or export the table again."
        )


def meant(found: Sequence[Passport], name: str, number: int | None) -> Passport:
    """The passport of the figure of this number, from 1; of the file of this name, if a sentence needs it.

    Raises
    ------
    BadRequest
        If there are several figures and none is meant, or none of the number.
    """
    if len(found) > 1 and number is None:
        named = [
            f"{n} '{one.plot.name}'" for n, one in enumerate(found, 1) if one.plot is not None and one.plot.name
        ]
        which = ", ".join([*named[:_MOST_NAMED], *(["..."] if len(named) > _MOST_NAMED else [])])
        raise BadRequest(
            f"'{name}' holds {len(found)} figures{f': {which}' if which else ''}. "
            f"Say which one: a number from 1 to {len(found)}."
        )
    if not 1 <= (number or 1) <= len(found):
        raise BadRequest(f"'{name}' holds {counted(len(found), 'figure')}, and none of the number {number}.")
    return found[(number or 1) - 1]


def passports_in(data: bytes) -> list[Passport]:
    """The passports in the bytes of a file: those of a dashboard, or that of a figure.

    Raises
    ------
    BadRequest
        As `read_passport`.
    """
    start = data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        return _in_cells(data) or _only(_in_json(data))
    if start.lower().startswith(b"<!doctype html"):
        return [_of_page(data, found.end()) for found in islice(_HTML.finditer(data), MOST_FIGURES)]
    if start.startswith(b"%PDF"):
        return list(_in_pdf(data))
    if start.startswith(b"PK"):
        return list(_in_archive(data))
    return _only(passport_in(data))


def _only(found: Passport | None) -> list[Passport]:
    return [] if found is None else [found]


def _in_archive(data: bytes) -> Iterator[Passport]:
    """Those of the pages in the archive of a dashboard."""
    left = _MOST_UNPACKED
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            pages = [one for one in archive.infolist() if one.filename.lower().endswith(".html")]
            for page in pages[:MOST_FIGURES]:
                with archive.open(page) as file:
                    read = file.read(left + 1)
                left -= len(read)
                if left < 0:
                    raise BadRequest(f"The pages of this archive have more than {_MOST_UNPACKED >> 20} MiB.")
                found = _in_html(read)
                if found is not None:
                    yield found
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
        raise BadRequest(f"This archive cannot be read: {error}.") from None


def _in_cells(data: bytes) -> list[Passport]:
    """Those of the sections of a notebook of a dashboard."""
    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError:
        return []
    cells = raw.get("cells") if isinstance(raw, dict) else None
    said = (
        [cell.get("metadata") for cell in cells or () if isinstance(cell, dict)] if isinstance(cells, list) else []
    )
    found = [one["battery_workbench"] for one in said if isinstance(one, dict) and "battery_workbench" in one]
    return [from_json(orjson.dumps(one)) for one in found[:MOST_FIGURES]]


def passport_in(data: bytes) -> Passport | None:
    """The passport in the bytes of a file, of the format that its first bytes say; None if there is none.

    Raises
    ------
    BadRequest
        As `read_passport`.
    """
    start = data[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        return _in_json(data)
    for begins, look in _FORMATS:
        if start.startswith(begins):
            return look(data)
    if b"<svg" in start and b"<html" not in start.lower():
        return _in_svg(data)
    return _in_html(data) if start.startswith(b"<") else None


def _in_png(data: bytes) -> Passport | None:
    head = KEY.encode() + b"\0\1\0\0\0"
    for kind, body in _chunks(data):
        if kind == b"iTXt" and body.startswith(head):
            return from_packed(body[len(head) :])
    return None


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(PNG)
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        kind = data[place + 4 : place + 8]
        if length > len(data) - place - 12:
            return
        yield kind, data[place + 8 : place + 8 + length]
        place += 12 + length


def _in_svg(data: bytes) -> Passport | None:
    found = _SVG.search(data)
    return None if found is None else from_text(found[1])


def _in_html(data: bytes) -> Passport | None:
    found = _HTML.search(data)
    return None if found is None else _of_page(data, found.end())


def _of_page(data: bytes, begin: int) -> Passport:
    end = data.find(b"</script>", begin, begin + MOST_BYTES + 1)
    if end < 0:
        raise BadRequest(f"The passport of this page does not end within {MOST_BYTES >> 20} MiB.")
    return from_json(data[begin:end])


def _first_in_pdf(data: bytes) -> Passport | None:
    return next(_in_pdf(data), None)


def _in_pdf(data: bytes) -> Iterator[Passport]:
    """Those of the attachments in the order of their names; what was attached last under a name counts."""
    specs = {found[1] or b"": int(found[2]) for found in islice(_FILESPEC.finditer(data), MOST_FIGURES)}
    for name in sorted(specs):
        yield _attachment(data, specs[name])


def _attachment(data: bytes, number: int) -> Passport:
    start = data.rfind(b"\n%d 0 obj\n" % number)
    stream = data.find(b"stream\n", start, start + 1000) if start >= 0 else -1
    length = _LENGTH.search(data, start, stream) if stream >= 0 else None
    if length is None:
        raise BadRequest("The passport of this PDF is damaged.")
    begin = stream + len(b"stream\n")
    return from_packed(data[begin : begin + int(length[1])])


def _in_parquet(data: bytes) -> Passport | None:
    """The footer is read as bytes: a damaged one crashes parsers of parquet, and only one text in it is wanted."""
    if data[-4:] != b"PAR1" or len(data) < 12:
        return None
    size = min(int.from_bytes(data[-8:-4], "little"), _MOST_FOOTER, len(data) - 12)
    footer = data[len(data) - 8 - size : len(data) - 8]
    mark = bytes((0x18, len(KEY))) + KEY.encode() + b"\x18"  # thrift: a text, and after it another one
    place = footer.rfind(mark)
    if place < 0:
        return None
    length, begin = _varint(footer, place + len(mark))
    return from_text(footer[begin : begin + length])


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number in thrift's compact form, and the place after it."""
    value = 0
    for count, byte in enumerate(data[place : place + 5]):
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, place + count + 1
    raise BadRequest("The passport of this parquet file is damaged.")


def _in_json(data: bytes) -> Passport | None:
    """Of a notebook, or of the file beside a csv file."""
    try:
        raw = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    metadata = raw.get("metadata") if isinstance(raw, dict) else None
    found = metadata.get("battery_workbench") if isinstance(metadata, dict) else None
    return None if found is None else from_json(orjson.dumps(found))


_FORMATS: tuple[tuple[bytes, Callable[[bytes], Passport | None]], ...] = (
    (PNG, _in_png),
    (b"%PDF", _first_in_pdf),
    (b"PAR1", _in_parquet),
)
