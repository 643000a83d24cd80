"""The live view of a recipe in a notebook: controls, figure, zoom, recipe panel, dashboards.

A view holds the state (recipe and values) and its history. It works in a thread of its own and draws on a ``Surface``.
``workbench.recipe.controls`` decides which control a param gets.
"""

from .plot_view import PlotView
from .view import View

__all__ = ["PlotView", "View"]
