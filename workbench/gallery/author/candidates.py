"""What could be drawn for a wish: recipes of the gallery and recipes of columns, each with how much of the wish it
explains."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType

from pydantic import JsonValue

from ...recipe.plot import PlotConfig
from ...records.catalog import CatalogColumn
from ..catalog import entries
from ..entry import Entry, Made, Unmet, script_of
from ..facts import TestRow
from ..tests_plan import NO_AGEING
from . import vocabulary as known
from .forms import COUNTED, GROUPING, OTHER_AXIS, Form
from .matching import folded, said, weight, without_colors
from .recipe_words import WORDS
from .recipes.counts import COLUMNS as COUNTED_BY
from .vocabulary import Quantity
from .wish import Wish, meant_first

LEAST = 12
"""Less than this explains nothing: it is about the weight of a word of three letters."""
_AXIS = 10
_TESTS = ("test", "measurement", "messung", "essai", "mesure", "prueba", "ensayo", "测试", "测量")
_CELLS = ("cell", "zelle", "cellule", "celda", "pile", "电池", "电芯")
_COUNTED_BY = {
    "tags": ("tag$", "tags$", "markierung", "étiquette", "标签"),
    "protocol.name": ("protocol", "kind of test", "type of test", "protokoll", "protocole", "协议", "类型"),
    "batch_name": ("batch", "charge", "lot$", "lots$", "批次"),
    "specification_name": ("design", "specification", "spezifikation", "spécification", "规格"),
    "instance_name": _CELLS,
}
_PROPERTY_WORDS = {
    "initial_capacity": ("anfangskapazität", "capacité initiale", "初始容量"),
    "initial_resistance": ("anfangswiderstand", "résistance initiale", "初始内阻", "初始电阻"),
    "ageing_temperature": ("alterungstemperatur", "température de vieillissement", "老化温度"),
    "electrolyte": ("elektrolyt", "électrolyte", "电解液"),
    "first_discharge_capacity": ("initial capacity", "anfangskapazität", "capacité initiale", "初始容量"),
    "last_discharge_capacity": ("final capacity", "endkapazität", "capacité finale", "最终容量"),
}
_CYCLE_KINDS = ("drive cycle", "driving cycle", "slow cycle", "cycle life", "cycle de conduite", "cycle lent")
_SHORTEST = 3
_PROPER = {
    "arrhenius": ("arrhenius", "activation energy", "aktivierungsenergie", "énergie d'activation", "活化能"),
    "delta-q": ("delta-q", "delta q", "δq"),
    "ragone": ("ragone",),
    "drt": ("drt$", "relaxation time"),
    "kk": ("kramers",),
    "simulation-error": ("rmse$", "error + simul", "error of the model", "fehler + simul", "erreur + simul"),
}
"""Recipe -> its proper names: a wish that says one is about that plot, whatever else it names."""
_BY = re.compile(r"(?<!\w)(?:by|per|each|je|jede[rsm]?|pro|nach|par|selon|chaque)\s(?:each\s|the\s)?(\w+)")
_BELOW = ("below", "under", "less than", "unter", "sous", "en dessous", "低于")
_HOW_MUCH = (  # of something else than tests and cells
    *("how many hours", "how many minutes", "how many days", "how many seconds"),
    *("wie viele stunden", "wie viele minuten", "wie viele tage", "combien d'heures", "combien de jours"),
    "how many + cycles",
    "number of cycles",
    "wie viele + zyklen",
    "combien de + cycles",
    "多少次循环",
    "多少圈",
)


@dataclass(frozen=True)
class Candidate:
    """Something that could be drawn: what it is called, how much of the wish it explains, how it is made, and the name
    of its recipe."""

    title: str
    weight: int
    made: Callable[[], PlotConfig]
    recipe: str
    lacks: tuple[Form, ...] = ()
    """What the wish asks of it and it does not have."""

    def gives(self, forms: Sequence[Form]) -> bool:
        """Whether its plot has all of these forms."""
        return all(self.recipe in form.given_by for form in forms)


def candidates(wish: Wish) -> list[Candidate]:
    """All that explain something of a wish, the best first."""
    found = [one for one in _all(wish) if one.weight >= LEAST]
    return sorted(found, key=lambda one: -one.weight)


def _all(wish: Wish) -> Iterator[Candidate]:
    yield from _of_gallery(wish)
    yield from _of_cycles(wish)
    yield from _of_samples(wish)
    yield from _of_extremes(wish)
    yield from _of_cells(wish)
    yield from _of_counts(wish)
    yield from _of_results(wish)
    yield from _of_records(wish)


def _of_gallery(wish: Wish) -> Iterator[Candidate]:
    for entry in entries().values():
        words = WORDS.get(entry.name, (folded(entry.title),))
        explained = weight(wish.folded, words)
        if wish.says(_PROPER.get(entry.name, ())):
            explained += 4 * _AXIS
        if entry.name == "end-of-life" and _asks_which_are_below(wish):
            explained = max(explained, 3 * _AXIS)
        if entry.name == "fade" and not explained and _is_of_cells(wish, _capacity()):
            # Behind the plain plot of the capacity, for the forms that only this one has.
            explained = weight(wish.folded, _capacity().words) - 1
        if explained:
            yield Candidate(entry.title, explained, partial(_made, entry, wish), entry.name)


def _asks_which_are_below(wish: Wish) -> bool:
    """Whether it asks which cells are below a share and of nothing else: that is of their first capacity."""
    is_capacity = all(one.names["en"] == "capacity" for one in wish.quantities)
    asks = wish.says(("which", "welche", "quelle", "哪些")) and wish.says(_CELLS) and wish.says(_BELOW)
    return bool(asks and wish.percents and is_capacity and not wish.says((*known.OVER_CYCLES, *known.OVER_OTHERS)))


def _made(entry: Entry, wish: Wish) -> PlotConfig:
    facts = wish.facts
    made = entry.make(facts)  # raises what is missing; the recipe itself would only say it in its figure
    if entry.name in entries() and (wish.of_its_cells_alone or "tests" in made.params):
        facts = wish.own_facts
        entry.make(facts)
    return entry.config(facts)


def _composed(name: str, wish: Wish, title: str, *given: object) -> PlotConfig:
    """A recipe of columns: of the module of this name, whose ``make`` takes what the store has, and ``given``."""
    module, make = _recipe(name)
    entry = Entry(name, title, title, "", module, lambda facts: make(facts, *given))
    return _made(entry, wish)


def _recipe(name: str) -> tuple[ModuleType, Callable[..., Made]]:
    module = importlib.import_module(f"{__package__}.recipes.{name}")
    found: dict[str, Callable[..., Made]] = vars(module)
    return module, found["make"]


def _of_cycles(wish: Wish) -> Iterator[Candidate]:
    text = wish.folded
    for phrase in _CYCLE_KINDS:
        text = text.replace(phrase, " ")
    over = weight(text, known.OVER_CYCLES)
    fade = weight(text, WORDS["fade"])
    limit = wish.percents[0] if wish.percents and wish.says(known.THRESHOLD) else None
    for quantity in wish.quantities or ([_capacity()] if fade else []):
        columns = meant_first(wish, wish.facts.of_cycles(*quantity.cycles))
        marked = limit is not None and quantity is _capacity()
        faded = fade if quantity is _capacity() else 0
        if not columns or not (over or marked or faded or _is_of_cells(wish, quantity)):
            continue
        explained = max(weight(text, quantity.words) + (_AXIS if over else 0), faded - 1)
        if marked:
            explained = max(explained, fade) + weight(text, known.THRESHOLD)
        title = f"{columns[0].partition(' [')[0]} by cycle" + (f", marked at {limit:g} %" if marked else "")
        made = partial(_cycles, wish, columns, limit if marked else None, title)
        yield Candidate(title, explained, made, "cycles")


def _is_of_cells(wish: Wish, quantity: Quantity) -> bool:
    """Whether a wish is only about the capacity or the energy of cells, of those that it names or of all: these belong
    to cycles."""
    is_of_tests = bool(wish.kinds or wish.named.tests or wish.test_words or any(wish.ends))
    return _is_alone(wish, quantity) and (_names_cells(wish) or not is_of_tests)


def _is_alone(wish: Wish, quantity: Quantity) -> bool:
    alone = wish.quantities == [quantity] and not wish.says((*known.OVER_TIME, *known.OVER_OTHERS))
    return alone and quantity.names["en"] in ("capacity", "energy", "duration of cycles")


def _names_cells(wish: Wish) -> bool:
    return wish.chosen_cells is not None or wish.says(known.BY_CELL)


def _capacity() -> Quantity:
    return next(one for one in known.QUANTITIES if one.names["en"] == "capacity")


def _cycles(wish: Wish, columns: list[str], threshold: float | None, title: str) -> PlotConfig:
    kinds = [kind for kind in wish.kinds if kind in ("ageing", "formation", "rate", "rpt")] or ["ageing"]
    of_kind = {one.id for one in wish.facts.tests(*kinds)}
    tests = [one for one in wish.chosen_tests if one.id in of_kind]
    if not wish.kinds and wish.chosen_cells is not None:
        lacking = set(wish.chosen_cells) - {one.cell for one in tests}
        tests = [*tests, *(one for one in wish.facts.cycled if one.cell in lacking)]
    tests = tests or wish.facts.tests(*kinds)
    if not (wish.kinds or wish.named.tests or wish.test_words):
        # All that it can be changed to; those that are shown are chosen by the control.
        tests = list(dict.fromkeys([*wish.facts.tests(*kinds), *tests]))
    if not tests:
        raise Unmet(NO_AGEING)
    relative = wish.says(known.RELATIVE)
    return _composed("cycles", wish, title, tests, columns, relative, threshold, wish.chosen_cells)


def _of_extremes(wish: Wish) -> Iterator[Candidate]:
    """The highest or lowest value of a quantity in each cell: not by cycle, over time, or of one test."""
    highest, lowest = wish.says(known.HIGHEST), wish.says(known.LOWEST)
    elsewhere = wish.says((*known.OVER_TIME, *known.OVER_CYCLES, *known.OVER_OTHERS)) or bool(wish.named.tests)
    if highest == lowest or elsewhere or wish.test_words or any(wish.ends):
        return
    there = {column.name for column in wish.facts.catalog.steps if column.records}
    for quantity in wish.quantities:
        end = "Max" if highest else "Min"
        column = next(
            (one for one in EXTREMES if {f"Max {one}", f"Min {one}"} <= there and _is_named(quantity, one)), None
        )
        if column is None:
            continue
        group = "batch" if wish.says(known.BY_BATCH) else "all" if wish.says(known.MEAN) else "cells"
        words = known.HIGHEST if highest else known.LOWEST
        explained = weight(wish.folded, quantity.words) + weight(wish.folded, words) + _AXIS
        title = f"{'Highest' if highest else 'Lowest'} {column.partition(' [')[0]} of the cells"
        yield Candidate(
            title, explained, partial(_extremes, wish, column, end.casefold(), group, title), "extremes"
        )


EXTREMES = ("temperature [degC]", "voltage [V]", "current [A]", "power [W]")
"""What steps have the highest and the lowest value of."""


def _is_named(quantity: Quantity, column: str) -> bool:
    return bool(re.search(quantity.pattern, column[0].upper() + column[1:]))


def _extremes(wish: Wish, column: str, end: str, group: str, title: str) -> PlotConfig:
    tests = wish.facts.tests(*wish.kinds) if wish.kinds else wish.facts.tests()
    return _composed("extremes", wish, title, tests, column, end, group)


def _of_samples(wish: Wish) -> Iterator[Candidate]:
    over = wish.says(known.OVER_TIME)
    if not over and wish.says((*known.OVER_CYCLES, *known.OVER_OTHERS)):
        return  # another axis was asked for
    if wish.says_loss:
        return  # the loss of a cell is not in the samples of one test
    if not over and _names_only_cells(wish):
        return
    is_about_tests = bool(wish.kinds or wish.named.tests or wish.test_words or any(wish.ends))
    there = [column.name for column in wish.facts.catalog["measurements"].series if column.records]
    columns, explained = [], 0
    for quantity in wish.quantities:
        found = next((name for name in there if re.search(quantity.pattern, name, re.IGNORECASE)), None)
        if found is not None:
            columns.append(found)
            explained += weight(wish.folded, quantity.words)
    if columns and (over or is_about_tests) and "Time [s]" in there:
        named = ", ".join(name.partition(" [")[0].lower() for name in columns).capitalize()
        explained += _AXIS * over + _AXIS * is_about_tests
        yield Candidate(f"{named} over time", explained, partial(samples, wish, columns), "samples")


def _names_only_cells(wish: Wish) -> bool:
    """Whether a wish is about the capacity or the energy of cells with cycles, though tests have their names too."""
    cells = {one.name for one in wish.cells}
    is_of_tests = bool(wish.kinds or wish.test_words or any(wish.ends) or set(wish.named.tests) - cells)
    has_cycles = any(one.cell in (wish.chosen_cells or ()) for one in wish.facts.cycled)
    return (
        not is_of_tests
        and has_cycles
        and _names_cells(wish)
        and any(_is_alone(wish, one) for one in wish.quantities)
    )


def samples(wish: Wish, columns: list[str], tests: Sequence[TestRow] | None = None) -> PlotConfig:
    """The recipe of these columns over time, of these tests or of those that a wish names."""
    tests = wish.chosen_tests if tests is None else tests
    if not tests:
        raise NoTests
    return _composed("samples", wish, "Samples over time", tests, columns)


class NoTests(Exception):
    """No test fits all that a wish names."""


def _of_cells(wish: Wish) -> Iterator[Candidate]:
    found: list[tuple[int, str]] = []
    text = without_colors(wish.folded)
    for source in ("instances", "measurements"):
        found = []
        for column in wish.facts.catalog[source].names:
            is_of_test = source == "measurements" and not column.name.startswith("properties.")
            if not column.filled or column.name.endswith(".unit") or is_of_test:
                continue
            explained = weight(text, _property_words(column))
            if explained:
                found.append((explained, column.name))
        if not found:
            continue
        found.sort(key=lambda pair: -pair[0])
        columns = [name for _, name in found[:2]]
        numbers = [one.name for one in wish.facts.catalog[source].names if one.type in ("number", "integer")]
        pairs = len(columns) == 2 and set(columns) <= set(numbers)
        columns = columns if pairs else columns[:1]
        lacks = () if pairs or not (len(found) > 1 or wish.says(known.PAIRS)) else (OTHER_AXIS,)
        title = " and ".join(_bare(name).replace("_", " ") for name in columns).capitalize()
        explained = sum(one for one, _ in found[:2]) + (source == "instances")
        yield Candidate(
            f"{title} of the cells", explained, partial(_cells, wish, columns, title, source), "cells", lacks
        )


def _property_words(column: CatalogColumn) -> tuple[str, ...]:
    bare = _bare(column.name)
    return (bare.replace("_", " "), *_PROPERTY_WORDS.get(bare, ()))


def _bare(column: str) -> str:
    return column.removesuffix(".value").rpartition(".")[2]


def _cells(wish: Wish, columns: list[str], title: str, source: str) -> PlotConfig:
    return _composed("cells", wish, title, columns, wish.chosen_cells, wish.says(known.DISTRIBUTION), source)


def _of_counts(wish: Wish) -> Iterator[Candidate]:
    explained = weight(wish.folded, known.COUNTS)
    if not explained or not wish.says((*_TESTS, *_CELLS)) or wish.says(_HOW_MUCH):
        return
    tests = said(wish.folded, _TESTS)
    source = "measurements" if tests else "instances"
    words_after = " ".join(_BY.findall(wish.folded))
    there = COUNTED_BY[source]
    by = next((name for name, words in _COUNTED_BY.items() if name in there and said(words_after, words)), None)
    by = by or next(
        (name for name, words in _COUNTED_BY.items() if name in there and wish.says(words)), "batch_name"
    )
    called = by.removesuffix("_name").removesuffix(".name").replace("specification", "design")
    title = f"Number of {'tests' if tests else 'cells'} by {called.replace('instance', 'cell')}"
    yield Candidate(title, explained + _AXIS, partial(_composed, "counts", wish, title, source, by), "counts")


def counted_otherwise(wish: Wish) -> list[Form]:
    """What a plot of counts does not have: a choice of what is counted, or groups of another kind."""
    chosen = wish.chosen_cells is not None or wish.named.tests or wish.test_words
    lacking = [COUNTED] if wish.kinds or chosen else []
    by = _BY.search(wish.folded)
    grouped = (*(word for words in _COUNTED_BY.values() for word in words), *_TESTS)
    return lacking + ([GROUPING] if by and not said(by[1], grouped) else [])


def _of_results(wish: Wish) -> Iterator[Candidate]:
    for source in ("analyses", "materialProperties"):
        series = [column for column in wish.facts.catalog[source].series if column.records]
        found = []
        for column in series:
            phrase = folded(column.name.partition(" [")[0])
            others = known.RESULTS.get(phrase, ())
            if (
                len(phrase) >= _SHORTEST
                and phrase not in _COMMON
                and column.name not in _X
                and weight(wish.folded, (phrase, *others))
            ):
                found.append((2 * _AXIS + weight(wish.folded, (phrase, *others)), column))
        if not found or (source == "analyses" and not _kinds_of_results(wish)):
            continue
        found.sort(key=lambda pair: -pair[0])
        count = found[0][1].records
        columns = [column.name for _, column in found if column.records == count]
        # Columns of as many records are mostly those of the same records.
        over = sorted((c for c in series if c.name in _X), key=lambda c: (c.records != count, _X.index(c.name)))
        x = next((c.name for c in over if c.records >= count), None)
        if x is not None:
            title = f"{columns[0].partition(' [')[0]} over {x}"
            yield Candidate(title, found[0][0], partial(_results, wish, source, x, columns), "results")


def _kinds_of_results(wish: Wish) -> list[JsonValue]:
    """The types of the stored analyses of the cells that the wish names, or of all."""
    rows = wish.facts.rows("analyses", ["analysis_type", "instance_name"])
    chosen = wish.chosen_cells
    return list(
        dict.fromkeys(row["analysis_type"] for row in rows if chosen is None or row["instance_name"] in chosen)
    )


def _of_records(wish: Wish) -> Iterator[Candidate]:
    """Simulations and properties of materials: those that the wish names, or all."""
    for source, words in known.RECORDS.items():
        if not wish.facts.catalog[source].records:
            continue
        named, called = _named_records(wish, source)
        explained = weight(wish.folded, words)
        if not explained and named and wish.says(known.OPEN_CIRCUIT) and source == "materialProperties":
            explained = weight(wish.folded, known.OPEN_CIRCUIT) + _AXIS
        if not explained and called:
            explained = _AXIS
        if explained:
            title = "Voltage of the simulations" if source == "simulations" else "Open-circuit curves of materials"
            recipe = "simulations" if source == "simulations" else "results"
            yield Candidate(
                title, explained + 4 * called + bool(named), partial(_records, wish, source, named), recipe
            )


def _named_records(wish: Wish, source: str) -> tuple[list[str], int]:
    """The ids of the records whose names share most with the wish, and the letters of whole names in it."""
    fields = ["id", "name", *(["material_name"] if source == "materialProperties" else [])]
    text = wish.folded
    rows = wish.facts.rows(source, fields)
    whole = [row for row in rows if str(row["name"]).casefold() in text]
    if whole:
        return [str(row["id"]) for row in whole], sum(len(str(row["name"])) for row in whole)
    said_words = {
        *re.findall(r"[^\W_]+", text),
        *(name for name, words in known.RECORD_NAMES.items() if wish.says(words)),
    }
    words_of = {
        str(row["id"]): set(re.findall(r"[^\W_]+", " ".join(str(row[name]) for name in fields[1:]).casefold()))
        for row in rows
    }
    shared = {id: (words & said_words) - _OF_ALL for id, words in words_of.items()}
    most = max((len(words) for words in shared.values()), default=0)
    return [id for id, words in shared.items() if most and len(words) == most], 0


_OF_ALL = frozenset({"open", "circuit", "potential", "voltage", "cell", "si", "spm", "dfn"})


def _records(wish: Wish, source: str, named: list[str]) -> PlotConfig:
    facts = wish.facts
    ids = named or [str(row["id"]) for row in facts.rows(source, ["id"])]
    x_order = ("Time [s]",) if source == "simulations" else ("Stoichiometry", "SOC")
    if source == "simulations" and wish.says(known.OVER_CAPACITY):
        x_order = ("Discharge capacity [A.h]",)
    there = [column.name for column in facts.catalog[source].series if column.records]
    wanted = [
        name
        for one in wish.quantities
        for name in there
        if re.search(one.pattern, name, re.IGNORECASE) and name not in x_order
    ]
    y = wanted[0] if wanted else "Voltage [V]"
    for x in x_order:
        kept = [id for id in ids if facts.shared([id], "series", (x, y)) == [x, y]]
        if kept:
            return _composed("results", wish, "Records", source, x, [y], kept)
    raise Unmet(f"No record holds {y} over {' or '.join(x_order)}.")


_COMMON = frozenset(
    (
        *("voltage", "current", "time", "cycle", "soc", "temperature", "valid", "warning"),
        *("discharge capacity", "charge capacity", "discharge energy", "charge energy"),
    )
)
"""Columns of results that are asked for as what was measured."""
_X = ("Ageing cycles", "Cycle", "SOC", "Stoichiometry", "Time [s]")


def _results(wish: Wish, source: str, x: str, columns: list[str]) -> PlotConfig:
    """The first kind of record for which the plan is sound: a catalog says which columns there are, not whose."""
    module, make = _recipe("results")
    kinds = _kinds_of_results(wish) if source == "analyses" else [None]
    named = [one.id for one in wish.facts.measurements if one.cell in (wish.chosen_cells or ())]
    for kind in kinds:
        made = make(wish.facts, source, x, columns)
        if kind is not None:
            of_cells: dict[str, JsonValue] = {"measurementIds": [*named]} if wish.chosen_cells is not None else {}
            made.steps["records"]["where"] = {"analysisType": kind, **of_cells}
        raw = {"plan": {"steps": made.steps}, "transform": script_of(module), "params": made.params}
        config = PlotConfig.model_validate(raw)
        if not wish.facts.problems(config):
            return config
    raise Unmet(f"No record holds {columns[0]} over {x}.")
