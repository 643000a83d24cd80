"""The commands of the server, from outside: serve over a real socket, keys, users."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from support.server_process import ROOT, WORKBENCH, Server

import server.serving
from workbench.cli import main
from workbench.errors import NotProtected
from workbench.store.store import Store
from workbench.transform.protected.outcome import FIX


def told(*words: str, code: int = 0) -> Any:
    """What a command prints, run in this process."""
    said, complained, ended = io.StringIO(), io.StringIO(), 0
    with (
        pytest.MonkeyPatch.context() as patched,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complained),
    ):
        patched.setattr(sys, "argv", ["workbench", *words])
        try:
            main()
        except SystemExit as stopped:
            ended = int(stopped.code or 0)
    assert ended == code, complained.getvalue()
    printed = said.getvalue()
    return json.loads(printed) if "--json" in words and code == 0 else printed + complained.getvalue()


@contextmanager
def serving(store: Path, *more: str) -> Iterator[Server]:
    server = Server(store, *more)
    try:
        yield server
    finally:
        server.stop()


@pytest.mark.long
def test_a_first_start_prints_a_key_once_and_stops_gracefully(tmp_path: Path) -> None:
    store = tmp_path / "lab.db"
    with serving(store) as first:
        assert first.key
        assert httpx.get(f"{first.address}/healthz").json()["status"] == "ok"
        answer = httpx.get(f"{first.address}/users/me", headers={"X-API-Key": first.key})
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["organization_role"] == {"name": "Admin"}
        first.process.send_signal(signal.SIGTERM)
        assert first.process.wait(40) == 0 or first.process.returncode == -signal.SIGTERM
    with serving(store, "--workers", "2", "--trust-transforms") as second:
        assert not second.key
        for _ in range(4):
            assert httpx.get(f"{second.address}/projects", headers={"X-API-Key": first.key}).status_code == 200


@pytest.mark.long
def test_the_address_is_said_in_plain_words(tmp_path: Path) -> None:
    words = [*WORKBENCH, "serve", "--store", str(tmp_path / "lab.db"), "--port", "0", "--trust-transforms"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT)
    assert process.stdout is not None
    with process.stdout:
        line = next(line for line in process.stdout if line.startswith("Listening on "))
        address = line.removeprefix("Listening on ").strip()
        assert httpx.get(f"{address}/healthz").status_code == 200
        process.terminate()
        process.wait(40)


def test_a_server_does_not_look_again_and_again_at_what_its_imports_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = server.serving.Serving(store=str(tmp_path / "lab.db"))
    monkeypatch.setenv(server.serving.ENVIRONMENT, json.dumps(asdict(given)))
    monkeypatch.setattr("server.serving.create_app", lambda *_, **__: "made")
    try:
        assert server.serving.application() == "made"
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()


def test_scripts_are_not_run_for_strangers_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise NotProtected(f"Scripts cannot be locked in here: no lock. {FIX}")

    monkeypatch.setattr("server.serving.required", broken)
    said = told("serve", "--store", str(tmp_path / "lab.db"), "--host", "0.0.0.0", "--port", "0", code=1)
    assert "--trust-transforms" in said


def test_files_of_strangers_are_not_read_without_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.serving.required", lambda: None)
    monkeypatch.setattr("server.serving.why_not", lambda: "This kernel has no Landlock.")
    said = told("serve", "--store", str(tmp_path / "lab.db"), "--port", "0", code=1)
    assert "Landlock" in said
    assert "--trust-files" in said


def test_no_key_is_made_where_the_port_is_taken(tmp_path: Path) -> None:
    """The key was printed, and then the refusal; nobody looks for a key above an error."""
    with server.serving.listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        said = told("serve", "--store", str(tmp_path / "lab.db"), "--port", port, code=2)
    assert f"port {port}" in said
    assert "wb_" not in said
    assert not (tmp_path / "lab.db").exists()


def test_keys_are_made_listed_and_revoked(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "lab.db")]
    made = told(
        "keys", "create", *store, "--organization", "New", "--user", "ada@lab.org", "--role", "viewer", "--json"
    )
    assert set(made) == {"key", "id", "organization_id", "user_id"}
    assert made["key"].startswith(f"wb_{made['id']}_")
    old = told(
        "keys", "create", *store, "--organization", "New", "--user", "ada@lab.org", "--expires", "0", "--json"
    )
    assert old["user_id"] == made["user_id"]
    told("keys", "revoke", *store, "--organization", "New", made["id"])
    listed = told("keys", "list", *store, "--organization", "New", "--json")
    assert [(key["id"], key["revoked_at"] is None) for key in listed] == [(made["id"], False), (old["id"], True)]
    assert [key["state"] for key in listed] == ["revoked", "expired"]
    assert made["key"] not in json.dumps(listed)
    assert "There are 2 organizations here: 'Local', 'New'" in told("keys", "list", *store, code=2)
    assert "no key 'nothing'" in told("keys", "revoke", *store, "--organization", "New", "nothing", code=2)
    create = ["keys", "create", *store, "--organization", "New", "--user", "a@b.c"]
    assert "Did you mean 'viewer'?" in told(*create, "--role", "viewr", code=2)
    for days in ("1e9", "4e6", "inf"):
        assert "Leave the days out for one that never expires" in told(*create, "--expires", days, code=2)


@pytest.mark.parametrize(
    ("role", "standing", "right"), [("admin", "Admin", 3), ("contributor", "Member", 2), (None, "Member", 2)]
)
def test_a_role_holds_on_every_project(tmp_path: Path, role: str | None, standing: str, right: int) -> None:
    path = tmp_path / "lab.db"
    words = ["--role", role] if role else []
    made = told("keys", "create", "--store", str(path), "--user", "ada@lab.org", *words, "--json")
    with Store.open(path) as store:
        caller = store.people.caller(made["key"])
        assert caller.is_admin == (standing == "Admin")
        assert caller.right_in("any project, a later one too") == right


def test_members_are_listed_added_and_removed(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "lab.db")]
    made = told(
        "keys", "create", *store, "--user", "ada@lab.org", "--role", "viewer", "--project", "Default", "--json"
    )
    told("users", "add", *store, "bob@lab.org", "--role", "admin")
    said = told("users", "add", *store, "cai@lab.org", "--role", "viewer")
    assert said.strip() == "cai@lab.org is Member of 'Local', Project Viewer on every project."
    said = told("users", "add", *store, "dan@lab.org", "--role", "contributor", "--project", "Default")
    assert said.strip() == "dan@lab.org is Member of 'Local', Project Contributor of 'Default'."
    rows = {row["email"]: row for row in told("users", "list", *store, "--json")}
    assert rows["ada@lab.org"]["projects"] == "Default: Project Viewer"
    assert rows["ada@lab.org"]["every project"] is None
    assert rows["bob@lab.org"]["role"] == "Admin"
    told("users", "remove", *store, "ada@lab.org")
    assert "'ada@lab.org' is not a member of" in told("users", "remove", *store, "ada@lab.org", code=2)
    with Store.open(tmp_path / "lab.db") as opened, pytest.raises(Exception, match="unknown, revoked or expired"):
        opened.people.caller(made["key"])
    told("users", "remove", *store, "local@localhost")
    assert "only active Admin" in told("users", "remove", *store, "bob@lab.org", code=2)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--public-url", "lab.example"], "--public-url takes a whole address such as 'https://lab.example'"),
        (["--billing-portal", "pay.example"], "--billing-portal takes a whole address"),
        (["--allow-origin", "https://page.example/"], "--allow-origin takes an origin, which has no path"),
    ],
)
def test_an_address_that_would_never_work_is_refused_before_a_key_is_made(
    tmp_path: Path, words: list[str], why: str
) -> None:
    assert why in told("serve", "--store", str(tmp_path / "lab.db"), *words, code=2)
    assert not (tmp_path / "lab.db").exists()


def test_a_store_and_an_organization_that_a_typo_makes_are_named(tmp_path: Path) -> None:
    words = ("keys", "create", "--store", str(tmp_path / "lab.db"), "--user", "ada@lab.org")
    assert f"There was no store at '{tmp_path / 'lab.db'}', so one was made." in told(*words)
    again = told(*words)
    assert "There was no" not in again
    assert "There was no organization 'Lokal' beside 'Local', so it was made." in told(
        *words, "--organization", "Lokal"
    )
