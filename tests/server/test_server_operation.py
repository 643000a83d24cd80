"""What an operator asks of a server: is it ready, what does it do, and which lines of the log belong to a request."""

from __future__ import annotations

import errno
import logging
import os
import re
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2 as httpx
import orjson
import pytest
from starlette.exceptions import HTTPException
from support.full_organization import RECIPE
from support.held_figures import Held
from support.server_in_process import Lab, lab
from support.server_on_socket import listening
from support.server_process import Server
from support.waiting import until

from server import Settings, create_app, log, metrics
from workbench.errors import BadRequest, StoreAway, StoreError, StoreFull
from workbench.store.store import Store
from workbench.transform.protected import shared

prometheus = pytest.importorskip("prometheus_client")


@pytest.fixture
def counted(tmp_path: Path) -> Iterator[Lab]:
    with lab(tmp_path, Settings(readers=0, metrics=True)) as made:
        yield made


def values(text: str) -> dict[str, float]:
    """Series with its labels -> value."""
    found = (line.rpartition(" ") for line in text.splitlines() if line and not line.startswith("#"))
    return {name: float(value) for name, _, value in found}


def shown(made: Lab) -> dict[str, float]:
    answer = made.call("GET", "/metrics")
    assert (answer.status_code, answer.headers["content-type"]) == (200, metrics.CONTENT_TYPE)
    return values(answer.text)


def test_a_server_that_can_work_is_ready(counted: Lab) -> None:
    shared().fence()
    answer = counted.client.get("/readyz")
    assert (answer.status_code, answer.json()["status"], answer.json()["reasons"]) == (200, "ready", [])
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.long
def test_it_is_not_while_nothing_draws_scripts_and_is_again_afterwards(counted: Lab) -> None:
    os.kill(shared().zygote_process(), signal.SIGKILL)  # type: ignore[union-attr]
    until(lambda: not shared().is_running)
    answer = counted.client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "not ready")
    assert answer.json()["reasons"] == ["The process that draws scripts does not run. It is being started."]
    until(lambda: counted.client.get("/readyz").status_code == 200)


def test_nothing_is_started_to_find_out_whether_scripts_can_be_drawn(
    counted: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()
    monkeypatch.setattr(type(shared()), "is_running", False)
    monkeypatch.setattr(type(shared()), "fence", lambda pool: begun.set())
    answer = counted.client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "not ready")
    assert "It is being started." in answer.json()["reasons"][0]
    assert begun.wait(60)


def test_a_store_that_does_not_answer_or_has_another_format_is_said(
    counted: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared().fence()

    def gone(store: Store) -> str:
        raise StoreError(f"The store '{store.path}' is gone.")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "format_is_ours", lambda store: False)
        (reason,) = counted.client.get("/readyz").json()["reasons"]
        assert "another format than this version writes" in reason
    monkeypatch.setattr(Store, "identity", gone)
    answer = counted.client.get("/readyz")
    assert answer.status_code == 503
    (reason,) = answer.json()["reasons"]
    assert "does not answer" in reason
    assert str(counted.store.path) not in answer.text


