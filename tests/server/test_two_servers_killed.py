"""Fifty people for a minute at two servers behind a plain proxy, on one store on PostgreSQL. One server is killed and
comes back: no answer is wrong, nothing acknowledged is lost, and all that people see is 502 while it goes down."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from support.full_organization import RATINGS
from support.plain_proxy import PlainProxy
from support.postgres import server as postgres
from support.server_process import Server

from workbench.store.store import Store

PEOPLE, SECONDS = 50, 60.0
LISTED = 1000
"""Records that a figure counts at most."""
KILLED_AT, BACK_AT = 0.3, 0.5
"""Parts of the time."""
DRAWN = """
def transform(data, params):
    title = '%d of %d' % (params['number'], len(data['specs']))
    return {'data': [], 'layout': {'title': {'text': title}}}
"""
RECIPE = {
    "plan": {"steps": {"specs": {"op": "list", "source": "cellSpecifications", "limit": LISTED}}},
    "params": {"number": {"kind": "view", "default": 0}},
    "transform": DRAWN,
}


class Seen:
    """What all people saw."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}
        self.statuses: Counter[int] = Counter()
        self.bad: list[float] = []
        self.wrong: list[str] = []
        self.lock = threading.Lock()

    def took(self, answer: Any) -> bool:
        with self.lock:
            self.statuses[answer.status_code] += 1
            if answer.status_code == 502:
                self.bad.append(time.monotonic())
            elif answer.status_code != 200:
                self.wrong.append(f"{answer.status_code}: {answer.text[:300]}")
        return bool(answer.status_code == 200)


def person(number: int, client: Any, project: str, seen: Seen, until: float) -> None:
    """Makes records and finds them again, searches, and looks at figures that others look at too."""
    chance = random.Random(number)
    mine: dict[str, str] = {}
    while time.monotonic() < until:
        kind = chance.randrange(4)
        if kind == 0:
            name = f"S{number}-{len(mine)}-{chance.randrange(10**9)}"
            body = {"name": name, "ratings": RATINGS, "project_id": project}
            answer = client.post("/cell_specifications", json=body)
            if seen.took(answer):
                mine[answer.json()["id"]] = name
                with seen.lock:
                    seen.made[answer.json()["id"]] = name
        elif kind == 1 and mine:
            id = chance.choice(list(mine))
            answer = client.get(f"/cell_specifications/{id}")
            if seen.took(answer) and answer.json()["name"] != mine[id]:
                seen.wrong.append(f"{id} is called {answer.json()['name']}")
        elif kind == 2 and mine:
            name = chance.choice(list(mine.values()))
            answer = client.get("/search", params={"q": name})
            if seen.took(answer) and [one["name"] for one in answer.json()["results"]] != [name]:
                seen.wrong.append(f"search for {name}: {answer.text[:300]}")
        else:
            wanted, least = chance.randrange(5), min(len(seen.made), LISTED)
            body = {"config": RECIPE, "values": {"number": wanted}}
            answer = client.post(f"/projects/{project}/figures", json=body)
            if seen.took(answer):
                number_of, _, count = answer.json()["figure"]["layout"]["title"]["text"].partition(" of ")
                if int(number_of) != wanted or int(count) < least:
                    seen.wrong.append(f"figure {wanted} of {least} or more: {number_of} of {count}")
        time.sleep(chance.uniform(0.1, 1.0))  # a person looks at the page; nothing waits for it


@pytest.mark.long
def test_a_server_is_killed_under_fifty_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address: Any = postgres().address()
    Store.open(address).close()

    def started(name: str, key: str | None = None) -> Server:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        return Server(address, "--trust-transforms", "--trust-files", key=key)

    first = started("first")
    second = started("second", first.key)
    proxy = PlainProxy([first.address, second.address])
    seen = Seen()
    limits = httpx.Limits(max_connections=PEOPLE, max_keepalive_connections=PEOPLE)
    client = httpx.Client(
        base_url=proxy.address, headers={"X-API-Key": first.key}, timeout=120, limits=limits, trust_env=False
    )
    project = client.get("/projects").json()["items"][0]["id"]
    begun = time.monotonic()
    people = [
        threading.Thread(target=person, args=(number, client, project, seen, begun + SECONDS))
        for number in range(PEOPLE)
    ]
    for one in people:
        one.start()
    try:
        time.sleep(SECONDS * KILLED_AT)
        killed = time.monotonic()
        second.kill()
        time.sleep(SECONDS * (BACK_AT - KILLED_AT))
        second = started("second", first.key)
        proxy.up.append(second.address.removeprefix("http://"))
        back = time.monotonic()
        for one in people:
            one.join(SECONDS + 120)
        assert not any(one.is_alive() for one in people)
        assert not seen.wrong, seen.wrong[:5]
        assert all(killed <= moment <= back for moment in seen.bad), "errors only while it is down"
        assert seen.statuses[200] > 10 * PEOPLE
        assert set(seen.statuses) <= {200, 502}
        for server in (first, second):
            with server.client() as direct:
                assert direct.get("/readyz").status_code == 200
        with Store.open(address) as store:
            held = dict(store.execute("select id, name from specifications").fetchall())
            assert seen.made.items() <= held.items(), "nothing acknowledged is lost"
            assert store.verify() == []
    finally:
        client.close()
        proxy.close()
        first.stop()
        second.stop()
    print(f"{seen.statuses}, {len(seen.made)} made")


@pytest.mark.long
def test_figures_asked_for_on_both_at_once_are_each_drawn_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address: Any = postgres().address()
    Store.open(address).close()
    servers: list[Server] = []
    try:
        for name in ("first", "second"):
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
            servers.append(Server(address, "--trust-transforms", key=servers[0].key if servers else None))
        clients = [one.client() for one in servers]
        project = clients[0].get("/projects").json()["items"][0]["id"]
        slow = {**RECIPE, "transform": "import time\n" + DRAWN.replace("title =", "time.sleep(0.3); title =")}
        drawn: dict[int, list[str]] = {}

        def ask(client: Any, number: int) -> None:
            body = {"config": slow, "values": {"number": number}}
            answer = client.post(f"/projects/{project}/figures", json=body)
            assert answer.status_code == 200, answer.text
            drawn.setdefault(number, []).append(answer.json()["cache"]["figure"])

        for number in range(8):
            asking = [threading.Thread(target=ask, args=(client, number)) for client in clients]
            for one in asking:
                one.start()
            for one in asking:
                one.join(60)
        once = ["hit", "miss"]
        assert {number: sorted(found) for number, found in drawn.items()} == dict.fromkeys(range(8), once)
        for client in clients:
            client.close()
    finally:
        for one in servers:
            one.stop()
