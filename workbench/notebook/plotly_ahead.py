"""plotly.js on the page of a notebook before the first plot needs it."""

from __future__ import annotations

import threading

import anywidget

from .closing import close_all
from .event_loop import at_home
from .plot_view import HERE, LIBRARY, packed_library
from .surface import Message


class PlotlyAhead(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
    """Brings the small file of plotly.js to the page; nearly all figures need it. It is not displayed, and it closes
    when the file is there."""

    _esm = "".join((HERE / name).read_text("utf-8") for name in (LIBRARY, "plotly_ahead.js"))

    def __init__(self) -> None:
        super().__init__()
        self._end = at_home(lambda: close_all(self))
        self.on_msg(self._heard)
        threading.Thread(target=packed_library, args=("small",), name="workbench plotly.js", daemon=True).start()

    def _heard(self, _: object, content: Message, buffers: object) -> None:
        if content.get("kind") == "plotly":
            self.send({"kind": "plotly", "name": "small"}, [packed_library("small")])
        elif content.get("kind") == "there":
            self._end()
