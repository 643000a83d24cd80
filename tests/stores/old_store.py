"""The store that 0.1.0 left: a copy of it that this version works on, a server on the copy, and what is in it."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from workbench.store.db import upgrade_command

HERE = Path(__file__).parent
FILE = HERE / "store-0.1.0.db"
KEYS: dict[str, dict[str, str]] = json.loads((HERE / "test-keys-0.1.0.json").read_text())["keys"]
PROJECT, SECOND = "Pouch cells", "Second project"
_UUID_TEXT = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUID = re.compile(_UUID_TEXT.pattern.encode())


def current(folder: Path) -> Path:
    """A copy of the store in a folder, ready for this version.

    The only place that brings the old store up to date: where that takes more than to open it, it is called here.
    """
    path = folder / "lab.db"
    shutil.copy(FILE, path)
    upgrade_command.upgrade(path, backup=False)
    return path


@contextmanager
def served(path: Path, **settings: Any) -> Iterator[TestClient]:
    """A client of a server on a store, in this process."""
    from server import Settings, create_app

    app = create_app(path, Settings(**{"readers": 0, **settings}), create=False)
    with TestClient(app, base_url="http://localhost", follow_redirects=False) as client:
        yield client


def headers(who: str) -> dict[str, str]:
    """The headers of a request of one of the people of the store."""
    return {"X-API-Key": KEYS[who]["key"]}


@cache
def own_ids() -> frozenset[str]:
    """Every id that the store has had from the start."""
    return frozenset(found.decode() for found in _UUID.findall(FILE.read_bytes()))


@cache
def _names() -> dict[tuple[str, ...], str]:
    store = sqlite3.connect(f"file:{FILE}?immutable=1", uri=True)
    found: dict[tuple[str, ...], str] = {}
    tables = [name for (name,) in store.execute("select name from sqlite_master where type = 'table'")]
    for table in tables:
        columns = [row[1] for row in store.execute(f'pragma table_info("{table}")')]
        if {"id", "name"} <= set(columns):
            for id, name in store.execute(f'select id, name from "{table}" order by rowid desc'):
                found[table, name] = id
    within = "select m.id, m.name, i.name from measurements as m join instances as i on i.id = m.instance_id"
    for id, name, cell in store.execute(within):
        found["measurements", cell, name] = id
    for id, name in store.execute(
        "select target, 'upload ' || purpose || ' ' || state from uploads order by rowid desc"
    ):
        found["uploads", name] = id
    store.close()
    return found


def id_of(table: str, *name: str) -> str:
    """The id of a record by its name; of a measurement by those of its cell and its own."""
    return _names()[table, *name]


@cache
def _by_id() -> dict[str, str]:
    return {id: name[-1] for name, id in _names().items()}


def named(text: str) -> str:
    """A text with the records of the store by name, to be read: ``/projects/<Pouch cells>``."""
    return _UUID_TEXT.sub(lambda found: f"<{_by_id()[found[0]]}>" if found[0] in _by_id() else found[0], text)
