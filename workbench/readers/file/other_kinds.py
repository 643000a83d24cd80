"""Files that do not hold a table of a test, by how they begin: what each is, and where its numbers can come from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .source import Head

_COLUMNS = "Write its values as columns with names and units, as csv or parquet, and ingest that file."
_PROGRAM = "Export the test as text or csv with the program that wrote it."


@dataclass(frozen=True)
class OtherKind:
    """A kind of file: what its bytes, or its text in any encoding, begin with; what it is; how its test can be read."""

    begins: bytes
    is_a: str
    instead: str = _PROGRAM
    text: re.Pattern[str] | None = None


def _text(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_UNPACK = "Unpack it and ingest the file in it. Of packed files, those of gzip, zip and tar are read as they are."
_AS_PARQUET = (
    "Write the table as parquet, for example with pandas.read_feather(path).to_parquet(...), and ingest that file."
)
_WORKBOOK = "Open it in a spreadsheet program, save it as .xlsx, and ingest that file."
OTHER_KINDS = (
    OtherKind(b"%PDF-", "a PDF document"),
    OtherKind(
        b"SQLite format 3\0", "a database of SQLite", "If it is a store of the workbench, open it with wb.open."
    ),
    OtherKind(b"\x89PNG", "a picture"),
    OtherKind(b"\xff\xd8\xff", "a picture"),
    OtherKind(b"GIF8", "a picture"),
    OtherKind(b"\x93NUMPY", "an array of numpy without names of columns", _COLUMNS),
    OtherKind(b"\x80\x04\x95", "a Python pickle, which could run anything when it is opened", _COLUMNS),
    OtherKind(b"\x80\x05\x95", "a Python pickle, which could run anything when it is opened", _COLUMNS),
    OtherKind(b"Rar!", "an archive", "Unpack it and name the files in it."),
    OtherKind(b"7z\xbc\xaf", "an archive", "Unpack it and name the files in it."),
    OtherKind(b"BZh", "packed with bzip2", _UNPACK),
    OtherKind(b"\xfd7zXZ\0", "packed with xz", _UNPACK),
    OtherKind(b"(\xb5/\xfd", "packed with Zstandard", _UNPACK),
    OtherKind(b"ARROW1\0\0", "a file of Arrow (Feather)", _AS_PARQUET),
    OtherKind(b"FEA1", "a file of Arrow (Feather)", _AS_PARQUET),
    OtherKind(
        b"",
        "a session of PSTrace (PalmSens)",
        "Export its curves as csv with PSTrace.",
        _text(r"\s*\{.{0,400}PalmSens"),
    ),
    OtherKind(
        b"",
        "a workbook in XML",
        _WORKBOOK,
        _text(r"\s*<\?xml.{0,400}(urn:schemas-microsoft-com:office|mso-application)"),
    ),
    OtherKind(b"", "a web page", _WORKBOOK, _text(r"\s*<(!doctype html|html|table|head|meta)\b")),
    OtherKind(b"", "XML", _COLUMNS, _text(r"\s*<(\?xml|[a-z][\w:.-]*(\s[^<>]*)?>\s*<)")),
    OtherKind(b"", "JSON", _COLUMNS, _text(r"\s*(\[\s*)?[{\[]\s*(\"[^\"\n]*\"\s*[:,]|[\[{]|-?[\d.]+\s*,)")),
)
"""In the order in which they are tried."""
_MATLAB_4 = re.compile(
    rb"(?:[\0-\x34]\0{3}.{8}[\0\1]\0{3}[\2-\x40]\0{3}|\0\0[\3\4].{9}\0{3}[\0\1]\0{3}[\2-\x40])[A-Za-z]\w*\0",
    re.DOTALL,
)
"""The first variable of a MATLAB file of version 4, in either order of bytes: type, rows, columns, whether it is
complex, and its name with its length. Such a file has no signature."""
_ARRAYS = re.compile(rb"PK\x03\x04.{26}[^\0]{0,200}?\.npy", re.DOTALL)


def why_not_a_test(head: Head) -> str | None:
    """The sentence about a file that cannot hold a test, by its kind; None if its kind is not known."""
    text = "\n".join(head.lines)[:2000] if head.lines else ""
    if not text and head.encoding is not None:
        text = head.data[:4000].decode(head.encoding, "replace").lstrip("\ufeff")
    if _ARRAYS.match(head.raw):
        return f"'{head.name}' holds arrays of numpy. {_COLUMNS}"
    if _MATLAB_4.match(head.data):
        return (
            f"'{head.name}' is a MATLAB file of version 4, which is not read. Load it in MATLAB and save it with "
            "save('name.mat', '-v7'), or in Python with scipy.io.savemat(new, scipy.io.loadmat(old)), and ingest that "
            "file."
        )
    for kind in OTHER_KINDS:
        if kind.text.match(text) if kind.text is not None else head.data.startswith(kind.begins):
            return f"'{head.name}' is {kind.is_a}, not a table of a test. {kind.instead}"
    return None
