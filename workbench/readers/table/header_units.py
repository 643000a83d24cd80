"""Units as cyclers write them, and column headers split into name and unit."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Unit:
    """A unit: a value times ``times``, divided by ``over``, plus ``plus``, is a value in ``base``.

    It divides by 1000 instead of multiplying by 0.001, so that 3.3 mA becomes the double nearest to 0.0033.
    """

    base: str
    times: float = 1.0
    over: float = 1.0
    plus: float = 0.0

    def convert(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) float in this unit -> (n,) float in ``base``. Values that need no conversion keep their bits."""
        if (self.times, self.over, self.plus) != (1.0, 1.0, 0.0):
            values = values.astype(np.float64)
        if self.times != 1.0:
            values = values * self.times
        if self.over != 1.0:
            values = values / self.over
        return values + self.plus if self.plus else values


_PREFIXES = {"": (1.0, 1.0), "k": (1e3, 1.0), "m": (1.0, 1e3)}
# The letter of a millionth, also damaged: its bytes in utf-8 or in GBK read as latin-1.
_PREFIXES |= dict.fromkeys(("u", "µ", "μ", "Âµ", "Î¼", "¦Ì"), (1.0, 1e6))
_SCALED = {
    "A": ("A", "amp", "amps", "ampere", "amperes"),
    "V": ("V", "volt", "volts"),
    "A.h": ("A.h", "A_h", "Ah", "A·h", "A*h", "Ahr", "amp-hr", "amp-hour", "ampere-hour", "ampere_hour"),
    "W.h": ("W.h", "W_h", "Wh", "W·h", "W*h", "Whr", "watt-hr", "watt-hour", "watt_hour"),
    "W": ("W", "watt", "watts"),
    "Ohm": ("Ohm", "ohms", "Ω", "Ω", "¦¸"),
    "Hz": ("Hz", "hertz"),
}
_WORDS = {
    "A": ("ampere", "amperes", "amp", "amps"),
    "V": ("volt", "volts"),
    "A.h": tuple(f"{amp}{mark}hour{end}" for amp in ("ampere", "amp") for mark in "_- " for end in ("", "s")),
    "W.h": tuple(f"watt{mark}hour{end}" for mark in "_- " for end in ("", "s")),
    "W": ("watt", "watts"),
    "Ohm": ("ohm", "ohms"),
}
_WORDS_BEFORE = {"milli": "m", "micro": "u", "kilo": "k"}
_MEGA = {"MHz": "Hz"} | {"M" + ohm: "Ohm" for ohm in ("Ohm", "Ohms", "ohm", "ohms", "\u03a9", "\u2126")}
"""Units whose capital M is a million: without their case they would be milli."""
_TIMES = {
    1.0: ("s", "sec", "secs", "second", "seconds"),
    60.0: ("min", "mins", "minute", "minutes"),
    3600.0: ("h", "hr", "hrs", "hour", "hours"),
    86400.0: ("d", "day", "days"),
}


_CYRILLIC = {
    "с": "s", "сек": "s", "мин": "min", "ч": "h", "А": "A", "мА": "mA", "В": "V", "мВ": "mV",
    "А·ч": "A.h", "Ач": "A.h", "мА·ч": "mA.h", "мАч": "mA.h", "Ом": "Ohm", "Гц": "Hz",
}  # fmt: skip
"""Units in Cyrillic letters, some of which look like Latin ones."""
_EASTERN = {
    "毫秒": "ms", "秒": "s", "초": "s", "分": "min", "分钟": "min", "分鐘": "min", "小时": "h", "小時": "h",
    "安": "A", "毫安": "mA", "伏": "V", "毫伏": "mV", "安时": "A.h", "毫安时": "mA.h", "瓦时": "W.h",
}  # fmt: skip
"""Units in Chinese, Japanese and Korean. What also names a column (``时间``, ``時間``) is not among them."""


