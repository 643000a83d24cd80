"""Tests below each other in one text: the header comes again, and with it another cell, or a time that starts anew."""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...cycling.columns import CURRENT, CYCLER_CYCLE, CYCLER_STEP, VOLTAGE
from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import counted, spaced
from ..file.source import Head
from ..reading import SeveralTests
from .columns import Plan
from .header_units import fold
from .row_places import Places
from .several_cells import MOST_TESTS, names_cells
from .text_layout import HeaderLine, is_number
from .values import Floats, clock_format, clocks, durations, numbers

_ABOVE = 8
"""Lines above a header that may name its cell."""
_GOES_ON = re.compile(r"cycle|\bcyc\b|\bstep\b|zyklus|schritt|loop|循环|工步|サイクル", re.IGNORECASE)
"""Words of titles between the parts of one test."""
_NAMED = re.compile(r"\s*+\"?([^:=;,\t\"]{1,60}?)\"?\s*[:=;,\t]\s*\"?([^:=;,\t\"]+)")


@dataclass(frozen=True)
class Section:
    """The lines of one test: from ``first`` up to ``last``, without it, of those that are not a header. ``line`` is
    that of its header in the file."""

    name: str
    first: int
    last: int
    line: int


@dataclass
class _Part:
    cell: str
    first: int
    last: int
    line: int
    title: str
    row: list[str]
    end: list[str]


def refuse_below(head: Head, header: HeaderLine, plan: Plan, places: Places, decimal: str | None) -> None:
    """Refuse a text that holds several tests below each other.

    Raises
    ------
    SeveralTests
        With their names.
    """
    found = sections(head, header, plan, places, decimal)
    if len(found) < 2:
        return
    cells = not found[0].name.startswith("/")
    why = "names another cell there" if cells else "its time starts anew there"
    raise SeveralTests(
        head.name,
        tuple(section.name for section in found),
        f"its header comes again in line {spaced(found[1].line)}, and {why}",
    )


def section_of(found: Sequence[Section], head: Head) -> tuple[Section, Finding]:
    """The section of the test that is asked for, and what is to be said of it.

    Raises
    ------
    FileRefused
        If there is none of this name.
    """
    section = next((one for one in found if one.name == head.test), None)
    if len(found) < 2 or section is None:
        raise FileRefused(f"'{head.name}' has no column that names cells, so it has no test '{head.test}'.")
    text = (
        f"The file holds {counted(len(found), 'test')} below each other; this is '{section.name.lstrip('/')}', with "
        f"the header in line {spaced(section.line)}."
    )
    return section, Finding("assumed", "one_of_cells", text)


def only(section: Section) -> Callable[[], Callable[[bytes], bytes]]:
    """Makes a function for one pass that keeps only the lines of a section from blocks of whole lines."""

    def begin() -> Callable[[bytes], bytes]:
        passed = 0

        def keep(block: bytes) -> bytes:
            nonlocal passed
            *whole, rest = block.split(b"\n")
            lines = [line + b"\n" for line in whole] + ([rest] if rest else [])
            kept = lines[max(0, section.first - passed) : max(0, section.last - passed)]
            passed += len(lines)
            return b"".join(kept)

        return keep

    return begin


def sections(head: Head, header: HeaderLine, plan: Plan, places: Places, decimal: str | None) -> list[Section]:
    """The tests of a text, in their order; fewer than two if it holds one.

    A header that comes again begins a test if the lines above it name another cell, or if time starts anew and neither
    a cycle nor a step goes on. A file with more than ``MOST_TESTS`` of them repeats its header for another reason.
    """
    time = plan.find("Time [s]") or plan.clock
    if time is None or time.restarts or not (plan.find(CURRENT) or plan.find(VOLTAGE)):
        return []
    parts = _parts(head, header, places)
    if not 2 <= len(parts) <= MOST_TESTS:
        return []
    values = _times(
        [row[place] for row in _ends(parts) for place in [_place(plan, time.header)] if place < len(row)], decimal
    )
    if len(values) != 2 * len(parts):
        return []
    begun: list[_Part] = [parts[0]]
    start = values[0]
    for number, (before, part) in enumerate(itertools.pairwise(parts), 1):
        begins, ended = values[2 * number], values[2 * number - 1]
        other = bool(part.cell) and bool(begun[-1].cell) and part.cell != begun[-1].cell
        anew = ended > begins and begins <= start and not _GOES_ON.search(part.title)
        if other or (anew and not _counts_on(plan, before.end, part.row, decimal)):
            begun.append(part)
            start = begins
        else:
            begun[-1].last = part.last
            begun[-1].end = part.end
    cells = [part.cell for part in begun]
    named = all(cells) and len(set(cells)) == len(cells)
    return [
        Section(part.cell if named else f"/{number}", part.first, part.last, part.line)
        for number, part in enumerate(begun, 1)
    ]


