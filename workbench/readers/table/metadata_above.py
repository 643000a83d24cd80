"""Names and values in the lines above the header of a text."""

from __future__ import annotations

import re

from pydantic import JsonValue

_NAME = re.compile(r"[~#]?\s*[A-Za-z][^:\t;=,]{0,60}:?")
_PROSE = re.compile(r"comment|remark|note|kommentar|bemerkung", re.IGNORECASE)
"""The name of a text that a person wrote, which may go on below the same name."""
_PAIR = re.compile(r"[~#]?\s*+([A-Za-z][^:\t;=]{0,60}?)(?:\s*+[:;]|[^\S\t]*+\t)\s*+(\S.{0,200})$")
"""No part of it tries blanks twice: a line may have a hundred thousand."""


def metadata_above(lines: tuple[str, ...], delimiter: str | None = None) -> dict[str, JsonValue]:
    """Names and values in the lines above the header, at most 100. ``delimiter`` is that of the table.

    Of a name that comes again the first value is kept, but all lines of a comment.
    """
    found: dict[str, JsonValue] = {}
    for line in lines:
        for name, value in _pairs(line, delimiter if delimiter in (",", ";", "\t") else "\t"):
            if name in found and _PROSE.match(name):
                found[name] = f"{found[name]}\n{value}"
            elif len(found) < 100:
                found.setdefault(name, value)
    return found


def _pairs(line: str, delimiter: str) -> list[tuple[str, str]]:
    """The names and values of a line: fields ``Name:`` before a value, two fields, or ``Name: value``."""
    written = line.split(delimiter)
    fields = [field.strip().strip('"').strip() for field in written]
    filled = [field for field in fields if field]
    names = [place for place, field in enumerate(fields[:-1]) if _NAME.fullmatch(field) and field.endswith(":")]
    if names and len(filled) > 1:
        pairs = []
        for place, end in zip(names, [*names[1:], len(fields)], strict=True):
            value = delimiter.join(written[place + 1 : end]).strip(f'{delimiter} "\r')
            pairs.append((fields[place].rpartition("  ")[2].rstrip(": "), value))
        return [(name, value) for name, value in pairs if value]
    if len(filled) == 2 and _NAME.fullmatch(filled[0]) and not filled[0].endswith(":"):
        return [(filled[0], filled[1])]
    pair = _PAIR.match(line.rstrip(";,\t ").strip())
    return [(pair[1].strip(), pair[2].strip())] if pair else []
