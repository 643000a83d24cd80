"""Passports in files: each format has a place for them that other programs keep or pass over."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Mapping, Sequence

import orjson

from ..errors import ExportUnavailable
from .passport import KEY, Passport

PNG = b"\x89PNG\r\n\x1a\n"
ATTACHED = f"{KEY}.json"
"""The name of the passport as an attachment of a PDF with one figure."""
_SVG_TAG = re.compile(rb"<svg\b[^>]*>")
_TRAILER = re.compile(rb"trailer\s*<<(.*?)>>\s*startxref\s+(\d+)\s+%%EOF\s*$", re.DOTALL)
_ROOT = re.compile(rb"/Root\s+(\d+)\s+0\s+R")
_SIZE = re.compile(rb"/Size\s+(\d+)")


def embedded(ending: str, data: bytes, passport: Passport) -> bytes:
    """A file of a figure with its passport in it.

    ``ending`` is ``png``, ``svg`` or ``pdf``; other formats get theirs where they are written.

    Raises
    ------
    ExportUnavailable
        If the file is not as the browser writes it.
    """
    return _INTO[ending](data, passport)


def sidecar_of(name: str) -> str:
    """The name of the file beside a csv file that holds its passport."""
    return f"{name}.json"


def sidecar(data: bytes, passport: Passport) -> bytes:
    """The passport of a csv file as a file of its own, with the hash of the csv file."""
    said = {
        "sha256": hashlib.sha256(data).hexdigest(),
        "metadata": {"battery_workbench": orjson.Fragment(passport.as_json())},
    }
    return orjson.dumps(said, option=orjson.OPT_INDENT_2)


def _png(data: bytes, passport: Passport) -> bytes:
    """A compressed text (iTXt) before the picture itself."""
    place = data.find(b"IDAT") - 4
    if not data.startswith(PNG) or place < len(PNG):
        raise ExportUnavailable("The browser gave no PNG picture. Export .html instead.")
    body = b"iTXt" + KEY.encode() + b"\0\1\0\0\0" + passport.packed()
    chunk = (len(body) - 4).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
    return data[:place] + chunk + data[place:]


def _svg(data: bytes, passport: Passport) -> bytes:
    """A ``metadata`` element at the beginning."""
    tag = _SVG_TAG.search(data)
    if tag is None:
        raise ExportUnavailable("The browser gave no SVG picture. Export .html instead.")
    element = f'<metadata id="{KEY}">{passport.text()}</metadata>'.encode()
    return data[: tag.end()] + element + data[tag.end() :]


def _pdf(data: bytes, passport: Passport) -> bytes:
    """As an attachment."""
    return attached(data, [passport])


def attached(data: bytes, passports: Sequence[Passport]) -> bytes:
    """A pdf with the passports of its figures as attachments, in their order.

    They are added after the end of the file, as PDF foresees for changes. Without passports the file stays as it is.

    Raises
    ------
    ExportUnavailable
        If the file is not as the browser writes it.
    """
    if not passports:
        return data
    trailer = _TRAILER.search(data, max(0, len(data) - 4096))
    root = None if trailer is None else _ROOT.search(trailer[1])
    size = None if trailer is None else _SIZE.search(trailer[1])
    if trailer is None or root is None or size is None:
        raise ExportUnavailable("The browser wrote a PDF of an unknown kind. Export .svg or .png instead.")
    catalog = _object(data, int(root[1]))
    if catalog is None or b"/Names" in catalog or b"/AF" in catalog:
        raise ExportUnavailable("The browser wrote a PDF with a catalog of an unknown kind. Export .svg instead.")
    first = int(size[1])
    objects: dict[int, bytes] = {}
    names, files = [], []
    for place, passport in enumerate(passports):
        stream, spec = first + 2 * place, first + 2 * place + 1
        name = ATTACHED if len(passports) == 1 else numbered(place + 1)
        objects |= {stream: _stream(passport.packed()), spec: _filespec(name, stream)}
        names.append(f"({name}) {spec} 0 R")
        files.append(f"{spec} 0 R")
    listed = f"/Names << /EmbeddedFiles << /Names [{' '.join(names)}] >> >>\n/AF [{' '.join(files)}]\n"
    objects[int(root[1])] = b"<< " + catalog + listed.encode() + b">>\n"
    rest = _SIZE.sub(b"", trailer[1]).strip()
    head = f"/Size {first + 2 * len(passports)}\n/Prev {int(trailer[2])}\n".encode() + rest
    return _appended(data, objects, head)


def numbered(number: int) -> str:
    """The name of one of several attachments; in the order of letters they are in that of the figures."""
    return f"{KEY}-{number:03}.json"


def _stream(packed: bytes) -> bytes:
    head = (
        f"<< /Type /EmbeddedFile\n/Subtype /application#2Fjson\n/Filter /FlateDecode\n/Length {len(packed)}\n>>\n"
    )
    return head.encode() + b"stream\n" + packed + b"\nendstream\n"


def _filespec(name: str, stream: int) -> bytes:
    return (
        f"<< /Type /Filespec\n/F ({name})\n/UF ({name})\n/AFRelationship /Source\n"
        f"/EF << /F {stream} 0 R /UF {stream} 0 R >>\n>>\n"
    ).encode()


def _appended(data: bytes, objects: Mapping[int, bytes], trailer: bytes) -> bytes:
    """A pdf with objects added or replaced after its end."""
    made = bytearray(data if data.endswith(b"\n") else data + b"\n")
    places = {}
    for number in sorted(objects):
        places[number] = len(made)
        made += f"{number} 0 obj\n".encode() + objects[number] + b"endobj\n"
    start = len(made)
    made += b"xref\n"
    for number, place in places.items():
        made += f"{number} 1\n{place:010} 00000 n \n".encode()
    made += b"trailer\n<< " + trailer + f" >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(made)


def _object(data: bytes, number: int) -> bytes | None:
    """What is in the dictionary of an object of a PDF."""
    found = re.search(rb"(?:^|\n)%d 0 obj\s*<<(.*?)>>\s*endobj" % number, data, re.DOTALL)
    return None if found is None else found[1]


_INTO: dict[str, Callable[[bytes, Passport], bytes]] = {"png": _png, "svg": _svg, "pdf": _pdf}
