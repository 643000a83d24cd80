"""The analyses that there are, each declared once."""

from __future__ import annotations

from dataclasses import replace

from ..battery.capacity.capacity_by_step import capacity_by_step
from ..battery.capacity.efficiency import efficiency
from ..battery.capacity.formation import formation
from ..battery.capacity.peukert import peukert
from ..battery.capacity.rate_capability import rate_capability
from ..battery.capacity.retention import retention
from ..battery.capacity.self_discharge import self_discharge
from ..battery.curves.degradation_modes import degradation_modes
from ..battery.curves.dtv import dtv
from ..battery.curves.dva_features import dva_features
from ..battery.curves.ic_peaks import ic_peaks
from ..battery.curves.ocv_from_rests import ocv_from_rests
from ..battery.curves.pseudo_ocv import pseudo_ocv
from ..battery.curves.relaxation import relaxation
from ..battery.fleet.delta_q import delta_q
from ..battery.fleet.end_of_life import end_of_life
from ..battery.fleet.eol_extrapolation import eol_extrapolation
from ..battery.fleet.knee import knee
from ..battery.impedance.circuit import circuit
from ..battery.impedance.drt import drt
from ..battery.impedance.eis_features import eis_features
from ..battery.impedance.kk import kk
from ..battery.resistance.dcir import dcir
from ..battery.resistance.gitt import gitt
from ..battery.resistance.ici import ici
from ..battery.resistance.power_capability import power_capability
from .declaration import Declared, Result, last_of, median_of, nearest
from .fleets import outliers
from .tests import ALSO, IMPEDANCE, SAMPLES, WITH_IMPEDANCE

_R10, _D = "Resistance at 10 s [Ohm]", "D/R2 [1/s]"
_NEAR = 0.1
"""A pulse at an SOC further from a half says nothing of the cell at a half."""
_RATED, _SOC = {"rated": "rated"}, {"limits": "limits", "capacity": "rated"}


def _last(**columns: str) -> dict[str, Result]:
    """Results that are the last value of a column: name -> column."""
    return {name: last_of(column) for name, column in columns.items()}


