"""Sets the controls of a recipe as a wish says: cells and tests, a limit, a direction, what values refer to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from pydantic import JsonValue

from ...messages import quoted
from ...recipe.plot import PlotConfig
from . import vocabulary as known
from .matching import percents, said
from .wish import Wish, meant_first, with_words

Raw = dict[str, Any]
MOST_CYCLES = 3
"""As many cycles as a recipe of curves has controls."""
MOST_TESTS = 12
"""As many tests are chosen at most where a wish names cells or batches and the recipe draws tests."""
_LEAST_LABEL = 4
_STATE_OF_CHARGE = ("state of charge", "ladezustand", "état de charge", "荷电状态")
_STEPS = ("early", "middle", "late")
_EFFICIENCY = {
    "EE": ("energy efficien", "energiewirkungsgrad", "energieeffizienz", "efficacité énergétique", "能量效率"),
    "VE": ("voltage efficien", "spannungswirkungsgrad", "电压效率"),
    "CE": ("coulomb", "ce$", "库仑效率"),
    "ce": ("coulomb", "efficien", "wirkungsgrad", "rendement", "效率"),
    "capacity": ("absolute capacity", "capacity in ah", "absolute kapazität"),
}


class NothingLeft(Exception):
    """None of the cells or tests that a wish names is among the choices of the recipe."""


class Chooses(Protocol):
    """A store that says the present choices of a recipe's controls."""

    def live_choices(
        self, config: PlotConfig, values: Mapping[str, JsonValue]
    ) -> dict[str, list[dict[str, JsonValue]]]: ...


def chosen(config: PlotConfig, wish: Wish, store: Chooses, *, is_change: bool = False) -> tuple[Raw, list[str]]:
    """A recipe with the choices of a wish as its defaults, and these choices in words.

    Parameters
    ----------
    is_change : whether the recipe is what is shown: then its own choices are what a wish adds to, narrows, or leaves
        something out of.

    Raises
    ------
    NothingLeft
        If the wish names cells or tests, and the recipe has none of them.
    """
    raw = config.dump()
    params: dict[str, Raw] = raw.get("params", {})
    said_so: list[str] = []
    live = store.live_choices(config, {}) if {"cells", "tests"} & params.keys() else {}
    for name, param in params.items():
        if name in ("cells", "tests"):
            said_so += _names(name, param, live.get(name, []), wish, is_change=is_change)
            continue
        if is_change and name == "group" and not wish.says((*known.BY_BATCH, *known.BY_CELL)):
            continue  # other cells do not ask for other groups
        setter = _SETTERS[name](wish, _options(param)) if name in _SETTERS else _declared(wish, param)
        value = next(setter, None)
        if value is not None and value != param["default"] and _fits(param, value):
            param["default"] = value
            said_so.append(f"{_label(name, param)}: {_text(param, value)}")
    if set(_STEPS) <= params.keys() and wish.cycles:
        said_so += _cycles(params, sorted(wish.cycles))
    return raw, said_so


def _names(
    name: str, param: Raw, live: Sequence[Mapping[str, JsonValue]], wish: Wish, *, is_change: bool
) -> list[str]:
    """The choice of the cells or the tests that the wish names; nothing if it names none."""
    present = param["default"] if isinstance(param["default"], list) else None
    wanted = _wanted(name, wish, present if is_change else None)
    if wanted is None:
        return []

    def fits(one: Mapping[str, JsonValue], names: Collection[JsonValue]) -> bool:
        return one["value"] in names or one.get("label") in names

    kept = [one for one in live if fits(one, wanted)]
    if is_change and present is not None:
        if wish.says_to("add"):
            kept = [one for one in live if one in kept or one["value"] in present]
        elif wish.says_to("narrow"):
            kept = [one for one in kept if one["value"] in present] or kept
    left_out = wish.unwanted_cells if name == "cells" else wish.unwanted_names or _of_unwanted(wish)
    kept = [one for one in kept if not fits(one, left_out)]
    if not kept:
        raise NothingLeft
    if name == "cells" and len(kept) > 1 and not isinstance(param["default"], list):
        return []  # it takes one cell: the first of several would be another wish
    values = [one["value"] for one in kept][: MOST_TESTS if name == "tests" else None]
    param["default"] = values if isinstance(param["default"], list) else values[0]
    shown = [str(one.get("label") or one["value"]) for one in kept[: len(values)]]
    return [f"{_label(name, param)}: {quoted(shown if isinstance(param['default'], list) else shown[:1], 6)}"]


