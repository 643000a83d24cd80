"""The true size of a picture, written into its file: millimetres in an svg, dots per metre in a png."""

from __future__ import annotations

import re
import struct
import zlib
from dataclasses import dataclass

from ..battery.paper_size import PX_PER_MM

_SIZE = re.compile(rb'^(<svg\b[^>]*?) width="[\d.]+" height="[\d.]+"')
_PNG_HEAD = 8 + 25
"""The signature of a png and its first chunk, IHDR; the size of a dot belongs after it."""


@dataclass(frozen=True)
class Size:
    """The size of a picture: whole pixels of plotly, and millimetres on paper."""

    width: int
    height: int
    width_mm: float
    height_mm: float

    @classmethod
    def of_pixels(cls, width: int, height: int) -> Size:
        """The size of a picture that is made for the screen, of which an inch has 96 pixels."""
        return cls(width, height, width / PX_PER_MM, height / PX_PER_MM)


def svg_in_mm(drawn: bytes, size: Size) -> bytes:
    """An svg of plotly with its size in millimetres: a number without a unit is anything to a drawing program.

    The pixels are whole numbers, so that they may be off by half of one. The picture is stretched by that much.
    """
    wanted = f'\\1 width="{size.width_mm:.6g}mm" height="{size.height_mm:.6g}mm" preserveAspectRatio="none"'
    return _SIZE.sub(wanted.encode(), drawn, count=1)


def png_with_dots(drawn: bytes, size: Size) -> bytes:
    """A png that says how large its dots are (chunk pHYs), so that programs place it at its true size."""
    width, height = struct.unpack(">II", drawn[16:24])
    across, down = round(width / size.width_mm * 1000), round(height / size.height_mm * 1000)
    body = b"pHYs" + struct.pack(">IIB", across, down, 1)
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return drawn[:_PNG_HEAD] + chunk + drawn[_PNG_HEAD:]
