"""``efficiency``: what comes back of the charge and the energy that went in."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..inputs import (
    CHARGE,
    CYCLE,
    DISCHARGE,
    T_MEAN,
    TEMPERATURE,
    Floats,
    Refusal,
    flags,
    in_order,
    need,
    numbers,
    positive,
    refusing,
    temperatures,
)
from ..off_course import currents
from ..result import Cell, Remark, result

COLUMNS = (
    CYCLE,
    DISCHARGE,
    CHARGE,
    "Coulombic efficiency",
    "Energy efficiency",
    "Voltage efficiency",
    "CIE per hour [1/h]",
    "Complete",
    T_MEAN,
)
_UNUSUAL = 0.05
_OTHER_RATE = 0.1
_UNKNOWN_ACCURACY = 0.001
_FEW = 3


@refusing(COLUMNS)
def efficiency(cycles: pd.DataFrame, *, accuracy: float | None = None) -> pd.DataFrame:
    """The coulombic, energy and voltage efficiency of each cycle, and the coulombic inefficiency per hour.

    CE = Qd/Qc, EE = Ed/Ec, VE = EE/CE, CIE per hour = (1 - CE) over the duration of the cycle in h; of the discharge
    and the charge of the same cycle. A cycle that is not ``Complete`` is null, and so is one that gives more than 1.05
    times what it took: the cell came charged, or is an electrode against lithium. So is one that may not be complete
    if its CE is more than 0.05 from 1, and one that gives more than 1.05 times the energy that it took, which no cell
    does: some of its voltages or currents are not of the cell. A CE more than 0.05 from 1, and a cycle whose discharge
    current is more than 10 % from that of the cycle before, so that its charge refills another discharge, are warned
    of. A remark says so where the median CE of three cycles or more is above 1 by more than ``accuracy`` (0.001
    without it).

    Parameters
    ----------
    cycles : the ``cycles`` summary of one test.
    accuracy : of the cycler's charge, a fraction (0.0005 for 0.05 %). A CE nearer to 1 than it is warned of; without
        it a warning says that the last digits of CE are not known.
    """
    positive(accuracy, "accuracy")
    need(cycles, (CYCLE, DISCHARGE, CHARGE), 1, "cycle")
    rows = in_order(cycles, CYCLE)
    out, into = numbers(rows, DISCHARGE), numbers(rows, CHARGE)
    if not ((out > 0) & (into > 0)).any():
        raise Refusal("no_cycle", "No cycle has both a charge and a discharge.")
    with np.errstate(divide="ignore", invalid="ignore"):
        coulombic = np.where(into > 0, out / into, np.nan)
        put = numbers(rows, "Charge energy [W.h]")
        energy = np.where(put > 0, numbers(rows, "Discharge energy [W.h]") / put, np.nan)
    hours = numbers(rows, "Cycle duration [s]") / 3600
    complete = flags(rows, "Complete")
    number, temperature, current = numbers(rows, CYCLE), numbers(rows, TEMPERATURE), currents(rows)
    made: list[dict[str, Cell]] = []
    for place, reason in enumerate(_reasons(coulombic, energy, complete)):
        row: dict[str, Cell] = {
            CYCLE: number[place],
            DISCHARGE: out[place],
            CHARGE: into[place],
            "Complete": _word(complete[place]),
            T_MEAN: temperature[place],
            "Valid": not reason,
            "Warning": reason,
        }
        if not reason:
            ce = coulombic[place]
            row |= {
                "Coulombic efficiency": ce,
                "Energy efficiency": energy[place],
                "Voltage efficiency": energy[place] / ce,
                "CIE per hour [1/h]": (1 - ce) / hours[place] if hours[place] > 0 else np.nan,
                "Warning": _warned(place, ce, current, complete[place], accuracy),
            }
        made.append(row)
    remarks = temperatures(temperature)
    if accuracy is None:
        words = "The accuracy of the cycler is not known: differences of CE below about 0.001 may be its own."
        remarks.append(Remark("accuracy_unknown", words))
    remarks += _gives_more(made, accuracy)
    return result(made, COLUMNS, remarks)


def _gives_more(rows: list[dict[str, Cell]], accuracy: float | None) -> list[Remark]:
    """What to say if the cell gives more than it takes in most cycles. One cycle may, after a charge elsewhere."""
    known = [ce for row in rows if isinstance(ce := row.get("Coulombic efficiency"), float)]
    if len(known) < _FEW:
        return []
    median = float(np.median(known))
    if median <= 1 + (_UNKNOWN_ACCURACY if accuracy is None else accuracy):
        return []
    return [
        Remark(
            "ce_above_one",
            f"The median CE is {median:.4f}: the cell gives more than it takes in each cycle. The electrode may be "
            "opposite lithium, where charge and discharge change their roles: its CE is the inverse.",
        )
    ]


def _word(complete: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[complete]


def _reasons(coulombic: Floats, energy: Floats, complete: list[bool | None]) -> list[str]:
    """Why each cycle has no efficiency; empty where it has."""
    found = []
    for place, ce in enumerate(coulombic):
        if complete[place] is False:
            found.append("the cycle is not complete")
        elif not ce > 0:
            found.append("the cycle lacks a charge or a discharge")
        elif ce > 1 + _UNUSUAL:
            why = (
                "the cell came charged"
                if place == 0
                else "what it gave came in another cycle, or lithium is opposite"
            )
            found.append(f"the discharge passed {ce:.4g} times what the charge did: {why}")
        elif complete[place] is None and abs(ce - 1) > _UNUSUAL:
            found.append(f"CE is {ce:.4g}, and it is not known whether the cycle is complete")
        elif energy[place] > 1 + _UNUSUAL:
            found.append(
                f"the discharge gave {energy[place]:.4g} times the energy that the charge took, and {ce:.4g} times its "
                "charge: look for voltages that are not of the cell"
            )
        else:
            found.append("")
    return found


def _warned(place: int, ce: float, current: Floats, complete: bool | None, accuracy: float | None) -> str:
    said = []
    if complete is None:
        said.append("it is not known whether the cycle is complete")
    if abs(ce - 1) > _UNUSUAL:
        said.append(f"CE is {ce:.4g}, more than {_UNUSUAL:g} from 1")
    if place and abs(current[place] - current[place - 1]) > _OTHER_RATE * current[place - 1]:
        said.append("the discharge before was at another rate, and the charge refills that one")
    if accuracy is not None and abs(ce - 1) < accuracy:
        said.append(f"CE is 1 within the accuracy of the cycler, {accuracy:g}")
    return "; ".join(said)
