"""The commands of a store as a whole: upgrade and recompute, and the notice of a store that is opened."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from workbench.cli import app
from workbench.cycling import steps
from workbench.store.migrations import FORMAT

FIRST = Path(__file__).parents[1] / "stores" / "store-0.1.0.db"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A copy of the store that 0.1.0 left."""
    return Path(shutil.copy(FIRST, tmp_path / "lab.db"))


def call(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


def test_upgrade_says_what_it_would_do_and_does_it(old: Path) -> None:
    before = old.read_bytes()
    code, said, _ = call("upgrade", "--check", "--store", old)
    assert code == 1
    assert f"would be brought from format 1 to {FORMAT}" in said
    assert f"The backup would be {old.with_name('lab.format-1.db')}." in said
    assert old.read_bytes() == before
    code, said, _ = call("upgrade", "--store", old, "--project", "Pouch cells", "--organization", "Local")
    assert code == 0
    assert f"was brought from format 1 to {FORMAT}" in said
    assert old.with_name("lab.format-1.db").read_bytes() != old.read_bytes()
    assert call("upgrade", "--check", "--store", old)[:2] == (0, f"{old} is up to date: format {FORMAT}.\n")
    assert json.loads(call("upgrade", "--json", "--store", old)[1])["steps"] == []


def test_upgrade_without_a_backup_makes_none(old: Path) -> None:
    assert call("upgrade", "--no-backup", "--store", old)[0] == 0
    assert not old.with_name("lab.format-1.db").exists()


def test_commands_that_read_leave_an_older_store_as_it_is(old: Path, tmp_path: Path) -> None:
    before = old.read_bytes()
    named = ("--store", old, "--project", "Pouch cells", "--organization", "Local")
    for words in (("catalog",), ("search", "cell"), ("verify",), ("backup", tmp_path / "copy.db")):
        code, _, problem = call(*words, *named)
        if words == ("verify",):  # older rules do no damage
            assert all(line.startswith("Note: ") for line in problem.splitlines())
            problem = ""
        assert (code, problem) == (0, ""), words
    assert old.read_bytes() == before


def test_a_store_that_is_brought_up_to_date_is_one_line_on_the_console(old: Path) -> None:
    script = "from workbench.cli import main; main()"
    words = ["keys", "list", "--store", str(old), "--organization", "Local"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    for lines in (1, 0):
        done = subprocess.run(
            [sys.executable, "-c", script, *words], capture_output=True, text=True, check=True, env=environment
        )
        assert len(done.stderr.splitlines()) == lines
        assert not lines or done.stderr.startswith(f"The store '{old}' is of an older workbench (format 1")


def test_recompute_says_what_it_would_do_and_does_it(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = ("--store", demo_copy)
    code, said, _ = call("recompute", *named)
    assert (code, said) == (0, f"{demo_copy} is up to date: today's rules made everything in it.\n")
    monkeypatch.setattr(steps, "RULE", steps.RULE + 1)
    code, _, note = call("verify", *named)
    assert code == 0
    assert note.startswith("Note: The steps of ")
    code, said, _ = call("recompute", "--check", *named)
    assert code == 1
    assert "would be recomputed" in said
    code, said, _ = call("recompute", "--where", "nameContains=RPT", "--json", *named)
    chosen = json.loads(said)["measurements"]
    assert code == 0
    assert chosen
    assert all("RPT" in one["name"] for one in chosen)
    assert call("recompute", "--jobs", 1, *named)[0] == 0
    assert call("recompute", "--check", *named)[0] == 0
    assert call("verify", *named)[2] == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--project", "nope"), "There is no project 'nope'"),
        (("--organization", "nope"), "There is no organization 'nope'"),
        (("--where", "batc=A"), "Did you mean 'batch'"),
        (("--where", "batch"), "Write it as KEY=VALUE"),
    ],
)
def test_what_is_chosen_wrongly_is_said(demo_store: Path, words: tuple[str, str], said: str) -> None:
    done = CliRunner().invoke(app, ["recompute", "--check", "--store", str(demo_store), *words])
    assert said in str(done.exception)


@pytest.mark.parametrize("command", [("analyse", "dcir"), ("recompute", "--check"), ("export-tests", "{folder}")])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--where", "batch=Z"), "There is no test with batch 'Z'. The batches are 'A', 'B', 'C'."),
        (("--where", "name=LFP-C-01_RPT"), "Did you mean 'LFP-C-01_RPT0'"),
        (("--where", "ids=x"), "There is no test with ids 'x'."),
        (("--where", "batch=A", "--where", "nameContains=LFP"), "no test with batch and nameContains as given"),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "said",
)
def test_filters_that_no_test_fits_are_said_with_the_values_that_there_are(
    demo_store: Path, tmp_path: Path, command: tuple[str, ...], words: tuple[str, ...], said: str
) -> None:
    called = [word.format(folder=tmp_path) for word in command]
    done = CliRunner().invoke(app, [*called, "--store", str(demo_store), *words])
    assert done.exit_code != 0
    assert said in str(done.exception)
    assert [*tmp_path.iterdir()] == []
