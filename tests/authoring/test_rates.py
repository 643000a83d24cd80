"""The constant currents that the context names: those that the tests really have."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from workbench.authoring.rates import Rates, in_short, in_words
from workbench.authoring.topics import Wish

RATINGS = {
    "capacity": {"value": 1.0, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}


def text_of(bench: wb.Bench, wish: str) -> str:
    return bench.context_texts(wish).prompt


def test_the_rates_of_each_protocol_and_of_named_tests_are_named(demo_store: Path) -> None:
    with wb.open(demo_store) as bench:
        prompt = text_of(bench, "Rate test of PCH-02: capacity at 2C")
        tests = {"op": "list", "source": "measurements", "where": {"name": "PCH-02_rates"}}
        columns = ["Mean current [A]", "Discharge capacity [A.h]"]
        read = {"op": "summary", "dataset": "steps", "ids": {"from": "tests", "column": "id"}, "columns": columns}
        steps = bench.dataset({"steps": {"tests": tests, "steps": read}})["steps"]
    line = next(line for line in prompt.splitlines() if line.startswith('- "PCH-02_rates"'))
    assert line.endswith("; constant discharge 0.2, 0.5, 1, 2, 3 C, charge 0.33 C")
    assert ", rate test: 1795 samples, 50 steps, 10 cycles, temperature; constant" in line
    assert '"rate test" 0.2, 0.5, 1, 2, 3 / 0.33' in prompt
    assert '"GITT" 0.1 / 0.2' in prompt
    long = steps[(steps["Mean current [A]"] > 0) & (steps["Discharge capacity [A.h]"] > 0.02 * 0.05)]
    assert sorted({round(rate, 2) for rate in long["Mean current [A]"] / 0.05}) == [0.2, 0.5, 1.0, 2.0, 3.0]


def test_currents_are_in_amperes_where_no_capacity_is_rated(tmp_path: Path) -> None:
    """A charge at constant current and then voltage counts with its largest current, a pulse not at all."""
    current = [1.0] * 6 + [0.0] * 3 + [-2.0, -2.0, -2.0, -1.5, -1.0, -0.5] + [0.0] * 3 + [5.0] * 2
    step = [0] * 6 + [1] * 3 + [2] * 6 + [3] * 3 + [4] * 2
    time = [600.0 * n for n in range(18)] + [10_200.1, 10_200.2]
    voltage = [3.5] * len(current)
    samples = {"Time [s]": time, "Current [A]": current, "Voltage [V]": voltage, "Step count": step}

    def line(name: str) -> str:
        (found,) = [one for one in text_of(bench, name).splitlines() if one.startswith(f'- "{name}"')]
        return found

    with wb.open(tmp_path / "lab.wb") as bench:
        design = bench.specifications.create(name="Design", ratings=RATINGS)
        cell = bench.instances.create(name="Cell", specification=design)
        bench.measurements.create(
            name="Lab7", instance=cell, measurement_type="time_series", time_series=samples, sign="discharge"
        )
        assert line("Lab7").endswith(": 20 samples, 5 steps, 1 cycle; constant discharge 1 C, charge 2 C")
        (tmp_path / "Own8.csv").write_text(
            "Time [s],Current [A],Voltage [V]\n"
            + "".join(f"{t},{i},{v}\n" for t, i, v in zip(time, current, voltage, strict=True))
        )
        bench.ingest(tmp_path / "Own8.csv", sign="discharge")
        assert line("Own8").endswith("; constant discharge 1 A, charge 2 A; largest step 1.2 A.h")
        (tmp_path / "Rest9.csv").write_text(
            "Time [s],Current [A],Voltage [V]\n" + "".join(f"{60 * n},0.0,{3.7 - n / 1000}\n" for n in range(20))
        )
        bench.ingest(tmp_path / "Rest9.csv")
        assert line("Rest9").endswith("; no current flows, so that charges and energies are 0")
    assert in_words([Rates("A", [0.5], []), Rates("C", [], [1.0])]) == "charge 1 C, discharge 0.5 A"
    assert in_short([Rates("A", [0.5], []), Rates("C", [], [1.0])]) == "- / 1, 0.5 / - A"
    many = Rates("A", [float(n) for n in range(1, 20)], [])
    assert in_words([many]) == "discharge 1, 2, 3, 4, 5, 6, 7, 19 … A"
    assert in_words([Rates("A", [500.0, 1234.0], [])]) == "discharge 500, 1200 A"


@pytest.mark.parametrize("wish", ["Capacity at 2C", "标出1C时的容量", "Décharge à C/20", "bei 0,5 C bitte"])
def test_a_rate_in_a_wish_is_about_rates(wish: str) -> None:
    assert "c-rate" in Wish(wish).words
    assert "rate_capability" in Wish(wish).ranked(["rate_capability", "dcir"])


@pytest.mark.parametrize("wish", ["LFP-C-01 and batch C", "at 45 °C", "Tests 25CC", "Cell 3-C/2x"])
def test_a_letter_c_is_no_rate(wish: str) -> None:
    assert "c-rate" not in Wish(wish).words
