"""The controls of a view: one field for each param, with data and view params in two groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import ipywidgets as widgets
from pydantic import JsonValue

from ..recipe.controls import HIDDEN, Decided, table
from ..recipe.params import Param
from .closing import close_all
from .event_loop import at_home
from .field import Field
from .fields import field, replaceable

GROUPS = ("data", "view")
_CLASSES = {"data": "wb-data", "view": "wb-look"}
Options: TypeAlias = Mapping[str, Iterable[Mapping[str, JsonValue]]]


class ControlPanel:
    """The controls of params.

    Parameters
    ----------
    changed : called as ``changed(name, value, quiet)`` when a user chose a value. ``quiet`` is how long to wait for
        another change, in seconds.
    only : whether the param of a name is shown; by default all are.
    """

    def __init__(
        self, changed: Callable[[str, JsonValue, float], None], only: Callable[[str], bool] | None = None
    ) -> None:
        self._changed = at_home(changed)
        self._only = only or (lambda name: True)
        self.fields: dict[str, Field] = {}
        self._closed = False
        self._boxes: dict[str, widgets.Box] = {}

    @property
    def widget(self) -> widgets.Box:
        """All controls. It is made when it is first asked for: the controls of many plots are never opened."""
        return self._box("wb-controls")

    def _group(self, kind: str) -> widgets.Box:
        return self._box("wb-group", _CLASSES[kind])

    def _box(self, *classes: str) -> widgets.Box:
        box = self._boxes.get(classes[-1])
        if box is None:
            box = self._boxes[classes[-1]] = widgets.Box()
            for name in classes:
                box.add_class(name)
        return box

    def show(self, params: Mapping[str, Param], values: Mapping[str, JsonValue], options: Options) -> None:
        """Show params with their values and present choices. ``changed`` is not called."""
        if self._closed:
            return
        shown: dict[str, Field] = {}
        for decided in table(params, values, options):
            if decided["widget"] != HIDDEN and self._only(decided["name"]):
                shown[decided["name"]] = self._shown(decided["name"], decided)
        gone = [held for name, held in self.fields.items() if shown.get(name) is not held]
        self.fields = shown
        self._arrange()
        for held in gone:
            close_all(held.widget)

    def close(self) -> None:
        """Remove the controls. None is shown afterwards."""
        self._closed = True
        for widget in (*self._boxes.values(), *(held.widget for held in self.fields.values())):
            close_all(widget)
        self.fields = {}

    def mark(self, wrong: Mapping[str, str]) -> None:
        """Show below the named controls what is wrong with their value."""
        for name, held in self.fields.items():
            held.mark(wrong.get(name))

    def _shown(self, name: str, decided: Decided) -> Field:
        held = self.fields.get(name)
        if held is None or not replaceable(held.decided, decided) or held.decided["kind"] != decided["kind"]:
            return field(decided, lambda: self._heard(name))
        held.show(decided)
        return held

    def _heard(self, name: str) -> None:
        held = self.fields[name]
        self._changed(name, held.value, held.decided["debounce_ms"] / 1000)

    def _arrange(self) -> None:
        groups = []
        for kind in GROUPS:
            box = self._group(kind)
            cells = [held.widget for held in self.fields.values() if held.decided["kind"] == kind]
            _children(box, cells)
            if cells:
                box.layout.flex = f"{len(cells)} 1 {min(len(cells), 2) * 210}px"
                groups.append(box)
        _children(self.widget, groups)


def _children(box: widgets.Box, children: list[widgets.Widget]) -> None:
    if list(box.children) != children:
        box.children = children