def test_a_store_that_is_away_is_said_without_its_address(counted: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(store: Store) -> str:
        raise StoreAway(f"The store '{store.path}' cannot be reached.")

    monkeypatch.setattr(Store, "identity", away)
    answer = counted.client.get("/healthz")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["error_code"] == "STORE_AWAY"
    assert "does not answer now. Try again in 5 s." in answer.json()["message"]
    assert answer.headers["x-correlation-id"] in answer.json()["message"]
    assert str(counted.store.path) not in answer.text


IN_A_FORM = HTTPException(400, "There was an error parsing the body")
IN_A_FORM.__cause__ = NO_SPACE = OSError(errno.ENOSPC, "No space left")


@pytest.mark.parametrize("why", [StoreFull("The store '/secret' is full."), NO_SPACE, IN_A_FORM])
def test_a_full_disk_is_said_without_its_path(
    counted: Lab, monkeypatch: pytest.MonkeyPatch, why: Exception
) -> None:
    def full(store: Store) -> str:
        raise why

    monkeypatch.setattr(Store, "identity", full)
    answer = counted.client.get("/healthz")
    assert (answer.status_code, answer.json()["error_code"]) == (507, "STORE_FULL")
    assert "A disk of this server is full. Nothing of this change was stored" in answer.json()["message"]
    assert answer.headers["x-correlation-id"] in answer.json()["message"]
    assert "secret" not in answer.text


def test_the_format_of_a_store_is_that_of_this_version(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        assert store.format_is_ours()
        with store.transaction() as db:
            db.execute("delete from _sqlite_migrations where id = (select max(id) from _sqlite_migrations)")
        assert not store.format_is_ours()


def test_requests_are_counted_by_template_and_figures_by_where_they_came_from(counted: Lab) -> None:
    figures = f"/projects/{counted.project.id}/figures"
    for _ in range(3):
        assert counted.call("POST", figures, json={"config": RECIPE}).status_code == 200
    assert counted.call("GET", "/projects/unknown").status_code == 404
    assert counted.client.get(f"/nothing/{counted.project.id}").status_code == 404
    found = shown(counted)
    operation = 'operation="POST /projects/{project_id}/figures"'
    assert found[f'workbench_requests_total{{{operation},status="200"}}'] == 3
    assert found[f"workbench_request_seconds_count{{{operation}}}"] == 3
    assert found['workbench_requests_total{operation="GET /projects/{project_id}",status="404"}'] == 1
    assert found['workbench_requests_total{operation="other",status="404"}'] == 1
    assert found['workbench_figures_total{source="made"}'] == 1
    assert found['workbench_figures_total{source="cache"}'] >= 2
    assert found['workbench_datasets_total{source="made"}'] == 1
    assert (found.get('workbench_store_bytes{part="store"}', 0) > 0) == counted.store.path.is_file()
    assert ('workbench_store_bytes{part="store"}' in found) == counted.store.path.is_file()
    assert found["workbench_store_connections"] >= 1
    assert found["workbench_script_processes_ready"] in (0, 1)


def test_no_label_holds_an_id_a_name_or_an_address(counted: Lab) -> None:
    made = counted.json("POST", "/projects", json={"name": "Secret project"})
    counted.call("GET", f"/projects/{made['id']}")
    counted.call("GET", f"/projects/{made['id']}/nothing?q=Secret")
    text = counted.call("GET", "/metrics").text
    labels = re.findall(r'(\w+)="([^"]*)"', text)
    assert {name for name, _ in labels} <= {"operation", "status", "source", "kind", "part", "le"}
    for told in (made["id"], "Secret", "local@", counted.admin.key_id, counted.admin.user_id, counted.project.id):
        assert told not in text


def test_only_an_admin_of_the_whole_store_sees_them(counted: Lab, tmp_path: Path) -> None:
    member = counted.person("member@lab", role="Member")
    assert counted.client.get("/metrics").status_code == 401
    assert counted.call("GET", "/metrics", member).status_code == 403
    counted.other_organization()
    assert counted.call("GET", "/metrics").status_code == 403


def test_a_server_without_metrics_says_how_to_get_them(tmp_path: Path) -> None:
    with lab(tmp_path) as made:
        answer = made.call("GET", "/metrics")
    assert answer.status_code == 404
    assert "--metrics" in answer.json()["message"]


def test_without_the_package_the_start_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "find_spec", lambda name: None)
    with pytest.raises(BadRequest, match=re.escape("pip install 'battery-workbench[metrics]'")):
        metrics.check_installed()


def test_both_answer_while_every_thread_for_figures_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    app = create_app(tmp_path / "lab.db", Settings(readers=0, plans=2, metrics=True))
    with listening(app) as (_, address), ThreadPoolExecutor(3) as pool:
        made = Lab(app, None)  # type: ignore[arg-type]
        shared().fence()
        path = f"{address}/projects/{made.project.id}/figures"
        ask = {"json": {"config": RECIPE}, "headers": made.admin.headers, "timeout": 120}
        asked = [pool.submit(httpx.post, path, **ask) for _ in range(3)]
        try:
            until(lambda: made.app.state.workbench.plans.load() == (2, 1))
            assert httpx.get(f"{address}/readyz", timeout=60).json()["status"] == "ready"
            found = values(httpx.get(f"{address}/metrics", headers=made.admin.headers, timeout=60).text)
        finally:
            held.go.set()
        assert found['workbench_threads_running{kind="plans"}'] == 2
        assert found['workbench_threads_waiting{kind="plans"}'] == 1
        assert [one.result().status_code for one in asked] == [200, 200, 200]


BUSY = """def transform(data, params):
    import time
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
    return px.bar(data['cells'], x='name')
"""


@pytest.mark.long
def test_both_answer_while_scripts_take_every_processor(tmp_path: Path) -> None:
    app = create_app(tmp_path / "lab.db", Settings(readers=0, metrics=True))
    with listening(app) as (_, address), ThreadPoolExecutor(4) as pool:
        made = Lab(app, None)  # type: ignore[arg-type]
        shared().fence()
        path = f"{address}/projects/{made.project.id}/figures"

        def draw(number: int) -> int:
            config = {**RECIPE, "transform": f"{BUSY}# {number}"}
            return httpx.post(path, json={"config": config}, headers=made.admin.headers, timeout=120).status_code

        asked = [pool.submit(draw, number) for number in range(4)]
        looks = 0
        while not all(one.done() for one in asked):
            assert httpx.get(f"{address}/readyz", timeout=60).status_code == 200
            assert httpx.get(f"{address}/metrics", headers=made.admin.headers, timeout=60).status_code == 200
            looks += 1
        assert looks >= 1
        assert [one.result() for one in asked] == [200] * 4


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("trace-0001.A_b", True), ("short", False), ("a" * 65, False), ('x"} injected line', False), (None, False)],
)
def test_a_sane_request_id_is_kept_and_sent_back(counted: Lab, sent: str | None, kept: bool) -> None:
    answer = counted.client.get("/healthz", headers={} if sent is None else {"X-Request-Id": sent})
    id = answer.headers["x-correlation-id"]
    assert (id == sent) is kept
    assert answer.headers.get("x-request-id") == (sent if kept else None)
    assert re.fullmatch(r"[A-Za-z0-9._-]{8,64}", id)


