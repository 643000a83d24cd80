"""Sign-in by an identity provider: who comes in and as whom, what is refused, and what a stranger cannot do with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient
from support.server_in_process import Lab, lab

from server import Settings
from server.identity_provider import SECRET, ProviderSettings, check
from workbench.errors import BadRequest
from workbench.records import Organization
from workbench.store.scope import Scope
from workbench.store.store import Store

pytest.importorskip("authlib")
from support import identity_provider
from support.identity_provider import CLIENT, PERSON, Provider

ASK = {"X-Workbench": "page"}
ANSWER = "/session/provider/answer"


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, identity_provider.SECRET)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with identity_provider.running() as made:
        yield made


@contextmanager
def serving(folder: Path, provider: Provider, **more: Any) -> Iterator[Lab]:
    said = ProviderSettings(provider.address, CLIENT, "Lab login", **more)
    with lab(folder, Settings(readers=0, provider=said)) as made:
        yield made


@pytest.fixture
def served(tmp_path: Path, provider: Provider) -> Iterator[Lab]:
    with serving(tmp_path, provider) as made:
        made.person("ada@lab.example", role="Member", everywhere="project-viewer")
        yield made


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lab, Provider]]:
    with (
        identity_provider.running() as provider,
        serving(tmp_path_factory.mktemp("provider"), provider) as made,
    ):
        made.person("ada@lab.example", role="Member", everywhere="project-viewer")
        yield made, provider


@pytest.fixture
def refusing(world: tuple[Lab, Provider]) -> tuple[Lab, Provider]:
    """A server and a provider that are used again, for what leaves nothing behind."""
    made, provider = world
    clean = Provider(provider.address, key=provider.key)
    provider.__dict__.update(clean.__dict__)
    made.client.cookies.clear()
    return world


def gone(made: Lab, next: str | None = None) -> str:
    """Where a browser is sent that begins to sign in."""
    answer = made.client.get("/session/provider", params={} if next is None else {"next": next})
    assert answer.status_code == 303, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return str(answer.headers["location"])


def back(made: Lab, provider: Provider, next: str | None = None) -> Any:
    """The answer to a browser that comes back from the provider."""
    return made.client.get(provider.sign_in(gone(made, next)))


def signed_in(made: Lab, answer: Any) -> dict[str, Any]:
    """What the page gets for the code in the address to which the browser is sent."""
    assert answer.status_code == 303, answer.text
    where, _, code = answer.headers["location"].partition("#code=")
    opened = made.client.post("/session", json={"code": code}, headers=ASK)
    assert opened.status_code == 200, opened.text
    return {**opened.json(), "where": where}


def test_a_member_signs_in_as_themselves_with_their_own_rights(served: Lab, provider: Provider) -> None:
    assert served.client.get("/session", headers=ASK).json()["provider"] == "Lab login"
    opened = signed_in(served, back(served, provider, "/boards/x?v=1"))
    assert (opened["user"]["email"], opened["where"]) == ("ada@lab.example", "/boards/x?v=1")
    with_token = {"X-Workbench": opened["token"]}
    assert served.client.get("/projects", headers=with_token).status_code == 200
    assert served.client.post("/projects", json={"name": "New"}, headers=with_token).status_code == 403
    told = [row["action"] for row in served.store.people.audit_log(served.organization.id)]
    assert {"identity.bound", "session.opened"} <= set(told)


def test_nobody_is_signed_in_as_another_by_an_address_that_was_sent_to_them(
    served: Lab, provider: Provider
) -> None:
    """Whoever opened it within a minute was signed in as its sender, and brought data in under their name."""
    code = back(served, provider).headers["location"].partition("#code=")[2]
    other_browser = TestClient(served.app, base_url="http://localhost")
    refused = other_browser.post("/session", json={"code": code}, headers=ASK)
    assert (refused.status_code, "one-time code is unknown" in refused.json()["message"]) == (401, True)
    assert "wb_session" not in refused.headers.get("set-cookie", "")
    opened = served.client.post("/session", json={"code": code}, headers=ASK)
    assert opened.status_code == 200
    assert set(served.client.cookies) == {"wb_session"}, "what the code was bound to is of no more use"


def test_coming_again_uses_the_same_key_and_asks_the_provider_for_little(served: Lab, provider: Provider) -> None:
    for _ in range(3):
        signed_in(served, back(served, provider))
        served.client.cookies.clear()
    mine = [row for row in served.store.people.keys(served.organization.id) if row["email"] == "ada@lab.example"]
    assert len(mine) == 2  # the one that the test made, and that of the sign-ins
    assert provider.asked.count("/keys") == 1
    assert provider.asked.count("/.well-known/openid-configuration") == 1


def test_signing_out_ends_it_here_and_leads_to_the_provider_on_wish(served: Lab, provider: Provider) -> None:
    opened = signed_in(served, back(served, provider))
    headers = {"X-Workbench": opened["token"]}
    assert served.client.delete("/session", headers=headers).status_code == 204
    assert served.client.get("/projects", headers=headers).status_code == 401
    answer = served.client.get("/session/provider/sign-out")
    parts = urlsplit(answer.headers["location"])
    assert (answer.status_code, parts.path) == (303, "/logout")
    asked = parse_qs(parts.query)
    assert asked == {"client_id": [CLIENT], "post_logout_redirect_uri": ["http://localhost/"]}


def test_a_subject_stays_bound_when_its_address_changes(served: Lab, provider: Provider) -> None:
    signed_in(served, back(served, provider))
    provider.person |= {"email": "countess@lab.example", "email_verified": False}
    assert signed_in(served, back(served, provider))["user"]["email"] == "ada@lab.example"


def test_an_address_that_was_given_to_somebody_else_opens_nothing(served: Lab, provider: Provider) -> None:
    signed_in(served, back(served, provider))
    provider.person |= {"sub": "subject-2"}
    answer = back(served, provider)
    assert (answer.status_code, "belongs to somebody else" in answer.text) == (403, True)


def test_somebody_unknown_is_refused_and_told_whom_to_ask(refusing: tuple[Lab, Provider]) -> None:
    served, provider = refusing
    provider.person |= {"sub": "s", "email": "eve@lab.example"}
    answer = back(served, provider)
    assert answer.status_code == 403
    assert "Ask an administrator to invite you." in answer.text
    assert "code=" not in answer.headers.get("location", "")
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_new_people_get_the_role_of_the_setting_if_their_address_fits(tmp_path: Path, provider: Provider) -> None:
    with serving(tmp_path, provider, new_people="contributor", domains=("Lab.Example",)) as made:
        opened = signed_in(made, back(made, provider))
        member = made.store.people.member(made.organization.id, opened["user"]["id"])
        assert member is not None
        assert (member["role"], member["everywhere"]) == ("Member", "project-contributor")
        provider.person |= {"sub": "other", "email": "eve@evil-lab.example"}
        assert back(made, provider).status_code == 403
        provider.person |= {"sub": "third", "email": "eve@lab.example.evil"}
        assert back(made, provider).status_code == 403


def test_who_is_suspended_or_removed_cannot_come_in(served: Lab, provider: Provider) -> None:
    opened = signed_in(served, back(served, provider))
    user = opened["user"]["id"]
    served.store.people.change_member(served.organization.id, user, is_active=False)
    assert "suspended" in back(served, provider).text
    served.store.people.remove_member(served.organization.id, user)
    assert "not a member here any more" in back(served, provider).text


def test_a_revoked_key_ends_what_was_open_and_not_the_person(served: Lab, provider: Provider) -> None:
    opened = signed_in(served, back(served, provider))
    mine = [row for row in served.store.people.keys(served.organization.id) if row["email"] == "ada@lab.example"]
    for row in mine:
        served.store.people.revoke(served.organization.id, row["id"])
    assert served.client.get("/projects", headers={"X-Workbench": opened["token"]}).status_code == 401
    signed_in(served, back(served, provider))


def test_of_several_organizations_the_setting_names_one(tmp_path: Path, provider: Provider) -> None:
    with serving(tmp_path, provider) as made:
        made.store.rows.create(Organization, {"name": "Second"}, scope=Scope("", None))
        assert "which one with --organization" in back(made, provider).text
    with serving(tmp_path, provider, organization="Second", new_people="viewer", domains=("any",)) as made:
        opened = signed_in(made, back(made, provider))
        second = next(one for one in made.store.rows.organizations() if one.name == "Second")
        assert made.store.people.member(second.id, opened["user"]["id"]) is not None
        assert made.store.people.member(made.organization.id, opened["user"]["id"]) is None


def changed(**claims: Any) -> Callable[[Provider], None]:
    return lambda provider: provider.changed.update(claims)


def without(name: str) -> Callable[[Provider], None]:
    return lambda provider: provider.absent.add(name)


def unsigned(provider: Provider) -> None:
    provider.header = {"alg": "none"}


def signed_with_the_secret(provider: Provider) -> None:
    provider.header, provider.signs_with = {"alg": "HS256"}, identity_provider.of_the_client()


def signed_by_another(provider: Provider) -> None:
    from joserfc.jwk import ECKey

    provider.signs_with = ECKey.generate_key("P-256", {"kid": "one"})


BAD: dict[str, Callable[[Provider], None]] = {
    "of another issuer": changed(iss="https://evil.example"),
    "for another client": changed(aud="another"),
    "for several clients, and asked for by another": changed(aud=[CLIENT, "another"], azp="another"),
    "for several clients without a word who asked": changed(aud=["another", CLIENT]),
    "expired": changed(exp=1_000_000_000),
    "of another attempt": changed(nonce="another"),
    "without a nonce": without("nonce"),
    "without an end": without("exp"),
    "without a subject": without("sub"),
    "with an empty subject": changed(sub=""),
    "with a number for a subject": changed(sub=7),
    "with the hash of another access token": changed(at_hash="AAAAAAAAAAAAAAAAAAAAAA"),
    "not signed": unsigned,
    "signed with the secret of the client": signed_with_the_secret,
    "signed by somebody else": signed_by_another,
}


@pytest.mark.parametrize("what", BAD)
def test_a_token_that_is_not_sound_signs_nobody_in(refusing: tuple[Lab, Provider], what: str) -> None:
    served, provider = refusing
    BAD[what](provider)
    answer = back(served, provider)
    assert (answer.status_code, "location" in answer.headers) == (401, False)
    assert "not sound" in answer.text


@pytest.mark.parametrize("said", [False, None, "true", 1])
def test_an_address_that_is_not_verified_names_nobody(refusing: tuple[Lab, Provider], said: Any) -> None:
    served, provider = refusing
    provider.person |= {"email_verified": said}
    answer = back(served, provider)
    assert (answer.status_code, "has not verified an e-mail address" in answer.text) == (403, True)


def test_new_keys_of_the_provider_are_fetched(
    served: Lab, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    from joserfc.jwk import ECKey

    from server import identity_provider as at_server

    signed_in(served, back(served, provider))
    monkeypatch.setattr(at_server, "_AGAIN_SECONDS", -1.0)
    provider.key = ECKey.generate_key("P-256", {"kid": "one"})
    signed_in(served, back(served, provider))


def test_an_answer_belongs_to_one_browser_and_one_attempt(served: Lab, provider: Provider) -> None:
    address = provider.sign_in(gone(served))
    served.client.cookies.clear()  # the browser of somebody else, who is given the address: login CSRF
    answer = served.client.get(address)
    assert (answer.status_code, "begun in another browser" in answer.text) == (401, True)
    first = provider.sign_in(gone(served))
    gone(served)  # a second attempt replaces the first
    assert served.client.get(first).status_code == 401
    address = provider.sign_in(gone(served))
    assert served.client.get(address).status_code == 303
    assert served.client.get(address).status_code == 401  # it is used up


def test_what_the_browser_keeps_cannot_be_made_up(refusing: tuple[Lab, Provider]) -> None:
    served, provider = refusing
    address = provider.sign_in(gone(served))
    kept = served.client.cookies["wb_session_attempt"]
    for other in (kept[:-3] + "AAA", "", "x" * 5000, "nonsense"):
        served.client.cookies.clear()
        answer = served.client.get(address, headers={"Cookie": f"wb_session_attempt={other}"})
        assert answer.status_code == 401


def test_the_cookie_of_an_attempt_is_kept_from_scripts_and_ends(served: Lab, provider: Provider) -> None:
    cookie = served.client.get("/session/provider").headers["set-cookie"]
    assert {"HttpOnly", "SameSite=lax", "Max-Age=600"} <= set(cookie.split("; "))
    ended = back(served, provider).headers["set-cookie"]
    assert 'wb_session_attempt=""' in ended
    assert "Max-Age=0" in ended


@pytest.mark.parametrize(
    "next",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "javascript:alert(1)",
        "/a#code=b",
        "/a b",
        "/a\n",
    ],
)
def test_the_way_back_leads_to_this_server_only(refusing: tuple[Lab, Provider], next: str) -> None:
    served, provider = refusing
    assert signed_in(served, back(served, provider, next))["where"] == "/"


def test_what_the_provider_adds_to_its_answer_is_fine_but_nothing_twice(served: Lab, provider: Provider) -> None:
    provider.extra = {"session_state": "x", "scope": "openid", "iss": provider.address}
    signed_in(served, back(served, provider))
    address = provider.sign_in(gone(served))
    assert served.client.get(f"{address}&code=other").status_code == 400
    provider.extra = {"iss": "https://evil.example"}
    assert "another provider" in back(served, provider).text


def test_a_refusal_of_the_provider_is_said(refusing: tuple[Lab, Provider]) -> None:
    served, _ = refusing
    state = parse_qs(urlsplit(gone(served)).query)["state"][0]
    answer = served.client.get(
        ANSWER, params={"error": "access_denied", "error_description": "<b>x", "state": state}
    )
    assert (answer.status_code, "did not sign you in" in answer.text, "<b>x" in answer.text) == (401, True, False)
    state = parse_qs(urlsplit(gone(served)).query)["state"][0]
    answer = served.client.get(ANSWER, params={"code": "unknown", "state": state})
    assert (answer.status_code, "did not accept" in answer.text) == (401, True)


def test_a_provider_that_is_away_or_wrong_is_named(tmp_path: Path, provider: Provider) -> None:
    (tmp_path / "first").mkdir()
    with serving(tmp_path / "first", provider) as made:
        provider.configured = {"issuer": "https://evil.example"}
        answer = made.client.get("/session/provider")
        assert (answer.status_code, "They must be the same" in answer.text) == (502, True)
        provider.configured = {"authorization_endpoint": "http://evil.example/authorize"}
        answer = made.client.get("/session/provider")
        assert (answer.status_code, "must begin with https://" in answer.text) == (502, True)
    nowhere = Provider("http://127.0.0.1:9")
    with serving(tmp_path, nowhere) as made:
        answer = made.client.get("/session/provider")
        assert (answer.status_code, "&#x27;Lab login&#x27; does not answer" in answer.text) == (502, True)


def test_a_server_without_a_provider_has_no_such_address(tmp_path: Path) -> None:
    with lab(tmp_path) as made:
        assert made.client.get("/session/provider").status_code == 404
        assert made.client.get("/session", headers=ASK).json()["provider"] is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (ProviderSettings("http://login.example", "c"), "must begin with https://"),
        (ProviderSettings("https://login.example", ""), "--oidc-client ID"),
        (ProviderSettings("https://login.example", "c", new_people="admin", domains=("any",)), "'viewer' or"),
        (ProviderSettings("https://login.example", "c", new_people="viewer"), "--oidc-domain lab.example"),
    ],
)
def test_settings_that_let_nobody_or_anybody_in_are_refused_at_the_start(
    settings: ProviderSettings, words: str
) -> None:
    with pytest.raises(BadRequest, match=re.escape(words)):
        check(settings)


def test_nobody_is_bound_in_part(tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails in the middle leaves neither a member nor a binding."""
    with serving(tmp_path, provider, new_people="viewer", domains=("any",)) as made:
        before = made.store.connection().execute("select count(*) from facts").fetchone()

        def broken(*_: Any, **__: Any) -> None:
            raise BadRequest("It broke.")

        with monkeypatch.context() as patch:
            patch.setattr(type(made.store.people), "issue", broken)
            assert back(made, provider).status_code == 400
        assert made.store.connection().execute("select count(*) from facts").fetchone() == before
        assert [one["email"] for one in made.store.people.members(made.organization.id)] == ["local@localhost"]
        with Store.open(made.store.path, create=False) as other:
            assert other.verify() == []
        assert PERSON["sub"] not in str(made.store.connection().execute("select * from facts").fetchall())