_OF_CYCLES = (
    Declared(
        "retention",
        "How much of its capacity does a cell still have?",
        6,
        retention,
        "cycles",
        ("ageing",),
        in_life=True,
        given=_RATED,
        results=_last(retention="Retention", reference="Reference [A.h]", cycles="Cycle count"),
    ),
    Declared(
        "efficiency",
        "How much charge and energy comes back in each cycle?",
        5,
        efficiency,
        "cycles",
        ("ageing", "formation", "rate"),
        results={
            "coulombic": median_of("Coulombic efficiency"),
            "energy": median_of("Energy efficiency"),
            "inefficiency_per_hour": median_of("CIE per hour [1/h]"),
        },
    ),
    Declared(
        "knee",
        "Does the fade steepen, and from which cycle on?",
        9,
        knee,
        "cycles",
        ("ageing",),
        in_life=True,
        given=_RATED,
        results=_last(knee="Knee cycle", onset="Onset cycle"),
    ),
    Declared(
        "end_of_life",
        "At which cycle does a cell reach its end of life?",
        8,
        end_of_life,
        "cycles",
        ("ageing",),
        in_life=True,
        given=_RATED,
        results=_last(cycle="EOL cycle", last_cycle="Last cycle", last_retention="Last retention"),
    ),
    Declared(
        "eol_extrapolation",
        "When will a cell reach its end of life, and how sure is that?",
        9,
        eol_extrapolation,
        "cycles",
        ("ageing",),
        in_life=True,
        given=_RATED,
        results=_last(cycle="EOL cycle", low="EOL low", high="EOL high"),
    ),
    Declared(
        "outliers",
        "Which cells differ from the others of their batch?",
        7,
        outliers,
        "cycles",
        ("ageing",),
        over="cells",
        in_life=True,
        results=_last(z="z", value="Value", n="n"),
    ),
)
_OF_STEPS = (
    Declared(
        "capacity_by_step",
        "How much of the charge comes at constant current, and how much at constant voltage?",
        1,
        capacity_by_step,
        "steps",
        ("ageing", "rate", "rpt", "formation"),
    ),
    Declared(
        "formation",
        "How much charge is lost in the first cycles?",
        1,
        formation,
        "steps",
        ("formation",),
        given=_RATED,
        results=_last(ice="ICE", first_loss="First-cycle loss [%]"),
    ),
    Declared(
        "rate_capability",
        "How much charge does a cell give at which rate?",
        2,
        rate_capability,
        "steps",
        ("rate",),
        given=_RATED,
        results=_last(fastest="Fraction of slowest"),
    ),
    Declared(
        "peukert",
        "How does the duration of a discharge depend on its current?",
        2,
        peukert,
        "steps",
        ("rate",),
        given=_RATED,
        results=_last(exponent="Exponent", r2="r2"),
    ),
    Declared(
        "self_discharge",
        "How much charge is lost in storage, and how much of that comes back?",
        5,
        self_discharge,
        "steps",
        ("storage",),
        results=_last(reversible="Reversible [%]", irreversible="Irreversible [%]"),
        fixed={"samples": None},
    ),
)
_OF_SAMPLES = (
    Declared(
        "pseudo_ocv",
        "What is the voltage at equilibrium over the state of charge, and its hysteresis?",
        3,
        pseudo_ocv,
        "samples",
        ("pocv", "rpt"),
        given=_RATED,
        results={"median_hysteresis": median_of("Hysteresis [V]")},
    ),
    Declared(
        "ocv_from_rests",
        "What is the open-circuit voltage at the end of each rest?",
        4,
        ocv_from_rests,
        "samples",
        ("gitt", "hppc"),
        given=_SOC,
        results={"median_drift": median_of("Drift [mV/h]")},
    ),
    Declared(
        "ic_peaks",
        "Where are the peaks of dQ/dV, and how large are they?",
        3,
        ic_peaks,
        "samples",
        ("pocv", "rpt"),
        given=_RATED,
    ),
    Declared(
        "dva_features",
        "Where is the peak of graphite in dV/dQ?",
        4,
        dva_features,
        "samples",
        ("pocv", "rpt"),
        given=_RATED,
        results=_last(peak_to_full="Peak to full [A.h]", peak_to_empty="Peak to empty [A.h]"),
    ),
    Declared(
        "degradation_modes",
        "What is lost with age: lithium, or active material of an electrode?",
        3,
        degradation_modes,
        "samples",
        ("rpt",),
        over="cell",
        given={**_RATED, "anode": "anode", "cathode": "cathode"},
        fixed={"by": "Test"},
        results=_last(lli="LLI [%]", lam_anode="LAM anode [%]", lam_cathode="LAM cathode [%]", rms="rms [mV]"),
    ),
    Declared(
        "relaxation",
        "How does the voltage come to rest after a load?",
        5,
        relaxation,
        "samples",
        ("gitt", "hppc", "rpt"),
        given=_SOC,
        results={"median_tau": median_of("tau1 [s]")},
    ),
    Declared(
        "dtv",
        "What does the temperature show over the voltage?",
        2,
        dtv,
        "samples",
        ("ageing", "rate"),
        given=_RATED,
    ),
    Declared(
        "delta_q",
        "How did the discharge curve change between two early cycles?",
        3,
        delta_q,
        "samples",
        ("ageing",),
        given=_RATED,
        results=_last(log_var="log10 var [(A.h)^2]"),
    ),
    Declared(
        "dcir",
        "What is the resistance of each pulse, by state of charge and direction?",
        5,
        dcir,
        "samples",
        ("hppc", "pulses", "rpt"),
        given=_SOC,
        results={
            "resistance_at_half": nearest(_R10, "SOC", 0.5, _NEAR, Direction="discharge"),
            "median_resistance": median_of(_R10),
        },
    ),
    Declared(
        "power_capability",
        "What power can a cell give and take between its voltage limits?",
        4,
        power_capability,
        "samples",
        ("hppc",),
        given=_SOC,
        results={"power_at_half": nearest("Power at 10 s [W]", "SOC", 0.5, _NEAR, Direction="discharge")},
    ),
    Declared(
        "gitt",
        "How fast is diffusion, from pulses with long rests?",
        6,
        gitt,
        "samples",
        ("gitt",),
        given=_SOC,
        results={"median_rate": median_of(_D)},
    ),
    Declared(
        "ici",
        "How fast is diffusion, and how large the resistance, from short breaks of a current?",
        5,
        ici,
        "samples",
        ("ici",),
        given=_SOC,
        results={"median_resistance": median_of("Resistance [Ohm]"), "median_rate": median_of(_D)},
    ),
)
_OF_SPECTRA = (
    Declared(
        "kk",
        "Do spectra obey the Kramers-Kronig relations?",
        2,
        kk,
        "samples",
        ("eis",),
        results={"largest_residual": median_of("Largest residual")},
    ),
    Declared(
        "circuit", "Which circuit fits the spectra, and with which parameters?", 3, circuit, "samples", ("eis",)
    ),
    Declared(
        "drt",
        "Over which time constants is the polarisation distributed?",
        3,
        drt,
        "samples",
        ("eis",),
        results={"polarisation": median_of("Polarisation [Ohm]"), "ohmic": median_of("R ohmic [Ohm]")},
    ),
    Declared(
        "eis_features",
        "What are the ohmic resistance and the width of the arcs?",
        2,
        eis_features,
        "samples",
        ("eis",),
        results={"ohmic": median_of("R ohmic [Ohm]"), "arc": median_of("Arc width [Ohm]")},
    ),
)


ANALYSES: dict[str, Declared] = {
    one.type: one
    for one in (
        *_OF_CYCLES,
        *_OF_STEPS,
        *(replace(one, needs=SAMPLES, takes=ALSO) for one in _OF_SAMPLES),
        *(replace(one, needs=IMPEDANCE, takes=WITH_IMPEDANCE) for one in _OF_SPECTRA),
    )
}
"""Every analysis by its type."""

ON_ARRIVAL = (
    "capacity_by_step",
    "retention",
    "efficiency",
    "knee",
    "outliers",
    "rate_capability",
    "pseudo_ocv",
    "ic_peaks",
    "dcir",
    "power_capability",
    "ocv_from_rests",
    "gitt",
    "ici",
    "kk",
    "circuit",
    "degradation_modes",
)
"""What is computed of the tests that arrive in a project that asks for it, of those whose kind it reads."""
