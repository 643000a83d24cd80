"""Why two figures differ: by their data, plan, script, params, values or versions, and by which of them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from ..messages import counted, spaced
from .passport import Passport, StepSeen

Kind = Literal["data", "plan", "code", "params", "values", "versions", "figure"]
_PARTS: tuple[tuple[str, Kind], ...] = (("plan", "plan"), ("transform", "code"), ("params", "params"))
_LONGEST = 80


@dataclass(frozen=True)
class Change:
    """One difference: of which kind, where, and in words."""

    kind: Kind
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


class Changes(tuple[Change, ...]):
    """All differences between two figures, as a tuple; empty if they are the same. Printed, it is one a line."""

    __slots__ = ()

    @property
    def kinds(self) -> list[str]:
        """The kinds that differ, each once."""
        return list(dict.fromkeys(one.kind for one in self))

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "Nothing differs: data, recipe, values and versions are the same."

    __repr__ = __str__


def why_changed(before: Passport, after: Passport) -> Changes:
    """Why two figures differ.

    Returns
    -------
    Changes
        In the order of causes: versions, plan, params, script, values, data. If nothing of these differs and the
        figures do, the last says so.
    """
    found = [
        *_versions(before.versions, after.versions),
        *_recipe(before, after),
        *_values(before.values, after.values),
        *_data(before.steps, after.steps),
    ]
    if not found and before.figure != after.figure:
        text = "the figures differ, and neither their data nor their recipe, values or versions do: the script "
        found.append(Change("figure", "figure", text + "does not draw the same each time"))
    return Changes(found)


def why_boards_changed(before: Sequence[Passport], after: Sequence[Passport]) -> Changes:
    """Why the figures of two dashboards differ, plot by plot; a plot is known by its id.

    The place of each change begins with the name of its plot. A plot that only one of them has is of the kind figure.
    """
    old, new = _by_plot(before), _by_plot(after)
    found: list[Change] = []
    for plot in dict.fromkeys([*old, *new]):
        name, was = old.get(plot, ("", None))
        name, now = new.get(plot, (name, None))
        said = name if name.startswith("figure ") else f"'{name}'"
        if was is None or now is None:
            only = "later" if was is None else "earlier"
            found.append(Change("figure", name, f"{said} is in the {only} file alone"))
        else:
            found += [
                Change(one.kind, f"{name}: {one.place}", f"{said}: {one.text}") for one in why_changed(was, now)
            ]
    return Changes(found)


def _by_plot(passports: Sequence[Passport]) -> dict[str, tuple[str, Passport]]:
    """Passports with the names of their plots, by plot; those that name none by their order."""
    found: dict[str, tuple[str, Passport]] = {}
    for number, one in enumerate(passports, 1):
        counted_as = f"figure {number}"
        plot = one.plot
        found[counted_as if plot is None else plot.id] = (plot.name if plot and plot.name else counted_as, one)
    return found


def _versions(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name, "nothing"), after.get(name, "nothing")
        if was != now:
            yield Change("versions", name, f"{name} was {was}, is {now}")


def _recipe(before: Passport, after: Passport) -> Iterator[Change]:
    for part, kind in _PARTS:
        if before.parts.get(part) == after.parts.get(part):
            continue
        if before.recipe is None or after.recipe is None:
            yield Change(kind, part, f"the {part} differs; one of the passports does not hold the recipe")
            continue
        was, now = before.recipe.get(part), after.recipe.get(part)
        if isinstance(was, str) and isinstance(now, str):
            yield from _script(was, now)
        else:
            yield from (Change(kind, place, text) for place, text in _inside(part, was, now))


def _script(before: str, after: str) -> Iterator[Change]:
    old, new = before.splitlines(), after.splitlines()
    for what, start, end, other, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        was, now = (" / ".join(one.strip() for one in lines) for lines in (old[start:end], new[other:last]))
        words = {"insert": f"new: {_short(now)}", "delete": f"gone: {_short(was)}"}
        text = words.get(what, f"{_short(was)} became {_short(now)}")
        yield Change("code", f"line {other + 1}", f"line {other + 1} of the script, {text}")
    if old == new:
        yield Change("code", "line ends", "the ends of lines of the script differ")


def _inside(place: str, before: JsonValue, after: JsonValue) -> Iterator[tuple[str, str]]:
    """The places in two JSON values that differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            inner = f"{place}.{name}"
            if name not in before:
                yield inner, f"{inner} is new: {_short(after[name])}"
            elif name not in after:
                yield inner, f"{inner} is gone: {_short(before[name])}"
            else:
                yield from _inside(inner, before[name], after[name])
        if list(before) != list(after) and before.keys() == after.keys():
            yield place, f"the order in {place} differs"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _inside(f"{place}.{number}", one, other)
    elif not _same(before, after):
        yield place, f"{place} was {_short(before)}, is {_short(after)}"


