"""What is checked before a handler runs: credentials, hosts, bodies, errors of one shape."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from support.server_in_process import Lab, lab

from server import Settings
from server.log import Lines


def test_health_needs_no_credential(served: Lab) -> None:
    answer = served.client.get("/healthz")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["status"] == "ok"


def test_an_unknown_address_says_so(served: Lab) -> None:
    assert served.client.get("/nope").json()["message"] == "There is no 'GET /nope' on this server."


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-API-Key": ""},
        {"X-API-Key": "wb_nothing"},
        {"X-API-Key": "wb_abcdefgh_" + "x" * 43},
        {"X-API-Key": "x" * 5000},
        {"Authorization": "Basic abc"},
        {"Authorization": "Bearer"},
    ],
)
def test_no_credential_in_force_is_401_with_an_object(served: Lab, headers: dict[str, str]) -> None:
    answer = served.client.get("/projects", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["error_code"] == "UNAUTHORIZED"
    assert answer.headers["x-correlation-id"]


def test_a_key_and_a_bearer_token_are_the_same(served: Lab) -> None:
    by_key = served.json("GET", "/users/me")
    token = {"Authorization": f"Bearer {served.admin.key}"}
    assert served.client.get("/users/me", headers=token).json() == by_key
    assert by_key["authorized_organization"]["id"] == served.organization.id


def test_revoked_expired_and_suspended_keys_open_nothing(served: Lab) -> None:
    gone, old = served.person("gone@lab"), served.person("old@lab", days=-1)
    served.store.people.revoke(served.organization.id, gone.key_id)
    away = served.person("away@lab")
    assert served.call("GET", "/users/me", away).status_code == 200
    path = f"/organizations/{served.organization.id}/users/{away.user_id}"
    assert served.call("PATCH", path, json={"is_active": False}).status_code == 204
    for person in (gone, old, away):
        assert served.call("GET", "/users/me", person).status_code == 401


def test_a_foreign_organization_header_is_403(served: Lab) -> None:
    own = {"X-Organization-Id": served.organization.id}
    assert served.call("GET", "/projects", headers=own).status_code == 200
    answer = served.call("GET", "/projects", headers={"X-Organization-Id": "another"})
    assert (answer.status_code, answer.json()["error_code"]) == (403, "FORBIDDEN")


def test_a_host_that_is_not_ours_is_refused(served: Lab, tmp_path: Path) -> None:
    assert served.call("GET", "/projects", headers={"Host": "evil.example"}).status_code == 400
    for host in ("localhost:8765", "127.0.0.1", "[::1]:80"):
        assert served.call("GET", "/projects", headers={"Host": host}).status_code == 200
    folder = tmp_path / "public"
    folder.mkdir()
    with lab(folder, Settings(public_url="https://lab.example/")) as public:
        assert public.call("GET", "/projects", headers={"Host": "lab.example"}).status_code == 200


def test_no_origin_is_let_in_unless_it_is_listed(served: Lab, tmp_path: Path) -> None:
    asked = {"Origin": "https://page.example"}
    assert "access-control-allow-origin" not in served.call("GET", "/projects", headers=asked).headers
    folder = tmp_path / "open"
    folder.mkdir()
    with lab(folder, Settings(origins=("https://page.example",))) as listed:
        answer = listed.call("GET", "/projects", headers=asked)
        assert answer.headers["access-control-allow-origin"] == "https://page.example"


def test_unknown_paths_and_methods_answer_as_all_errors_do(served: Lab) -> None:
    for method, path, status in (("GET", "/nope", 404), ("PUT", "/projects", 405), ("HEAD", "/projects", 405)):
        answer = served.call(method, path)
        assert answer.status_code == status
        if method != "HEAD":
            assert set(answer.json()) == {"error_code", "message"}


def test_packed_bodies_are_unpacked_within_bounds(served: Lab) -> None:
    packed = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    body = gzip.compress(json.dumps({"name": "Packed", "description": "x" * 600_000}).encode())
    made = served.json("POST", "/projects", content=body, headers=packed)
    assert made["description"] == "x" * 600_000
    bomb = gzip.compress(b'{"name": "' + b"a" * (40 << 20) + b'"}')
    assert served.call("POST", "/projects", content=bomb, headers=packed).status_code == 413
    for damaged in (body[:-9], b"nonsense", body + b"more"):
        answer = served.call("POST", "/projects", content=damaged, headers=packed)
        assert answer.status_code == 400, answer.text
    coded = served.call("POST", "/projects", content=b"{}", headers={"Content-Encoding": "br"})
    assert coded.status_code == 400


def test_a_block_of_zeros_is_unpacked_whole(served: Lab) -> None:
    for size in (1 << 18, (1 << 18) + 1, 1 << 20):
        body = b'{"name": "n' + str(size).encode() + b'", "description": "' + b"b" * size + b'"}'
        packed = {"Content-Encoding": "gzip"}
        made = served.json("POST", "/projects", content=gzip.compress(body), headers=packed)
        assert len(made["description"]) == size


def test_too_large_is_413_before_it_is_parsed(served: Lab) -> None:
    big = b"{" + b" " * (33 << 20) + b"}"
    answer = served.call("POST", "/projects", content=big)
    assert (answer.status_code, answer.json()["error_code"]) == (413, "TOO_LARGE")

    def without_length() -> object:
        yield from (b"{" + b" " * (1 << 20) for _ in range(40))

    assert served.call("POST", "/projects", content=without_length()).status_code == 413


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"name": NaN}', "NaN"),
        (b'{"name": "a", "name": "b"}', "twice"),
        (b'{"name": "a"', "line 1"),
        (b"[" * 100_000, "deep"),
        (b'{"name": "\xff"}', "JSON"),
        (b"[]", "object"),
        (b"", "JSON"),
        (b'{"name": 1' + b"0" * 5000 + b"}", "more than 4300 digits; write"),
    ],
)
def test_bodies_are_strict_json_objects(served: Lab, body: bytes, words: str) -> None:
    answer = served.call("POST", "/projects", content=body)
    assert answer.status_code == 422
    (first, *_) = answer.json()["detail"]
    assert set(first) >= {"loc", "msg", "type"}
    assert words in first["msg"]


def test_a_key_that_asks_too_much_waits_and_others_do_not(tmp_path: Path) -> None:
    with lab(tmp_path, Settings(requests_per_second=0.01, burst=3)) as slow:
        other = slow.person("other@lab")
        answers = [slow.call("GET", "/users/me") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert slow.call("GET", "/users/me", other).status_code == 200


def test_writes_and_refusals_stand_in_the_account(served: Lab) -> None:
    made = served.json("POST", "/projects", json={"name": "Audited"})
    served.call("DELETE", f"/projects/{made['id']}", served.person("viewer@lab", everywhere="project-viewer"))
    rows = served.store.people.audit_log(served.organization.id)
    told = {(row["action"], row["status"]) for row in rows}
    assert ("POST /projects", None) in told
    assert ("DELETE /projects/{project_id}", 403) in told
    assert any(row["action"] == "key.used" and row["key_id"] == served.admin.key_id for row in rows)


def test_a_copy_of_the_store_is_noted_for_each_organization_in_it(served: Lab) -> None:
    other, _, _ = served.other_organization()
    served.store.people.enrol(other.id, "local@localhost", role="Admin")
    answer = served.call("GET", "/store/backup")
    assert answer.content.startswith(b"SQLite format 3")
    for organization in (served.organization, other):
        (row,) = (
            row for row in served.store.people.audit_log(organization.id) if row["action"] == "GET /store/backup"
        )
        assert (row["user_id"], row["target"], row["status"]) == (served.admin.user_id, organization.id, None)
        assert row["request"] == answer.headers["x-correlation-id"]


def test_no_key_is_kept_or_logged(served: Lab, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "workbench.server"):
        served.json("GET", "/projects")
        served.call("GET", "/projects", headers={"X-API-Key": "wb_abcdefgh_secretsecret"})
    secret = served.admin.key.split("_", 2)[2]
    assert caplog.records
    lines = [f"{record.getMessage()} {record.__dict__}" for record in caplog.records]
    assert not any(secret in line or "secretsecret" in line for line in lines)
    served.store.close()
    for file in Path(served.store.path).parent.glob("lab.db*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes()


def test_a_405_names_every_method_of_the_path(served: Lab) -> None:
    answer = served.call("PUT", f"/projects/{served.project.id}")
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "PATCH", "DELETE"}
    assert answer.json()["message"].endswith("takes GET, PATCH, DELETE, not PUT.")
    for path in ("/", "/boards/any", "/openapi.json", "/favicon.ico"):
        answer = served.call("DELETE", path)
        assert answer.headers["allow"] == "GET, HEAD"
        assert answer.json()["message"] == f"'{path}' takes GET, HEAD, not DELETE."


def test_the_billing_portal_is_where_the_operator_says(served: Lab, tmp_path: Path) -> None:
    missing = served.call("GET", "/user/billing-portal")
    assert missing.status_code == 404
    assert "--billing-portal" in missing.json()["message"]
    folder = tmp_path / "billed"
    folder.mkdir()
    with lab(folder, Settings(billing_portal="https://pay.example/lab")) as billed:
        answer = billed.call("GET", "/user/billing-portal")
        assert (answer.status_code, answer.headers["location"]) == (307, "https://pay.example/lab")


def test_the_log_is_lines_of_json_by_operation(served: Lab, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", "workbench.server"):
        answer = served.call("GET", f"/projects/{served.project.id}")
        served.client.get("/storage/a-secret-ticket/file")
    lines = [json.loads(Lines().format(record)) for record in caplog.records if record.name == "workbench.server"]
    first = next(line for line in lines if line["operation"] == "GET /projects/{project_id}")
    assert (first["event"], first["status"], first["key"]) == ("request", 200, served.admin.key_id)
    assert first["request"] == answer.headers["x-correlation-id"]
    assert first["ms"] > 0
    assert "a-secret-ticket" not in str(lines)


def test_what_nobody_foresaw_is_a_500_without_its_reason(served: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a path /home/someone and SELECT secrets")

    monkeypatch.setattr("workbench.store.records.rows.Rows.page", broken)
    answer = served.call("GET", "/projects")
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"error_code", "message"}
    assert "someone" not in answer.text
    assert answer.headers["x-correlation-id"] in answer.json()["message"]
