"""Text whose fields are separated by blanks: a header with as many names as there are fields in a row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import AnyStr

from ...errors import FileRefused
from ..file.source import Head
from ..reading import Reading
from ..table.header_units import split_header
from ..table.impedance_names import impedance_key
from ..table.text_format import TextFormat, read_text
from ..table.text_layout import HeaderLine, have, header_lines, is_number, keys_of
from ..table.values import one_clock
from .delimited import CLOCK_NAMES, DELIMITED

_LEAST_FIELDS = 3
_LETTER = re.compile(r"[^\W\d_]")
_BLANKS = re.compile(r"[ \t]+")
_WIDE_BLANKS = re.compile(r"[ ]{2,}|[ ]*\t[ \t]*")
_BEFORE_UNIT = re.compile(r"(?<![ \t])[ \t]++(?=[(\[])")
_AROUND_SLASH = re.compile(r"(?:(?<![ \t])[ \t]++)?+/[ \t]*+")
"""Each begins where blanks begin: begun at every one of many, a pattern takes quadratic time."""
_MOST_LOOKED_AT = 20


def tabbed(*, commas: bool = False, pair: int | None = None, width: int | None = None) -> Callable[[bytes], bytes]:
    """A function that replaces blanks between fields by tabs, block by block; ``commas`` too if they part fields.

    ``pair`` is the place of a field that has one blank within, between a date and a time of day. A line that has not
    ``width`` words stays one field: which of its fields is missing cannot be known, and the report names it.
    """
    held = {"rest": b""}

    def rewrite(block: bytes) -> bytes:
        lines = (held["rest"] + block).split(b"\n")
        held["rest"] = lines.pop() if block else b""
        parted = (line.replace(b",", b" ") if commas else line for line in lines)
        words = (line.split() for line in parted)
        end = b"\n" if block else b""  # a last line without one may be incomplete
        return b"".join(
            b"\t".join(_paired(row, pair, b" ") if width in (None, len(row)) else [b" ".join(row)]) + end
            for row in words
        )

    return rewrite


def _paired(fields: list[AnyStr], pair: int | None, blank: AnyStr) -> list[AnyStr]:
    if pair is None:
        return fields
    return fields[:pair] + [blank.join(fields[pair : pair + 2])] + fields[pair + 2 :]  # noqa: RUF005 mypy needs it


def with_tabs(
    head: Head, *, commas: bool = False, names: tuple[int, Sequence[str]] | None = None, pair: int | None = None
) -> Head:
    """The head with tabs between fields; ``names``: a line and the fields that are in it. Lines above it stay."""
    place = 0 if names is None else names[0]
    parted = (line.replace(",", " ") if commas else line for line in head.lines[place:])
    lines = ["\t".join(_paired(line.split(), pair, " ")) for line in parted]
    if names is not None:
        lines[0] = "\t".join(names[1])
    return replace(head, lines=(*head.lines[:place], *lines))


@dataclass(frozen=True)
class ByBlanks(TextFormat):
    """A text whose fields are separated by blanks. Names may hold blanks: there are as many as fields in a row. The
    date and time of a row may be one field with a blank within."""

    def header(self, head: Head) -> HeaderLine | None:
        found = self._found(head)
        return None if found is None else found[1]

    def read(self, head: Head, *, column_map: Mapping[str, str] | None = None, sign: str | None = None) -> Reading:
        found = self._found(head)
        if found is None:
            raise FileRefused(self._no_header(head, mapped=bool(column_map)))
        tabs, header, rewrite = found
        return read_text(replace(self, rewrite=rewrite), tabs, header, column_map, sign)

    def _found(self, head: Head) -> tuple[Head, HeaderLine, Callable[[], Callable[[bytes], bytes]]] | None:
        """The head with tabs, its header line, and what puts tabs between the fields of rows."""
        if head.encoding is None or any(line.has(self.needs) for line in header_lines(head)):
            return None
        for place, line in enumerate(head.lines):
            words = line.split(None, 1)
            if not words or is_number(words[0].split(",", 1)[0]) or not _LETTER.search(line):
                continue
            # In many files each row comes this far, since it begins with a clock time or a state.
            written = [names for names in _names(line) if self._are_wanted(names)]
            if not written:
                continue
            rows = list(islice((row for row in head.lines[place + 1 :] if row.strip()), _MOST_LOOKED_AT))
            for commas in (False, True):
                width = _width(rows, commas=commas)
                for names in written if width >= _LEAST_FIELDS else ():
                    pair = next((n for n, name in enumerate(names) if _is_moment(name, rows, n)), None)
                    if len(names) + (pair is not None) != width:
                        continue
                    tabs = with_tabs(head, commas=commas, names=(place, names), pair=pair)
                    header = next((h for h in header_lines(tabs) if h.line == place and h.has(self.needs)), None)
                    if header is not None:
                        return tabs, header, partial(tabbed, commas=commas, pair=pair, width=width)
        return None

    def _are_wanted(self, names: Sequence[str]) -> bool:
        """Whether these can be the names of what the format needs, each of which has a letter."""
        return sum(map(bool, map(_LETTER.search, names))) >= len(self.needs) and have(keys_of(names), self.needs)


def _is_moment(name: str, rows: Sequence[str], place: int) -> bool:
    """Whether the fields at this place and the next are a date and a time of day, under one name of a clock."""
    if split_header(name).key not in CLOCK_NAMES or not rows:
        return False
    fields = rows[0].split()
    return len(fields) > place + 1 and one_clock(f"{fields[place]} {fields[place + 1]}") is not None


def names_that_do_not_fit(head: Head) -> str | None:
    """The message about a spectrum of blanks whose names are not as many as the numbers in its rows."""
    for place, line in enumerate(head.lines):
        names = _BLANKS.split(line.strip().strip('"#%').strip())
        width = _width([row for row in head.lines[place + 1 :][:_MOST_LOOKED_AT] if row.strip()], commas=False)
        if width >= _LEAST_FIELDS and len(names) >= _LEAST_FIELDS and "frequency" in map(impedance_key, names):
            return (
                f"'{head.name}' looks like an impedance spectrum with blanks between its fields, but line {place + 1} "
                f"has {len(names)} names above rows of {width} numbers. Write tabs or commas between names and numbers."
            )
    return None


def _width(rows: Sequence[str], *, commas: bool) -> int:
    """The number of fields of the rows; 0 if it differs or the fields are not numbers."""
    parted = [(row.replace(",", " ") if commas else row).split() for row in rows]
    widths = {len(row) for row in parted[:-1] or parted}
    numeric = all(2 * sum(map(is_number, row)) > len(row) for row in parted[:-1] or parted)
    return widths.pop() if len(widths) == 1 and numeric else 0


def _names(line: str) -> Iterator[list[str]]:
    """The names in a line, parted in the ways in which programs write them."""
    clean = line.strip().strip('"#%').strip()
    yield [name for name in _WIDE_BLANKS.split(clean) if name]
    yield _BLANKS.split(_AROUND_SLASH.sub("/", _BEFORE_UNIT.sub("", clean)))
    yield _BLANKS.split(clean)


DELIMITED_BLANKS = ByBlanks(
    name="delimited-blanks",
    brand="any text in columns",
    endings=(".txt", ".dat"),
    about="As delimited, with fields separated by blanks.",
    needs=DELIMITED.needs,
    columns=DELIMITED.columns,
    sign=DELIMITED.sign,
    states=DELIMITED.states,
    clocks=DELIMITED.clocks,
    rule=DELIMITED.rule,
)
