"""Readers of cycler files: one declaration a format, recognised from content, read in bounded batches."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from ..errors import BadRequest, FileRefused, instead
from .biologic import BIOLOGIC
from .delimited import DELIMITED
from .maccor import MACCOR
from .neware import NEWARE
from .reading import Note, Reader, Reading
from .source import Head, look

__all__ = ["FORMATS", "Note", "Reader", "Reading", "read", "recognise"]

FORMATS: dict[str, Reader] = {format.name: format for format in (NEWARE, MACCOR, BIOLOGIC, DELIMITED)}
"""All formats by name, in the order in which they are tried; the general ones stand last."""


def recognise(path: str | PathLike[str]) -> str:
    """The name of the format of a file, from its content; its ending is not asked.

    Raises
    ------
    FileRefused
        If the file cannot be opened or is of no format we know; says what was seen and what would mend it.
    """
    return _recognised(look(Path(path))).name


def _recognised(head: Head) -> Reader:
    for format in FORMATS.values():
        if format.matches(head):
            return format
    raise FileRefused(f"'{head.name}' is of no format that is known here.")


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    column_map: Mapping[str, str] | None = None,
    sign: str | None = None,
) -> Reading:
    """Read a cycler file.

    Parameters
    ----------
    path : the file; a text file may be gzipped.
    format : name of the format, else it is recognised from the content.
    column_map : header in the file -> our name, such as ``{"Volts": "Voltage [V]"}``; goes before what the format
        knows. A unit that is not the canonical one says what the values are in: ``{"I": "Current [mA]"}``.
    sign : what a positive current means in the file: "charge", "discharge" or "unsigned"; else as the format
        documents it.

    Raises
    ------
    FileRefused
        If the file is not of the format, lacks current, voltage or time, has no rows, or its current has no
        direction that could be known. ``BadRequest`` for an unknown format or sign, ``TooLarge`` past a bound.
    """
    path = Path(path)
    head = look(path)
    if format is None:
        reader = (
            FORMATS["delimited"] if column_map and head.encoding and not _matches_any(head) else _recognised(head)
        )
    elif format in FORMATS:
        reader = FORMATS[format]
    else:
        raise BadRequest(f"There is no format '{format}'. {instead(format, FORMATS, 'formats')}")
    return reader.read(path, column_map=column_map, sign=sign)


def _matches_any(head: Head) -> bool:
    return any(format.matches(head) for format in FORMATS.values())
