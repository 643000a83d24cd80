"""Answers that are remembered while the store is as it was: who may not have one any more never gets it."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_in_process import Lab, Person, lab

from server import Settings, routing
from server.routes import ROUTERS
from server.routing import Route
from workbench.errors import Busy
from workbench.records import Dashboard, Plot, Specification
from workbench.store.scope import Scope
from workbench.store.store import Store

RATINGS = {"capacity": {"value": 5, "unit": "A.h"}, "voltage_min": {"value": 2, "unit": "V"}}
RATINGS["voltage_max"] = {"value": 4, "unit": "V"}
DRAWN: dict[str, Any] = {
    "plan": {"steps": {"cells": {"op": "list", "source": "cellSpecifications"}}},
    "transform": "def transform(data, params):\n    return {'data': [{'y': [len(data['cells'])] * 2000}]}",
}


class Asked:
    """A project with a plot, and the requests whose answers are remembered."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.ada = lab.person("ada@lab")
        lab.store.people.give_role(lab.organization.id, lab.project.id, self.ada.user_id, "project-viewer")
        lab.store.people.caller(self.ada.key)  # the first use of a key is written down
        scope = Scope(lab.organization.id, lab.project.id)
        make = lab.store.rows.create
        self.specification = make(Specification, {"name": "cell", "ratings": RATINGS}, scope=scope)
        board = make(Dashboard, {"name": "board"}, scope=scope, actor=lab.admin.user_id)
        plot = make(
            Plot, {"name": "plot", "dashboard_id": board.id, "config": DRAWN}, scope=scope, actor=lab.admin.user_id
        )
        place = f"/projects/{lab.project.id}"
        self.requests: dict[str, tuple[str, str, dict[str, Any]]] = {
            "record": ("GET", f"/cell_specifications/{self.specification.id}", {}),
            "list": ("GET", f"{place}/records/specifications?limit=25", {}),
            "figure": ("POST", f"{place}/dashboards/{board.id}/plots/{plot.id}/figure", {"json": {}}),
            "read figure": ("GET", f"{place}/dashboards/{board.id}/plots/{plot.id}/figure", {}),
        }

    def __call__(self, name: str, who: Person | None = None, **headers: str) -> Any:
        method, path, more = self.requests[name]
        return self.lab.call(method, path, who or self.ada, headers=headers, **more)


NAMES = ("record", "list", "figure", "read figure")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """One server for the tests that break nothing."""
    with lab(tmp_path_factory.mktemp("kept")) as served:
        yield Asked(served)


@pytest.fixture
def broken(served: Lab) -> Asked:
    return Asked(served)


