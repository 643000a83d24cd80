"""Reads a pdf of Chromium back: the page, the fonts in it, and how large each text is printed.

It reads what Skia writes (PDF 1.4: objects in plain form, streams compressed by deflate), and nothing else.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

Matrix = tuple[float, float, float, float, float, float]
_IDENTITY: Matrix = (1, 0, 0, 1, 0, 0)
_OBJECT = re.compile(rb"(\d+) 0 obj\s")
_LENGTH = re.compile(rb"/Length (\d+)(?! \d+ R)")
_REFERENCE = rb"\s*(\d+) 0 R"
_BOX = re.compile(rb"/MediaBox\s*\[([^\]]+)\]")
_TOKEN = re.compile(rb"\((?:\\.|[^\\()])*\)|<[0-9A-Fa-f\s]*>|/[^\s/\[\]<>()]+|[-+.\w*'\"]+|[\[\]]", re.DOTALL)
_PAGE = re.compile(rb"/Type\s*/Page\b")
_DEEPEST = 20


class NotReadable(ValueError):
    """A pdf that is not of the form that Chromium writes."""


@dataclass(frozen=True)
class Font:
    """A font of a pdf: its name without the mark of a subset, and whether its letters are in the file."""

    name: str
    embedded: bool


@dataclass(frozen=True)
class PdfContent:
    """What was found in a pdf of one page. Lengths are in points of 1/72 inch."""

    width: float
    height: float
    fonts: tuple[Font, ...]
    letters: tuple[float, ...]
    """The size of each text that is shown, in the order of the file."""
    bitmaps: int
    """How many pictures of pixels the page shows."""


def cut_page(data: bytes, width_mm: float, height_mm: float) -> bytes:
    """The pdf with its page cut to this size from the top left corner.

    A changed page object is appended with a table of references of its own, as the format provides (PDF 1.4, 3.4.5).

    Raises
    ------
    NotReadable
        If it is not a pdf of one page as Chromium writes it.
    """
    pages = [(number, one) for number, one in _objects(data) if _PAGE.search(one.head)]
    trailer = re.search(rb"trailer\s*(<<.*?>>)\s*startxref\s*(\d+)\s*%%EOF\s*\Z", data, re.DOTALL)
    if len(pages) != 1 or trailer is None:
        raise NotReadable("It has no page or no trailer that can be changed.")
    number, page = pages[0]
    box = _BOX.search(page.head)
    if box is None:
        raise NotReadable("Its page has no size.")
    left, _, _, top = map(float, box[1].split())
    width, height = width_mm / 25.4 * 72, height_mm / 25.4 * 72
    new = f"/MediaBox [{left:.4f} {top - height:.4f} {left + width:.4f} {top:.4f}]".encode()
    head = page.head[: box.start()] + new + page.head[box.end() :]
    at = len(data.rstrip()) + 1
    added = f"{number} 0 obj\n".encode() + head.strip() + b"\nendobj\n"
    references = f"xref\n{number} 1\n{at:010d} 00000 n \ntrailer\n".encode()
    before = trailer[1].removesuffix(b">>").rstrip() + b"\n/Prev " + trailer[2] + b">>\n"
    ending = f"startxref\n{at + len(added)}\n%%EOF\n".encode()
    return data.rstrip() + b"\n" + added + references + before + ending


@dataclass(frozen=True)
class _Object:
    head: bytes
    stream: bytes


def read_pdf(data: bytes) -> PdfContent:
    """Page, fonts, sizes of letters and bitmaps of a pdf of one page.

    Raises
    ------
    NotReadable
        If it is not a pdf of one page as Chromium writes it.
    """
    objects = dict(_objects(data))
    pages = [one for one in objects.values() if _PAGE.search(one.head)]
    if not data.startswith(b"%PDF") or len(pages) != 1:
        raise NotReadable(f"It has {len(pages)} pages that can be read, where one was printed.")
    box = _BOX.search(pages[0].head)
    content = re.search(rb"/Contents" + _REFERENCE, pages[0].head)
    if box is None or content is None or int(content[1]) not in objects:
        raise NotReadable("Its page has no size or no content that can be read.")
    left, bottom, right, top = map(float, box[1].split())
    letters: list[float] = []
    bitmaps = _walk(objects, objects[int(content[1])].stream, pages[0], _IDENTITY, letters, 0)
    return PdfContent(right - left, top - bottom, tuple(_fonts(objects)), tuple(letters), bitmaps)


def _objects(data: bytes) -> Iterator[tuple[int, _Object]]:
    at = 0
    while match := _OBJECT.search(data, at):
        end = data.find(b"endobj", match.end())
        start = data.find(b"stream", match.end())
        if end < 0:
            return
        head, stream = data[match.end() : end], b""
        if 0 <= start < end:
            head = data[match.end() : start]
            length = _LENGTH.search(head)
            if length is None:
                raise NotReadable("A stream of it has no length.")
            first = start + len(b"stream")
            first += 2 if data[first : first + 2] == b"\r\n" else 1
            raw = data[first : first + int(length[1])]
            stream = _inflated(raw) if b"/FlateDecode" in head else raw
            end = data.find(b"endobj", first + int(length[1]))
        yield int(match[1]), _Object(head, stream)
        at = end + len(b"endobj")


def _inflated(raw: bytes) -> bytes:
    try:
        return zlib.decompress(raw)
    except zlib.error as error:
        raise NotReadable(f"A stream of it cannot be unpacked ({error}).") from error


def _fonts(objects: dict[int, _Object]) -> Iterator[Font]:
    for one in objects.values():
        if not re.search(rb"/Type\s*/Font\b", one.head) or re.search(rb"/Subtype\s*/CIDFont", one.head):
            continue
        named = re.search(rb"/BaseFont\s*/([^\s/\[\]<>()]+)", one.head)
        drawn = re.search(rb"/Subtype\s*/Type3", one.head) is not None
        name = named[1].decode("latin-1").partition("+") if named else ("", "", "")
        yield Font(name[2] or name[0] or "Type 3", drawn or _is_embedded(objects, one))


def _is_embedded(objects: dict[int, _Object], font: _Object) -> bool:
    below = re.search(rb"/DescendantFonts\s*\[" + _REFERENCE, font.head)
    described = objects.get(int(below[1])) if below else font
    found = re.search(rb"/FontDescriptor" + _REFERENCE, described.head) if described else None
    descriptor = objects.get(int(found[1])) if found else None
    return descriptor is not None and re.search(rb"/FontFile[23]?\b", descriptor.head) is not None


def _walk(
    objects: dict[int, _Object], stream: bytes, owner: _Object, start: Matrix, letters: list[float], depth: int
) -> int:
    """Collect the letter sizes of a content stream and of the forms that it draws; how many bitmaps it shows."""
    current, kept, text = start, [], _IDENTITY
    operands: list[bytes] = []
    size, bitmaps = 0.0, 0
    for token in _TOKEN.findall(stream):
        if token[:1] in b"/(<[]" or _is_number(token):
            operands.append(token)
            continue
        if token == b"q":
            kept.append((current, size))
        elif token == b"Q" and kept:
            current, size = kept.pop()
        elif token == b"cm":
            current = _product(_matrix(operands), current)
        elif token == b"BT":
            text = _IDENTITY
        elif token == b"Tm":
            text = _matrix(operands)
        elif token == b"Tf":
            size = float(operands[-1])
        elif token in (b"Tj", b"TJ", b"'", b'"'):
            letters.append(size * _scale(_product(text, current)))
        elif token == b"Do":
            drawn = _named(objects, owner, operands[-1])
            if drawn is not None and b"/Image" in drawn.head:
                bitmaps += 1
            elif drawn is not None and depth < _DEEPEST:
                placed = re.search(rb"/Matrix\s*\[([^\]]+)\]", drawn.head)
                inner = _matrix(placed[1].split()) if placed else _IDENTITY
                bitmaps += _walk(objects, drawn.stream, drawn, _product(inner, current), letters, depth + 1)
        operands.clear()
    return bitmaps


def _is_number(token: bytes) -> bool:
    return token[:1] in b"+-.0123456789"


def _named(objects: dict[int, _Object], owner: _Object, name: bytes) -> _Object | None:
    found = re.search(re.escape(name) + rb"\b" + _REFERENCE, owner.head)
    return objects.get(int(found[1])) if found else None


def _matrix(operands: list[bytes]) -> Matrix:
    if len(operands) < 6:
        raise NotReadable("A matrix of it has fewer than six numbers.")
    a, b, c, d, e, f = (float(number) for number in operands[-6:])
    return a, b, c, d, e, f


def _product(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def _scale(matrix: Matrix) -> float:
    """By how much a matrix makes letters taller: the length of the vertical unit."""
    return float((matrix[2] ** 2 + matrix[3] ** 2) ** 0.5)
