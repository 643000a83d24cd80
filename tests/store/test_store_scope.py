"""Scope is an argument of every read: what belongs to another project or organization is as absent as nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.record_store import Lab

from workbench.errors import Invalid, NotFound
from workbench.local import LocalBackend
from workbench.records import KINDS, SOURCES
from workbench.store.cache.cache import Cache
from workbench.store.records.rows import Rows
from workbench.store.scope import EVERYTHING, Scope
from workbench.store.series.series import Series
from workbench.table import Table

X = "Time [s]"
SAMPLES = Table.of({X: [0.0, 1.0, 2.0], "Voltage [V]": [3.0, 3.1, 3.2]})
READS: dict[str, Callable[[Series, str, Any], object]] = {
    "info": lambda series, id, scope: series.info(id, scope=scope),
    "infos": lambda series, id, scope: series.infos([id], scope=scope),
    "history": lambda series, id, scope: series.history(id, scope=scope),
    "read": lambda series, id, scope: series.read(id, scope=scope),
    "many": lambda series, id, scope: series.many([id], [X], "series", scope=scope),
    "stacked": lambda series, id, scope: series.stacked(
        [*series.infos([id], scope=scope).values()], [X], scope=scope
    ),
    "sample": lambda series, id, scope: series.sample(id, X, [X], most=5, scope=scope),
    "sample_rows": lambda series, id, scope: series.sample_rows(id, X, [X], (0, 2), 5, scope=scope),
}
"""Every public method that reads samples."""
NO_READS = {"append", "delete", "writer", "purge", "revisions", "rule", "sweep", "tidy", "unproven", "verify"}
NO_READS |= {"keys", "publish", "stray", "wrong"}
"""What writes, looks after the whole store, or gives no samples: numbers of revisions and rules, owners given to it."""
WITHOUT_A_CALLER = {"organizations", "user", "blobs", "dependencies", "reserved_ids"}
"""What of the records is asked before there is a scope, or by the store itself."""


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab.at(tmp_path)
    yield made
    made.store.close()


def public(cls: type) -> dict[str, Any]:
    return {name: one for name, one in inspect.getmembers(cls, inspect.isfunction) if not name.startswith("_")}


def test_every_public_read_takes_a_scope() -> None:
    """A new method is found here, before a caller forgets the scope."""
    for cls, others in ((Series, NO_READS), (Rows, WITHOUT_A_CALLER)):
        for name, method in public(cls).items():
            if name not in others:
                wanted = inspect.signature(method).parameters.get("scope")
                assert wanted is not None, f"{cls.__name__}.{name} takes no scope"
                assert wanted.default is inspect.Parameter.empty, f"{cls.__name__}.{name} can do without a scope"
    assert set(public(Series)) - NO_READS == set(READS)


def sampled(lab: Lab, table: str) -> str:
    """A record of a kind that has samples, with some."""
    cell = lab.instance()
    needed = {
        "measurements": lambda: lab.measurement(cell, measurement_type="time_series"),
        "analyses": lambda: lab.make("analyses", measurement_id=lab.measurement(cell).id, analysis_type="dcir"),
        "simulations": lambda: lab.make("simulations"),
        "material_properties": lambda: lab.make("material_properties", material_id=lab.make("materials").id),
    }
    id = str(needed[table]().id)
    lab.store.series.append(id, "series", SAMPLES)
    return id


def seen(read: Callable[[Series, str, Any], object], lab: Lab, id: str, scope: object) -> bool:
    try:
        return bool(read(lab.store.series, id, scope))
    except NotFound:
        return False


@pytest.mark.parametrize("table", [table for table, cls in KINDS.items() if cls.samples])
def test_samples_are_read_within_their_scope_alone(lab: Lab, table: str) -> None:
    id = sampled(lab, table)
    project = lab.scope.project_id
    assert project is not None
    organization = lab.scope.organization_id
    inside = (lab.scope, Scope(organization, None, (project,)), EVERYTHING)
    other = lab.another_project()
    outside = (
        other,
        Scope(organization, None, (other.project_id or "",)),
        lab.another_organization(),
        Scope("", None),
    )
    for name, read in READS.items():
        assert all(seen(read, lab, id, scope) for scope in inside), name
        assert not any(seen(read, lab, id, scope) for scope in outside), name


def test_nobody_reads_samples_that_belong_to_no_record(lab: Lab) -> None:
    lab.store.series.append("stray", "series", SAMPLES)
    for name, read in READS.items():
        assert not seen(read, lab, "stray", lab.scope), name


@pytest.mark.parametrize("source", SOURCES)
def test_rows_are_read_within_their_scope_alone(lab: Lab, source: str) -> None:
    scopes = (lab.another_project(), lab.another_organization())
    made = lab.make("materials", project_id=lab.scope.project_id) if source == "materials" else None
    id = made.id if made is not None else _record(lab, source)
    assert lab.list(source, {"ids": [id]}).table.n == 1
    for scope in scopes:
        assert lab.list(source, {"ids": [id]}, scope=scope).table.n == 0
        with pytest.raises(NotFound):
            lab.rows.get(SOURCES[source], id, scope)
        assert lab.rows.page(SOURCES[source], scope, where={"id": {"in": [id]}}).total == 0


def _record(lab: Lab, source: str) -> str:
    table = SOURCES[source].table
    if SOURCES[source].samples:
        return sampled(lab, table)
    return str((lab.specification() if table == "specifications" else lab.instance()).id)


def test_a_bench_reads_no_samples_of_another_project(lab: Lab, tmp_path: Path) -> None:
    id = sampled(lab, "measurements")
    (organization,) = (one for one in lab.rows.organizations() if one.id == lab.scope.organization_id)
    cache = Cache(tmp_path / "cache")
    own, foreign = (
        LocalBackend(
            lab.store, cache, organization, lab.rows.get("projects", scope.project_id, lab.scope), lab.user
        )
        for scope in (lab.scope, lab.another_project())
    )
    record = own.get(KINDS["measurements"], id)
    assert own.sampled(id, "series").n == 3
    assert own.samples(record, "series").n == 3
    for read in (lambda: foreign.sampled(id, "series"), lambda: foreign.samples(record, "series")):
        with pytest.raises(NotFound):
            read()
    assert foreign.units([id]) == {}
    plan = {
        "steps": {
            "curve": {"op": "series", "source": "measurements", "ids": [id], "x": X, "columns": ["Voltage [V]"]}
        }
    }
    assert own.dataset({"plan": plan}, {}).steps["curve"][id].total == 3
    with pytest.raises(Invalid, match="in reach"):
        foreign.dataset({"plan": plan}, {})
    cache.close()
