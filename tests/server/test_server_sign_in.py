"""The sign-in of the web page: what opens it, what ends it, and that a cookie alone opens nothing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from support.server_in_process import Lab, Person, lab

from server import Settings
from workbench.store.store import Store

ASK = {"X-Workbench": "1"}


class Browser:
    """A client that keeps the cookie by itself and the token as the page does."""

    def __init__(self, served: Lab, base_url: str = "http://localhost") -> None:
        self.client = TestClient(served.app, base_url=base_url, follow_redirects=False)
        self.token = ""

    def sign_in(self, **given: str) -> Any:
        answer = self.client.post("/session", json=given, headers=ASK)
        self.token = answer.json().get("token", "")
        return answer

    def status(self, method: str, path: str, **more: Any) -> int:
        headers = {"X-Workbench": self.token, **more.pop("headers", {})}
        return self.client.request(method, path, headers=headers, **more).status_code


def signed_in(served: Lab, who: Person | None = None) -> Browser:
    browser = Browser(served)
    assert browser.sign_in(key=(who or served.admin).key).status_code == 200
    return browser


def test_nobody_is_an_answer_and_not_an_error(served: Lab) -> None:
    answer = served.client.get("/session")
    assert (answer.status_code, answer.json()) == (200, {"user": None, "expires_at": None, "provider": None})
    assert answer.headers["cache-control"] == "no-store"


def test_a_key_opens_the_page_and_is_kept_nowhere(served: Lab) -> None:
    browser = Browser(served)
    answer = browser.sign_in(key=served.admin.key)
    assert answer.json()["user"]["email"] == "local@localhost"
    assert answer.headers["cache-control"] == "no-store"
    cookie = answer.headers["set-cookie"]
    for word in ("wb_session=", "HttpOnly", "SameSite=strict", "Path=/", "Max-Age=604800"):
        assert word in cookie
    assert "Secure" not in cookie
    secret = cookie.partition("=")[2].partition(";")[0]
    assert len(secret) == len(browser.token) == 43
    assert served.admin.key not in answer.text + cookie
    kept = b"".join(
        bytes(value) for row in served.store.execute("select secret, token from sign_ins") for value in row
    )
    assert secret.encode() not in kept
    assert browser.client.get("/session", headers={"X-Workbench": browser.token}).json()["user"]["id"]
    assert browser.status("POST", "/projects", json={"name": "By the page"}) == 200
    row = next(row for row in served.store.people.audit_log(served.organization.id))
    assert (row["action"], row["key_id"]) == ("POST /projects", served.admin.key_id)


def test_over_tls_only_this_host_gets_the_cookie(tmp_path: Path) -> None:
    with lab(tmp_path, Settings(public_url="https://lab.example", readers=0)) as public:
        browser = Browser(public, "https://lab.example")
        cookie = browser.sign_in(key=public.admin.key).headers["set-cookie"]
        assert cookie.startswith("__Host-wb_session=")
        assert "Secure" in cookie
        assert browser.status("GET", "/users/me") == 200
        forged = {"Cookie": "wb_session=" + browser.client.cookies["__Host-wb_session"]}
        alone = TestClient(public.app, base_url="https://lab.example")
        assert alone.get("/users/me", headers={"X-Workbench": browser.token, **forged}).status_code == 401


@pytest.mark.parametrize("token", [None, "", "1", "x" * 43, "x" * 5000])
def test_the_cookie_alone_opens_nothing(served: Lab, token: str | None) -> None:
    browser = signed_in(served)
    headers = {} if token is None else {"X-Workbench": token}
    assert browser.client.get("/projects", headers=headers).status_code == 401
    assert browser.client.get("/session", headers=headers).json()["user"] is None
    browser.client.delete("/session", headers=headers)
    assert served.store.execute("select count(*) from sign_ins").fetchone() == (1,)
    assert served.client.get("/projects", headers={"X-Workbench": browser.token}).status_code == 401


def test_the_token_of_another_sign_in_does_not_fit(served: Lab) -> None:
    one, other = signed_in(served), signed_in(served)
    one.token = other.token
    assert one.status("GET", "/projects") == 401


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_what_a_page_of_another_site_sends_is_refused(served: Lab, site: str) -> None:
    browser = signed_in(served)
    sent = {"Sec-Fetch-Site": site}
    assert browser.status("GET", "/projects", headers=sent) == 403
    assert (
        browser.client.post("/session", json={"key": served.admin.key}, headers={**ASK, **sent}).status_code == 403
    )
    assert browser.status("GET", "/projects", headers={"Sec-Fetch-Site": "same-origin"}) == 200


def test_a_form_cannot_sign_in(served: Lab) -> None:
    answer = served.client.post("/session", json={"key": served.admin.key})
    assert (answer.status_code, answer.json()["error_code"]) == (403, "FORBIDDEN")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("body", [{}, {"key": None}, {"key": 1}, {"key": "a", "code": "b"}, {"password": "x"}])
def test_a_body_that_names_no_single_secret_is_refused(served: Lab, body: dict[str, Any]) -> None:
    assert served.client.post("/session", json=body, headers=ASK).status_code == 422


def test_a_request_with_both_counts_as_the_key(served: Lab) -> None:
    viewer = served.person("viewer@lab", everywhere="project-viewer")
    browser = signed_in(served)
    assert browser.status("POST", "/projects", json={"name": "a"}, headers=viewer.headers) == 403
    assert browser.status("GET", "/projects", headers={"X-API-Key": "nonsense"}) == 401


def test_a_narrow_key_stays_narrow(served: Lab) -> None:
    user = served.store.rows.user("local@localhost")
    issued = served.store.people.issue(served.organization.id, user.id, permission="read")
    browser = Browser(served)
    me = browser.sign_in(key=issued.key).json()["user"]
    assert me["organization_can"] == ["read"]
    assert browser.status("GET", "/projects") == 200
    assert browser.status("POST", "/projects", json={"name": "a"}) == 403


def test_it_ends_with_its_key_at_once_in_every_process(served: Lab) -> None:
    browser = signed_in(served, served.person("ada@lab", role="Admin"))
    assert browser.status("GET", "/projects") == 200
    key = next(row for row in served.store.people.keys(served.organization.id) if row["email"] == "ada@lab")
    with Store.open(served.store.path, create=False) as other:
        other.people.revoke(served.organization.id, key["id"])
    assert browser.status("GET", "/projects") == 401


def test_it_ends_when_one_signs_out(served: Lab) -> None:
    browser = signed_in(served)
    secret = browser.client.cookies["wb_session"]
    answer = browser.client.delete("/session", headers={"X-Workbench": browser.token})
    assert 'wb_session=""' in answer.headers["set-cookie"]
    assert "Max-Age=0" in answer.headers["set-cookie"]
    back = {"Cookie": f"wb_session={secret}", "X-Workbench": browser.token}
    assert served.client.get("/projects", headers=back).status_code == 401
    told = [row["action"] for row in served.store.people.audit_log(served.organization.id)]
    assert {"session.opened", "session.closed"} <= set(told)


@pytest.mark.parametrize(
    ("created", "used", "lives"),
    [(0, 0, True), (11, 11, True), (13, 13, False), (160, 1, True), (169, 1, False)],
)
def test_it_ends_unused_and_after_a_week(served: Lab, created: int, used: int, *, lives: bool) -> None:
    browser = signed_in(served)
    now = time.time_ns() // 1000
    with served.store.transaction() as db:
        ago = [now - hours * 3600 * 10**6 for hours in (created, used)]
        db.execute("update sign_ins set created_at = ?, used_at = ?", ago)
    assert browser.status("GET", "/projects") == (200 if lives else 401)
    if lives and used:
        (noted,) = served.store.execute("select used_at from sign_ins").fetchone()
        assert noted >= now


def test_an_address_has_five_failed_tries_a_minute_over_all_processes(served: Lab, tmp_path: Path) -> None:
    for _ in range(5):
        assert served.client.post("/session", json={"key": "wb_a_b"}, headers=ASK).status_code == 401
    refused = served.client.post("/session", json={"key": served.admin.key}, headers=ASK)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    with Store.open(served.store.path, create=False) as other:
        assert other.sign_ins.open("10.0.0.1", key=served.admin.key).caller.is_admin
        with other.transaction() as db:
            db.execute("update sign_in_tries set at = at - 61000000")
    assert served.client.post("/session", json={"key": served.admin.key}, headers=ASK).status_code == 200


def test_a_good_sign_in_is_not_counted(served: Lab) -> None:
    for _ in range(8):
        signed_in(served)


@pytest.mark.parametrize(
    ("one", "other", "same"), [("2001:db8::1", "2001:db8::ffff:1", True), ("10.0.0.1", "10.0.0.2", False)]
)
def test_a_network_of_ipv6_is_one_address(served: Lab, one: str, other: str, *, same: bool) -> None:
    from workbench.errors import TooMany, Unauthorized

    for _ in range(5):
        with pytest.raises(Unauthorized):
            served.store.sign_ins.open(one, key="wb_a_b")
    with pytest.raises(TooMany if same else Unauthorized):
        served.store.sign_ins.open(other, key="wb_a_b")


def test_a_one_time_code_opens_once_within_a_minute(served: Lab) -> None:
    code, late = (served.store.sign_ins.code(served.admin.key_id) for _ in range(2))
    browser = Browser(served)
    assert browser.sign_in(code=code).status_code == 200
    assert browser.status("GET", "/projects") == 200
    assert Browser(served).sign_in(code=code).status_code == 401
    with served.store.transaction() as db:
        db.execute("update sign_in_codes set expires_at = expires_at - 61000000")
    assert Browser(served).sign_in(code=late).status_code == 401
    old = served.store.sign_ins.code(served.admin.key_id)
    served.store.people.revoke(served.organization.id, served.admin.key_id)
    assert Browser(served).sign_in(code=old).status_code == 401
