"""Equivalent circuits written as text: ``R0-p(R1,CPE1)-p(R2-Wo1,C2)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from ...messages import quoted
from ..inputs import Floats
from .spectra import Complexes

_TOKEN = re.compile(r"\s*(?:(?P<open>p\()|(?P<mark>[(),-])|(?P<element>[A-Za-z]+\d+))")


class Quantity(NamedTuple):
    """A parameter of an element: its name after that of the element, its unit, and its kind: a resistance, a
    capacitance, an inductance, a time, a Warburg coefficient, or an exponent between 0 and 1."""

    name: str
    unit: str
    kind: str


Response: TypeAlias = tuple[Complexes, list[Complexes]]
"""An impedance, Ohm, and its derivatives by what is fitted: the logarithms of parameters, and exponents as they are."""


@dataclass(frozen=True)
class Kind:
    """A kind of element: its parameters, and its response to jw, 1/s, (n,) for values of which each is (s, 1)."""

    quantities: tuple[Quantity, ...]
    response: Callable[[Complexes, list[Floats]], Response]


def _resistor(jw: Complexes, p: list[Floats]) -> Response:
    z = np.asarray(p[0] + 0 * jw, complex)
    return z, [z]


def _capacitor(jw: Complexes, p: list[Floats]) -> Response:
    z = np.asarray(1 / (jw * p[0]), complex)
    return z, [-z]


def _inductor(jw: Complexes, p: list[Floats]) -> Response:
    z = np.asarray(jw * p[0], complex)
    return z, [z]


def _phase_element(jw: Complexes, p: list[Floats]) -> Response:
    z = np.asarray(1 / (p[0] * jw ** p[1]), complex)
    return z, [-z, -z * np.log(jw)]


def _warburg(jw: Complexes, p: list[Floats]) -> Response:
    z = np.asarray(p[0] * np.sqrt(2) / np.sqrt(jw), complex)
    return z, [z]


def _open_warburg(jw: Complexes, p: list[Floats]) -> Response:
    x = np.sqrt(jw * p[1])
    coth = _coth(x)
    z = p[0] * coth / x
    return z, [z, p[0] / 2 * (1 - coth**2 - coth / x)]


def _short_warburg(jw: Complexes, p: list[Floats]) -> Response:
    x = np.sqrt(jw * p[1])
    tanh = 1 / _coth(x)
    z = p[0] * tanh / x
    return z, [z, p[0] / 2 * (1 - tanh**2 - tanh / x)]


def _gerischer(jw: Complexes, p: list[Floats]) -> Response:
    inner = 1 + jw * p[1]
    z = np.asarray(p[0] / np.sqrt(inner), complex)
    return z, [z, -z * jw * p[1] / inner / 2]


def _coth(x: Complexes) -> Complexes:
    """coth, which is 1 for large arguments."""
    small = np.exp(-2 * x)
    return np.asarray((1 + small) / (1 - small), complex)


_OHM, _TIME = Quantity("R", "Ohm", "resistance"), Quantity("T", "s", "time")
KINDS: Mapping[str, Kind] = {
    "R": Kind((Quantity("", "Ohm", "resistance"),), _resistor),
    "C": Kind((Quantity("", "F", "capacitance"),), _capacitor),
    "L": Kind((Quantity("", "H", "inductance"),), _inductor),
    "CPE": Kind((Quantity("Q", "F.s^(a-1)", "capacitance"), Quantity("a", "", "exponent")), _phase_element),
    "W": Kind((Quantity("S", "Ohm.s^-0.5", "warburg"),), _warburg),
    "Wo": Kind((_OHM, _TIME), _open_warburg),
    "Ws": Kind((_OHM, _TIME), _short_warburg),
    "G": Kind((_OHM, _TIME), _gerischer),
}


@dataclass(frozen=True)
class Element:
    """``R1``: its kind, its name, and where its parameters begin among those of the circuit."""

    kind: str
    name: str
    first: int


@dataclass(frozen=True)
class Joined:
    """Parts in series or parallel."""

    parallel: bool
    parts: tuple[Part, ...]


Part: TypeAlias = Element | Joined


@dataclass(frozen=True)
class Circuit:
    """A circuit. ``columns`` are the names of its parameters with units, in order, and ``kinds`` their kinds."""

    text: str
    root: Part
    columns: tuple[str, ...]
    kinds: tuple[str, ...]

    @property
    def inductive(self) -> bool:
        """Whether it has an inductance."""
        return "inductance" in self.kinds

    @property
    def series_resistance(self) -> int | None:
        """The place of the resistance that is in series with all else; None without one."""
        parts = self.root.parts if isinstance(self.root, Joined) and not self.root.parallel else (self.root,)
        return next((one.first for one in parts if isinstance(one, Element) and one.kind == "R"), None)

    @property
    def resistance_beside(self) -> dict[int, int]:
        """Of each capacitance the place of the resistance that it is parallel to, its own where there is none."""
        found = {place: place for place, kind in enumerate(self.kinds) if kind == "capacitance"}
        _beside(self.root, found)
        return found

    def response(self, omega: Floats, values: Floats) -> tuple[Complexes, Complexes]:
        """The impedance, Ohm, (s, n), at angular frequencies (n,), 1/s, for (s, k) parameters; and its derivatives,
        (s, n, k), by what is fitted."""
        z, slopes = _response(self.root, np.asarray(1j * omega, complex), values)
        return z, np.stack([slopes[place] for place in range(len(self.columns))], axis=-1)

    def in_order(self, values: Floats) -> list[int]:
        """For each parameter the place from which it is taken so that arcs of one form are in order of their time
        constants: labels of two cells then mean the same."""
        order = list(range(len(values)))
        alike: dict[str, list[list[Element]]] = {}
        for part in self.root.parts if isinstance(self.root, Joined) and not self.root.parallel else ():
            if isinstance(part, Joined) and part.parallel:
                elements = list(_elements(part))
                alike.setdefault(" ".join(one.kind for one in elements), []).append(elements)
        for arcs in alike.values():
            wanted = sorted(arcs, key=lambda arc: _time_constant(arc, values))
            for here, source in zip(arcs, wanted, strict=True):
                for one, other in zip(here, source, strict=True):
                    for place in range(len(KINDS[one.kind].quantities)):
                        order[one.first + place] = other.first + place
        return order


def circuit_of(text: str) -> Circuit:
    """Read a circuit: elements in series are joined by ``-``, parallel ones by ``p(one,other)``.

    Elements are R, C, L, CPE (Q, a), W (infinite Warburg), Wo (finite, open: blocking), Ws (finite, short) and G
    (Gerischer), each with a number: ``R0-p(R1,CPE1)-Wo1``.

    Raises
    ------
    ValueError
        If the text is not a circuit, with the place and what is known.
    """
    reader = _Reader(text)
    root = reader.series()
    if reader.at < len(reader.tokens):
        raise reader.error(f"'{reader.tokens[reader.at]}' is not expected")
    return Circuit(text, root, tuple(reader.columns), tuple(reader.kinds))


class _Reader:
    """Reads the tokens of a circuit from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.tokens: list[str] = []
        self.columns: list[str] = []
        self.kinds: list[str] = []
        self.names: set[str] = set()
        place = 0
        while text[place:].strip():
            found = _TOKEN.match(text, place)
            if found is None:
                raise self.error(f"'{text[place:].strip()[:10]}' is not an element such as R1 or CPE1")
            self.tokens.append(found[0].strip())
            place = found.end()

    def error(self, why: str) -> ValueError:
        return ValueError(
            f"'{self.text}' is not a circuit: {why}. A circuit is like R0-p(R1,CPE1)-Wo1; elements are "
            f"{', '.join(KINDS)}, each with a number."
        )

    def series(self) -> Part:
        parts = [self.one()]
        while self.at < len(self.tokens) and self.tokens[self.at] == "-":
            self.at += 1
            parts.append(self.one())
        return parts[0] if len(parts) == 1 else Joined(False, tuple(parts))

    def one(self) -> Part:
        if self.at >= len(self.tokens):
            raise self.error("it ends where an element is expected")
        word = self.tokens[self.at]
        self.at += 1
        if word == "p(":
            parts = [self.series()]
            while self.at < len(self.tokens) and self.tokens[self.at] == ",":
                self.at += 1
                parts.append(self.series())
            if self.at >= len(self.tokens) or self.tokens[self.at] != ")" or len(parts) < 2:
                raise self.error("p( needs two or more parts with commas between them, and a )")
            self.at += 1
            return Joined(True, tuple(parts))
        return self.element(word)

    def element(self, token: str) -> Element:
        kind = token.rstrip("0123456789")
        if kind not in KINDS or kind == token:
            raise self.error(f"'{token}' is not an element: there are {quoted(list(KINDS))}")
        if token in self.names:
            raise self.error(f"'{token}' is there twice")
        self.names.add(token)
        made = Element(kind, token, len(self.columns))
        for quantity in KINDS[kind].quantities:
            unit = f" [{quantity.unit}]" if quantity.unit else ""
            self.columns.append(f"{token} {quantity.name}".rstrip() + unit)
            self.kinds.append(quantity.kind)
        return made


