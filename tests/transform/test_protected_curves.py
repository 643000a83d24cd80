"""Analyses of samples run in protected scripts, and give there what they give in this process."""

from __future__ import annotations

import sys

import orjson
import pytest
from support.hostile_scripts import dataset

from workbench.transform import inprocess, protected

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lock is Linux's")

SCRIPT = """
from workbench import battery


def series(t, i, u):
    return pd.DataFrame({"Time [s]": t, "Current [A]": i, "Voltage [V]": u})


def transform(data, params):
    s = np.linspace(0, 1, 2000)
    u = 3.4 + 0.7 * s - 0.04 * np.tanh((s - 0.3) / 0.06) + 0.04 * np.tanh((s - 0.6) / 0.05)
    charge = series(s * 72000, np.full(2000, -0.1), u)
    t = np.concatenate([np.arange(0, 3605, 10.0), 3600 + np.arange(0.1, 10, 0.1), np.arange(3611, 9000, 10.0)])
    i = np.where((t > 3600) & (t < 3610), 1.0, 0.0)
    pulse = series(t, i, 3.7 - 0.05 * i - np.where(t > 3610, 0.01 * np.exp(-(t - 3610) / 300), 0))
    x = np.linspace(0.0, 1, 100)
    half = [pd.DataFrame({"Stoichiometry": x, "Voltage [V]": v}) for v in (0.8 - 0.7 * x, 4.6 - 1.2 * x)]
    f = np.geomspace(1e4, 1e-2, 49)
    z = 0.01 + 0.02 / (1 + 0.02 * 2j * np.pi * f)
    spectrum = pd.DataFrame({"Frequency [Hz]": f, "Z_Re [Ohm]": z.real, "Z_Im [Ohm]": z.imag})
    tables = [
        battery.ic_peaks(charge), battery.pseudo_ocv(charge), battery.dva_features(charge), battery.dcir(pulse),
        battery.relaxation(pulse), battery.ocv_from_rests(pulse), battery.kk(spectrum),
        battery.degradation_modes(charge, anode=half[0], cathode=half[1], direction="charge", starts=2),
        battery.circuit(spectrum, circuit="R0-p(R1,C1)", starts=3),
    ]
    found = [[table.shape[0], int(table["Valid"].sum()), str(table["Warning"].iloc[0])] for table in tables]
    return {"data": [], "layout": {"meta": found}}
"""


def test_analyses_of_samples_run_in_protected_scripts(pool: protected.Pool) -> None:
    data = dataset()
    here, there = (orjson.loads(draw(SCRIPT, data, {}).figure) for draw in (inprocess.draw, pool.draw))
    assert here["layout"]["meta"] == there["layout"]["meta"]
    assert all(rows >= 1 for rows, _, _ in here["layout"]["meta"])
    assert [bool(valid) for _, valid, _ in here["layout"]["meta"]][:1] == [True]
