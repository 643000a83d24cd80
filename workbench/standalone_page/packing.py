"""Many figures as one packed text in which everything that they share is once."""

from __future__ import annotations

import base64
import gzip
import hashlib
import zlib

import orjson
from pydantic import JsonValue

PART = "@part"
"""``{"@part": 3}`` is the fourth of the parts."""
_LEAST = 120
"""Smaller values are written where they are."""


class Pool:
    """Objects and lists, each kept once."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._places: dict[bytes, int] = {}

    def keep(self, value: JsonValue) -> JsonValue:
        """The value with its larger objects and lists replaced by their places among the parts."""
        if isinstance(value, dict):
            # Plotly has nothing of this name: a figure that has it could only mean to lead the page astray.
            value = {name: self.keep(item) for name, item in value.items() if name != PART}
        elif isinstance(value, list):
            if any(isinstance(item, dict | list) for item in value):
                value = [self.keep(item) for item in value]
        else:
            return value
        text = orjson.dumps(value)
        if len(text) < _LEAST:
            return value
        key = hashlib.sha256(text).digest()
        if key not in self._places:
            self._places[key] = len(self._parts)
            self._parts.append(text)
        return {PART: self._places[key]}

    def packed(self, content: JsonValue) -> str:
        """The parts and what refers to them, as base64 of gzip. A part refers only to those before it."""
        text = b'{"parts":[' + b",".join(self._parts) + b'],"content":' + orjson.dumps(content) + b"}"
        return base64.b64encode(gzip.compress(text, 6, mtime=0)).decode()


def packed_size(figure: bytes) -> int:
    """About how much a figure adds to a page that shares nothing with it."""
    return len(zlib.compress(figure, 6)) * 4 // 3
