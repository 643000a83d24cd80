"""Axis titles from column names, and back: ``Voltage [V]`` becomes ``Voltage / V``, the quotient of quantity and unit,
or ``Voltage (V)`` for journals that want it so."""

from __future__ import annotations

import re
from html import unescape
from typing import Literal

from ..units import split_unit

TitleStyle = Literal["solidus", "parentheses"]
_NAMES = {"degC": "°C", "Ohm": "Ω", "ohm": "Ω", "deg": "°", "percent": "%"}
_SUPER = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_NORMAL = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_BASIS = re.compile(r"(?P<name>.+\S) \((?P<basis>[^()]+)\)")
_SOLIDUS = re.compile(r"(?P<name>.*\S)\s+/\s+(?P<unit>\S.*)", re.DOTALL)
_PARENTHESES = re.compile(r"(?P<name>.*\S)\s*\((?P<unit>[^()]+)\)", re.DOTALL)
_BRACKETS = re.compile(r"(?P<name>.*\S)\s*\[(?P<unit>[^\[\]]+)\]", re.DOTALL)
_RAISED = re.compile(r"<sup[^<>]*>([-−0-9]+)</sup>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
# What may be a unit in a title, so that "Fade (batch A)" keeps its parentheses.
_UNIT = re.compile(
    r"(?:[pnuµμmkMG]?(?:A|Ah|V|W|Wh|Ω|Ohm|ohm|Hz|s|g|m|mol|J|C|F|S|L|l|K|N|Pa|eV|bar)|cm|dm|h|min|d|day|days|"
    r"°C|degC|°|deg|%|1|ppm|cycle|cycles)(?:\^?[-−⁻]?[0-9⁰¹²³⁴⁵⁶⁷⁸⁹]+)?"
)
_SCALED = re.compile(r"(?:^|[ .·⋅*/])[0-9][0-9⁰¹²³⁴⁵⁶⁷⁸⁹⁻^]")
"""A unit with a number before it, as ``10³ s`` or ``100 mA``."""
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


def axis_title(column: str, *, basis: str | None = None, style: TitleStyle = "solidus") -> str:
    """The title of an axis that shows a column: its name, and its unit if it has one.

    Parameters
    ----------
    basis : what a normalised value refers to.
    style : ``"solidus"`` gives the quotient of quantity and unit, ``"parentheses"`` the unit in parentheses.

    Raises
    ------
    ValueError
        For another style.

    >>> axis_title("Discharge capacity [A.h]")
    'Discharge capacity / A h'
    >>> axis_title("Capacity retention")
    'Capacity retention'
    >>> axis_title("Discharge capacity [mA.h/g]", basis="active mass")
    'Discharge capacity (active mass) / mA h g⁻¹'
    >>> axis_title("Discharge capacity [mA.h/g]", basis="active mass", style="parentheses")
    'Discharge capacity, active mass (mA h g⁻¹)'
    """
    name, unit = split_unit(column)
    shown = f"{name} ({basis})" if basis else name
    return _titled(shown, unit_text(unit), style) if unit else _titled(shown, "", style)


def _titled(name: str, unit: str, style: TitleStyle) -> str:
    if style == "solidus":
        return f"{name} / {unit}" if unit else name
    if style != "parentheses":
        raise ValueError(f"A title has the style 'solidus' or 'parentheses', not {style!r}.")
    based = _BASIS.fullmatch(name)
    quantity = f"{based['name']}, {based['basis']}" if based and unit else name
    return f"{quantity} ({unit})" if unit else quantity


def axis_titles(x: str, y: str, *, style: TitleStyle = "solidus") -> dict[str, dict[str, dict[str, str]]]:
    """The part of a layout that titles both axes by their columns."""
    titles = {"xaxis": axis_title(x, style=style), "yaxis": axis_title(y, style=style)}
    return {axis: {"title": {"text": text}} for axis, text in titles.items()}


def restyled(title: str, style: TitleStyle) -> str:
    """A title in another style. One whose unit is not known as such stays as it is.

    >>> restyled("Discharge capacity / A h", "parentheses")
    'Discharge capacity (A h)'
    >>> restyled("Voltage (V)", "solidus")
    'Voltage / V'
    >>> restyled("Fade (batch A)", "solidus")
    'Fade (batch A)'
    """
    name, unit = _parted(title)
    return _titled(name, unit, style) if unit else title


def column_of(title: str) -> str:
    """The column name that a title stands for: the inverse of ``axis_title``, in plain text.

    >>> column_of("Discharge capacity (active mass) / mA h g⁻¹")
    'Discharge capacity (active mass) [mA.h/g]'
    >>> column_of("d<i>Q</i>/d<i>V</i> (A h V<sup>-1</sup>)")
    'dQ/dV [A.h/V]'
    >>> column_of("Time / 10³ s")
    'Time / 10³ s'
    """
    shown = _plain(title)
    name, unit = _parted(shown)
    if _SCALED.search(unit):
        return shown  # a column name has no place for a factor, and without it the numbers would be others
    return f"{name} [{unit_name(unit)}]" if unit else name


def _plain(title: str) -> str:
    """A title without markup, in one line."""
    raised = _RAISED.sub(lambda match: match[1].replace("−", "-").translate(_SUPER), title)
    return " ".join(unescape(_TAG.sub(lambda tag: " " if tag[0].startswith("<br") else "", raised)).split())


def _parted(title: str) -> tuple[str, str]:
    """Name and unit of a title; the unit is empty where there is none that is known."""
    for form in (_SOLIDUS, _PARENTHESES, _BRACKETS):
        match = form.fullmatch(title.strip())
        if match and is_unit(match["unit"]):
            return match["name"], match["unit"]
    return title.strip(), ""


def is_unit(text: str) -> bool:
    """Whether a text is a unit, perhaps against a reference: ``V vs. Li/Li⁺``."""
    unit = _plain(text).partition(" vs")[0]
    return all(_UNIT.fullmatch(factor) for factor in re.split(r"[ .·⋅*/]+", unit)) if unit else False


def is_plain_unit(text: str) -> bool:
    """Whether a text is a unit without a number before it, so that `unit_name` says all of it."""
    return is_unit(text) and not _SCALED.search(_plain(text))


def unit_name(unit: str) -> str:
    """A printed unit as it is written in a column name: the inverse of ``unit_text``."""
    shown, against, reference = _plain(unit).partition(" vs")
    above: list[str] = []
    below: list[str] = []
    for place, part in enumerate(shown.split("/")):
        for factor in re.split(r"[ .·⋅*]+", part.strip()):
            match = _FACTOR.match(factor.translate(_NORMAL))
            name, power = (match["name"], int(match["power"] or 1)) if match else (factor, 1)
            power = -power if place else power
            named = (
                name.replace("Ω", "Ohm")
                .replace("°C", "degC")
                .replace("°", "deg")
                .replace("µ", "u")
                .replace("μ", "u")
            )
            if named and named != "1":
                (above if power > 0 else below).append(named + (str(abs(power)) if abs(power) != 1 else ""))
    return "/".join([".".join(above) or "1", *below]) + against + reference
