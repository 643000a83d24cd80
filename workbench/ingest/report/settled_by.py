"""What was assumed of files, and the option that settles each such thing."""

from __future__ import annotations

from ...messages import column_map, option, option_name

_MAP = {
    "steps_by_state": {"their column": "Step from cycler"},
    "one_cycle": {"their column": "Cycle from cycler"},
    "cycles": {"their column": "Cycle from cycler"},
    "capacity_means": {"their column": "Discharge capacity [A.h]"},
    "current_derived": {"their column": "Current [A]"},
    "time_joined": {"their column": "Time [s]"},
    "time_from_clock": {"their column": "Time [s]"},
    "time_from_sweep": {"their column": "Time [s]"},
    "midnights": {"their column": "Time [s]"},
    "voltage_held": {"their column": "Voltage [V]"},
}
_SAID = {
    "sign_from_state": "sign",
    "sign_from_voltage": "sign",
    "sign_unchecked": "sign",
    "polarity": "sign",
    "time_zone": "zone",
    "time_unit": "column_map",
    "time_parts": "column_map",
    "not_time": "column_map",
    "unit": "column_map",
    "unit_proved": "column_map",
    "dates": "column_map",
    "temperature": "column_map",
    "electrode": "column_map",
    "imaginary_sign": "column_map",
}
"""The option that says it where a finding does not bring its own words."""
_SHEET = {
    "name": "a row of the sheet for this file",
    "cell": "another name for the cell in the sheet",
    "test": "another name for the test in the sheet",
    "form_factor": "the specification's form_factor, once it is there",
    "one_of_cells": "a row for each cell, named as in the report: rack.csv!A",
    "parts": "the column 'part' of the sheet",
    "joined": "start times in the files; without them the parts are joined without gaps",
}
_NAMES = ("spectrum_header",)
_FILE = ("impedance_beside", "pieces_joined")
_TABLES = ("tables_joined", "tables_left_out")
_NOTHING = (
    *("time_from_first_row", "time_shifted", "steps_renumbered", "summaries", "no_thermometer"),
    *("time_gap", "long_intervals", "folder", "cycles_sorted"),
)
"""How the store keeps every series: there is nothing to choose."""
NOTHING = "nothing to choose"
"""With these words begins what is in the place of an option where there is none."""


def settled_by(code: str, fix: str = "") -> str | None:
    """What settles that which was assumed under this code; None for a code we do not know.

    ``fix`` is the option that the finding brings (see `Finding`): it says what was assumed. No advice here changes
    numbers that are right.

    >>> settled_by("sign_from_voltage", 'sign="charge"'), settled_by("steps_by_state")
    ('sign="charge"', 'column_map={"their column": "Step from cycler"}')
    """
    if fix:
        return fix
    if code in _MAP:
        return column_map(_MAP[code])
    if code in _SAID:
        return f"{option_name(_SAID[code])}, as the sentence says"
    if code == "cycles_counted":
        return option("cycles", "file")
    if code == "integrated":
        return f"{column_map({'their column': 'Discharge capacity [A.h]'})}, where the file has a counter"
    if code == "excluded":
        return "bench.include, if it shall count here"
    if code == "rating_apart":
        return f"{option_name('specification')} for each kind of cell, or {option_name('sheet')}"
    if code == "rating":
        return f"{option_name('sheet')}: a column 'rating'; {option_name('rating')} if all cells are of one kind"
    if code in _SHEET:
        return f"{option_name('sheet')}: {_SHEET[code]}"
    if code == "unfinished_line":
        return "the next line of the file; `ingest` reads the file as it is"
    if code == "second_reader":
        return "the text export (.mpt) of EC-Lab or BT-Lab"
    if code in _NAMES:
        return "a line of names above the rows: Freq/Hz,Re(Z)/Ohm,Im(Z)/Ohm"
    if code == "sign_kept":
        return f"{NOTHING}: a drive cycle keeps the sign of its file"
    if code == "no_current":
        return "an export with its current, if one flowed"
    if code == "bias_left_out":
        return f"{option('sign', 'charge')} or {option('sign', 'discharge')}, as a positive current means"
    if code in _TABLES:
        return "each table in a file of its own"
    if code in _FILE:
        return f"{option_name('format')}, or each series in a file of its own"
    return f"{NOTHING}: the store keeps every series this way" if code in _NOTHING else None
