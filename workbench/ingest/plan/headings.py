"""What the headings of a sheet and the fields of a name rule mean, and the values below them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...errors import BadRequest, instead
from ...readers.reading import SIGNS
from ...readers.table.header_units import unit_of
from ...units import split_unit
from ..limits import JsonObject
from ..options import IngestOptions, Names, said
from .labels import Labels
from .ratings import ratings_of
from .read_options import ReadOptions

FILE = "file"
_OF_ONE_FILE = {
    FILE: Names(
        ("file", "files", "file pattern", "file name", "filename", "pattern", "path"), ("datei", "dateiname")
    ),
    "measurement": Names(("measurement", "test", "test name", "measurement name"), ("messung", "versuch")),
    "part": Names(("part", "part number"), ("teil",)),
    "protocol": Names(("protocol", "procedure", "schedule"), ("protokoll", "prüfplan")),
    "tags": Names(("tags", "tag", "labels"), ("schlagworte",)),
}
"""What only a sheet or a name rule says, since it is about one file; the other columns are options."""


def columns(model: type[IngestOptions] = IngestOptions) -> dict[str, Names]:
    """Every column of a sheet with its names: those of one file, and the options that have a column."""
    options = {name: names for name, field in model.model_fields.items() if (names := said(field).column)}
    return _OF_ONE_FILE | options


COLUMNS = columns()
RATINGS = {
    "capacity": ("rated capacity", "nominal capacity", "capacity", "nennkapazität", "kapazität"),
    "voltage_min": ("voltage min", "min voltage", "lower voltage limit", "lower cutoff", "u min", "umin"),
    "voltage_max": ("voltage max", "max voltage", "upper voltage limit", "upper cutoff", "u max", "umax"),
    "nominal_voltage": ("nominal voltage", "nennspannung"),
}
OF_THE_TEST = ("temperature", "ambient temperature", "chamber temperature", "c-rate", "c rate", "pressure")
"""Properties that describe the test where no word before them says otherwise; all others describe the cell."""
_TRANSLATED = {
    "temperatur": "temperature", "umgebungstemperatur": "ambient temperature", "druck": "pressure",
    "masse": "mass", "gewicht": "mass", "dicke": "thickness", "fläche": "area",
}  # fmt: skip
"""German names of properties, so that a plot finds those of all sheets by one name."""
_PREFIXES = {"specification": "design", "cell": "cell", "instance": "cell", "test": "test", "measurement": "test"}
_ENGLISH = {word: name for name, names in COLUMNS.items() for word in names.english}
_FOLDED = {word: name for name, names in COLUMNS.items() for word in names.german} | _ENGLISH
_READING = tuple(name for name in COLUMNS if name in ReadOptions.__dataclass_fields__)
"""The columns that say how a file is read."""
_RATED = {word: name for name, words in RATINGS.items() for word in words}
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?")
_PER_AMOUNT = re.compile(r"/|[-⁻−^][123¹²³]")
"""In a unit: per mass, area or volume."""
_UNIT = re.compile(r"^(?P<name>.*?\S)\s*(?:\((?P<round>[^()]+)\)|/\s*(?P<slash>\S+))$")


def names_files(row: Iterable[str]) -> bool:
    """Whether a row of a sheet is that of the headings: one of them means the file."""
    return any(_FOLDED.get(" ".join(cell.casefold().replace("_", " ").split())) == FILE for cell in row)


class Heading:
    """One heading: what it names, whose property it is, and its unit."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text.strip()
        self.where = where
        name, unit = _name_and_unit(self.text)
        self.unit = _spelling(unit)
        about, dot, rest = name.partition(".")
        prefix = _PREFIXES.get(about.strip().casefold()) if dot else None
        self.name = rest.strip() if prefix else name
        self.name = _TRANSLATED.get(self.name.casefold(), self.name)
        folded = " ".join(self.name.casefold().replace("_", " ").split())
        self.means = "property"
        self.about = prefix or ("test" if folded in OF_THE_TEST else "cell")
        if prefix in (None, "design") and folded in _RATED and _rates(_RATED[folded], self.unit):
            self.means, self.name = "rated", _RATED[folded]
        elif prefix is None and folded in (_FOLDED if unit_of(self.unit) is None else _ENGLISH):
            self.means = _FOLDED[folded]
        elif prefix is None and self.unit is None and folded not in OF_THE_TEST:
            self._refuse_misspelt(folded)
        if not self.name:
            raise BadRequest(f"{where}: the heading '{text}' has no name before its unit.")

    def _refuse_misspelt(self, folded: str) -> None:
        """A heading that is nearly one of ours is taken for a slip, not for a property."""
        if _slip(folded):
            raise BadRequest(
                f"{self.where}: '{self.text}' is not a known heading. {instead(folded, (*_ENGLISH, *OF_THE_TEST))} "
                f"To give a property of this name, write 'cell.{self.text}' or 'test.{self.text}'."
            )

    @property
    def key(self) -> tuple[str, ...]:
        """What two headings must not both name."""
        folded = self.name.casefold()
        if self.means == "property":
            return (self.about, folded)
        return (self.means, folded) if self.means == "rated" else (self.means,)

    @property
    def takes_numbers(self) -> bool:
        """Whether a number below it is kept as one."""
        return self.means in ("rated", "property")

    def labels(self, text: str) -> Labels:
        """What a value under this heading says; nothing if it is blank.

        Raises
        ------
        BadRequest
            If it cannot be meant so.
        """
        text = text.strip()
        if not text:
            return Labels()
        if self.means in ("specification", "batch", "instance", "measurement", "part", "protocol"):
            return Labels.of({self.means: text})
        if self.means == "tags":
            return Labels(tags=tuple(dict.fromkeys(t.strip() for t in re.split(r"[;,]", text) if t.strip())))
        if self.means == "rating":
            return Labels(ratings=ratings_of(text))
        if self.means in _READING:
            return Labels(reading=self._reading(text))
        if self.means == "rated":
            return Labels(ratings={self.name: self._quantity(text)})
        return Labels.of({self.about: {self.name: self._quantity(text) if self.unit else plain(text)}})

    def _reading(self, text: str) -> JsonObject:
        if self.means == "column_map":
            pairs = [pair.partition("=") for pair in text.split(";") if pair.strip()]
            if bad := [theirs for theirs, equals, ours in pairs if not equals or not theirs.strip() or not ours]:
                raise BadRequest(f"{self.where}: write a map as 'Volts=Voltage [V]; ...', not '{bad[0]}'.")
            return {"column_map": {theirs.strip(): ours.strip() for theirs, _, ours in pairs}}
        if self.means == "sign" and text not in SIGNS:
            raise BadRequest(f"{self.where}: there is no sign '{text}'. {instead(text, SIGNS, 'signs')}")
        return {self.means: text}

    def _quantity(self, text: str) -> JsonObject:
        value = plain(text)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadRequest(f"{self.where}: the column '{self.text}' takes numbers, not '{text}'.")
        return {"value": float(value), "unit": self.unit}


