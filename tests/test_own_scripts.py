"""The record of own scripts: exact, private, shared by processes, and never trusting by mistake."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.errors import StoreNotice
from workbench.own_scripts import MARK, OwnScripts, fingerprint, is_marked, marked, own_scripts, record_path
from workbench.recipe.recipe import Recipe

PLAN = {"steps": {"cells": {"op": "list", "source": "instances"}}}
SCRIPT = "def transform(data, params):\n    return {'data': []}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "own.txt"


def test_exactly_what_was_added_is_known_also_to_another_process(file: Path) -> None:
    record = OwnScripts(file)
    assert not record.has(SCRIPT)
    assert record.add([SCRIPT, SCRIPT, "other"], "saved") == 2
    assert record.add([SCRIPT], "saved") == 0
    for one in (record, OwnScripts(file)):
        assert one.has(SCRIPT)
        assert not one.has(SCRIPT.replace("[]", "[ ]"))
        assert not one.has(" " + SCRIPT)
    assert record.remove([SCRIPT, "never"]) == 1
    assert not OwnScripts(file).has(SCRIPT)
    assert OwnScripts(file).has("other")
    assert record.is_untrusted(SCRIPT)
    assert record.add([SCRIPT], "trusted") == 1
    assert OwnScripts(file).has(SCRIPT)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes of files")
def test_the_record_is_private_and_one_that_others_may_write_does_not_count(file: Path) -> None:
    OwnScripts(file).add([SCRIPT], "saved")
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    file.chmod(0o620)
    with pytest.warns(StoreNotice, match="does not count: others may write it"):
        assert not OwnScripts(file).has(SCRIPT)
    file.chmod(0o600)
    assert OwnScripts(file).has(SCRIPT)


def test_many_processes_add_at_once_and_no_line_is_lost(file: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom workbench.own_scripts import OwnScripts\n"
        "record = OwnScripts(Path(sys.argv[1]))\n"
        "for n in range(25): record.add([f'{sys.argv[2]} {n}'], 'saved')"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [subprocess.Popen([sys.executable, "-c", code, str(file), str(k)], env=env) for k in range(4)]
    assert [one.wait() for one in running] == [0] * 4
    record = OwnScripts(file)
    assert all(record.has(f"{k} {n}") for k in range(4) for n in range(25))


def test_a_damaged_record_never_trusts_more(file: Path) -> None:
    OwnScripts(file).add([SCRIPT, "other"], "saved")
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        record = OwnScripts(file)
        assert len(record._scripts) <= 2
    file.write_bytes(whole[:-30])  # a line that was cut off
    record = OwnScripts(file)
    record.add(["third"], "saved")
    assert OwnScripts(file).has("third")
    assert record.has(SCRIPT) + record.has("other") == 1


def test_a_damaged_record_never_trusts_again_what_was_removed(file: Path) -> None:
    record = OwnScripts(file)
    record.add([SCRIPT, "other"], "saved")
    record.remove([SCRIPT, "other"])
    whole = file.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
            assert not OwnScripts(file).has(SCRIPT), (place, bit)
    file.write_bytes(whole)
    record.add([SCRIPT], "trusted")
    assert OwnScripts(file).has(SCRIPT)


def test_where_nothing_can_be_written_scripts_count_until_the_process_ends(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    record = OwnScripts(tmp_path / "file" / "own.txt")
    with pytest.warns(StoreNotice, match="cannot be written.*WORKBENCH_OWN_SCRIPTS"):
        record.add([SCRIPT], "saved")
    assert record.has(SCRIPT)
    assert not OwnScripts(tmp_path / "file" / "own.txt").has(SCRIPT)


@pytest.mark.parametrize(
    ("system", "variables", "place"),
    [
        ("linux", {}, ".local/state/battery-workbench/own-scripts.txt"),
        ("linux", {"XDG_STATE_HOME": "relative"}, ".local/state/battery-workbench/own-scripts.txt"),
        ("linux", {"XDG_STATE_HOME": "/x"}, "/x/battery-workbench/own-scripts.txt"),
        ("darwin", {}, "Library/Application Support/battery-workbench/own-scripts.txt"),
        ("win32", {}, "AppData/Local/battery-workbench/own-scripts.txt"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/battery-workbench/own-scripts.txt"),
        ("linux", {"WORKBENCH_OWN_SCRIPTS": "/y/own"}, "/y/own"),
    ],
)
def test_each_system_has_its_place(
    system: str, variables: dict[str, str], place: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("workbench.own_scripts.sys.platform", system)
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA", "WORKBENCH_OWN_SCRIPTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert record_path() == tmp_path / place
    assert own_scripts() is own_scripts()


def test_the_mark_is_a_line_at_the_end_and_changes_no_fingerprint() -> None:
    for script in (SCRIPT, SCRIPT + "\n", SCRIPT + "\n\n"):
        assert is_marked(marked(script))
        assert not is_marked(script)
        assert marked(script).startswith(script)
        assert marked(marked(script)) == marked(script)
        assert fingerprint(marked(script)) == fingerprint(script) == fingerprint(SCRIPT)
    smuggled = SCRIPT.replace("\n", f"\n    import_all() {MARK}\n", 1)
    assert fingerprint(smuggled) != fingerprint(SCRIPT)
    assert fingerprint(f"{SCRIPT}; evil() {MARK}") != fingerprint(SCRIPT)


def test_the_mark_stays_with_files_copies_and_changed_letters(tmp_path: Path) -> None:
    theirs = Recipe(plan=PLAN, transform=SCRIPT)
    theirs.foreign = True
    changed = theirs.transform.replace("[]", "[ ]")
    copies = {
        "raw": Recipe(theirs.raw()),
        "parts": Recipe(plan=theirs.plan, transform=theirs.transform, params=theirs.params),
        "file": Recipe.load(theirs.save(tmp_path / "theirs.json")),
        "letter": Recipe(theirs, transform=changed),
        "new text": Recipe(theirs, transform=SCRIPT.replace("[]", "[  ]")),
        "letter in parts": Recipe(plan=theirs.plan, transform=changed),
        "letter in json": Recipe({**theirs.raw(), "transform": changed}),
    }
    assert [name for name, one in copies.items() if not one.foreign] == []
    assert theirs.config.transform == SCRIPT
    assert Recipe(theirs) == theirs
    assert Recipe({**theirs.raw(), "transform": theirs.transform.replace(MARK, "")}).foreign is False