def _of_unwanted(wish: Wish) -> frozenset[str]:
    """The names of the tests of unwanted cells that no other cell has."""
    others = {one.name for one in wish.facts.tests() if one.cell not in wish.unwanted_cells}
    return wish.unwanted_tests - others


def _wanted(name: str, wish: Wish, present: list[JsonValue] | None) -> Collection[JsonValue] | None:
    """The names of the cells or the tests that a wish is about; None if it names none.

    Parameters
    ----------
    present : what is shown, if the wish changes it: that is left where a wish only leaves something out.
    """
    leaves_out = bool(wish.unwanted_cells) or wish.leaves_out_tests
    if present is not None and leaves_out and not (wish.names_cells or wish.names_tests):
        return present
    cells = wish.chosen_cells
    if name == "cells":
        if cells is None and wish.named.tests:
            cells = [one.cell for one in wish.chosen_tests]
        return None if cells is None else set(cells)
    if any(wish.ends) and (wish.kinds or wish.named.tests):
        return {one.name for one in wish.chosen_tests}
    if wish.named.tests:
        return set(wish.named.tests)
    words = wish.test_words
    if cells is None and not words:
        return {one.name for one in wish.facts.tests()} if wish.leaves_out_tests else None
    found = [one for one in wish.facts.tests() if cells is None or one.cell in cells]
    if cells is None and present is not None:
        # ``now the aged ones``: of the cells that are shown.
        of_shown = {one.cell for one in found if one.name in present or one.id in present}
        return {one.name for one in with_words([one for one in found if one.cell in of_shown] or found, words)}
    return {one.name for one in with_words(found, words) or found}


