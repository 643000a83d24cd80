"""Line numbers of the rows of a text file, and lines that repeat its header."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ...cycling.findings import Finding
from ...messages import counted, quoted, spaced
from ..file.source import REPLACED, Head, LineStream
from .header_units import split_header, unit_of
from .impedance_names import impedance_key
from .missing_columns import WORDS, candidates
from .text_layout import HeaderLine, Layout, header_lines, is_number, split_line

Rewrite = Callable[[bytes], bytes]
MOST_EXAMPLES = 3
_WORD = re.compile(rb"\n[ \t\"]{0,8}[A-Za-z<|\xc3-\xef]")
"""Where a line begins with a letter, of other alphabets too. A pattern that begins with a fixed character runs at a
gigabyte a second."""
_MAY_BEGIN_WORD = np.array([_WORD.match(b"\n%cA" % byte) is not None for byte in range(256)])
"""Bytes at the beginning of a line that begin with a letter, or blanks before one."""
_MOST_LOOKED_AT = 200
_LEAST_ROWS_ABOVE = 4


class Places:
    """Finds the line of a row, and leaves out lines that repeat the header or the units below it.

    ``nuls``: the bytes without content that were found; ``unread``: the letters that are not of the encoding.
    ``is_part``: only one of several tables with this header is read. ``exact``: each line of the file is a row. If
    lines are rewritten this is not so, and rows have no line numbers.
    """

    def __init__(self, head: Head, header: HeaderLine, layout: Layout, *, exact: bool) -> None:
        self.repeated = 0
        self.repeated_at: list[int] = []
        self.other: tuple[int, list[str]] | None = None
        self._head, self._layout, self.exact = head, layout, exact
        self.is_part = False
        self.nuls = 0
        self.unread = 0
        places = {*range(header.line, header.below), layout.skip - 1}
        titles = (head.lines[place] for place in places if place >= 0 and head.lines[place].strip())
        self._titles = frozenset(_bare(line.encode(), layout.unquote) for line in titles)
        rows = (line.lstrip(' \t"') for line in head.lines[layout.skip :] if line.strip())
        self._watched = exact and not next(rows, "x")[:1].isalpha()
        self._orders = [_in_order(names) for names in (header.fields, layout.labels)]

    def rewrite(self, then: Rewrite | None) -> Rewrite:
        """For one pass: a function that removes repeated headers from blocks, and then runs ``then``."""
        self.repeated, self.repeated_at, self.other = 0, [], None
        rest, line, looked_at = b"", self._layout.skip, 0

        def without_titles(block: bytes) -> bytes:
            nonlocal rest, line, looked_at
            text = rest + block
            cut = text.rfind(b"\n") + 1 if block else len(text)
            text, rest = text[:cut], text[cut:]
            if self.other is not None:
                return b""
            ends = _line_ends(text)
            if self._watched and looked_at < _MOST_LOOKED_AT and _may_have_word(text, ends):
                for found in _WORD.finditer(b"\n" + text):
                    looked_at += 1
                    place = found.start()
                    if self._begins_other(text, place):
                        fields = self.fields(text[place:].split(b"\n", 1)[0])
                        self.other = (line + text.count(b"\n", 0, place) + 1, fields)
                        text = text[:place]
                        break
            if any(title in text for title in self._titles):
                kept = []
                for place, row in enumerate(text.splitlines(keepends=True), line + 1):
                    if self.is_title(row):
                        self.repeated += 1
                        self.repeated_at.append(place)
                    else:
                        kept.append(row)
                self.repeated_at = self.repeated_at[:MOST_EXAMPLES]
                text = b"".join(kept)
            line += len(ends)
            if then is None:
                return text
            made = then(text) if text else b""
            return made if block else made + then(b"")

        return without_titles

    def fields(self, line: bytes) -> list[str]:
        """The fields of a line, without blanks around them."""
        fields = split_line(_bare(line, self._layout.unquote).decode("utf-8", "replace"), self._layout.delimiter)
        return [field.strip() for field in fields]

    def _begins_other(self, text: bytes, place: int) -> bool:
        """Whether a line is the header of another table: names, most of them of a measurement, above numbers."""
        lines = text[place : place + (1 << 16)].split(b"\n", 4)[:4]
        fields = self.fields(lines[0])
        names = [field for field in fields if field]
        if self.is_title(lines[0]) or len(names) < 2 or any(map(is_number, names)):
            return False
        if _in_order(fields) in self._orders:
            return False
        measured = sum(_is_measured(name) for name in names)
        below = [self.fields(row) for row in lines[1:] if row.strip()]
        rows = [row for row in below if any(map(is_number, row))]
        return measured >= 2 and bool(rows) and sum(map(is_number, rows[0])) >= max(2, len(names) // 2)

    def is_title(self, row: bytes) -> bool:
        """Whether a line repeats the header, or the units below it."""
        return _bare(row, unquote=False) in self._titles

    def lines_of(self, rows: Collection[int]) -> dict[int, int]:
        """Row -> line of the file, for these ``rows``; empty if rows have no line numbers."""
        if not self.exact or not rows:
            return {}
        found: dict[int, int] = {}
        row, last = 0, max(rows)
        lines = self.lines()
        for line, text in lines:
            if not text.strip(b" \r\n") or self.is_title(text):
                continue
            if row in rows:
                found[row] = line
            row += 1
            if row > last:
                break
        lines.close()
        return found

    def lines(self) -> Generator[tuple[int, bytes]]:
        """The lines below the header, each with its number in the file."""
        stream = LineStream(self._head, self._layout.skip, unquote=self._layout.unquote)
        try:
            yield from enumerate(_lines(stream), self._layout.skip + 1)
        finally:
            stream.close()

    def notes(self) -> list[Finding]:
        made = [] if self.other is None else [_of_other(*self.other)]
        if self.nuls:
            text = (
                f"The file has {counted(self.nuls, 'byte')} without content, as where the power failed. They were "
            )
            made.append(Finding("odd", "empty_bytes", f"{text}left out; rows that belong there are missing."))
        made += self._of_unread()
        return made if self.is_part else made + self._of_repeated()

    def _of_unread(self) -> list[Finding]:
        if not self.unread:
            return []
        mark, lines = REPLACED.encode(), self.lines()
        found = list(islice((line for line, text in lines if mark in text), MOST_EXAMPLES + 1))
        lines.close()
        where = ", ".join(map(spaced, found[:MOST_EXAMPLES])) + (", ..." if len(found) > MOST_EXAMPLES else "")
        place = f" ({'line' if len(found) == 1 else 'lines'} {where})" if found else ""
        letters = f"{counted(self.unread, 'letter')} of the file {'is' if self.unread == 1 else 'are'}"
        text = f"{letters} not written in {self._head.encoding}, as its beginning is, and kept as '{REPLACED}'{place}. "
        return [Finding("odd", "unread_letters", f"{text}Save the file as utf-8 and ingest it again.")]

    def _of_repeated(self) -> list[Finding]:
        if not self.repeated:
            return []
        repeats = "repeats" if self.repeated == 1 else "repeat"
        more = ", ..." if self.repeated > len(self.repeated_at) else ""
        where = ", ".join(spaced(line) for line in self.repeated_at) + more
        text = f"{counted(self.repeated, 'line')} within the file {repeats} the header and "
        text += f"was left out (line {where})." if self.repeated == 1 else f"were left out (lines {where})."
        return [Finding("odd", "header_repeated", text)]


def _in_order(names: Sequence[str]) -> list[str]:
    """The names of a header for comparison, without the empty ones at its end."""
    folded = [name.strip().casefold() for name in names]
    while folded and not folded[-1]:
        folded.pop()
    return folded


def _is_measured(name: str) -> bool:
    """Whether a name has a unit, or means a time, a current, a voltage or a part of an impedance."""
    unit = unit_of(split_header(name).unit)
    if (unit is not None and unit.base != "1") or impedance_key(name) is not None:
        return True
    return bool(candidates(list(WORDS), [name]))


def tables_above(head: Head, header: HeaderLine) -> list[Finding]:
    """The notes on tables above the one that is read: names of a measurement, with numbers below them."""
    made, seen = [], set[int]()
    for line in header_lines(head):
        names = [field.strip() for field in line.fields if field.strip()]
        if line.line >= header.line or line.line in seen or sum(map(_is_measured, names)) < 2:
            continue
        below = [row for row in head.lines[line.below : header.line] if row.strip()][:_LEAST_ROWS_ABOVE]
        cells = [sum(map(is_number, split_line(row, line.delimiter))) for row in below]
        if sum(count >= max(2, len(names) // 2) for count in cells) >= _LEAST_ROWS_ABOVE - 1:
            seen.add(line.line)
            text = f"The table in line {spaced(line.line + 1)}, with {quoted(names, 6)}, was left out: the one in line "
            text += f"{spaced(header.line + 1)} was read. Write it to a file of its own to have it read."
            made.append(Finding("odd", "other_table", text))
    return made


def _of_other(line: int, names: list[str]) -> Finding:
    text = f"Another table begins in line {spaced(line)}, with {quoted(names, 6)}. It was left out with all lines "
    return Finding("odd", "other_table", f"{text}below. Write it to a file of its own to have it read.")


def _bare(line: bytes, unquote: bool) -> bytes:
    return (line.replace(b'"', b"") if unquote else line).strip(b" \r\n")


def _line_ends(text: bytes) -> NDArray[np.int64]:
    """The places of line breaks. numpy finds those of short lines in a quarter of the time of ``bytes.count``."""
    return np.flatnonzero(np.frombuffer(text, np.uint8) == 10)


def _may_have_word(text: bytes, ends: NDArray[np.int64]) -> bool:
    """Whether `_WORD` may find something: much sooner than it where lines begin with digits."""
    begins = np.append(0, ends + 1)
    first = np.frombuffer(text, np.uint8)[begins[begins < len(text)]]
    return bool(_MAY_BEGIN_WORD[first].any())


def _lines(stream: LineStream) -> Iterable[bytes]:
    rest = b""
    for block in stream:
        stream.batch_begins()
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    if rest:
        yield rest
