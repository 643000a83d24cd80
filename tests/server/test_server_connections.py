"""Connections that do nothing, or almost nothing, need no key. They must not take the server from those with a key."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
import uvicorn
from support.server_process import ROOT, WORKBENCH, Server
from support.waiting import until

from server import descriptors
from server.app import create_app
from server.connections import ConnectionLimits, HttpConfig
from workbench.cli.members import enrolled, organization_made
from workbench.store.store import Store

IDLE, SLOW, LONG_IDLE, LONG_SLOW = 300, 20, 5000, 200
QUICK = ConnectionLimits(most=50, header_seconds=0.4, body_seconds=0.4, body_rate=200, answer_seconds=0.4)
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@contextmanager
def serving(app: Any, limits: ConnectionLimits) -> Iterator[int]:
    """The port of a server in a thread of this process."""
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(HttpConfig(app, limits=limits))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    until(lambda: server.started, "the start of the server")
    try:
        yield bound.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(40)
        bound.close()
    assert not thread.is_alive()


@pytest.fixture
def app(tmp_path: Path) -> Any:
    return create_app(tmp_path / "lab.db", protected=False)


def connected(port: int, sent: bytes = b"") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=20)
    made.sendall(sent)
    return made


def answered(connection: socket.socket) -> bytes:
    """All that the server sends until it closes the connection."""
    parts = []
    with connection:
        try:
            while part := connection.recv(1 << 16):
                parts.append(part)
        except ConnectionResetError:
            pass
    return b"".join(parts)


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def said(connection: socket.socket) -> bytes:
    """What the server has sent until now."""
    connection.setblocking(False)
    try:
        return connection.recv(1 << 16)
    except BlockingIOError:
        return b""


def drips_in_vain(slow: socket.socket) -> bool:
    """Whether the server ends a connection on which a byte arrives every now and then."""
    stop = time.monotonic() + 10
    with slow:
        while time.monotonic() < stop:
            try:
                slow.sendall(b"a")
            except ConnectionError:
                return True
            time.sleep(0.05)
    return False


async def lives(receive: Any, send: Any) -> None:
    """What an application answers about its life."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def test_a_connection_without_a_request_is_closed(app: Any) -> None:
    with serving(app, QUICK) as port:
        assert answered(connected(port)) == b""


def test_headers_that_take_too_long_are_refused_in_words(app: Any) -> None:
    with serving(app, QUICK) as port:
        slow = connected(port, b"GET /healthz HTTP/1.1\r\n")
        assert drips_in_vain(slow)
        status, _, body = answered(connected(port, b"GET /healthz HTTP/1.1\r\n")).partition(b"\r\n")
        assert b" 408 " in status
        assert json.loads(body.partition(b"\r\n\r\n")[2]) == {
            "error_code": "TIMEOUT",
            "message": "The headers of the request took longer than 0.4 s.",
        }


def test_headers_of_a_second_request_have_the_same_time(app: Any) -> None:
    with serving(app, QUICK) as port:
        sent = connected(port, HEALTH)
        assert b"200 OK" in sent.recv(1 << 16)
        sent.sendall(b"GET /hea")
        assert b" 408 " in answered(sent)


