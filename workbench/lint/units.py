"""Units in axis titles, and the factors between units of the same quantity."""

from __future__ import annotations

import re

from ..battery.titles import unit_text
from ..units import split_unit

_WORDS = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("minute", "minutes", "mins"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("volt", "volts"), "V"),
    **dict.fromkeys(("amp", "amps", "ampere", "amperes"), "A"),
    **dict.fromkeys(("percent", "per cent"), "%"),
    **dict.fromkeys(("degC", "deg C", "°C", "C"), "°C"),
    **dict.fromkeys(("ohm", "ohms"), "Ω"),
}
# For each quantity: how many of each unit make up one of the first unit.
_SCALES: tuple[dict[str, float], ...] = (
    {"s": 1, "ms": 1e3, "min": 1 / 60, "h": 1 / 3600, "d": 1 / 86400},
    {"V": 1, "mV": 1e3, "µV": 1e6},
    {"A": 1, "mA": 1e3, "µA": 1e6},
    {"Ah": 1, "mAh": 1e3, "µAh": 1e6},
    {"Wh": 1, "mWh": 1e3},
    {"W": 1, "mW": 1e3, "kW": 1e-3},
    {"Ω": 1, "mΩ": 1e3, "kΩ": 1e-3},
    {"Hz": 1, "mHz": 1e3, "kHz": 1e-3},
    {"°C": 1},
    {"K": 1},
    {"%": 1},
)
_KNOWN = {unit for scale in _SCALES for unit in scale}
_PLACES = (r"/\s*([^/]+)$", r"\[([^\[\]]+)\]\s*$", r"\(([^()]+)\)\s*$", r",\s*([^,]+)$", r"\bin\s+(\S+)$")


def plain_unit(unit: str) -> str:
    """A unit in one spelling: ``A.h``, ``A h`` and ``Ah`` become ``Ah``."""
    word = _WORDS.get(unit.strip()) or _WORDS.get(unit.strip().lower())
    return word or re.sub(r"[ .·⋅*]", "", unit_text(unit)).replace("μ", "µ")


def unit_of_column(column: str) -> str | None:
    """The unit in a column name, in one spelling."""
    unit = split_unit(column)[1]
    return None if unit is None else plain_unit(unit)


def unit_of_title(title: str) -> str | None:
    """The unit in an axis title. None if the title has no unit that is known here."""
    for place in _PLACES:
        match = re.search(place, title)
        if match and plain_unit(match[1]) in _KNOWN:
            return plain_unit(match[1])
    return None


def has_unit(title: str) -> bool:
    """Whether a title may carry a unit, known or not."""
    return any(re.search(place, title) for place in _PLACES) or plain_unit(title) in _KNOWN


def factor_between(unit: str, shown: str) -> float | None:
    """The factor that converts values in ``unit`` to ``shown``. None if the units measure different quantities."""
    for scale in _SCALES:
        if unit in scale and shown in scale:
            return scale[shown] / scale[unit]
    return None
