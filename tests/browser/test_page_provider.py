"""Sign-in by an identity provider in a browser: there, back with a session, out again, and out of the provider."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from support.notebook_page import PATIENCE
from support.server_on_socket import listening

from server import Settings, create_app
from server.identity_provider import SECRET, ProviderSettings

pytest.importorskip("authlib")
from support import identity_provider


@pytest.mark.long
def test_a_person_goes_to_the_provider_and_comes_back_signed_in(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SECRET, identity_provider.SECRET)
    with identity_provider.running() as provider:
        said = ProviderSettings(provider.address, identity_provider.CLIENT, "Lab login")
        app = create_app(tmp_path / "lab.db", Settings(readers=0, provider=said))
        with listening(app) as (_, address):
            people = app.state.workbench.store.people
            (organization,) = people.organizations()
            people.enrol(organization.id, "ada@lab.example", role="Admin")
            page = browser.new_page()
            wrong: list[str] = []
            page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
            try:
                page.goto(f"{address}/explore?x=1")
                page.get_by_role("button", name="Sign in with Lab login").click(timeout=PATIENCE)
                page.wait_for_function("() => localStorage.getItem('workbench-token')", timeout=PATIENCE)
                page.wait_for_url(f"{address}/explore?x=1", timeout=PATIENCE)
                assert "code" not in page.url
                expect(page.get_by_role("button", name="Sign in")).to_have_count(0, timeout=PATIENCE)
                cookies = {one["name"]: one for one in page.context.cookies()}
                assert cookies["wb_session"]["httpOnly"]
                assert cookies["wb_session"]["sameSite"] == "Strict"
                assert "wb_session_attempt" not in cookies
                me = page.evaluate(
                    "async () => (await (await fetch('/session', {headers: {'X-Workbench': "
                    "localStorage.getItem('workbench-token')}})).json()).user.email"
                )
                assert me == "ada@lab.example"
                assert wrong == []
            finally:
                page.close()