def _ends(parts: Sequence[_Part]) -> list[list[str]]:
    return [row for part in parts for row in (part.row, part.end)]


def _place(plan: Plan, header: str) -> int:
    return plan.labels.index(header)


def _parts(head: Head, header: HeaderLine, places: Places) -> list[_Part]:
    """The tables with the same header, each with its first and its last row."""
    above = [line for line in head.lines[max(0, header.line - _ABOVE) : header.line] if line.strip()]
    made = [_Part(_cell(above), 0, 0, header.line + 1, "", [], [])]
    recent: deque[str] = deque(maxlen=_ABOVE)
    kept = 0
    for line, text in places.lines():
        plain = text.decode("utf-8", "replace").strip("\r\n")
        if places.is_title(text):
            between = [said for said in recent if said.strip() and not _is_row(places.fields(said.encode()))]
            # A line of units below the header is a second title without rows before it.
            above_it = made.pop() if len(made) > 1 and not made[-1].row else None
            cell, title = _cell(between), " ".join(between)
            if above_it is not None:
                cell, title, line = cell or above_it.cell, f"{above_it.title} {title}", above_it.line
            made.append(_Part(cell, kept, kept, line, title, [], []))
            recent.clear()
            if len(made) > MOST_TESTS:
                return made
        else:
            kept += 1
            recent.append(plain)
            fields = places.fields(text)
            if _is_row(fields):
                part = made[-1]
                part.row, part.end, part.last = part.row or fields, fields, kept
    made = [part for part in made if part.row]
    if made:
        made[-1].last = kept
    return made


def _is_row(fields: Sequence[str]) -> bool:
    return sum(map(is_number, fields)) >= 2


def _cell(lines: Sequence[str]) -> str:
    """The cell that a line such as ``Cell: A1`` names; "" if none does."""
    for line in lines:
        found = _NAMED.match(line)
        if found and names_cells(found[1]) is not None and found[2].strip():
            return found[2].strip()[:60]
    return ""


def _times(texts: Sequence[str], decimal: str | None) -> Floats:
    """(n,) of times as a file writes them: s, or numbers of its own unit; empty if they cannot be read."""
    series = pd.Series(list(texts), dtype="str")
    for values in (numbers(series, decimal)[0], durations(series)[0]):
        if len(values) and np.isfinite(values).all():
            return values
    pattern, _ = clock_format(list(texts)) if texts else (None, False)
    if pattern is None:
        return np.zeros(0)
    return clocks(series, pattern).astype(np.int64) / 1e6


def _counts_on(plan: Plan, before: Sequence[str], after: Sequence[str], decimal: str | None) -> bool:
    """Whether a cycle or a step of the second row is a later one than that of the first."""
    for name in (CYCLER_CYCLE, CYCLER_STEP):
        column = plan.find(name)
        place = None if column is None else _place(plan, column.header)
        if place is None or max(len(before), len(after)) <= place:
            continue
        pair = numbers(pd.Series([before[place], after[place]], dtype="str"), decimal)[0]
        if pair[1] > pair[0]:
            return True
    free = [
        column.header
        for column in plan.columns
        if fold(column.header) in ("record", "record id", "index", "point")
    ]
    places = [place for header in free if (place := _place(plan, header)) < min(len(before), len(after))]
    pairs = [numbers(pd.Series([before[place], after[place]], dtype="str"), decimal)[0] for place in places]
    return any(pair[1] == pair[0] + 1 for pair in pairs)
