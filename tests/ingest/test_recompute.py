"""Rules with numbers: an answer that mixes two says so, and ``recompute`` brings what older rules made up to date."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

import workbench as wb
from workbench.cycling import cycles, steps
from workbench.errors import Invalid, StoreError
from workbench.ingest import recompute as library
from workbench.readers import FORMATS, rule_of, rules_of_readers
from workbench.readers.installed import installed
from workbench.records import Measurement
from workbench.store.cache.cache import Cache
from workbench.store.records import search
from workbench.store.scope import EVERYTHING
from workbench.store.series import derived
from workbench.store.series.rule_notes import KEPT, notes
from workbench.table import Table

RATINGS = {"capacity": {"value": 1, "unit": "A.h"}, "voltage_min": {"value": 2, "unit": "V"}}
RATINGS["voltage_max"] = {"value": 4, "unit": "V"}
NAMES = ("one", "two", "three")


def samples(n: int = 400, shift: float = 0.0) -> dict[str, Any]:
    count = np.arange(n)
    return {
        "Time [s]": count * 10.0,
        "Current [A]": np.where(count // 50 % 2 == 0, 1.0, -1.0),
        "Voltage [V]": 3.5 + 0.1 * np.sin(count / 7) + shift,
        "Step count": count // 50,
        "Cycle from cycler": count // 100,
    }


def add(bench: wb.Bench, name: str, shift: float, given: Table | None = None) -> Measurement:
    fields = {"instance_id": bench.instances.get("C").id, "name": name}
    return bench.backend.add_time_series(fields, Table.of(samples(shift=shift)), given)


def measurements(bench: wb.Bench) -> list[Measurement]:
    return store_of(bench).rows.page(Measurement, bench.backend.scope, limit=None).items


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    """A bench with three measurements, made by today's rules."""
    with wb.open(tmp_path / "lab.db") as opened:
        opened.specifications.create(name="S", ratings=RATINGS)
        opened.instances.create(name="C", specification="S")
        for shift, name in enumerate(NAMES):
            add(opened, name, shift / 100)
        yield opened


def store_of(bench: wb.Bench) -> Any:
    return bench.backend.store


def plan(*, second: bool = True) -> dict[str, Any]:
    """The cycles of two measurements, read by two steps."""
    made = {
        "list": {"op": "list", "source": "measurements", "limit": 100},
        "first": {
            "op": "summary", "ids": {"from": "list", "column": "id"}, "dataset": "cycles",
            "columns": ["Discharge capacity [A.h]"],
        },
    }  # fmt: skip
    if second:
        made["steps"] = {**made["first"], "dataset": "steps"}
    return {"steps": made}


def mixed(bench: wb.Bench) -> list[tuple[str | None, str]]:
    return [
        (one["step"], one["message"]) for one in bench.dataset(plan()).warnings if one["code"] == "mixed_rules"
    ]


def revisions(bench: wb.Bench) -> dict[Any, int]:
    store = store_of(bench)
    ids = [one.id for one in measurements(bench)]
    return store.series.revisions([(id, dataset) for id in ids for dataset in ("series", "steps", "cycles")])


# What is kept


def test_every_way_in_keeps_the_rules(bench: wb.Bench, tmp_path: Path) -> None:
    lines = [
        ",".join(samples()),
        *(",".join(map(str, row)) for row in zip(*samples(shift=0.5).values(), strict=True)),
    ]
    (tmp_path / "file.csv").write_text("\n".join(lines))
    assert bench.ingest(tmp_path / "file.csv", specification="S", instance="C").stored
    given = Table.of({"Start index": [0, 200], "End index": [199, 399]})
    add(bench, "given", 0.7, given)
    rule = store_of(bench).series.rule
    found = {
        one.name: [rule(one.id, name) for name in ("series", "steps", "cycles")] for one in measurements(bench)
    }
    assert found.pop("file") == [rule_of(bench.measurements.get("file").source["format"]), steps.RULE, cycles.RULE]
    assert found.pop("given") == [None, None, cycles.RULE]
    assert set(map(tuple, found.values())) == {(None, steps.RULE, cycles.RULE)}


