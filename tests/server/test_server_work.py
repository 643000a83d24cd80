"""Work in flight: withdrawn with its client, shared out fairly, bounded."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2 as httpx
import pytest
from support.full_organization import RECIPE
from support.held_figures import Held
from support.server_in_process import Lab, lab
from support.server_on_socket import listening
from support.waiting import until

from server import Settings, create_app
from workbench.records import Organization
from workbench.store.scope import Scope


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    made = Held(monkeypatch)
    yield made
    made.go.set()


@pytest.fixture
def near(tmp_path: Path) -> Iterator[tuple[Lab, str]]:
    app = create_app(tmp_path / "lab.db", Settings(plans=4, waiting=3))
    with listening(app) as (_, address):
        yield Lab(app, None), address  # type: ignore[arg-type]


def test_a_figure_is_withdrawn_when_its_client_goes_away(near: tuple[Lab, str], held: Held) -> None:
    made, address = near
    path = f"{address}/projects/{made.project.id}/figures"
    with pytest.raises(httpx.TimeoutException):
        httpx.post(path, json={"config": RECIPE}, headers=made.admin.headers, timeout=0.5)
    assert held.withdrawn.wait(5)


def test_one_organization_may_use_all_threads_and_the_rest_waits(near: tuple[Lab, str], held: Held) -> None:
    made, address = near
    other, project, stranger = made.other_organization()
    plans = made.app.state.workbench.plans

    def draw(place: str, headers: dict[str, str]) -> httpx.Response:
        path = f"{address}/projects/{place}/figures"
        return httpx.post(path, json={"config": RECIPE}, headers=headers, timeout=30)

    with ThreadPoolExecutor(8) as pool:
        mine = [pool.submit(draw, made.project.id, made.admin.headers) for _ in range(5)]
        until(lambda: held.running == 4 and plans._waiting == 1)
        theirs = [pool.submit(draw, project.id, stranger.headers) for _ in range(2)]
        until(lambda: plans._waiting == 3)
        assert httpx.get(f"{address}/projects", headers=made.admin.headers, timeout=5).status_code == 200
        turned = draw(project.id, stranger.headers)
        assert (turned.status_code, turned.json()["error_code"]) == (503, "BUSY")
        assert int(turned.headers["retry-after"]) >= 1
        held.go.set()
        assert [one.result().status_code for one in (*mine, *theirs)] == [200] * 7
    assert held.most == 4
    assert made.store.rows.organizations()[1] == made.store.rows.get(Organization, other.id, Scope(other.id, None))


def test_what_takes_too_long_is_stopped(tmp_path: Path, held: Held) -> None:
    with lab(tmp_path, Settings(request_seconds=0.2)) as made:
        answer = made.call("POST", f"/projects/{made.project.id}/figures", json={"config": RECIPE})
    assert answer.status_code == 503
    assert "0.2 s" in answer.json()["message"]
    assert held.withdrawn.is_set()


def test_a_stop_waits_for_what_is_under_way(tmp_path: Path, held: Held) -> None:
    app = create_app(tmp_path / "lab.db")
    with listening(app) as (server, address), ThreadPoolExecutor(1) as pool:
        made = Lab(app, None)  # type: ignore[arg-type]
        path = f"{address}/projects/{made.project.id}/figures"
        asked = pool.submit(httpx.post, path, json={"config": RECIPE}, headers=made.admin.headers, timeout=30)
        until(lambda: held.running == 1)
        server.should_exit = True
        until(lambda: not server.servers[0].is_serving(), "the stop")
        held.go.set()
        assert asked.result().status_code == 200
