"""Resistance and diffusion: pulses, power, titration, interruption, temperature."""

from .dcir import dcir
from .gitt import gitt
from .ici import ici
from .power_capability import power_capability

__all__ = ["dcir", "gitt", "ici", "power_capability"]
