"""The interface of what a view draws on: our own plot on the page, or a plain FigureWidget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict, runtime_checkable

from pydantic import JsonValue

from ..engine.zoom import Detail
from .background_worker import Step
from .saved_picture import Still

Reason: TypeAlias = Literal["first", "data", "view", "recipe"]
"""Why a figure is drawn: it is the first one, or data params, view params or the recipe changed."""
Picture: TypeAlias = Any
"""A figure as ``prepare`` of a surface returns it and ``apply`` of the same surface takes it."""
Asked: TypeAlias = Mapping[str, JsonValue]
"""Which view on the page asked for detail of which figure; the answer repeats it."""
Message: TypeAlias = Mapping[str, Any]
"""A message of our own page; ``kind`` says which fields it has."""
Synced: TypeAlias = Any
"""A JSON value of a widget, which our own page reads."""


STOP = "Stop drawing; the figure that is shown stays"


class ShownProgress(TypedDict):
    """Progress in words, and the part of the work that is done, from 0 to 1 (None: unknown)."""

    text: str
    share: float | None


class ShownProblem(TypedDict):
    """What is wrong: the message, and where it is known the place in the recipe, or line and text of the script."""

    message: str
    place: NotRequired[str]
    line: NotRequired[JsonValue]
    text: NotRequired[JsonValue]


@dataclass(frozen=True)
class Looked:
    """A zoomed subplot: the numbers of its traces, the visible range of each axis, its width in pixels.

    ``y`` is None if all of it is visible.
    """

    traces: list[int]
    x: list[JsonValue]
    y: list[JsonValue] | None
    width: int


@dataclass(frozen=True)
class Shown:
    """The texts next to the figure, and the state of its buttons.

    ``badge`` are short texts by name (samples, cost), ``notes`` say what was left out, ``hints`` what to check in the
    figure, ``log`` is what the script printed. ``panel`` and ``controls``: whether these are open.
    """

    title: str = ""
    badge: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    hints: Sequence[str] = ()
    log: str = ""
    undo: bool = False
    redo: bool = False
    panel: bool = False
    controls: bool = True


@runtime_checkable
class Stops(Protocol):
    """A surface with a button that stops a drawing."""

    def on_stop(self, call: Callable[[], None]) -> None:
        """Set what is called at once, in any thread, when a user presses the button."""


@runtime_checkable
class Stills(Protocol):
    """A surface that makes pictures for the saved notebook."""

    def keep_in(self, still: Still) -> None:
        """Set where the pictures are kept."""


class Surface(Protocol):
    """A place on the page for one figure. All methods except ``prepare`` are called on the kernel's loop."""

    def prepare(self, figure: bytes, keep: str) -> Picture:
        """Prepare an encoded figure in the worker. The zoom stays as long as ``keep`` is the same text."""

    def apply(self, prepared: Picture, reason: Reason) -> None:
        """Draw a prepared figure in place of the present one."""

    def detail(self, traces: Mapping[int, Detail], asked: Asked) -> None:
        """Put more samples into some traces. All other traces show their overview."""

    def on_range(self, call: Callable[[list[Looked], Asked], None]) -> None:
        """Set what is called with the zoomed subplots when the zoom changes; with an empty list for the overview."""

    def set_busy(self, progress: Step | None) -> None:
        """Show the progress while the old figure stays; None: no work is running."""

    def set_error(self, problems: Sequence[ShownProblem]) -> None:
        """Show problems next to the figure; an empty list removes them."""

    def show(self, shown: Shown) -> None:
        """Show the texts next to the figure."""
