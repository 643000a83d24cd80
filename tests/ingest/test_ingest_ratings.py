"""What a cell is rated at where files say it, or do not: read, estimated, and doubted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cycler_file import ingest
from support.ingested_text import cycler_text, first_scope, write

from workbench.cycling.counted_cycles import largest_move
from workbench.errors import BadRequest
from workbench.ingest.plan.ratings import ratings_of
from workbench.ingest.plan.sheet import read_sheet
from workbench.messages import typed_in
from workbench.records import Specification
from workbench.store.scope import Scope
from workbench.store.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "lab.db") as opened:
        yield opened


@pytest.fixture
def scope(store: Store) -> Scope:
    return first_scope(store)


@pytest.mark.parametrize("text", ["5Ah,2.5V", "5Ah,2.5V,2.5V", "0Ah,2.5V,4.2V", "5Ah,5Ah,4.2V", "", "5,2.5,4.2"])
def test_ratings_that_are_none(text: str) -> None:
    with pytest.raises(BadRequest):
        ratings_of(text)


@pytest.mark.parametrize("given", [3.5, [1], b"5Ah", object()])
def test_what_is_no_text_is_no_rating(given: Any) -> None:
    with pytest.raises(BadRequest, match="A rating is a text like"):
        ratings_of(given)


@pytest.mark.parametrize("given", [[1], b"a", 3.5, ["a.csv"]])
def test_what_has_no_rows_is_no_sheet(given: Any) -> None:
    with pytest.raises(BadRequest, match="A sheet is a path, a DataFrame, or a list of rows"):
        read_sheet(given)


def test_ratings_in_other_units_and_order() -> None:
    assert ratings_of("4200mV, 2.5 V, 3200 mAh") == ratings_of("3.2Ah,2.5V,4.2V")


def test_a_cell_that_does_not_fit_its_rating_is_told(store: Store, scope: Scope, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "a.csv", cycler_text())
    store.rows.create(Specification, {"name": "big", "ratings": ratings_of("50Ah,2.5V,4.2V")}, scope=scope)
    report = ingest(store, scope, path, specification="big")
    assert any("rated 50 A.h" in sentence for sentence in report[0].odd)


def test_a_rating_that_was_estimated_is_not_blamed_on_the_specification(
    store: Store, scope: Scope, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    small = cycler_text().replace(",1.0,", ",0.001,").replace(",-1.0,", ",-0.001,")
    assert ingest(store, scope, write(folder, "coin.csv", small), specification="S").ok
    (told,) = ingest(store, scope, write(folder, "large.csv", cycler_text()), specification="S")[0].odd
    assert "is only an estimate from 'coin.csv'" in told
    assert "right specification" not in told
    specification = store.rows.find(Specification, "S", scope)
    ratings = ratings_of("1mAh,3V,4V")
    store.rows.update(Specification, specification.id, {"ratings": ratings}, scope)
    other = write(folder, "other.csv", cycler_text(offset=0.01))
    (told,) = ingest(store, scope, other, specification="S")[0].odd[:1]
    assert "is rated 0.001 A.h" in told
    assert "right specification" in told


def test_an_estimate_that_does_not_fit_many_files_is_told_once(store: Store, scope: Scope, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    small = cycler_text().replace(",1.0,", ",0.001,").replace(",-1.0,", ",-0.001,")
    write(folder, "a coin.csv", small)
    for number in range(3):
        write(folder, f"large {number}.csv", cycler_text(offset=number / 100))
    report = ingest(store, scope, folder, specification="S")
    assert [len(file.odd) for file in report] == [0, 1, 0, 0]
    (summed,) = [row for row in report.assumptions() if row["assumed"] == "rating_apart"]
    assert summed["files"] == 2
    assert "specification" in summed["settled by"]


def test_steps_do_not_hang_on_what_was_estimated_from_another_file(
    store: Store, scope: Scope, tmp_path: Path
) -> None:
    """Currents of 50 uA are rest in a cell of 5 A.h, and were in one that a file before them was estimated to be."""
    text = cycler_text().replace("Step from cycler", "Row")
    assert ingest(store, scope, write(tmp_path / "in", "large.csv", text)).ok
    coin = text.replace(",1.0,", ",0.00005,").replace(",-1.0,", ",-0.00005,")
    (file,) = ingest(store, scope, write(tmp_path / "in", "coin.csv", coin))
    assert file.steps == 6
    (rated,) = ingest(
        store, scope, write(tmp_path / "in", "rated.csv", coin + "#\n"), specification="big", rating="5Ah,3V,4V"
    )
    assert rated.steps == 2


def test_a_refused_file_tells_as_what_it_was_read(store: Store, scope: Scope, tmp_path: Path) -> None:
    headers = "time/s,voltage/V,current/A,state"
    rows = [f"{60 * n},{3.0 + 0.01 * n},-1.0,DChg" for n in range(60)]
    folder = tmp_path / "in"
    write(folder, "a.csv", "\n".join([headers, *rows]))
    unknown = write(folder, "b.csv", "a,b\n1,2\n")
    first, second = ingest(store, scope, [folder, unknown])
    assert (first.status, first.format) == ("refused", "delimited")
    assert "because the words in 'state' say so" in first.why
    assert 'If the voltage is right, say sign="discharge"' in first.why
    assert (second.status, second.format) == ("refused", "")
    with typed_in("terminal"):
        assert "say --sign discharge" in ingest(store, scope, folder)[0].why
    assert ingest(store, scope, folder / "a.csv", sign="discharge").ok


def test_an_estimated_voltage_leaves_out_what_no_cell_shows(store: Store, scope: Scope, tmp_path: Path) -> None:
    lines = cycler_text().splitlines()
    for place, voltage in ((5, "-0.0012"), (9, "65.535"), (14, "0.0000"), (30, "1.5000")):
        fields = lines[place].split(",")
        lines[place] = ",".join([*fields[:2], voltage, *fields[3:]])
    assert ingest(store, scope, write(tmp_path / "in", "a.csv", "\n".join(lines)), sign="discharge").ok
    ratings = store.rows.find(Specification, "Unspecified a", scope).ratings
    assert (ratings.voltage_min.value, ratings.voltage_max.value) == (3.0, 4.0)


@pytest.mark.parametrize(
    ("line", "capacity"),
    [
        ("Capacity (Ah): 0.24", 0.24),
        ("Battery capacity : 300 mA.h", 0.3),
        ("Battery capacity : 0,240 A.h", 0.24),
        ("Battery capacity : 1,300 mA.h", 1.3),
        ("Nominal capacity: 0.000 Ah", 0.183),
        ("Capacity: 4500 Ah", 0.183),
        ("Capacity: large", 0.183),
    ],
)
def test_a_capacity_in_the_header_goes_before_an_estimate(
    line: str, capacity: float, store: Store, scope: Scope, tmp_path: Path
) -> None:
    report = ingest(store, scope, write(tmp_path / "in", "a.csv", f"{line}\nOperator: me\n{cycler_text()}"))
    rated = store.rows.find(Specification, "Unspecified a", scope).ratings.capacity.value
    assert rated == pytest.approx(capacity)
    assert any("header" in sentence for sentence in report[0].assumed) == (capacity != 0.183)


def test_a_capacity_without_cycle_counter_is_that_of_one_half_cycle(
    store: Store, scope: Scope, tmp_path: Path
) -> None:
    text = cycler_text(cycles=5).replace("Cycle from cycler", "Row of five")
    assert ingest(store, scope, write(tmp_path / "in", "a.csv", text)).ok
    assert store.rows.find(Specification, "Unspecified a", scope).ratings.capacity.value == pytest.approx(0.183)


def test_moves_of_a_sum_end_at_a_turn_and_not_at_a_pulse() -> None:
    assert largest_move([]) is None
    assert largest_move([1.0, float("inf")]) is None
    assert largest_move([3.0, 0.0, 3.1, 0.1, 3.2]) == pytest.approx(3.1)
    assert largest_move([-1.0, -0.9, -2.0, -1.9, -3.0]) == 3.0
    assert largest_move([0.0, 0.0]) == 0.0


@pytest.mark.parametrize(
    ("unit", "current", "rating", "mend"),
    [
        ("[A]", "1500.0", None, 'column_map={"Current [A]": "Current [mA]"}'),
        ("[A]", "100.0", "0.05Ah,3V,4V", 'column_map={"Current [A]": "Current [mA]"}'),
        ("[A]", "50.0", None, None),
        ("[A]", "100.0", "100Ah,3V,4V", None),
        ("[mA]", "1500.0", None, None),
        ("[A]", "0.009", "5Ah,3V,4V", "Is it the right specification?"),  # no cycler writes kiloampere
        ("[mA]", "9.0", "5Ah,3V,4V", 'column_map={"Current [mA]": "Current [A]"}'),
        ("[A]", "0.5", "5Ah,3V,4V", None),
    ],
)
def test_currents_a_thousand_times_off_name_the_unit(
    unit: str, current: str, rating: str | None, mend: str | None, store: Store, scope: Scope, tmp_path: Path
) -> None:
    text = cycler_text().replace(",1.0,", f",{current},").replace(",-1.0,", f",-{current},")
    text = text.replace("Current [A]", f"Current {unit}")
    (file,) = ingest(store, scope, write(tmp_path / "in", "a.csv", text), specification="x", rating=rating)
    told = [sentence for sentence in file.odd if "A usual current of" in sentence]
    assert (told == []) if mend is None else (len(told) == 1 and mend in told[0])


def test_millivolts_under_a_name_of_volts_name_the_unit(store: Store, scope: Scope, tmp_path: Path) -> None:
    rows = [line.split(",") for line in cycler_text().splitlines()]
    text = "\n".join(
        ",".join([*row[:2], row[2] if place == 0 else f"{float(row[2]) * 1000:.1f}", *row[3:]])
        for place, row in enumerate(rows)
    )
    (file,) = ingest(store, scope, write(tmp_path / "in", "a.csv", text))
    assert any('column_map={"Voltage [V]": "Voltage [mV]"}' in sentence for sentence in file.odd)


@pytest.mark.parametrize(
    ("degrees", "said"),
    [
        *((298.15, 'say column_map={"T cell [degC]": "Temperature [K]"}'), (25000.0, "No cell has that")),
        *((-300.0, "No cell has that"), (-90.0, None), (149.0, None)),
    ],
)
def test_a_temperature_that_no_cell_has_is_said(
    degrees: float, said: str | None, store: Store, scope: Scope, tmp_path: Path
) -> None:
    header, *rows = cycler_text().splitlines()
    text = "\n".join(
        [f"{header},T cell [degC]", *(f"{row},{degrees + place % 2}" for place, row in enumerate(rows))]
    )
    chosen = {"T cell [degC]": "Temperature [degC]"}
    (file,) = ingest(store, scope, write(tmp_path / "in", "a.csv", text), column_map=chosen)
    told = [sentence for sentence in file.odd if "The usual temperature is" in sentence]
    assert (told == []) if said is None else (len(told) == 1 and said in told[0])


@pytest.mark.parametrize("rating", [None, "0.3Ah,3V,4V"])
def test_a_time_in_milliseconds_is_not_taken_for_a_current_in_milliamperes(
    rating: str | None, store: Store, scope: Scope, tmp_path: Path
) -> None:
    amps = [float(line.split(",")[1]) for line in cycler_text().splitlines()[1:]]
    times = [float(line.split(",")[0]) for line in cycler_text().splitlines()[1:]]
    volts = [line.split(",")[2] for line in cycler_text().splitlines()[1:]]
    lines = [f"{t * 1e3 * 6},{a},{v}" for t, a, v in zip(times, amps, volts, strict=True)]
    text = "\n".join(["Time,Current [A],Voltage [V]", *lines]) + "\n"
    (file,) = ingest(store, scope, write(tmp_path / "in", "a.csv", text), specification="x", rating=rating)
    assert any('column_map={"Time": "Time [ms]"}' in sentence for sentence in file.odd)
    assert any("The time may not be in seconds" in sentence for sentence in file.odd)
    assert not any("Current [mA]" in sentence for sentence in file.odd)
