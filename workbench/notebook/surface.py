"""What a view draws on: our own plot on the page, or a plain FigureWidget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from ..engine.zoom import Detail
from .background_worker import Step

Reason: TypeAlias = Literal["first", "data", "view", "recipe"]
"""Why a figure is drawn: first of all, or because data params, view params or the recipe changed."""


@dataclass(frozen=True)
class Looked:
    """A subplot that is looked at closely: its traces, the visible range of each axis (y None: all of it), its width
    in pixels."""

    traces: list[int]
    x: list[Any]
    y: list[Any] | None
    width: int


@dataclass(frozen=True)
class Shown:
    """What stands beside the picture; all of it words.

    ``badge`` are short words by name (samples, cost), ``notes`` sentences about what was left out, ``hints`` about
    what looks odd in the figure, ``log`` what the script printed.
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


class Surface(Protocol):
    """A place on the page for one figure. All methods but ``prepare`` are called on the kernel's loop."""

    def prepare(self, figure: bytes, keep: str) -> Any:
        """Encoded bytes made ready for ``apply``, in the worker; the zoom stays while ``keep`` stays the same."""

    def apply(self, prepared: Any, reason: Reason) -> None:
        """Draw what ``prepare`` gave in place of what is there."""

    def detail(self, traces: Mapping[int, Detail], asked: Mapping[str, Any]) -> None:
        """Put finer detail into some traces; the others, and all if there are none, show their overview."""

    def on_range(self, call: Callable[[list[Looked], Mapping[str, Any]], None]) -> None:
        """Tell what is looked at closely whenever that changes, nothing for the overview."""

    def set_busy(self, progress: Step | None) -> None:
        """Say how far the work is while the old picture stays, or that there is none."""

    def set_error(self, problems: Sequence[Mapping[str, Any]]) -> None:
        """Say what is wrong beside the picture (``message``, ``line``, ``text``, ``place``), or that nothing is."""

    def show(self, shown: Shown) -> None:
        """Put the words beside the picture."""
