"""A small parameter set of a made-up cell, as BPX writes it."""

from __future__ import annotations

import json
from typing import Any


def bpx(**changes: Any) -> str:
    electrode = {
        "Particle radius [m]": 5e-6, "Thickness [m]": 5e-5, "Diffusivity [m2.s-1]": 1e-14,
        "OCP [V]": {"x": [0, 1], "y": [4.2, 3.0]},
        "Entropic change coefficient [V.K-1]": 0, "Conductivity [S.m-1]": 1, "Surface area per unit volume [m-1]": 4e5,
        "Porosity": 0.3, "Transport efficiency": 0.2, "Reaction rate constant [mol.m-2.s-1]": 1e-6,
        "Minimum stoichiometry": 0.1, "Maximum stoichiometry": 0.9, "Maximum concentration [mol.m-3]": 30000,
    }  # fmt: skip
    document = {
        "Header": {"BPX": "0.1.0", "Title": "Made up pouch cell", "Model": "DFN"},
        "Parameterisation": {
            "Cell": {
                "Ambient temperature [K]": 298.15, "Initial temperature [K]": 298.15,
                "Reference temperature [K]": 298.15,
                "Lower voltage cut-off [V]": 2.7, "Upper voltage cut-off [V]": 4.2, "Nominal cell capacity [A.h]": 12.5,
                "Specific heat capacity [J.K-1.kg-1]": 913, "Density [kg.m-3]": 1847, "Electrode area [m2]": 0.0168,
                "Number of electrode pairs connected in parallel to make a cell": 34,
                "External surface area [m2]": 0.04,
                "Volume [m3]": 1e-4, "Thermal conductivity [W.m-1.K-1]": 2.0,
            } | changes,
            "Electrolyte": {"Initial concentration [mol.m-3]": 1000, "Cation transference number": 0.26,
                            "Conductivity [S.m-1]": 1.0, "Diffusivity [m2.s-1]": 3e-10},
            "Negative electrode": electrode, "Positive electrode": electrode,
            "Separator": {"Thickness [m]": 2e-5, "Porosity": 0.47, "Transport efficiency": 0.3},
        },
    }  # fmt: skip
    return json.dumps(document)
