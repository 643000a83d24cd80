"""A wish as the built-in author reads it: what is measured, which cells and tests it names, and what is not there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pandas as pd
from pydantic import JsonValue

from workbench.cached_property import cached_property

from ...readers import OF_BRANDS
from ..facts import Facts, TestRow
from ..script_parts import degrees_of
from . import looks
from . import vocabulary as known
from .leaving_out import AGAIN, parted
from .matching import (
    STOP_WORDS,
    Language,
    cycles_in,
    degrees,
    folded,
    language_of,
    percents,
    said,
    with_parts,
    written_out,
)
from .recipe_words import WORDS

_ACRONYMS = frozenset(
    (
        *("SOC", "SOH", "EIS", "RPT", "HPPC", "GITT", "OCV", "DCIR", "CE", "EE", "VE", "CC", "CV"),
        *("CCCV", "CC-CV", "ICA", "DVA", "EFC", "EOL", "LLI", "LAM", "PEIS", "KK", "ECM", "AC", "DC"),
        *("ICI", "SEI", "CSV", "PNG", "SVG", "PDF", "BMS", "OK", "ID", "SOP", "EV", "RMS", "MPA", "AH"),
        *("RMSE", "MAE", "MAH", "WH", "KWH", "MOHM", "OHM", "UV", "IR", "QC", "DOD", "RUL", "DRT", "CPE"),
    )
)
"""Capital words of the field that are not names of cells or chemistries."""
_AGAINST = ("vs", "versus", "against", "gegen", "contre")
_MORE_NAMES = (
    r"((?:\s*(?:,|and|or|und|oder|et|ou|y|&|和|与)\s*[A-Z0-9][\w-]*"
    rf"|\s*(?:/|\+|(?:{'|'.join(_AGAINST)})\.?\s)\s*[A-Z0-9]{{1,2}}(?![\w-]))*)"
)
_JOINING = frozenset(("and", "or", "und", "oder", "et", "ou", "y", *_AGAINST))
_BATCH = re.compile(r"\b(?:[Bb]atch(?:es)?|[Ll]ot(?:es|s|e)?)\s+['\"]?([A-Z0-9][\w-]*)['\"]?" + _MORE_NAMES)
_CHARGE = re.compile(r"\bChargen?\s+['\"]?([A-Z0-9][\w-]*)['\"]?" + _MORE_NAMES)
_BATCH_ZH = re.compile(r"批次\s*([A-Za-z0-9]+)|([A-Za-z0-9]+)\s*批次")
_BATCH_WORD = r"(?<!\w)(?:batch(?:es)?|lots?|lotes?)(?!\w)|批次"
_CODE = re.compile(r"(?<![\w/-])(?=[\w-]*\d)[A-Z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)+(?![\w-])")
_CAPITALS = re.compile(r"(?<![\w/-])[A-Z]{2,}[A-Za-z]*\d*(?![\w/-])")
_LEAST_TOKEN = 4
_SHORT_CODE = re.compile(r"(?<![\w/.-])[A-Z]{1,2}\d{1,5}(?![\w/.-])")
_SYMBOL = re.compile(r"[CRQTUVI]\d{1,2}")
"""Short codes that may be a rate, a resistance, a charge, a temperature, a voltage or a current."""
_TO = r"\s*(?:to|bis|à|a|-|–|到|至)\s*"
_MAKERS = frozenset(place.partition(".")[0].partition("_")[0] for place in OF_BRANDS) - {"canonical", "rest"}
"""Makers of cyclers and kinds of files, as the formats are called: ``the Novonix file``."""
_ANY_TEST = ("test", "measurement", "messung", "essai", "mesure", "测试", "测量")
_FIRST = (
    r"(?<!\w)(?:(?:first|earliest|initial|oldest|erste[nrsm]?|premi(?:er|ère)s?)\s"
    r"|(?:第一次|首次|第一个)\s*(?:的\s*)?)"
)
_LAST = (
    r"(?<!\w)(?:(?:last|latest|final|newest|most recent|letzte[nrsm]?|derni(?:er|ère)s?)\s"
    r"|(?:最后一次|末次|最后一个)\s*(?:的\s*)?)"
)
_OF_CAPACITY = re.compile(
    r"(?:capacity|capacité|capacidad|kapazität) (?:over|per|against|vs|versus|with|evolve|über|je|en|par|au|frente)"
    r"|容量随循环"
)
"""Phrases of fade that are about the capacity itself, and not about its loss."""
_BESIDE = re.compile(r"^\W*(?:with|and|plus|mit|und|avec|et|和|与)\b")
_OF_ANY_TEST = frozenset(("test", "tests", "cell", "cells", "cycle", "cycles", "data", "file", "files", "short"))


@dataclass(frozen=True)
class Cell:
    """A cell of the store, and the temperature at which it ages."""

    name: str
    batch: str | None
    design: str | None
    degrees: float | None


@dataclass(frozen=True)
class Named:
    """What a wish names in the store, and what it names that is not there: kind of name -> names."""

    cells: tuple[str, ...] = ()
    batches: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    unknown: dict[str, list[str]] = field(default_factory=dict)


class Wish:
    """The words of a wish against what a store has."""

    def __init__(
        self, text: str, facts: Facts, language: Language | None = None, *, apart: Collection[str] = ()
    ) -> None:
        reader = looks.Reader(written_out(text))
        self.look = {name: value for name, value in reader.look.items() if name not in apart}
        self.apart = frozenset(apart)
        """Parts of the look that its figure cannot have."""
        self.facts = facts
        self.kept = ""
        """What it does not want, if no plot leaves that out: ``the first cycle``, ``outliers``."""
        self.also_unwanted: list[Wish] = []
        self.of_its_cells_alone = False
        """Whether a recipe is made of the tests of the named cells alone: where it has none of them among all tests."""
        self.language: Language = language or language_of(text)
        self.text, self.unwanted = self._wanted_of(reader.rest)
        self.folded = folded(self.text)
        if self.language == "de":
            parts = (word for one in known.QUANTITIES for word in one.words)
            self.folded = with_parts(self.folded, (*parts, *(word for words in WORDS.values() for word in words)))
        self.percents = percents(self.folded)
        self.degrees = degrees(self.folded)
        self.cycles = cycles_in(self.folded)

    def says(self, phrases: Sequence[str]) -> bool:
        return bool(said(self.folded, phrases))

    def _wanted_of(self, text: str) -> tuple[str, Wish | None]:
        """A text without what it does not want, and that; None if it is nothing that the store has."""
        tests = self.facts.measurements
        names = {name.casefold() for one in tests for name in (one.name, one.cell, one.batch or "")}
        rest, clause, is_plain = parted(text, frozenset(names))
        if not clause:
            return rest, None
        clause, *more = AGAIN.split(clause)
        self.also_unwanted = [Wish(one, self.facts, self.language) for one in more]
        unwanted = Wish(clause, self.facts, self.language)
        if unwanted.names_cells or unwanted.quantities or unwanted.names_tests:
            return rest, unwanted
        if not is_plain:
            return text, None
        self.kept = clause
        return rest, None

    @cached_property
    def unwanted_cells(self) -> frozenset[str]:
        """The cells that it does not want."""
        clauses = [one for one in (self.unwanted, *self.also_unwanted) if one is not None]
        return frozenset(cell for one in clauses for cell in one.chosen_cells or ())

    @property
    def of_either(self) -> list[str]:
        """The cells that it names and those of its batches, where no cell is both: ``without batch A and LFP-C-03``."""
        named = self.named
        if not (named.cells and named.batches):
            return []
        return [*named.cells, *(one.name for one in self.cells if one.batch in named.batches)]

    @cached_property
    def unwanted_tests(self) -> frozenset[str]:
        """The names of the tests that it does not want: those of its own names and kinds, else those of the cells."""
        if self.unwanted is None:
            return frozenset()
        if self.leaves_out_tests:
            of_kinds = self.facts.tests(*self.unwanted.kinds) if self.unwanted.kinds else []
            return frozenset(one.name for one in (*self.unwanted.chosen_tests, *of_kinds))
        return frozenset(one.name for one in self.facts.tests() if one.cell in self.unwanted_cells)

    @property
    def leaves_out_tests(self) -> bool:
        """Whether it does not want tests by their names or kinds: plots that choose by cells cannot do that."""
        return self.unwanted is not None and self.unwanted.names_tests

    @property
    def names_tests(self) -> bool:
        """Whether it names tests: by their names, kinds or words in their names."""
        return bool(self.named.tests or self.kinds or self.test_words)

    def says_to(self, how: str) -> bool:
        """Whether it adds to what is shown (``add``), or narrows it (``narrow``)."""
        if how == "add" and _BESIDE.search(self.folded):
            return True
        return self.says(known.ADDS if how == "add" else known.NARROWS)

    @cached_property
    def quantities(self) -> list[known.Quantity]:
        """What is measured, in the order of the wish."""
        places = {}
        for one in known.QUANTITIES:
            found = said(self.folded, one.words)
            if found:
                places[one.pattern] = (min(self.folded.find(word.removesuffix("$")) for word in found), one)
        return [one for _, one in sorted(places.values(), key=lambda pair: pair[0])]

    @cached_property
    def kinds(self) -> list[str]:
        """The kinds of tests that it names; ``calendar ageing`` is storage alone."""
        text = self.folded
        for phrase in known.CALENDAR_AGEING:
            text = text.replace(phrase, "calendar")
        return [kind for kind, words in known.KINDS.items() if said(text, words)]

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells of the store."""
        heat = self.facts.with_unit("instances", self.facts.cell_temperature)
        rows = self.facts.rows("instances", ["name", "batch_name", "specification_name", *heat])
        of_tests = self._degrees_of_tests if self.degrees else {}
        return [
            Cell(
                str(row["name"]),
                _text(row["batch_name"]),
                _text(row["specification_name"]),
                of_tests.get(str(row["name"])) if at is None else at,
            )
            for row, at in zip(rows, _degrees(rows), strict=True)
        ]

    @property
    def _degrees_of_tests(self) -> dict[str, float]:
        """Cell -> the temperature of its ageing tests, of all its tests where none is one, if they have one in common:
        many label the tests and not the cells."""
        heat = self.facts.with_unit("measurements", self.facts.test_temperature)
        rows = self.facts.rows("measurements", ["id", "instance_name", *heat]) if heat else []
        ageing = {one.id for one in self.facts.tests("ageing")} if rows else set()
        found: dict[str, tuple[set[float], set[float]]] = {}
        for row, at in zip(rows, _degrees(rows), strict=True):
            every, of_ageing = found.setdefault(str(row["instance_name"]), (set(), set()))
            if at is not None:
                every.add(at)
                of_ageing |= {at} if row["id"] in ageing else set()
        meant = {cell: of_ageing or every for cell, (every, of_ageing) in found.items()}
        return {cell: next(iter(one)) for cell, one in meant.items() if len(one) == 1}

    @cached_property
    def column_names(self) -> list[str]:
        """The columns of all sources."""
        sources = self.facts.catalog.sources
        series = (column.name for source in sources for column in source.series)
        return [*series, *(column.name for source in sources for column in (*source.names, *source.columns))]

    @cached_property
    def named(self) -> Named:
        """The names of the wish, those of tests first: they often hold the name of a cell."""
        rest, tests = _taken(self.text, {one.name for one in self.facts.measurements})
        between = self._between(rest)
        there = {one.name for one in self.cells}
        rest, cells = _taken(rest, there)
        # A name of both is that of the cell where cells are chosen: the test may be of another one.
        cells += [one for one in (*between, *(one for one in tests if one in there)) if one not in cells]
        of_batch = {one.batch.casefold(): one.batch for one in self.cells if one.batch}
        about_batches = _is_about_batches(rest, self.language)
        rest, asked = _batches(rest, self.language)
        if about_batches:
            rest, written = _written_small(rest, of_batch.values())
            asked += [one for one in written if one not in asked]
        rest, alone = _taken(rest, self._like_codes(of_batch.values(), rest), re.NOFLAG)
        asked += [one for one in alone if one not in asked]
        batches = [of_batch[one.casefold()] for one in asked if one.casefold() in of_batch]
        groups = self._groups(rest)
        numbered = [] if any(one.isdecimal() for one in there) else _numbered(rest)
        unknown = {
            "batch": [one for one in asked if one.casefold() not in of_batch],
            "cell": numbered,
            "name": list(self._unknown(_taken(rest, self.other_names)[0], groups)),
        }
        named = {kind: names for kind, names in unknown.items() if names}
        return Named(tuple(cells), tuple(dict.fromkeys(batches)), tuple(tests), tuple(groups), named)

    def _like_codes(self, batches: Iterable[str], rest: str) -> set[str]:
        """The names of batches that need no word for a batch beside them: ``NASA24`` or ``B2``, but not ``A`` or
        ``hot``."""
        groups = {word.casefold() for word in self._groups(rest)}
        codes = {one for one in batches if len(one) > 1 and re.search(r"[A-Z0-9]", one) and not one.isdecimal()}
        return {one for one in codes if one.casefold() not in groups and one.upper() not in _ACRONYMS}

    def _between(self, rest: str) -> list[str]:
        """The cells between the two of ``B1T25 to B5T25``: their names differ in one number."""
        numbered = {one.name: [int(number) for number in re.findall(r"\d+", one.name)] for one in self.cells}
        found = []
        for first, last in re.findall(rf"([\w-]*\d[\w-]*){_TO}([\w-]*\d[\w-]*)", rest):
            if first not in numbered or last not in numbered or _bare(first) != _bare(last):
                continue
            ends = list(zip(numbered[first], numbered[last], strict=True))
            like = [name for name in numbered if _bare(name) == _bare(first)]
            found += [
                name
                for name in like
                if all(low <= number <= high for number, (low, high) in zip(numbered[name], ends, strict=True))
            ]
        return found

    @cached_property
    def makers(self) -> list[str]:
        """The makers whose files the wish is about, where no name of a test holds the word: lists do not have them."""
        there = {word.casefold() for one in self.facts.measurements for word in _tokens(one.name)}
        words = re.findall(r"[^\W\d_]+", self.text)
        return [word for word in dict.fromkeys(words) if word.casefold() in _MAKERS - there]

    @cached_property
    def other_names(self) -> set[str]:
        """The names of what is neither a test nor a cell: they are not unknown."""
        there = [source for source in self.facts.catalog.sources if source.records]
        others = [one.source for one in there if one.source not in ("measurements", "instances")]
        return {str(row["name"]) for source in others for row in self.facts.rows(source, ["name"])}

    def _groups(self, rest: str) -> list[str]:
        """Words at the beginning of names of cells, or in the names of their designs: ``M50``, ``LFP``."""
        found = []
        for word in dict.fromkeys(re.findall(r"(?<![\w-])(?:[A-Za-z]|\d{6})[\w]*(?:-[\w]+)*", rest)):
            long_enough = len(word) >= (_LEAST_TOKEN if word.islower() else 3) and word.upper() not in _ACRONYMS
            long_enough = long_enough and word.casefold() not in _OF_ANY_TEST
            if long_enough and any(self._is_of(cell, word) for cell in self.cells):
                found.append(word)
        return found

    def _is_of(self, cell: Cell, word: str) -> bool:
        of_name = re.match(re.escape(word) + r"(?=[-_ ]|$)", cell.name, re.IGNORECASE)
        return bool(of_name) or word.casefold() in re.findall(r"[\w]+", (cell.design or "").casefold())

    def _unknown(self, rest: str, groups: Sequence[str]) -> Iterator[str]:
        names = [one.name for one in self.facts.measurements]
        names += (
            [str(row["name"]) for row in self.facts.rows("simulations", ["name"])]
            if _CAPITALS.search(rest)
            else []
        )
        tokens = {word.casefold() for name in names for word in _tokens(name)}
        for word in dict.fromkeys([*_CODE.findall(rest), *_CAPITALS.findall(rest), *self._short(rest)]):
            bare = re.sub(r"(?:\d+|s)$", "", word)
            is_known = word in groups or {word.upper(), bare.upper()} & _ACRONYMS or word.casefold() in tokens
            if not is_known and not any(word in group for group in groups):
                yield word

    def _short(self, rest: str) -> list[str]:
        columns = {token for name in self.column_names for token in _tokens(name)}
        found = [one for one in _SHORT_CODE.findall(rest) if not _SYMBOL.fullmatch(one) or one[0] == "Q"]
        return [one for one in found if one not in columns]

    def _narrowed(self, cells: list[Cell]) -> list[Cell]:
        """Of cells with a common beginning of their names those that have more words of the wish in their names."""
        words = {word for word in re.findall(r"[^\W\d_]+", self.folded) if len(word) >= _LEAST_TOKEN}
        shared = {one.name: len(words & {word.casefold() for word in _tokens(one.name)}) for one in cells}
        most = max(shared.values(), default=0)
        return [one for one in cells if shared[one.name] == most]

    @cached_property
    def chosen_cells(self) -> list[str] | None:
        """The names of the cells that the wish is about; None: all."""
        named = self.named
        if not self.names_cells:
            return (
                [one.name for one in self.cells if one.name not in self.unwanted_cells]
                if self.unwanted_cells
                else None
            )
        found = self.cells
        if named.cells or named.groups:
            found = [
                one
                for one in found
                if one.name in named.cells or any(self._is_of(one, word) for word in named.groups)
            ]
            found = found if named.cells else self._narrowed(found)
        if named.batches:
            found = [one for one in found if one.batch in named.batches]
        if self.degrees:
            found = [one for one in found if one.degrees in self.degrees]
        names = [one.name for one in found] or self.of_either
        return [name for name in names if name not in self.unwanted_cells]

    @cached_property
    def says_loss(self) -> bool:
        """Whether it is about what a cell loses with its life: ``capacity fade``, ``retention``, ``SOH``."""
        of_tests = ("vieillissement", "envejecimiento")  # kinds of tests are called so too
        return self.says([one for one in WORDS["fade"] if not _OF_CAPACITY.match(one) and one not in of_tests])

    @property
    def says_only_capacity(self) -> bool:
        """Whether it is about the capacity and not its loss: ``capacity per cycle``, but not ``capacity fade``."""
        return any(one.names["en"] == "capacity" for one in self.quantities) and not self.says_loss

    @property
    def names_cells(self) -> bool:
        """Whether it names cells that it wants: by their names, batches, designs or temperatures."""
        named = self.named
        return bool(named.cells or named.batches or named.groups or self.degrees)

    @cached_property
    def own_facts(self) -> Facts:
        """What the named cells have, where tests of several cells share a name: a control of names mixes them up."""
        names = [one.name for one in self.facts.measurements]
        if self.chosen_cells is None or len(set(names)) == len(names):
            return self.facts
        return self.facts.of_tests([one.id for one in self.facts.measurements if one.cell in self.chosen_cells])

    @cached_property
    def ends(self) -> tuple[bool, bool]:
        """Whether it wants the first test of each cell, and the last one: ``the last RPT``. Of the first *and* the last
        the recipes have a control."""
        if self.says(known.FIRST_AND_LAST):
            return False, False
        kinds = (word for words in (*known.KINDS.values(), _ANY_TEST) for word in words)
        what = "|".join(re.escape(word) for word in sorted(kinds, key=len, reverse=True))
        return bool(re.search(_FIRST + rf"(?:{what})", self.folded)), bool(
            re.search(_LAST + rf"(?:{what})", self.folded)
        )

    @cached_property
    def chosen_tests(self) -> list[TestRow]:
        """The tests that the wish names: by their names, their cells, their kind and words in their names; of these the
        first or the last of each cell, where it wants those: also beside one that it names, as ``RPT0``."""
        if self.named.tests:
            named = [one for one in self.facts.tests() if one.name in self.named.tests]
            named = [one for one in named if one.cell in (self.chosen_cells or ())] or named
            return list(dict.fromkeys([*named, *self._at_ends(self._meant)]))
        found = [one for one in with_words(self._meant, self.test_words) if one.name not in self.unwanted_names]
        if not any(self.ends):
            return found
        numbered = any(sign.isdigit() for word in self.test_words for sign in word)
        return list(dict.fromkeys([*found, *self._at_ends(self._meant)])) if numbered else self._at_ends(found)

    @property
    def unwanted_names(self) -> frozenset[str]:
        """The names of the tests that are left out as such, and not with their cells: other cells may have the same."""
        return self.unwanted_tests if self.leaves_out_tests else frozenset()

    def _at_ends(self, tests: Sequence[TestRow]) -> list[TestRow]:
        """The first, the last or both of the tests of each cell, in the order in which they began."""
        if not any(self.ends):
            return []
        began = {row["id"]: row["start_time"] for row in self.facts.rows("measurements", ["id", "start_time"])}
        of_cell: dict[str, list[TestRow]] = {}
        for one in sorted(tests, key=lambda one: (began.get(one.id) is None, str(began.get(one.id) or ""))):
            of_cell.setdefault(one.cell, []).append(one)
        first, last = self.ends
        both = ([*(group[:1] if first else []), *(group[-1:] if last else [])] for group in of_cell.values())
        return [one for group in both for one in dict.fromkeys(group)]

    @cached_property
    def _meant(self) -> list[TestRow]:
        """The tests of the cells and kinds of the wish."""
        found = self.facts.tests()
        if self.named.tests and self.chosen_cells is None:
            cells = {one.cell for one in found if one.name in self.named.tests}
            found = [one for one in found if one.cell in cells]
        if self.chosen_cells is not None:
            found = [one for one in found if one.cell in self.chosen_cells]
        if not found and self.chosen_cells:
            found = [one for one in self.facts.cycled if one.cell in self.chosen_cells]
        if self.kinds:
            of_kind = {one.id for one in self.facts.tests(*self.kinds)}
            found = [one for one in found if one.id in of_kind]
        return found

    @cached_property
    def test_words(self) -> set[str]:
        """Words of the wish that names of tests have too, as ``highway`` or ``aged``."""
        tokens = {word.casefold() for one in self.facts.measurements for word in _tokens(one.name)}
        cells = {word.casefold() for one in self.cells for word in _tokens(one.name)}
        kinds = {word for words in known.KINDS.values() for word in words}
        text = self.folded
        for phrase in (*known.OVER_TIME, *(word for words in known.OF_A_CYCLE.values() for word in words)):
            text = text.replace(phrase, " ") if len(phrase) >= _LEAST_TOKEN else text
        own = {
            *re.findall(r"\w+", text),
            *(name for name, words in known.TEST_WORDS.items() if self.says(words)),
        }
        return {
            word for word in tokens & own - cells - kinds - _OF_ANY_TEST - STOP_WORDS if len(word) >= _LEAST_TOKEN
        }


