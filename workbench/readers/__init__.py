"""Readers of cycler files: recognise the format of a file from its content, and read it in bounded batches."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from os import PathLike
from pathlib import Path

from ..cycling.columns import CURRENT, TIME, VOLTAGE
from ..cycling.findings import Finding
from ..errors import BadRequest, FileRefused, instead
from ..messages import quoted
from .file.sheets import sheet_notes, view, without_sheet
from .file.source import Head, look
from .formats.delimited import DELIMITED, IMPEDANCE
from .non_series.recognise import other_format
from .plugins import NEEDED, outside_formats
from .reading import Reader, Reading
from .table.columns import plan_columns, unique_labels
from .table.impedance_beside import with_spectra
from .table.missing_columns import is_of_a_test, why_refused
from .table.text_format import TextFormat
from .table.text_layout import header_lines
from .table.typed_columns import parquet_names

__all__ = ["BUILT_IN", "FORMATS", "Reader", "Reading", "format_of", "read", "recognise", "rule_of"]

_OF_BRANDS = (
    "neware_binary.NDA",
    "neware_binary.NDAX",
    "arbin_access.ARBIN_RES",
    "biologic_binary.BIOLOGIC_MPR",
    "matlab.MATLAB",
    "hdf5.HDF5",
    "canonical.OWN",
    "canonical.OWN_PARQUET",
    "bdf.BDF",
    "bdf.BDF_PARQUET",
    "parquet.PYPROBE",
    "landt.LANDT_SHORT",
    "neware.NEWARE",
    "neware.NESTED",
    "maccor.MACCOR",
    "biologic.BIOLOGIC",
    "landt.LANDT",
    "arbin.ARBIN",
    "novonix.NOVONIX",
    "basytec.BASYTEC",
    "pec.PEC",
    "digatron.DIGATRON",
    "gamry.GAMRY",
)
"""The formats of brands, ``module.NAME``, in the order in which they are tried. A new format is a file and a line."""
_GENERAL = (
    "parquet.PARQUET",
    "delimited.DELIMITED",
    "delimited.OPEN_CIRCUIT",
    "parquet.OPEN_CIRCUIT_PARQUET",
    "delimited.IMPEDANCE",
    "spectra.IMPEDANCE_BLANKS",
    "spectra.IMPEDANCE_BARE",
)


def _loaded(places: Sequence[str]) -> Iterator[Reader]:
    """The declarations at these places.

    Raises
    ------
    ImportError
        If a declaration is missing, or lacks an attribute that each format needs.
    """
    for place in places:
        module, _, name = place.rpartition(".")
        found: Reader | None = getattr(import_module(f"{__name__}.formats.{module}"), name, None)
        lacking = [part for part in NEEDED if not hasattr(found, part)]
        if found is None or lacking:
            raise ImportError(f"The format '{place}' has no '{lacking[0]}'; it is listed in {__name__}.")
        yield found


BUILT_IN: dict[str, Reader] = {format.name: format for format in _loaded((*_OF_BRANDS, *_GENERAL))}
"""The formats of this package by name."""
_OUTSIDE = tuple(outside_formats(BUILT_IN))
FORMATS: dict[str, Reader] = {
    format.name: format for format in (*_loaded(_OF_BRANDS), *_OUTSIDE, *_loaded(_GENERAL))
}
"""All formats by name, in the order in which they are tried: the brands of this package, the formats of other
packages, and then the general formats."""


def rule_of(name: str) -> int | None:
    """The number of the rule by which the format of this name is read today; None for a name that is not a format.

    A reader of another package may leave it out; then it is 1.
    """
    return getattr(FORMATS[name], "rule", 1) if name in FORMATS else None


def recognise(path: str | PathLike[str]) -> str:
    """The name of the format of a file, from its content. The ending of its name does not matter.

    Raises
    ------
    FileRefused
        If the file cannot be opened or has no known format. The message says what was seen and how to fix it.
    """
    head = look(Path(path))
    other = other_format(head)
    return other.name if other is not None else _recognised(view(head, _text_format)).name


def format_of(
    path: str | PathLike[str], *, format: str | None = None, column_map: Mapping[str, str] | None = None
) -> str:
    """The name of the format that :func:`read` would use for a file. Raises what `recognise` raises."""
    head = look(Path(path))
    other = None if format or column_map else other_format(head)
    return other.name if other else _chosen(view(head, _text_format, column_map), format, bool(column_map)).name


def _recognised(head: Head) -> Reader:
    for format in FORMATS.values():
        if format.matches(head):
            return format
    raise FileRefused(_unknown(head))


def _unknown(head: Head) -> str:
    """The message about a file of no known format: what was seen, and how to fix it.

    Raises
    ------
    FileRefused
        With such a message, if the file has columns but lacks time, current or voltage.
    """
    if head.raw.startswith(b"PK\x03\x04") and head.packed is None:
        return (
            f"'{head.name}' is a zip archive of several files, not a workbook or a Neware .ndax. "
            "Unpack it and name the files in it."
        )
    if any(line.strip() == "primary_data" for line in head.lines):
        return (
            f"'{head.name}' is a file of the Ivium software. Its columns have no names, and their sign is not certain. "
            "Export the spectrum as text, with the columns 'freq. /Hz', 'Z1 /Ohm' and 'Z2 /Ohm'."
        )
    names, best = parquet_names(head), None
    if names == ():
        return f"'{head.name}' is a parquet file that is damaged or incomplete. Write or copy it again."
    if names is None and head.encoding is None:
        return (
            f"'{head.name}' is a binary file of an unknown format. The known formats are {', '.join(FORMATS)}. Export "
            "the test as text or csv with the software of the cycler."
        )
    if names is None:
        best = max(header_lines(head), key=lambda line: len(line.keys), default=None)
        names = best.fields if best is not None else ()
    if not names:
        return (
            f"'{head.name}' has no header line. Add a line of column names above its rows, such as "
            "'Time [s],Current [A],Voltage [V]', or export it again with one."
        )
    plan = plan_columns(unique_labels(names), DELIMITED.columns, clocks=DELIMITED.clocks, file=head.name)
    known = {column.name for column in plan.columns}
    if plan.clock is not None:  # the time can be computed from it
        known.add(TIME)
    missing = [name for name in (TIME, CURRENT, VOLTAGE) if name not in known]
    if missing:
        raise FileRefused(why_refused(head.name, plan, missing), unmapped=is_of_a_test(head, best, plan))
    return f"'{head.name}' has no known format. Its columns are {quoted(plan.labels)}."


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
    format : name of the format; if None, it is recognised from the content.
    column_map : header in the file -> our name, such as ``{"Volts": "Voltage [V]"}``. It overrides the format. A unit
        that is not the canonical one is the unit of the values: ``{"I": "Current [mA]"}``.
    sign : what a positive current means in the file: "charge", "discharge" or "unsigned"; if None, as the format
        documents it.

    Raises
    ------
    FileRefused
        If the file does not have the format, lacks current, voltage or time, has no rows, or the direction of its
        current cannot be known.
    BadRequest
        For an unknown format or sign.
    TooLarge
        If the file is over one of `readers.limits`.
    """
    head = look(Path(path))
    other = None if format or column_map else other_format(head)
    if other is not None:
        raise FileRefused(
            f"'{head.name}' is not a time series. {other.about} Ingest it by its name or with its folder."
        )
    head = view(head, _text_format, column_map)
    column_map = without_sheet(head, column_map)
    reading = _chosen(head, format, bool(column_map)).read(head, column_map=column_map, sign=sign)
    reading.notes[:0] = sheet_notes(head)
    spectra = (table for sheet in head.beside for table in IMPEDANCE.read(sheet).batches)
    return with_spectra(reading, spectra) if head.beside else reading


def _text_format(head: Head) -> TextFormat | None:
    """The text format of a sheet; None if it has none."""
    return next((f for f in FORMATS.values() if isinstance(f, TextFormat) and f.matches(head)), None)


def _chosen(head: Head, name: str | None, mapped: bool) -> Reader:
    if name is not None and name not in FORMATS:
        raise BadRequest(f"There is no format '{name}'. {instead(name, FORMATS, 'formats')}")
    if name is not None:
        return FORMATS[name]
    matching = next((format for format in FORMATS.values() if format.matches(head)), None)
    if matching is None and mapped and parquet_names(head):
        return FORMATS["parquet"]
    if matching is None and mapped and head.encoding is not None:
        return FORMATS["delimited"]
    return matching or _recognised(head)


def __getattr__(name: str) -> type[Finding]:
    """The former name of `workbench.cycling.findings.Finding`."""
    if name != "Note":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    warnings.warn("workbench.readers.Note is workbench.cycling.findings.Finding now.", DeprecationWarning, 2)
    return Finding
