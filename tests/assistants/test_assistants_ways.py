"""The ways in for assistants: ``/mcp`` of a server, a program on this machine, and that program for a server."""

from __future__ import annotations

import os
from typing import Any

import anyio
import pytest
from support.ageing_lab import Ageing
from support.server_on_socket import listening
from support.server_process import ROOT, WORKBENCH

from server import Settings, create_app
from workbench.cli import assistants as command
from workbench.cli import audit
from workbench.errors import BadRequest


@pytest.fixture
def over_http(ageing: Ageing) -> Any:
    """Asks at ``/mcp`` with a key, and gives the projects that the tool names, or the status of the refusal."""

    def ask(key: str | None, mode: str = "auto") -> Any:
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        async def run(address: str) -> Any:
            headers = {} if key is None else {"Authorization": f"Bearer {key}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
            ):
                assert len((await client.list_tools()).tools) == 17
                found = await client.call_tool("list_projects", {})
                return [one["name"] for one in found.structured_content["items"]]

        app = create_app(ageing.server.store.path, Settings(readers=0), create=False)
        with listening(app) as (_, address):
            return anyio.run(run, address)

    return ask


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_server_answers_assistants_at_its_own_address(ageing: Ageing, over_http: Any, mode: str) -> None:
    assert over_http(ageing.viewer.key, mode) == ["Default"]
    noted = ageing.audit()[-1]
    assert noted["key_id"] == ageing.viewer.key_id
    assert noted["detail"]["tool"] == "list_projects"


def test_at_the_address_of_a_server_a_key_comes_first(ageing: Ageing) -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    call = ageing.server.client.request
    refused = call("POST", "/mcp", json=hello)
    assert (refused.status_code, refused.json()["error_code"]) == (401, "UNAUTHORIZED")
    assert refused.headers["www-authenticate"] == "Bearer"
    assert call("POST", "/mcp", content=b"{" * 100, headers={"X-API-Key": "wb_no_key"}).status_code == 401
    get = call("GET", "/mcp", headers=ageing.viewer.headers)
    assert (get.status_code, get.headers["allow"]) == (405, "POST")
    assert call("POST", "/mcp", json=hello, headers={"Host": "elsewhere.example"}).status_code == 400
    large = call(
        "POST",
        "/mcp",
        content=b"x" * (2 << 20),
        headers={**ageing.viewer.headers, "Content-Type": "application/json"},
    )
    assert large.status_code == 413


def test_a_server_without_the_extra_says_what_to_install(ageing: Ageing, monkeypatch: pytest.MonkeyPatch) -> None:
    from server.assistants import at_http

    monkeypatch.setattr(at_http, "find_spec", lambda name: None)
    answer = ageing.server.client.post("/mcp", json={}, headers=ageing.viewer.headers)
    assert answer.status_code == 501
    assert "battery-workbench[mcp]" in answer.json()["message"]


@pytest.mark.long
def test_the_program_serves_the_store_of_this_machine_with_a_key(ageing: Ageing) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    own = ageing.server.organization.name
    words = [*WORKBENCH, "mcp", "--store", str(ageing.server.store.path), "--organization", own]
    environment = {**os.environ, "WORKBENCH_API_KEY": ageing.viewer.key, "PYTHONPATH": str(ROOT)}

    async def run() -> Any:
        program = StdioServerParameters(command=words[0], args=words[1:], env=environment)
        async with Client(program, read_timeout_seconds=120) as client:
            found = await client.call_tool("search", {"q": "Cell"})
            refused = await client.call_tool("create_dashboard", {"name": "Mine"})
        return found, refused

    found, refused = anyio.run(run)
    assert found.structured_content["total"] == 3
    assert refused.structured_content["status"] == 403
    noted = ageing.audit()[-2:]
    assert [one["detail"]["tool"] for one in noted][-1] == "create_dashboard"
    assert len({one["detail"]["session"] for one in noted}) == 1


def test_the_program_can_ask_a_server(ageing: Ageing) -> None:
    from server.assistants.asking import Asking
    from server.assistants.tools import called
    from workbench.remote.client import Client

    async def run(client: Client | None) -> Any:
        asking = Asking(command.OnServer(client), {}, client="scripted", session="s")
        return [
            await called(asking, "search", {"q": "Cell"}),
            await called(asking, "create_dashboard", {"name": "M"}),
        ]

    with listening(ageing.server.app, lifespan="off") as (_, address):
        client = Client(address, ageing.viewer.key)
        found, refused = anyio.run(run, client)
        client.close()
    nobody = anyio.run(run, None)
    assert found.value["total"] == 3
    assert refused.value["status"] == 403
    assert [one.value["status"] for one in nobody] == [401, 401]
    assert "WORKBENCH_API_KEY" in nobody[0].value["message"]
    assert ageing.audit()[-1]["detail"] == {"assistant": "scripted", "tool": "create_dashboard", "session": "s"}


def test_the_command_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadRequest, match="either --url or --store"):
        command.mcp(store=ROOT / "a.db", url="http://lab:1")
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    with pytest.raises(BadRequest, match=r"battery-workbench\[mcp\]"):
        command.mcp()


def test_the_audit_command_names_the_assistant_and_its_tool(
    ageing: Ageing, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from workbench.cli.console import out

    ageing.tools(ageing.viewer, ("search", {"q": "Cell"}))
    monkeypatch.setattr(out, "_width", 250)
    audit.audit(limit=1, store=ageing.server.store.path, organization=ageing.server.organization.name)
    assert "scripted 1, search" in " ".join(capsys.readouterr().out.split())
