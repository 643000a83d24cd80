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

    def __init_subclass__(cls) -> None:
        FIELDS.update(dict.fromkeys(cls.kinds, cls))

    def __init__(self, decided: Decided, changed: Changed) -> None:
        self.decided = decided
        self._changed = changed
        self._quiet = False
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
        """Show another state of the param. ``changed`` is not called."""
        self.decided = decided
        with self.quiet():
            self.put(decided)
        self.hint(decided.get("note"))

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Within it, changes of the widget are not changes by the user."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

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


def same(a: JsonValue, b: JsonValue) -> bool:
    """Whether two values are equal for a recipe."""
    return same_key(a) == same_key(b)
