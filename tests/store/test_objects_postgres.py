"""Samples of a store on PostgreSQL in a folder and in S3. What holds of samples of a file holds of these:
``--store=postgres`` runs `test_objects` on them. Here is what only several machines and copies of a schema have."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from support.object_server import BUCKET, environment, s3_server
from support.postgres import programs, server
from test_objects import objects_in, read, same, samples
from typer.testing import CliRunner

from workbench.cli import app
from workbench.errors import BadRequest
from workbench.store import Store
from workbench.store.objects.backup import backup
from workbench.store.objects.collect import surplus
from workbench.store.objects.relocate import keep_samples, relocate
from workbench.store.objects.status import status
from workbench.store.reached import Reached


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def address() -> str:
    made: str = server().address()
    return made


@pytest.fixture
def store(address: str, tmp_path: Path) -> Iterator[Store]:
    """A store with its samples in a folder: one series, "a"."""
    with Store.open(address) as store:
        keep_samples(store, f"folder:{tmp_path}/samples")
        store.series.append("a", "series", samples())
        yield store


def asked(address: str, statement: str) -> None:
    with psycopg.connect(address.partition("&schema")[0], autocommit=True) as connection:
        connection.execute(statement.encode())


def damage(store: Store) -> list[str]:
    """What is wrong with the samples; they belong to no record here."""
    return [one for one in store.series.verify() if "belong to no record" not in one]


def test_another_machine_reads_and_writes_the_same_objects(
    store: Store, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.execute("select count(*) from chunks").fetchone() == (0,)
    monkeypatch.chdir("/")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    with Store.open(f"{address}&application_name=other") as other:
        assert other.path != store.path
        assert same(read(other), samples())
        assert status(other).may_write, "the same store by another address"
        other.series.append("b", "series", samples(seed=1))
        assert surplus(other).names == ()
    assert len(objects_in(tmp_path / "samples")) == 2
    assert same(read(store, "b"), samples(seed=1))
    assert damage(store) == []


def test_the_commands_take_an_address(store: Store, address: str, tmp_path: Path) -> None:
    def call(*words: str) -> dict[str, object]:
        done = CliRunner().invoke(app, ["samples", *words, "--store", address, "--json"])
        assert done.exit_code == 0, done.output
        found: dict[str, object] = json.loads(done.stdout)
        return found

    assert call("show")["place"] == f"folder:{tmp_path}/samples"
    assert call("collect") == {"place": f"folder:{tmp_path}/samples", "names": [], "bytes": 0, "kept": 0}
    assert call("move", "file") == {"place": "file", "moved": 1}
    assert same(read(store), samples())
    assert store.execute("select count(*) from chunks").fetchone() != (0,)
    with pytest.raises(BadRequest, match=r"pg_dump.*Samples that it keeps elsewhere are copied after that"):
        backup(store, tmp_path / "copy.db")


@pytest.mark.long
def test_a_dump_that_is_brought_back_takes_over_when_asked(store: Store, address: str, tmp_path: Path) -> None:
    name, place = address.rpartition("=")[2], f"folder:{tmp_path}/samples"
    found = programs()
    assert found is not None
    binaries = (found / "initdb").resolve().parent
    words = ["-h", str(server().folder), "-U", "lab", "-d", "lab"]
    dump = [binaries / "pg_dump", "--format=custom", f"--schema={name}", f"--file={tmp_path}/lab.dump", *words]
    subprocess.run(dump, check=True, cwd="/")
    asked(address, f"DROP SCHEMA {name} CASCADE")
    subprocess.run([binaries / "pg_restore", *words, tmp_path / "lab.dump"], check=True, cwd="/")
    with Store.open(address) as again:
        assert same(read(again), samples())
        again.series.append("b", "series", samples(seed=1))
        assert len(objects_in(tmp_path / "samples")) == 1, "a copy keeps new samples in itself"
        assert not status(again).may_write
        with pytest.raises(BadRequest, match="is a copy of the one"):
            surplus(again)
        with pytest.raises(BadRequest, match="--take-over"):
            relocate(again, place)
        assert relocate(again, place, take_over=True) == 1
        assert same(read(again, "b"), samples(seed=1))
        assert damage(again) == []


def test_a_user_without_further_rights_may_keep_samples_elsewhere(address: str, tmp_path: Path) -> None:
    asked(address, f"CREATE ROLE plain_{os.getpid()} LOGIN; GRANT CREATE ON DATABASE lab TO plain_{os.getpid()}")
    asked(address, "CREATE EXTENSION IF NOT EXISTS pg_trgm")
    with Store.open(address.replace("lab@", f"plain_{os.getpid()}@")) as store:
        keep_samples(store, f"folder:{tmp_path}/samples")
        store.series.append("a", "series", samples())
        assert status(store).series == 1


def test_a_worker_elsewhere_opens_the_address(store: Store) -> None:
    sent = pickle.loads(pickle.dumps(Reached(store)))
    assert sent.store is not store
    assert same(read(sent.store), samples())
    sent.store.close()


@pytest.mark.long
def test_samples_of_a_database_in_s3(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with s3_server() as port:
        for name, value in environment(port).items():
            monkeypatch.setenv(name, value)
        with Store.open(address) as store:
            keep_samples(store, f"s3://{BUCKET}/lab")
            for seed in range(3):
                store.series.append(str(seed), "series", samples(seed=seed))
            assert status(store).series == 3
            assert all(same(read(store, str(seed)), samples(seed=seed)) for seed in range(3))
            assert damage(store) == []
            store.series.delete("0")
            assert surplus(store).kept == 1, "a reader may still need it"
            assert status(store).series == 2
