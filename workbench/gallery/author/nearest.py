"""What is near to a wish that cannot be drawn: the questions of the gallery that share most words with it. And what a
wish names that neither the workbench nor the store knows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache

from ..catalog import entries
from ..entry import Unmet
from . import vocabulary as known
from .forms import CYCLES, DETAILS, FORMS
from .matching import STOP_WORDS, folded
from .recipe_words import WORDS
from .wish import Wish

_STEM = 5
"""Words that begin with the same letters count as the same: ``resistance`` and ``resistances``."""
_LEAST_WORD = 4
_ASKED = re.compile(
    r"\b(?:against|versus|vs\.?|as a function of|colou?red by|colou?r by|gegen|gefärbt nach|farbe nach"
    r"|in the\b|within the\b|im\b|in der\b|in dem\b|dans (?:la |le |les |l')"
    r"|en fonction (?:de la |de l'|du |des |de )|selon (?:la |le |les |l')|über (?:der|die|dem|den)\b"
    r"|coloré\w* (?:par|selon))"
    r"\s*(?:the\s+|den\s+|die\s+|das\s+|der\s+)?"
    r"((?:[^\W\d]+[ -]?){1,3}?)(?=\s*(?:$|[,.;:]|\b(?:of|for|in|at|on|from|with|and|during|von|der|des|bei|für|mit|und"
    r"|de|du|pour|avec|et)\b))"
)

_WHOSE = re.compile(
    r"(?<!\w)(?:of|for|from|von|für|aus|pour)\s+"
    r"(?:(?:the|all|my|our|these|those|each|every|den|der|die|allen|alle|meinen|diesen|jeder|les|tous|toutes|ces)\s+)*"
    r"((?:[^\W\d_][\w-]*\s+){0,2}?[^\W\d_][\w-]*)"
    r"(?=\s*(?:$|[,.;:?!]|\s(?:cells?|batter(?:y|ies)|tests?|data(?:sets?)?|files?|measurements?|zellen?|messungen?|daten|over|at|in|with|by|and"
    r"|über|bei|im|mit|nach|und|je|par|avec|selon|dans|et)\b))"
    r"|(?<![\w-])([^\W\d_][\w-]*)\s(?:cells|batteries|zellen)\b"
)
"""What comes behind ``of`` or before ``cells``: whose data a wish is about."""


def stems(text: str) -> set[str]:
    """The beginnings of the longer words of a text; of Chinese, its pairs of signs."""
    words = re.findall(r"[^\W\d_]+", folded(text))
    pairs = {
        text[place : place + 2] for text in re.findall(r"[\u3400-\u9fff]+", text) for place in range(len(text))
    }
    return {word[:_STEM] for word in words if len(word) >= _LEAST_WORD} | {one for one in pairs if len(one) > 1}


@cache
def _of_entry(name: str) -> frozenset[str]:
    entry = entries()[name]
    return frozenset(stems(" ".join([entry.title, entry.question, *WORDS.get(name, ())])))


def ranked(wish: Wish) -> list[str]:
    """The titles of the recipes that the store can draw; those that share words with the wish come first."""
    wanted = stems(wish.folded) - _COMMON
    order = sorted(entries(), key=lambda name: -len(wanted & _of_entry(name)))
    return [entries()[name].title for name in order if _is_ready(wish, name)]


def _is_ready(wish: Wish, name: str) -> bool:
    try:
        entries()[name].make(wish.facts)
    except Unmet:
        return False
    return True


_COMMON = stems(
    "plot show each cell cells test tests draw which with what zeige zelle zellen montre cellule cellules"
)


def unknown_axis(wish: Wish) -> str | None:
    """What a wish wants on an axis or as colours, if no word of the workbench and no name in the store says it."""
    for found in _ASKED.finditer(wish.folded):
        wanted = stems(found[1])
        if wanted and not wanted & (_vocabulary() | _names(wish)):
            return found[1].strip()
    return None


def unknown_subjects(wish: Wish) -> list[str]:
    """Whose data a wish wants, where no word of the workbench and no name in the store says it: of ``fade of the
    pilot line`` ``pilot line``. It chooses nothing then."""
    found = dict.fromkeys(one[1] or one[2] for one in _WHOSE.finditer(wish.folded))
    wanted = {
        one: stems(
            " ".join(
                word for word in re.findall(r"[^\W\d_]+", one) if word not in _OF_ANY and word not in STOP_WORDS
            )
        )
        for one in found
    }
    wanted = {one: parts for one, parts in wanted.items() if parts and not parts & (_vocabulary() | _forms())}
    there = _names(wish) | stems(" ".join(wish.other_names).replace("_", " ")) if wanted else set()
    return [one for one, parts in wanted.items() if not parts & there]


_OF_ANY = frozenset(
    re.findall(
        r"\w+",
        "show plot draw display give compare list see want need find zeige zeig montre affiche compare "
        "cell cells test tests battery batteries data dataset datasets file files project lab store sample samples "
        "measurement "
        "measurements same other others different first last best worst every each these those both several many "
        "some most entire whole following given selected chosen named single individual fresh aged healthy "
        "failed complete initial final early late zelle zellen messung messungen daten datei dateien projekt "
        "probe proben jeder jede jedes alle allen beide beiden einige andere anderen frische frischen gealterte "
        "gealterten erste ersten letzte letzten verschiedene verschiedenen cellule cellules essai essais mesure "
        "mesures donnée données fichier projet toutes chaque autres différentes premier première dernier "
        "dernière fraîche vieillie",
    )
)
"""Words that say of nothing in the store what it is called."""


@cache
def _forms() -> frozenset[str]:
    """The words for how something is drawn, and for parts of it."""
    forms = (*FORMS, *DETAILS, CYCLES)
    return frozenset(stems(" ".join([*(w for one in forms for w in one.words), *(one.pattern for one in forms)])))


@cache
def _vocabulary() -> frozenset[str]:
    words = [*_phrases(), *(entry.title + " " + entry.question for entry in entries().values())]
    return frozenset(stems(" ".join(words)))


_LEAST_TYPED = 5
_ALIKE = 0.84


@cache
def _words() -> tuple[str, ...]:
    """The longer words of the workbench, as they are spelt."""
    phrases = [*_phrases(), *(entry.title + " " + entry.question for entry in entries().values())]
    words = {
        word for text in phrases for word in re.findall(r"[^\W\d_]+", folded(text)) if len(word) >= _LEAST_TYPED
    }
    return tuple(sorted(words))


def respelt(wish: Wish) -> Iterator[tuple[str, dict[str, str]]]:
    """A wish with the words of the workbench for those that look like slips of them, and what was read as what;
    nothing if no word does."""
    known_stems, there = _vocabulary() | _COMMON, _names(wish)
    read: dict[str, str] = {}
    for word in re.findall(r"[^\W\d_]+", wish.text):
        is_right = stems(word) & there or folded(word) in _words() or len(word) < _LEAST_TYPED
        if is_right or (folded(word) in _OF_ANY) or folded(word) in STOP_WORDS:
            continue
        near = get_close_matches(folded(word), _words(), 1, _ALIKE)
        if near and not (stems(word) & known_stems and folded(word).startswith(near[0])):
            read[word] = near[0]
    if read:
        text = wish.text
        for word, right in read.items():
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", right, text)
        yield text, read


def _phrases() -> Iterator[str]:
    for phrases in (*WORDS.values(), *known.KINDS.values(), *known.RECORDS.values(), *known.TEST_WORDS.values()):
        yield from phrases
    for quantity in known.QUANTITIES:
        yield from quantity.words
    for phrases in (known.OVER_TIME, known.OVER_CYCLES, known.OVER_OTHERS, known.OVER_THROUGHPUT, known.BY_BATCH):
        yield from phrases
    for phrases in (known.BY_CELL, known.PER_GRAM, known.PER_AREA, known.CHARGE, known.DISCHARGE):
        yield from phrases
    yield "first last same beginning end figure project data file ersten letzten gleichen bild projekt première dernier"
    yield "days hours minutes seconds tage tagen stunden minuten jours heures temps zeit"
    yield "zeit temps time specification design protocol name number zahl nombre magnitude phase real imaginary"


def _names(wish: Wish) -> set[str]:
    """The words of the columns and of the names in a store."""
    names = [*(one.name for one in wish.cells), *(one.name for one in wish.facts.measurements)]
    return stems(" ".join([*wish.column_names, *names]).replace("_", " ").replace(".", " "))
