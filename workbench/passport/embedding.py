"""Passports in files: each format has a place for them that other programs keep or pass over."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable

import orjson

from ..errors import ExportUnavailable
from .passport import KEY, Passport

PNG = b"\x89PNG\r\n\x1a\n"
ATTACHED = f"{KEY}.json"
"""The name of the passport as an attachment of a PDF."""
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
    """An attachment, added after the end of the file, as PDF foresees for changes."""
    trailer = _TRAILER.search(data, max(0, len(data) - 4096))
    root = None if trailer is None else _ROOT.search(trailer[1])
    size = None if trailer is None else _SIZE.search(trailer[1])
    if trailer is None or root is None or size is None:
        raise ExportUnavailable("The browser wrote a PDF of an unknown kind. Export .svg or .png instead.")
    catalog = _object(data, int(root[1]))
    if catalog is None or b"/Names" in catalog or b"/AF" in catalog:
        raise ExportUnavailable("The browser wrote a PDF with a catalog of an unknown kind. Export .svg instead.")
    first = int(size[1])
    packed = passport.packed()
    parts = {
        int(root[1]): catalog
        + f"/Names << /EmbeddedFiles << /Names [({ATTACHED}) {first + 1} 0 R] >> >>\n".encode()
        + f"/AF [{first + 1} 0 R]\n".encode(),
        first: b"/Type /EmbeddedFile\n/Subtype /application#2Fjson\n/Filter /FlateDecode\n"
        + f"/Length {len(packed)}\n".encode(),
        first + 1: (
            f"/Type /Filespec\n/F ({ATTACHED})\n/UF ({ATTACHED})\n/AFRelationship /Source\n"
            f"/EF << /F {first} 0 R /UF {first} 0 R >>\n"
        ).encode(),
    }
    made = bytearray(data if data.endswith(b"\n") else data + b"\n")
    places = {}
    for number, body in parts.items():
        places[number] = len(made)
        stream = b"stream\n" + packed + b"\nendstream\n" if number == first else b""
        made += f"{number} 0 obj\n<< ".encode() + body + b">>\n" + stream + b"endobj\n"
    start = len(made)
    made += b"xref\n"
    for number in sorted(places):
        made += f"{number} 1\n{places[number]:010} 00000 n \n".encode()
    rest = _SIZE.sub(b"", trailer[1]).strip()
    made += f"trailer\n<< /Size {first + 2}\n/Prev {int(trailer[2])}\n".encode() + rest + b" >>\n"
    made += f"startxref\n{start}\n%%EOF\n".encode()
    return bytes(made)


def _object(data: bytes, number: int) -> bytes | None:
    """What is in the dictionary of an object of a PDF."""
    found = re.search(rb"(?:^|\n)%d 0 obj\s*<<(.*?)>>\s*endobj" % number, data, re.DOTALL)
    return None if found is None else found[1]


_INTO: dict[str, Callable[[bytes, Passport], bytes]] = {"png": _png, "svg": _svg, "pdf": _pdf}
