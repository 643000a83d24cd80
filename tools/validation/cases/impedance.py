"""Impedance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from workbench import battery

from .. import Case, Check
from ..files import SAMPLE, read
from ..made_samples import example_spectrum, spectrum, two_arcs

EXAMPLE = "cases/impedance_py/exampleData.csv"


def kramers_kronig(shared: Path) -> Iterator[Check]:
    """The spectrum of the documentation of impedance.py, with and without its inductive points."""
    whole = example_spectrum(shared)
    with_numpy_1 = "impedance 1.7.1 with numpy 1.26"
    found = battery.kk(whole[whole["Z_Im [Ohm]"] <= 0])
    case = "impedance.py exampleData, 57 points that are not inductive"
    yield Check("kk", "M", case, with_numpy_1, 24, found["M"].iloc[0], 0)
    yield Check("kk", "mu", case, with_numpy_1, 0.770919, found["mu"].iloc[0], 1e-6)
    for name, its in (("real", 0.0033433), ("imaginary", 0.0032974)):
        ours = found[f"Residual {name}"].abs().max()
        yield Check("kk", f"largest residual, {name}", case, with_numpy_1, its, ours, 1e-7)
    found = battery.kk(whole)
    case = "impedance.py exampleData, 66 points"
    yield Check("kk", "M, all points", case, with_numpy_1, 22, found["M"].iloc[0], 0)
    ours = found["Residual real"].abs().max()
    yield Check("kk", "largest residual, all points", case, with_numpy_1, 0.0037470, ours, 1e-7)


def two_arcs_fitted(_: Path) -> Iterator[Check]:
    """A circuit with 0.2 % of noise."""
    made = "made: 0.01 Ohm + (0.02 Ohm, 1 F) + (0.03 Ohm, 100 F), 0.2 % noise"
    found = battery.circuit(two_arcs(0.002), circuit="R0-p(R1,C1)-p(R2,C2)").iloc[0]
    for name, its in (("R0", 0.01), ("R1", 0.02), ("R2", 0.03)):
        yield Check(
            "circuit", f"{name} [mOhm]", made, "closed form", 1000 * its, 1000 * found[f"{name} [Ohm]"], 0.1
        )
    residual = battery.kk(two_arcs(0.002))["Largest residual"].iloc[0]
    yield Check("kk", "largest residual, two arcs [%]", made, "noise, 2 deviations", 0.4, 100 * residual, 0.2)


def circuit_example(shared: Path) -> Iterator[Check]:
    """The circuit of the documentation of impedance.py: its documented optimum is not the global one."""
    found = battery.circuit(example_spectrum(shared), circuit="R0-p(R1,C1)-p(R2-Wo1,C2)").iloc[0]
    case = "impedance.py exampleData, R0-p(R1,C1)-p(R2-Wo1,C2)"
    yield Check("circuit", "R1 [mOhm]", case, "pyimpspec 5.2.0", 5.23, 1000 * found["R1 [Ohm]"], 0.02)
    yield Check("circuit", "rms, at most that of pyimpspec [%]", case, "pyimpspec 5.2.0", 1.8,
                100 * found["rms relative"], 0.05)  # fmt: skip
    unknown = int(np.isnan(found["Wo1 R [Ohm]"])) + int(np.isnan(found["Wo1 T [s]"]))
    yield Check("circuit", "parameters that the data do not know", case, "Jacobian", 2, unknown, 0)


def circuit_sample(_: Path) -> Iterator[Check]:
    """A simulated cell whose circuits were fitted when it was made."""
    found = battery.circuit(
        read(SAMPLE / "biologic" / "M50-A-01_EIS_fresh.mpt").samples, circuit="L0-R0-p(R1,CPE1)-p(R2,CPE2)-Ws1"
    )
    stored = pd.read_csv(SAMPLE / "analyses" / "M50-A-01_EIS_fresh_circuit.csv")
    for ours, its, allowed in (
        ("R0 [Ohm]", "R0 [mOhm]", 1e-3), ("R1 [Ohm]", "R1 [mOhm]", 1e-2), ("R2 [Ohm]", "R2 [mOhm]", 1e-2)
    ):  # fmt: skip
        yield Check("circuit", f"{its}, mean of 5 spectra", "sample_data M50-A-01_EIS_fresh", "scipy 1.18 fit",
                    float(stored[its].mean()), 1000 * float(found[ours].mean()), allowed)  # fmt: skip


def read_off(_: Path) -> Iterator[Check]:
    """An inductance, a resistance and one arc, whose crossing and top are known."""
    f = np.geomspace(1e5, 1e-2, 141)
    w = 2j * np.pi * f
    ohmic, ohm, farad, henry = 0.01, 0.02, 0.5, 1e-8
    frame = spectrum(f, henry * w + ohmic + ohm / (1 + ohm * farad * w))
    made = "made: 10 nH + 0.01 Ohm + (0.02 Ohm, 0.5 F)"
    found = battery.eis_features(frame).iloc[0]
    its = ohmic + henry / (ohm * farad)
    yield Check(
        "eis_features", "R ohmic [mOhm]", made, "closed form", 1000 * its, 1000 * found["R ohmic [Ohm]"], 1e-4
    )
    top = 1 / (2 * np.pi * ohm * farad)
    yield Check("eis_features", "top of the arc [Hz]", made, "closed form", top, found["Top frequency [Hz]"], 1.0)
    bode = battery.bode(spectrum(f, ohm / (1 + ohm * farad * w)))
    ours = float(np.interp(np.log(top), np.log(f[::-1]), bode["Minus phase [deg]"].to_numpy()[::-1]))
    made = "made: 0.02 Ohm parallel to 0.5 F"
    yield Check("bode", "minus phase at 1/(2 pi R C) [deg]", made, "closed form", 45, ours, 0.05)
    size = float(np.interp(np.log(top), np.log(f[::-1]), bode["Z_Mod [Ohm]"].to_numpy()[::-1]))
    yield Check("bode", "modulus there [mOhm]", made, "closed form", 20 / np.sqrt(2), 1000 * size, 0.02)


def relaxation_times(_: Path) -> Iterator[Check]:
    """Two RC elements: the areas of their peaks are their resistances."""
    f = np.geomspace(1e4, 1e-2, 61)
    w = 2j * np.pi * f
    found = battery.drt(spectrum(f, 0.01 + 0.02 / (1 + 0.002 * w) + 0.03 / (1 + 2.0 * w)))
    areas = found.drop_duplicates("Peak")["Peak area [Ohm]"].to_numpy()
    made = "made: 0.01 Ohm + (0.02 Ohm, 2 ms) + (0.03 Ohm, 2 s)"
    for number, ohm in enumerate((0.02, 0.03)):
        ours = 1000 * float(areas[number])
        yield Check(
            "drt", f"area of peak {number} [mOhm]", made, "closed form", 1000 * ohm, ours, 0.02 * 1000 * ohm
        )
    whole = 1000 * float(found["Polarisation [Ohm]"].iloc[0])
    yield Check("drt", "sum of the areas [mOhm]", made, "closed form", 50.0, whole, 1.0)


CASES = (
    Case("kk, exampleData", kramers_kronig, (EXAMPLE,)),
    Case("drt, two elements", relaxation_times),
    Case("circuit, exact", two_arcs_fitted),
    Case("circuit, exampleData", circuit_example, (EXAMPLE,)),
    Case("circuit, M50-A-01", circuit_sample, long=True),
    Case("impedance, read off", read_off),
)
