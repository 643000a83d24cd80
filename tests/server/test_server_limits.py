"""Limits at their bound and one beyond it, packed, in parts and in forms; what a browser of another site gets."""

from __future__ import annotations

import asyncio
import gzip
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from support.full_organization import RATINGS, begin, parquet, samples
from support.server_in_process import Lab, lab

from server import Settings, create_app
from server.limits import Party, Threads

MOST = 1 << 20
_UPLOAD = 1 << 18


@pytest.fixture(scope="module")
def tight(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    settings = Settings(readers=0, upload=_UPLOAD, origins=("https://page.example",))
    with lab(tmp_path_factory.mktemp("limits"), settings) as made:
        yield made


def padded(size: int) -> bytes:
    return b'{"config": 1' + b" " * (size - 13) + b"}"


@pytest.mark.parametrize(("size", "status"), [(MOST, 422), (MOST + 1, 413)])
def test_a_recipe_body_is_measured_unpacked_and_to_the_byte(tight: Lab, size: int, status: int) -> None:
    path, body = f"/projects/{tight.project.id}/figures", padded(size)
    assert len(body) == size

    def in_parts() -> Iterator[bytes]:
        for start in range(0, size, 10_000):
            yield body[start : start + 10_000]

    forms: list[dict[str, Any]] = [
        {"content": body},
        {"content": in_parts()},
        {"content": gzip.compress(body), "headers": {"Content-Encoding": "gzip"}},
    ]
    assert [tight.call("POST", path, **form).status_code for form in forms] == [status] * 3


def test_uploads_are_bounded_packed_or_not_and_leave_nothing(tight: Lab) -> None:
    project = {"project_id": tight.project.id}
    made = tight.json("POST", "/cell_specifications", json={"name": "A", "ratings": RATINGS, **project})
    cell = tight.json("POST", f"/cell_specifications/{made['id']}/cell_instances", json={"name": "C"})
    entry = begin(tight, tight.admin, cell["id"], "Large")["uploads"][0]["signed_url"]
    bomb, packed = gzip.compress(bytes(_UPLOAD * 100)), {"Content-Encoding": "gzip"}
    assert len(bomb) < _UPLOAD
    assert tight.client.put(entry, content=bytes(_UPLOAD + 1)).status_code == 413
    assert tight.client.put(entry, content=bomb, headers=packed).status_code == 413
    assert tight.client.put(entry, content=bytes(_UPLOAD)).status_code == 200
    form = {"data": {"name": "S", **project}, "files": {"time_series": ("a", bytes(_UPLOAD))}}
    assert tight.call("POST", "/simulations", **form).status_code == 413
    waiting = list((Path(f"{tight.store.path}.files") / "incoming").glob("[!o]*"))
    assert waiting == []


def test_an_extension_that_is_confirmed_twice_is_appended_once(tight: Lab) -> None:
    project = {"project_id": tight.project.id}
    made = tight.json("POST", "/cell_specifications", json={"name": "B", "ratings": RATINGS, **project})
    cell = tight.json("POST", f"/cell_specifications/{made['id']}/cell_instances", json={"name": "C"})
    table = parquet(samples())
    id = begin(tight, tight.admin, cell["id"], "Running")
    place = f"/cell_measurements/{id['measurement_id']}"
    assert tight.client.put(id["uploads"][0]["signed_url"], content=table).status_code == 200
    first = tight.json("POST", f"{place}/confirm-upload", json={"measurement": {"name": "Running"}})
    more = samples()
    later = more.set_column(0, "Time [s]", [[time.as_py() + 600.0 for time in more["Time [s]"]]])
    later = later.set_column(1, "Step count", [[step.as_py() + 6 for step in more["Step count"]]])
    entry = tight.json("POST", f"{place}/initiate-extend", json={})["uploads"][0]["signed_url"]
    for _ in range(2):
        assert tight.client.put(entry, content=parquet(later)).status_code == 200
    told = [tight.json("POST", f"{place}/confirm-extend", json={}) for _ in range(2)]
    assert [one["sample_count"] for one in told] == [2 * first["sample_count"]] * 2
    assert tight.client.put(entry, content=parquet(later)).status_code == 409


def test_a_page_of_another_site_is_told_nothing(tight: Lab) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key"}
    listed = tight.client.options("/projects", headers={"Origin": "https://page.example", **asked})
    assert listed.status_code == 200
    assert listed.headers["access-control-allow-origin"] == "https://page.example"
    other = tight.client.options("/projects", headers={"Origin": "https://evil.example", **asked})
    assert other.status_code == 400
    assert "access-control-allow-origin" not in other.headers


def test_a_free_thread_goes_to_the_organization_that_runs_the_least() -> None:
    began: list[str] = []
    ends = {name: threading.Event() for name in ("A1", "A2", "A3", "B1")}

    def work(name: str) -> str:
        began.append(name)
        assert ends[name].wait(10)
        return name

    async def all_of_them() -> list[str]:
        threads = Threads("fair", 2, 10)
        asked = [
            asyncio.create_task(threads.run(Party(name[0]), lambda name=name: work(name), str)) for name in ends
        ]
        while len(began) < 2:
            await asyncio.sleep(0)
        assert began == ["A1", "A2"]  # all threads, while nobody else waits
        ends["A1"].set()
        while len(began) < 3:
            await asyncio.sleep(0)
        assert began[2] == "B1"  # A3 has waited longer, but A runs one more
        for end in ends.values():
            end.set()
        done = await asyncio.gather(*asked)
        threads.close()
        return done

    assert asyncio.run(all_of_them()) == list(ends)


def test_who_has_no_key_keeps_nobody_out_who_has_one(tmp_path: Path) -> None:
    """A flood of requests with a wrong key filled the queue: all others got 503."""
    app = create_app(tmp_path / "lab.db", Settings(readers=0, quick=1, waiting=4), protected=False)
    store = app.state.workbench.store
    key = store.people.issue(store.rows.organizations()[0].id, store.rows.user("local@localhost").id).key
    known, wrong = {"X-API-Key": key}, {"X-API-Key": key[:-4] + "AAAA"}

    async def main() -> tuple[list[int], list[int]]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            assert (await client.get("/users/me", headers=known)).status_code == 200
            flood = [asyncio.create_task(client.get("/users/me", headers=wrong)) for _ in range(30)]
            await asyncio.sleep(0)
            asked = [client.get("/users/me", headers=known) for _ in range(2)]
            answers = await asyncio.gather(*asked)
            return [one.status_code for one in answers], [one.status_code for one in await asyncio.gather(*flood)]

    answered, refused = asyncio.run(main())
    app.state.workbench.close()
    assert answered == [200, 200]
    assert set(refused) == {401, 503}
