"""Closes widgets with all that belongs to them, so that neither the kernel nor the page keeps any part."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets as widgets


def close_all(widget: widgets.Widget) -> None:
    """Close a widget, its children, and the layout and style of each of them.

    ``close`` of ipywidgets closes one widget. Its layout and its style are widgets too, and each has a connection to
    the page.
    """
    for part in _parts(widget, set()):
        part.close()


def _parts(widget: widgets.Widget, seen: set[int]) -> Iterator[widgets.Widget]:
    if id(widget) in seen:
        return
    seen.add(id(widget))
    for name in widget.keys:
        held = getattr(widget, name)
        for one in held if isinstance(held, list | tuple) else (held,):
            if isinstance(one, widgets.Widget):
                yield from _parts(one, seen)
    yield widget
