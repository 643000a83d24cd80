"""The cache: two bounded levels, damage and deletion as misses, one computation per key."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from workbench.store.cache.cache import Cache
from workbench.store.cache.disk import SideFile, Stats


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lab.db.cache"


def another(path: Path, **bounds: int) -> Cache:
    """A second opening of the side file, with a memory of its own, as another process has it."""
    return Cache(path, **bounds)


def test_what_was_put_is_found_here_and_by_others(path: Path) -> None:
    cache = Cache(path)
    cache.put("figure", "k", b"bytes", {"revision": 3})
    assert cache.get("figure", "k") == (b"bytes", {"revision": 3}, True)
    other = another(path)
    assert other.get("figure", "k") == (b"bytes", {"revision": 3}, True)
    assert other.stats.disk_hits == 1
    assert other.get("dataset", "k") is None
    assert other.get("figure", "other") is None
    cache.close()
    other.close()


def test_what_is_put_soon_is_here_at_once_and_with_others_when_it_was_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.store.cache.disk.SOON_SECONDS", 30)
    cache, other = Cache(path), another(path)
    found = cache.get_or_make("figure", "k", lambda: (b"bytes", {"revision": 3}), soon=True)
    assert found == (b"bytes", {"revision": 3}, False)
    assert cache.get("figure", "k") == (b"bytes", {"revision": 3}, True)
    assert other.get("figure", "k") is None
    began = time.monotonic()
    cache.close()  # waits for the writing, not for its moment
    assert time.monotonic() - began < 10
    assert other.get("figure", "k") == (b"bytes", {"revision": 3}, True)
    other.close()


def test_what_is_put_soon_outlives_its_process(path: Path) -> None:
    words = "import sys; from workbench.store.cache.cache import Cache as C; "
    words += "C(sys.argv[1]).put('a', 'k', b'x', soon=True)"
    subprocess.run([sys.executable, "-c", words, str(path)], check=True)
    with Cache(path) as cache:
        assert cache.get("a", "k") is not None


def test_a_later_put_replaces_in_both_levels(path: Path) -> None:
    cache = Cache(path)
    cache.put("figure", "k", b"old")
    cache.put("figure", "k", b"new")
    assert cache.get("figure", "k").data == b"new"
    other = another(path)
    assert other.get("figure", "k").data == b"new"
    cache.close()
    other.close()


def test_an_entry_that_is_not_valid_is_not_given(path: Path) -> None:
    cache = Cache(path)
    cache.put("dataset", "k", b"one", {"revision": 1})
    assert cache.get("dataset", "k", lambda meta: meta["revision"] == 2) is None
    found = cache.get_or_make(
        "dataset", "k", lambda: (b"two", {"revision": 2}), lambda meta: meta["revision"] == 2
    )
    assert found == (b"two", {"revision": 2}, False)
    cache.close()


def test_a_newer_entry_of_another_process_replaces_the_one_in_memory(path: Path) -> None:
    mine, theirs = Cache(path), another(path)
    mine.put("dataset", "k", b"one", {"revision": 1})
    theirs.put("dataset", "k", b"two", {"revision": 2})

    def fail() -> tuple[bytes, dict[str, int]]:
        raise AssertionError("made although it was there")

    found = mine.get_or_make("dataset", "k", fail, lambda meta: meta["revision"] == 2)
    assert (found.data, found.hit) == (b"two", True)
    mine.close()
    theirs.close()


def test_changing_what_was_found_changes_nothing(path: Path) -> None:
    cache = Cache(path)
    cache.put("figure", "k", b"x", {"list": [1]})
    cache.get("figure", "k").meta["list"].append(2)
    assert cache.get("figure", "k").meta == {"list": [1]}
    cache.close()


def test_memory_keeps_to_its_bound_and_drops_the_least_used() -> None:
    cache = Cache(None, memory_bytes=100_000)
    for n in range(9):
        cache.put("figure", str(n), bytes(10_000))
    assert cache.get("figure", "0") is not None
    cache.put("figure", "9", bytes(10_000))
    assert cache.get("figure", "0") is not None
    assert cache.get("figure", "1") is None
    assert cache._memory._size <= 100_000


def test_the_side_file_keeps_to_its_bound_and_drops_the_least_used(path: Path) -> None:
    cache = Cache(path, memory_bytes=0, disk_bytes=1_000_000)
    for n in range(9):
        cache.put("figure", str(n), bytes(100_000))
    assert cache.get("figure", "0") is not None
    for n in range(9, 12):
        cache.put("figure", str(n), bytes(100_000))
    assert cache.get("figure", "0") is not None
    assert cache.get("figure", "1") is None
    assert cache.get("figure", "11") is not None
    for n in range(200):
        cache.put("figure", f"more {n}", bytes(100_000))
    cache.close()
    assert path.stat().st_size < 2_500_000
    with sqlite3.connect(path) as connection:
        held, counted = connection.execute("select sum(size), (select bytes from amount) from entries").fetchone()
    connection.close()
    assert held == counted <= 1_000_000


def test_a_hit_does_not_write_its_entry_again(path: Path) -> None:
    """That a large dataset was used is written with the figure that was drawn of it, and nothing else of it."""
    with Cache(path) as cache:
        cache.put("dataset", "large", bytes(4_000_000))
        connection = sqlite3.connect(path)
        assert connection.execute("pragma wal_checkpoint(truncate)").fetchone() == (0, 0, 0)
        used = "select used from uses join entries on entries.rowid = entry where key = 'large'"
        (before,) = connection.execute(used).fetchone()
        assert cache.get("dataset", "large") is not None
        cache.put("figure", "small", b"figure")
        assert connection.execute(used).fetchone()[0] > before
        connection.close()
        assert Path(f"{path}-wal").stat().st_size < 100_000


def test_an_entry_too_large_for_a_level_does_not_empty_it(path: Path) -> None:
    cache = Cache(path, memory_bytes=100_000, disk_bytes=100_000)
    cache.put("figure", "small", b"s")
    cache.put("figure", "large", bytes(50_000))
    assert cache.get("figure", "large") is None
    with another(path, memory_bytes=0) as other:
        assert other.get("figure", "small") is not None
    cache.close()


@pytest.mark.parametrize("column", ["data", "meta", "key"])
def test_a_damaged_entry_is_a_miss_and_goes(path: Path, column: str) -> None:
    with Cache(path) as first:
        first.put("figure", "k", b"abcdef", {"a": 1})
    with sqlite3.connect(path) as connection:
        if column == "key":
            connection.execute("update entries set key = 'other'")
        else:
            connection.execute(f"update entries set {column} = replace({column}, 'a', 'b')")
            connection.execute(f"update entries set {column} = cast({column} as blob)")
    connection.close()
    cache = another(path)
    assert cache.get("figure", "other" if column == "key" else "k") is None
    assert cache.stats.damaged == 1
    with sqlite3.connect(path) as connection:
        assert connection.execute("select count(*) from entries").fetchone() == (0,)
    connection.close()
    cache.close()


def test_every_flipped_byte_is_a_miss_or_the_right_bytes(path: Path, long: bool) -> None:
    data = bytes(range(256)) * 200
    maker = Cache(path)
    maker.put("figure", "k", data, {"a": 1})
    maker.close()
    sound = path.read_bytes()
    step = len(sound) // (400 if long else 60)
    seen = set()
    for place in range(0, len(sound), step):
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 0x41]) + sound[place + 1 :])
        cache = Cache(path, memory_bytes=0)
        found = cache.get("figure", "k")
        assert found is None or found.data == data
        seen.add(found is None)
        cache.put("figure", "new", b"new")
        cache.get("figure", "new")
        cache.put("figure", "new", b"new")
        assert cache.get("figure", "new").data == b"new", "a damaged file is replaced"
        cache.close()
    assert seen == {True, False}


def test_a_file_that_is_no_database_is_replaced(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 1000)
    cache = Cache(path)
    assert cache.get("figure", "k") is None
    cache.put("figure", "k", b"x")
    with another(path) as other:
        assert other.get("figure", "k").data == b"x"
    cache.close()


@pytest.mark.parametrize("column", ["extra text not null", "data blob"])
def test_a_side_file_of_another_version_is_made_anew(path: Path, column: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"create table entries (kind text, key text, {column})")
        connection.execute("create table leases (kind text)")
        connection.execute("create table amount (bytes integer not null)")
    with Cache(path, memory_bytes=0) as cache:
        made = [cache.get_or_make("k", "a", lambda: (b"1", {})) for _ in range(2)]
        assert [found.data for found in made] == [b"1", b"1"]
        assert made[1].hit
        assert cache.stats.troubles == 1
    with Cache(path, memory_bytes=0) as cache:
        assert cache.get("k", "a") is not None
        assert cache.stats.troubles == 0


def test_the_file_may_be_deleted_while_open(path: Path) -> None:
    cache, other = Cache(path, memory_bytes=0), another(path, memory_bytes=0)
    cache.put("figure", "k", b"x")
    assert other.get("figure", "k") is not None
    for file in path.parent.glob("lab.db.cache*"):
        file.unlink()
    assert cache.get("figure", "k") is None
    cache.put("figure", "k", b"y")
    assert other.get("figure", "k").data == b"y", "both find the new file"
    path.unlink()
    assert other.get_or_make("figure", "k", lambda: (b"z", {})).data == b"z"
    assert cache.get("figure", "k").data == b"z"
    assert cache.stats.troubles == other.stats.troubles == 0
    cache.close()
    other.close()


def test_a_place_that_cannot_be_written_only_costs_the_sharing(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "absent" / "lab.cache")
    assert cache.get_or_make("figure", "k", lambda: (b"x", {})).hit is False
    assert cache.get_or_make("figure", "k", lambda: (b"y", {})) == (b"x", {}, True)
    assert cache.stats.troubles > 0
    assert "open" in cache.stats.last_trouble


def test_closing_is_no_end(path: Path) -> None:
    cache = Cache(path, memory_bytes=0)
    cache.put("figure", "k", b"x")
    cache.close()
    assert cache.get("figure", "k").data == b"x"
    cache.clear()
    assert cache.get("figure", "k") is None
    cache.close()


@pytest.mark.parametrize("on_disk", [True, False])
def test_one_thread_makes_and_the_rest_wait(path: Path, on_disk: bool) -> None:
    cache = Cache(path if on_disk else None)
    made: list[int] = []

    def make() -> tuple[bytes, dict[str, int]]:
        made.append(1)
        time.sleep(0.2)
        return b"x", {}

    found: list[bool] = []
    threads = [
        threading.Thread(target=lambda: found.append(cache.get_or_make("figure", "k", make).hit)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert sorted(found) == [False] + [True] * 7
    assert not cache._flights
    cache.close()


def test_a_failure_is_its_callers_own_and_the_next_makes_anew(path: Path) -> None:
    cache = Cache(path)
    started = threading.Event()

    def fail() -> tuple[bytes, dict[str, int]]:
        started.set()
        time.sleep(0.1)
        raise RuntimeError("mine")

    def first() -> None:
        with pytest.raises(RuntimeError, match="mine"):
            cache.get_or_make("figure", "k", fail)

    thread = threading.Thread(target=first)
    thread.start()
    started.wait()
    assert cache.get_or_make("figure", "k", lambda: (b"x", {})) == (b"x", {}, False)
    thread.join()
    cache.close()


def test_a_wait_can_be_given_up(path: Path) -> None:
    cache = Cache(path)
    started, release = threading.Event(), threading.Event()

    def slow() -> tuple[bytes, dict[str, int]]:
        started.set()
        release.wait(5)
        return b"x", {}

    def enough() -> None:
        raise TimeoutError("enough")

    thread = threading.Thread(target=lambda: cache.get_or_make("figure", "k", slow))
    thread.start()
    started.wait()
    with another(path) as other:
        for waiter in (cache, other):
            with pytest.raises(TimeoutError):
                waiter.get_or_make("figure", "k", lambda: (b"y", {}), waiting=enough)
    release.set()
    thread.join()
    assert cache.get("figure", "k").data == b"x"
    cache.close()


MAKER = """
import sys, time
from workbench.store.cache.cache import Cache
from workbench.store.cache.disk import SideFile, Stats
cache = Cache(sys.argv[1])
def make():
    print("making", flush=True)
    time.sleep(float(sys.argv[2]))
    return b"from " + sys.argv[3].encode(), {}
