"""What a user holds in Python: a bench with its records, recipes, figures and dashboards.

Frames and figures are imported when they are first used, and pandas and plotly with them: whoever opens a store and
reads its catalog needs neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..quick_import import later
from .bench import Bench
from .boards import Board, SavedPlot
from .opening import connect, open_bench

if TYPE_CHECKING:
    from .data import Data
    from .figure import Figure
    from .opened_figure import open_figure, why_changed

__all__ = ["Bench", "Board", "Data", "Figure", "SavedPlot", "connect", "open_bench", "open_figure", "why_changed"]
_FROM = {"Data": "data", "Figure": "figure", "open_figure": "opened_figure", "why_changed": "opened_figure"}


def __getattr__(name: str) -> object:
    if name not in _FROM:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found: object = getattr(later(f"{__name__}.{_FROM[name]}"), name)
    globals()[name] = found
    return found
