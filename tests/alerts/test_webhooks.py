"""Webhooks: only where an Admin allowed it, never by a redirect, at least once and under one id."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.alert_case import grow, make, watch_cycles
from support.hook_server import Hook, hook_server

import workbench as wb
from workbench.alerts import webhooks
from workbench.alerts.webhooks import NotSent, deliver, is_allowed, target_of
from workbench.errors import BadRequest
from workbench.store.store import Store


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[wb.Bench]:
    with wb.open(tmp_path / "lab.db") as made:
        yield made


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hook_server() as made:
        yield made


def store_of(bench: wb.Bench) -> Store:
    store: Store = bench.backend.store  # type: ignore[attr-defined]
    return store


def due_now(bench: wb.Bench) -> None:
    """Let all that waits for its next try be due."""
    with store_of(bench).transaction() as db:
        db.execute("update alert_deliveries set next_at = 1 where next_at is not null")


def test_what_is_found_is_sent_once_it_is_allowed(bench: wb.Bench, hook: Hook) -> None:
    test = make(bench, 1)
    with pytest.raises(BadRequest, match=r"may not go to .* no Admin has allowed it"):
        watch_cycles(bench, webhook=hook.url)
    bench.alerts.allow(hook.url, private=True)
    watch_cycles(bench, webhook=f"{hook.url}/cycles")
    grow(bench, test)
    assert hook.got == []  # a bench sends nothing: a server or a watch does
    assert deliver(store_of(bench)) == 1
    assert deliver(store_of(bench)) == 0
    (one,) = hook.got
    (found,) = bench.alerts.occurrences().itertuples()
    assert hook.paths == ["/lab/cycles"]
    assert one["id"] == found.id == hook.headers[0]["X-Workbench-Delivery"]
    assert one["alert"]["name"] == "A cycle"
    assert one["key"] == {"measurement_id": test, "Cycle count": 1}
    assert (found.delivery, found.tries) == ("delivered", 1)


def test_a_try_that_fails_is_made_again_under_the_same_id(bench: wb.Bench, hook: Hook) -> None:
    test = make(bench, 1)
    bench.alerts.allow(hook.url, private=True)
    watch_cycles(bench, webhook=hook.url)
    grow(bench, test)
    hook.answers += [500, 302]
    for wanted in ("the answer was 500", "a redirect (302), which is not followed"):
        assert deliver(store_of(bench)) == 0
        (found,) = bench.alerts.occurrences().itertuples()
        assert found.delivery == "waiting"
        assert wanted in found.problem
        assert deliver(store_of(bench)) == 0  # it waits
        due_now(bench)
    assert deliver(store_of(bench)) == 1
    assert len(set(hook.ids)) == 1
    assert len(hook.ids) == 3
    assert "/elsewhere" not in hook.paths


def test_tries_end(bench: wb.Bench, hook: Hook) -> None:
    test = make(bench, 1)
    bench.alerts.allow(hook.url, private=True)
    watch_cycles(bench, webhook=hook.url)
    grow(bench, test)
    hook.status = 503
    for _ in range(webhooks.MOST_TRIES + 3):
        deliver(store_of(bench))
        due_now(bench)
    (found,) = bench.alerts.occurrences().itertuples()
    assert (found.delivery, found.tries) == ("failed", webhooks.MOST_TRIES)
    assert len(hook.got) == webhooks.MOST_TRIES


def test_a_message_that_was_taken_and_not_settled_is_sent_again(bench: wb.Bench, hook: Hook) -> None:
    """As when a process is killed after it sent a message, and before it noted that."""
    test = make(bench, 1)
    bench.alerts.allow(hook.url, private=True)
    watch_cycles(bench, webhook=hook.url)
    grow(bench, test)
    now = time.time_ns() // 1000
    due = store_of(bench).alerts.take_due(now, now + 10**9)
    assert due is not None
    webhooks.send(due.address, webhooks.message(due.occurrence), due.occurrence.id, private=True)
    assert deliver(store_of(bench)) == 0  # another process leaves it alone for a while
    due_now(bench)
    assert deliver(store_of(bench)) == 1
    assert hook.ids[0] == hook.ids[1]


def test_an_address_that_is_not_allowed_any_more_gets_nothing(bench: wb.Bench, hook: Hook) -> None:
    test = make(bench, 1)
    bench.alerts.allow(hook.url, private=True)
    watch_cycles(bench, webhook=hook.url)
    grow(bench, test)
    bench.alerts.disallow(hook.url)
    assert deliver(store_of(bench)) == 0
    (found,) = bench.alerts.occurrences().itertuples()
    assert found.delivery == "failed"
    assert "may not go" in found.problem
    assert hook.got == []
    with pytest.raises(BadRequest, match="not among the allowed"):
        bench.alerts.disallow(hook.url)


def test_who_may_not_ask_for_the_allowed_addresses_reads_none_in_an_error(bench: wb.Bench, hook: Hook) -> None:
    """Many are secrets, and of several organizations each may have its own."""
    test = make(bench, 1)
    secret = "https://hooks.example.com/services/T0/SECRET"
    bench.alerts.allow(secret)
    bench.alerts.allow(hook.url, private=True)
    with pytest.raises(BadRequest, match=r"may not go to 'https://hooks\.example\.com/x'") as refused:
        watch_cycles(bench, webhook="https://hooks.example.com/x")
    watch_cycles(bench, webhook=hook.url)
    grow(bench, test)
    bench.alerts.disallow(hook.url)
    deliver(store_of(bench))
    (found,) = bench.alerts.occurrences().itertuples()
    assert "SECRET" not in f"{refused.value} {found.problem}"


def test_the_own_network_needs_to_be_allowed(bench: wb.Bench, hook: Hook) -> None:
    test = make(bench, 1)
    bench.alerts.allow(hook.url)
    watch_cycles(bench, webhook=hook.url)
    grow(bench, test)
    assert deliver(store_of(bench)) == 0
    (found,) = bench.alerts.occurrences().itertuples()
    assert "private network" in found.problem
    assert hook.got == []
    bench.alerts.allow(hook.url, private=True)
    due_now(bench)
    assert deliver(store_of(bench)) == 1


@pytest.mark.parametrize(
    ("address", "public", "private"),
    [
        ("8.8.8.8", True, True),
        ("2001:4860:4860::8888", True, True),
        ("127.0.0.1", False, True),
        ("10.1.2.3", False, True),
        ("192.168.0.4", False, True),
        ("fd00::1", False, True),
        ("::1", False, True),
        ("::ffff:10.0.0.1", False, True),
        ("64:ff9b::808:808", True, True),
        ("64:ff9b::a00:1", False, True),
        ("64:ff9b::a9fe:a9fe", False, False),
        ("169.254.169.254", False, False),
        ("fe80::1%eth0", False, False),
        ("::ffff:169.254.169.254", False, False),
        ("0.0.0.0", False, False),
        ("224.0.0.1", False, False),
        ("100.64.0.1", False, False),
    ],
)
def test_which_addresses_are_of_the_own_network(address: str, public: bool, private: bool) -> None:
    assert is_allowed(address, private=False) is public
    assert is_allowed(address, private=True) is private


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.com/",
        "https://",
        "//example.com/x",
        "https://me:secret@example.com/",
        "https://example.com/?to=here",
        "https://example.com/#part",
        "https://example.com/a/../b",
        "https://example.com/%2e%2e/b",
        "https://example.com/a b",
        "https://example.com:99999/",
        "https://example.com\\@evil.com/",
        "javascript:alert(1)",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadRequest):
        target_of(address)


@pytest.mark.parametrize(
    ("rule", "address", "fits"),
    [
        ("https://a.example/lab", "https://a.example/lab", True),
        ("https://a.example/lab", "https://a.example/lab/x", True),
        ("https://a.example/lab", "https://A.example:443/lab/x", True),
        ("https://a.example/lab", "https://a.example/laboratory", False),
        ("https://a.example/lab", "http://a.example/lab", False),
        ("https://a.example/lab", "https://a.example:8443/lab", False),
        ("https://a.example", "https://a.example.evil/", False),
        ("https://a.example", "https://a.example/anything", True),
    ],
)
def test_what_an_allowed_address_covers(bench: wb.Bench, rule: str, address: str, fits: bool) -> None:
    bench.alerts.allow(rule)
    held = store_of(bench).alerts.addresses()
    if fits:
        assert webhooks.allowed(address, held).address == target_of(rule).text
    else:
        with pytest.raises(BadRequest, match="may not go") as caught:
            webhooks.allowed(address, held)
        # The command that it names allows the address.
        said = str(caught.value).rpartition("allow ")[2].removesuffix("...'.")
        bench.alerts.allow(said)
        assert webhooks.allowed(address, store_of(bench).alerts.addresses()).address == said


def test_nothing_listens(bench: wb.Bench) -> None:
    with hook_server() as hook:
        url = hook.url
    with pytest.raises(NotSent):
        webhooks.send(url, b"{}", "1", private=True)
