"""Curves: open circuit, peaks, degradation modes, relaxation."""

from .degradation_modes import degradation_modes
from .dtv import dtv
from .dva_features import dva_features
from .ic_peaks import ic_peaks
from .ocv_from_rests import ocv_from_rests
from .pseudo_ocv import pseudo_ocv
from .relaxation import relaxation

__all__ = [
    "degradation_modes",
    "dtv",
    "dva_features",
    "ic_peaks",
    "ocv_from_rests",
    "pseudo_ocv",
    "relaxation",
]
