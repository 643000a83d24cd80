"""What ends a line of a text file: the one rule for all who count lines or split at them.

A line ends with ``\\n``, ``\\r\\n``, ``\\r\\r\\n`` (what text mode on Windows makes of ``\\r\\n``) or a ``\\r`` alone
(old Macs, and devices in the lines above a table). The ends of one file may differ.
"""

from __future__ import annotations

import re

import numpy as np

_END = re.compile(r"\r{0,2}\n|\r")
_UNUSUAL = re.compile(rb"\r\r\n|\r(?!\n)")
_RETURN, _FEED = 13, 10
_MOST_HELD = 2
"""Bytes ``\\r`` at the end of a block that may begin a line end of the next."""


def split_lines(text: str) -> list[str]:
    """The lines of a whole text without their ends; the last is empty if the text ends with a line end."""
    if "\r\r" in text:
        return _END.split(text)
    # A pattern takes ten times as long.
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


class PlainLineEnds:
    """Rewrites a text in blocks so that each line, and nothing else, ends with ``\\n`` or ``\\r\\n``."""

    def __init__(self) -> None:
        self._held = b""
        # New arrays for each block take six times as long.
        self._is_return = self._is_other = np.zeros(0, np.bool_)

    def feed(self, block: bytes, *, ended: bool) -> bytes:
        """The next block, and at the end of the text (``ended``) all that is left.

        A ``\\r`` at the end of a block waits for the next one.
        """
        text = self._held + block if self._held else block
        if b"\r" not in text:
            self._held = b""
            return text
        waits = 0 if ended else len(end := text[-_MOST_HELD:]) - len(end.rstrip(b"\r"))
        kept, self._held = (text[:-waits], text[-waits:]) if waits else (text, b"")
        if b"\n" not in kept:
            return kept.replace(b"\r", b"\n")
        return _UNUSUAL.sub(b"\n", kept) if self._has_unusual(kept) else kept

    def _has_unusual(self, text: bytes) -> bool:
        """Whether a ``\\r`` is not before a ``\\n``, found in a sixth of the time of a pattern."""
        n = len(text)
        if n > len(self._is_return):
            self._is_return, self._is_other = np.empty(n, np.bool_), np.empty(n, np.bool_)
        found = np.frombuffer(text, np.uint8)
        returns = np.equal(found, _RETURN, out=self._is_return[:n])
        alone = np.not_equal(found[1:], _FEED, out=self._is_other[: n - 1])
        np.logical_and(returns[:-1], alone, out=alone)
        return bool(alone.any()) or text.endswith(b"\r")