def _response(part: Part, jw: Complexes, values: Floats) -> tuple[Complexes, dict[int, Complexes]]:
    """The impedance of a part, and its derivatives by the place of the parameter."""
    if isinstance(part, Element):
        kind = KINDS[part.kind]
        places = range(part.first, part.first + len(kind.quantities))
        z, by_parameter = kind.response(jw, [values[:, [place]] for place in places])
        return z, dict(zip(places, by_parameter, strict=True))
    found = [_response(one, jw, values) for one in part.parts]
    merged: dict[int, Complexes] = {}
    if not part.parallel:
        for _, slopes in found:
            merged |= slopes
        return np.asarray(np.sum([z for z, _ in found], axis=0), complex), merged
    whole = np.asarray(1 / np.sum([1 / z for z, _ in found], axis=0), complex)
    for z, slopes in found:
        merged |= {place: slope * (whole / z) ** 2 for place, slope in slopes.items()}
    return whole, merged


def _beside(part: Part, found: dict[int, int]) -> None:
    """Note the resistance beside each capacitance."""
    if isinstance(part, Element):
        return
    if part.parallel:
        elements = list(_elements(part))
        resistance = next((one.first for one in elements if one.kind == "R"), None)
        for one in part.parts:
            if isinstance(one, Element) and one.kind in ("C", "CPE") and resistance is not None:
                found[one.first] = resistance
    for one in part.parts:
        _beside(one, found)


def _elements(part: Part) -> Iterator[Element]:
    if isinstance(part, Element):
        yield part
        return
    for one in part.parts:
        yield from _elements(one)


def _time_constant(arc: list[Element], values: Floats) -> float:
    """The time constant of an arc, s, from its first resistance and its first capacitance; 0 without one of them."""
    resistance = next((values[one.first] for one in arc if one.kind == "R"), 0.0)
    for one in arc:
        if one.kind == "C":
            return float(resistance * values[one.first])
        if one.kind == "CPE":
            return float((resistance * values[one.first]) ** (1 / values[one.first + 1]))
    return 0.0
