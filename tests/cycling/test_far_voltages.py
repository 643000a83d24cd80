"""Voltages that cannot be of the cell are warned of; what cells and packs do in tests is not."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.cycling.far_voltages import FarVoltages
from workbench.cycling.run_statistics import Floats


def said(voltage: Floats, rated: float | None = None, *, batch: int = 1 << 16) -> list[str]:
    """What is warned of in samples that come 10 s apart, in batches."""
    far = FarVoltages()
    for row in range(0, len(voltage), batch):
        part = voltage[row : row + batch]
        far.feed(row, part, 10 * np.arange(row, row + len(part), dtype=float))
    return [finding.message for finding in far.findings("U/V", rated)]


def cell(n: int = 1000) -> Floats:
    return 3.6 + 0.6 * np.sin(np.arange(n) / 50)


@pytest.mark.parametrize("value", [99.999, -999.0, 1e30, 1e300])
@pytest.mark.parametrize("rated", [None, 4.2])
@pytest.mark.parametrize("batch", [7, 1 << 16])
def test_one_absurd_voltage_is_named_with_its_place(value: float, rated: float | None, batch: int) -> None:
    voltage = cell()
    voltage[250] = value
    (message,) = said(voltage, rated, batch=batch)
    assert message.startswith(f"'U/V' is {value:.6g} V in 1 sample, sample 250 (2500 s), where ")
    assert ("rated up to 4.2 V" if rated else "all others are below 4.25 V") in message
    assert "leave them empty in the file" in message


def test_several_are_counted_and_the_farthest_is_named() -> None:
    voltage = cell()
    voltage[[100, 500]] = 99.999
    assert said(voltage)[0].startswith("'U/V' is 99.999 V in 2 samples, first at sample 100 (1000 s), where")
    voltage[700] = 1e30
    assert "far off in 3 samples: 99.999 V first, at sample 100 (1000 s), and up to 1e+30 V" in said(voltage)[0]
    voltage = cell()
    voltage[400:450] = 99.999  # the cable was open for a while
    assert "in 50 samples, first at sample 400" in said(voltage)[0]


def test_far_above_the_rating_is_warned_of_also_near_others() -> None:
    voltage = cell()
    voltage[250:260] = np.linspace(4.2, 7.5, 10)
    assert said(voltage) == []
    assert "the cell is rated up to 4.2 V" in said(voltage, 4.2)[0]
    assert "the specification of that" in said(12 * cell(), 4.2)[0]


def test_pack_with_a_value_that_no_pack_has() -> None:
    pack = 100 * cell()
    pack[250] = 9999.0
    assert "9999 V in 1 sample" in said(pack)[0]


RNG = np.random.default_rng(1)
NORMAL = {
    "half cell as built": np.concatenate([[3.2], np.linspace(1.5, 0.01, 5000)]),
    "symmetric cell": 0.05 * np.sin(np.arange(3000)),
    "short circuit": np.concatenate([cell(20), np.zeros(5000)]),
    "reversed": -cell(),
    "driven into reversal": np.concatenate([cell(), np.linspace(3, -2, 50), np.full(10, -2.0)]),
    "ramp": np.linspace(0, 5.5, 1000),
    "pack": 100 * cell() + RNG.normal(0, 1, 1000),
    "pack that is switched on": np.concatenate([np.zeros(3000), np.linspace(380, 410, 2000)]),
    "pack that is switched off": np.concatenate([400 + RNG.normal(0, 2, 3000), np.zeros(20)]),
    "module of two cells": 2 * cell(),
    "new cell that is charged": np.concatenate([np.full(10_000, 0.02), np.linspace(0.02, 4.2, 30)]),
    "overcharge": np.concatenate([cell(), np.linspace(4.2, 5.5, 20)]),
    "nothing known": np.full(100, np.nan),
    "at zero": np.zeros(100),
    "infinite": np.concatenate([cell(), [np.inf]]),
    "one": np.array([3.7]),
    "none": np.empty(0),
}


@pytest.mark.parametrize("name", NORMAL)
def test_what_tests_do_is_not_warned_of(name: str) -> None:
    assert said(NORMAL[name]) == []


@pytest.mark.parametrize(
    ("name", "rated"),
    [
        ("half cell as built", 1.5),
        ("short circuit", 4.2),
        ("reversed", 4.2),
        ("driven into reversal", 4.2),
        ("overcharge", 4.2),
        ("pack", 420.0),
        ("pack that is switched on", 420.0),
    ],
)
def test_what_tests_do_is_not_warned_of_with_a_rating(name: str, rated: float) -> None:
    assert said(NORMAL[name], rated) == []
