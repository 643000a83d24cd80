"""Advice that is followed to the letter: it says what was taken, and the numbers stay as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import workbench as wb
from workbench.ingest import FileReport
from workbench.readers import FORMATS, read
from workbench.readers.formats.delimited import DELIMITED
from workbench.readers.table.missing_columns import candidates
from workbench.readers.table.text_format import TextFormat

N = 12
Row = tuple[float, float, float, str]


def rows(charge: float = 1.0, *, flat: bool = False) -> Iterator[Row]:
    """Time in s, current in A (``charge`` is its sign on charge), voltage in V and a word, for two cycles."""
    time = 0.0
    for _ in range(2):
        for word, current, low, high in (
            ("CC Chg", charge, 3.1, 4.1),
            ("Rest", 0.0, 4.05, 4.0),
            ("CC DChg", -charge, 3.9, 2.9),
            ("Rest", 0.0, 2.95, 3.0),
        ):
            for k in range(N):
                yield time, current, 3.7 if flat else low + (high - low) * k / N, word
                time += 60.0


def table(header: str, line: Callable[[Row], str], **of: float | bool) -> str:
    return "\n".join([header, *(line(row) for row in rows(**of))]) + "\n"  # type: ignore[arg-type]


def clock(row: Row) -> str:
    return (datetime(2024, 3, 4, 8) + timedelta(seconds=row[0])).strftime("%d/%m/%Y %H:%M:%S")


FILES = {
    "positive charges": table("Time [s],Current [A],Voltage [V]", lambda r: f"{r[0]},{r[1]},{r[2]:.4f}"),
    "positive discharges": table(
        "Time [s],Current [A],Voltage [V]", lambda r: f"{r[0]},{r[1]},{r[2]:.4f}", charge=-1.0
    ),
    "no units": table("Time,Current,Voltage", lambda r: f"{r[0]},{r[1]},{r[2]:.4f}"),
    "minutes": table(
        "Date Time,Time,Current [A],Voltage [V]", lambda r: f"{clock(r)},{r[0] / 60},{r[1]},{r[2]:.4f}"
    ),
    "clock only": table("Date Time,Current [A],Voltage [V]", lambda r: f"{clock(r)},{r[1]},{r[2]:.4f}"),
    "words": table("Time [s],Mode,Current [A],Voltage [V]", lambda r: f"{r[0]},{r[3]},{abs(r[1])},{r[2]:.4f}"),
    "no sign": table(
        "Time [s],Step Index,Current [A],Voltage [V]",
        lambda r: f"{r[0]},{r[0] // (60 * N)},{abs(r[1])},{r[2]:.4f}",
    ),
    "electrodes": table(
        "time/s,<Ewe>/V,<Ewe-Ece>/V,I/mA", lambda r: f"{r[0]},{r[2]:.4f},{r[2] - 0.2:.4f},{1000 * r[1]}"
    ),
    "flat, of a maker": table(
        "DataPoint,Cycle Index,Step Index,Step Type,Time,Current(A),Voltage(V),Capacity(Ah),Date",
        lambda r: f"1,1,{r[0] // (60 * N)},{r[3]},{r[0]},{r[1]},{r[2]},0,2024-03-04 08:00:00",
        flat=True,
    ),
}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        yield opened


def stored(folder: Path, path: Path, **options: object) -> tuple[FileReport, str | None]:
    """The report of a file in a store of its own, and the hash of what was stored."""
    folder.mkdir()
    with wb.open(folder / "lab.db") as opened:
        (file,) = opened.ingest(path, **options)  # type: ignore[arg-type]
        if file.measurement_id is None:
            return file, None
        return file, opened.measurements.get(file.measurement_id).content_hash


def follow(tmp_path: Path, path: Path) -> int:
    """Follow each piece of advice about a file; how many there were."""
    file, before = stored(tmp_path / "first", path)
    assert before is not None, file.why
    said = [fix for fix in file.fixes if "=" in fix]
    for place, fix in enumerate(said):
        options = eval(f"dict({fix})")
        again, after = stored(tmp_path / f"followed {place}", path, **options)
        assert after == before, (fix, again.why or again.assumed)
    return len(said)


@pytest.mark.parametrize("name", FILES)
def test_advice_about_a_file_keeps_its_numbers(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(FILES[name])
    assert follow(tmp_path, path) > 0 or name == "flat, of a maker"


@pytest.mark.long
def test_advice_about_real_files_keeps_their_numbers(tmp_path: Path, shared_data: Path) -> None:
    followed = 0
    for folder in (
        "arbin_csv",
        "basytec_txt",
        "biologic_mpt",
        "custom_csv",
        "landt_csv",
        "maccor_txt",
        "neware_csv",
    ):
        for path in sorted(p for p in (shared_data / folder).iterdir() if p.stat().st_size < 5_000_000):
            place = tmp_path / f"{folder} {path.name}"
            place.mkdir()
            followed += follow(place, path)
    assert followed > 10


def test_the_sign_of_a_maker_is_not_open(bench: wb.Bench, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(FILES["flat, of a maker"])
    report = bench.ingest(path)
    (row,) = [row for row in report.assumptions() if row["assumed"] == "sign_unchecked"]
    assert "a positive current was read as charge because the headers are those of Neware files" in str(
        row["example"]
    )
    assert row["settled by"] == "nothing to choose: the format says what its sign means"
    (said,) = [text for text in report[0].assumed_and_settled if "a positive current was read as charge" in text]
    assert said.endswith("There is nothing to choose: the format says what its sign means.")


def test_what_was_taken_is_offered_and_not_the_other(bench: wb.Bench, tmp_path: Path) -> None:
    for name, volts in (("positive charges", "3.1000"), ("positive discharges", "3.1001")):
        (tmp_path / f"{name}.csv").write_text(FILES[name].replace("3.1000", volts))
    report = bench.ingest([tmp_path / f"{name}.csv" for name in ("positive charges", "positive discharges")])
    settled = {row["settled by"] for row in report.assumptions() if row["assumed"] == "sign_from_voltage"}
    assert settled == {'sign="charge"', 'sign="discharge"'}


def test_every_format_of_a_maker_declares_its_sign() -> None:
    for name, format in FORMATS.items():
        if isinstance(format, TextFormat) and format.columns is not DELIMITED.columns:
            assert format.sign in ("charge", "discharge", "found"), name
            assert format.sign_rule, name
    for name in ("arbin", "basytec", "biologic", "digatron", "landt", "maccor", "neware", "novonix", "pec"):
        assert FORMATS[name].sign_rule.startswith("positive charges"), name


def test_columns_of_steps_are_no_samples(bench: wb.Bench, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(FILES["positive charges"])
    report = bench.ingest(tmp_path / "a.csv")
    test = bench.measurements.get(report[0].measurement_id)
    bench.measurements.steps(test).to_csv(tmp_path / "steps.csv", index=False)
    bench.measurements.cycles(test).to_csv(tmp_path / "cycles.csv", index=False)
    for name in ("steps.csv", "cycles.csv"):
        why = bench.ingest(tmp_path / name)[0].why
        assert "column_map" not in why
        assert "belong to a table of steps or cycles" in why
        assert "Export the samples of the test instead." in why


def test_candidates_are_columns_of_samples() -> None:
    assert candidates(["Current [A]"], ["Min current [A]", "Set current [A]", "Current range [A]"]) == {}
    assert candidates(["Voltage [V]"], ["Cutoff voltage [V]", "Cell V [V]"]) == {"Cell V [V]": "Voltage [V]"}


def test_two_columns_that_could_be_meant_are_both_named(bench: wb.Bench, tmp_path: Path) -> None:
    lines = [f"{k},3.{k},3.{k},1" for k in range(9)]
    (tmp_path / "a.csv").write_text("\n".join(["Time [s],U1 [V],U2 [V],Current [A]", *lines]))
    assert "'U2 [V]' could be the voltage too: name the right one." in bench.ingest(tmp_path / "a.csv")[0].why


@pytest.mark.parametrize(
    "text",
    [
        "Dear all,\nThe time, the current, and the voltage\nwere, all three, measured.\nBest, me\n" * 3,
        "Protocol, version 3\nCharge at 1C, then rest, then discharge\nrepeat, 100, times\n",
        "# Notes\n\nCells arrived on Monday, 3 of them broken.\nThe rest, as said, is fine.\n",
    ],
)
def test_text_that_is_not_a_table_is_not_quoted_as_columns(text: str, bench: wb.Bench, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text)
    why = bench.ingest(tmp_path / "a.txt")[0].why
    assert "is text, but not a table of numbers" in why
    assert "columns are" not in why


def test_a_table_of_numbers_keeps_its_columns_in_the_message(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(wb.errors.FileRefused, match="Its columns are 'a' and 'b'"):
        read(tmp_path / "a.csv")
