"""Words of a wish: how a phrase is found in it, in which language it is written, and the numbers in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

Language = Literal["en", "de", "fr", "zh"]
_STOP: dict[Language, frozenset[str]] = {
    "de": frozenset(
        (
            *("der", "die", "das", "und", "für", "zeige", "zeig", "von", "mit", "jede", "jeder", "jedes"),
            *("zelle", "zellen", "über", "im", "den", "dem", "wie", "welche", "alle", "bei", "ein", "eine"),
            *("einen", "je", "pro", "nach", "zeichne", "stelle", "dar", "wird", "werden", "ist", "nur"),
            *("auf", "aus", "bitte", "gegen"),
        )
    ),
    "fr": frozenset(
        (
            *("le", "la", "les", "des", "de", "du", "et", "pour", "montre", "montrez", "affiche"),
            *("afficher", "par", "avec", "chaque", "cellule", "cellules", "tracer", "trace", "tracez"),
            *("quelle", "quelles", "quel", "en", "fonction", "une", "un", "au", "aux", "sur", "dans", "est"),
            *("seulement", "selon"),
        )
    ),
    "en": frozenset(
        (
            *("the", "of", "and", "for", "show", "plot", "draw", "each", "cell", "cells", "with", "by"),
            *("over", "how", "which", "all", "from", "at", "me", "please", "what", "is", "are", "per"),
            *("against", "versus", "in", "only", "a", "to", "does", "do"),
        )
    ),
}
STOP_WORDS = frozenset(word for words in _STOP.values() for word in words)
"""Words that do not name tests, though a test may be called ``EIS during the charge``."""
_SPANISH = frozenset(
    (
        *("el", "los", "las", "del", "muestra", "muestre", "celdas", "celda", "frente", "al", "y", "de", "la"),
        *("por", "cada", "con", "para", "número", "gráfico", "una", "un", "en"),
    )
)
"""A wish in Spanish is answered in English: its words are often French words too."""
_AND = " + "
_LONG_PART = 6
_LONG_ENDING = 2
_SHORT = 3
"""A phrase up to this length must be a whole word."""
_CJK = re.compile(r"[\u3400-\u9fff]")
_NUMBER = r"(?<![\w.-])(\d+(?:[.,]\d+)?)"


_COLORED = re.compile(
    r"\b(?:colou?red (?:by|according to)|colou?rs? (?:by|for)|farbe nach|farblich nach|gefärbt nach"
    r"|colorée?s? (?:par|selon))\s[^,.;]*|按[^,,。;]*着色"
)


_COUNTED = (
    *("two zwei", "three drei", "four vier", "five fünf", "six sechs", "seven sieben", "eight acht", "nine neun"),
    *("ten zehn", "eleven elf", "twelve zwölf"),
)
_ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_AGAINST = r"\s*(?:vs\.?|v\.|versus|against|over|gegen|über|en fonction (?:de|du))\s*"
_WRITTEN_OUT = (
    (re.compile(r"(?<![\w/-])CE(?![\w/-])"), "coulombic efficiency"),
    (re.compile(r"(?<![\w/-])EE(?![\w/-])"), "energy efficiency"),
    *(
        (
            re.compile(
                rf"(?<![\w/-])(?<!elta ){letter}(?={_AGAINST}(?:t|time|zeit|temps|n|cycles?|zyklus|zyklen)\b)"
            ),
            name,
        )
        for letter, name in (("[UV]", "voltage"), ("I", "current"), ("T", "temperature"), ("Q", "capacity"))
    ),
    (re.compile(r"[<≤]\s*(?=\d)"), " below "),
    (re.compile(r"(?<!\w)w/o\s", re.IGNORECASE), "without "),
    *(
        (re.compile(rf"(?<!\w){letter}\(t\)"), f"{name} over time")
        for letter, name in (("[UVE]", "voltage"), ("I", "current"), ("T", "temperature"))
    ),
    (re.compile(r"(?<![\d\w])(?<!\d )(?<!in )volts(?!\w)"), "voltage"),
    *(
        (
            re.compile(
                rf"(?<!\w){word}(?=\s+(?:cycles|hours|minutes|days|zyklen|stunden|minuten|tage)(?!\w))",
                re.IGNORECASE,
            ),
            str(number),
        )
        for number, words in enumerate(_COUNTED, 2)
        for word in words.split()
    ),
    *(
        (re.compile(rf"(?<=every ){word}(?!\w)", re.IGNORECASE), f"{number}th")
        for number, word in enumerate(_ORDINALS, 2)
    ),
    (re.compile(rf"\b[Vv]olts?(?={_AGAINST})"), "voltage"),
    (re.compile(r"(?<=\w)\s*(?:vs\.?|versus|against|over|gegen|über)\s*t(?![\w-])(?=\s|$|[,.;?!])"), " over time"),
    (
        re.compile(r"(?<=\w)\s*(?:vs\.?|versus|against|over|gegen|über)\s*[nN](?![\w-])(?=\s|$|[,.;?!])"),
        " per cycle",
    ),
)
"""Symbols of the field, and what they stand for: ``U vs t``, ``Q vs n``, ``CE``."""


def written_out(text: str) -> str:
    """A wish with the words for its symbols."""
    for symbol, words in _WRITTEN_OUT:
        text = symbol.sub(words, text)
    return text


def folded(text: str) -> str:
    """A wish as phrases are looked for in it."""
    return " ".join(text.casefold().replace("’", "'").replace("‑", "-").split())


def with_parts(folded: str, parts: Iterable[str]) -> str:
    """A folded German wish with the last parts of its compounds beside them: of ``zellspannungen`` ``spannung``."""
    long = {part.removesuffix("$") for part in parts if len(part) >= _LONG_PART and part.isalpha()}
    words = re.findall(r"\w+", folded)
    endings = {part: len(part) + _LONG_ENDING for part in sorted(long)}
    found = [part for word in words for part, most in endings.items() if part in word[1:][-most:]]
    return " ".join([folded, *dict.fromkeys(found)])


def without_colors(folded: str) -> str:
    """A folded wish without what only colours: that is not what is drawn."""
    return _COLORED.sub(" ", folded)


def language_of(text: str) -> Language:
    """The language that a wish is written in; English if nothing says another."""
    if _CJK.search(text):
        return "zh"
    words = re.findall(r"[^\W\d_]{2,}", text.casefold())  # a letter alone is a batch or a part of a name
    counts = {language: sum(word in stop for word in words) for language, stop in _STOP.items()}
    best = max(counts, key=lambda language: counts[language])
    if sum(word in _SPANISH for word in words) > counts[best]:
        return "en"
    return best if counts[best] > counts["en"] else "en"


@lru_cache(maxsize=4096)
def _pattern(phrase: str) -> re.Pattern[str]:
    if _CJK.search(phrase):
        return re.compile(re.escape(phrase))
    end = r"(?!\w)" if len(phrase) <= _SHORT or phrase.endswith("$") else ""
    return re.compile(r"(?<!\w)" + re.escape(phrase.removesuffix("$")) + end)


def said(text: str, phrases: Iterable[str]) -> list[str]:
    """The phrases that a folded text holds. A word of a text may be longer than the phrase; with ``$`` it may not. Of
    a phrase with `` + `` all parts are there, wherever they are."""
    return [phrase for phrase in phrases if all(_pattern(part).search(text) for part in phrase.split(_AND))]


def weight(text: str, phrases: Iterable[str]) -> int:
    """How much of a folded text the phrases explain: the length of the longest, and a little for each further one."""
    found = said(text, phrases)
    if not found:
        return 0
    lengths = [_length(phrase) for phrase in found]
    return 4 * max(lengths) + len(found)


def _length(phrase: str) -> int:
    """The length of a phrase; a Chinese sign says about as much as three letters."""
    return sum(3 if _CJK.match(sign) else 1 for sign in phrase.replace(_AND, ""))


def percents(text: str) -> list[float]:
    """The numbers before a per cent sign or word."""
    found = re.findall(_NUMBER + r"\s*(?:%|％|percent|per cent|prozent|pour cent)", text)
    return [_number(one) for one in [*found, *re.findall(r"百分之\s*(\d+)", text)]]


def degrees(text: str) -> list[float]:
    """The temperatures in a text, in degC: also the first of ``25 and 45 °C``."""
    unit = r"\s*(?:°\s*c|℃|degc|deg c|grad|degrés|摄氏度|度)"
    number = r"-?\d+(?:[.,]\d+)?"
    joined = rf"(?<![\w.])((?:{number}(?:{unit})?\s*(?:,|and|und|et|or|oder|ou|和|、|/)\s*)*{number}){unit}"
    return [_number(one) for found in re.findall(joined, text) for one in re.findall(number, found)]


def cycles_in(text: str) -> list[int]:
    """The numbers of cycles that a wish names, as people count them, from 1."""
    many = re.search(
        r"(?:cycles?|zyklus|zyklen|循环|第)\s*((?:\d+\s*(?:,|;|and|und|et|与|和|、|to|bis|à)?\s*)+)", text
    )
    found = re.findall(r"\d+", many[1]) if many else []
    found += re.findall(r"(\d+)(?:st|nd|rd|th|\.|e|ème|er)\s*(?:cycle|zyklus)", text)
    found += re.findall(r"(?:after|nach|après)\s+(\d+)\s*(?:full\s+)?(?:cycles?|zyklen)", text)
    found += re.findall(r"第\s*(\d+)\s*(?:次|个|圈)?", text)
    return list(dict.fromkeys(int(one) for one in found))


def _number(text: str) -> float:
    return float(text.replace(",", "."))
