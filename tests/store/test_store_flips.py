"""One flipped byte anywhere among records, files, revisions and search: an error with a name, a finding of verify, or
no change at all; never a wrong value that nobody notices."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import NotFound, WorkbenchError
from workbench.ingest import register
from workbench.ingest.plan.ratings import ratings_of
from workbench.records import KINDS, SOURCES, Instance, Measurement, Plot, Project, Specification
from workbench.store import Scope, Store
from workbench.store.records.catalog import catalog
from workbench.store.records.search import search
from workbench.store.scope import EVERYTHING
from workbench.table import Table

CONFIG = {"plan": {"steps": {}}, "transform": "def transform(data, params):\n    return None", "params": {}}


def scope_of(store: Store) -> Scope:
    chosen = store.rows.organizations()[0]
    return Scope(chosen.id, store.rows.page(Project, Scope(chosen.id, None), limit=1).items[0].id)


def build(path: Path) -> dict[str, str]:
    """A store with a little of everything; returns ids by what they are of."""
    with Store.open(path) as store:
        scope, rows = scope_of(store), store.rows
        made = rows.create(
            Specification,
            {
                "name": "M50",
                "ratings": ratings_of("5Ah,2.5V,4.2V"),
                "notes": "the grey ones",
                "manufacturer": "LG",
            },
            scope=scope,
        )
        cell = rows.create(
            Instance,
            {
                "name": "M50-A-01",
                "specification_id": made.id,
                "properties": {"mass": {"value": 68.5, "unit": "g"}},
            },
            scope=scope,
        )
        piece = store.blobs.put([bytes(range(256)) * 5000])
        tests = []
        for k in range(12):
            time = np.arange(400.0)
            samples = Table.of(
                {"Time [s]": time, "Current [A]": np.ones(400), "Voltage [V]": 4 - time / (1000 + k)}
            )
            fields = {
                "instance_id": cell.id,
                "name": f"cycling {k}",
                "notes": f"drawn at {k} degrees",
                "tags": ["RPT", f"round {k}"],
                "protocol": {"name": "CC", "rate": k / 3},
            }
            tests.append(register(store, scope, fields, samples).id)
        study = rows.create("studies", {"name": "calendar ageing", "description": "in the dark"}, scope=scope)
        rows.assign(study.id, Measurement, tests[3], scope)
        board = rows.create("dashboards", {"name": "fade"}, scope=scope)
        plot = store.plots.save(board.id, "capacity", CONFIG, scope)
        store.plots.save(board.id, "capacity", {**CONFIG, "transform": CONFIG["transform"] + "  # 2"}, scope)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = delete")
    return {"piece": piece, "plot": plot.id, "test": tests[5]}


def reads_of(ids: dict[str, str]) -> dict[str, Callable[[Store, Scope], Any]]:
    reads: dict[str, Callable[[Store, Scope], Any]] = {
        "piece": lambda s, _: b"".join(s.blobs.get(ids["piece"])),
        "size": lambda s, _: s.blobs.size(ids["piece"]),
        "history": lambda s, scope: s.plots.history(ids["plot"], scope),
        "plot": lambda s, scope: s.rows.get(Plot, ids["plot"], scope),
        "found": lambda s, scope: s.rows.find(Measurement, "cycling 5", scope),
        "searched": lambda s, scope: search(s, "cycling", scope, per_type=20),
        "words": lambda s, scope: search(s, "degrees", scope, per_type=20),
        "catalog": lambda s, scope: catalog(s, scope),
        "steps": lambda s, _: str(
            s.series.many([ids["test"]], ["Step count", "Duration [s]"], "steps", scope=EVERYTHING)
        ),
        "studied": lambda s, scope: s.rows.page(Measurement, scope, where={"tags": {"any": ["RPT"]}}).items,
        "open": lambda s, scope: (
            s.rows.plan_list("measurements", scope, {}, ["protocol.rate"], None).table["protocol.rate"].tolist()
        ),
        "pieces": lambda s, _: s.rows.blobs(),
    }
    for kind in KINDS:
        reads[f"page {kind}"] = lambda s, scope, kind=kind: s.rows.page(kind, scope, limit=None)
    for source in SOURCES:
        reads[f"list {source}"] = lambda s, scope, source=source: [
            (name, column.kind, column.tolist())
            for name, column in s.rows.plan_list(source, scope, {}, None, None).table.items()
        ]
    return reads


def outcome(path: Path, ids: dict[str, str], scope: Scope) -> dict[str, Any]:
    """What each read gives; the name of an error of ours in place of a value."""
    found: dict[str, Any] = {}
    reads = reads_of(ids)
    try:
        with Store.open(path) as store:
            for name, read in reads.items():
                try:
                    found[name] = read(store, scope)
                except WorkbenchError as error:
                    found[name] = type(error)
    except WorkbenchError as error:
        return dict.fromkeys(reads, type(error))
    return found


def findings(path: Path) -> list[str]:
    try:
        with Store.open(path) as store:
            return store.verify()
    except WorkbenchError as error:
        return [str(error)]


def test_one_flipped_byte_does_not_go_unnoticed(tmp_path: Path, long: bool) -> None:
    path = tmp_path / "sound.wb"
    ids = build(path)
    assert findings(path) == []
    with Store.open(path) as store:
        scope = scope_of(store)
    data = path.read_bytes()
    truth = outcome(path, ids, scope)
    assert not any(isinstance(value, type) for value in truth.values())
    size = int.from_bytes(data[16:18], "big")
    rng = np.random.default_rng(77)
    # Every page but the bytes of the file that was kept: those are many, and covered elsewhere.
    pages = [n for n in range(len(data) // size) if bytes(range(256)) * 4 not in data[n * size : (n + 1) * size]]
    errors = found = 0
    for trial in range(3000 if long else 120):
        page = int(rng.choice(pages))
        filled = np.flatnonzero(np.frombuffer(data, np.uint8, size, page * size))
        at = page * size + int(rng.choice(filled) if len(filled) else 0)
        raw = bytearray(data)
        raw[at] ^= int(rng.integers(1, 256))
        path.write_bytes(raw)
        got = outcome(path, ids, scope)
        wrong = [name for name, value in got.items() if value != truth[name]]
        errors += any(isinstance(got[name], type) for name in wrong)
        silent = [name for name in wrong if not isinstance(got[name], type) or got[name] is NotFound]
        if silent:
            path.write_bytes(raw)
            assert findings(path) != [], f"{silent} after a flip at byte {at} (page {page}), trial {trial}"
            found += 1
    assert errors + found > 10
