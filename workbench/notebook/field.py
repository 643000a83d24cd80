"""The base class of all controls: label, hint, value, and whether a user or the program changed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import ClassVar

import ipywidgets as widgets
from pydantic import JsonValue

from ..recipe.controls import Decided
from ..recipe.values import same_key

Changed = Callable[[], None]
UNSET = "No value is chosen."
"""Shown below a control that has no state of its own for null."""
FIELDS: dict[str, type[Field]] = {}
"""The class that draws each widget. Every subclass of ``Field`` is added here, under its ``kinds``."""


class Field:
    """The control of one param: ``widget`` to show, ``value`` as the recipe takes it.

    Parameters
    ----------
    decided : what ``decide`` returned for the param.
    changed : called when a user has changed the value; never by ``show``.
    """

    kinds: ClassVar[tuple[str, ...]] = ()
    """The widgets of ``recipe.controls`` that the class draws."""

    keeps_text: ClassVar[bool] = True
    """Whether a refused text stays in the control when other controls change. Choices are always shown anew."""
    unset: ClassVar[str | None] = None
    """What is said of the value null; None where the control itself shows it."""

    def __init_subclass__(cls) -> None:
        FIELDS.update(dict.fromkeys(cls.kinds, cls))

    def __init__(self, decided: Decided, changed: Changed) -> None:
        self.decided = decided
        self._changed = changed
        self._quiet = False
        self._told: tuple[str | None, bool] = (None, False)
        self.note = widgets.HTML()
        self.note.add_class("wb-hint")
        self.main = self.build(decided)
        self.note.layout.display = "none"
        self.widget = widgets.VBox([*self.around(), self.note])
        self.widget.add_class("wb-field")
        self.widget.add_class(f"wb-{decided['widget'].replace('_', '-')}")
        self.show(decided)

    # What each class defines

    def build(self, decided: Decided) -> widgets.Widget:
        """The widget that holds the value."""
        raise NotImplementedError

    def around(self) -> list[widgets.Widget]:
        """The widgets of the cell, from top to bottom."""
        return [self.main]

    def put(self, decided: Decided) -> None:
        """Show choices, bounds and value."""
        raise NotImplementedError

    @property
    def value(self) -> JsonValue:
        """The value that is shown, as the recipe takes it."""
        raise NotImplementedError

    # What all controls share

    def show(self, decided: Decided) -> None:
        """Show another state of the param. ``changed`` is not called.

        While the value is the same, what the control said stays, and so does a text that it refused.
        """
        text, wrong = self._told
        stays = text is not None and same(decided["value"], self.decided["value"])
        self.decided = decided
        if not (stays and wrong and self.keeps_text):
            with self.quiet():
                self.put(decided)
            self._told = self._told if stays and not wrong else (None, False)
        self.mark(None)

    @property
    def said(self) -> str | None:
        """The sentence below the control while nothing is wrong."""
        return self.decided.get("note") or (self.unset if self.decided["value"] is None else None)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Within it, changes of the widget are not changes by the user."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    def tell(self, text: str | None, wrong: bool = False) -> None:
        """Say what the control did with what a user typed; it stays until the value changes. None: nothing."""
        self._told = (text, wrong)
        self.mark(None)

    def mark(self, wrong: str | None) -> None:
        """Show what is wrong with the value; None: show what the control itself has to say."""
        if wrong is not None:
            self.hint(wrong, wrong=True)
        else:
            text, refused = self._told
            self.hint(text or self.said, wrong=text is not None and refused)

    def remark(self, text: str) -> None:
        """Show a sentence of somebody else beside that of the control, until the control is shown anew."""
        if self._told == (None, False):
            self.hint(" ".join(filter(None, (self.said, text))))

    def hint(self, text: str | None, wrong: bool = False) -> None:
        """Show a sentence below the control, or remove it."""
        shown = "" if not text else f"<span>{escape(text, quote=False)}</span>"
        if self.note.value != shown:
            self.note.value = shown
            self.note.layout.display = "" if text else "none"
        (self.widget.add_class if wrong else self.widget.remove_class)("wb-wrong")

    def heard(self, *_: object) -> None:
        """Called by the widget when a user changes it."""
        if not self._quiet:
            self.decided = {**self.decided, "value": self.value}
            self._changed()

    def watch(self, widget: widgets.Widget, *names: str) -> widgets.Widget:
        widget.observe(self.heard, names=list(names))
        return widget

    def common(self) -> dict[str, JsonValue]:
        """Label, tooltip and layout. Without a tooltip, ipywidgets would show the word "null"."""
        return {
            "description": self.decided["label"],
            "tooltip": self.decided["description"],
            "style": {"description_width": "initial"},
            "layout": widgets.Layout(width="auto", min_width="0"),
        }


def several(decided: Decided) -> list[JsonValue]:
    """The present values of a multiple choice or of a range."""
    value = decided["value"]
    return value if isinstance(value, list) else []


def same(a: JsonValue, b: JsonValue) -> bool:
    """Whether two values are equal for a recipe."""
    return same_key(a) == same_key(b)