def settle(asked: Asked, name: str, who: Person | None = None) -> Any:
    """The answer, once it is remembered: a figure must be drawn first."""
    for _ in range(3):
        answer = asked(name, who)
    assert answer.status_code == 200, answer.text
    return answer


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Called, it refuses every request that needs a thread."""

    async def busy(*_: object) -> None:
        raise Busy("No thread.", retry_after=1)

    return lambda: monkeypatch.setattr("server.limits.Threads.run", busy)


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_is_made_once_while_the_store_is_as_it_was(
    asked: Asked, name: str, no_threads: Callable[[], None]
) -> None:
    first = settle(asked, name)
    if asked.lab.store.is_in_a_file:  # PostgreSQL is asked over the network whether it has changed
        no_threads()
    again = asked(name)
    assert (again.status_code, again.content) == (200, first.content)
    ids = [one.headers.get_list("x-correlation-id") for one in (first, again)]
    assert [len(one) for one in ids] == [1, 1]
    assert ids[0] != ids[1]
    varied = {"x-correlation-id"}
    one, two = ({k: v for k, v in each.headers.items() if k not in varied} for each in (first, again))
    assert one == two


@pytest.mark.parametrize("name", NAMES)
def test_a_change_is_in_the_next_answer(asked: Asked, name: str) -> None:
    before = settle(asked, name).json()
    lab = asked.lab
    with Store.open(lab.store.path, create=False) as other:
        scope = Scope(lab.organization.id, lab.project.id)
        other.rows.create(Specification, {"name": f"cell {name}", "ratings": RATINGS}, scope=scope)
        other.rows.update(Specification, asked.specification.id, {"name": f"renamed {name}"}, scope)
    after = asked(name).json()
    if "figure" in name:
        assert after["figure"]["data"] != before["figure"]["data"]
    else:
        assert f"renamed {name}" in str(after)


def _revoked(asked: Asked) -> None:
    asked.lab.store.people.revoke(asked.lab.organization.id, asked.ada.key_id)


def _revoked_by_another_process(asked: Asked) -> None:
    program = (
        "from workbench.store.store import Store\n"
        f"with Store.open({str(asked.lab.store.location)!r}, create=False) as store:\n"
        f"    store.people.revoke({asked.lab.organization.id!r}, {asked.ada.key_id!r})"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def _suspended(asked: Asked) -> None:
    asked.lab.store.people.change_member(asked.lab.organization.id, asked.ada.user_id, is_active=False)


def _without_role(asked: Asked) -> None:
    asked.lab.store.people.take_role(asked.lab.project.id, asked.ada.user_id)


@pytest.mark.parametrize(
    ("change", "status"),
    [(_revoked, 401), (_suspended, 401), (_without_role, 404), (_revoked_by_another_process, 401)],
)
def test_who_may_not_have_it_any_more_is_refused_at_the_next_request(
    broken: Asked, change: Callable[[Asked], None], status: int
) -> None:
    for name in NAMES:
        settle(broken, name)
    change(broken)
    for name in NAMES:
        assert broken(name).status_code == status, name


def test_a_key_expires_although_the_store_is_as_it_was(broken: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = broken.lab
    key = lab.store.people.issue(lab.organization.id, broken.ada.user_id, days=1)
    who = Person(key.key, key.id, key.user_id, lab.organization.id, {"X-API-Key": key.key})
    for name in NAMES:
        settle(broken, name, who)
    now = time.time
    monkeypatch.setattr("workbench.store.records.people.time.time", lambda: now() + 86400.1)
    for name in NAMES:
        assert broken(name, who).status_code == 401, name


@pytest.mark.parametrize("name", NAMES)
def test_a_remembered_answer_is_for_its_caller_alone(asked: Asked, name: str) -> None:
    lab = asked.lab
    stranger = lab.person(f"stranger{NAMES.index(name)}@lab")
    others = [stranger]
    if name == NAMES[0]:
        others.append(lab.other_organization()[2])
    for _ in range(2):  # the first time writes that the key was used
        for one in others:
            assert lab.call("GET", "/projects", one).status_code == 200
    settle(asked, name)
    for one in others:
        assert lab.call("GET", "/projects", one).status_code == 200
        assert asked(name, one).status_code == 404
    method, path, more = asked.requests[name]
    wrong = asked.ada.key[:-2] + "xx"
    for headers in ({}, {"X-API-Key": wrong}, {"X-API-Key": f"wb_{asked.ada.key_id}_"}):
        assert lab.client.request(method, path, headers=headers, **more).status_code == 401
    settle(asked, name)  # a refusal is in the audit log
    other = {**asked.ada.headers, "X-Organization-Id": "another"}
    assert lab.client.request(method, path, headers=other, **more).status_code == 403


def test_a_role_that_changes_while_the_body_arrives_counts(broken: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """The key was good when the headers came, and is revoked before the answer."""
    settle(broken, "figure")
    read = routing.BoundedRequest.body

    async def late(request: Any) -> bytes:
        content = await read(request)
        _revoked(broken)
        return content

    monkeypatch.setattr(routing.BoundedRequest, "body", late)
    assert broken("figure").status_code == 401


def test_it_is_packed_once_for_those_who_unpack_it(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    packs: list[bytes] = []
    compress = gzip.compress

    def counted(data: bytes, *more: Any, **named: Any) -> bytes:
        packs.append(data)
        return compress(data, *more, **named)

    plain = settle(asked, "figure")
    with asked.lab.store.transaction() as db:
        asked.lab.store.tick(db)
    monkeypatch.setattr(gzip, "compress", counted)
    for _ in range(3):
        sent = asked("figure", **{"accept-encoding": "gzip"})
        assert sent.headers["content-encoding"] == "gzip"
        assert sent.headers["vary"] == "accept-encoding"
        assert sent.json()["content"] == plain.json()["content"]
    assert len(packs) == 1
    again = asked("figure", **{"accept-encoding": "identity"})
    assert "content-encoding" not in again.headers
    assert again.content == packs[0]


def test_a_figure_that_a_browser_has_is_not_sent_again(asked: Asked) -> None:
    tag = settle(asked, "read figure").headers["etag"]
    for _ in range(2):
        kept = asked("read figure", **{"if-none-match": tag})
        assert (kept.status_code, kept.content, kept.headers["etag"]) == (304, b"", tag)
        assert asked("read figure").status_code == 200


def test_other_values_have_another_answer_and_wrong_ones_none(asked: Asked) -> None:
    method, path, _ = asked.requests["figure"]
    settle(asked, "figure")
    for _ in range(2):
        wrong = asked.lab.call(method, path, asked.ada, json={"values": {"none": 1}})
        assert wrong.status_code == 422
        assert asked.lab.call(method, path, asked.ada, content=b"{").status_code == 422
        assert asked.lab.call("GET", asked.requests["list"][1] + "&bad=1", asked.ada).status_code == 422


def test_each_hit_is_counted_for_metrics(tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    with lab(tmp_path, Settings(readers=0, metrics=True)) as served:
        asked = Asked(served)
        for _ in range(5):
            assert asked("figure").status_code == 200
        shown = served.call("GET", "/metrics").text
        assert 'workbench_figures_total{source="cache"} 4.0' in shown
        assert 'workbench_figures_total{source="made"} 1.0' in shown


def test_a_store_that_is_still_checked_remembers_no_answer(broken: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its figures say so, and stop saying so without a change of the store."""

    def codes() -> set[str]:
        return {one["code"] for one in broken("figure").json()["warnings"]}

    settle(broken, "figure")
    usual = codes()
    monkeypatch.setattr(Store, "unverified", True)
    assert codes() > usual
    monkeypatch.setattr(Store, "unverified", False)
    assert codes() == usual


def test_the_requests_of_a_key_are_counted_though_the_answer_is_remembered(tmp_path: Path) -> None:
    with lab(tmp_path, Settings(readers=0, requests_per_second=0.001, burst=8)) as served:
        asked = Asked(served)
        found = [asked("record").status_code for _ in range(10)]
        assert found == [200] * 8 + [429] * 2


def test_only_endpoints_that_read_records_are_marked() -> None:
    """What is heavy, needs no key, or changes something cannot be."""
    routes = [one for router in ROUTERS for one in router.routes if isinstance(one, Route)]
    kept = [one for one in routes if one._kept is not None]
    assert len(kept) > 30
    posts = [one.operation for one in kept if not one.operation.startswith("GET ")]
    assert posts == ["POST /projects/{project_id}/dashboards/{dashboard_id}/plots/{plot_id}/figure"]
    with pytest.raises(TypeError, match="cannot be kept"):
        routing.Route("/x", routing.heavy(kept[0].endpoint.__wrapped__), methods=["GET"])
