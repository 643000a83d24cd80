"""The controls of numbers: a typed field, a slider with one, a range with two, and a number that may be null."""

from __future__ import annotations

import ipywidgets as widgets
from pydantic import JsonValue

from ..recipe.controls import Decided, text_of
from .field import UNSET, Field, several
from .number_text import TypedNumber


class NumberField(Field):
    """A field for a number. A number outside the range is set to the nearest bound, and the hint says so."""

    kinds = ("bounded_int", "bounded_float", "int", "float")
    unset = UNSET

    def build(self, decided: Decided) -> widgets.Widget:
        self.typed = TypedNumber(decided, self.heard, self.tell, label=decided["label"])
        return self.typed.widget

    def put(self, decided: Decided) -> None:
        self.typed.put(decided, decided["value"])

    @property
    def value(self) -> JsonValue:
        return self.typed.number


class Slider(Field):
    """A slider with a field for its number. The field shows every digit, the slider the nearest of its steps."""

    kinds = ("int_slider", "float_slider")
    unset = UNSET

    def build(self, decided: Decided) -> widgets.Widget:
        make = widgets.IntSlider if decided["widget"] == "int_slider" else widgets.FloatSlider
        self.typed = TypedNumber(decided, self._typed, self.tell, name=decided["label"])
        made = make(
            value=decided["min"],
            min=decided["min"],
            max=decided["max"],
            step=decided["step"],
            readout=False,
            continuous_update=False,
            **self.common(),
        )
        return self.watch(made, "value")

    def around(self) -> list[widgets.Widget]:
        return [self.main, self.typed.widget]

    def put(self, decided: Decided) -> None:
        self.typed.put(decided, decided["value"])
        if self.typed.number is not None:
            self.main.value = self.typed.number

    @property
    def value(self) -> JsonValue:
        return self.typed.number

    def heard(self, *_: object) -> None:
        if self._quiet:
            return
        self.tell(None)
        self.typed.put(self.decided, self.main.value)
        super().heard()

    def _typed(self) -> None:
        with self.quiet():
            self.main.value = self.typed.number
        super().heard()


class Range(Field):
    """A slider with two ends, and a field for each of them."""

    kinds = ("int_range_slider", "float_range_slider")
    unset = UNSET

    def build(self, decided: Decided) -> widgets.Widget:
        make = widgets.IntRangeSlider if decided["integer"] else widgets.FloatRangeSlider
        self._chosen: JsonValue = None
        self.ends = [
            TypedNumber(decided, self._typed, self.tell, name=f"{decided['label']}, {end}")
            for end in ("from", "to")
        ]
        made = make(
            value=[decided["min"], decided["max"]],
            min=decided["min"],
            max=decided["max"],
            step=decided["step"],
            readout=False,
            continuous_update=False,
            **self.common(),
        )
        return self.watch(made, "value")

    def around(self) -> list[widgets.Widget]:
        self.row = widgets.HBox([self.ends[0].widget, widgets.Label("to"), self.ends[1].widget])
        self.row.add_class("wb-ends")
        return [self.main, self.row]

    def put(self, decided: Decided) -> None:
        chosen = several(decided)
        self._chosen = list(chosen) if chosen else None
        for end, value in zip(self.ends, chosen or [None, None], strict=True):
            end.put(decided, value)
        if chosen:
            self.main.value = tuple(chosen)

    @property
    def value(self) -> JsonValue:
        return self._chosen

    def heard(self, *_: object) -> None:
        if self._quiet:
            return
        self.tell(None)
        self._take(list(self.main.value))

    def _take(self, value: list[JsonValue]) -> None:
        with self.quiet():
            self.put({**self.decided, "value": value})
        super().heard()

    def _typed(self) -> None:
        """An end was typed. A range goes from low to high; another order is refused, and both ends stay as typed."""
        low, high = (end.number for end in self.ends)
        if low is None or high is None:
            self.tell("Type both ends.", wrong=True)
        elif low > high:
            kept = several({**self.decided, "value": self._chosen})
            now = f" {text_of(kept[0])} to {text_of(kept[1])} stays in use." if kept else ""
            self.tell(
                f"A range goes from low to high, and {text_of(low)} is more than {text_of(high)}.{now}", wrong=True
            )
        else:
            self._take([low, high])


class OptionalNumber(Field):
    """A number or null. With "auto", or an empty field, the value is null, and the script chooses."""

    kinds = ("optional_number",)

    def build(self, decided: Decided) -> widgets.Widget:
        self.auto = widgets.Checkbox(
            description="auto", tooltip="Let the script choose", indent=False, layout=widgets.Layout(width="auto")
        )
        self.watch(self.auto, "value")
        self.typed = TypedNumber(decided, self._typed, self._said, label=decided["label"], clamps=False)
        self._last: JsonValue = None
        return self.typed.widget

    def around(self) -> list[widgets.Widget]:
        return [self.main, self.auto]

    def put(self, decided: Decided) -> None:
        value = decided["value"]
        self.auto.value = value is None
        self._show(value)

    def _show(self, value: JsonValue) -> None:
        """Show a number, or an empty field that is off while "auto" is on."""
        self._last = self._last if value is None else value
        self.typed.put(self.decided, value)
        self.main.disabled = value is None

    @property
    def value(self) -> JsonValue:
        return None if self.auto.value else self.typed.number

    def heard(self, *_: object) -> None:
        """The box was ticked, or the tick was taken away: then the last number is back, else the lowest."""
        if self._quiet:
            return
        self.tell(None)
        low, high = self.decided["min"], self.decided["max"]
        first = low if low is not None else min(0, high) if high is not None else 0
        first = int(first) if self.decided["integer"] else float(first)
        self._show(None if self.auto.value else first if self._last is None else self._last)
        super().heard()

    def _typed(self) -> None:
        self._last = self.typed.number
        super().heard()

    def _said(self, text: str | None, wrong: bool = False) -> None:
        """An emptied field is "auto"; what else is wrong is said."""
        if wrong and not self.typed.widget.text.strip():
            self.auto.value = True
        else:
            self.tell(text, wrong)
