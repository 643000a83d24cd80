"""Tests of potentiostats in a store: rests, voltammetry and amperometry are kept, with a warning at most."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.ingest.report.report import FileReport

N = 400
T = np.arange(N) * 0.5
LIMIT = "EC-Lab ASCII FILE\nNb header lines : 3\n"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


def ingested(bench: wb.Bench, path: Path, text: str) -> FileReport:
    path.write_text(text)
    (file,) = bench.ingest(path, specification="S", instance="C").files
    return file


def mpt(volts: np.ndarray, flow: np.ndarray) -> str:
    """A file of EC-Lab; ``flow`` in mA, positive on charge."""
    return f"{LIMIT}mode\ttime/s\tEwe/V\t<I>/mA\t\n" + "".join(
        f"2\t{t:.4E}\t{v:.6E}\t{i:.6E}\n" for t, v, i in zip(T, volts, flow, strict=True)
    )


SWEEP = 1.0 + np.abs((T / 50) % 2 - 1)
"""V, a triangle between 1 and 2 V."""


@pytest.mark.parametrize(
    ("volts", "flow"),
    [
        (SWEEP, np.where((T // 50) % 2 == 0, 1.0, 0.4)),
        (SWEEP, np.where(T < 100, 2.0, 1.9)),
        (1.5 - 0.4 * T / T[-1], 5 / np.sqrt(T + 1)),
        (1.5 - 0.4 * T / T[-1], np.full(N, 3.0)),
    ],
    ids=["voltammetry", "plateaus", "amperometry", "a limiting current"],
)
def test_a_sign_that_the_format_fixes_is_never_reversed(
    bench: wb.Bench, tmp_path: Path, volts: np.ndarray, flow: np.ndarray
) -> None:
    file = ingested(bench, tmp_path / "sweep.mpt", mpt(volts, flow))
    assert file.status == "stored"
    assert not any(
        "--sign" in note or 'sign="charge"' in note or 'sign="discharge"' in note for note in _said(file)
    )
    series = bench.measurements.time_series(bench.measurements.get("sweep").id)
    assert series["Current [A]"].to_numpy() == pytest.approx(-flow / 1e3)


def _said(file: FileReport) -> list[str]:
    return [*file.assumed, *file.odd]


def test_a_voltage_against_a_fixed_sign_is_a_warning(bench: wb.Bench, tmp_path: Path) -> None:
    file = ingested(bench, tmp_path / "limit.mpt", mpt(2.0 - 0.5 * T / T[-1], np.full(N, 3.0)))
    (said,) = [text for text in _said(file) if "does not follow" in text]
    assert "a positive current was read as charge because the headers are those of BioLogic files" in said


def test_a_rest_is_stored_as_one(bench: wb.Bench, tmp_path: Path) -> None:
    text = f"{LIMIT}mode\ttime/s\tEwe/V\n" + "".join(f"3\t{t}\t{3.6 - 1e-5 * n}\n" for n, t in enumerate(T))
    file = ingested(bench, tmp_path / "ocv.mpt", text)
    assert file.status == "stored"
    assert any("taken as 0" in text for text in _said(file))
    assert not any("voltage moves" in text for text in file.odd)
    made = bench.measurements.get("ocv")
    assert not bench.measurements.time_series(made.id)["Current [A]"].to_numpy().any()
    assert bench.measurements.steps(made.id)["Step type"].tolist() == ["Rest"]


@pytest.mark.parametrize("flow", ["", "\t0.00"], ids=["without a current", "with a current that was rounded away"])
def test_a_voltage_that_moves_as_under_load_without_one_is_a_warning(
    bench: wb.Bench, tmp_path: Path, flow: str
) -> None:
    header = "time/s\tEwe/V" + ("\t<I>/mA" if flow else "")
    rows = "".join(f"{n}\t{4.2 - n / 50}{flow}\n" for n in range(60))
    file = ingested(bench, tmp_path / "moves.mpt", f"{header}\n{rows}")
    (said,) = [text for text in file.odd if "voltage moves" in text]
    assert "The current is 0 in all samples, but the voltage moves from 3.02 V to 4.2 V" in said
    (kind,) = bench.measurements.steps(bench.measurements.get("moves").id)["Step type"].unique()
    assert kind == "Rest"
    assert bench.kinds().empty


def test_spectra_of_several_states_of_charge_are_no_warning(bench: wb.Bench, tmp_path: Path) -> None:
    rows = [
        f"{600 * place + n},{volts},0.0,{10.0 ** (3 - n)},{0.01 + n / 100},{-0.01}\n"
        for place, volts in enumerate((3.2, 3.7, 4.1))
        for n in range(5)
    ]
    header = "time/s,Ewe/V,I/mA,freq/Hz,Re(Z)/Ohm,Im(Z)/Ohm\n"
    file = ingested(bench, tmp_path / "spectra.csv", header + "".join(rows))
    assert file.status == "stored"
    assert not any("voltage moves" in text for text in file.odd)
