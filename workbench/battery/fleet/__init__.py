"""Life and fleets: knees, ends of life, outliers and laws, over the cycles of one cell or over many cells."""

from .arrhenius import arrhenius
from .delta_q import delta_q
from .early_life import early_life
from .end_of_life import end_of_life
from .eol_extrapolation import eol_extrapolation
from .knee import knee
from .outliers import batch_spread, outliers

__all__ = [
    "arrhenius",
    "batch_spread",
    "delta_q",
    "early_life",
    "end_of_life",
    "eol_extrapolation",
    "knee",
    "outliers",
]