def _units() -> dict[str, Unit]:
    made: dict[str, Unit] = {}
    for base, spellings in _SCALED.items():
        for prefix, (times, over) in _PREFIXES.items():
            for spelling in spellings:
                made[prefix + spelling] = Unit(base, times, over)
    for base, words in _WORDS.items():
        for before, prefix in _WORDS_BEFORE.items():
            made |= {before + word: Unit(base, *_PREFIXES[prefix]) for word in words}
    for factor, spellings in _TIMES.items():
        for spelling in spellings:
            made[spelling] = Unit("s", factor)
    for spelling in ("ms", "msec", "millisecond", "milliseconds"):
        made[spelling] = Unit("s", 1.0, 1e3)
    for spelling in ("us", "µs", "microsecond", "microseconds"):
        made[spelling] = Unit("s", 1.0, 1e6)
    for spelling in ("nA", "nanoampere"):
        made[spelling] = Unit("A", 1.0, 1e9)
    made |= {prefixed: Unit(base, 1e6) for prefixed, base in _MEGA.items()}
    made |= {"A.s": Unit("A.h", 1.0, 3600.0)}
    made |= {"coulomb": Unit("A.h", 1.0, 3600.0), "J": Unit("W.h", 1.0, 3600.0)}
    # Programs often damage the degree sign: to "?", to U+FFFD, or to its bytes in utf-8 or in GBK read as latin-1.
    for spelling in ("degC", "°C", "C", "℃", "deg C", "celsius", "degree_celsius", "oC", "ºC", "˚C"):
        made[spelling] = Unit("degC")
    for spelling in ("?C", "�C", "ï¿½C", "Â°C", "â\x84\x83", "â„ƒ", "¡ãC", "¡æ"):
        made[spelling] = Unit("degC")
    made |= {"K": Unit("degC", plus=-273.15), "kelvin": Unit("degC", plus=-273.15)}
    for spelling in ("degF", "°F", "℉", "deg F", "fahrenheit"):
        made[spelling] = Unit("degC", 5.0, 9.0, -160.0 / 9.0)
    made |= {"deg": Unit("deg"), "degree": Unit("deg"), "degrees": Unit("deg"), "°": Unit("deg")}
    made |= {
        "º": Unit("deg"),
        "˚": Unit("deg"),
        "radian": Unit("deg", 180 / np.pi),
        "rad": Unit("deg", 180.0 / np.pi),
    }
    made |= {theirs: made[ours] for theirs, ours in (_CYRILLIC | _EASTERN).items()}
    made |= {"1": Unit("1"), "dimensionless": Unit("1"), "-": Unit("1")}
    return made


UNITS = _units()
"""Spelling -> unit.

`engine.ratings` has its own few units of charge. It multiplies (0.9 mA.h times 0.001), these divide (0.9 / 1000), and
that gives another double. One table for both would change the bits of answers.
"""
_FOLDED = {spelling.casefold(): unit for spelling, unit in reversed(UNITS.items()) if spelling not in _MEGA}
_BRACKETED = re.compile(r"^(?P<name>.*?[^\s(\[{])\s*[(\[{](?P<unit>[^()\[\]{}]*)[)\]}]$", re.DOTALL)
_COMMENT = re.compile(r"^#\s*(?=[^\W\d_])")
"""The mark before a header that its program wrote as a comment: ``# Time (s)``."""
_LOST = re.compile(r"(?<=\w)\s*[(\[{][?\ufffd]+[)\]}]$")
"""The unit behind a name whose letters a program could not write: ``T1(?)`` for ``T1(℃)``."""
_BEHIND_MARK = re.compile(r"^(?P<name>.*?[^\s,;-])\s*[,-]\s*(?P<unit>[^\s,-]+)$")
_BEHIND_LETTER = re.compile(r"^(?P<name>.*[a-z])(?P<unit>m[VA]|M[avAV])$")
"""``Voltage, mV``, ``Voltage-mV``, ``VoltagemV`` and ``voltageMv``: only for units of voltage and current."""
_OF_SCRIBNER = {"Z'(a)": "z'", "Z''(b)": "z''"}
"""Headers whose brackets hold the name of a plot column, not a unit."""
_OF_CHARGE = re.compile(
    r"d?q(?: (?:dis)?charge)?|\(q-q0?o?\)|(?:(?:dis)?charg(?:e|ing) )?(?:capacity|charge)|discharge"
)
"""Folded names whose unit ``C`` is the coulomb. Behind other names it is the degree Celsius."""
_WIDE = str.maketrans("（）［］｛｝／，：\u3000", "()[]{}/,: ")
"""Marks as wide as a Chinese or Japanese letter, and the plain ones that mean the same."""
_SPACES = re.compile(r"[\s_]+")


