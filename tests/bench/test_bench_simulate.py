"""Simulations run in a process of their own: what it gives is kept, what it cannot do is a sentence, it ends in time.

A child of a few lines takes the place of PyBaMM where the process is tested, not the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workbench as wb
from workbench.bench import Bench
from workbench.bench.simulating import compared
from workbench.errors import BadRequest
from workbench.simulation import is_installed, process

BPX = Path(__file__).parents[3] / "shared" / "data" / "bpx_json"
RATINGS = {
    "capacity": {"value": 5, "unit": "A.h"},
    "voltage_min": {"value": 2.5, "unit": "V"},
    "voltage_max": {"value": 4.2, "unit": "V"},
}
WORDS = ["Discharge at C/2 until 2.5 V", "Rest for 10 minutes"]
with_pybamm = pytest.mark.skipif(not is_installed(), reason="PyBaMM is not installed: pip install pybamm")
HEAD = """
import json, sys, pathlib
import numpy as np
folder = pathlib.Path(sys.argv[1])
job = json.loads((folder / "job.json").read_text())
def answer(**values):
    (folder / "answer.json").write_text(json.dumps(values))
"""
ROWS = """
time = np.load(folder / "measured.npz")["time"] if (folder / "measured.npz").exists() else np.arange(4.0)
rows = np.vstack([time, np.ones(len(time)), 3.5 + 0 * time, 25 + 0 * time])
np.save(folder / "rows.npy", rows)
np.save(folder / "steps.npy", np.arange(len(time)) // 2)
columns = ["Time [s]", "Current [A]", "Voltage [V]", "Temperature [degC]"]
answer(notes=["seen"], version="0", columns=columns)
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program that simulates; a test writes into it."""
    path = tmp_path / "child.py"
    path.write_text(HEAD + ROWS)
    monkeypatch.setattr(process, "_CHILD", path)
    monkeypatch.setattr(process, "is_installed", lambda: True)
    monkeypatch.setattr("workbench.simulation.is_installed", lambda: True)
    return path


def test_what_was_simulated_becomes_a_record(bench: Bench, child: Path) -> None:
    made = bench.simulate("Chen2020", WORDS, model="DFN", temperature=25)
    assert made.name == "Chen2020 DFN, Discharge at C/2 until 2.5 V ..."
    frame = bench.simulations.time_series(made)
    assert frame["Step count"].tolist() == [0, 0, 1, 1]
    assert frame["Voltage [V]"].tolist() == [3.5] * 4
    assert made.source["protocol"] == WORDS
    assert made.source["notes"] == ["seen"]
    assert (made.source["soc"], made.source["temperature"]) == (1, 25), "a discharge starts full"
    model = bench.models.get(made.model_id)
    assert (model.name, model.config["parameters"]) == ("Chen2020 DFN (PyBaMM 0)", "Chen2020")
    again = bench.simulate("Chen2020", WORDS, model="DFN")
    assert again.name.endswith("... (2)")
    assert again.model_id == made.model_id
    assert bench.simulate("Chen2020", "Charge at 1C until 4.2 V").source["soc"] == 0


def test_a_measurement_is_repeated_and_compared(bench: Bench, child: Path) -> None:
    samples = pd.DataFrame(
        {
            "Time [s]": [0.0, 1, 2, 2, 3, 4],
            "Current [A]": [0.0, 0, 0, 2, 2, 2],
            "Voltage [V]": [3.6, 3.6, 3.6, 3.5, 3.4, 3.3],
        }
    )
    cell = bench.instances.create(
        name="c1", specification=bench.specifications.create(name="S", form_factor="pouch", ratings=RATINGS)
    )
    test = bench.measurements.create(instance_id=cell.id, name="drive", time_series=samples, sign="discharge")
    made = bench.simulate("Chen2020", "drive")
    assert made.source["of_measurement"] == test.id
    assert made.source["start_voltage"] == 3.6
    frame = bench.simulations.time_series(made)
    assert frame["Time [s]"].tolist() == [0, 1, 2, 3, 4], "of two samples at one time the last counts"
    assert frame["Measured voltage [V]"].tolist() == [3.6, 3.6, 3.5, 3.4, 3.3]
    assert frame["Voltage error [mV]"].tolist() == pytest.approx([-100, -100, 0, 100, 200])
    assert made.metrics["largest_error"] == {"value": pytest.approx(200), "unit": "mV"}
    steps = bench.simulations.steps(made)
    assert steps["Largest error [mV]"].max() == pytest.approx(200)
    bench.measurements.update(test, name="Discharge C/2")
    assert bench.simulate("Chen2020", "Discharge C/2").source["of_measurement"] == test.id
    with pytest.raises(BadRequest, match="has 0 samples to simulate"):
        bench.simulate("Chen2020", test, cycles=[7])


def test_a_test_that_begins_under_load_says_that_its_charge_is_not_known(bench: Bench, child: Path) -> None:
    """A test that PyBaMM itself had made, repeated by the same model, was 92 mV off, without a word."""
    samples = pd.DataFrame({"Time [s]": np.arange(4.0), "Current [A]": 2.0, "Voltage [V]": 3.6})
    kind = bench.specifications.create(name="S", form_factor="pouch", ratings=RATINGS)
    bench.instances.create(name="c1", specification=kind)
    bench.measurements.create(instance="c1", name="loaded", time_series=samples, sign="discharge")
    rested = samples.assign(**{"Current [A]": [0.001, 2.0, 2.0, 2.0]})
    bench.measurements.create(instance="c1", name="rested", time_series=rested, sign="discharge")
    said = bench.simulate("Chen2020", "loaded").source["notes"]
    assert any("begins under load (2 A), and its first voltage, 3.6 V, was taken" in one for one in said)
    for made in (bench.simulate("Chen2020", "loaded", soc=0.5), bench.simulate("Chen2020", "rested")):
        assert not any("under load" in one for one in made.source["notes"])


def test_cycles_that_do_not_adjoin_are_not_one_simulation(bench: Bench, child: Path) -> None:
    """The current between them would be a ramp that nobody measured."""
    samples = pd.DataFrame({"Time [s]": np.arange(8.0), "Current [A]": 1.0, "Voltage [V]": 3.6})
    samples["Cycle count"] = [0, 0, 1, 1, 2, 2, 3, 3]
    kind = bench.specifications.create(name="S", form_factor="pouch", ratings=RATINGS)
    bench.instances.create(name="c1", specification=kind)
    bench.measurements.create(instance="c1", name="drive", time_series=samples, sign="discharge")
    with pytest.raises(BadRequest, match=r"between cycle 0 and cycle 2.*: cycles=\[0\], then cycles=\[2, 3\]"):
        bench.simulate("Chen2020", "drive", cycles=[0, 2, 3])
    for chosen in ([2, 1], range(1, 3), np.array([1, 2]), pd.Series([1.0, 2.0, None]).dropna()):
        assert len(bench.simulations.time_series(bench.simulate("Chen2020", "drive", cycles=chosen))) == 4
    made = bench.simulate("Chen2020", "drive", soc=np.float32(0.5), temperature=np.int64(10), thermal=np.True_)
    assert (made.source["soc"], made.source["temperature"], made.source["thermal"]) == (0.5, 10, True)


def test_excluded_cycles_and_gaps_count_in_no_error(bench: Bench, child: Path) -> None:
    """The excluded cycle is 1.5 V off; over the gap of an hour nobody measured anything."""
    time = np.array([0.0, 1, 2, 3, 4, 5, 3605, 3606, 3607])
    samples = pd.DataFrame({"Time [s]": time, "Current [A]": 1.0, "Voltage [V]": 3.4})
    samples["Cycle count"] = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    samples.loc[samples["Cycle count"] == 1, "Voltage [V]"] = 2.0
    samples.loc[samples["Cycle count"] == 2, "Voltage [V]"] = 3.3
    kind = bench.specifications.create(name="S", form_factor="pouch", ratings=RATINGS)
    bench.instances.create(name="c1", specification=kind)
    bench.measurements.create(instance="c1", name="drive", time_series=samples, sign="discharge")
    whole = bench.simulate("Chen2020", "drive")
    assert whole.metrics["largest_error"]["value"] == pytest.approx(1500)
    assert whole.source["notes"][1].startswith(
        "The test has no sample over 1 gap of 1 h in all, the first from 5 s (1 A) to 3605 s (1 A). The current there"
    )
    bench.exclude("drive", cycles=[1], reason="loose cable")
    made = bench.simulate("Chen2020", "drive")
    assert made.source["notes"][1].startswith("Excluded cycles count in no error: 3 samples of 9.")
    frame = bench.simulations.time_series(made)
    assert frame["Measured voltage [V]"].tolist() == samples["Voltage [V]"].tolist()
    error = frame["Voltage error [mV]"]
    assert error.isna().tolist() == [False] * 3 + [True] * 3 + [False] * 3
    # Closed form: 100 mV for 2 s and 200 mV for 2 s.
    assert made.metrics["rms_error"]["value"] == pytest.approx((100**2 / 2 + 200**2 / 2) ** 0.5)
    assert made.metrics["largest_error"]["value"] == pytest.approx(200)
    assert "rms 158 mV, at most 200 mV" in words(bench.figure("simulation", simulations=[made.id]))
    with pytest.raises(BadRequest, match=r"would be simulated are excluded \(loose cable\)"):
        bench.simulate("Chen2020", "drive", cycles=[1])


def words(figure: wb.Figure) -> str:
    return " ".join(one.text.replace("<br>", " ") for one in figure.layout.annotations)


def test_errors_are_weighted_by_time() -> None:
    measured = pd.DataFrame({"Time [s]": [0.0, 100.0, 101.0], "Voltage [V]": 3.0, "Step count": [0, 0, 1]})
    simulated = pd.DataFrame({"Time [s]": [0.0, 100.0, 100.5, 101.0], "Voltage [V]": [3.01, 3.01, 3.03, 3.03]})
    series, steps, metrics = compared(simulated, measured)
    assert series["Step count"].tolist() == [0, 0, 1, 1]
    # Closed form: 10 mV for 100 s, then a ramp of 0.5 s to 30 mV, then 30 mV for 0.5 s, by the trapezoid.
    square = (100 * 10**2 + 0.5 * (10**2 + 30**2) / 2 + 0.5 * 30**2) / 101
    assert metrics["rms_error"] == {"value": pytest.approx(square**0.5), "unit": "mV"}
    assert steps["Mean error [mV]"].tolist() == pytest.approx([10, 30])


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import signal; signal.pause()", r"took longer than 0.5 s and was stopped. Give it a longer time_limit"),
        ("raise SystemExit('the disk is full')", "ended without an answer. the disk is full"),
        ("answer(error='It has no solution.')", "It has no solution."),
        (
            'answer(error=\'unknown set: ["Chen2020", "Ai2020"]\')',
            "no parameter set, .* 'Chen202'. Did you",
        ),
    ],
)
def test_a_process_without_a_result_is_a_sentence(bench: Bench, child: Path, program: str, words: str) -> None:
    child.write_text(HEAD + program)
    with pytest.raises(BadRequest, match=words):
        bench.simulate("Chen202", WORDS, time_limit=0.5 if "pause" in program else 60)
    assert len(bench.simulations.list()) == 0
    assert len(bench.models.list()) == 0


def test_a_simulation_can_be_started_and_stopped(bench: Bench, child: Path) -> None:
    run = bench.start_simulation("Chen2020", WORDS)
    made = run.record()
    assert run.done
    assert run.record() is made, "it is kept once"
    child.write_text("import signal; signal.pause()")
    waiting = bench.start_simulation("Chen2020", WORDS, time_limit=None)
    assert not waiting.done
    waiting.stop()
    assert waiting.done
    with pytest.raises(BadRequest, match="was stopped"):
        waiting.record()
    assert len(bench.simulations.list()) == 1


@pytest.mark.parametrize(
    ("cell", "protocol", "options", "words"),
    [
        ("Chen2020", WORDS, {"modl": "SPM"}, "no option 'modl'. Did you mean 'model'"),
        ("Chen2020", WORDS, {"model": "SPMX"}, "There is no model 'SPMX'"),
        ("Chen2020", WORDS, {"soc": 80}, "soc is a number from 0 to 1, not 80"),
        ("Chen2020", WORDS, {"thermal": 1}, "thermal is True, where the cell warms up, or False, not 1"),
        ("Chen2020", WORDS, {"cycles": "12"}, r"cycles is a list of cycle counts, such as \[1, 2\], not '12'"),
        ("Chen2020", WORDS, {"cycles": [1.5]}, r"such as \[1, 2\], not \[1.5\]"),
        ("Chen2020", WORDS, {"cycles": [True]}, r"such as \[1, 2\], not \[True\]"),
        ("Chen2020", "my test", {}, "'my test' is neither a measurement nor a step in words"),
        ("Chen2020", [], {}, "A protocol is one step in words or a list"),
        ("absent.json", WORDS, {}, "'absent.json' cannot be read: No such file"),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_starts(
    bench: Bench, child: Path, cell: str, protocol: list[str], options: dict[str, str], words: str
) -> None:
    child.unlink()
    with pytest.raises(BadRequest, match=words):
        bench.simulate(cell, protocol, **options)


def test_a_specification_needs_bpx_parameters(bench: Bench, child: Path, tmp_path: Path) -> None:
    bench.specifications.create(name="Plain", form_factor="pouch", ratings=RATINGS)
    with pytest.raises(BadRequest, match="'Plain' has no BPX parameters"):
        bench.simulate("Plain", WORDS)
    (tmp_path / "set.json").write_text("{}")
    with pytest.raises(BadRequest, match="is not a BPX parameter set: it has no 'Parameterisation'"):
        bench.simulate(tmp_path / "set.json", WORDS)
    held = {"Header": {"BPX": "0.1", "Title": "Mine"}, "Parameterisation": {}}
    owner = bench.specifications.create(name="Own", form_factor="pouch", ratings=RATINGS, properties={"bpx": held})
    made = bench.simulate("Own", WORDS)
    assert made.specification_id == owner.id
    assert bench.models.get(made.model_id).config["parameters"] == held


def test_a_set_of_the_same_title_with_other_numbers_is_another_model(bench: Bench, child: Path) -> None:
    sets = [
        {"Header": {"Title": "Mine"}, "Parameterisation": {"Cell": {"Area": area}}} for area in (1.0, 2.0, 1.0)
    ]
    made = [bench.simulate(one, WORDS) for one in sets]
    models = [bench.models.get(one.model_id) for one in made]
    assert [one.config["parameters"] for one in models] == sets
    assert models[0].id == models[2].id
    assert models[1].name == f"{models[0].name} (2)"


@pytest.mark.skipif(is_installed(), reason="PyBaMM is installed here")
def test_without_pybamm_a_sentence_says_what_to_install(bench: Bench) -> None:
    with pytest.raises(BadRequest, match=r"pip install 'battery-workbench\[sim\]'"):
        bench.simulate("Chen2020", WORDS)


@pytest.mark.long
@with_pybamm
def test_pybamm_discharges_its_own_cell(bench: Bench) -> None:
    made = bench.simulate("Chen2020", WORDS)
    frame = bench.simulations.time_series(made)
    under_load = frame[frame["Step count"] == 0]
    assert under_load["Current [A]"].to_numpy() == pytest.approx(2.5)
    assert under_load["Voltage [V]"].iloc[-1] == pytest.approx(2.5, abs=1e-3)
    hours = under_load["Time [s]"].iloc[-1] / 3600
    assert hours == pytest.approx(2, rel=0.05), "a cell of 5 A h at C/2"
    rest = frame[frame["Step count"] == 1]
    assert rest["Time [s]"].iloc[-1] - under_load["Time [s]"].iloc[-1] == pytest.approx(600, abs=1)
    for protocol, words in (
        ("Discharge with love", "The protocol cannot be read"),
        ("Charge at 100C until 4.2 V", "not possible|not solve"),
    ):
        with pytest.raises(BadRequest, match=words):
            bench.simulate("Chen2020", protocol, soc=1)


def test_the_first_word_of_a_step_may_be_small(bench: Bench, child: Path) -> None:
    """PyBaMM reads only the capital one."""
    made = bench.simulate("Chen2020", ["discharge at C/2 until 2.5 V", " REST for 10 minutes"])
    assert made.source["protocol"] == WORDS


@with_pybamm
@pytest.mark.long
def test_steps_that_are_left_out_or_cut_short_are_noted(bench: Bench) -> None:
    words = ["Charge at 1C until 4.0 V", "Rest for 1 minute", "Charge at 1C for 1 hour", "Rest for 1 minute"]
    made = bench.simulate("Chen2020", words, model="SPM", soc=1)
    frame = bench.simulations.time_series(made)
    assert frame["Step count"].unique().tolist() == [1, 2], "the numbers of the protocol"
    ended = frame["Time [s]"].iloc[-1] - 60
    assert ended < 3600
    notes = made.source["notes"]
    assert notes[0] == "Step 0 'Charge at 1C until 4.0 V' was left out: a limit of it is reached at once."
    assert notes[1].startswith(f"Step 2 'Charge at 1C for 1 hour' ends after {ended:.6g} s, before it is done")
    assert notes[2] == "Only 3 of 4 steps were simulated: the next one is not possible."
    assert f"to {frame['Voltage [V]'].max():.4g} V, beyond the limits of the parameters, 2.5 to 4.2 V" in notes[3]
    with pytest.raises(BadRequest, match="not possible: a limit of each step is reached at once"):
        bench.simulate("Chen2020", words[0], model="SPM", soc=1)
    assert not bench.simulate("Chen2020", "Discharge at 1C until 2.5 V", model="SPM").source["notes"]


@with_pybamm
@pytest.mark.long
def test_pybamm_repeats_its_own_simulation(bench: Bench) -> None:
    """A current that a simulation had, given back as a measurement, gives the same voltage."""
    first = bench.simulate("Chen2020", "Discharge at C/2 for 20 minutes", soc=0.9)
    frame = bench.simulations.time_series(first)
    cell = bench.instances.create(
        name="c1", specification=bench.specifications.create(name="S", form_factor="pouch", ratings=RATINGS)
    )
    rested = pd.DataFrame({"Time [s]": [0.0, 1.0], "Current [A]": 0.0, "Voltage [V]": 4.05})
    load = frame[["Time [s]", "Current [A]", "Voltage [V]"]].assign(**{"Time [s]": frame["Time [s]"] + 1.001})
    test = bench.measurements.create(
        instance_id=cell.id, name="t", time_series=pd.concat([rested, load]), sign="discharge"
    )
    again = bench.simulate("Chen2020", test, soc=0.9)
    error = bench.simulations.time_series(again)["Voltage error [mV]"].to_numpy()[3:]
    assert np.abs(error).max() < 2


@with_pybamm
@pytest.mark.skipif(not BPX.is_dir(), reason="The shared BPX sets are not here")
def test_a_bpx_set_is_simulated(bench: Bench) -> None:
    bench.ingest(BPX)
    names = bench.specifications.list()["name"].tolist()
    pouch = next(name for name in names if "NMC" in name)
    made = bench.simulate(pouch, "Discharge at 1C until 2.8 V", thermal=True)
    frame = bench.simulations.time_series(made)
    assert frame["Current [A]"].median() == pytest.approx(12.5)
    assert frame["Temperature [degC]"].max() > frame["Temperature [degC]"].iloc[0]
    assert made.specification_id == bench.specifications.get(pouch).id
