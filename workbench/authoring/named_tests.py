"""The tests that a wish names, by their own name or that of their cell or batch, with how much they hold.

A catalog has room for a few examples of names. Who writes a recipe needs the name that the wish means, whether the
test can be read whole, and the number of its last cycle, since a window takes numbers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set

from ..engine.held_columns import held_columns
from ..engine.reader import Reader
from ..store.records.rows import Rows
from ..store.scope import Scope
from ..table import Plain
from .rates import FIELDS, Rates, in_words, rates, rates_of_protocols
from .topics import Wish

MOST, MOST_OF_KIND = 6, 3
"""Names of tests that are described: if a word with a digit or an underscore finds them, if only words of a kind do."""
MOST_NAMED = 8
"""Of the others, those of one thing that have at least their name."""
_COMMON = 24
"""A word that more names of tests hold says what kind they are, not which."""
_READ = 200
_MOST_WORDS = 12
_RARE, _RARE_COLUMNS = ("temperature", "impedance"), ("Temperature [degC]", "Frequency [Hz]")
_READ_OF_NAME = 3
"""Tests of one name whose steps are read for their currents."""
_WORD = re.compile(r"[^\W\u3040-\u9fff]+(?:[-.][^\W\u3040-\u9fff]+)*")
_BETWEEN = re.compile(r"[\s_\-.,;:()\[\]/+]+")
_NUMBER_BEHIND = re.compile(r"\d+$")
_SHORT = 3
_SHOWN = (
    *("id", "name", "instance_name", "protocol.name", "measurement_type"),
    *("sample_count", "step_count", "cycle_count"),
)
Test = Mapping[str, Plain]


def tests_told(reader: Reader, wish: str) -> list[str]:
    """What a writer must know of the tests: those that the wish names, then the currents of each protocol. Parts that
    would be empty are left out."""
    every = reader.store.rows.plan_list("measurements", reader.scope, {}, FIELDS, None).table
    told = rates_of_protocols(every, reader) if every.n else ""
    currents = f"# Constant currents of each protocol, C: discharge / charge, from a few tests\n\n{told}"
    return [*filter(None, [named_tests(reader, wish)]), *([currents] if told else [])]


def named_tests(reader: Reader, wish: str) -> str:
    """The tests that words of the wish name, one line for each name; empty if none. Those of the most words are first,
    of these those of the kind that the wish is about: of a cell with many tests it may mean its impedance.

    A word with a digit or an underscore may be any part of a name; others must be a whole word of it.
    """
    lists, scope = reader.store.rows, reader.scope
    words = list(dict.fromkeys(word.casefold() for word in _WORD.findall(wish) if len(word) >= _SHORT))
    found: dict[str, Test] = {}
    hits: dict[str, int] = {}
    named: set[str] = set()
    of_kind: dict[str, int] = {}
    for word in sorted(words, key=len, reverse=True)[:_MOST_WORDS]:
        tests = {str(test["id"]): test for test in _holding(lists, scope, word) if _names(word, test)}
        rare = len({str(test["name"]) for test in tests.values()}) <= _COMMON
        for place, (key, test) in enumerate(tests.items()):
            found[key] = test
            hits[key] = hits.get(key, 0) + 1
            if rare and _is_of_one(word):
                named.add(key)
            elif rare:
                of_kind[key] = min(place, of_kind.get(key, place))
    chosen, most = (named, MOST) if named else (of_kind.keys(), MOST_OF_KIND)
    about = Wish(wish)
    near = {
        key: about.nearness(str(test["name"]), str(test["protocol.name"]))
        for key, test in found.items()
        if key in chosen
    }
    # Of words of a kind, each gives one test before any gives a second.
    keys = sorted(near, key=lambda key: (-hits[key], of_kind.get(key, 0), -near[key]))
    ranked = [found[key] for key in keys]
    by_name: dict[tuple[Plain, Plain], list[Test]] = {}
    for test in ranked:
        by_name.setdefault((test["name"], test["measurement_type"]), []).append(test)
    if not by_name:
        return ""
    more = [_quoted(str(name)) for name, _ in by_name][most:]
    shown = list(by_name.values())[:most]
    held = held_columns(reader, [str(test["id"]) for tests in shown for test in tests], ["series"])["series"]
    currents = rates([str(test["id"]) for tests in shown for test in tests[:_READ_OF_NAME]], reader)
    lines = [_line(tests) + _with(tests, held) + _currents(tests, currents) for tests in shown]
    return "\n".join(
        [
            f"# Tests that the wish may name, and what they hold ({_RARE[0]}, {_RARE[1]} where it is said)",
            "",
            *lines,
            *([f"- and {len(more)} more{_names_of(more) if named else ''}"] if more else []),
        ]
    )


def _holding(lists: Rows, scope: Scope, word: str) -> Iterator[Test]:
    """The tests whose name, or that of whose cell, contains the word, or whose batch is called so."""
    cells = lists.plan_list("instances", scope, {"nameContains": word}, ["id"], _READ).table["id"].tolist()
    asked: list[dict[str, Plain]] = [{"nameContains": word}]
    if cells:
        asked.append({"instanceIds": cells})
    if _is_of_one(word):
        asked.append({"batch": word})
    for where in asked:
        table = lists.plan_list("measurements", scope, where, _SHOWN, _READ).table
        columns = [table[name].tolist() for name in _SHOWN]
        yield from (dict(zip(_SHOWN, values, strict=True)) for values in zip(*columns, strict=True))


def _is_of_one(word: str) -> bool:
    """Whether a word looks like the name of one thing, as no word of a language does."""
    return any(sign.isdigit() or sign == "_" for sign in word) and any(sign.isalpha() for sign in word)


def _names(word: str, test: Test) -> bool:
    if _is_of_one(word):
        return True
    parts = {part.casefold() for column in ("name", "instance_name") for part in _BETWEEN.split(str(test[column]))}
    return word in parts or word in {_NUMBER_BEHIND.sub("", part) for part in parts}


def _line(tests: Sequence[Test]) -> str:
    """One name of a test, of one cell or several."""
    first = tests[0]
    name = str(first["name"])
    several = f" {len(tests)}" if len(tests) > 1 else ""
    cells = list(dict.fromkeys(str(test["instance_name"]) for test in tests))
    of = "" if len(cells) == 1 and cells[0] in name else f", of {', '.join(map(_quoted, cells[:3]))}"
    kind = f", {first['protocol.name']}" if first["protocol.name"] is not None else ""
    held = [_held(tests, column, noun) for column, noun in _COUNTS]
    return f"- {_quoted(name)}{several}{of}{' …' if len(cells) > 3 else ''}{kind}: {', '.join(filter(None, held))}"


def _with(tests: Sequence[Test], held: Mapping[str, Set[str]]) -> str:
    """Those of the columns that only some tests have, which all of these have."""
    columns = [held.get(str(test["id"]), frozenset()) for test in tests]
    there = [
        name for name, column in zip(_RARE, _RARE_COLUMNS, strict=True) if all(column in one for one in columns)
    ]
    return f", {', '.join(there)}" if there else ""


def _currents(tests: Sequence[Test], found: Mapping[str, Rates]) -> str:
    """The constant currents; where they are in A, also the largest charge, which says about how fast they are. Of tests
    in which no charge flows, that their capacities are 0: a writer cannot see it in the names of columns."""
    read = [found[str(test["id"])] for test in tests[:_READ_OF_NAME] if str(test["id"]) in found]
    told = in_words(read)
    if read and not any(one.largest for one in read):
        return "; no current flows, so that charges and energies are 0"
    largest = max((one.largest for one in read if one.unit == "A"), default=0.0)
    return f"; constant {told}" + (f"; largest step {largest:.2g} A.h" if largest else "") if told else ""


_COUNTS = (("sample_count", "sample"), ("step_count", "step"), ("cycle_count", "cycle"))


def _held(tests: Sequence[Test], column: str, noun: str) -> str:
    """The number of samples, steps or cycles, or its range over several tests."""
    numbers = [value for test in tests if isinstance(value := test[column], int)]
    if not numbers:
        return f"no {noun}s"
    least, most = min(numbers), max(numbers)
    return f"{'' if least == most else f'{least} to '}{most} {noun}{'' if most == 1 else 's'}"


def _names_of(names: Sequence[str]) -> str:
    return f": {', '.join(names[:MOST_NAMED])}{', …' if len(names) > MOST_NAMED else ''}"


def _quoted(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)