def test_a_body_that_stops_is_refused_and_one_that_goes_on_is_taken(app: Any, tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        organization, user = store.rows.organizations()[0], store.rows.user("local@localhost")
        key = store.people.issue(organization.id, user.id).key
    body = json.dumps({"name": "P" * 400}).encode()
    head = f"POST /projects HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n"
    with serving(app, replace(QUICK, header_seconds=30)) as port:
        stopped = answered(connected(port, head.encode() + body[:5]))
        assert b" 408 " in stopped.partition(b"\r\n")[0]
        assert b"The next bytes of the body took longer than 0.4 s." in stopped
        goes_on = connected(port, head.encode())
        for at in range(0, len(body), 40):  # longer than the limit in all, each part within it
            goes_on.sendall(body[at : at + 40])
            time.sleep(0.1)
        assert b"200 OK" in goes_on.recv(1 << 16) or b"201 Created" in goes_on.recv(1 << 16)
        goes_on.close()


SIGN_IN = b"POST /session HTTP/1.1\r\nHost: localhost\r\nX-Workbench: 1\r\nContent-Length: 4000\r\n\r\n{"


def test_a_body_that_comes_byte_by_byte_is_refused(app: Any) -> None:
    """It held its connection as long as it came, and nobody needs a key to send the one to sign in with."""
    with serving(app, replace(QUICK, header_seconds=30)) as port:
        slow = connected(port, SIGN_IN)
        assert drips_in_vain(slow)
        long = connected(port, SIGN_IN.replace(b"4000", b"9000"))
        assert b" 413 " in long.recv(1 << 16).partition(b"\r\n")[0]
        long.close()


def test_bodies_that_come_slowly_give_way_to_a_new_connection(app: Any) -> None:
    """With as many as there may be, everybody else got 503."""
    with serving(app, ConnectionLimits(most=4, body_seconds=60)) as port:
        slow = [connected(port, SIGN_IN) for _ in range(4)]
        time.sleep(1.5)  # each is a second behind by then
        for _ in range(3):
            assert httpx.get(f"http://127.0.0.1:{port}/healthz").status_code == 200
        assert [b" 408 " in said(one) for one in slow].count(True) == 1
        for one in slow:
            one.close()


def test_the_rest_of_a_body_that_is_refused_already_does_not_hold_a_connection(app: Any) -> None:
    head = b"POST /projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    with serving(app, QUICK) as port:
        first = connected(port, b"GET /projects HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b" 401 " in first.recv(
            1 << 16
        )  # on a busy machine the first answer may take longer than a body may
        first.close()
        slow = connected(port, head)
        assert b" 401 " in slow.recv(1 << 16)
        assert drips_in_vain(slow)


def test_an_answer_that_nobody_takes_is_given_up() -> None:
    ended = threading.Event()

    async def endless(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return await lives(receive, send)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        sending = asyncio.ensure_future(_forever(send))
        while (await receive())["type"] != "http.disconnect":
            pass
        sending.cancel()
        ended.set()
        return None

    async def _forever(send: Any) -> None:
        while True:
            await send({"type": "http.response.body", "body": b"x" * (1 << 16), "more_body": True})

    with serving(endless, QUICK) as port:
        deaf = connected(port, HEALTH)
        assert ended.wait(15)
        deaf.close()


def test_the_oldest_idle_connection_gives_way_and_health_answers(app: Any) -> None:
    limits = ConnectionLimits(most=64)
    with serving(app, limits) as port:
        idle = [connected(port) for _ in range(70)]
        until(lambda: is_closed(idle[5]), "the close of the oldest")
        assert [is_closed(one) for one in idle] == [True] * 6 + [False] * 64
        for _ in range(3):
            assert httpx.get(f"http://127.0.0.1:{port}/healthz").json()["status"] == "ok"
        for one in idle:
            one.close()


def test_a_connection_at_work_is_not_closed_for_another() -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    async def patient(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return await lives(receive, send)
        begun.release()
        await asyncio.to_thread(go_on.wait, 20)
        await send({"type": "http.response.start", "status": 204, "headers": [(b"connection", b"close")]})
        await send({"type": "http.response.body", "body": b""})
        return None

    with serving(patient, ConnectionLimits(most=3)) as port:
        working = [connected(port, HEALTH) for _ in range(3)]
        for _ in working:
            assert begun.acquire(timeout=10)
        refused = answered(connected(port, HEALTH))
        assert b" 503 " in refused.partition(b"\r\n")[0]
        assert b"too many connections" in refused
        go_on.set()
        assert all(b" 204 " in answered(one) for one in working)


def test_the_soft_limit_of_descriptors_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    set_to: list[tuple[int, int]] = []
    limits = {"soft": 1024, "hard": 20_000}
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limits["soft"], limits["hard"]))
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: set_to.append(both))
    descriptors.raise_limit()
    assert set_to == [(20_000, 20_000)]
    assert ConnectionLimits().allowed == 1024 - 768
    limits["soft"] = 20_000
    descriptors.raise_limit()
    assert len(set_to) == 1
    assert ConnectionLimits().allowed == ConnectionLimits().most