_TIME_WORDS = {1.0: ("seconds", "s"), 60.0: ("minutes", "min"), 3600.0: ("hours", "h"), 86400.0: ("days", "d")}


def time_words(seconds: float) -> tuple[str, str]:
    """The word and the symbol of a unit of time of so many seconds.

    >>> time_words(60.0), time_words(1e-3)
    (('minutes', 'min'), ('milliseconds', 'ms'))
    """
    return _TIME_WORDS.get(seconds, ("milliseconds", "ms"))


def unit_of(text: str | None) -> Unit | None:
    """The unit of a spelling, first with its case and then without; None if it is unknown."""
    if text is None:
        return None
    spelling = text.strip().rstrip(".")
    return UNITS.get(spelling) or _FOLDED.get(spelling.casefold())


@dataclass(frozen=True)
class Header:
    """A column header in parts: ``key`` is its name, folded for comparison, ``unit`` the text of its unit."""

    text: str
    key: str
    unit: str | None


def is_of_statistics(key: str) -> bool:
    """Whether a folded header is of a summary by the cycler: a value for each cycle or step."""
    return "on cycle" in key or "on step" in key


def fold(name: str) -> str:
    """A name for comparison, without regard to case, blanks, underscores and full stops.

    >>> fold("Chg._Cap. ")
    'chg cap'
    """
    return _SPACES.sub(" ", name.replace(".", " ")).strip(" :").casefold()


@lru_cache(maxsize=4096)
def split_header(text: str) -> Header:
    """Name and unit of a header: ``Current(mA)``, ``I [A]``, ``time/s``, ``Voltage#V``, ``U,V``, ``test_time_second``.

    Wide brackets and slashes, as in ``电流（mA）``, are read like plain ones.

    >>> split_header("DChg. Cap.(mAh)")
    Header(text='DChg. Cap.(mAh)', key='dchg cap', unit='mAh')
    >>> split_header("-Im(Z)/Ohm").key
    '-im(z)'
    >>> split_header("dQ/C").unit
    'coulomb'
    """
    head = _parted(text)
    return replace(head, unit="coulomb") if head.unit == "C" and _OF_CHARGE.fullmatch(head.key) else head


def _parted(text: str) -> Header:
    clean = text.strip().strip("\ufeff~").translate(_WIDE).strip()
    if clean in _OF_SCRIBNER:
        return Header(clean, _OF_SCRIBNER[clean], None)
    clean = _LOST.sub("", _COMMENT.sub("", clean))
    bracketed = _BRACKETED.match(clean)
    if bracketed and (unit_of(bracketed["unit"]) or len(bracketed["unit"]) > 1):
        return Header(clean, fold(bracketed["name"]), bracketed["unit"].strip())
    for mark in ("/", "#", ","):
        name, found, unit = clean.rpartition(mark)
        if found and name and unit_of(unit):
            return Header(clean, fold(name), unit.strip())
    parts = re.split(r"[_ ]", clean)
    for words in (2, 1):
        unit = "_".join(parts[-words:])
        if len(parts) > words and unit_of(unit) and unit not in ("1", "-"):
            return Header(clean, fold(" ".join(parts[:-words]).rstrip(",; ").removesuffix(" in")), unit)
    for form in (_BEHIND_MARK, _BEHIND_LETTER):
        behind = form.match(clean)
        if behind and unit_of(clean) is None and (known := unit_of(behind["unit"])) and known.base in ("V", "A"):
            return Header(clean, fold(behind["name"]), behind["unit"])
    return Header(clean, fold(clean), None)
