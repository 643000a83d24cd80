"""Life and fleets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbench import battery
from workbench.battery.fleet.eol_extrapolation import line

from .. import Case, Check
from ..files import SAMPLE, read

CURVES, LIVES = "cases/severson/q_of_v_cycles_10_100.parquet", "cases/severson/cycle_life_124.csv"
FADE = "data/ageing_sunwoda/capacity_by_cycle.csv"
SEVERSON = "Severson 2019, 124 LFP cells"
SUNWODA = "ageing_sunwoda, 18 NMC cells"
REVISITED = "table of petermattia/revisit-severson-et-al"
GUIDE = "independent computation"
Floats = NDArray[np.float64]


@cache
def _severson(shared: Path) -> pd.DataFrame:
    """Of each cell its set, life, and the log10 variance of Q100 - Q10 by ``delta_q``."""
    curves, lives = pd.read_parquet(shared / CURVES), pd.read_csv(shared / LIVES)
    volts = np.linspace(3.5, 2.0, len(curves))
    found = []
    for held in lives.itertuples():
        two = [
            pd.DataFrame(
                {
                    "Cycle count": cycle,
                    "Voltage [V]": volts,
                    "Discharge capacity [A.h]": curves[f"{held.set}/{held.cell}/{cycle}"],
                }
            )
            for cycle in (10, 100)
        ]
        made = battery.delta_q(pd.concat(two, ignore_index=True), low=2.0, high=3.5)
        found.append(float(made["log10 var [(A.h)^2]"].iloc[0]))
    return lives.assign(found=found)


def delta_q_severson(shared: Path) -> Iterator[Check]:
    """The feature of each cell, and its correlation with life in the three sets."""
    cells = _severson(shared)
    off = float(np.abs(cells["found"] - cells["log10_var_delta_q_100_10"]).max())
    yield Check(
        "delta_q", "largest difference of log10 var", SEVERSON, "numpy, on the same curves", 0.0, off, 1e-5
    )
    for name, r in (("train", -0.904), ("test1", -0.937), ("test2", -0.805)):
        one = cells[cells["set"] == name]
        ours = float(np.corrcoef(one["found"], np.log10(one["cycle_life"]))[0, 1])
        yield Check("delta_q", f"r with log10 life, {name}", SEVERSON, GUIDE, r, ours, 6e-4)


def early_life_severson(shared: Path) -> Iterator[Check]:
    """The model of the variance, fitted to the first set."""
    cells = _severson(shared)
    life = cells["cycle_life"].where(cells["set"] == "train")
    frame = pd.DataFrame(
        {"Cell": cells["set"] + cells["cell"], "log10 var [(A.h)^2]": cells["found"], "Cycle life": life}
    )
    made = battery.early_life(frame)
    first = made.iloc[0]
    yield Check("early_life", "slope", SEVERSON, GUIDE, -0.395814, float(first["Slope"]), 1e-5)
    yield Check("early_life", "intercept", SEVERSON, GUIDE, 1.34632, float(first["Intercept"]), 1e-4)
    cells = cells.assign(predicted=made["Predicted life"].to_numpy())
    for name, rmse in (("train", 103.0), ("test1", 138.0), ("test2", 196.0)):
        one = cells[cells["set"] == name]
        ours = float(np.sqrt(np.mean((one["predicted"] - one["cycle_life"]) ** 2)))
        yield Check("early_life", f"RMSE, {name} [cycles]", SEVERSON, REVISITED, rmse, ours, 1.0)


@cache
def _fade(shared: Path) -> pd.DataFrame:
    return pd.read_csv(shared / FADE)


def _cells(shared: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, frame in _fade(shared).groupby("cell", sort=False):
        yield str(name), frame


def bent(noise: float = 0.0, seed: int = 0) -> pd.DataFrame:
    """1000 cycles whose fade becomes three times faster at cycle 600 and again at 850."""
    cycle = np.arange(1000.0)
    left = 1 - 1e-4 * cycle - 2e-4 * np.maximum(cycle - 600, 0) - 6e-4 * np.maximum(cycle - 850, 0)
    left += np.random.default_rng(seed).normal(0, noise, 1000) if noise else 0.0
    return pd.DataFrame({"Cycle count": cycle, "Discharge capacity [A.h]": 2 * left})


def knee_exact(_: Path) -> Iterator[Check]:
    """Broken lines, with and without noise."""
    made = battery.knee(bent(), bootstrap=0).iloc[0]
    case = "made: slopes 1, 3, 9e-4 per cycle"
    yield Check("knee", "onset, exact [cycle]", case, "closed form", 600.0, made["Onset cycle"], 0.01)
    yield Check("knee", "second bend, exact [cycle]", case, "closed form", 850.0, made["Second bend"], 0.01)
    for n in range(3):
        yield Check(
            "knee",
            f"slope {n + 1}, exact [1/cycle]",
            case,
            "closed form",
            -1e-4 * 3**n,
            made[f"Slope {n + 1} [1/cycle]"],
            1e-7,
        )
    made = battery.knee(bent(0.002), reference="rated", rated=2.0, bootstrap=100).iloc[0]
    case = "made: the same, noise 0.002"
    yield Check("knee", "onset, noise [cycle]", case, "closed form", 600.0, made["Onset cycle"], 5.0)
    yield Check("knee", "second bend, noise [cycle]", case, "closed form", 850.0, made["Second bend"], 5.0)
    yield Check(
        "knee", "noise: truth inside the band (1: yes)", case, "closed form", 1.0, float(_inside(made)), 0.0
    )


def _inside(made: pd.Series) -> bool:
    return bool(made["Onset low"] <= 600 <= made["Onset high"])


def knee_sunwoda(shared: Path) -> Iterator[Check]:
    """Which of the 18 cells have a knee if the jumps after pauses are left in, as the reference does."""
    found = {
        name: battery.knee(frame, x="cycle", value="capacity_Ah", jumps="keep", bootstrap=0).iloc[0]
        for name, frame in _cells(shared)
    }
    valid = [name for name, row in found.items() if row["Valid"]]
    yield Check("knee", "cells with a knee, jumps: keep", SUNWODA, GUIDE, 3, len(valid), 0.0)
    right = float(valid == ["B1T25", "B2T25", "B4T25"])
    yield Check("knee", "they are B1T25, B2T25, B4T25 (1: yes)", SUNWODA, GUIDE, 1.0, right, 0.0)
    slope = found["B19T45"]["Slope 2 [1/cycle]"]
    yield Check("knee", "middle slope of B19T45 [1/cycle]", SUNWODA, GUIDE, -3.3e-4, slope, 0.05e-4)


def knee_formula(shared: Path) -> Iterator[Check]:
    """The published formula by ``scipy.optimize.curve_fit`` from several starts, on a real cell."""
    frame = dict(_cells(shared))["B1T25"]
    made = battery.knee(frame, x="cycle", value="capacity_Ah", jumps="keep", bootstrap=0).iloc[0]
    cycle = frame["cycle"].to_numpy(float)
    x = (cycle - cycle[0]) / np.ptp(cycle)
    y = frame["capacity_Ah"].to_numpy(float) / frame["capacity_Ah"].iloc[0]

    def single(x: Floats, a0: float, a1: float, a2: float, x1: float) -> Floats:
        return np.asarray(a0 + a1 * (x - x1) + a2 * (x - x1) * np.tanh((x - x1) / 1e-3))

    def double(x: Floats, a0: float, a1: float, a2: float, a3: float, x1: float, x2: float) -> Floats:
        return np.asarray(single(x, a0, a1, a2, x1) + a3 * (x - x2) * np.tanh((x - x2) / 1e-3))

    ones = _best(single, x, y, [[1, -0.2, -0.1, start] for start in np.linspace(0.2, 0.8, 9)])
    starts = [(0.2, 0.5), (0.2, 0.7), (0.3, 0.6), (0.3, 0.8), (0.4, 0.6), (0.4, 0.8), (0.5, 0.7), (0.5, 0.9)]
    twos = _best(double, x, y, [[1, -0.2, -0.1, -0.1, *pair] for pair in starts])
    case, whose = "ageing_sunwoda B1T25", "scipy curve_fit of the formula"
    knee, onset, second = (
        float(cycle[0] + np.ptp(cycle) * place) for place in (ones[-1], min(twos[-2:]), max(twos[-2:]))
    )
    yield Check("knee", "knee of B1T25 [cycle]", case, whose, knee, made["Knee cycle"], 0.05)
    yield Check("knee", "onset of B1T25 [cycle]", case, whose, onset, made["Onset cycle"], 0.05)
    yield Check("knee", "second bend of B1T25 [cycle]", case, whose, second, made["Second bend"], 0.05)


def _best(model: Callable[..., Floats], x: Floats, y: Floats, starts: list[list[float]]) -> Floats:
    """The parameters with the least sum of squares."""
    from scipy.optimize import curve_fit

    found = []
    for start in starts:
        weights, _ = curve_fit(model, x, y, p0=start, maxfev=20_000)
        found.append((float(((y - model(x, *weights)) ** 2).sum()), weights))
    return np.asarray(min(found, key=lambda one: one[0])[1])


def end_of_life_exact(_: Path) -> Iterator[Check]:
    """A line of fade."""
    cycle = np.arange(1000.0)
    frame = pd.DataFrame({"Cycle count": cycle, "Discharge capacity [A.h]": 3 * (1 - 3e-4 * cycle)})
    made = battery.end_of_life(frame).iloc[0]
    case = "made: retention 1 - 3e-4 n"
    yield Check("end_of_life", "EOL of a line [cycle]", case, "closed form", 2000 / 3, made["EOL cycle"], 1e-6)


def end_of_life_sunwoda(shared: Path) -> Iterator[Check]:
    """The cycle at which the running median is below 0.8, beside the first value below."""
    for name, frame in _cells(shared):
        if name in ("B10T35", "B1T25", "B27T55"):
            raw = frame["capacity_Ah"] / frame["capacity_Ah"].iloc[0]
            its = float(frame["cycle"][raw < 0.8].iloc[0])
            made = battery.end_of_life(frame, x="cycle", value="capacity_Ah").iloc[0]
            whose = "first value below, on the same file"
            yield Check("end_of_life", f"EOL of {name} [cycle]", SUNWODA, whose, its, made["EOL cycle"], 1.0)


def extrapolation_sunwoda(shared: Path) -> Iterator[Check]:
    """How far a line through the last half is off, when a share of the life is seen."""
    known = {70: (9.7, 20.0), 85: (2.3, 6.4)}
    for share, (middle, worst) in known.items():
        off = []
        for _, frame in _cells(shared):
            life = battery.end_of_life(frame, x="cycle", value="capacity_Ah")["EOL cycle"].iloc[0]
            seen = frame[frame["cycle"] <= share / 100 * life]
            x = seen["cycle"].to_numpy(float)
            y = seen["capacity_Ah"].to_numpy(float) / frame["capacity_Ah"].iloc[0]
            half = len(x) // 2
            off.append(100 * abs(line(x[half:], y[half:], 0.8)[1] / life - 1))
        seen_so = f"{share} % of life seen [%]"
        ours = float(np.median(off)), float(np.percentile(off, 90))
        name = "eol_extrapolation"
        yield Check(name, f"median error of the line, {seen_so}", SUNWODA, GUIDE, middle, ours[0], 0.5)
        yield Check(name, f"90th percentile of the error, {seen_so}", SUNWODA, GUIDE, worst, ours[1], 0.5)


def extrapolation_exact(_: Path) -> Iterator[Check]:
    """A straight line, and a power law."""
    cycle = np.arange(1.0, 501.0)
    case = "made: retention 1 - 3.5e-4 n, 500 cycles"
    frame = pd.DataFrame({"Cycle count": cycle, "Discharge capacity [A.h]": 2 * (1 - 3.5e-4 * cycle)})
    made = battery.eol_extrapolation(frame, reference="rated", rated=2.0).iloc[0]
    yield Check(
        "eol_extrapolation", "EOL of a line [cycle]", case, "closed form", 0.2 / 3.5e-4, made["EOL cycle"], 1e-6
    )


def arrhenius_exact(_: Path) -> Iterator[Check]:
    """Points on the law."""
    warm = np.array([10.0, 25.0, 40.0, 55.0])
    rate = 3e-4 * np.exp(-30000 / 8.314462618 * (1 / (warm + 273.15) - 1 / 298.15))
    frame = pd.DataFrame({"Temperature [degC]": warm, "Rate": rate})
    made = battery.arrhenius(frame).iloc[0]
    case = "made: Ea 30 kJ/mol, 10 to 55 degC"
    yield Check("arrhenius", "Ea [kJ/mol]", case, "closed form", 30.0, made["Ea [kJ/mol]"], 1e-9)
    yield Check("arrhenius", "rate at 25 degC", case, "closed form", 3e-4, made["Value at reference"], 1e-12)
    fallen = battery.arrhenius(frame.assign(Rate=1 / rate), falls=True).iloc[0]
    yield Check("arrhenius", "Ea of a resistance [kJ/mol]", case, "closed form", 30.0, fallen["Ea [kJ/mol]"], 1e-9)


def arrhenius_sunwoda(shared: Path) -> Iterator[Check]:
    """Fade of cycles 50 to 280: two processes, so that no single energy is given."""
    fade = _fade(shared)
    fade = fade[fade["cycle"].between(50, 280)]
    rows = []
    for (_, warm), frame in fade.groupby(["cell", "temperature_degC"]):
        rows.append(
            {"Temperature [degC]": warm, "Rate": -np.polyfit(frame["cycle"], frame["capacity_Ah"] / 1.1, 1)[0]}
        )
    means = pd.DataFrame(rows).groupby("Temperature [degC]")[["Rate"]].mean().reset_index()
    for warm, rate in zip((25, 35, 45, 55), (1.47e-4, 1.58e-4, 2.23e-4, 3.42e-4), strict=True):
        ours = float(means.set_index("Temperature [degC]")["Rate"][warm])
        yield Check("arrhenius", f"fade at {warm} degC [1/cycle]", SUNWODA, GUIDE, rate, ours, 0.01e-4)
    made = battery.arrhenius(means).iloc[0]
    yield Check("arrhenius", "one Ea is given (0: it bends)", SUNWODA, GUIDE, 0.0, float(made["Valid"]), 0.0)


def outliers_exact(_: Path) -> Iterator[Check]:
    """The formula by hand, and the same with scipy."""
    from scipy.stats import levene, median_abs_deviation

    values = [0.93, 0.95, 0.94, 0.96, 0.92, 0.80]
    others = [0.90, 0.95, 0.99, 0.86, 0.91, 0.97]
    frame = pd.DataFrame(
        {
            "Cell": [f"c{n}" for n in range(12)],
            "Group": ["a"] * 6 + ["b"] * 6,
            "Retention": [*values, *others],
        }
    )
    made = battery.outliers(frame)
    case = "made: 6 cells, one at 0.80"
    z = 0.6745 * (0.80 - 0.935) / 0.015
    yield Check("outliers", "z of the sixth", case, "closed form", z, made["z"].iloc[5], 1e-9)
    spread = battery.batch_spread(frame).iloc[0]
    mad = float(median_abs_deviation(values))
    yield Check("batch_spread", "MAD", case, "scipy median_abs_deviation", mad, spread["MAD"], 1e-12)
    p = float(levene(values, others, center="median").pvalue)
    yield Check("batch_spread", "Levene p", case, "scipy levene", p, spread["Levene p"], 1e-12)


def outliers_sunwoda(shared: Path) -> Iterator[Check]:
    """Cycle 500 by temperature: groups of 4 and 5 cells, hints only."""
    fade = _fade(shared)
    made = battery.outliers(
        fade[fade["cycle"] == 500], value="capacity_Ah", cell="cell", group="temperature_degC"
    ).set_index("Cell")
    for name, z in (("B19T45", -7.8), ("B10T35", -4.9)):
        yield Check("outliers", f"z of {name}, cycle 500", SUNWODA, GUIDE, z, float(made["z"][name]), 0.5)
    verdicts = float((made["Outlier"] != "too few").sum())
    yield Check("outliers", "verdicts on groups of 4 and 5", SUNWODA, "rule: none below 6", 0.0, verdicts, 0.0)


def outliers_sample(_: Path) -> Iterator[Check]:
    """The plated cell of the sample data."""
    rows = []
    for batch, folder, ending in (("A", "neware", "csv.gz"), ("B", "maccor", "txt.gz")):
        for number in range(1, 5):
            cycles = read(SAMPLE / folder / f"M50-{batch}-0{number}_ageing.{ending}").cycles
            kept = battery.retention(cycles)
            left = float(kept["Retention"].dropna().iloc[-1])
            rows.append({"Cell": f"M50-{batch}-0{number}", "Retention": left})
    made = battery.outliers(pd.DataFrame(rows))
    found = made[made["Outlier"] == "yes"]["Cell"].tolist()
    truth = float(found == ["M50-A-04"])
    case = "sample_data, 8 M50 cells at the last cycle"
    yield Check("outliers", "the outlier is M50-A-04 alone (1: yes)", case, "simulated truth", 1.0, truth, 0.0)


CASES = (
    Case("knee, exact", knee_exact),
    Case("knee, ageing_sunwoda", knee_sunwoda, (FADE,)),
    Case("knee, formula", knee_formula, (FADE,)),
    Case("end_of_life, exact", end_of_life_exact),
    Case("end_of_life, ageing_sunwoda", end_of_life_sunwoda, (FADE,)),
    Case("eol_extrapolation, exact", extrapolation_exact),
    Case("eol_extrapolation, ageing_sunwoda", extrapolation_sunwoda, (FADE,)),
    Case("delta_q, Severson", delta_q_severson, (CURVES, LIVES)),
    Case("early_life, Severson", early_life_severson, (CURVES, LIVES)),
    Case("arrhenius, exact", arrhenius_exact),
    Case("arrhenius, ageing_sunwoda", arrhenius_sunwoda, (FADE,)),
    Case("outliers, exact", outliers_exact),
    Case("outliers, ageing_sunwoda", outliers_sunwoda, (FADE,)),
    Case("outliers, sample_data", outliers_sample, long=True),
)
