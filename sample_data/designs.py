"""The three cell specifications: electrodes with published open-circuit potentials, and how each batch ages."""

from __future__ import annotations

from functools import cache

import numpy as np
import pybamm
from scipy.ndimage import gaussian_filter1d
from simulated_cell import Ageing, Design, Electrode, Potential

GRID = 4001


@cache
def potential(parameter_set: str, side: str, spread: float = 0.0) -> Potential:
    """An electrode's open-circuit potential from a PyBaMM parameter set.

    `side` is Negative or Positive. `spread` (stoichiometry) averages over particles that are not all equally
    full, which rounds steps that a fitted formula draws too sharply.
    """
    function = pybamm.ParameterValues(parameter_set)[f"{side} electrode OCP [V]"]
    grid = np.linspace(0.0, 1.0, GRID)
    values = np.asarray(function(pybamm.Vector(grid)).evaluate(), dtype=float).ravel()
    if spread:
        values = gaussian_filter1d(values, spread * (GRID - 1), mode="nearest")
    return Potential(tuple(np.round(values, 7).tolist()))


def m50() -> Design:
    """A 5 Ah 21700 cell: NMC811 against graphite-SiOx (potentials of Chen et al. 2020)."""
    return Design(
        name="M50 21700",
        negative=Electrode(potential("Chen2020", "Negative"), 5.72, 0.0264, 0.9106, 1040.0, 9.0),
        positive=Electrode(potential("Chen2020", "Positive", 0.022), 8.57, 0.8540, 0.2638, 3400.0, 9.0),
        rated=5.0,
        voltage_min=2.5,
        voltage_max=4.2,
        resistance=0.0135,
        electrolyte_resistance=0.015,
        electrolyte_time=150.0,
        heat_capacity=66.0,
        heat_loss=0.11,
    )


def lfp() -> Design:
    """A 2.5 Ah 26650 cell: LFP (Afshar et al. 2017) against graphite (Ecker et al. 2015)."""
    return Design(
        name="LFP 26650",
        negative=Electrode(potential("Ecker2015", "Negative"), 2.94, 0.012, 0.858, 1500.0, 7.0),
        positive=Electrode(potential("Prada2013", "Positive"), 2.59, 0.974, 0.014, 420.0, 6.0),
        rated=2.5,
        voltage_min=2.0,
        voltage_max=3.6,
        resistance=0.0085,
        electrolyte_resistance=0.005,
        electrolyte_time=45.0,
        heat_capacity=84.0,
        heat_loss=0.14,
    )


def pouch() -> Design:
    """A single-layer laboratory pouch of 50 mAh: NMC532 against graphite (Mohtat et al. 2020)."""
    return Design(
        name="NMC532 pouch",
        negative=Electrode(potential("Mohtat2020", "Negative"), 0.0612, 0.0016, 0.8334, 1250.0, 0.10),
        positive=Electrode(potential("Mohtat2020", "Positive"), 0.0594, 0.8909, 0.0335, 1530.0, 0.08),
        rated=0.05,
        voltage_min=2.8,
        voltage_max=4.2,
        resistance=0.55,
        electrolyte_resistance=0.35,
        electrolyte_time=30.0,
        heat_capacity=4.0,
        heat_loss=0.04,
    )


M50_AGEING = Ageing(
    sei=0.036,
    sei_energy=32_000.0,
    throughput_loss=1.6e-4,
    loss_negative=2.6e-5,
    loss_positive=0.8e-5,
    loss_energy=20_000.0,
    resistance_per_loss=5.0,
)
M50_ADDITIVE = Ageing(
    sei=0.026,
    sei_energy=30_000.0,
    throughput_loss=0.9e-4,
    loss_negative=2.0e-5,
    loss_positive=0.7e-5,
    loss_energy=20_000.0,
    resistance_per_loss=4.0,
)
LFP_AGEING = Ageing(
    sei=0.019,
    sei_energy=36_000.0,
    throughput_loss=0.5e-4,
    loss_negative=1.0e-5,
    loss_positive=0.6e-5,
    loss_energy=20_000.0,
    resistance_per_loss=5.0,
)
POUCH_AGEING = Ageing(
    sei=0.00055,
    sei_energy=32_000.0,
    throughput_loss=3.0e-4,
    loss_negative=1.0e-3,
    loss_positive=1.0e-3,
    loss_energy=20_000.0,
    resistance_per_loss=5.0,
)
