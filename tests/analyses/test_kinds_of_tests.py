"""Kinds of tests from their steps alone: the demo, made tests, and real files with what people say they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from workbench.analyses.test_kinds import _Steps, kinds_from_steps, kinds_from_words, kinds_of
from workbench.cycling.steps import StepsBuilder
from workbench.records import Measurement
from workbench.table import Column, Table

RATED = {"SIM M50 21700": 5.0, "SIM LFP 26650": 2.5, "SIM NMC532 pouch": 0.05}


def steps_of(*parts: tuple[float, float], interval: float = 10.0) -> Table:
    """The steps of a test of 1 A.h: its parts in order, each of so many seconds at a current in A."""
    current = np.concatenate([np.full(max(int(seconds / interval), 2), amps) for seconds, amps in parts])
    count = np.repeat(np.arange(len(parts)), [max(int(seconds / interval), 2) for seconds, _ in parts])
    time = np.arange(len(current)) * interval
    charge = np.cumsum(current) * interval / 3600
    volts = 4.2 - 1.2 * (charge - charge.min()) / max(np.ptp(charge), 1e-9) - 0.02 * current
    rising = np.r_[False, (current[1:] < 0) & (current[:-1] >= 0)]
    builder = StepsBuilder(owning=True)
    builder.feed(
        Table.of(
            {
                "Step count": count,
                "Cycle count": np.cumsum(rising),
                "Time [s]": time,
                "Current [A]": current,
                "Voltage [V]": volts,
            }
        )
    )
    return builder.finish()


def names(*parts: tuple[float, float], interval: float = 10.0, rated: float | None = 1.0) -> set[str]:
    return {kind.name for kind in kinds_from_steps(steps_of(*parts, interval=interval), rated)}


CYCLE = [(3600.0, 1.0), (600.0, 0.0), (7200.0, -0.5), (600.0, 0.0)]
SLOW = [(36000.0, 0.1), (3600.0, 0.0), (36000.0, -0.1), (3600.0, 0.0)]
PULSE = [(3600.0, 0.0), (10.0, 1.0), (40.0, 0.0), (360.0, 1.0)]
MADE = {
    "ageing": CYCLE * 12,
    "hppc": PULSE * 9,
    "gitt": [(7200.0, 0.0), (360.0, 0.1)] * 20,
    "ici": [(20.0, 0.0), (300.0, 0.1)] * 30,
    "rate": [
        part
        for rate in (0.2, 0.5, 1.0, 2.0)
        for part in ((3600 / rate, rate), (600.0, 0.0), (7200.0, -0.5), (600.0, 0.0))
    ],
    "rpt": [*SLOW, (3600.0, 0.0), (1800.0, 1.0), (3600.0, 0.0), (10.0, 2.0), (600.0, 0.0)],
    "pocv": [(72000.0, -0.05), (3600.0, 0.0), (72000.0, 0.05)],
    "storage": [(3600.0, -0.2), (5 * 86400.0, 0.0), (600.0, 0.2)],
}


@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("rated", [1.0, None])
def test_a_made_test_is_of_its_kind_and_of_no_other(kind: str, rated: float | None) -> None:
    interval = 1.0 if kind == "hppc" else 10.0
    found = names(*MADE[kind], interval=interval, rated=rated)
    assert kind in found
    assert found <= {kind, "pulses"} | ({"rpt"} if kind == "formation" else set())


@pytest.mark.parametrize("cycles", [1, 2, 5, 9])
def test_slow_cycles_are_slow_curves_however_many_there_are(cycles: int) -> None:
    """From the fourth half cycle on they were of no kind, and the gallery said that no test has a slow charge."""
    (found,) = kinds_from_steps(steps_of(*SLOW * cycles), 1.0)
    assert found.name == "pocv"
    assert found.certainty == pytest.approx(0.85 if cycles == 1 else 0.65)
    assert names(*SLOW * 12) == {"ageing"}


@pytest.mark.parametrize(
    "parts", [[(3600.0, 1.0)], CYCLE * 2, [(3600.0, 0.0)], [(1800.0, 0.5), (1800.0, -0.5)]], ids=str
)
def test_short_and_partial_tests_are_of_no_kind(parts: list[tuple[float, float]]) -> None:
    assert not names(*parts)


def test_steps_without_the_columns_of_the_rules_are_of_no_kind() -> None:
    assert kinds_from_steps(Table.of({"Step count": [0, 1]})) == []
    assert kinds_of(None) == []


def test_a_charge_that_begins_with_a_sample_of_a_discharge_is_no_dynamic_load() -> None:
    """Where the cycler's step counter changes a sample late, as in the data of NASA."""
    late = [(3600.0, 1.0), (600.0, 0.0), (7200.0, -0.5), (600.0, 0.0)] * 12
    steps = steps_of(*late)
    current = {**steps.columns}
    for name, value in (("Max current [A]", 0.9), ("Std current [A]", 0.3), ("Discharge capacity [A.h]", 0.001)):
        is_charge = steps["Mean current [A]"].floats() < 0
        current[name] = Column.of(np.where(is_charge, value, steps[name].floats()))
    assert [kind.name for kind in kinds_from_steps(Table(current, steps.n), 1.0)] == ["ageing"]


def test_an_offset_at_rest_is_neither_a_pulse_nor_a_load() -> None:
    parts = [(3600.0, 1.0), (600.0, 0.0), (20.0, 0.002), (600.0, 0.0), (7200.0, -0.5), (600.0, 0.0)] * 12
    assert names(*parts) == {"ageing"}
    offset = [(400.0, 1.0), (30.0, 0.0), (60.0, -0.002), (30.0, 0.0)] * 9 + [(7200.0, -0.5)]
    steps = steps_of(*offset * 12)
    seen = {int(one) for one in _Steps.of(steps, 1.0).direction[2 : 9 * 4 : 4]}
    assert seen == {0}


