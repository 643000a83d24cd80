"""Impedance: Bode, the Kramers-Kronig test, circuits, relaxation times."""

from .bode import bode
from .circuit import circuit
from .drt import drt
from .eis_features import eis_features
from .kk import kk

__all__ = ["bode", "circuit", "drt", "eis_features", "kk"]