def _values(before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        if name not in before:
            yield Change("values", name, f"'{name}' is new: {_short(after[name])}")
        elif name not in after:
            yield Change("values", name, f"'{name}' is gone; it was {_short(before[name])}")
        elif not _same(before[name], after[name]):
            yield Change("values", name, f"'{name}' was {_short(before[name])}, is {_short(after[name])}")


def _data(before: Mapping[str, StepSeen], after: Mapping[str, StepSeen]) -> Iterator[Change]:
    for name in dict.fromkeys([*before, *after]):
        was, now = before.get(name), after.get(name)
        if was is None or now is None:
            yield Change("data", name, f"the step '{name}' is {'new' if was is None else 'gone'}")
        elif was.hash != now.hash:
            yield from _step(name, was, now)


def _step(name: str, before: StepSeen, after: StepSeen) -> Iterator[Change]:
    found = [*_sources(name, before, after), *_columns(name, before, after)]
    if before.rows != after.rows and not (before.sources and found):
        text = f"the step '{name}' had {counted(before.rows, 'row')}, has {counted(after.rows, 'row')}"
        found.insert(0, Change("data", name, text))
    yield from found or [Change("data", name, f"the data of the step '{name}' differ")]


def _sources(name: str, before: StepSeen, after: StepSeen) -> Iterator[Change]:
    what = "row" if before.columns or after.columns else "sample"
    if what == "row" and not (before.sources and after.sources):
        return  # an older version did not note the tests of rows
    for id in dict.fromkeys([*before.sources, *after.sources]):
        was, now = before.sources.get(id), after.sources.get(id)
        place = f"{name}.{id}"
        said = next((one.name for one in (now, was) if one is not None and one.name), None)
        test = id if said is None else f"'{said}' ({id})"
        if was is None or now is None:
            yield Change("data", place, f"{test} in '{name}' is {'new' if was is None else 'gone'}")
        elif was.samples != now.samples:
            grew = "grew" if now.samples > was.samples else "shrank"
            by = spaced(abs(now.samples - was.samples))
            text = f"{test} in '{name}' {grew} from {spaced(was.samples)} to {counted(now.samples, what)}, by {by}"
            yield Change("data", place, text)
        elif was.hash != now.hash:
            yield Change("data", place, f"{test} in '{name}' has as many {what}s with other values")


def _columns(name: str, before: StepSeen, after: StepSeen) -> Iterator[Change]:
    for column in dict.fromkeys([*before.columns, *after.columns]):
        was, now = before.columns.get(column), after.columns.get(column)
        place = f"{name}.{column}"
        if was is None or now is None:
            yield Change("data", place, f"the column '{column}' of '{name}' is {'new' if was is None else 'gone'}")
        elif was != now and before.rows == after.rows:
            yield Change("data", place, f"the column '{column}' of '{name}' has other values")


def _same(before: JsonValue, after: JsonValue) -> bool:
    """Whether two JSON values are written alike: 1, 1.0 and true are three values."""
    return json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def _short(value: JsonValue | Sequence[str]) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