def test_a_longer_file_and_more_samples_keep_them_too(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file.csv"
    lines = [
        ",".join(samples()),
        *(",".join(map(str, row)) for row in zip(*samples(shift=0.5).values(), strict=True)),
    ]
    path.write_text("\n".join(lines[:301]) + "\n")
    bench.ingest(path, specification="S", instance="C")
    monkeypatch.setattr(cycles, "RULE", cycles.RULE + 1)
    path.write_text("\n".join(lines) + "\n")
    assert [one.status for one in bench.ingest(path, specification="S", instance="C").files] == ["extended"]
    id = bench.measurements.get("file").id
    rule = store_of(bench).series.rule
    assert [rule(id, name) for name in ("series", "steps", "cycles")] == [
        rule_of(bench.measurements.get("file").source["format"]),
        steps.RULE,
        cycles.RULE,
    ]


def test_steps_that_go_on_stay_by_the_older_rule(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "RULE", steps.RULE + 1)
    more = {
        "Time [s]": [4000.0, 4010.0],
        "Current [A]": [1.0, 1.0],
        "Voltage [V]": [3.5, 3.5],
        "Step count": [8, 8],
    }
    one = bench.measurements.get("one")
    bench.backend.extend(one.id, Table.of(more))
    assert store_of(bench).series.rule(one.id, "steps") == steps.RULE - 1
    assert {each.name for each in bench.recompute(check=True).measurements} == set(NAMES)


# Answers


def test_an_answer_that_mixes_two_rules_says_so_until_they_are_recomputed(
    bench: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mixed(bench) == []
    monkeypatch.setattr(cycles, "RULE", cycles.RULE + 1)
    add(bench, "new", 0.9)
    ((step, message),) = mixed(bench)
    assert step == "first"
    for words in ("cycles of 3 measurements by rule 1", "1 measurement by rule 2", "workbench recompute"):
        assert words in message
    before = bench.dataset(plan())["first"]
    done = bench.recompute()
    assert ({one.name for one in done.measurements}, done.failed) == (set(NAMES), {})
    assert mixed(bench) == []
    assert bench.dataset(plan())["first"].equals(before)
    assert bench.recompute().is_nothing
    assert bench.verify() == []


def test_two_steps_that_each_read_one_rule_are_mixed_too(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "RULE", steps.RULE + 1)
    new = add(bench, "new", 0.9)
    one = {"op": "summary", "dataset": "steps", "columns": ["Duration [s]"]}
    both = {"old": {**one, "ids": [bench.measurements.get("one").id]}, "new": {**one, "ids": [new.id]}}
    found = bench.dataset({"steps": both}).warnings
    assert [(one["code"], one["step"]) for one in found] == [("mixed_rules", "new")]
    assert bench.dataset({"steps": {"new": both["new"]}}).warnings == []


def test_given_steps_are_of_no_rule(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Table.of({"Start index": [0, 200], "End index": [199, 399], "Duration [s]": [1.0, 2.0]})
    kept = add(bench, "given", 0.7, given)
    monkeypatch.setattr(steps, "RULE", steps.RULE + 1)
    bench.recompute({"nameContains": "o"})  # 'one' and 'two'
    bench.measurements.delete("three")
    assert mixed(bench) == []
    assert bench.recompute(check=True).is_nothing
    monkeypatch.setattr(cycles, "RULE", cycles.RULE + 1)
    assert {one.name for one in bench.recompute().measurements} == {"one", "two", "given"}
    assert store_of(bench).series.read(kept.id, ["Duration [s]"], dataset="steps", scope=EVERYTHING)[
        "Duration [s]"
    ].tolist() == [
        1,
        2,
    ]
    assert bench.verify() == []


# Notes


def test_what_older_rules_made_is_noted_and_is_no_damage(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert notes(store_of(bench)) == []
    assert "notes" not in bench.catalog().as_dict()
    monkeypatch.setattr(steps, "RULE", steps.RULE + 1)
    monkeypatch.setattr(search, "RULE", search.RULE + 1)
    about_steps, about_search = notes(store_of(bench))
    rules = f"by rule {steps.RULE - 1}, today's is {steps.RULE}"
    assert f"steps of 3 measurements are {rules}: 'one', 'two' and 'three'" in about_steps
    assert "search is by rule 1, today's is 2" in about_search
    assert bench.verify() == []
    shown = bench.catalog()
    assert shown.as_dict()["notes"] == [about_steps] == list(type(shown).of(shown.as_dict()).notes)
    assert about_steps[:40] in repr(shown)


def test_a_file_that_an_older_reader_read_is_noted(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        ",".join(samples()),
        *(",".join(map(str, row)) for row in zip(*samples(shift=0.5).values(), strict=True)),
    ]
    (tmp_path / "file.csv").write_text("\n".join(lines))
    bench.ingest(tmp_path / "file.csv", specification="S", instance="C")
    format = bench.measurements.get("file").source["format"]
    assert notes(store_of(bench)) == []
    before = rule_of(format)
    assert before is not None
    monkeypatch.setitem(FORMATS, format, type("Later", (), {"rule": FORMATS[format].rule + 1})())
    (note,) = notes(store_of(bench))
    assert note.startswith(
        f"1 measurement of format '{format}' was read by rule {before} of its reader, which has rule {before + 1} now"
    )
    assert "'file'" in note
    assert "workbench ingest --again" in note


def test_a_process_without_readers_takes_their_rules_from_the_cache(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file.csv").write_text(
        "\n".join(
            [",".join(samples()), *(",".join(map(str, row)) for row in zip(*samples().values(), strict=True))]
        )
    )
    bench.ingest(tmp_path / "file.csv", specification="S", instance="C")
    format = bench.measurements.get("file").source["format"]
    with Cache(tmp_path / "rules.cache") as cache:
        assert notes(store_of(bench), cache=cache) == []
        monkeypatch.delitem(sys.modules, "workbench.readers.recognition")
        assert notes(store_of(bench), cache=cache) == []
        found = cache.get(KEPT, installed())
        assert found is not None
        kept = orjson.loads(found.data)
        assert kept == rules_of_readers()
        cache.put(KEPT, installed(), orjson.dumps({**kept, format: kept[format] + 1}))
        (note,) = notes(store_of(bench), cache=cache)
        assert f"has rule {kept[format] + 1} now" in note
        monkeypatch.syspath_prepend(tmp_path / "site-packages")
        (tmp_path / "site-packages").mkdir()  # another package may have brought a format
        assert notes(store_of(bench), cache=cache) == []


def test_the_search_is_built_anew(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(bench)
    monkeypatch.setattr(search, "RULE", search.RULE + 1)
    assert library.recompute(store, check=True).search
    with store.transaction() as db:
        db.execute("delete from search_entries where entity = 'cell_measurement'")
    assert bench.find("three").total == 0
    assert library.recompute(store).search
    assert bench.find("three").total == 1
    assert bench.verify() == []
    assert library.recompute(store).is_nothing


# Recompute


def test_recompute_gives_the_same_bits_by_the_same_rule(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with wb.open(demo_copy) as bench:
        info = partial(store_of(bench).series.info, scope=EVERYTHING)
        owners = [one.id for one in measurements(bench) if info(one.id, "cycles") is not None]
        known = {(id, name): info(id, name).content_hash for id in owners for name in ("steps", "cycles")}
        monkeypatch.setattr(steps, "RULE", steps.RULE + 1)
        done = bench.recompute()
        assert (len(done.measurements), done.failed) == (len(owners), {})
        assert {key: info(*key).content_hash for key in known} == known
        assert bench.verify() == []


def test_what_is_chosen_is_recomputed_and_the_rest_stays(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycles, "RULE", cycles.RULE + 1)
    before = revisions(bench)
    assert [one.name for one in bench.recompute({"name": "two"}, check=True).measurements] == ["two"]
    assert revisions(bench) == before
    told: list[Any] = []
    assert [
        one.name for one in bench.recompute({"name": "two"}, progress=lambda *one: told.append(one)).measurements
    ]
    assert told == [(0, 1, "two"), (1, 1, "")]
    changed = {key for key, revision in revisions(bench).items() if before[key] != revision}
    assert changed == {("series", bench.measurements.get("two").id, "cycles")}
    with pytest.raises(Invalid, match="Did you mean 'name'"):
        bench.recompute({"nam": "two"})


def test_a_measurement_that_is_damaged_is_named_and_the_rest_is_done(
    bench: wb.Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(bench)
    id = bench.measurements.get("two").id
    with store.transaction() as db:
        (number,) = db.execute("select id from series where owner = ? and dataset = 'series'", (id,)).fetchone()
        from workbench.store.series import chunks

        db.execute(
            "update chunks set data = zeroblob(length(data)) where key between ? and ?", chunks.span(number)
        )
    monkeypatch.setattr(steps, "RULE", steps.RULE + 1)
    done = bench.recompute()
    assert {one.name for one in done.measurements} == {"one", "three"}
    assert "Damaged" in done.failed["two"]


def test_what_changes_meanwhile_is_computed_once_more(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "RULE", steps.RULE + 1)
    store, one = store_of(bench), bench.measurements.get("one")
    more = {
        "Time [s]": [4000.0, 4010.0],
        "Current [A]": [1.0, 1.0],
        "Voltage [V]": [3.5, 3.5],
        "Step count": [8, 8],
    }
    made = library._made(store, derived.outdated(store, [one.id])[0])
    bench.backend.extend(one.id, Table.of(more))
    library._publish(store, derived.outdated(store, [one.id])[0], made)
    assert store.series.info(one.id, "steps", scope=EVERYTHING).rows == 9
    assert bench.verify() == []


def test_a_busy_store_is_no_fault_of_a_measurement(bench: wb.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "RULE", steps.RULE + 1)

    def busy(*given: Any) -> None:
        raise StoreError("The store is busy.")

    monkeypatch.setattr(library, "_publish", busy)
    with pytest.raises(StoreError, match="busy"):
        bench.recompute()


KILLED = """
import os, signal, sqlite3, sys
from workbench.cycling import cycles, steps
steps.RULE += 1
cycles.RULE += 1
seen, kill_at = 0, int(sys.argv[2])

def count(*_):
    global seen
    seen += 1
    if seen == kill_at:
        os.kill(os.getpid(), signal.SIGKILL)

connect = sqlite3.connect

def counting(*given, **options):
    connection = connect(*given, **options)
    connection.set_trace_callback(count)
    return connection

from workbench.ingest.recompute import recompute
from workbench.store import Store
sqlite3.connect = counting
with Store.open(sys.argv[1]) as store:
    recompute(store)
print(seen)
"""


def killed(path: Path, kill_at: int) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), str(kill_at)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.long
def test_recompute_that_is_killed_leaves_each_measurement_old_or_new(
    bench: wb.Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: bool
) -> None:
    bench.backup(tmp_path / "whole.db")
    code, said = killed(tmp_path / "whole.db", 0)
    statements, rng = int(said), random.Random(3)
    assert code == 0
    monkeypatch.setattr(steps, "RULE", steps.RULE + 1)
    monkeypatch.setattr(cycles, "RULE", cycles.RULE + 1)
    for n in range(30 if long else 5):
        path = tmp_path / f"killed-{n}.db"
        bench.backup(path)
        assert killed(path, rng.randrange(1, statements))[0] == -signal.SIGKILL
        with wb.open(path) as opened:
            assert opened.verify() == []
            for one in measurements(opened):
                rule = store_of(opened).series.rule
                newer = {rule(one.id, "steps") == steps.RULE, rule(one.id, "cycles") == cycles.RULE}
                assert len(newer) == 1, one.name  # both, or none
            opened.recompute()
            assert opened.recompute().is_nothing
            assert mixed(opened) == []
            assert opened.verify() == []
