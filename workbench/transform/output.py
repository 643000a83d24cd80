"""Captures what a script prints and warns as its log. What other threads print goes where it went before."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO

from pydantic import JsonValue

from ..battery.doubts import CODES, Doubt

FILENAME = "<transform>"
"""The file name under which scripts are compiled."""
MOST_WARNED = 20
"""Most warnings of helpers that an answer carries; the log has all."""
LONGEST_WARNED = 1000
MOST = 64_000
"""Most bytes of a log."""
_CUT = "\n... (cut here: a log holds at most 64 kB)\n"


class Log:
    """Text of at most ``MOST`` bytes in UTF-8. A longer text is cut, and says where."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = MOST - len(_CUT)
        self._cut = False

    def write(self, text: str) -> int:
        if not self._cut:
            raw = text.encode("utf-8", "replace")
            if len(raw) > self._left:
                self._cut = True
                raw = raw[: self._left]
            self._parts.append(raw.decode("utf-8", "ignore"))
            self._left -= len(raw)
        return len(text)

    def text(self) -> str:
        return "".join(self._parts) + (_CUT if self._cut else "")


@dataclass(frozen=True)
class Warned:
    """A warning of a helper of ``workbench.battery``; ``code`` is one of ``battery.doubts.CODES``."""

    code: str
    message: str

    def as_dict(self) -> dict[str, JsonValue]:
        return {"code": self.code, "message": self.message}


class _Split:
    """Replaces ``sys.stdout``: text of one thread goes to the log, text of other threads to the real output."""

    def __init__(self, log: Log, other: TextIO) -> None:
        self._log = log
        self._other = other
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            return self._log.write(text)
        return int(self._other.write(text))

    def flush(self) -> None:
        if threading.get_ident() != self._thread:
            self._other.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._other, name)


@contextmanager
def captured(log: Log) -> Iterator[list[Warned]]:
    """Send the standard output, standard error and warnings of this thread to ``log``.

    Gives a list that takes up the warnings of our helpers too, each once, at most ``MOST_WARNED``.
    """
    warned: list[Warned] = []
    kept = sys.stdout, sys.stderr
    split = _Split(log, kept[0]), _Split(log, kept[1])
    mine, shown_before = threading.get_ident(), warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if threading.get_ident() != mine:
            shown_before(message, category, filename, lineno, file, line)
            return
        place = f"Line {lineno}: " if filename == FILENAME else ""
        if isinstance(message, Doubt):
            one = Warned(message.code if message.code in CODES else Doubt.code, _sentence(str(message)))
            if one not in warned and len(warned) < MOST_WARNED:
                warned.append(one)
        log.write(f"{place}{category.__name__}: {message}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = show
        sys.stdout, sys.stderr = split
        try:
            yield warned
        finally:
            # Other code (a notebook's cell) may have replaced the output meanwhile. Its replacement stays.
            if sys.stdout is split[0]:
                sys.stdout = kept[0]
            if sys.stderr is split[1]:
                sys.stderr = kept[1]


def _sentence(words: str) -> str:
    """The text of a warning as a sentence of an answer."""
    told = words[:LONGEST_WARNED].encode("utf-8", "replace").decode().strip()
    return f"{told[:1].upper()}{told[1:]}" + ("" if told.endswith((".", "!", "?")) else ".")