def _cycles(params: Mapping[str, Raw], numbers: Sequence[int]) -> list[str]:
    """Up to three cycles, counted from 0 as the data do."""
    first, last = numbers[0], numbers[-1]
    middle = numbers[len(numbers) // 2] if len(numbers) > 2 else first
    for step, number in zip(_STEPS, (first, middle, last), strict=True):
        params[step]["default"] = max(0, number - 1)
    return [f"cycles {', '.join(str(one) for one in dict.fromkeys((first, middle, last)))}"]


Setter = Callable[[Wish, Sequence[JsonValue]], Iterator[JsonValue]]


def _declared(wish: Wish, param: Raw) -> Iterator[JsonValue]:
    """What a wish says of a control in the words of the control itself: one of its options by the words that only this
    option has, a number behind its label, or its label where it is switched on."""
    control = param.get("control") or {}
    options = [one for one in control.get("options") or [] if isinstance(one, dict)]
    if options:
        words = [_words_of(str(one.get("label") or "")) for one in options]
        fits = [
            one["value"]
            for place, one in enumerate(options)
            if (own := words[place] - set().union(*(words[:place] + words[place + 1 :])) or words[place])
            and all(said(wish.folded, (word,)) for word in own)
        ]
        named = [one for one in fits if one != param["default"]]
        if len(fits) == 1:
            yield from named
        return
    label = str(control.get("label") or "").casefold().partition(" (")[0].partition(" /")[0]
    if isinstance(param["default"], bool):
        if label and not param["default"] and said(wish.folded, (label,)):
            yield True
    elif isinstance(param["default"], int | float) and len(label) >= _LEAST_LABEL and "optionsFrom" not in control:
        found = re.search(
            rf"(?<!\w){re.escape(label)}\s*(?:of|=|:|to|von|auf|de|à|为)?\s*(-?\d+(?:[.,]\d+)?)", wish.folded
        )
        if found:
            yield type(param["default"])(float(found[1].replace(",", ".")))


def _words_of(label: str) -> set[str]:
    return {word for word in re.findall(r"[^\W\d_]+", label.casefold()) if len(word) >= _LEAST_LABEL}


def _threshold(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    yield from wish.percents[:1]


def _direction(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    text = wish.folded
    for phrase in _STATE_OF_CHARGE:
        text = text.replace(phrase, " ")
    words = tuple(word for word in known.CHARGE if wish.language != "de" or word != "charge$")
    charge, discharge = bool(said(text, words)), bool(said(text, known.DISCHARGE))
    if charge != discharge:
        yield "charge" if charge else "discharge"
    elif charge and "both" in options:
        yield "both"


def _per(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    for value, words in (("g", known.PER_GRAM), ("cm2", known.PER_AREA)):
        if value in options and wish.says(words):
            yield value


def _relative(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    if "value" in options and wish.says((*known.ABSOLUTE, *known.PER_GRAM, *known.PER_AREA)):
        yield "value"
    elif "first" in options and wish.says(known.RELATIVE):
        yield "first"
    elif "value" in options and wish.says_only_capacity and not wish.says(known.THRESHOLD):
        yield "value"


def _over(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    if "throughput" in options and wish.says(known.OVER_THROUGHPUT):
        yield "throughput"


def _group(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    by_batch, by_cell = wish.says(known.BY_BATCH), wish.says(known.BY_CELL) or bool(wish.named.cells)
    if by_batch and "batch" in options:
        yield "batch"
    elif by_cell and "cells" in options:
        yield "cells"


def _quantity(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    for quantity in wish.quantities:
        yield from (name for name in meant_first(wish, [*quantity.cycles]) if name in options)
    for value, words in _EFFICIENCY.items():
        if value in options and wish.says(words):
            yield value


def _soc(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    if said(wish.folded, ("soc$", *_STATE_OF_CHARGE)):
        yield from percents(wish.folded)


def _spectrum(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    nyquist, bode = wish.says(known.NYQUIST), wish.says(known.BODE)
    if nyquist != bode:
        yield "nyquist" if nyquist else "bode"


def _lines(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    if wish.look.get("mode") in options:
        yield wish.look["mode"]


def _all_between(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    if wish.says(known.FIRST_AND_LAST):
        yield False


def _extreme(wish: Wish, options: Sequence[JsonValue]) -> Iterator[JsonValue]:
    for begins, words in (("Max ", known.HIGHEST), ("Min ", known.LOWEST)):
        if wish.says(words):
            yield from (one for one in options if str(one).startswith(begins))


_SETTERS: dict[str, Setter] = {
    "all": _all_between,
    "extreme": _extreme,
    "threshold": _threshold,
    "direction": _direction,
    "per": _per,
    "relative": _relative,
    "over": _over,
    "group": _group,
    "quantity": _quantity,
    "soc": _soc,
    "show": _spectrum,
    "lines": _lines,
}


def _options(param: Raw) -> list[JsonValue]:
    listed = (param.get("control") or {}).get("options") or []
    return [one["value"] if isinstance(one, dict) else one for one in listed]


def _fits(param: Raw, value: JsonValue) -> bool:
    control = param.get("control") or {}
    options = _options(param)
    if options:
        return value in options
    least, most = control.get("min"), control.get("max")
    is_number = isinstance(value, int | float)
    return not is_number or ((least is None or value >= least) and (most is None or value <= most))


def _label(name: str, param: Raw) -> str:
    return str((param.get("control") or {}).get("label") or name).partition(" (")[0]


def _text(param: Raw, value: JsonValue) -> str:
    for one in (param.get("control") or {}).get("options") or []:
        if isinstance(one, dict) and one["value"] == value:
            return str(one.get("label") or value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def labels(raw: Raw) -> list[str]:
    """The controls of a recipe, as its person reads them."""
    return [_label(name, param) for name, param in raw.get("params", {}).items()]
