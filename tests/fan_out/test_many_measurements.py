"""Many small measurements are ingested into PostgreSQL and S3 by a Dask cluster, killed and resumed three times: none
is lost, none is there twice, and the numbers are those of a file that one process made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fan_out.test_golden_plans import cluster
from support.many_files import ingest_killed, write
from support.object_server import BUCKET, environment, s3_server
from support.postgres import server as postgres

import workbench as wb
from workbench.store import Store
from workbench.store.objects.collect import surplus
from workbench.store.objects.relocate import keep_samples
from workbench.store.objects.status import status

NUMBER = 10_000
"""Of files."""
LONG_EVERY = 50
"""Of so many files one is long enough for an object."""
COMPARED = 40


def by_cell(bench: wb.Bench) -> dict[str, str]:
    """Name of a cell -> id of its test."""
    listed = bench.measurements.list(limit=None)
    return dict(zip(listed["instance_name"], listed["id"], strict=True))


def numbers(bench: wb.Bench, id: str) -> list[object]:
    """What a plan gives of the samples and the cycles of a test."""
    tables = [bench.backend.sampled(id, dataset) for dataset in ("series", "cycles")]
    return [(column, repr(table[column].tolist())) for table in tables for column in table.names]


@pytest.mark.long
def test_an_ingest_that_is_killed_three_times_loses_nothing_and_stores_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files, address = tmp_path / "files", postgres().address()
    write(files, NUMBER, long_every=LONG_EVERY)
    with s3_server() as port:
        for name, value in environment(port).items():
            monkeypatch.setenv(name, value)
        with Store.open(address) as store:
            keep_samples(store, f"s3://{BUCKET}/many")
        with cluster() as (executor, _):
            said = json.loads(ingest_killed(files, address, executor, 3))
        statuses = [one["status"] for one in said["files"]]
        assert len(statuses) == NUMBER
        assert set(statuses) <= {"stored", "duplicate"}
        assert statuses.count("duplicate") >= NUMBER * 3 // 4, "what was stored before a kill is not read again"
        with wb.open(address) as bench:
            listed = bench.measurements.list(limit=None)
            assert len(listed) == len(set(listed["instance_name"])) == NUMBER
            assert len(bench.instances.list(limit=None)) == NUMBER
            assert bench.verify() == []
            objects = status(bench.backend.store)
            assert (objects.series, objects.waiting) == (NUMBER // LONG_EVERY, 0)
            assert len(surplus(bench.backend.store).names) <= 3, "of a kill at most one object is left"
            few = files.parent / "few"
            few.mkdir()
            # Of them some are long, and most are not.
            for path in sorted(files.iterdir())[:: NUMBER // COMPARED - 1]:
                (few / path.name).symlink_to(path)
            with wb.open(tmp_path / "few.db", executor="serial") as alone:
                alone.ingest(few, specification="S", rating="1Ah,3V,4.2V", name_rule="{cell}_{test}")
                there, here = by_cell(bench), by_cell(alone)
                assert len(here) >= COMPARED
                for name, id in here.items():
                    assert numbers(bench, there[name]) == numbers(alone, id)
