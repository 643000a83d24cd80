"""Samples in S3: few requests, a local cache that may be lost, and a network that fails."""

from __future__ import annotations

import secrets
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from support.about_a_file import new_stores_are_files
from support.object_server import BUCKET, Proxy, environment, s3_server

from workbench.environment import OBJECT_CACHE_GB
from workbench.errors import BadRequest, StoreNotice
from workbench.store import Store
from workbench.store.objects.claims import CLAIM
from workbench.store.objects.cloud import Cloud, Patience
from workbench.store.objects.collect import collect, surplus
from workbench.store.objects.objects import cache_bytes
from workbench.store.objects.place import Address, ObjectMissing, PlaceAway
from workbench.store.objects.relocate import relocate
from workbench.store.objects.status import status
from workbench.store.scope import EVERYTHING
from workbench.table import Table

N = 400_000


def samples(n: int = N, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    names = [f"c{k}" for k in range(4)]
    return Table.of({"t": np.arange(n) * 1.0} | {name: np.round(rng.normal(size=n), 3) for name in names})


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    with s3_server() as port:
        yield port


@pytest.fixture
def proxy(server: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """The network between the store and S3. It does not fail yet."""
    proxy = Proxy(server)
    for name, value in environment(proxy.port).items():
        monkeypatch.setenv(name, value)
    yield proxy
    proxy.close()


@pytest.fixture
def place() -> str:
    """A prefix that is empty."""
    return f"s3://{BUCKET}/{secrets.token_hex(4)}"


@pytest.fixture(scope="module")
def made(server: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the series "a" in S3."""
    path = tmp_path_factory.mktemp("made") / "s.wb"
    with new_stores_are_files(), pytest.MonkeyPatch.context() as patch:
        for name, value in environment(server).items():
            patch.setenv(name, value)
        with Store.open(path) as store:
            relocate(store, f"s3://{BUCKET}/made")
            store.series.append("a", "series", samples())
            assert store.execute("select count(*) from chunks").fetchone() == (0,)
    return path


@pytest.fixture
def path(proxy: Proxy, made: Path, tmp_path: Path) -> Path:
    """A copy of that store, closed, with nothing in its cache. It reads the same objects and writes none."""
    return shutil.copy(made, tmp_path / "s.wb")


@pytest.fixture
def own(proxy: Proxy, place: str, tmp_path: Path) -> Iterator[Store]:
    """A store with a shorter series "a" at a place of its own."""
    with Store.open(tmp_path / "own.wb") as store:
        relocate(store, place)
        store.series.append("a", "series", samples(20_000))
        yield store


def overview(store: Store) -> Table:
    return store.series.sample("a", "t", ["c0", "c1"], most=2000, scope=EVERYTHING).table


def gets(proxy: Proxy) -> int:
    return sum(line.startswith("GET") for line in proxy.lines)


def same(left: Table, right: Table) -> bool:
    return left.names == right.names and all(
        left[name].values.tobytes() == right[name].values.tobytes() for name in left.names
    )


def test_an_overview_asks_twice_at_most_and_never_again(path: Path, proxy: Proxy) -> None:
    with Store.open(path) as store:
        first = overview(store)
        assert 1 <= gets(proxy) <= 2
    proxy.lines.clear()
    with Store.open(path) as store:
        assert same(overview(store), first)
        window = store.series.sample("a", "t", ["c0"], window=(1000, 300_000), most=2000, scope=EVERYTHING)
        assert window.table.n
        asked = gets(proxy)
        assert asked <= 6
        whole = store.series.read("a", scope=EVERYTHING)
        assert same(whole, samples())
        assert gets(proxy) - asked <= 4, "what is near is asked for together"
    proxy.lines.clear()
    with Store.open(path) as store:
        assert same(store.series.read("a", scope=EVERYTHING), samples())
        assert store.execute("select 1").fetchone() == (1,)
    assert proxy.lines == [], "all of it was in the local cache"


def test_many_series_are_asked_for_at_once(own: Store, proxy: Proxy) -> None:
    """Their overviews then need no further request."""
    for number in range(3):
        own.series.append(f"n{number}", "series", samples(40_000, seed=number))
    owners = ["a", *(f"n{number}" for number in range(3)), "absent"]
    own.close()
    Path(f"{own.path}.objects").unlink(missing_ok=True)
    with Store.open(own.path) as store:
        proxy.lines.clear()
        store.objects.read_ahead(owners)
        assert gets(proxy) == 4
        for owner in owners[:-1]:
            assert store.series.sample(owner, "t", ["c0"], most=100, scope=EVERYTHING).table.n
        assert gets(proxy) == 4
        proxy.fail = lambda line: "403"
        store.objects.read_ahead(owners)


def test_verify_reads_the_place_and_not_the_cache(path: Path, proxy: Proxy) -> None:
    with Store.open(path) as store:
        store.series.read("a", scope=EVERYTHING)
        proxy.lines.clear()
        assert store.series.verify() == []
        assert gets(proxy) > 0


def test_a_damaged_cache_is_only_slower(path: Path, proxy: Proxy) -> None:
    with Store.open(path) as store:
        store.series.read("a", scope=EVERYTHING)
    cache = Path(f"{path}.objects")
    data = bytearray(cache.read_bytes())
    for at in range(20_000, len(data), 50_000):
        data[at] ^= 255
    cache.write_bytes(data)
    with Store.open(path) as store:
        assert same(store.series.read("a", scope=EVERYTHING), samples())
    cache.write_bytes(b"no database at all" * 1000)
    with Store.open(path) as store:
        assert same(store.series.read("a", scope=EVERYTHING), samples())
        assert same(store.series.read("a", scope=EVERYTHING), samples())


def test_wrong_bytes_that_were_cached_are_asked_for_again(path: Path, proxy: Proxy) -> None:
    """Bytes that changed on their way have the right checksum in the cache, and not that of their chunk."""
    with Store.open(path) as store:
        overview(store)
        cache = store.objects._cache
        assert cache is not None
        wrong = cache._side.get_many("block", [key for (key,) in cache._side.attempt(_keys, [])])
        assert wrong
        changed = {key: kept._replace(data=bytes(len(kept.data))) for key, kept in wrong.items()}
        cache._side.put_many("block", changed)
    with Store.open(path) as store:
        assert same(store.series.read("a", scope=EVERYTHING), samples())


def _keys(connection: object) -> list[tuple[str]]:
    return list(connection.execute("select key from entries"))  # type: ignore[attr-defined]


def test_the_cache_keeps_its_bound_and_may_be_none(
    path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(OBJECT_CACHE_GB, "0.0005")
    with Store.open(path) as store:
        assert same(store.series.read("a", scope=EVERYTHING), samples())
        assert store.objects._cache is not None
        held = store.objects._cache._side.attempt(
            lambda connection: connection.execute("select bytes from amount").fetchone()[0], 0
        )
        assert 0 < held <= 500_000
    Path(f"{path}.objects").unlink()
    monkeypatch.setenv(OBJECT_CACHE_GB, "0")
    with Store.open(path) as store:
        assert same(store.series.read("a", scope=EVERYTHING), samples())
    assert not Path(f"{path}.objects").exists()


def test_a_full_disk_of_the_cache_is_a_miss(path: Path, proxy: Proxy) -> None:
    Path(f"{path}.objects").mkdir()  # nothing can be written there
    with Store.open(path) as store:
        assert same(store.series.read("a", scope=EVERYTHING), samples())


def test_the_bound_of_the_cache_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OBJECT_CACHE_GB, "much")
    with pytest.raises(BadRequest, match="'much'; give a number of gigabytes"):
        cache_bytes()


@pytest.mark.parametrize("how", ["500", "cut"])
def test_a_request_that_fails_is_tried_again(path: Path, proxy: Proxy, how: str) -> None:
    seen: Counter[str] = Counter()

    def first_fails(line: str) -> str:
        seen[line] += 1
        return how if seen[line] == 1 else ""

    proxy.fail = first_fails
    with Store.open(path) as store:
        assert same(store.series.read("a", scope=EVERYTHING), samples())
        place = store.objects.opened(f"s3://{BUCKET}/made")
        assert CLAIM in [one.name for one in place.listed()]


@pytest.mark.parametrize("how", ["500", "cut", pytest.param("hang", marks=pytest.mark.long)])
def test_a_place_that_does_not_answer_is_an_error_with_a_reason(
    path: Path, proxy: Proxy, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cloud, "patience", Patience(connect=2, request=0.5, tries=2, all=2))
    proxy.fail = lambda line: how
    with Store.open(path) as store:
        with pytest.raises(
            PlaceAway, match=r"series of 'a' cannot be read.*S3 at s3://bucket/made cannot be read now.*try again"
        ):
            overview(store)
        asked = len(proxy.lines)
        assert asked <= 12, "the tries have a bound"
        info = store.series.info("a", scope=EVERYTHING)
        assert info is not None
        assert info.rows == N, "what needs no samples is as quick as ever"
        assert len(proxy.lines) == asked


def test_what_cannot_be_written_there_stays_in_the_file_and_goes_later(
    own: Store, proxy: Proxy, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cloud, "patience", Patience(tries=2, all=5))
    proxy.fail = lambda line: "500" if line.startswith(("PUT", "POST")) else ""
    with Store.open(own.path) as store:
        with pytest.warns(StoreNotice, match=r"cannot be written now.*stay in the store itself"):
            store.series.append("b", "series", samples(20_000, seed=1))
        assert same(store.series.read("b", scope=EVERYTHING), samples(20_000, seed=1))
        assert status(store).waiting == 1
    proxy.fail = lambda line: ""
    assert relocate(own, place) == 1
    assert own.execute("select count(*) from chunks").fetchone() == (0,)
    assert same(own.series.read("b", scope=EVERYTHING), samples(20_000, seed=1))


@pytest.mark.long
def test_large_objects_go_in_parts_and_are_collected(
    own: Store, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.store.objects.cloud._PART", 5 << 20)
    table = Table.of({"noise": np.random.default_rng(0).normal(size=800_000)})
    own.series.append("n", "series", table)
    assert any("partNumber" in line for line in proxy.lines)
    assert same(own.series.read("n", scope=EVERYTHING), table)
    own.series.delete("n")
    assert surplus(own).kept == 1
    with own.transaction() as db:
        db.execute("update object_leftovers set since = 0")
    (name,) = collect(own).names
    remaining = {one.name for one in own.objects.opened(status(own).place).listed()}
    assert name not in remaining
    assert same(own.series.read("a", scope=EVERYTHING), samples(20_000))
    assert relocate(own, "file") == 1
    assert own.series.verify() == []


def test_an_object_that_is_gone_is_damage(own: Store) -> None:
    place = own.objects.opened(status(own).place)
    place.delete([one.name for one in place.listed() if "/" in one.name])
    with pytest.raises(ObjectMissing, match=r"series of 'a'.*an earlier version in the bucket"):
        own.series.read("a", scope=EVERYTHING)


def test_without_credentials_the_reason_is_said(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy.fail = lambda line: "403"
    with pytest.raises(PlaceAway, match=r"may not be read with the credentials of this environment"):
        Cloud(Address("s3", BUCKET)).whole("x")


def test_a_bucket_that_is_not_there_is_said(proxy: Proxy) -> None:
    cloud = Cloud(Address("s3", "absent/prefix"))
    for work in (
        lambda: cloud.whole("x"),
        lambda: cloud.ranges("x", [(0, 1)]),
        lambda: cloud.put_new("x", b""),
        lambda: list(cloud.listed()),
    ):
        with pytest.raises(PlaceAway, match=r"S3 at s3://absent/prefix cannot be .*Check the address"):
            work()


def test_without_obstore_the_reason_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore.exceptions", None)
    with pytest.raises(PlaceAway, match=r"pip install 'battery-workbench\[object\]'"):
        Cloud(Address("s3", BUCKET)).whole("x")
