"""``PlotView``, our own plot on a Jupyter page. It sends figures as JSON and buffers, and plotly.js once a page."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import anywidget
import orjson
import traitlets

from ..engine.zoom import Detail
from ..inert_page import inert_script, offline_plotly
from ..plotly_files import Name, needed_by, source_of
from .background_worker import Step
from .event_loop import at_home
from .figure_buffers import Kept, Packer, Part, split
from .saved_picture import Still
from .surface import Asked, Looked, Message, Reason, Shown, ShownProblem, ShownProgress, Synced

HERE = Path(__file__).parent
STILLS = ("figure_layout.js", "still_picture.js")
"""The parts of a script that makes pictures for the saved notebook, in order: a widget is one text, which imports
nothing."""
LIBRARY = "plotly_library.js"
"""The part of a script that asks for plotly.js."""
SCRIPTS = (*STILLS, LIBRARY, "plot_view.js")
"""The parts of the script of a plot."""
FIGURES = ".wb-figure, .wb-figure-widget, #js-plotly-tester"
"""The elements of a notebook that hold our figures; plotly measures texts in the last one."""
ACTS = ("undo", "redo", "refresh", "copy", "recipe")
TILE_ACTS = ("controls", *ACTS)
_numbers = count(1)
_packing = threading.Lock()


def packed_library(name: Name) -> bytes:
    """A file of plotly.js, which fetches nothing, gzipped; made once in each process."""
    with _packing:
        return _packed_library(name)


@cache
def _packed_library(name: Name) -> bytes:
    return gzip.compress(offline_plotly(source_of(name)).encode(), 4, mtime=0)


@dataclass(frozen=True)
class Prepared:
    """A figure for the page: its number, its JSON, the buffer that the page keeps and the one for this figure."""

    number: int
    spec: str
    kept: Kept
    buffer: bytes


class KeyGuard(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
    """Keeps keys that are typed in the controls around it away from the shortcuts of the notebook."""

    _esm = (HERE / "key_guard.js").read_text("utf-8")


class ControlNames(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
    """Gives the controls beside it their look, and names and states for people who hear the page."""

    _esm = (HERE / "control_names.js").read_text("utf-8")
    _css = (HERE / "controls.css").read_text("utf-8")


class PlotView(anywidget.AnyWidget):  # type: ignore[misc]  # anywidget has no types
    """A ``Surface`` with a figure, its toolbar and its texts.

    Parameters
    ----------
    acts : names of the buttons, some of ``ACTS``.
    height : height of the figure in pixels; 0 takes that of the layout, else 440.
    still : keeps a small picture of the figure for the saved notebook, under ``name``.
    """

    _esm = inert_script(FIGURES) + "".join((HERE / name).read_text("utf-8") for name in SCRIPTS)
    _css = (HERE / "plot_view.css").read_text("utf-8")
    spec = traitlets.Unicode("").tag(sync=True)
    kept = traitlets.Bytes(b"").tag(sync=True)
    buffer = traitlets.Bytes(b"").tag(sync=True)
    status: traitlets.Dict[str, Synced] = traitlets.Dict({}).tag(sync=True)
    acts: traitlets.List[str] = traitlets.List([]).tag(sync=True)
    height = traitlets.Int(0).tag(sync=True)
    still = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self, acts: Sequence[str] = ACTS, height: int = 0, still: Still | None = None, name: str = ""
    ) -> None:
        super().__init__(acts=list(acts), height=height, still="" if still is None else still.id)
        self._range: Callable[[list[Looked], Asked], None] = lambda looked, asked: None
        self._act: Callable[[str], str | None] = lambda name: None
        self._check: Callable[[], None] = lambda: None
        self._drawn: Callable[[], None] = lambda: None
        self._stop: Callable[[], None] = lambda: None
        self._still_kept, self._name = still, name
        self._number = 0
        self._kept = Kept()
        self._asked = at_home(self._act_on)
        self.on_msg(self._heard)
        # Nearly all figures need the small file: it is ready when the page asks.
        threading.Thread(target=packed_library, args=("small",), name="workbench plotly.js", daemon=True).start()

    # The methods of a surface

    def prepare(self, figure: bytes, keep: str) -> Prepared:
        content, kept, buffer = split(figure, self._kept)
        number = content["number"] = next(_numbers)
        content["library"] = needed_by(content)
        content["layout"] = steady(content["layout"], keep)
        return Prepared(number, orjson.dumps(content).decode(), kept, buffer)

    def apply(self, prepared: Prepared, reason: Reason) -> None:
        self._number, self._kept = prepared.number, prepared.kept
        with self.hold_sync():
            self.spec, self.kept, self.buffer = prepared.spec, prepared.kept.buffer, prepared.buffer

    def detail(self, traces: Mapping[int, Detail], asked: Asked) -> None:
        packer = Packer()
        arrays = {
            str(n): {
                path: packer.numbers(values)
                for path, values in {"x": finer.x, "y": finer.y, **finer.others}.items()
            }
            for n, finer in traces.items()
        }
        self.send({**asked, "kind": "detail", "traces": arrays}, [packer.buffer()])

    def on_range(self, call: Callable[[list[Looked], Asked], None]) -> None:
        self._range = call

    def set_busy(self, progress: Step | None) -> None:
        self._update(busy=None if progress is None else worded(progress))

    def set_error(self, problems: Sequence[ShownProblem]) -> None:
        self._update(problems=[*problems])

    def show(self, shown: Shown) -> None:
        self._update(
            **{**vars(shown), "badge": dict(shown.badge), "notes": [*shown.notes], "hints": [*shown.hints]}
        )

    # Messages of the page

    def on_act(self, call: Callable[[str], str | None]) -> None:
        """Set what is called with the name of a pressed button. A text that it returns goes to the clipboard."""
        self._act = call

    def on_stop(self, call: Callable[[], None]) -> None:
        self._stop = call

    def on_check(self, call: Callable[[], None]) -> None:
        """Set what is called every 30 s while the view is open on a visible page."""
        self._check = call

    def on_drawn(self, call: Callable[[], None]) -> None:
        """Set what is called when a page has drawn the newest figure."""
        self._drawn = call

    def _update(self, **more: Synced) -> None:
        status = {**self.status, **more}
        if status != self.status:
            self.status = status

    def _heard(self, _: object, content: Message, buffers: object) -> None:
        if content.get("kind") == "plotly":
            name: Name = "small" if content.get("name") == "small" else "whole"
            self.send({"kind": "plotly", "name": name}, [packed_library(name)])  # at once, also while a cell runs
        elif content.get("kind") == "stop":
            self._stop()  # at once too: the cell that runs may wait for the figure
        else:
            self._asked(content)

    def _act_on(self, content: Message) -> None:
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


def steady(layout: dict[str, Part], keep: str) -> dict[str, Part]:
    """The layout with zoom and legend that stay as the user set them while ``keep`` is the same text.

    An axis with a new title shows another quantity, so its zoom is reset. A ``uirevision`` of the script has priority.
    """
    made = {"uirevision": keep, **layout}
    for name in (key for key in layout if key[1:].startswith("axis")):
        axis = layout[name] or {}
        title = axis.get("title") or {}
        text = title.get("text") if isinstance(title, dict) else title
        made[name] = {"uirevision": f"{keep} {text or ''} {axis.get('type') or ''}", **axis}
    return made


def worded(step: Step) -> ShownProgress:
    """The progress of a job in words."""
    if not step.name:
        return {"text": "working …", "share": None}
    text = f"step {step.index + 1}/{step.of} {step.name}"
    return {"text": f"{text}: {step.detail}" if step.detail else text, "share": step.index / max(step.of, 1)}
