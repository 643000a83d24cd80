"""Helpers for scripts: ``from workbench import battery``. Small, documented, without side effects.

Currents are positive on discharge; columns carry the canonical names (``Voltage [V]``).
"""

from .differential import NotMonotonic, charge_passed, differential_capacity, dqdv, dvdq, slope_on_grid
from .groups import band, mean_and_spread, pale
from .half_cycles import HalfCycle, directions, half_cycles, rest_limit
from .normalise import of_first, of_rated, per_area, per_mass
from .nyquist import SignLooksWrong, nyquist_layout, nyquist_trace
from .pulses import pulse_resistance, resistance_column
from .style import PALETTE, Coloring, color_bar, coloring, legend, message, sequential, shades, template
from .titles import axis_title, axis_titles, unit_text

__all__ = [
    "PALETTE",
    "Coloring",
    "HalfCycle",
    "NotMonotonic",
    "SignLooksWrong",
    "axis_title",
    "axis_titles",
    "band",
    "charge_passed",
    "color_bar",
    "coloring",
    "differential_capacity",
    "directions",
    "dqdv",
    "dvdq",
    "half_cycles",
    "legend",
    "mean_and_spread",
    "message",
    "nyquist_layout",
    "nyquist_trace",
    "of_first",
    "of_rated",
    "pale",
    "per_area",
    "per_mass",
    "pulse_resistance",
    "resistance_column",
    "rest_limit",
    "sequential",
    "shades",
    "slope_on_grid",
    "template",
    "unit_text",
]
