"""Every variant of an export, taken in as a folder, is the test that was simulated: samples, steps, cycles, charges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.cycler_variants import CYCLES, PLAN, VARIANTS, Variant, truth

import workbench as wb
from workbench.ingest import FileReport


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[wb.Bench, dict[str, FileReport]]]:
    folder = tmp_path_factory.mktemp("variants")
    for variant in VARIANTS:
        (folder / f"{variant.name}.txt").write_bytes(variant.text().encode(variant.encoding))
    with wb.open(folder / "lab.db") as bench:
        report = bench.ingest(str(folder / "*.txt"), specification="cell", rating="0.5Ah,3V,4.5V")
        yield bench, {Path(file.path).stem: file for file in report}


def integrated(true: dict[str, np.ndarray], current: np.ndarray) -> np.ndarray:
    """What each step owns of the trapezoid, A.h: half of the interval on either side of each of its samples."""
    halves = np.diff(true["t"]) / 2
    own = np.concatenate([[0.0], halves]) + np.concatenate([halves, [0.0]])
    return np.bincount(true["count"] - 1, current * own / 3600)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_variant_is_the_test_that_was_simulated(
    variant: Variant, taken: tuple[wb.Bench, dict[str, FileReport]]
) -> None:
    bench, reports = taken
    file, true = reports[variant.name], truth()
    assert (file.status, file.why) == ("stored", "")
    assert file.format == variant.format
    series = bench.measurements.time_series(file.measurement_id)
    assert len(series) == len(true["t"])
    assert series["Time [s]"].to_numpy() == pytest.approx(true["joined" if variant.joined else "t"], abs=2e-3)
    assert series["Current [A]"].to_numpy() == pytest.approx(true["i"], abs=1e-5)
    assert series["Voltage [V]"].to_numpy() == pytest.approx(true["u"], abs=2e-4)
    if variant.warm:
        assert series["Temperature [degC]"].to_numpy() == pytest.approx(true["temp"], abs=1e-3)
    steps = bench.measurements.steps(file.measurement_id)
    assert len(steps) == CYCLES * len(PLAN)
    for name, counted, current in (
        ("Discharge capacity [A.h]", true["out"], true["i"]),
        ("Charge capacity [A.h]", true["in"], -true["i"]),
    ):
        found, owned = steps[name].to_numpy(), integrated(true, np.maximum(current, 0.0))
        near = 1e-5 if variant.counted else 0.03 * counted.max()
        assert np.allclose(found, owned, atol=near) or (variant.counted and np.allclose(found, counted, atol=near))
    if variant.cycles:
        assert file.cycles == CYCLES
        assert np.array_equal(steps["Cycle count"].to_numpy(), np.repeat(np.arange(CYCLES), len(PLAN)))
    # The counters that were simulated stand still between two steps, and the current does not. Some variants have 0 for
    # all energies.
    odd = [said for said in file.odd if "the integral of the" not in said]
    assert [said for said in odd if "energy [W.h]' stands still" not in said] == []
