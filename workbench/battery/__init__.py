"""Helpers for scripts: ``from workbench import battery``. Small, documented, without side effects.

Currents are positive on discharge; columns carry the canonical names (``Voltage [V]``).
"""

from .capacity import (
    calendar,
    capacity_by_step,
    cycle_count,
    efficiency,
    equivalent_cycles,
    formation,
    peukert,
    rate_capability,
    retention,
    self_discharge,
    soh,
)
from .charge import charge_passed
from .curves import degradation_modes, dtv, dva_features, ic_peaks, ocv_from_rests, pseudo_ocv, relaxation
from .differential import differential_capacity, dqdv, dvdq, slope_on_grid
from .doubts import (
    ChargeDiffers,
    Doubt,
    NeedsEverySample,
    NeedsUnmet,
    NotMonotonic,
    SamplesLeftOut,
    SignLooksWrong,
    UncertainResistance,
)
from .end_labels import end_labels
from .fleet import (
    arrhenius,
    batch_spread,
    delta_q,
    early_life,
    end_of_life,
    eol_extrapolation,
    knee,
    outliers,
)
from .gaps import break_gaps
from .groups import band, mean_and_spread, pale
from .half_cycles import HalfCycle, directions, half_cycles, rest_limit
from .impedance import bode, circuit, drt, eis_features, kk
from .normalise import of_first, of_rated, per_area, per_mass
from .nyquist import nyquist_layout, nyquist_trace
from .off_course import off_course, stands_apart
from .panels import panels
from .paper_size import paper
from .pulses import pulse_resistance, resistance_column
from .resistance import dcir, gitt, ici, power_capability
from .short_names import short_names
from .smoothing import Smoothing, smoothing_window
from .style import PALETTE, Coloring, color_bar, coloring, legend, message, sequential, shades, template
from .titles import axis_title, axis_titles, unit_text

__all__ = [
    "PALETTE",
    "ChargeDiffers",
    "Coloring",
    "Doubt",
    "HalfCycle",
    "NeedsEverySample",
    "NeedsUnmet",
    "NotMonotonic",
    "SamplesLeftOut",
    "SignLooksWrong",
    "Smoothing",
    "UncertainResistance",
    "arrhenius",
    "axis_title",
    "axis_titles",
    "band",
    "batch_spread",
    "bode",
    "break_gaps",
    "calendar",
    "capacity_by_step",
    "charge_passed",
    "circuit",
    "color_bar",
    "coloring",
    "cycle_count",
    "dcir",
    "degradation_modes",
    "delta_q",
    "differential_capacity",
    "directions",
    "dqdv",
    "drt",
    "dtv",
    "dva_features",
    "dvdq",
    "early_life",
    "efficiency",
    "eis_features",
    "end_labels",
    "end_of_life",
    "eol_extrapolation",
    "equivalent_cycles",
    "formation",
    "gitt",
    "half_cycles",
    "ic_peaks",
    "ici",
    "kk",
    "knee",
    "legend",
    "mean_and_spread",
    "message",
    "nyquist_layout",
    "nyquist_trace",
    "ocv_from_rests",
    "of_first",
    "of_rated",
    "off_course",
    "outliers",
    "pale",
    "panels",
    "paper",
    "per_area",
    "per_mass",
    "peukert",
    "power_capability",
    "pseudo_ocv",
    "pulse_resistance",
    "rate_capability",
    "relaxation",
    "resistance_column",
    "rest_limit",
    "retention",
    "self_discharge",
    "sequential",
    "shades",
    "short_names",
    "slope_on_grid",
    "smoothing_window",
    "soh",
    "stands_apart",
    "template",
    "unit_text",
]