def meant_first(wish: Wish, columns: list[str]) -> list[str]:
    """The columns of a quantity, those first whose direction or extreme the wish names."""
    meant = tuple(begins for begins, words in known.OF_A_CYCLE.items() if wish.says(words))
    return sorted(columns, key=lambda name: not name.startswith(meant))


def with_words(tests: Sequence[TestRow], words: set[str]) -> list[TestRow]:
    """The tests whose names have all of these words; if none has all, as ``fresh`` and ``aged``, those with any."""
    tokens = {one.id: words & {word.casefold() for word in _tokens(one.name)} for one in tests}
    return [one for one in tests if tokens[one.id] == words] or [one for one in tests if tokens[one.id]]


def _taken(text: str, names: set[str], flags: re.RegexFlag = re.IGNORECASE) -> tuple[str, list[str]]:
    """The names in a text, and the text without them."""
    found = []
    for name in sorted(names, key=len, reverse=True):
        pattern = re.compile(r"(?<![\w-])" + re.escape(name) + r"(?![\w-])", flags)
        if len(name) > 1 and pattern.search(text):
            found.append(name)
            text = pattern.sub(" ", text)
    return text, found


def _degrees(rows: list[dict[str, JsonValue]]) -> list[float | None]:
    """The temperature of each row in degC; None where it is unknown."""
    if not rows:
        return []
    # A part of scripts, which have no types, so that figures and wishes read one unit alike.
    found: list[float] = degrees_of(pd.DataFrame(rows)).tolist()  # type: ignore[no-untyped-call]
    return [None if at != at else round(at, 6) for at in found]


