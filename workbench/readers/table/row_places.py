"""Line numbers of the rows of a text file, and lines that repeat its header."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ...cycling.findings import Finding
from ...messages import counted, spaced
from ..file.source import Head, LineStream
from .text_layout import HeaderLine, Layout

Rewrite = Callable[[bytes], bytes]
MOST_EXAMPLES = 3


class Places:
    """Finds the line of a row, and leaves out lines that repeat the header or the units below it.

    ``exact``: each line of the file is a row. If lines are rewritten this is not so, and rows have no line numbers.
    """

    def __init__(self, head: Head, header: HeaderLine, layout: Layout, *, exact: bool) -> None:
        self.repeated = 0
        self.repeated_at: list[int] = []
        self._head, self._layout, self._exact = head, layout, exact
        titles = (head.lines[place] for place in {header.line, layout.skip - 1} if place >= 0)
        self._titles = frozenset(_bare(line.encode(), layout.unquote) for line in titles)

    def rewrite(self, then: Rewrite | None) -> Rewrite:
        """For one pass: a function that removes repeated headers from blocks, and then runs ``then``."""
        self.repeated, self.repeated_at = 0, []
        rest, line = b"", self._layout.skip

        def without_titles(block: bytes) -> bytes:
            nonlocal rest, line
            text = rest + block
            cut = text.rfind(b"\n") + 1 if block else len(text)
            text, rest = text[:cut], text[cut:]
            if any(title in text for title in self._titles):
                kept = []
                for place, row in enumerate(text.splitlines(keepends=True), line + 1):
                    if self._is_title(row):
                        self.repeated += 1
                        self.repeated_at.append(place)
                    else:
                        kept.append(row)
                self.repeated_at = self.repeated_at[:MOST_EXAMPLES]
                line += text.count(b"\n")
                text = b"".join(kept)
            else:
                line += text.count(b"\n")
            if then is None:
                return text
            made = then(text) if text else b""
            return made if block else made + then(b"")

        return without_titles

    def _is_title(self, row: bytes) -> bool:
        return _bare(row, unquote=False) in self._titles

    def lines_of(self, rows: Collection[int]) -> dict[int, int]:
        """Row -> line of the file, for these ``rows``; empty if rows have no line numbers."""
        if not self._exact or not rows:
            return {}
        found: dict[int, int] = {}
        row, last = 0, max(rows)
        stream = LineStream(self._head, self._layout.skip, unquote=self._layout.unquote)
        try:
            for line, text in enumerate(_lines(stream), self._layout.skip + 1):
                if not text.strip(b" \r\n") or self._is_title(text):
                    continue
                if row in rows:
                    found[row] = line
                row += 1
                if row > last:
                    break
        finally:
            stream.close()
        return found

    def notes(self) -> list[Finding]:
        if not self.repeated:
            return []
        repeats = "repeats" if self.repeated == 1 else "repeat"
        more = ", ..." if self.repeated > len(self.repeated_at) else ""
        where = ", ".join(spaced(line) for line in self.repeated_at) + more
        text = f"{counted(self.repeated, 'line')} within the file {repeats} the header and "
        text += f"was left out (line {where})." if self.repeated == 1 else f"were left out (lines {where})."
        return [Finding("odd", "header_repeated", text)]


def _bare(line: bytes, unquote: bool) -> bytes:
    return (line.replace(b'"', b"") if unquote else line).strip(b" \r\n")


def _lines(stream: LineStream) -> Iterable[bytes]:
    rest = b""
    for block in stream:
        stream.batch_begins()
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    if rest:
        yield rest
