"""A measurement that is exported and read back is the same: samples to the bit, steps, cycles and what is known."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import workbench as wb
from workbench.errors import BadRequest
from workbench.readers import recognise
from workbench.records import Measurement
from workbench.store.scope import EVERYTHING
from workbench.table import Column, Table

NAMES = ("out.bdf.csv", "out.bdf.parquet", "out.parquet")
KNOWN = ("name", "start_time", "end_time", "tags", "properties", "protocol", "test_setup", "measurement_type")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as opened:
        ratings = {
            "capacity": {"value": 5.0, "unit": "A.h"},
            "voltage_min": {"value": 2.5, "unit": "V"},
            "voltage_max": {"value": 4.2, "unit": "V"},
        }
        opened.specifications.create(
            name="LG M50", ratings=ratings, manufacturer="LG", properties={"porosity": 0.3}
        )
        opened.batches.create(name="A", specification="LG M50")
        opened.instances.create(name="c1", specification="LG M50", batch="A", properties={"mass": 68.5})
        yield opened


def odd_samples() -> Table:
    """Every kind of column, with what is easily lost: -0.0, infinities, nulls, NaNs, small floats, unusual words."""
    n = 400
    t = np.arange(n) * 1.1
    state = np.arange(n) // 100
    current = np.choose(state % 3, [1.0, -0.0, -1.0]) / 3
    voltage = 3.7 - np.cumsum(current) / 1000
    gaps = np.arange(n) % 7 != 3
    return Table(
        {
            "Time [s]": Column.of(t),
            "Current [A]": Column.of(current),
            "Voltage [V]": Column.of(voltage, gaps | (state != 1)),
            "Step count": Column.of(state),
            "Cycle count": Column.of(state * 0),
            "Temperature [degC]": Column("number", (25 + t / 99).astype(np.float32)),
            "step_count": Column("integer", (state % 4).astype(np.int16)),
            "odd": Column.of(np.where(state == 2, np.inf, np.where(state == 3, np.nan, 1e-300))),
            "Word, said": Column.text(
                [None if k % 9 == 4 else ["", "a,b", 'say "ü"', "NaN", "1"][k % 5] for k in range(n)]
            ),
            "Date": Column("datetime", 1_700_000_000_000_000 + np.arange(n) * 1_234_567, gaps),
            "flag": Column("boolean", state > 1, gaps),
            "nothing": Column.nulls(n),
        },
        n,
    )


def added(bench: wb.Bench, samples: Table, **fields: Any) -> Measurement:
    cell = bench.instances.get("c1")
    given = {"instance_id": cell.id, "name": "RPT 1", **fields}
    return bench.backend.add_time_series(given, samples, None, "discharge")


def returned(tmp_path: Path, path: Path, **options: Any) -> tuple[wb.Bench, Measurement]:
    other = wb.open(tmp_path / f"{path.name}.db")
    (file,) = other.ingest(path, **options)
    assert file.status == "stored", file
    return other, other.measurements.get(file.measurement_id)


def content(bench: wb.Bench, id: str) -> list[Any]:
    infos = [
        bench.backend.store.series.info(id, dataset, scope=EVERYTHING) for dataset in ("series", "steps", "cycles")
    ]
    return [info.content_hash if info else None for info in infos]


@pytest.mark.parametrize("name", NAMES)
def test_all_comes_back(bench: wb.Bench, tmp_path: Path, name: str) -> None:
    known = {
        "tags": ["a", "b"],
        "properties": {"temperature": {"value": 25.0, "unit": "degC"}},
        "protocol": {"name": "RPT", "steps": [1, 2]},
        "test_setup": {"channel": 7},
        "start_time": "2026-01-31T12:00:00.250000Z",
    }
    before = added(bench, odd_samples(), **known)
    written = bench.measurements.export(before, tmp_path / name)
    assert written[0] == tmp_path / name
    other, after = returned(tmp_path, tmp_path / name)
    with other:
        assert content(other, after.id) == content(bench, before.id)
        assert [getattr(after, field) for field in KNOWN] == [getattr(before, field) for field in KNOWN]
        assert (after.instance_name, after.batch_name, after.specification_name) == ("c1", "A", "LG M50")
        assert other.instances.get("c1").properties == {"mass": 68.5}
        made, held = other.specifications.get("LG M50"), bench.specifications.get("LG M50")
        assert (made.ratings, made.properties) == (held.ratings, held.properties)
        assert after.source["exported_from"] == before.source
    assert bench.ingest(tmp_path / name)[0].status == "duplicate" or before.content_hash is None


@pytest.mark.parametrize("name", NAMES)
def test_notes_makers_dates_and_provenance_come_back(bench: wb.Bench, tmp_path: Path, name: str) -> None:
    """They were in the file, and were not read: a specification came back without its manufacturer and its licence."""
    bench.specifications.update(
        "LG M50", notes="from the sheet", form_factor="21700", source={"doi": "10.1/a", "license": "CC-BY-4.0"}
    )
    bench.batches.update(
        "A", notes="second line", date_manufactured="2026-01-02", properties={"line": {"value": 2, "unit": "1"}}
    )
    bench.instances.update("c1", notes="dented", date_manufactured="2026-01-03")
    before = added(bench, odd_samples(), notes="chamber door open")
    bench.measurements.export(before, tmp_path / name)
    other, after = returned(tmp_path, tmp_path / name)
    fields = {
        "specifications": ("LG M50", ("notes", "form_factor", "manufacturer", "source")),
        "batches": ("A", ("notes", "date_manufactured", "properties")),
        "instances": ("c1", ("notes", "date_manufactured")),
    }
    with other:
        assert after.notes == "chamber door open"
        for collection, (record, names) in fields.items():
            held, made = getattr(bench, collection).get(record), getattr(other, collection).get(record)
            assert [getattr(made, field) for field in names] == [getattr(held, field) for field in names]
            assert getattr(held, names[0])
    (tmp_path / "named").mkdir()
    named, _ = returned(tmp_path / "named", tmp_path / name, specification="Other", instance="c9", batch="B")
    with named:
        assert named.specifications.get("Other").manufacturer is None
        assert (named.batches.get("B").notes, named.instances.get("c9").notes) == (None, None)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_excluded_comes_back_and_the_report_says_so(bench: wb.Bench, tmp_path: Path, name: str) -> None:
    before = added(bench, odd_samples())
    bench.exclude(before, cycles="0-2", reason="power cut")
    bench.exclude(before, reason="wrong cell", name="whole")
    bench.measurements.export(before, tmp_path / name)
    with wb.open(tmp_path / "other.db") as other:
        (file,) = other.ingest(tmp_path / name)
        columns = ["name", "measurement_name", "cycles", "reason"]
        held, made = bench.exclusions()[columns], other.exclusions()[columns]
        assert made.sort_values("name").to_dict("list") == held.sort_values("name").to_dict("list")
        assert len(made) == 2
        assert "Excluded, as where it was exported: cycles 0-2 (power cut)." in file.assumed
        assert other.ingest(tmp_path / name)[0].status == "duplicate"
        assert len(other.exclusions()) == 2


@pytest.mark.parametrize("name", NAMES)
def test_estimated_ratings_stay_an_estimate(tmp_path: Path, name: str) -> None:
    """They became ratings that somebody said: a slow discharge of an estimated 22 A.h became a rest."""
    time = np.arange(1200) * 30.0
    current = np.where(time < 1800, 1e-3, np.where(time < 19000, 2.0, -2.0))
    volts = 3.6 - np.cumsum(current) * 30 / 3600 / 20 - 0.05 * current
    (tmp_path / "slow.csv").write_text(
        "time [s],current [A],voltage [V]\n"
        + "".join(f"{t},{i},{v:.6f}\n" for t, i, v in zip(time, current, volts, strict=True))
    )
    with wb.open(tmp_path / "lab.db") as first, wb.open(tmp_path / "other.db") as other:
        (file,) = first.ingest(tmp_path / "slow.csv", sign="discharge")
        before = first.measurements.get(file.measurement_id)
        first.measurements.export(before, tmp_path / name)
        (again,) = other.ingest(tmp_path / name)
        after = other.measurements.get(again.measurement_id)
        held, made = (
            b.specifications.get(b.measurements.get(m).specification_name)
            for b, m in ((first, before), (other, after))
        )
        assert (made.ratings, made.source) == (held.ratings, held.source)
        pd.testing.assert_frame_equal(other.measurements.steps(after), first.measurements.steps(before))
        pd.testing.assert_frame_equal(other.measurements.cycles(after), first.measurements.cycles(before))
        assert any("were estimated from the data" in text for text in again.assumed)


@pytest.mark.parametrize("name", NAMES)
def test_given_steps_come_back(bench: wb.Bench, tmp_path: Path, name: str) -> None:
    steps = pd.DataFrame(
        {"Step count": [0, 1], "Start index": [0, 150], "End index": [149, 399], "mine": ["x", "y"]}
    )
    frame = pd.DataFrame(
        {"Time [s]": np.arange(400.0), "Current [A]": 1.0, "Voltage [V]": 4 - np.arange(400) / 1000}
    )
    before = bench.measurements.create(
        instance="c1", name="given", time_series=frame.assign(**{"Step count": 0}), steps=steps
    )
    bench.measurements.export(before, tmp_path / name)
    other, after = returned(tmp_path, tmp_path / name)
    with other:
        assert other.measurements.steps(after).equals(bench.measurements.steps(before))
        assert after.source["steps"] == "given"


def test_bdf_is_bdf_for_others(bench: wb.Bench, tmp_path: Path) -> None:
    record = added(bench, odd_samples(), start_time="2026-01-31T12:00:00Z")
    for name in NAMES[:2]:
        bench.measurements.export(record, tmp_path / name)
    table = pq.read_table(tmp_path / NAMES[1]).to_pandas()
    mine = bench.measurements.time_series(record)
    assert table["current_ampere"].tolist() == (-mine["Current [A]"]).tolist()
    assert table["unix_time_second"].iloc[0] == pd.Timestamp("2026-01-31T12:00:00Z").timestamp()
    assert {"test_time_second", "voltage_volt", "temperature_t1_celsius"} <= set(table)
    (tmp_path / "out.bdf.json").unlink()
    assert recognise(tmp_path / NAMES[0]) == "bdf"
    other, after = returned(tmp_path, tmp_path / NAMES[0])
    with other:
        assert other.measurements.time_series(after)["Current [A]"].tolist() == mine["Current [A]"].tolist()


def test_a_text_file_comes_back_under_another_name_and_compressed(bench: wb.Bench, tmp_path: Path) -> None:
    """Its passport was taken for a document with labels: the cell had 'content_hash' and 'rows' as properties."""
    before = added(bench, odd_samples(), properties={"a": 1})
    bench.measurements.export(before, tmp_path / "out.bdf.csv")
    text, passport = (tmp_path / "out.bdf.csv").read_bytes(), (tmp_path / "out.bdf.json").read_bytes()
    for name, data in (("mine.csv", text), ("out.bdf.csv.gz", gzip.compress(text))):
        folder = tmp_path / name.replace(".", "_")
        folder.mkdir()
        (folder / name).write_bytes(data)
        (folder / name.replace(".gz", "").replace(".csv", ".json")).write_bytes(passport)
        with wb.open(tmp_path / f"{name}.db") as other:
            (file,) = other.ingest(folder)
            assert (file.format, file.assumed) == ("exported", [])
            assert content(other, file.measurement_id) == content(bench, before.id)
            assert other.instances.get("c1").properties == {"mass": 68.5}
            assert other.measurements.get(file.measurement_id).properties == {"a": 1}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_changed_is_an_ordinary_one(bench: wb.Bench, tmp_path: Path, name: str) -> None:
    record = added(bench, odd_samples())
    bench.measurements.export(record, tmp_path / name)
    if name.endswith("csv"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text.replace("3.7", "3.8", 1))
    else:
        table = pq.read_table(tmp_path / name)
        pq.write_table(table.slice(1), tmp_path / name)
    other = wb.open(tmp_path / "other.db")
    with other:
        (file,) = other.ingest(tmp_path / name)
        assert file.format != "exported"
        assert any("is not as it was written" in message for message in file.odd)


@pytest.mark.parametrize(
    "passport",
    [
        "",
        "[]",
        '{"version": 1}',
        '{"version": 1, "columns": [{"name": "x"}]}',
        '{"version": 99}',
        "null",
        '"\\ud800"',
    ],
)
def test_a_passport_that_is_none_is_not_looked_at(bench: wb.Bench, tmp_path: Path, passport: str) -> None:
    record = added(bench, odd_samples())
    bench.measurements.export(record, tmp_path / NAMES[0])
    (tmp_path / "out.bdf.json").write_text(passport)
    other = wb.open(tmp_path / "other.db")
    with other:
        assert other.ingest(tmp_path / NAMES[0])[0].format == "bdf"


@pytest.mark.parametrize(
    "wrong",
    [
        {"measurement": []},
        {"measurement": {"start_time": "soon"}},
        {"measurement": {"properties": None}},
        {"instance": {"name": 5}},
        {"specification": {"ratings": []}},
        {"specification": {"ratings": {"capacity": 5}}},
        {"columns": 7},
        {"rows": "many"},
        {"steps": "%%%"},
    ],
)
def test_a_passport_of_wrong_shapes_is_not_looked_at(
    bench: wb.Bench, tmp_path: Path, wrong: dict[str, Any]
) -> None:
    bench.measurements.export(added(bench, odd_samples()), tmp_path / NAMES[0])
    path = tmp_path / "out.bdf.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | wrong))
    with wb.open(tmp_path / "other.db") as other:
        assert other.ingest(tmp_path / NAMES[0])[0].format == "bdf"


def test_a_passport_cannot_break_the_rules(bench: wb.Bench, tmp_path: Path) -> None:
    record = added(bench, odd_samples())
    bench.measurements.export(record, tmp_path / NAMES[0])
    path = tmp_path / "out.bdf.json"
    said = json.loads(path.read_text())
    said["measurement"] |= {"tags": ["x" * 99], "properties": {"a": {"b": 1}}}
    path.write_text(json.dumps(said))
    other = wb.open(tmp_path / "other.db")
    with other:
        (file,) = other.ingest(tmp_path / NAMES[0])
        assert file.status == "refused"
        assert "A tag has at most" in file.why
        assert len(other.measurements.list()) == 0


def test_a_passport_with_fields_of_wrong_types_is_refused_or_left_out(bench: wb.Bench, tmp_path: Path) -> None:
    record = added(bench, odd_samples())
    bench.measurements.export(record, tmp_path / NAMES[0])
    path = tmp_path / "out.bdf.json"
    said = json.loads(path.read_text())
    for place, (wrong, status) in enumerate(
        (({"source": "a text"}, "stored"), ({"manufacturer": [1]}, "refused"))
    ):
        path.write_text(json.dumps(said | {"specification": said["specification"] | wrong}))
        with wb.open(tmp_path / f"other-{place}.db") as other:
            (file,) = other.ingest(tmp_path / NAMES[0])
            assert (file.status, file.format) == (status, "exported"), file
            assert len(other.measurements.list()) == (status == "stored")


def test_labels_go_before_what_a_file_says(bench: wb.Bench, tmp_path: Path) -> None:
    record = added(bench, odd_samples(), tags=["a"])
    bench.measurements.export(record, tmp_path / NAMES[2])
    other, after = returned(tmp_path, tmp_path / NAMES[2], sheet=[{"file": "*", "cell": "mine", "test": "T"}])
    with other:
        assert (after.instance_name, after.name, after.tags) == ("mine", "T", ["a"])


def test_what_cannot_be_exported_is_said(bench: wb.Bench, tmp_path: Path) -> None:
    record = added(bench, odd_samples())
    (tmp_path / "taken.bdf.csv").mkdir()
    for path, told in (
        (tmp_path / "taken.bdf.csv", "is a folder"),
        (tmp_path / "a.xlsx", "does not have the ending"),
        (tmp_path / "no" / "a.parquet", "no folder"),
    ):
        with pytest.raises(BadRequest, match=told):
            bench.measurements.export(record, path)
    empty = bench.measurements.create(instance="c1", name="nothing")
    with pytest.raises(BadRequest, match="no sampled data"):
        bench.measurements.export(empty, tmp_path / "a.parquet")
    assert list(tmp_path.glob("*.parquet")) == []


def test_a_text_and_its_passport_are_written_both_or_not_at_all(bench: wb.Bench, tmp_path: Path) -> None:
    before = added(bench, odd_samples())
    (tmp_path / "out.bdf.json").mkdir()
    (tmp_path / "out.bdf.csv").write_text("the older export")
    with pytest.raises(BadRequest, match=r"out\.bdf\.json' is a folder"):
        bench.measurements.export(before, tmp_path / "out.bdf.csv")
    assert (tmp_path / "out.bdf.csv").read_text() == "the older export"


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_the_cycler_come_back(bench: wb.Bench, tmp_path: Path, name: str) -> None:
    lines = ["Time [s],Current [A],Voltage [V],Step Type"]
    for second in range(300):
        word, current = [("CC_DChg", 1.0), ("Rest", 0.0), ("CC_Chg", -1.0)][second // 100]
        lines.append(f"{second},{current},{3.7 - current / 100:.3f},{word}")
    path = tmp_path / "of a cycler.csv"
    path.write_text("\n".join(lines) + "\n")
    (file,) = bench.ingest(path, instance="c1", sign="discharge")
    steps = bench.measurements.steps(file.measurement_id)
    assert steps["Step type from cycler"].tolist() == ["CC_DChg", "Rest", "CC_Chg"]
    bench.measurements.export(file.measurement_id, tmp_path / name)
    other, after = returned(tmp_path, tmp_path / name)
    with other:
        assert content(other, after.id) == content(bench, str(file.measurement_id))
        pd.testing.assert_frame_equal(other.measurements.steps(after.id), steps)


def test_each_test_has_a_file_of_its_own(bench: wb.Bench, tmp_path: Path) -> None:
    """The second of two cells of one name was ``c1_RPT_2``, and so was a test 'RPT 2' of the first: one was lost."""
    first = bench.instances.get("c1").id
    bench.specifications.create(name="Other", ratings=bench.specifications.get("LG M50").ratings)
    other = bench.instances.create(name="c1", specification="Other")
    for cell, name in ((first, "RPT"), (other.id, "RPT"), (first, "RPT (2)")):
        bench.backend.add_time_series({"instance_id": cell, "name": name}, odd_samples(), None, "discharge")
    (tmp_path / "out").mkdir()
    assert bench.export_tests(tmp_path / "out", ending=".parquet") == {}
    assert len(list((tmp_path / "out").iterdir())) == 3


def test_texts_of_several_lines_come_back_from_a_long_text_file(bench: wb.Bench, tmp_path: Path) -> None:
    """A block of the file ended within a text, so the file was read as one without a passport."""
    n = 20_000
    time, note = np.arange(n) * 1.0, "one,\n" * 60
    samples = Table(
        {
            "Time [s]": Column.of(time),
            "Current [A]": Column.of(np.full(n, 1.0)),
            "Voltage [V]": Column.of(4 - time * 1e-5),
            "Step count": Column.of(np.zeros(n, np.int64)),
            "Note": Column.text([f"{k}{note}" for k in range(n)]),
        },
        n,
    )
    before = added(bench, samples, tags=["long"])
    bench.measurements.export(before, tmp_path / "long.bdf.csv")
    other, after = returned(tmp_path, tmp_path / "long.bdf.csv")
    with other:
        assert content(other, after.id) == content(bench, before.id)
        assert after.tags == ["long"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("odd", ["falls", "missing"])
def test_a_test_whose_time_falls_or_is_missing_comes_back(odd: str, name: str, tmp_path: Path) -> None:
    """It is stored with a warning. Its export came back without cell and name."""
    n = np.arange(60)
    way = np.where(n // 10 % 2, -1.0, 1.0)
    frame = pd.DataFrame(
        {"Time [s]": 10.0 * n, "Current [A]": way, "Voltage [V]": 3.6 + way * (0.05 + n % 10 / 1e3)}
    )
    frame["Step from cycler"] = n // 10
    if odd == "falls":
        frame.loc[31:, "Time [s]"] -= 75.0
    else:
        frame.loc[[7, 33], "Time [s]"] = np.nan
    frame.to_csv(tmp_path / "odd one.csv", index=False)
    with wb.open(tmp_path / "first.db") as bench:
        (file,) = bench.ingest(tmp_path / "odd one.csv", sign="charge", instance="c7")
        assert file.status == "stored"
        bench.measurements.export(file.measurement_id, tmp_path / name)
        other, after = returned(tmp_path, tmp_path / name)
        with other:
            assert (after.name, after.instance_name) == ("odd one", "c7")
            assert content(other, after.id) == content(bench, file.measurement_id)
