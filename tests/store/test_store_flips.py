"""A damaged store: every read gives the exact answer or an error of ours; never a wrong value that nobody notices."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.errors import NotFound, Unauthorized, WorkbenchError
from workbench.ingest import register
from workbench.ingest.plan.ratings import ratings_of
from workbench.records import KINDS, SOURCES, Instance, Measurement, Plot, Project, Specification
from workbench.store import Scope, Store, soundness
from workbench.store.db import log_mover, main_file
from workbench.store.files.uploads import Attachment
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
        user = store.people.enrol(scope.organization_id, "ada@lab.org")[0].id
        store.people.give_role(scope.organization_id, scope.project_id or "", user, "project-viewer")
        key = store.people.issue(scope.organization_id, user, permission="read").key
        store.people.caller(key)
        upload = store.uploads.begin("raw_data", study.id, scope, user, ["raw.csv"], {"a": 1}).objects[0].id
        with store.transaction() as db:
            store.uploads.attach(db, study.id, "file", Attachment("raw.csv", "text/csv", 5, piece))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("pragma journal_mode = delete")
    return {"piece": piece, "plot": plot.id, "test": tests[5], "key": key, "upload": upload}


def reads_of(ids: dict[str, str]) -> dict[str, Callable[[Store, Scope], Any]]:
    reads: dict[str, Callable[[Store, Scope], Any]] = {
        "piece": lambda s, _: b"".join(s.blobs.get(ids["piece"])),
        "size": lambda s, _: s.blobs.size(ids["piece"]),
        "history": lambda s, scope: s.plots.history(ids["plot"], scope),
        "plot": lambda s, scope: s.rows.get(Plot, ids["plot"], scope),
        "found": lambda s, scope: s.rows.find(Measurement, "cycling 5", scope),
        "searched": lambda s, scope: search(s, "cycling", scope, per_type=20),
        "words": lambda s, scope: search(s, "degrees", scope, per_type=20),
        "catalog": lambda s, scope: s.catalogs.of(scope),
        "steps": lambda s, _: str(
            s.series.many([ids["test"]], ["Step count", "Duration [s]"], "steps", scope=EVERYTHING)
        ),
        "studied": lambda s, scope: s.rows.page(Measurement, scope, where={"tags": {"any": ["RPT"]}}).items,
        "open": lambda s, scope: (
            s.rows.plan_list("measurements", scope, {}, ["protocol.rate"], None).table["protocol.rate"].tolist()
        ),
        "pieces": lambda s, _: s.rows.blobs(),
        "caller": lambda s, _: s.people.caller(ids["key"]),
        "keys": lambda s, scope: s.people.keys(scope.organization_id),
        "members": lambda s, scope: s.people.members(scope.organization_id),
        "roles": lambda s, scope: s.people.roles_in([scope.project_id or ""]),
        "audit": lambda s, scope: s.people.audit_log(scope.organization_id),
        "upload": lambda s, _: s.uploads.of_object(ids["upload"]),
        "attached": lambda s, scope: [
            s.uploads.attached(one.id, "file") for one in s.rows.page("studies", scope).items
        ],
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
            assert store.wait_verified(60)
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


def sound_store(tmp_path: Path) -> tuple[Path, dict[str, str], Scope, bytes, dict[str, Any], list[int]]:
    """A store, what its reads give, and its pages but the bytes of the file that was kept: those are many."""
    path = tmp_path / "sound.wb"
    ids = build(path)
    assert findings(path) == []
    with Store.open(path) as store:
        scope = scope_of(store)
    data = path.read_bytes()
    truth = outcome(path, ids, scope)
    assert not any(isinstance(value, type) for value in truth.values())
    size = int.from_bytes(data[16:18], "big")
    pages = [n for n in range(len(data) // size) if bytes(range(256)) * 4 not in data[n * size : (n + 1) * size]]
    return path, ids, scope, data, truth, pages


def silently_wrong(got: dict[str, Any], truth: dict[str, Any]) -> list[str]:
    """The reads that give another answer than the truth, and no error that says so."""
    return [
        name
        for name, value in got.items()
        if value != truth[name] and (not isinstance(value, type) or value in (NotFound, Unauthorized))
    ]


def flipped(rng: np.random.Generator, data: bytes, size: int, pages: list[int]) -> tuple[bytes, str]:
    page = int(rng.choice(pages))
    filled = np.flatnonzero(np.frombuffer(data, np.uint8, size, page * size))
    at = page * size + int(rng.choice(filled) if len(filled) else 0)
    raw = bytearray(data)
    raw[at] ^= int(rng.integers(1, 256))
    return bytes(raw), f"a flip at byte {at} (page {page + 1})"


def swapped(rng: np.random.Generator, data: bytes, size: int, pages: list[int]) -> tuple[bytes, str]:
    one, other = (int(page) for page in rng.choice(pages[1:], 2, replace=False))
    raw = bytearray(data)
    raw[one * size : (one + 1) * size] = data[other * size : (other + 1) * size]
    raw[other * size : (other + 1) * size] = data[one * size : (one + 1) * size]
    return bytes(raw), f"pages {one + 1} and {other + 1} swapped"


def zeroed(rng: np.random.Generator, data: bytes, size: int, pages: list[int]) -> tuple[bytes, str]:
    page = int(rng.choice(pages[1:]))
    start = page * size + int(rng.integers(0, size))
    return data[:start] + bytes((page + 1) * size - start) + data[(page + 1) * size :], f"page {page + 1} cut"


def shortened(rng: np.random.Generator, data: bytes, size: int, pages: list[int]) -> tuple[bytes, str]:
    end = int(rng.integers(size, len(data)))
    return data[:end], f"the file cut at byte {end}"


DAMAGE = (flipped, flipped, flipped, flipped, flipped, swapped, zeroed, shortened)


@pytest.mark.parametrize("most_rows", [soundness.MOST_ROWS, 0], ids=["small", "large"])
def test_a_damaged_store_is_never_read_in_silence(
    tmp_path: Path, long: bool, monkeypatch: pytest.MonkeyPatch, most_rows: int
) -> None:
    """Flips anywhere, swapped and cut pages: every read is exact, or an error of ours."""
    monkeypatch.setattr(soundness, "MOST_ROWS", most_rows)
    monkeypatch.setattr(soundness, "PAUSE", 0.0)
    path, ids, scope, data, truth, pages = sound_store(tmp_path)
    size = int.from_bytes(data[16:18], "big")
    rng = np.random.default_rng(79)
    errors = 0
    for trial in range(1000 if long else 20):
        raw, what = DAMAGE[trial % len(DAMAGE)](rng, data, size, pages)
        path.write_bytes(raw)
        got = outcome(path, ids, scope)
        assert silently_wrong(got, truth) == [], f"{what}, trial {trial}"
        if any(isinstance(value, type) for value in got.values()):
            errors += 1
            assert findings(path) != [], f"{what}, trial {trial}"
    assert errors > 2


def test_a_log_that_is_lost_old_or_damaged_is_named_or_read_exactly(
    tmp_path: Path, long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies of a store that is in use, taken after each change, and put together wrongly or damaged in the log."""
    monkeypatch.setattr(log_mover, "IDLE_SECONDS", 3600.0)
    monkeypatch.setattr(main_file, "_LOOKS", (0,))
    path, place = tmp_path / "lab.db", tmp_path / "copy" / "lab.db"
    moments = in_use(path)
    place.parent.mkdir()
    rng = np.random.default_rng(12)
    named = 0
    for trial in range(400 if long else 16):
        which = int(rng.integers(1, len(moments)))
        main, log, truth = moments[which]
        other = moments[int(rng.integers(0, len(moments)))]
        raw = bytearray(log)
        good: list[object] = [truth]
        match trial % 4:
            case 0:
                what, raw = "without its log", bytearray()
            case 1:
                what, raw = "with the log of another moment", bytearray(other[1])
                good.append(other[2])  # a log of the same file, read to its end, is a moment of it
            case 2:
                at = int(rng.integers(0, len(raw)))
                raw[at] ^= int(rng.integers(1, 256))
                what = f"with a flip at byte {at} of {len(raw)} of its log"
                good.append(moments[which - 1][2])  # as after a power failure: without the last change
            case _:
                end = int(rng.integers(32, len(raw)))
                what, raw = f"with its log cut at byte {end} of {len(raw)}", raw[:end]
                # SQLite cannot know that there was more: this is the store as it was at some moment before.
                good += [moment[2] for moment in moments[:which]]
        for left in place.parent.iterdir():
            left.unlink()
        place.write_bytes(main)
        if raw:
            place.with_name("lab.db-wal").write_bytes(raw)
        got = studies(place)
        named += got is None
        assert got is None or got in good, f"moment {which} {what}: {got}, not {truth}"
    assert named >= 4


def in_use(path: Path) -> list[tuple[bytes, bytes, list[str]]]:
    """The file, its log, and what is in both, after each of some changes."""
    moments = []
    with Store.open(path) as store:
        scope = scope_of(store)
        for number in range(7):
            if number:
                store.rows.create("studies", {"name": f"study {number}", "description": "x" * 3000}, scope=scope)
            log = path.with_name("lab.db-wal")
            moments.append((path.read_bytes(), log.read_bytes() if log.exists() else b"", names(store)))
            if number == 3:
                store.move_log()
    return moments


def names(store: Store) -> list[str]:
    return [one.name for one in store.rows.page("studies", scope_of(store)).items]


def studies(path: Path) -> list[str] | None:
    """The names of the studies; None for an error of ours."""
    try:
        with Store.open(path) as store:
            return names(store)
    except WorkbenchError:
        return None
