"""The live view of a recipe in a notebook: controls, picture, zoom, recipe panel, dashboards.

A view holds the state (recipe and values) and its history, runs the work in a thread of its own, and draws on a
``Surface``. Which control a param gets is decided in ``workbench.recipe.controls``, as data.
"""

from .plot_view import PlotView
from .view import View

__all__ = ["PlotView", "View"]