def test_each_line_of_the_log_has_the_id_of_its_request(
    counted: Lab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def said(store: Store) -> Any:
        log.warn("from a thread")
        raise RuntimeError("it broke")

    monkeypatch.setattr(Store, "identity", said)
    lines = log.Lines()
    written: list[dict[str, Any]] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(orjson.loads(lines.format(record)))

    handler = Keeping()
    log.LOGGER.addHandler(handler)
    try:
        answer = counted.client.get("/healthz", headers={"X-Request-Id": "trace-0002"})
    finally:
        log.LOGGER.removeHandler(handler)
    assert answer.status_code == 500
    assert "trace-0002" in answer.json()["message"]
    assert {line["event"] for line in written} >= {"from a thread", "request broke"}
    assert {line["request"] for line in written} == {"trace-0002"}


@pytest.mark.long
def test_several_processes_are_counted_together_also_at_a_port_of_the_loopback(
    tmp_path: Path, unused_tcp_port: int
) -> None:
    server = Server(tmp_path / "lab.db", "--workers", "2", "--metrics", "--metrics-port", str(unused_tcp_port))
    try:
        for _ in range(40):
            assert httpx.get(f"{server.address}/healthz").status_code == 200
        operation = 'workbench_requests_total{operation="GET /healthz",status="200"}'
        alone = f"http://127.0.0.1:{unused_tcp_port}/metrics"
        until(lambda: values(httpx.get(alone).text).get(operation, 0) >= 40)
        with server.client() as client:
            found = values(client.get("/metrics").text)
        assert found[operation] >= 40
        assert found['workbench_store_bytes{part="store"}'] > 0
    finally:
        server.stop()


@pytest.fixture
def unused_tcp_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
