"""Impedance columns: real and imaginary part from modulus and phase, and the sign of the imaginary part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ...cycling.columns import CURRENT, FREQUENCY, TIME, VOLTAGE
from ...cycling.findings import Finding
from ...errors import FileRefused
from ...messages import column_map as mapping
from ...table import Column
from .columns import Plan, Planned
from .values import Floats, number_column, numbers

RE, IM, MODULUS, PHASE = "Z_Re [Ohm]", "Z_Im [Ohm]", "Z_Mod [Ohm]", "Z_Phase [deg]"
PARTS = (RE, IM, MODULUS, PHASE)
BARE = (FREQUENCY, RE, IM)
"""The names of the columns of a file without a header."""
_OF_A_CELL = 100.0
"""Hz. Below this frequency no cell is inductive, whatever its cables are."""
_CLEAR = 0.6


def completed(made: dict[str, Column], n: int) -> dict[str, Column]:
    """The columns of ``n`` rows; those of impedance get what they lack.

    Modulus and phase give the real and imaginary part. Time, current and voltage that the file does not have are null.
    """
    if FREQUENCY not in made:
        return made
    nulls = {name: Column("number", np.zeros(n), np.zeros(n, bool)) for name in (CURRENT, VOLTAGE, TIME)}
    return nulls | _with_parts(made)


def _with_parts(made: dict[str, Column]) -> dict[str, Column]:
    if not {FREQUENCY, MODULUS, PHASE} <= made.keys() or {RE, IM} <= made.keys():
        return made
    angle = np.deg2rad(made[PHASE].floats())
    modulus = made[MODULUS].floats()
    parts = {RE: number_column(modulus * np.cos(angle)), IM: number_column(modulus * np.sin(angle))}
    return made | {name: part for name, part in parts.items() if name not in made}


def settle_imaginary(
    plan: Plan,
    first: pd.DataFrame,
    decimal: str | None,
    mapped: bool,
    notes: list[Finding],
    *,
    bare: bool = False,
) -> None:
    """Reverse the imaginary part (or phase) if the file writes it with the other sign. Changes ``plan``.

    The rule: a capacitive impedance has a negative imaginary part. At low frequencies a cell is always capacitive, so
    the sign there shows the convention of the file. ``mapped``: a person has said what the columns are. ``bare``: the
    file has no header.

    Raises
    ------
    FileRefused
        If a file without a header does not show the sign.
    """
    frequency = plan.find(FREQUENCY)
    column = plan.find(IM) or plan.find(PHASE)
    if frequency is None or column is None or mapped:
        return
    way = _at_low(_values(frequency, first, decimal), _values(column, first, decimal))
    if bare and abs(way) < _CLEAR:
        raise FileRefused(
            "The file has no header, and the sign of its third column does not show whether it is Z'' or -Z''. Write "
            "the line 'Freq/Hz,Re(Z)/Ohm,Im(Z)/Ohm' above its rows."
        )
    if bare:
        text = "The file has no header; its columns were read as the frequency in Hz and Z' and "
        text += f"{'-' if way > 0 else ''}Z'' in Ohm: what is capacitive has a negative imaginary part. "
        notes.append(
            Finding("assumed", "spectrum_header", text + "A line of names above the rows says it for sure.")
        )
    elif way >= _CLEAR and column.negate:
        text = f"'{column.header}' is negative at low frequencies, so capacitive parts have a positive sign."
        notes.append(
            Finding(
                "odd", "imaginary_sign", f"{text} The sign was kept. Is the minus in the name of the column right?"
            )
        )
        return
    elif way >= _CLEAR:
        text = (
            f"'{column.header}' is positive at low frequencies and was turned: what is capacitive has a negative "
        )
        text += f"imaginary part. To keep it say {mapping({column.header: column.name})}."
        notes.append(Finding("assumed", "imaginary_sign", text))
    if way >= _CLEAR:
        plan.columns[plan.columns.index(column)] = replace(column, negate=not column.negate)


def _values(column: Planned, first: pd.DataFrame, decimal: str | None) -> Floats:
    return column.apply(numbers(first[column.header], decimal)[0])


def _at_low(frequency: Floats, imaginary: Floats) -> float:
    """The sign of an imaginary part at the lower half of the frequencies, from -1 to 1; 0 if they are too high."""
    known = np.isfinite(frequency) & np.isfinite(imaginary) & (frequency > 0)
    if not known.any() or float(frequency[known].min()) >= _OF_A_CELL:
        return 0.0
    decades = np.log10(frequency[known])
    low = imaginary[known][decades <= (decades.min() + min(decades.max(), np.log10(_OF_A_CELL))) / 2]
    size = float(np.abs(low).sum())
    return float(low.sum()) / size if size else 0.0
