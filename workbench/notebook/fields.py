"""The controls of params as ipywidgets, one class for each widget that ``recipe.controls`` can decide on.

Values are looked up by their place in our own lists, because ipywidgets compares with ``==``, where 1 equals true.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime

import ipywidgets as widgets
from pydantic import JsonValue

from ..errors import Invalid
from ..recipe.controls import WIDGETS, Decided, Shown, text_of
from ..recipe.jsontext import plain, read_json
from ..recipe.values import same_key
from .closing import close_all
from .field import FIELDS, UNSET, Changed, Field, same, several
from .number_fields import NumberField, OptionalNumber, Range, Slider

__all__ = ["FIELDS", "NONE", "Field", "NumberField", "OptionalNumber", "Range", "Slider", "field", "replaceable"]

NONE = "(none)"


# Choices


class _Choice(Field):
    """A choice of one value among several."""

    keeps_text = False

    def offered(self, decided: Decided) -> list[Shown]:
        nothing: list[Shown] = [{"value": None, "label": NONE, "available": True}] if decided["nullable"] else []
        return [*nothing, *decided["options"]]

    def choices(self, decided: Decided) -> tuple[list[str], int | None]:
        """The labels and the place of the present value; also stores the values by place."""
        offered = self.offered(decided)
        self.values = [option["value"] for option in offered]
        labels = [option["label"] for option in offered]
        return labels, next((n for n, value in enumerate(self.values) if same(value, decided["value"])), None)


class Select(_Choice):
    kinds = ("toggle_buttons", "dropdown")

    def build(self, decided: Decided) -> widgets.Widget:
        self.values: list[JsonValue] = []
        labels, place = self.choices(decided)
        make = widgets.ToggleButtons if decided["widget"] == "toggle_buttons" else widgets.Dropdown
        made = make(options=labels, index=place, **self.common())
        if make is widgets.ToggleButtons:
            made.tooltips = [decided["description"]] * len(labels)
            made.style.button_width = "auto"
        return self.watch(made, "index")

    def put(self, decided: Decided) -> None:
        labels, place = self.choices(decided)
        if list(self.main.options) != labels:
            self.main.options = labels
        if self.main.index != place:
            self.main.index = place
        self.main.disabled = decided["disabled"]

    @property
    def value(self) -> JsonValue:
        return None if self.main.index is None else self.values[self.main.index]


class Search(_Choice):
    """A choice among many: a text field with completion. An unknown text keeps the last choice."""

    kinds = ("combobox",)

    def build(self, decided: Decided) -> widgets.Widget:
        self.values: list[JsonValue] = []
        self.labels: list[str] = []
        self.place: int | None = None
        placeholder = decided.get("placeholder", "")
        made = widgets.Combobox(placeholder=placeholder, continuous_update=False, **self.common())
        return self.watch(made, "value")

    def put(self, decided: Decided) -> None:
        self.labels, self.place = self.choices(decided)
        if list(self.main.options) != self.labels:
            self.main.options = self.labels
        self.main.value = "" if self.place is None else self.labels[self.place]
        self.main.disabled = decided["disabled"]

    @property
    def value(self) -> JsonValue:
        return None if self.place is None else self.values[self.place]

    def heard(self, *_: object) -> None:
        if self._quiet:
            return
        text = self.main.value.strip()
        found = self._found(text)
        if len(found) != 1:
            self.tell(self._why_not(text, found), wrong=True)
            return
        self.tell(None)
        self.place = found[0]
        with self.quiet():
            self.main.value = self.labels[self.place]
        super().heard()

    def _found(self, text: str) -> list[int]:
        """The place of the choice with this label, else of all whose label contains the words.

        An emptied field is the choice of nothing, where that is one.
        """
        if not text and self.decided["nullable"]:
            return [self.values.index(None)]
        exact = [n for n, label in enumerate(self.labels) if label.strip() == text]
        folded = [label.casefold() for label in self.labels]
        text = text.casefold()
        words = text.split()
        return (
            exact
            or [n for n, label in enumerate(folded) if label == text]
            or [n for n, label in enumerate(folded) if words and all(word in label for word in words)]
        )

    def _why_not(self, text: str, found: Sequence[int]) -> str:
        kept = "nothing" if self.place is None else f"'{self.labels[self.place]}'"
        if not text:
            return f"The field is empty; {kept} stays chosen."
        if not found:
            return f"'{text}' is not among the choices; {kept} stays chosen."
        some = ", ".join(self.labels[n] for n in found[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        return f"'{text}' fits {len(found)} choices: {some}{more}. Type more letters; {kept} stays chosen."


class Toggles(Field):
    """Any of a few values: one toggle button for each."""

    kinds = ("toggle_multiple",)

    def build(self, decided: Decided) -> widgets.Widget:
        self.values: list[JsonValue] = []
        self.labels: list[str] = []
        self.title = widgets.Label(decided["label"], tooltip=decided["description"])
        made = widgets.Box()  # a box with a tooltip raises an error in the page
        made.add_class("wb-toggles")
        return made

    def around(self) -> list[widgets.Widget]:
        return [self.title, self.main]

    def put(self, decided: Decided) -> None:
        self.values = [option["value"] for option in decided["options"]]
        labels = [option["label"] for option in decided["options"]]
        if labels != self.labels:
            self._make(labels)
        chosen = several(decided)
        keys = {same_key(value) for value in chosen}
        self._nulls = [value for value in chosen if value is None]  # null is not an option and is kept
        for button, value in zip(self.main.children, self.values, strict=True):
            button.value = same_key(value) in keys
            button.disabled = decided["disabled"]

    def _make(self, labels: list[str]) -> None:
        before, self.labels = self.main.children, labels
        tooltip, layout = self.decided["description"], {"width": "auto"}
        made = [widgets.ToggleButton(description=label, tooltip=tooltip, layout=layout) for label in labels]
        self.main.children = [self.watch(button, "value") for button in made]
        for button in before:
            close_all(button)

    @property
    def value(self) -> JsonValue:
        chosen = [value for value, button in zip(self.values, self.main.children, strict=True) if button.value]
        return None if self.decided["value"] is None and not chosen else [*self._nulls, *chosen]


class Several(Field):
    """A list of values to choose any of, with buttons for all and none, and a filter if there are many."""

    kinds = ("select_multiple", "filtered_select_multiple")

    def build(self, decided: Decided) -> widgets.Widget:
        self.values: list[JsonValue] = []
        self.labels: list[str] = []
        self.chosen: list[int] = []
        self.shown: list[int] = []
        rows = decided["rows"]
        common = {**self.common(), "tooltip": f"{decided['description']} (Ctrl or Shift for more than one)"}
        made = widgets.SelectMultiple(rows=rows, **common)
        self.filter = self._filter(decided)
        self.count = widgets.Label()
        self.count.add_class("wb-count")
        self.all = self._button("all", "Choose all listed values", self._choose_all)
        self.none = self._button("none", "Choose none of the listed values", self._choose_none)
        return self.watch(made, "index")

    def _filter(self, decided: Decided) -> widgets.Text | None:
        if decided["widget"] == "select_multiple":
            return None
        layout = widgets.Layout(width="auto", min_width="0")
        made = widgets.Text(placeholder="filter", tooltip=f"Filter {decided['label']}", layout=layout)
        made.observe(lambda _: self._list(), names="value")
        return made

    def _button(self, text: str, tooltip: str, act: Callable[[], None]) -> widgets.Button:
        made = widgets.Button(description=text, tooltip=tooltip, layout=widgets.Layout(width="auto"))
        made.on_click(lambda _: act())
        return made

    def around(self) -> list[widgets.Widget]:
        row = widgets.HBox([self.all, self.none, self.count])
        row.add_class("wb-choose")
        return [self.main, *([self.filter] if self.filter else []), row]

    def put(self, decided: Decided) -> None:
        self.values = [option["value"] for option in decided["options"]]
        self.labels = [option["label"] for option in decided["options"]]
        chosen = several(decided)
        keys = {same_key(value) for value in chosen}
        self.chosen = [n for n, value in enumerate(self.values) if same_key(value) in keys]
        self._nulls = [value for value in chosen if value is None]  # null is not an option and is kept
        self._list()
        self.main.disabled = decided["disabled"]
        few = len(self.values) < 4
        self.all.layout.display = self.none.layout.display = "none" if few else ""

    def _list(self) -> None:
        """Show the values that pass the filter, and which of them are chosen."""
        wanted = self.filter.value.casefold() if self.filter else ""
        self.shown = [n for n, label in enumerate(self.labels) if wanted in label.casefold()]
        labels = [self.labels[n] for n in self.shown]
        with self.quiet():
            if list(self.main.options) != labels:
                self.main.options = labels
            self.main.index = tuple(place for place, n in enumerate(self.shown) if n in set(self.chosen))
        self._count()

    def _count(self) -> None:
        self.count.value = f"{len(self.chosen)} of {len(self.values)} chosen"

    @property
    def value(self) -> JsonValue:
        if self.decided["value"] is None and not self.chosen:
            return None
        return [*self._nulls, *(self.values[n] for n in self.chosen)]

    def heard(self, *_: object) -> None:
        if not self._quiet:
            self._choose({self.shown[place] for place in self.main.index})

    def _choose(self, shown: set[int]) -> None:
        hidden = set(self.chosen) - set(self.shown)
        self.chosen = sorted(hidden | shown)
        self._count()
        super().heard()

    def _choose_all(self) -> None:
        with self.quiet():
            self.main.index = tuple(range(len(self.shown)))
        self._choose(set(self.shown))

    def _choose_none(self) -> None:
        with self.quiet():
            self.main.index = ()
        self._choose(set())


# Switches


class Switch(Field):
    kinds = ("checkbox",)
    unset = UNSET

    def build(self, decided: Decided) -> widgets.Widget:
        return self.watch(widgets.Checkbox(value=bool(decided["value"]), indent=False, **self.common()), "value")

    def put(self, decided: Decided) -> None:
        self.main.value = bool(decided["value"])

    @property
    def value(self) -> JsonValue:
        return bool(self.main.value)


# Texts, times and JSON


class Text(Field):
    """A text. An empty field, or one of blanks alone, is null where the param can be null."""

    kinds = ("text", "textarea")

    def build(self, decided: Decided) -> widgets.Widget:
        make = widgets.Textarea if decided["widget"] == "textarea" else widgets.Text
        return self.watch(make(continuous_update=False, **self.common()), "value")

    def put(self, decided: Decided) -> None:
        self.main.value = self._shown(decided["value"])

    def _shown(self, value: JsonValue) -> str:
        return "" if value is None else text_of(value)

    @property
    def value(self) -> JsonValue:
        text: str = self.main.value
        if text == self._shown(self.decided["value"]):
            return self.decided["value"]  # it was not changed: a number that is shown as text stays a number
        return None if not text.strip() and self.decided["nullable"] else text

    def heard(self, *_: object) -> None:
        if self._quiet:
            return
        blank = self.main.value != "" and not self.main.value.strip()
        self.tell("The text has only blanks." if blank and self.value is not None else None)
        if blank and self.value is None:
            with self.quiet():
                self.main.value = ""
        super().heard()


class Time(Field):
    """A date, or a date with a time of day, as ISO text. A text with a time zone becomes UTC.

    A field without a whole date has no value; then the last one stays in use, and the hint says so.
    """

    kinds = ("date", "datetime")
    unset = UNSET

    def build(self, decided: Decided) -> widgets.Widget:
        make = widgets.DatePicker if decided["widget"] == "date" else widgets.NaiveDatetimePicker
        return self.watch(make(**self.common()), "value")

    def put(self, decided: Decided) -> None:
        self.main.value = self._read(decided["value"])

    def _read(self, text: JsonValue) -> date | datetime | None:
        try:
            if not isinstance(text, str):
                return None
            if self.decided["widget"] == "date":
                return date.fromisoformat(text)
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment

    @property
    def value(self) -> JsonValue:
        chosen = self.main.value
        if chosen is None:
            return self.decided["value"]
        before = self.decided["value"]
        if self._read(before) == chosen:
            return before  # keep the text as it was written
        zoned = isinstance(before, str) and (before.endswith("Z") or "+" in before[10:] or "-" in before[10:])
        text = chosen.isoformat()
        return f"{text}Z" if zoned and self.decided["widget"] == "datetime" else text

    def heard(self, *_: object) -> None:
        if self._quiet:
            return
        if self.main.value is None:
            before = self.decided["value"]
            kept = "No value is chosen" if before is None else f"{before} stays in use"
            self.tell(f"There is no whole date in the field. {kept}.", wrong=True)
            return
        self.tell(None)
        super().heard()


class Json(Field):
    """Any JSON value as text. A text that is not JSON stays marked until it is fixed."""

    kinds = ("json",)

    def build(self, decided: Decided) -> widgets.Widget:
        return self.watch(widgets.Text(continuous_update=False, **self.common()), "value")

    def put(self, decided: Decided) -> None:
        self._value = decided["value"]
        self.main.value = json.dumps(self._value, ensure_ascii=False)

    @property
    def value(self) -> JsonValue:
        return self._value

    def heard(self, *_: object) -> None:
        if self._quiet:
            return
        try:
            value, problems = plain(read_json(self.main.value, ()))
        except Invalid as error:
            problems = error.problems
        if problems:
            self.tell(problems[0].msg, wrong=True)
            return
        self.tell(None)
        self._value = value
        super().heard()


if missing := set(WIDGETS) - set(FIELDS):
    raise ImportError(f"No class here draws {', '.join(sorted(missing))}. Add it to the 'kinds' of a class.")


def field(decided: Decided, changed: Changed) -> Field:
    """The control of a param."""
    return FIELDS[decided["widget"]](decided, changed)


def replaceable(old: Decided, new: Decided) -> bool:
    """Whether the same control can show the new state. If not, another one is built (a long list is searched)."""
    return old["widget"] == new["widget"] and bool(_scale(old) == _scale(new))


def _scale(decided: Decided) -> Sequence[object]:
    return [decided.get(key) for key in ("min", "max", "step", "label", "description", "rows")]
