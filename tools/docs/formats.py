"""The page of the file formats, with the limits of what is read."""

from __future__ import annotations

from workbench.messages import spaced
from workbench.readers import BUILT_IN, limits

from .prose import MADE

_INTRODUCTION = f"""# Formats

<!-- {MADE} -->

A format is recognised from the content of the file, in the order of this table, never from its ending;
`--format NAME` names it instead. Text files may be gzipped or the only file of a zip archive, in utf-8, utf-16,
latin-1 or an older encoding of China, Japan, Korea or Russia, with tabs, semicolons, commas or bars between fields,
with decimal points or commas; units come from the headers. Workbooks (`.xlsx`, `.xls`) are read as the text of their
sheets, by the same formats: the sheet of the series is found, sheets that go on with it follow, impedance beside it
becomes rows. Other packages may add formats: see [Add a file format](../how-to/add-a-format.md).

| name | brand | endings | what is read, and by what it is known | current in the file | counters start anew |
|---|---|---|---|---|---|
"""
_CLOSE = """
Whatever the format, a series comes out with `Time [s]` from 0, `Current [A]` positive on discharge and `Voltage [V]`;
columns that a format does not know stay under their own names, with their types.

## Bounds

A file is hostile until it was read. Past these bounds it is refused with a sentence:

"""


def page() -> str:
    """The page as Markdown: one row per format, then the bounds."""
    rows = [
        f"| `{format.name}` | {format.brand} | {', '.join(format.endings)} | {format.about} | {format.sign_rule} | "
        f"{format.counters or 'not fixed'} |"
        for format in BUILT_IN.values()
    ]
    listed = [f"- {name}: {value}" for name, value in _bounds().items()]
    return _INTRODUCTION + "\n".join(rows) + "\n" + _CLOSE + "\n".join(listed) + "\n"


def _bounds() -> dict[str, str]:
    """The bounds of ``limits`` in words."""
    return {
        "rows": spaced(limits.MOST_ROWS),
        "columns": spaced(limits.MOST_COLUMNS),
        "length of a line": f"{spaced(limits.LONGEST_LINE >> 10)} KiB",
        "unpacked size of a gzip file": f"{limits.MOST_UNPACKED >> 30} GiB",
        "unpacked size over packed size": f"{limits.MOST_RATIO} (from {limits.RATIO_FREE >> 20} MiB on)",
        "files in a container": spaced(limits.MOST_MEMBERS),
        "unpacked size of a container": f"{limits.MOST_IN_MEMORY >> 30} GiB",
        "rows and columns of a sheet": f"{spaced(limits.MOST_SHEET_ROWS)} and {spaced(4 * limits.MOST_COLUMNS)}",
        "lines above the header": f"{spaced(limits.HEAD_LINES)} within {limits.HEAD_BYTES >> 10} KiB",
        "rows of a batch": spaced(limits.CHUNK_ROWS),
    }