def plain(text: str) -> str | float | bool:
    """A number where the text is one (a decimal comma will do), a truth value, else the text.

    >>> plain("1,5"), plain("12"), plain("true"), plain("007"), plain("A")
    (1.5, 12, True, '007', 'A')
    """
    if text.casefold() in ("true", "false"):
        return text.casefold() == "true"
    if not _NUMBER.fullmatch(text) or re.match(r"[-+]?0\d", text):
        return text
    number = float(text.replace(",", "."))
    return int(text) if re.fullmatch(r"[-+]?\d{1,15}", text) else number


def may_be_thousands(text: str) -> bool:
    """Whether the comma of a number may be decimal or part thousands: ``3,200`` is 3.2 or 3200.

    >>> [may_be_thousands(text) for text in ("3,200", "0,985", "3,25", "3200,125", "3,200 V")]
    [True, False, False, False, False]
    """
    return re.fullmatch(r"[-+]?[1-9]\d{0,2},\d{3}", text) is not None


def has_decimal_comma(text: str) -> bool:
    """Whether a text is a number whose comma is certainly decimal."""
    return "," in text and _NUMBER.fullmatch(text) is not None and not may_be_thousands(text)


def _name_and_unit(text: str) -> tuple[str, str | None]:
    """``mass [mg]``, ``mass (mg)`` and ``mass / mg`` mean the same."""
    name, unit = split_unit(text)
    if unit is None and (match := _UNIT.match(text)):
        return match["name"], match["round"] or match["slash"]
    return name, unit


def _spelling(unit: str | None) -> str | None:
    """Units of ours in our spelling, where that does not change the number; others as they are written."""
    if unit is None:
        return None
    known = unit_of(unit)
    same = known is not None and (known.times, known.over, known.plus) == (1.0, 1.0, 0.0)
    return known.base if known is not None and same else unit.strip()


def _rates(rating: str, unit: str | None) -> bool:
    """Whether a rating can be in this unit: ``capacity [mAh/g]`` is of a material, ``capacity [Wh]`` an energy."""
    if unit is None or _PER_AMOUNT.search(unit):
        return False
    known = unit_of(unit)
    return known is None or known.base == ("A.h" if rating == "capacity" else "V")


def _slip(folded: str) -> bool:
    """Whether a word is a slip of the pen away from one of ours."""
    known = [word for word in (*_ENGLISH, *OF_THE_TEST) if len(word) > 3]
    return any(
        sorted(folded) == sorted(word) or _distance(folded, word) <= (1 if len(word) < 6 else 2)
        for word in known
        if abs(len(word) - len(folded)) <= 2
    )


def _distance(a: str, b: str) -> int:
    """How many letters must change, come or go to make ``b`` of ``a``."""
    row = list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (one != other))
    return row[-1]
