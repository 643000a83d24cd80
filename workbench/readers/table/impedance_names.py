"""Names of impedance columns in any usual spelling, and of potentials that name their reference electrode."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from .header_units import Header, split_header, unit_of

_MARKS = str.maketrans(
    {
        "′": "'", "‘": "'", "’": "'", "`": "'", "´": "'", "″": "''", "“": "''", "”": "''", '"': "''",
        "−": "-", "–": "-", "—": "-", "‐": "-", "ϕ": "φ", "ϑ": "θ", "Φ": "φ", "Θ": "θ",
    }
)  # fmt: skip
_PLOT_COLUMN = re.compile(r"^data:|\(\s*[ab]\s*\)$", re.IGNORECASE)
"""ZPlot writes the column of its plot behind a name: ``Z'(a)``, ``Z''(b)``. ZView writes before it ``Data: Z'``."""
_LONGEST = 200
"""Characters of a name. Patterns are slow on longer texts, and no name is longer."""
_NEGATIVE = re.compile(r"^(?:-1[*·x]|-|neg(?:ative)?|minus)")
_NOT_LETTERS = re.compile(r"[\s_.:()\[\]{}<>]+")


def _spellings(words: tuple[str, ...], others: tuple[str, ...] = ()) -> Iterator[str]:
    """Each word alone, before and behind ``z`` and ``impedance``, and the ``others`` as they are."""
    yield from others
    for word in words:
        yield from (word, f"z{word}", f"impedance{word}", f"{word}zwe", f"{word}zwe-ce")
        yield from (f"{word}{of}{what}" for of in ("", "of") for what in ("z", "impedance"))


_IN_WORDS = {
    "z re": ("realteil", "partieréelle", "partereal", "resistance", "rs", "实部", "阻抗实部", "実部", "실수부"),
    "z im": (
        "imaginärteil",
        "imaginaerteil",
        "partieimaginaire",
        "parteimaginaria",
        "reactance",
        "xs",
        "虚部",
        "阻抗虚部",
        "허수부",
    ),
}
_WORDS = {
    "frequency": (
        "f",
        "freq",
        "freqs",
        "frequency",
        "frequenz",
        "fréquence",
        "frecuencia",
        "frequenza",
        "频率",
        "周波数",
        "주파수",
        "ν",
    ),
    "z re": tuple(_spellings(("re", "real", "realpart"), ("z'", "z1", "zr", *_IN_WORDS["z re"]))),
    "z im": tuple(
        _spellings(
            ("im", "imag", "img", "imaginary", "imaginarypart", "imagpart"),
            ("z''", "z2", "zi", *_IN_WORDS["z im"]),
        )
    ),
    "z mod": tuple(
        _spellings(
            ("mod", "modulus", "magnitude", "mag", "abs"),
            ("|z|", "z", "impedance", "impedanz", "|impedance|", "betrag", "zamp", "zamplitude"),
        )
    ),
    "z phase": tuple(
        _spellings(
            ("phase", "phz", "ph", "phi", "φ", "theta", "θ", "phaseangle", "angle", "arg"),
            ("phasenwinkel", "相位", "相位角", "위상"),
        )
    ),
}
_MEANINGS = {word: meaning for meaning, words in _WORDS.items() for word in words}
_UNITS = {"frequency": "Hz", "z re": "Ohm", "z im": "Ohm", "z mod": "Ohm", "z phase": "deg"}
_LETTERS = {"r": "z re", "x": "z im"}
"""Resistance and reactance, where a spectrum has no other parts: alone they may mean anything."""
_AXES = ({"z re", "z im"}, {"z mod", "z phase"})
_REFERENCE = re.compile(
    r"\s+(?:vs|versus)\b\.?\s*(?:[^()\[\]/]|/\s*(?!\s*m?V\b)|\((?!\s*m?V\b)[^()]*\))+", re.IGNORECASE
)


@lru_cache(maxsize=4096)
def impedance_key(text: str) -> str | None:
    """The folded name of the quantity that a header means if it is one of a spectrum; None for any other.

    >>> impedance_key("-Im[Z] / Ohm"), impedance_key("Z″ (b)"), impedance_key("Phase Angle (deg)")
    ('-z im', 'z im', 'z phase')
    """
    if len(text) > _LONGEST:
        return None
    clean = _PLOT_COLUMN.sub("", text.translate(_MARKS).strip().strip("\ufeff~"))
    head = split_header(clean)
    for name, unit in ((head.text, None), (_without_unit(head), head.unit)):
        compact = _NOT_LETTERS.sub("", name).casefold()
        turned = _NEGATIVE.match(compact)
        meaning = _MEANINGS.get(compact[turned.end() :] if turned else compact)
        known = unit_of(unit)
        if meaning is None or (unit is not None and (known is None or known.base != _UNITS[meaning])):
            continue
        if turned is None:
            return meaning
        return f"-{meaning}" if meaning in ("z re", "z im", "z phase") else None
    return None


def _without_unit(head: Header) -> str:
    """The name of a header with its brackets: ``Re(Z)`` of ``Re(Z) (Ohm)``."""
    if head.unit is None:
        return head.text
    return re.sub(r"[\s_/(\[]+" + re.escape(head.unit) + r"[)\]]?$", "", head.text)


def spectrum_keys(headers: Iterable[str]) -> dict[str, str]:
    """Header -> `impedance_key`, if these headers are those of a spectrum: a frequency and two axes. Else empty.

    Names such as ``f``, ``Re`` or ``Phase`` mean an impedance only together.
    """
    headers = list(headers)
    found = {header: key for header in headers if (key := impedance_key(header)) is not None}
    if _is_spectrum(found):
        return found
    heads = {header: split_header(header) for header in headers}
    plain = {
        header: _LETTERS[head.key]
        for header, head in heads.items()
        if head.key in _LETTERS and (unit := unit_of(head.unit)) is not None and unit.base == "Ohm"
    }
    return found | plain if _is_spectrum(found | plain) else {}


def _is_spectrum(keys: Mapping[str, str]) -> bool:
    has = {key.removeprefix("-") for key in keys.values()}
    return "frequency" in has and any(axes <= has for axes in _AXES)


def without_reference(text: str) -> Header | None:
    """A header without its reference electrode: ``Ewe/V vs. Li/Li+``, ``E vs. SHE (V)``; None if it names none.

    >>> without_reference("Ewe/V vs. Li/Li+").key, without_reference("Potential vs. Ag/AgCl (V)").unit
    ('ewe', 'V')
    """
    if len(text) > _LONGEST or " v" not in text.casefold():
        return None
    made = _REFERENCE.sub("", text)
    return split_header(made) if made != text and made.strip() else None


_OF_UNITS = {"s": "time", "A": "current", "V": "voltage"}
_NUMBERED = re.compile(r" \(\d+\)$")


def of_units(headers: Iterable[str]) -> dict[str, Header]:
    """Header -> the quantity that its unit means, where all headers are units and nothing else: ``s``, ``V``, ``µA``.

    One letter alone, among other names, may mean anything.
    """
    units = {header: unit_of(_NUMBERED.sub("", header)) for header in headers}
    if len(units) < 2 or None in units.values():
        return {}
    named = {header: _OF_UNITS.get(unit.base) for header, unit in units.items() if unit is not None}
    plain = [name for header, name in named.items() if name is not None and not _NUMBERED.search(header)]
    if len(set(plain)) < len(plain):  # two currents, of which one may be a setting
        return {}
    first = {name: header for header, name in reversed(named.items()) if name is not None}
    return {header: Header(header, name, _NUMBERED.sub("", header)) for name, header in first.items()}


def other_names(headers: Iterable[str]) -> dict[str, Header]:
    """Header -> what it is called besides its own name: in a spectrum, without its reference electrode, or by its
    unit."""
    headers = list(headers)
    found: dict[str, Header] = of_units(headers)
    for header in headers:
        plain = without_reference(header)
        if plain is not None:
            found[header] = plain
    for header, key in spectrum_keys(headers).items():
        written = split_header(header).unit
        unit = unit_of(written)
        fits = unit is not None and unit.base == _UNITS[key.removeprefix("-")]
        found[header] = Header(header, key, written if fits else None)
    return found
