"""What a user holds in Python: a bench with its records, recipes, figures and dashboards."""

from .bench import Bench
from .boards import Board, SavedPlot
from .data import Data
from .figure import Figure
from .opened_figure import open_figure, why_changed
from .opening import connect, open_bench

__all__ = ["Bench", "Board", "Data", "Figure", "SavedPlot", "connect", "open_bench", "open_figure", "why_changed"]