print(cache.get_or_make("figure", "k", make).data.decode(), flush=True)
cache.close()
"""


def maker(path: Path, seconds: float, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", MAKER, str(path), str(seconds), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_wait_for_the_one_that_makes(path: Path) -> None:
    first = maker(path, 0.8, "first")
    assert first.stdout.readline() == "making\n"
    cache = Cache(path)
    found = cache.get_or_make("figure", "k", lambda: (b"from here", {}))
    assert found == (b"from first", {}, True)
    first.communicate(timeout=20)
    cache.close()


def test_a_killed_maker_is_replaced_at_once(path: Path) -> None:
    first = maker(path, 60, "first")
    assert first.stdout.readline() == "making\n"
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    cache = Cache(path)
    began = time.monotonic()
    assert cache.get_or_make("figure", "k", lambda: (b"from here", {})) == (b"from here", {}, False)
    assert time.monotonic() - began < 3
    cache.close()


def test_a_lease_that_nobody_renews_ends(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.store.cache.disk.LEASE_SECONDS", 0.3)
    cache = Cache(path)
    cache.put("other", "k", b"")
    with sqlite3.connect(path) as connection:  # an owner on a machine that nobody can ask
        row = ("figure", "k", "elsewhere:1:aa", time.time() + 0.3)
        connection.execute("insert into leases values (?, ?, ?, ?)", row)
    connection.close()
    began = time.monotonic()
    assert cache.get_or_make("figure", "k", lambda: (b"x", {})).hit is False
    assert 0.2 < time.monotonic() - began < 3
    cache.close()


def test_a_long_making_keeps_its_lease(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.store.cache.disk.LEASE_SECONDS", 0.4)
    monkeypatch.setattr("workbench.store.cache.leases.RENEW_SECONDS", 0.1)
    cache, other = Cache(path), another(path)
    started = threading.Event()

    def slow() -> tuple[bytes, dict[str, int]]:
        started.set()
        time.sleep(1.2)
        return b"x", {}

    thread = threading.Thread(target=lambda: cache.get_or_make("figure", "k", slow))
    thread.start()
    started.wait()
    assert other.get_or_make("figure", "k", lambda: (b"second", {})) == (b"x", {}, True)
    thread.join()
    cache.close()
    other.close()


def test_no_connection_stays_open(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.13 warns of each one that is collected without being closed."""
    ended: list[str] = []

    class Watched(sqlite3.Connection):
        def close(self) -> None:
            ended.append("closed")
            super().close()

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: connect(*given, factory=Watched, **named))
    side = SideFile(path, 1 << 20, Stats())
    assert side.get("kind", "key") is None
    borrowed = side._borrow()
    side.close()
    assert not ended
    side._return(borrowed)
    assert ended == ["closed"]
    other = SideFile(path, 1 << 20, Stats())
    assert other.get("kind", "key") is None
    del other
    gc.collect()
    assert ended == ["closed"] * 2
