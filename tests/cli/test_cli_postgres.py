"""A store on PostgreSQL from outside: commands, ``wb.open``, a server on it, and a new format."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from support.postgres import programs, server
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.environment import StoreAddress, meant_store, store_place
from workbench.errors import StoreNotice, StoreTooNew
from workbench.store import migrations
from workbench.store.migrations import FORMAT, Migration
from workbench.store.postgres import schema
from workbench.store.store import Store

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "postgresql.md"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return server().address()


def call(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr or str(done.exception or "")


def test_commands_take_an_address_where_they_take_a_file(address: str, tmp_path: Path) -> None:
    code, said, problem = call("keys", "create", "--user", "ann@lab.org", "--json", "--store", address)
    assert code == 0, problem
    assert json.loads(said)["key"].startswith("wb_")
    assert json.loads(call("users", "list", "--json", "--store", address)[1])[0]["email"] == "local@localhost"
    assert json.loads(call("search", "Default", "--json", "--store", address)[1])["total"] == 1
    code, said, _ = call("verify", "--store", address)
    assert (code, said.split(" is ")[1]) == (0, "sound.\n")
    code, said, problem = call("upgrade", "--store", address)
    assert code == 0, problem
    assert "is up to date: format" in said
    code, _, problem = call("backup", tmp_path / "copy.db", "--store", address)
    assert code != 0
    assert "pg_dump" in problem


@pytest.mark.long
def test_the_page_of_the_docs_runs_and_a_server_gives_the_same(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its blocks, with the address of this test and one file instead of a folder."""
    monkeypatch.chdir(ROOT)
    space: dict[str, Any] = {}
    for language, block in re.findall(r"^```(python|sh)\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M):
        text = block.replace("postgresql://ann@db.lab/cells", address)
        text = text.replace("sample_data/biologic ", "sample_data/biologic/PCH-01_EIS_fresh.mpt ")
        if language == "python":
            exec(text, space)
            continue
        for line in text.splitlines():
            code, _, problem = call(*shlex.split(line)[1:])
            assert code == 0, problem
    with space["bench"] as bench:
        assert bench.backend.opening == f"wb.open({unquote(address)!r})"
        found = bench.find("PCH", limit=20)
        assert found.total >= 2
        plan = {"plan": {"steps": {"tests": {"op": "list", "source": "measurements"}}}}
        rows = bench.dataset(plan)["tests"]
        assert len(rows) == 1
        with bench.serve() as served, wb.connect(served.url, served.api_key) as remote:
            assert remote.find("PCH", limit=20) == found
            assert remote.dataset(plan)["tests"].equals(rows)


def test_the_lines_of_the_page_bring_a_dump_back(address: str, tmp_path: Path) -> None:
    """In a new database, as after a loss: with the index that the search needs."""
    found = programs()
    assert found is not None
    binaries, place = (found / "initdb").resolve().parent, server().folder
    schema_name = address.rpartition("=")[2]
    assert call("keys", "create", "--user", "bob@lab.org", "--store", address)[0] == 0
    page = PAGE.read_text("utf-8")
    section = page[page.index("## Back up") : page.index("## Samples in an object store")]
    lines = "\n".join(re.findall(r"^```text\n(.*?)^```", section, re.S | re.M)).splitlines()
    environment = {"PATH": f"{binaries}:/bin:/usr/bin", "PGHOST": str(place), "PGUSER": "lab"}
    for line in lines:
        if line.startswith("workbench"):
            break
        there = line.replace("--schema=workbench cells", f"--schema={schema_name} lab")
        subprocess.run(there, shell=True, check=True, env=environment, cwd=tmp_path)
    else:
        raise AssertionError("the page ends with a command of the workbench")
    restored = address.replace("/lab?", "/restored?")
    assert restored != address
    assert call(*line.replace("postgresql://ann@db.lab/restored", restored).split()[1:])[0] == 0
    with Store.open(restored) as store, store.snapshot() as db:
        names = db.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'search_entries'").fetchall()
    assert "search_entries_folded" in {name for (name,) in names}


def test_the_variable_names_an_address_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_STORE", "postgresql://ann@db.lab/cells?schema=lab_2")
    place = meant_store(None)
    assert isinstance(place, StoreAddress)
    assert str(place) == str(place.resolve()) == "postgresql://ann@db.lab/cells?schema=lab_2"
    assert store_place("postgres:///cells").exists()
    assert not isinstance(store_place("postgresql.db"), StoreAddress)


def test_a_new_format_is_added_when_a_store_is_opened(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(address) as store:
        before = store.rows.organizations()
    step = Migration(
        FORMAT + 1,
        f"{FORMAT + 1:04}_colour",
        "9.0",
        "Cells have a colour.",
        (
            'ALTER TABLE "instances" ADD COLUMN "colour" TEXT',
            'CREATE TABLE "paints" ("id" TEXT PRIMARY KEY NOT NULL, "litres" REAL) STRICT',
            'CREATE INDEX "paints_litres" ON "paints" ("litres")',
        ),
        oldest_writer=FORMAT + 1,
    )
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, step))
        patch.setattr(migrations, "FORMAT", step.number)
        schema.shapes.cache_clear()
        with pytest.warns(StoreNotice, match=f"brought to format {step.number}"):
            Store.open(address).close()
        with Store.open(address) as store:
            with store.transaction() as db:
                db.execute("insert into paints values ('red', 1.5)")
                assert db.execute("select * from paints").fetchall() == [("red", 1.5)]
                assert db.execute("select colour from instances limit 1").fetchall() in ([], [(None,)])
            assert store.verify() == []
    schema.shapes.cache_clear()
    with Store.open(address) as store:
        assert store.rows.organizations() == before
        with pytest.raises(StoreTooNew), store.transaction():
            pass


@pytest.mark.parametrize("command", [["serve", "--port", "0"], ["watch", "."]])
def test_what_runs_on_says_how_to_wait_for_a_database_that_does_not_answer(command: list[str]) -> None:
    pytest.importorskip("psycopg")
    code, _, said = call(*command, "--store", "postgresql://ann@127.0.0.1:1/cells")
    assert code == 1
    assert "start it when 'pg_isready' succeeds, or let systemd start it again" in said
