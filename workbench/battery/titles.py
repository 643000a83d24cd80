"""Axis titles from column names: ``Voltage [V]`` becomes ``Voltage / V``, the quotient of quantity and unit."""

from __future__ import annotations

import re

from ..units import split_unit

_NAMES = {"degC": "°C", "Ohm": "Ω", "ohm": "Ω", "deg": "°", "percent": "%"}
_SUPER = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FACTOR = re.compile(r"^(?P<name>.*?)\^?(?P<power>-?\d+)?$")


def unit_text(unit: str) -> str:
    """A unit as it is printed: factors by spaces, divisors as negative powers.

    >>> unit_text("mA.h/g")
    'mA h g⁻¹'
    >>> unit_text("mOhm.cm2")
    'mΩ cm²'
    """
    factors = []
    for place, part in enumerate(unit.split("/")):
        for factor in re.split(r"[.*· ]+", part.strip("() ")):
            if factor and factor != "1":
                factors.append(_factor(factor, -1 if place else 1))
    return " ".join(factors)


def _factor(factor: str, sign: int) -> str:
    match = _FACTOR.match(factor)
    name, power = (match["name"], match["power"]) if match else (factor, None)
    exponent = sign * int(power or 1)
    return _symbol(name) + ("" if exponent == 1 else str(exponent).translate(_SUPER))


def _symbol(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    for ending in ("Ohm", "ohm"):
        if name.endswith(ending) and len(name) == len(ending) + 1:
            return ("µ" if name[0] == "u" else name[0]) + "Ω"
    if len(name) in (2, 3) and name[0] == "u" and name[1].isalpha():
        return "µ" + name[1:]
    return name


def axis_title(column: str, *, basis: str | None = None) -> str:
    """The title of an axis that shows a column: name and unit, or the name alone where there is no unit.

    ``basis`` names what a normalised value refers to.

    >>> axis_title("Discharge capacity [A.h]")
    'Discharge capacity / A h'
    >>> axis_title("Capacity retention")
    'Capacity retention'
    >>> axis_title("Discharge capacity [mA.h/g]", basis="active mass")
    'Discharge capacity (active mass) / mA h g⁻¹'
    """
    name, unit = split_unit(column)
    shown = f"{name} ({basis})" if basis else name
    return f"{shown} / {unit_text(unit)}" if unit else shown


def axis_titles(x: str, y: str) -> dict[str, dict[str, dict[str, str]]]:
    """The part of a layout that titles both axes by their columns."""
    return {"xaxis": {"title": {"text": axis_title(x)}}, "yaxis": {"title": {"text": axis_title(y)}}}
