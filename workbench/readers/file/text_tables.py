"""Cuts a text that holds several tables, one below the other, into a text for each, as Gamry writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from ...errors import TooLarge
from ...messages import spaced
from .. import limits
from .archives import Scratch
from .source import Head, LineStream, look

_BEGINS = re.compile(rb"^(\w+)\tTABLE\b")
_TIMES = (b"T", b"TIME")


@dataclass
class TextTable:
    """Tables of a file with the same columns that continue each other, as a text of their own.

    ``names`` are those of the tables. ``first`` and ``last`` are the times in the first and last row as written; None
    if there is none.
    """

    names: list[str]
    head: Head
    rows: int
    first: float | None
    last: float | None


def has_tables(head: Head) -> bool:
    """Whether the head of a file has a line that begins a table."""
    return any(_BEGINS.match(line.encode()) for line in head.lines)


def lines_above(head: Head) -> tuple[str, ...]:
    """The lines above the first table."""
    first = next((n for n, line in enumerate(head.lines) if _BEGINS.match(line.encode())), len(head.lines))
    return head.lines[:first]


def tables_of(head: Head) -> list[TextTable]:
    """The tables of a file in their order, without those that have no rows. A row begins with a tab.

    Raises
    ------
    TooLarge
        If the file has too many tables that do not continue each other.
    """
    found: list[_Written] = []
    title, top, row = "", list[bytes](), False
    try:
        for line in _lines(head):
            begins = _BEGINS.match(line)
            if begins:
                title, top, row = begins[1].decode("utf-8", "replace"), [], False
            elif not line.startswith(b"\t"):
                title = ""
            elif title and not row and len(top) < 2 and not _has_number(line):
                top.append(line)
            elif title and top:
                if not row and not (found and found[-1].goes_on(top, line)):
                    if len(found) == limits.MOST_MEMBERS:
                        raise TooLarge(
                            f"'{head.name}' has more than {spaced(limits.MOST_MEMBERS)} tables. Split it."
                        )
                    found.append(_Written(top))
                found[-1].take(line, None if row else title)
                row = True
    finally:
        for table in found:
            table.file.close()
    return [table.closed(head) for table in found]


class _Written:
    """A table that is being written to a file of its own, below its lines of names and units."""

    def __init__(self, top: list[bytes]) -> None:
        self.file: BinaryIO
        self._top, self._names, self._rows = top, list[str](), 0
        self._first: float | None = None
        self._last: float | None = None
        fields = [field.strip().upper() for field in top[0].split(b"\t")]
        self._place = next((place for place, field in enumerate(fields) if field in _TIMES), None)
        self._scratch = Scratch(".txt")
        self.file = open(self._scratch.path, "wb")  # noqa: SIM115
        self.file.writelines(line + b"\n" for line in top)

    def goes_on(self, top: list[bytes], line: bytes) -> bool:
        """Whether a table with these first lines and this first row continues this one."""
        time = self._time(line)
        return top == self._top and (time is None or self._last is None or time >= self._last)

    def take(self, line: bytes, title: str | None) -> None:
        """Take a row; ``title`` is the name of the table that begins with it."""
        if title is not None:
            self._names.append(title)
        time = self._time(line)
        if time is not None:
            self._first = time if self._first is None else self._first
            self._last = time
        self._rows += 1
        self.file.write(line + b"\n")

    def _time(self, line: bytes) -> float | None:
        fields = line.split(b"\t")
        return None if self._place is None or self._place >= len(fields) else _number(fields[self._place])

    def closed(self, head: Head) -> TextTable:
        made = replace(look(self._scratch.path, head.name), kept=self._scratch)
        return TextTable(self._names, made, self._rows, self._first, self._last)


def _has_number(line: bytes) -> bool:
    return any(_number(field) is not None for field in line.split(b"\t"))


def _number(field: bytes) -> float | None:
    try:
        value = float(field.replace(b",", b"."))
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def _lines(head: Head) -> Iterator[bytes]:
    """The lines of a file as utf-8, without their ends."""
    stream = LineStream(head, 0)
    rest = b""
    try:
        for block in stream:
            stream.batch_begins()
            *whole, rest = (rest + block).split(b"\n")
            yield from (line.rstrip(b"\r") for line in whole)
    finally:
        stream.close()
    if rest:
        yield rest.rstrip(b"\r")
