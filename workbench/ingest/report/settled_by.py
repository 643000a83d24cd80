"""What was assumed of files, and the option that settles each such thing."""

from __future__ import annotations

from ...messages import column_map, option, option_name

_MAP = {
    "time_unit": {"their column": "Time [h]"},
    "unit": {"their column": "Voltage [mV]"},
    "time_from_clock": {"their column": "Time [s]"},
    "dates": {"their column": "Date [day first]"},
    "temperature": {"their column": "Temperature [degC]"},
    "steps_by_state": {"their column": "Step from cycler"},
    "one_cycle": {"their column": "Cycle from cycler"},
    "cycles": {"their column": "Cycle from cycler"},
    "capacity_means": {"their column": "Charge capacity [A.h]"},
    "current_derived": {"their column": "Current [A]"},
    "time_joined": {"their column": "Time [s]"},
    "electrode": {"Ewe-Ece/V": "Voltage [V]"},
    "imaginary_sign": {"their column": "Z_Im [Ohm]"},
    "sheets": {"a column of the other sheet": "Voltage [V]"},
    "cells": {"a column of the other cell": "Time [s]"},
}
_SIGN = ("sign_from_state", "sign_from_voltage", "sign_unchecked", "sign_kept")
_SHEET = {
    "name": "a row of the sheet for this file",
    "cell": "another name for the cell in the sheet",
    "form_factor": "the specification's form_factor, once it is there",
    "parts": "the column 'part' of the sheet",
    "joined": "start times in the files; without them the parts are joined without gaps",
}
_NAMES = ("spectrum_header",)
_FILE = ("impedance_beside", "pieces_joined")
_NOTHING = ("time_from_first_row", "time_shifted", "steps_renumbered", "summaries")
"""How the store keeps every series: there is nothing to choose."""


def settled_by(code: str) -> str | None:
    """The option, as it is typed, that settles what was assumed under this code; None for a code we do not know.

    >>> settled_by("sign_from_voltage")
    'sign="discharge"'
    """
    if code in _MAP:
        return column_map(_MAP[code])
    if code in _SIGN:
        return option("sign", "discharge")
    if code == "time_zone":
        return option("zone", "Europe/Berlin")
    if code == "rating_apart":
        return f"{option_name('specification')} for each kind of cell, or {option_name('sheet')}"
    if code == "rating":
        return option("rating", "5Ah,2.5V,4.2V")
    if code in _SHEET:
        return f"{option_name('sheet')}: {_SHEET[code]}"
    if code == "unfinished_line":
        return "the next line of the file; `ingest` reads the file as it is"
    if code in _NAMES:
        return "a line of names above the rows: Freq/Hz,Re(Z)/Ohm,Im(Z)/Ohm"
    if code in _FILE:
        return f"{option_name('format')}, or each series in a file of its own"
    return "nothing to choose: the store keeps every series this way" if code in _NOTHING else None
