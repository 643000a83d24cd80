"""Charge of files: every interval belongs to one step, so that steps, cycles and the integral over the test agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.generated_test import COUNTERS, counted_by, generated, integrals

import workbench as wb
from workbench.cycling import conform
from workbench.cycling.columns import CYCLE_COUNT
from workbench.cycling.cycles import cycles_of
from workbench.cycling.steps import OWN_TIME, steps_of
from workbench.errors import BadRequest
from workbench.ingest.plan.read_options import ReadOptions
from workbench.ingest.read import samples_file
from workbench.ingest.read.worker import outcome_of
from workbench.store.scope import EVERYTHING
from workbench.store.series.rule_notes import notes
from workbench.table import Table, concat

WAYS = COUNTERS[:2]
SAID = ("capacity_apart", "counter_starts")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


def text(columns: dict[str, np.ndarray], *, unit: str = "A", charging: bool = False) -> str:
    """A file with these columns; ``charging``: a positive current charges in it."""
    scale = (1000.0 if unit == "mA" else 1.0) * (-1.0 if charging else 1.0)
    made = {
        name.replace("[A]", f"[{unit}]"): np.asarray(values) * (scale if name == "Current [A]" else 1)
        for name, values in columns.items()
    }
    rows = zip(*(values.tolist() for values in made.values()), strict=True)
    return "\n".join([",".join(made), *(",".join(map(repr, row)) for row in rows)]) + "\n"


def on_and_off(interval: float, hours: float = 1.0, amps: float = 4.0) -> dict[str, np.ndarray]:
    """4 A for 10 s and rest for 10 s, again and again: half of 4 A.h in an hour."""
    time = np.arange(0.0, hours * 3600.0 + interval / 2, interval)
    return {
        "Time [s]": time,
        "Current [A]": np.where(time // 10 % 2 == 0, amps, 0.0),
        "Voltage [V]": np.linspace(4.1, 3.4, len(time)),
    }


def tables(bench: wb.Bench, id: str | None) -> dict[str, Table]:
    read = bench.backend.store.series.read
    return {name: read(id or "", dataset=name, scope=EVERYTHING) for name in ("series", "steps", "cycles")}


def passed(found: dict[str, Table], way: str = WAYS[0]) -> tuple[float, float]:
    """What the steps and what the cycles have."""
    steps, cycles = (float(np.nansum(found[name][way].floats())) for name in ("steps", "cycles"))
    return steps, cycles


# Steps


def test_the_end_of_a_constant_voltage_is_no_rest_where_rests_are_short(bench: wb.Bench, tmp_path: Path) -> None:
    tail = np.exp(-np.arange(90) / 30)
    cycle = np.concatenate([np.full(60, -1.0), -tail, np.zeros(10), np.full(120, 8.0), np.zeros(10)])
    voltage = np.concatenate(
        [
            np.linspace(3.0, 4.2, 60),
            np.full(90, 4.2),
            np.full(10, 4.19),
            np.linspace(4.0, 3.0, 120),
            np.full(10, 3.2),
        ]
    )
    time = 10.0 * np.arange(3 * len(cycle))
    path = tmp_path / "rates.csv"
    columns = {"Time [s]": time, "Current [A]": np.tile(cycle, 3), "Voltage [V]": np.tile(voltage, 3)}
    path.write_text(text(columns))
    (file,) = bench.ingest(path, sign="discharge", rating="2Ah,3V,4.2V")
    steps = bench.measurements.steps(file.measurement_id)
    assert [kind.split()[0] for kind in steps["Step type"]] == ["Unknown", "Rest", "Constant", "Rest"] * 3
    assert steps["Duration [s]"].tolist() == [1490.0, 90.0, 1190.0, 90.0] * 3


@pytest.mark.parametrize("interval", [1.0, 2.0, 5.0, 10.0])
def test_a_pulsed_load_has_all_of_its_charge(bench: wb.Bench, tmp_path: Path, interval: float) -> None:
    path = tmp_path / "pulses.csv"
    path.write_text(text(on_and_off(interval)))
    (file,) = bench.ingest(path, sign="discharge")
    found = tables(bench, file.measurement_id)
    assert passed(found) == pytest.approx((2.0, 2.0), rel=0.006)
    columns = on_and_off(interval)
    out, _ = integrals(columns["Time [s]"], columns["Current [A]"])
    assert passed(found) == pytest.approx((out, out), rel=1e-9)
    assert any("integrated" in one for one in file.assumed)


def test_steps_of_one_sample_have_time_of_their_own_and_a_mean(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "pulses.csv"
    path.write_text(text(on_and_off(10.0)))
    found = tables(bench, bench.ingest(path, sign="discharge")[0].measurement_id)
    steps = found["steps"]
    assert set(steps["Duration [s]"].tolist()) == {0.0}
    assert steps[OWN_TIME].tolist() == [5.0, *[10.0] * (steps.n - 2), 5.0]
    assert found["cycles"]["Mean discharge current [A]"].tolist() == pytest.approx([4.0])


@pytest.mark.parametrize("starts_again", [False, True])
def test_a_counter_keeps_what_it_counts_between_two_steps(
    bench: wb.Bench, tmp_path: Path, starts_again: bool
) -> None:
    columns = on_and_off(10.0)
    total = np.cumsum(columns["Current [A]"]) * 10.0 / 3600
    step = np.arange(len(total)) // 3
    columns["Discharge capacity [A.h]"] = total - np.repeat(total[::3], 3)[: len(total)] if starts_again else total
    columns["Step from cycler"] = step % 7 + 1
    path = tmp_path / "counter.csv"
    path.write_text(text(columns))
    (file,) = bench.ingest(path, sign="discharge")
    found = tables(bench, file.measurement_id)
    counted = counted_by(columns["Discharge capacity [A.h]"])
    assert passed(found) == pytest.approx((counted, counted), rel=1e-9)
    apart = [one for one in file.odd if "the integral of the current gives" in one]
    assert bool(apart) == starts_again  # such a counter knows nothing of the time between its steps


def test_samples_that_come_twice_are_not_taken_for_a_clock_that_was_set_back_alone(
    bench: wb.Bench, tmp_path: Path
) -> None:
    columns = on_and_off(5.0)
    columns["Current [A]"][:] = 1.0
    twice = {name: np.concatenate([values[:300], values[200:]]) for name, values in columns.items()}
    path = tmp_path / "overlap.csv"
    path.write_text(text(twice))
    (file,) = bench.ingest(path, sign="discharge")
    assert passed(tables(bench, file.measurement_id))[0] == pytest.approx(1 + 495 / 3600, rel=1e-9)
    (said,) = [one for one in file.odd if one.startswith("Time falls")]
    assert "what passed in that time counts twice: remove or sort them" in said


def test_energies_of_a_symmetric_cell_that_go_by_the_current_are_said_to_do_so(
    bench: wb.Bench, tmp_path: Path
) -> None:
    half = np.arange(0.0, 3601.0, 60.0)
    amps, volts = np.repeat([1.0, -1.0], len(half)), np.repeat([0.03, -0.03], len(half))  # positive charges
    one = 0.03 * half / 3600
    rows = zip(
        np.concatenate([half, half + 3660]), amps, volts, np.repeat([1, 2], len(half)),
        np.concatenate([one, one * 0 + 0.03]), np.concatenate([one * 0, one]), strict=True,
    )  # fmt: skip
    path = tmp_path / "symmetric.csv"
    names = "Time (s),Current (A),Voltage (V),Step,Charge Energy (Wh),Discharge Energy (Wh)"
    path.write_text("\n".join([names, *(",".join(map(repr, map(float, row))) for row in rows)]) + "\n")
    (file,) = bench.ingest(path, sign="charge")
    said = [text for text in file.odd if "the counters go by the direction of the current" in text]
    assert [text.split("'")[1] for text in said] == ["Discharge energy [W.h]", "Charge energy [W.h]"]


def anode(charge: str = "Charge Capacity (Ah)", discharge: str = "Discharge Capacity (Ah)") -> str:
    """An anode against lithium at 1 A for 1 h each way, as a lab writes it that calls its lithiation charge."""
    half = np.arange(0.0, 3601.0, 60.0)
    time = np.concatenate([half, half + 3660, half + 7320, half + 10980])
    amps = np.repeat([1.0, -0.9, 1.0, -0.9], len(half))
    volts = np.concatenate([0.9 - half / 4500, 0.1 + half / 4500] * 2)
    one = half / 3600
    into = np.concatenate([one, one * 0 + 1, one + 1, one * 0 + 2])
    out = 0.9 * np.concatenate([one * 0, one, one * 0 + 1, one + 1])
    step = np.repeat([1, 2, 3, 4], len(half))
    rows = zip(time, amps, volts, np.repeat([1, 2], 2 * len(half)), step, into, out, strict=True)
    names = f"Time (s),Current (A),Voltage (V),Cycle,Step,{charge},{discharge}"
    return "\n".join([names, *(",".join(f"{value:.6f}" for value in row) for row in rows)]) + "\n"


def test_counters_go_with_the_current_also_where_they_are_named_after_the_full_cell(
    bench: wb.Bench, tmp_path: Path
) -> None:
    path = tmp_path / "anode.csv"
    path.write_text(anode())
    (file,) = bench.ingest(path)
    steps = bench.measurements.steps(file.measurement_id)
    assert (steps["Mean current [A]"] > 0).tolist() == [True, False, True, False]
    assert steps["Discharge capacity [A.h]"].tolist() == pytest.approx([1.0, 0.0, 1.0, 0.0])
    assert steps["Charge capacity [A.h]"].tolist() == pytest.approx([0.0, 0.9, 0.0, 0.9])
    assert [one for one in file.odd if "exchanged" in one]
    half = tmp_path / "half.csv"  # a discharge alone, where the other counter stands still
    half.write_text("".join(anode().splitlines(keepends=True)[:51]))
    (one,) = bench.ingest(half)
    steps = bench.measurements.steps(one.measurement_id)
    assert steps[list(WAYS)].to_numpy().tolist() == [pytest.approx([49 / 60, 0.0], abs=1e-6)]
    named = tmp_path / "named.csv"  # as the current says: nothing is to be exchanged
    named.write_text(anode("Discharge Capacity (Ah)", "Charge Capacity (Ah)"))
    (again,) = bench.ingest(named)
    assert again.status == "duplicate"
    assert not [one for one in again.odd if "counter" in one]


def test_a_sign_that_the_format_documents_is_not_turned_by_the_counters(bench: wb.Bench, tmp_path: Path) -> None:
    lines = anode("Discharge_Capacity(Ah)", "Charge_Capacity(Ah)").splitlines()
    lines[0] = lines[0].replace("Time (s)", "Test_Time(s)").replace("Cycle,Step", "Cycle_Index,Step_Index")
    path = tmp_path / "arbin.csv"
    path.write_text("\n".join([lines[0] + ",Step_Time(s)", *(line + ",1" for line in lines[1:])]) + "\n")
    (file,) = bench.ingest(path)
    steps = bench.measurements.steps(file.measurement_id)
    assert steps["Discharge capacity [A.h]"].tolist() == pytest.approx([1.0, 0.0, 1.0, 0.0])
    (said,) = [one for one in file.odd if "kept as they are named" in one]
    assert "sign" in said.rsplit("say ", 1)[1]


def test_samples_given_by_hand_keep_their_rule_unless_their_steps_are_numbered_here(bench: wb.Bench) -> None:
    ratings = {"capacity": {"value": 5, "unit": "A.h"}, "voltage_min": {"value": 2, "unit": "V"}}
    ratings["voltage_max"] = {"value": 4.2, "unit": "V"}
    bench.specifications.create(name="S", ratings=ratings)
    bench.instances.create(name="C", specification="S")
    columns = on_and_off(10.0)
    cell = bench.instances.get("C").id
    numbered = bench.backend.add_time_series({"instance_id": cell, "name": "numbered"}, Table.of(columns), None)
    assert passed(tables(bench, numbered.id)) == pytest.approx((2.0, 2.0), rel=0.006)
    own = {**columns, "Step count": np.arange(len(columns["Time [s]"]))}
    given = bench.backend.add_time_series({"instance_id": cell, "name": "given"}, Table.of(own), None)
    assert passed(tables(bench, given.id)) == (0.0, 0.0)
    assert OWN_TIME not in tables(bench, given.id)["steps"]


def test_nothing_is_integrated_over_a_gap_and_the_report_gives_its_length(bench: wb.Bench, tmp_path: Path) -> None:
    columns = on_and_off(5.0)
    columns["Current [A]"][:] = 1.0
    columns["Time [s]"][300:] += 7000.0
    path = tmp_path / "gap.csv"
    path.write_text(text(columns))
    (file,) = bench.ingest(path, sign="discharge")
    found = tables(bench, file.measurement_id)
    assert passed(found)[0] == pytest.approx((3600 - 5) / 3600, rel=1e-9)
    (said,) = [one for one in file.odd if "gap" in one]
    assert "of 7005 s, before sample 300" in said
    assert "1.946 A.h" in said


def test_where_samples_were_taken_seldom_there_are_no_gaps(bench: wb.Bench, tmp_path: Path) -> None:
    time = np.concatenate([[0.0], np.cumsum(np.repeat([1.0, 120.0, 1.0], [400, 90, 400]))])
    columns = {"Time [s]": time, "Current [A]": np.ones(891), "Voltage [V]": np.linspace(4, 3, 891)}
    path = tmp_path / "slow.csv"
    path.write_text(text(columns))
    (file,) = bench.ingest(path, sign="discharge")
    assert passed(tables(bench, file.measurement_id))[0] == pytest.approx(time[-1] / 3600, rel=1e-9)
    assert not any("gap" in one for one in file.odd)
    assert any("90 intervals under current are long, up to 120 s" in one for one in file.assumed)


def test_noise_at_rest_makes_no_steps(bench: wb.Bench, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    current = np.repeat([2.0, 0.0, -2.0, 0.0], 300) + rng.normal(0, 0.003, 1200)
    voltage = np.concatenate(
        [np.linspace(4, 3, 300), np.full(300, 3.0), np.linspace(3, 4, 300), np.full(300, 4.0)]
    )
    columns = {"Time [s]": np.arange(1200) * 10.0, "Current [A]": current, "Voltage [V]": voltage}
    path = tmp_path / "noise.csv"
    path.write_text(text(columns))
    (file,) = bench.ingest(path)
    assert (file.steps, file.cycles) == (4, 1)
    out, back = integrals(columns["Time [s]"], current)
    found = tables(bench, file.measurement_id)
    assert (passed(found)[0], passed(found, WAYS[1])[0]) == pytest.approx((out, back), rel=1e-9)


# All of it by chance


def read(path: Path, options: ReadOptions, scratch: Path) -> tuple[dict[str, Any], dict[str, Table]] | None:
    """What is prepared of a file, with its three tables; None if it is refused or holds no series."""
    with (scratch / "spool").open("w+b") as file:
        outcome = outcome_of(path, options, file)
        if "prepared" not in outcome:
            return None
        file.seek(0)
        parts: dict[str, list[Table]] = {}
        for name, table in samples_file.counted(samples_file.tables(file), outcome["prepared"]["cycle_starts"]):
            parts.setdefault(name, []).append(table)
    return dict(outcome["prepared"]), {name: concat(tables) for name, tables in parts.items()}


def agrees(
    prepared: dict[str, Any], found: dict[str, Table], whole: tuple[float, float], raw: Mapping[str, Any]
) -> None:
    """The steps have as much as the cycles, and as the integral or the counter of the file; else a warning says it."""
    apart = " ".join(one["message"] for one in prepared["findings"] if one["code"] in SAID)
    little = 2e-4 * (sum(whole) + sum(passed(found, way)[0] for way in WAYS))  # beside all that passes
    for way, integral in zip(WAYS, whole, strict=True):
        steps, cycles = passed(found, way)
        assert steps == pytest.approx(cycles, rel=1e-9), way
        wanted = [integral, *([counted_by(np.asarray(raw[way]))] if way in raw else [])]
        close = [abs(steps - one) <= 1e-3 * one + 1e-6 * sum(whole) for one in wanted]
        assert any(close) or f"'{way}'" in apart, (way, steps, wanted)
        if abs(steps - integral) > 5.1e-3 * max(steps, integral) + little:
            assert f"'{way}' counts" in apart, (way, steps, integral)


def test_steps_cycles_and_integral_agree_whatever_the_test(tmp_path: Path, long: bool) -> None:
    for seed in range(2000 if long else 40):
        test = generated(seed)
        unit, charging = ("A", "mA")[seed % 2], seed // 2 % 2 == 1
        path = tmp_path / "generated.csv"
        path.write_text(text(test.columns, unit=unit, charging=charging))
        found = read(path, ReadOptions(sign="charge" if charging else "discharge"), tmp_path)
        assert found is not None, seed
        agrees(*found, integrals(test.time, test.current), test.columns)


def test_steps_cycles_and_integral_of_real_files_agree(shared_data: Path, tmp_path: Path, long: bool) -> None:
    """By the counter of the file, which another test compares with the reference, or by the integral."""
    few = ("maccor_txt", "novonix_csv", "biologic_csv", "custom_xlsx", "landt_csv", "basytec_txt", "arbin_csv")
    compared = 0
    for folder in sorted(one.name for one in shared_data.iterdir() if one.is_dir()):
        for path in sorted((shared_data / folder).rglob("*")) if long or folder in few else ():
            found = read(path, ReadOptions(), tmp_path) if path.is_file() else None
            if found is None or "Current [A]" not in found[1]["series"]:
                continue
            prepared, held = found
            known = {name: held["series"][name].floats() for name in ("Time [s]", "Current [A]")}
            both = ~(np.isnan(known["Time [s]"]) | np.isnan(known["Current [A]"]))
            whole = integrals(known["Time [s]"][both], known["Current [A]"][both])
            counted = {way: passed(held, way)[0] for way in WAYS if way in held["series"]}
            agrees(prepared, held, whole, {way: [0.0, value] for way, value in counted.items()})
            compared += 1
    assert compared >= 10


# Cycles


def three_cycles(parts: int = 3) -> dict[str, np.ndarray]:
    """Discharge, rest and charge, three times, with a short charge pulse within each discharge; no counters."""
    one = np.concatenate([np.ones(30), -np.ones(2), np.ones(30), np.zeros(10), -np.ones(58), np.zeros(5)])
    current = np.tile(one, parts)
    return {
        "Time [s]": np.arange(len(current)) * 60.0,
        "Current [A]": current,
        "Voltage [V]": 4.0 - np.cumsum(current) / 100,
    }


def test_cycles_are_counted_where_a_file_counts_none(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "three.csv"
    path.write_text(text(three_cycles()))
    (file,) = bench.ingest(path)
    found = tables(bench, file.measurement_id)
    numbers = np.repeat([0, 1, 2], 135).tolist()
    assert file.cycles == 3
    assert found["series"][CYCLE_COUNT].tolist() == numbers
    assert "Cycle from cycler" not in found["series"]
    (said,) = [one for one in file.assumed if "half cycles" in one]
    assert "The file has no cycle counter: 3 cycles were counted" in said
    assert 'cycles="file"' in said
    (again,) = bench.ingest(path, cycles="file")
    assert (again.status, again.cycles, again.measurement_id) == ("updated", 1, file.measurement_id)
    assert set(tables(bench, file.measurement_id)["series"][CYCLE_COUNT].tolist()) == {0}
    assert bench.verify() == []


def test_a_counter_that_never_rises_counts_as_none_and_one_that_rises_is_kept(
    bench: wb.Bench, tmp_path: Path
) -> None:
    columns = three_cycles()
    path = tmp_path / "one.csv"
    path.write_text(text({**columns, "Cycle from cycler": np.full(405, 7)}))
    (file,) = bench.ingest(path)
    assert file.cycles == 3
    assert any("never rises: 3 cycles" in one for one in file.assumed)
    found = tables(bench, file.measurement_id)
    assert set(found["series"]["Cycle from cycler"].tolist()) == {7}
    assert found["steps"][CYCLE_COUNT].tolist()[-1] == 2
    path = tmp_path / "many.csv"
    path.write_text(text({**columns, "Cycle from cycler": np.arange(405) // 45, "Note [V]": columns["Time [s]"]}))
    (file,) = bench.ingest(path)
    assert file.cycles == 9
    assert any("counts 9 cycles, its half cycles make 3" in one for one in file.odd)
    (file,) = bench.ingest(path, cycles="count")
    assert (file.status, file.cycles) == ("updated", 3)


@pytest.mark.parametrize(
    ("name", "cycles"),
    [
        ("biologic/PCH-02_cycling.mpt.gz", 31),
        ("biologic/PCH-02_rates.mpt.gz", 10),
        ("bdf/LFP-C-01_RPT0.bdf.parquet", 2),
    ],
)
def test_half_cycles_are_what_the_cycler_counts(tmp_path: Path, name: str, cycles: int) -> None:
    for how in ("file", "count"):
        found = read(Path(__file__).parents[2] / "sample_data" / name, ReadOptions(cycles=how), tmp_path)
        assert found is not None
        assert found[0]["cycles"] == cycles, how


def test_the_option_takes_no_other_word(bench: wb.Bench, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"'counted' is not a value of 'cycles'. Did you mean 'count'"):
        bench.ingest(tmp_path, cycles="counted")


# In parts


@pytest.mark.parametrize("seed", [0, 3, 5, 11, 17])
def test_a_file_that_grows_gives_the_tables_of_one_reading(tmp_path: Path, seed: int) -> None:
    lines = text(generated(seed).columns).splitlines(keepends=True)
    whole = tmp_path / "whole.csv"
    whole.write_text("".join(lines))
    path = tmp_path / "in" / "whole.csv"
    path.parent.mkdir()
    with wb.open(tmp_path / "grown.db") as grown, wb.open(tmp_path / "one.db") as one:
        for part in (0.3, 0.5, 0.9, 1.0):
            path.write_text("".join(lines[: max(int(part * len(lines)), 8)]))
            file = grown.ingest(path, sign="discharge")[0]
            assert file.measurement_id, file.why
        wanted = one.ingest(whole, sign="discharge")[0].measurement_id
        for name, table in tables(one, wanted).items():
            assert tables(grown, file.measurement_id)[name].records() == table.records(), name


@pytest.mark.parametrize("counted", [False, True])
def test_samples_that_are_added_give_the_tables_of_one_reading(tmp_path: Path, counted: bool) -> None:
    """Added without numbers of cycles, and within a step or after it."""
    columns = three_cycles()
    if not counted:
        columns["Cycle from cycler"] = np.repeat([1, 2, 3], 135)
    lines = text(columns).splitlines(keepends=True)
    for cut in (150, 136, 271, 300):
        with wb.open(tmp_path / f"{cut}.db") as bench:
            whole, path = tmp_path / "whole.csv", tmp_path / "begun.csv"
            whole.write_text("".join(lines))
            path.write_text("".join(lines[:cut]))
            all_of_it = tables(bench, bench.ingest(whole, instance="A")[0].measurement_id)
            begun = bench.ingest(path, instance="B")[0].measurement_id or ""
            series = all_of_it["series"]
            more = series.slice(cut - 1, series.n)
            bench.backend.extend(begun, more.select([name for name in more if name != CYCLE_COUNT]))
            found = tables(bench, begun)
            for name in ("series", "steps"):
                assert found[name].records() == all_of_it[name].records(), (name, cut)
            assert found["cycles"].records() == all_of_it["cycles"].records()
            assert bench.verify() == []


# Older rules


def test_a_file_is_read_again_into_its_measurement(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / "kept.csv", tmp_path / "lost.csv"]
    for path, amps in zip(paths, (4.0, 3.0), strict=True):
        path.write_text(text(on_and_off(5.0, amps=amps)))
    kept = bench.ingest(paths[0], sign="discharge", keep_file=True)[0].measurement_id
    lost = bench.ingest(paths[1], sign="discharge")[0].measurement_id
    assert bench.ingest([], again=True).files == []
    monkeypatch.setattr(conform, "RULE", conform.RULE + 1)
    (note,) = notes(bench.backend.store)
    assert all(word in note for word in ("'kept'", "'lost'", "workbench ingest --again"))
    dry = bench.ingest([], again=True, dry_run=True)
    assert sorted(one.status for one in dry.files) == ["refused", "updated"]
    first, second = bench.ingest([], again=True).files
    assert (first.status, first.measurement_id) == ("updated", kept)
    assert second.status == "refused"
    assert "no copy of its file is kept" in second.why
    assert bench.ingest(paths[1])[0].status == "duplicate"
    (file,) = bench.ingest(paths[1], again=True)
    assert (file.status, file.measurement_id) == ("updated", lost)
    assert bench.measurements.get(lost or "").source["options"]["sign"] == "discharge"
    assert notes(bench.backend.store) == []
    assert len(bench.measurements.list()) == 2
    assert bench.verify() == []


def test_reading_again_keeps_samples_that_were_added(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "begun.csv"
    path.write_text(text(three_cycles()))
    id = bench.ingest(path)[0].measurement_id or ""
    last = int(tables(bench, id)["series"]["Step count"].values[-1])
    more = {"Time [s]": [24300.0], "Current [A]": [0.0], "Voltage [V]": [4.0], "Step count": [last]}
    bench.backend.extend(id, Table.of(more))
    (file,) = bench.ingest(path, again=True)
    assert file.status == "refused"
    assert "has 1 sample more, added after" in file.why
    assert tables(bench, id)["series"].n == 406


def test_recompute_fills_what_an_older_rule_left_out(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of the rule before this one, as stores of 0.1.0 have them; a counter's own rises stay afterwards."""
    path = tmp_path / "pulses.csv"
    path.write_text(text(on_and_off(5.0)))
    id = bench.ingest(path, sign="discharge")[0].measurement_id or ""
    today = tables(bench, id)
    store = bench.backend.store
    old = steps_of(today["series"])
    with store.transaction() as db:
        for name, table in (("steps", old), ("cycles", cycles_of(old))):
            with store.series.writer(id, name, rule=1) as writer:
                writer.add(table)
                writer.publish(db)
    assert passed(tables(bench, id))[0] == pytest.approx(1.0, rel=0.01)
    assert [one.name for one in bench.recompute().measurements] == ["pulses"]
    made = tables(bench, id)
    assert made["steps"].records() == today["steps"].records()
    assert made["cycles"].records() == today["cycles"].records()


