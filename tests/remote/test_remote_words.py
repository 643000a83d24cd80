"""What a person reads when the server is away, the key is wrong, the versions differ, or a role does not reach."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from support.full_organization import RATINGS
from support.handwritten import HANDWRITTEN
from support.local_and_remote import Sides

import workbench as wb
from workbench.errors import Forbidden, NotProtected, OtherVersion, ServerAway, Unauthorized
from workbench.remote import RemoteBackend

EMPTY = "def transform(data, params):\n    return {'data': [], 'layout': {}}\n"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_a_server_that_is_not_there() -> None:
    port = free_port()
    with pytest.raises(ServerAway, match=rf"127.0.0.1:{port} cannot be reached .*Is it running"):
        wb.connect(f"http://127.0.0.1:{port}", "wb_key")


@pytest.mark.parametrize("url", ["", "ftp://lab", "http://", "http://lab:0", "http://lab:99999999"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(wb.BadRequest, match="not the address of a server"):
        wb.connect(url, "wb_key")


def test_a_key_that_opens_nothing(lab: Sides, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unauthorized, match=r"does not take this key.*keys create"):
        wb.connect(lab.url, lab.key[:-3] + "AAA")
    with pytest.raises(wb.BadRequest, match="whole text"):
        wb.connect(lab.url, "two words")
    monkeypatch.delenv("WORKBENCH_API_KEY", raising=False)
    with pytest.raises(wb.BadRequest, match="WORKBENCH_API_KEY"):
        wb.connect(lab.url)
    monkeypatch.setenv("WORKBENCH_API_KEY", lab.key)
    with wb.connect(lab.url + "/") as bench:
        assert bench.backend.place == lab.url


def answering(told: dict[str, Any] | bytes, status: int = 200) -> httpx.MockTransport:
    """A server that says one thing to everybody."""
    if isinstance(told, bytes):
        return httpx.MockTransport(lambda _: httpx.Response(status, content=told))
    return httpx.MockTransport(lambda _: httpx.Response(status, json=told))


def test_another_version_and_another_kind_of_server() -> None:
    with pytest.raises(OtherVersion, match=r"runs battery-workbench 9\.1\.0.*battery-workbench==9\.1\.0"):
        RemoteBackend.connect("http://lab", "k", transport=answering({"status": "ok", "version": "9.1.0"}))
    for told in (b"<html>", {"status": "ok"}, b"[]"):
        with pytest.raises(ServerAway, match="not a workbench server"):
            RemoteBackend.connect("http://lab", "k", transport=answering(told))
    with pytest.raises(ServerAway, match="not a workbench server, or a proxy"):
        RemoteBackend.connect("http://lab", "k", transport=answering(b"bad gateway", 502))
    nowhere = answering({"error_code": "NOT_FOUND", "message": "There is no GET /boards/healthz here."}, 404)
    with pytest.raises(ServerAway, match=r"not a workbench server.*ends with its host name"):
        RemoteBackend.connect("http://lab/boards", "k", transport=nowhere)
    with pytest.raises(ServerAway, match=r"is not a workbench server\.$"):
        RemoteBackend.connect("http://lab", "k", transport=nowhere)


def test_a_server_without_tls_asked_with_tls(lab: Sides) -> None:
    with pytest.raises(ServerAway, match=r"Try http:// instead of https://"):
        wb.connect(lab.url.replace("http:", "https:"), lab.key)


def test_a_certificate_of_an_unknown_authority() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate")

    with pytest.raises(ServerAway, match="SSL_CERT_FILE="):
        RemoteBackend.connect("https://lab", "k", transport=httpx.MockTransport(refuse))


def test_a_patch_version_is_no_other_version() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        if request.url.path == "/healthz":
            return httpx.Response(200, json={"status": "ok", "version": "0.1.99"})
        return httpx.Response(401, json={"error_code": "UNAUTHORIZED", "message": "no"})

    with pytest.raises(Unauthorized):
        RemoteBackend.connect("http://lab", "k", transport=httpx.MockTransport(answer))
    assert asked == ["/healthz", "/users/me"]


def test_several_projects_are_told_apart(lab: Sides) -> None:
    made = lab.far.projects.create(name="Ageing")
    with pytest.raises(wb.BadRequest, match=r"2 projects here: .*project=\.\.\."):
        wb.connect(lab.url, lab.key)
    bench = lab.connect(lab.key, "Ageing")
    assert bench.backend.project == made
    assert lab.far.project("Ageing").backend.project.id == made.id
    lab.far.projects.update("Ageing", description="slow")
    assert lab.far.projects.get(made.id).description == "slow"
    assert sorted(lab.far.projects.list(name_contains="age")["name"]) == ["Ageing"]
    words = []
    for bench in (lab.near, lab.far):
        with pytest.raises(wb.NotFound, match="There is no project 'no such one'") as missed:
            bench.projects.get("no such one")
        words.append(str(missed.value))
    assert words[0] == words[1]
    lab.far.projects.delete("Ageing")
    with pytest.raises(wb.NotFound):
        lab.far.projects.get("Ageing")


def test_a_server_that_stops_says_so(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as near:
        served = near.serve(trust_transforms=True)
        far = wb.connect(served.url, served.api_key)
        served.stop()
        with pytest.raises(ServerAway, match="cannot be reached"):
            far.measurements.list()
        far.close()


def test_a_viewer_draws_what_is_saved_and_nothing_else(demo: Sides) -> None:
    viewer = demo.connect(demo.person("viewer@lab", everywhere="project-viewer"))
    board = viewer.dashboards.get("Ageing")
    plot = board.plot("Cycle life")
    expected = demo.near.dashboards.get("Ageing").plot("Cycle life").figure(threshold=90)
    assert plot.figure(threshold=90).to_json() == expected.to_json()
    shown = plot.show()
    assert shown.figure().to_json() == demo.near.dashboards.get("Ageing").plot("Cycle life").figure().to_json()
    shown.close()
    with pytest.raises(Forbidden, match="contributor"):
        viewer.figure({"plan": {"steps": {"a": {"op": "list", "source": "instances"}}}, "transform": EMPTY})
    with pytest.raises(Forbidden):
        board.save("Mine", HANDWRITTEN["fade-by-batch"])
    with pytest.raises(Forbidden):
        viewer.ingest(Path(__file__))
    assert len(viewer.measurements.list()) == len(demo.near.measurements.list())


def test_an_older_revision_is_drawn_by_a_viewer_too(demo: Sides) -> None:
    board = demo.far.dashboards.get("Ageing")
    first = board.plot("Test calendar")
    raw = first.recipe().raw()
    raw["plan"]["steps"] = {name: {**step, "op": step["op"]} for name, step in raw["plan"]["steps"].items()}
    raw["transform"] += "\n# changed\n"
    second = board.save("Test calendar", raw)
    assert second.revision == first.revision + 1
    assert list(second.history()["revision"]) == list(range(1, second.revision + 1))
    viewer = demo.connect(demo.person("other@lab", everywhere="project-viewer"))
    plot = viewer.dashboards.get("Ageing").plot("Test calendar")
    old = plot.recipe(first.revision)
    assert viewer.figure(old).to_json() == demo.near.figure(first.recipe()).to_json()
    assert second.restore(first.revision).recipe().raw() == first.recipe().raw()
    with pytest.raises(wb.NotFound):
        plot.recipe(99)


def test_a_script_that_cannot_be_locked_in_here_is_drawn_by_the_server(
    demo: Sides, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = HANDWRITTEN["fade-by-batch"]
    expected = demo.near.figure(config)
    mine = RemoteBackend._drawn

    def refused(self: RemoteBackend, config: Any, answered: Any, draws: Any, *rest: Any, **named: Any) -> Any:
        if draws.locked:
            raise NotProtected("no lock here")
        return mine(self, config, answered, draws, *rest, **named)

    monkeypatch.setattr(RemoteBackend, "_drawn", refused)
    drawn = demo.far.figure(config, protected=True)
    assert drawn.to_json() == expected.to_json()


def test_what_belongs_to_the_store_is_done_there(lab: Sides) -> None:
    for what in (lab.far.recompute, lab.far.serve):
        with pytest.raises(wb.BadRequest, match="server"):
            what()


def test_an_admin_of_the_store_copies_and_verifies_it_from_afar(lab: Sides, tmp_path: Path) -> None:
    lab.near.specifications.create(name="M50", ratings=RATINGS)
    lab.far.backup(tmp_path / "copy.db")
    assert lab.far.verify() == lab.near.verify() == []
    with wb.open(tmp_path / "copy.db") as copy:
        assert copy.specifications.get("M50").name == "M50"
        assert copy.verify() == []
    kept = (tmp_path / "copy.db").read_bytes()
    with pytest.raises(wb.Conflict, match="exists already"):
        lab.far.backup(tmp_path / "copy.db")
    with pytest.raises(wb.BadRequest, match="no folder"):
        lab.far.backup(tmp_path / "none" / "copy.db")
    assert (tmp_path / "copy.db").read_bytes() == kept
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def test_what_an_older_server_does_not_have_says_which_version_has_it(lab: Sides, tmp_path: Path) -> None:
    client = lab.far.backend.client
    before, client.version = client.version, "0.1.0"
    try:
        for what in (lab.far.verify, lambda: lab.far.backup(tmp_path / "copy.db")):
            with pytest.raises(OtherVersion, match=r"runs battery-workbench 0\.1\.0.*0\.1\.1 or newer"):
                what()
        client.version = "0.1.1"
        assert lab.far.verify() == lab.near.verify() == []
    finally:
        client.version = before
