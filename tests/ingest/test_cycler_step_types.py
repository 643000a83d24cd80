"""The cycler's own word for each step: kept with the steps, and compared with the current."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import workbench as wb
from workbench.ingest import FileReport
from workbench.readers.table.states import is_rest, meaning
from workbench.store.series import derived

Step = tuple[str, float]
PLAIN: Sequence[Step] = (("CC Chg", 2.5), ("Rest", 0.0), ("CC DChg", -2.5), ("Rest", 0.0))


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


def put(path: Path, steps: Sequence[Step], column: str = "Step Type") -> Path:
    """A file whose positive current charges; the voltage follows the current."""
    lines, time, volts = [f"Time [s],Cycle Index,Step Index,{column},Current [A],Voltage [V]"], 0, 3.5
    for number, (word, current) in enumerate(steps):
        for _ in range(10):
            volts += current / 100
            lines.append(f"{time},1,{number + 1},{word},{current},{volts + current / 50:.4f}")
            time += 60
    path.write_text("\n".join(lines) + "\n")
    return path


def words(bench: wb.Bench, file: FileReport) -> list[str]:
    steps = bench.measurements.steps(bench.measurements.get(file.measurement_id))
    return list(steps["Step type from cycler"])


def contradictions(file: FileReport) -> list[str]:
    return [sentence for sentence in file.odd if "contradicts the current" in sentence]


@pytest.mark.parametrize("column", ["Step Type", "Command", "State"])
def test_the_word_of_the_cycler_is_kept_for_each_step(column: str, bench: wb.Bench, tmp_path: Path) -> None:
    (file,) = bench.ingest(put(tmp_path / "a.csv", PLAIN, column), sign="charge")
    assert words(bench, file) == [word for word, _ in PLAIN]
    assert contradictions(file) == []
    test = bench.measurements.get(file.measurement_id)
    assert column in bench.measurements.time_series(test)


def test_a_file_without_such_words_has_no_such_column(bench: wb.Bench, tmp_path: Path) -> None:
    (file,) = bench.ingest(put(tmp_path / "a.csv", PLAIN, "Remark"), sign="charge")
    assert "Step type from cycler" not in bench.measurements.steps(bench.measurements.get(file.measurement_id))


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (("Rest", 2.5), "step 1, 'Rest', has a charge of 2.5 A on average"),
        (("CC Chg", -2.5), "step 1, 'CC Chg', has a discharge of 2.5 A on average"),
        (("CC DChg", 2.5), "step 1, 'CC DChg', has a charge of 2.5 A on average"),
        (("CC DChg", 0.0), "step 1, 'CC DChg', has no current"),
    ],
)
def test_a_word_that_contradicts_the_current_is_reported(
    step: Step, sentence: str, bench: wb.Bench, tmp_path: Path
) -> None:
    (file,) = bench.ingest(put(tmp_path / "a.csv", (PLAIN[0], step, *PLAIN[1:])), sign="charge")
    assert contradictions(file) == [f"'Step Type' contradicts the current in 1 step: {sentence}."]


def test_a_small_current_at_rest_contradicts_nothing(bench: wb.Bench, tmp_path: Path) -> None:
    steps = (PLAIN[0], ("Rest", 0.005), PLAIN[2], ("Pulse", 2.5))
    assert contradictions(bench.ingest(put(tmp_path / "a.csv", steps), sign="charge")[0]) == []


def test_many_contradictions_are_counted(bench: wb.Bench, tmp_path: Path) -> None:
    steps = (PLAIN[0], *([("Rest", 2.5), ("Rest", -2.5)] * 4))
    (said,) = contradictions(bench.ingest(put(tmp_path / "a.csv", steps), sign="charge")[0])
    assert "in 8 steps" in said
    assert said.endswith("; and 5 more.")


def test_words_stay_where_steps_go_on_and_come_back_where_they_are_computed_anew(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "a.csv", PLAIN)
    (file,) = bench.ingest(path, sign="charge")
    put(path, (*PLAIN, *PLAIN))
    assert bench.ingest(path, sign="charge")[0].status == "extended"
    assert words(bench, file) == [word for word, _ in (*PLAIN, *PLAIN)]
    monkeypatch.setattr(derived.steps, "RULE", derived.steps.RULE + 1)
    assert len(bench.recompute().measurements) == 1
    assert words(bench, file) == [word for word, _ in (*PLAIN, *PLAIN)]
    plan = bench.measurements.steps(bench.measurements.get(file.measurement_id))
    assert list(plan["Step type"])[:2] == ["Constant current charge", "Rest"]


@pytest.mark.parametrize(
    ("word", "way", "rests"),
    [
        ("CC_DChg", "discharge", False),
        ("Charge", "charge", False),
        ("CCCV Chg", "charge", False),
        ("D", "discharge", False),
        ("Pause", None, True),
        ("搁置", None, True),
        ("Pulse", None, False),
    ],
)
def test_what_words_mean(word: str, way: str | None, rests: bool) -> None:
    assert (meaning(word), is_rest(word)) == (way, rests)