def test_two_discharges_whose_charge_between_is_missing_do_not_hide_an_ageing_test() -> None:
    parts = [*CYCLE * 6, *CYCLE[:2], *CYCLE * 6]
    assert names(*parts, rated=None) == {"ageing"}


def test_a_voltage_that_moves_without_a_current_is_no_storage() -> None:
    assert "storage" in names((2 * 86400.0, 0.0), interval=600.0)
    assert "storage" in names((3600.0, -1.0), (5 * 86400.0, 0.0), (3600.0, 1.0), (3600.0, 0.0), interval=600.0)
    steps = steps_of(*[(86400.0, 0.0)] * 4, interval=600.0)
    moved = {**steps.columns, "Mean voltage [V]": Column.of(np.array([4.1, 3.0, 4.1, 3.0]))}
    assert kinds_from_steps(Table(moved, steps.n)) == []


def test_an_ageing_test_that_paused_is_no_storage() -> None:
    halves = [(1200.0, 1.0), (600.0, 0.0), (2400.0, -0.5), (600.0, 0.0)]
    assert "storage" not in names(*halves * 20, (10 * 86400.0, 0.0), *halves * 20, interval=60.0)


def test_a_tag_or_a_protocol_replaces_the_guess() -> None:
    steps = steps_of(*CYCLE * 12)
    assert [kind.name for kind in kinds_of(steps, rated=1.0, tags=["HPPC", "fresh"])] == ["hppc"]
    (found,) = kinds_of(steps, rated=1.0, protocol="C/20 cycle")
    assert (found.name, found.certainty, found.evidence) == ("pocv", 1.0, "protocol 'C/20 cycle'")
    assert [kind.name for kind in kinds_of(steps, rated=1.0, tags=["25 degC"])] == ["ageing"]
    assert kinds_from_words(["dynamicity", "operating"], "storms") == []


def test_the_evidence_says_what_was_seen_and_how_certain() -> None:
    (found,) = [one for one in kinds_from_steps(steps_of(*PULSE * 9, interval=1.0), 1.0) if one.name == "hppc"]
    assert found.evidence == "9 pulses of 9 s after a rest of 5 min or more, at 9 states of charge"
    assert 0.8 <= found.certainty <= 0.9


def test_the_tests_of_the_demo_are_recognised(demo_store: Path) -> None:
    """77 tests, each by its steps alone against its tag: none is missed, and none has a special kind that it is not."""
    confused: Counter[tuple[str, str]] = Counter()
    with wb.open(demo_store) as bench:
        backend = bench.backend
        for test in backend.store.rows.page(Measurement, backend.scope, limit=None).items:
            (truth,) = {kind.name for kind in kinds_from_words(test.tags, test.protocol.get("name"))}
            found = kinds_from_steps(backend.samples(test, "steps"), RATED[test.specification_name])
            confused.update((truth, one.name) for one in found if one.name != "pulses")
            confused[truth, "missed"] += truth not in {one.name for one in found}
    wrong = {pair: count for pair, count in confused.items() if pair[0] != pair[1] and count}
    assert wrong == {}
    assert [confused[kind, kind] for kind in ("rpt", "ageing", "hppc")] == [48, 13, 5]


@pytest.mark.parametrize(("points", "kinds"), [(4, ["ageing"]), (40, ["ageing", "eis"])])
def test_a_spectrum_between_the_cycles_of_a_test_makes_it_one_of_impedance_too(
    points: int, kinds: list[str]
) -> None:
    """It is one step of many, and has five points or more."""
    steps = steps_of(*CYCLE * 12, (10.0 * points, 0.0))
    last = np.arange(steps.n) == steps.n - 1
    columns = {**steps.columns, "Mean frequency [Hz]": Column.of(np.where(last, 10.0, np.nan))}
    assert [kind.name for kind in kinds_from_steps(Table(columns, steps.n), 1.0)] == kinds


REAL = {
    "maccor_csv/testdata18.csv.gz": {"ageing"},
    "arbin_res/20160805_test001_45_cc_01.res": {"ageing"},
    "bdf_csv/SINTEF__G20M7-202512-Gru6mV__20251228__C30__25degC__Neware.bdf.csv": {"pocv"},
    "custom_csv/T-cell_pOCV_data.txt": {"pocv"},
    "batterydata_csv/p492-13-raw.csv": {"hppc", "eis"},
    "arbin_xlsx/EIS_0.05A_Charge_part1.xlsx": {"eis"},
    "neware_csv/neware_uio.csv": {"formation"},
    "neware_ndax/BTS85-36-6-5-110-20240424.ndax": {"rate"},
    "nasa_mat/B0029.mat": {"ageing"},
    "custom_csv/custom_data_001.csv": set(),
    "arbin_csv/sample_data_arbin.csv": set(),
    "pec_csv/pec.csv": set(),
}
"""Real files, and the kinds that people say they are."""


@pytest.mark.long
def test_real_files_are_of_the_kinds_that_people_say(shared_data: Path, tmp_path: Path) -> None:
    with wb.open(tmp_path / "real.db") as bench:
        for name, truth in REAL.items():
            (file,) = bench.ingest([shared_data / name])
            kinds = bench.kinds()
            of_file = kinds[kinds["measurement_id"] == file.measurement_id]
            assert set(of_file["kind"]) - {"pulses"} == truth, name
            assert (of_file["certainty"] <= 0.9).all()