def _batches(text: str, language: str) -> tuple[str, list[str]]:
    """The names after a word for a batch, and the text without them."""
    found: list[str] = []
    patterns = [_BATCH, _BATCH_ZH, *([_CHARGE] if language == "de" else [])]
    for pattern in patterns:
        for match in pattern.finditer(text):
            first, *more = re.findall(r"[A-Za-z0-9][\w-]*", " ".join(part for part in match.groups() if part))
            # German writes all nouns with a capital: of 'Charge A, Kapazität' only the first is a batch.
            found += [first, *(one for one in more if language != "de" or one == one.upper() or one in _JOINING)]
        text = pattern.sub(" ", text)
    return text, [one for one in dict.fromkeys(found) if one not in _JOINING]


def _is_about_batches(text: str, language: str) -> bool:
    words = _BATCH_WORD + (r"|(?<!\w)chargen?(?!\w)" if language == "de" else "")
    return bool(re.search(words, text, re.IGNORECASE))


def _written_small(text: str, batches: Iterable[str]) -> tuple[str, list[str]]:
    """The names of batches in a text about batches, however they are written, and the text without them.

    One letter or a number is too common: it counts only behind the word for a batch, and where no other word follows.
    """
    named = set(batches)
    words = {one for one in named if len(one) > 1 and any(sign.isalpha() for sign in one)}
    text, found = _taken(text, words)
    for one in sorted(named - words):
        ends = r"(?=\s*(?:$|[,.;:?!]|and\b|und\b|et\b))"
        pattern = re.compile(rf"(?:{_BATCH_WORD})\s+{re.escape(one)}{ends}", re.IGNORECASE)
        if pattern.search(text):
            found.append(one)
            text = pattern.sub(" ", text)
    return text, found


def _numbered(text: str) -> list[str]:
    """The numbers that stand for names of cells: ``cell 3``, but not ``each cell 3 h``."""
    each = r"(?<!each )(?<!every )(?<!per )(?<!jede )(?<!pro )(?<!chaque )"
    ends = r"(?=\s*(?:$|[,;:?!)]|\.(?!\d)|(?:and|or|of|in|at|from|with|over|und|et|von|de|bei|mit|vs)\b))"
    found = re.findall(
        rf"{each}\b((?:cells?|zellen?|cellules?) (?:no\.? |nr\.? |number |#)?\d+){ends}", text, re.IGNORECASE
    )
    return list(found)


def _bare(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _tokens(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", name)


def _text(value: JsonValue) -> str | None:
    return None if value is None else str(value)