def test_a_system_that_takes_no_more_descriptors_than_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS: the hard limit says that there is none, and more than 10 240 are refused."""
    set_to: list[int] = []

    def refuse(_: int, both: tuple[int, int]) -> None:
        if both[0] > 10_240:
            raise ValueError("current limit exceeds maximum limit")
        set_to.append(both[0])

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    descriptors.raise_limit()
    assert set_to == [10_240]


def test_a_system_without_such_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptors, "limit", lambda: None)
    assert ConnectionLimits().allowed == ConnectionLimits().most


# The command


@pytest.mark.long
def test_two_first_starts_make_one_key(tmp_path: Path) -> None:
    store = tmp_path / "lab.db"
    words = [*WORKBENCH, "serve", "--store", str(store), "--port", "0", "--json", "--trust-transforms"]
    both = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT)
        for _ in range(2)
    ]
    said = []
    for process in both:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                said.append(json.loads(line))
                if "listening" in said[-1]:
                    break
            process.terminate()
            process.wait(40)
    assert sum("key" in line for line in said) == 1
    assert sum("listening" in line for line in said) == 2
    with Store.open(store, create=False) as opened:
        assert len(opened.people.keys(opened.rows.organizations()[0].id)) == 1


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_store_of_two_organizations_starts_again_and_workers_end_with_their_parent(tmp_path: Path) -> None:
    with Store.open(tmp_path / "lab.db") as store:
        people = store.people
        first = store.rows.organizations()[0]
        second = organization_made(store, "Other")
        for one in (first, second):
            member = enrolled(store, one, "ada@lab.org", "admin", None)
            people.issue(one.id, member)
    server = Server(tmp_path / "lab.db", "--workers", "2", "--trust-transforms")
    assert not server.key
    assert httpx.get(f"{server.address}/healthz").status_code == 200
    workers = _children(server.process.pid)
    assert len(workers) >= 2
    os.kill(server.process.pid, signal.SIGKILL)
    server._end()
    until(lambda: not any(map(_is_alive, workers)), "the end of the workers")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.address}/healthz")


def _children(pid: int) -> list[int]:
    found = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit() and _parent(one) == pid]
    return [one for child in found for one in (child, *_children(child))]


def _parent(process: Path) -> int | None:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def _is_alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("idle", "slow"),
    [(IDLE, SLOW), pytest.param(LONG_IDLE, LONG_SLOW, marks=pytest.mark.long)],
)
def test_idle_and_slow_connections_do_not_slow_those_who_have_a_key(tmp_path: Path, idle: int, slow: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < idle + 1000:
        pytest.skip(f"{idle} connections need a hard limit of {idle + 1000} descriptors, and it is {hard} here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, idle + 1000), hard))
    server = Server(tmp_path / "lab.db", "--trust-transforms")
    stop = threading.Event()
    try:
        port = int(server.address.rpartition(":")[2])
        with server.client() as client:
            _seconds(client, 50)  # what is made at first use
            before = _seconds(client, 200)
            there = [connected(port) for _ in range(idle)]
            dripping = threading.Thread(target=_drip, args=(port, slow, stop))
            dripping.start()
            during = _seconds(client, 200)
            assert httpx.get(f"{server.address}/healthz", timeout=5).status_code == 200
            stop.set()
            dripping.join()
            for one in there:
                one.close()
    finally:
        stop.set()
        server.stop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert statistics.median(during) <= 3 * statistics.median(before) + 0.005, (before, during)


def _seconds(client: httpx.Client, requests: int) -> list[float]:
    """How long each of some requests took; all are answered."""
    taken = []
    for _ in range(requests):
        begun = time.perf_counter()
        assert client.get("/projects").status_code == 200
        taken.append(time.perf_counter() - begun)
    return taken


def _drip(port: int, connections: int, stop: threading.Event) -> None:
    """Clients that send a byte of their headers or body every now and then, and connect again when they are closed."""
    heads = (b"GET /projects HTTP/1.1\r\nX-A: ", b"POST /projects HTTP/1.1\r\nContent-Length: 9999\r\n\r\n")
    slow = [connected(port, heads[n % 2]) for n in range(connections)]
    while not stop.wait(0.2):
        for n, one in enumerate(slow):
            try:
                one.sendall(b"a")
            except OSError:
                one.close()
                slow[n] = connected(port, heads[n % 2])
    for one in slow:
        one.close()