def test_an_exported_file_brings_back_what_was_counted_between_steps(bench: wb.Bench, tmp_path: Path) -> None:
    columns = on_and_off(10.0)
    columns["Discharge capacity [A.h]"] = np.cumsum(columns["Current [A]"]) * 10.0 / 3600
    path = tmp_path / "counter.csv"
    path.write_text(text(columns))
    id = bench.ingest(path, sign="discharge")[0].measurement_id
    today = tables(bench, id)
    out = tmp_path / "out.bdf.parquet"
    bench.measurements.export(id or "", out)
    with wb.open(tmp_path / "other.db") as other:
        (file,) = other.ingest(out)
        found = tables(other, file.measurement_id)
        assert {name: table.records() for name, table in found.items()} == {
            name: table.records() for name, table in today.items()
        }
        assert other.measurements.get(file.measurement_id or "").source.get("steps") is None


def test_the_report_gives_the_charge_that_samples_without_a_current_or_a_voltage_hide(
    bench: wb.Bench, tmp_path: Path
) -> None:
    columns = on_and_off(5.0)
    columns["Current [A]"][:] = 1.0
    columns["Voltage [V]"][:] = 4.0
    hidden = slice(300, 320)  # 105 s between the samples beside them
    lost = {"Current [A]": "0.02917 A.h passed", "Voltage [V]": "0.1167 W.h passed"}
    for name, said in lost.items():
        partly = {**columns, name: columns[name].copy()}
        partly[name][hidden] = np.nan
        path = tmp_path / f"{name[:7]}.csv"
        path.write_text(text(partly).replace("nan", ""))
        (file,) = bench.ingest(path, sign="discharge")
        (null,) = [one for one in file.odd if "is null in 20" in one]
        assert f"over 105 s without one; if the current flowed all the time, {said} there." in null
    short = {**columns, "Current [A]": columns["Current [A]"].copy()}
    short["Current [A]"][300:305] = np.nan  # 30 s: integrated across
    path = tmp_path / "short.csv"
    path.write_text(text(short).replace("nan", ""))
    (file,) = bench.ingest(path, sign="discharge")
    assert [one for one in file.odd if "null" in one] == ["'Current [A]' is null in 5 of 721 samples."]
    assert passed(tables(bench, file.measurement_id)) == pytest.approx((1.0, 1.0), rel=1e-9)
