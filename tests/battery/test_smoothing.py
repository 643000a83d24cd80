"""The window by which dQ/dV is smoothed: it keeps the height of sharp peaks, or says that it does not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from workbench import battery

Floats = NDArray[np.float64]


def charged(scale: float, *, noise: float = 0.0, resolution: float = 0.0, n: int = 6000) -> tuple[Floats, Floats]:
    """A charge at constant current with one peak: Q = (V - 3) + 2 / (1 + exp(-(V - 3.6) / scale))."""
    volts = np.linspace(3.0, 4.2, 400_001)
    charge = (volts - 3) + 2 / (1 + np.exp(-(volts - 3.6) / scale))
    even = np.linspace(charge[0], charge[-1], n)
    found = np.interp(even, charge, volts) + noise * np.random.default_rng(7).standard_normal(n)
    return (np.round(found / resolution) * resolution if resolution else found), even


def height(scale: float) -> float:
    """That of the peak: its background and A/4w."""
    return 1 + 2 / (4 * scale)


def drawn(voltage: Floats, charge: Floats, window: battery.Smoothing) -> float:
    return float(battery.differential_capacity(voltage, charge, step=window.step, smooth=window.width)[1].max())


@pytest.mark.parametrize("scale", [0.001, 0.002, 0.003, 0.005, 0.01, 0.02])
@pytest.mark.parametrize("n", [300, 6000, 40_000])
def test_sharp_peaks_of_a_clean_measurement_keep_their_height(scale: float, n: int) -> None:
    """A window of 20 mV leaves 27, 49, 65, 82, 95 and 99 % of them."""
    voltage, charge = charged(scale, n=n)
    window = battery.smoothing_window([(voltage, charge)])
    assert drawn(voltage, charge, window) == pytest.approx(height(scale), rel=0.05)
    assert not window.said
    down = battery.smoothing_window([(voltage[::-1], charge)])
    assert down.width == pytest.approx(window.width), "a discharge is like a charge"


def test_broad_peaks_have_the_widest_window() -> None:
    found = battery.smoothing_window([charged(0.02)])
    assert found[:2] == (0.02, 0.002)
    assert found.said == ""
    assert battery.smoothing_window([])[:3] == (0.02, 0.002, 0.0)
    assert battery.smoothing_window([([3.0, 3.1], [0.0, 1.0]), ([np.nan] * 5, range(5))])[:2] == (0.02, 0.002)


@pytest.mark.filterwarnings("ignore::workbench.battery.NotMonotonic")
@pytest.mark.parametrize(
    ("noise", "resolution", "least"), [(0.0003, 0, 0.006), (0, 0.001, 0.005), (0.001, 0, 0.02)]
)
def test_noise_keeps_the_window_wide_and_what_it_lowers_is_said(
    noise: float, resolution: float, least: float
) -> None:
    voltage, charge = charged(0.002, noise=noise, resolution=resolution)
    window = battery.smoothing_window([(voltage, charge)])
    assert window.width >= least
    left = drawn(voltage, charge, window) / height(0.002)
    assert 1 - window.lowered == pytest.approx(left, abs=0.1)
    assert window.said == f"the window lowers the sharpest peak by about {window.lowered:.0%}".replace("%", " %")


def test_a_given_window_is_kept_and_what_it_does_is_said() -> None:
    window = battery.smoothing_window([charged(0.002)], 0.02)
    assert window[:2] == (0.02, 0.002)
    assert 0.4 < window.lowered < 0.6
    noisy = battery.smoothing_window([charged(0.02, noise=0.003)], 0.01)
    assert noisy.said.startswith("a noise of 3")


def test_one_window_serves_all_curves() -> None:
    sharp, broad = charged(0.002), charged(0.02)
    assert battery.smoothing_window([broad, sharp]).width == battery.smoothing_window([sharp]).width


def test_a_voltage_that_turns_back_makes_no_peak() -> None:
    """After a rest inside a charge its envelope stays, while the charge goes on."""
    voltage, charge = charged(0.02)
    turned = voltage.copy()
    turned[3000:3100] = np.linspace(voltage[2999] - 0.03, voltage[3100], 100)
    assert battery.smoothing_window([(turned, charge)]).width == 0.02
