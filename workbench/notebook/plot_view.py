"""Our own plot on a Jupyter page: a figure is one JSON text and two buffers; plotly.js is sent once a page."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import anywidget
import orjson
import traitlets

from ..engine.zoom import Detail
from ..export import plotly_source
from .background_worker import Step
from .event_loop import at_home
from .figure_buffers import Kept, Packer, split
from .saved_picture import Still
from .surface import Looked, Reason, Shown

HERE = Path(__file__).parent
ACTS = ("undo", "redo", "refresh", "copy", "recipe")
TILE_ACTS = ("controls", *ACTS)
_numbers = count(1)
_packing = threading.Lock()


def packed_library() -> bytes:
    """The installed plotly.js, gzipped; made once a process."""
    with _packing:
        return _packed_library()


@lru_cache(maxsize=1)
def _packed_library() -> bytes:
    return gzip.compress(plotly_source().encode(), 4, mtime=0)


@dataclass(frozen=True)
class Prepared:
    """A figure made ready for the page: its number, its text, the buffer that stays and the one that does not."""

    number: int
    spec: str
    kept: Kept
    buffer: bytes


class KeyGuard(anywidget.AnyWidget):  # type: ignore[misc]
    """Keeps plain keys typed in the controls around it from the notebook's shortcuts."""

    _esm = HERE / "key_guard.js"


class PlotView(anywidget.AnyWidget):  # type: ignore[misc]
    """A figure with its toolbar and its words: a ``Surface``.

    Parameters
    ----------
    acts : names of the buttons, of ``ACTS``.
    height : of the picture in pixels; 0 takes that of the figure, else 440.
    still : where a small picture of what is shown is kept for the saved notebook, under ``name``.
    """

    _esm = HERE / "plot_view.js"
    _css = HERE / "plot_view.css"
    spec = traitlets.Unicode("").tag(sync=True)
    kept = traitlets.Bytes(b"").tag(sync=True)
    buffer = traitlets.Bytes(b"").tag(sync=True)
    status = traitlets.Dict({}).tag(sync=True)
    acts: Any = traitlets.List([]).tag(sync=True)
    height = traitlets.Int(0).tag(sync=True)
    still = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self, acts: Sequence[str] = ACTS, height: int = 0, still: Still | None = None, name: str = ""
    ) -> None:
        super().__init__(acts=list(acts), height=height, still="" if still is None else still.id)
        self._range: Callable[[list[Looked], Mapping[str, Any]], None] = lambda looked, asked: None
        self._act: Callable[[str], str | None] = lambda name: None
        self._check: Callable[[], None] = lambda: None
        self._drawn: Callable[[], None] = lambda: None
        self._still_kept, self._name = still, name
        self._number = 0
        self._kept = Kept()
        self._asked = at_home(self._act_on)
        self.on_msg(self._heard)
        threading.Thread(target=packed_library, name="workbench plotly.js", daemon=True).start()

    # As a surface

    def prepare(self, figure: bytes, keep: str) -> Prepared:
        content, kept, buffer = split(figure, self._kept)
        number = content["number"] = next(_numbers)
        content["layout"] = steady(content["layout"], keep)
        return Prepared(number, orjson.dumps(content).decode(), kept, buffer)

    def apply(self, prepared: Prepared, reason: Reason) -> None:
        self._number, self._kept = prepared.number, prepared.kept
        with self.hold_sync():
            self.spec, self.kept, self.buffer = prepared.spec, prepared.kept.buffer, prepared.buffer

    def detail(self, traces: Mapping[int, Detail], asked: Mapping[str, Any]) -> None:
        packer = Packer()
        arrays = {
            str(n): {
                path: packer.numbers(values)
                for path, values in {"x": finer.x, "y": finer.y, **finer.others}.items()
            }
            for n, finer in traces.items()
        }
        self.send({**asked, "kind": "detail", "traces": arrays}, [packer.buffer()])

    def on_range(self, call: Callable[[list[Looked], Mapping[str, Any]], None]) -> None:
        self._range = call

    def set_busy(self, progress: Step | None) -> None:
        self._tell(busy=None if progress is None else worded(progress))

    def set_error(self, problems: Sequence[Mapping[str, Any]]) -> None:
        self._tell(problems=[dict(problem) for problem in problems])

    def show(self, shown: Shown) -> None:
        self._tell(**{**vars(shown), "badge": dict(shown.badge), "notes": [*shown.notes], "hints": [*shown.hints]})

    # What the page asks

    def on_act(self, call: Callable[[str], str | None]) -> None:
        """``call`` gets the name of a button that was pressed; a text that it gives is put on the clipboard."""
        self._act = call

    def on_check(self, call: Callable[[], None]) -> None:
        """``call`` is told every 30 s while the view is open on a page that is looked at."""
        self._check = call

    def on_drawn(self, call: Callable[[], None]) -> None:
        """``call`` is told when a page has drawn the last picture."""
        self._drawn = call

    def _tell(self, **more: Any) -> None:
        status = {**self.status, **more}
        if status != self.status:
            self.status = status

    def _heard(self, _: Any, content: Mapping[str, Any], buffers: Any) -> None:
        if content.get("kind") == "plotly":
            self.send({"kind": "plotly"}, [packed_library()])  # at once, also while a cell runs
        else:
            self._asked(content)

    def _act_on(self, content: Mapping[str, Any]) -> None:
        kind = content.get("kind")
        if kind == "act" and (text := self._act(str(content["name"]))) is not None:
            self.send({"kind": "text", "view": content["view"], "text": text})
        elif kind == "check":
            self._check()
        elif kind == "drawn" and content["number"] == self._number:
            self._drawn()
        elif kind == "still" and self._still_kept is not None:
            self._still_kept.keep(str(content["picture"]), self._name, content.get("dark") is True)
        elif kind == "range" and content["number"] == self._number:
            looked = [Looked(**subplot) for subplot in content["subplots"]]
            self._range(looked, {"view": content["view"], "number": self._number})


def steady(layout: dict[str, Any], keep: str) -> dict[str, Any]:
    """A layout whose zoom, and what was switched off in the legend, stay while ``keep`` stays the same.

    An axis whose title changes shows another quantity, so that its zoom goes. What the script says itself stands.
    """
    made = {"uirevision": keep, **layout}
    for name in (key for key in layout if key[1:].startswith("axis")):
        axis = layout[name] or {}
        title = axis.get("title") or {}
        text = title.get("text") if isinstance(title, dict) else title
        made[name] = {"uirevision": f"{keep} {text or ''} {axis.get('type') or ''}", **axis}
    return made


def worded(step: Step) -> dict[str, Any]:
    """Progress in words, and how much of the work is done (None where that is not known)."""
    if not step.name:
        return {"text": "working …", "share": None}
    text = f"step {step.index + 1}/{step.of} {step.name}"
    return {"text": f"{text}: {step.detail}" if step.detail else text, "share": step.index / max(step.of, 1)}
