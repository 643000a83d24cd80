"""Recognises the format of a file from its content, and reads the file by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from zipfile import is_zipfile

from ..cycling import conform
from ..cycling.columns import CURRENT, CYCLER_CYCLE, TIME, VOLTAGE
from ..errors import BadRequest, FileRefused, instead
from ..messages import option, quoted
from . import GENERAL, OF_BRANDS
from .file.other_kinds import why_not_a_test
from .file.sheets import sheet_notes, view, without_sheet
from .file.source import Head, look
from .formats.by_blanks import names_that_do_not_fit
from .formats.delimited import DELIMITED, IMPEDANCE, OPEN_CIRCUIT
from .formats.rest import REST, shows_current
from .non_series.recognise import other_format
from .plugins import NEEDED, outside_formats
from .reading import Reader, Reading
from .table.columns import plan_columns, unique_labels
from .table.header_units import split_header, unit_of
from .table.impedance_beside import with_spectra
from .table.missing_columns import is_of_a_test, is_table, of_a_spectrum, why_no_spectrum, why_refused
from .table.text_format import TextFormat
from .table.text_layout import HeaderLine, header_lines
from .table.typed_columns import parquet_names

_OF_SAMPLES = (TIME, CURRENT, VOLTAGE)


def _loaded(places: Sequence[str]) -> Iterator[Reader]:
    """The declarations at these places.

    Raises
    ------
    ImportError
        If a declaration is missing, or lacks an attribute that each format needs.
    """
    for place in places:
        module, _, name = place.rpartition(".")
        found: Reader | None = getattr(import_module(f"{__package__}.formats.{module}"), name, None)
        lacking = [part for part in NEEDED if not hasattr(found, part)]
        if found is None or lacking:
            raise ImportError(f"The format '{place}' has no '{lacking[0]}'; it is listed in {__package__}.")
        yield found


BUILT_IN: dict[str, Reader] = {format.name: format for format in _loaded((*OF_BRANDS, *GENERAL))}
"""The formats of this package by name."""
_OUTSIDE = tuple(outside_formats(BUILT_IN))
FORMATS: dict[str, Reader] = {
    format.name: format for format in (*_loaded(OF_BRANDS), *_OUTSIDE, *_loaded(GENERAL))
}
"""All formats by name, in the order in which they are tried: the brands of this package, the formats of other
packages, and then the general formats."""


def rule_of(name: str) -> int | None:
    """The number of the rule by which the format of this name is read today; None for a name that is not a format.

    It rises with the rule of the reader, and with that of what is done with the samples of every reader. A reader of
    another package may leave its rule out; then it is 1.
    """
    return getattr(FORMATS[name], "rule", 1) + conform.RULE - 1 if name in FORMATS else None


def rules_of_readers() -> dict[str, int]:
    """Format -> the number of the rule by which it is read today."""
    return {name: rule for name in FORMATS if (rule := rule_of(name)) is not None}


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
    found = _matching(head)
    if found is None:
        raise FileRefused(_unknown(head))
    return found


def _matching(head: Head) -> Reader | None:
    """The first format that a file has. A table with a current goes before a spectrum or a rest in the same text."""
    formats = iter(FORMATS.values())
    first = next((format for format in formats if format.matches(head)), None)
    if not isinstance(first, TextFormat) or first.flows(head) or len(header_lines(head)) < 2:
        return first
    later = (format for format in formats if isinstance(format, TextFormat))
    return next((format for format in later if format.flows(head) and format.matches(head)), first)


def _unknown(head: Head) -> str:
    """The message about a file of no known format: what was seen, and how to fix it.

    Raises
    ------
    FileRefused
        With such a message, if the file has columns but lacks time, current or voltage.
    """
    kind = why_not_a_test(head)
    if kind is not None:
        return kind
    if head.raw.startswith(b"PK\x03\x04") and head.packed is None:
        if not is_zipfile(head.path):
            return f"'{head.name}' is a damaged or incomplete zip archive or workbook. Export or copy it again."
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
        best = max(header_lines(head), key=lambda line: (_meant(line), len(line.keys)), default=None)
        names = best.fields if best is not None else ()
        if best is not None and not is_table(head, best):
            return (
                f"'{head.name}' is text, but not a table of numbers below a line of column names. If it is a test, "
                "export it as text or csv with the software of the cycler."
            )
    apart = names_that_do_not_fit(head) if not names else None
    if apart is not None:
        return apart
    if not names:
        return (
            f"'{head.name}' has no header line. Add a line of column names above its rows, such as "
            "'Time [s],Current [A],Voltage [V]', or export it again with one."
        )
    plan = plan_columns(unique_labels(names), DELIMITED.columns, clocks=DELIMITED.clocks, file=head.name)
    known = {column.name for column in plan.columns}
    if plan.clock is not None:  # the time can be computed from it
        known.add(TIME)
    missing = [name for name in _OF_SAMPLES if name not in known]
    if len(missing) > 1 and of_a_spectrum(plan.labels):
        raise FileRefused(why_no_spectrum(head.name, plan), unmapped=is_of_a_test(head, best, plan))
    if missing:
        fits = best is not None and best.has(REST.needs) and not shows_current(best.fields)
        rest = REST.name if fits else None
        why = why_refused(head.name, plan, missing, rest)
        if best is not None and best.has(OPEN_CIRCUIT.needs):
            curve = option("format", OPEN_CIRCUIT.name)
            why += f" If it is not a test but a curve of the voltage over a charge, say {curve}."
        if len(missing) == len(_OF_SAMPLES) and plan.find(CYCLER_CYCLE) is not None:
            why += (
                " If it holds capacities by cycle, it needs the columns 'cycle' and 'capacity [A.h]', and a column "
                "'cell' where it has several cells."
            )
        raise FileRefused(why, unmapped=is_of_a_test(head, best, plan))
    return f"'{head.name}' has no known format. Its columns are {quoted(plan.labels)}."


def read(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    column_map: Mapping[str, str] | None = None,
    sign: str | None = None,
    test: str | None = None,
    one_pass: bool = False,
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
    test : the test to be read, of a file that holds several: a name from ``SeveralTests.tests``.
    one_pass : read a long text once, and not once more to see what its later rows show. The caller reads it again
        without ``one_pass`` where a batch raises ``LaterRows``.

    Raises
    ------
    LaterRows
        From a batch, with ``one_pass`` alone: a later row shows that a column is of another kind.
    SeveralTests
        If the file holds several cells or tests and ``test`` does not say which.
    FileRefused
        If the file does not have the format, lacks current, voltage or time, has no rows, or the direction of its
        current cannot be known.
    BadRequest
        For an unknown format or sign.
    TooLarge
        If the file is over one of `readers.limits`.
    """
    head = replace(
        look(Path(path)), one_pass=one_pass
    )  # before its lines are searched: what is found is kept with it
    other = None if format or column_map else other_format(head)
    if other is not None:
        raise FileRefused(
            f"'{head.name}' is not a time series. {other.about} Ingest it by its name or with its folder."
        )
    head = view(head, _text_format, column_map)
    column_map = without_sheet(head, column_map)
    head = head if test is None else replace(head, test=test)
    reading = _chosen(head, format, bool(column_map)).read(head, column_map=column_map, sign=sign)
    reading.notes[:0] = sheet_notes(head)
    spectra = (table for sheet in head.beside for table in IMPEDANCE.read(sheet).batches)
    return with_spectra(reading, spectra) if head.beside else reading


def _meant(line: HeaderLine) -> int:
    """How many fields of a line are the names of columns that the workbench knows, or have a unit."""
    names = {name for column in DELIMITED.columns for name in column.names}
    heads = [split_header(field) for field in line.fields]
    return sum(head.key in names or unit_of(head.unit) is not None for head in heads)


def _text_format(head: Head) -> TextFormat | None:
    """The text format of a sheet; None if it has none."""
    return next((f for f in FORMATS.values() if isinstance(f, TextFormat) and f.matches(head)), None)


def _chosen(head: Head, name: str | None, mapped: bool) -> Reader:
    if name is not None and name not in FORMATS:
        raise BadRequest(f"There is no format '{name}'. {instead(name, FORMATS, 'formats')}")
    if name is not None:
        return FORMATS[name]
    matching = _matching(head)
    if matching is None and mapped and parquet_names(head):
        return FORMATS["parquet"]
    if matching is None and mapped and head.encoding is not None:
        return FORMATS["delimited"]
    return matching or _recognised(head)
