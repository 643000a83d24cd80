"""Golden plans and random ones give the same bytes in a file, alone; with the samples in a folder, in processes; and on
PostgreSQL with the samples in S3, on a Dask cluster. So they do while workers and a server are killed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from engine.test_engine_plans import plans
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.dying_workers import end
from support.engine_store import random_lab
from support.object_server import BUCKET, environment, s3_server
from support.postgres import server as postgres
from support.server_process import Server

import workbench as wb
from tests.stores.golden_plans import PLANS
from tests.stores.old_store import KEYS, PROJECT, current
from workbench.backend import Backend
from workbench.errors import Invalid, ServerAway
from workbench.fan_out.worker_processes import WorkerProcesses
from workbench.fleet import Place, dataset_kept
from workbench.local import LocalBackend
from workbench.recipe.check import sound
from workbench.store import Store
from workbench.store.objects import mover
from workbench.store.objects.copying import copy_store

NOTHING = "def transform(data, params):\n    return {'data': [], 'layout': {}}\n"
"""A script for plans that have none: the workers take whole recipes."""


class Asked(NamedTuple):
    """A recipe and the values that are asked for."""

    config: dict[str, Any]
    values: dict[str, Any]


def golden() -> list[Asked]:
    """The plans over the store of the first release."""
    return [Asked({**config, "transform": NOTHING}, values) for config, values in PLANS.values()]


def drawn(folder: Path, seed: int, number: int) -> tuple[Store, list[Asked]]:
    """A random store, and sound plans over it, of which some are refused while they run."""
    lab = random_lab(folder, seed)
    found: list[Asked] = []

    @settings(
        max_examples=number,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def keep(data: st.DataObject) -> None:
        config = {**data.draw(plans(lab)), "transform": NOTHING}
        try:
            sound(config)
        except Invalid:
            return
        found.append(Asked(config, {}))

    keep()
    return lab.store, found


def outcome(backend: Backend, asked: Asked) -> object:
    """The bytes of an answer with its warnings and choices, or the sentence of a plan that is refused."""
    try:
        answer = backend.answered(sound(asked.config), asked.values)
    except Invalid as error:
        return str(error)
    return answer.packed, [warning.as_dict() for warning in answer.warnings], answer.options


def fanned_out(
    backend: LocalBackend, all_asked: Sequence[Asked], killing: Callable[[LocalBackend], None] | None
) -> list[str | None]:
    """Run the plans at their defaults where work of this backend is done; what each was refused with, if it was.

    After the first third of them ``killing`` is called."""
    place, found = Place(backend), []
    results = backend.fan_out.results(dataset_kept, all_asked, lambda one: (place, one.config))
    for number, (_, made) in enumerate(results):
        if killing is not None and number == len(all_asked) // 3:
            killing(backend)
        try:
            made()
        except Invalid as error:
            found.append(str(error))
        else:
            found.append(None)
    return found


killed: list[int] = []


def of_processes(backend: LocalBackend) -> None:
    """Kill the worker processes."""
    kept = backend.fan_out._kept
    assert isinstance(kept, WorkerProcesses)
    killed.extend(kept.pids())
    end(kept.pids())


@contextmanager
def cluster() -> Iterator[tuple[str, Callable[[LocalBackend], None]]]:
    """A Dask cluster of two workers: its address, and what kills one of them."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
    ) as made:

        def kill(backend: LocalBackend) -> None:
            pids = [one.process.pid for one in made.workers.values() if one.process is not None]
            pid = next(pid for pid in pids if pid is not None)
            killed.append(pid)
            end([pid])

        yield made.scheduler_address.replace("tcp://", "dask://"), kill


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Callable[[LocalBackend], None]]]:
    """S3, and a cluster whose workers reach it."""
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(mover, "LEAST", 0)  # all samples go elsewhere, however few there are
        port = stack.enter_context(s3_server())
        for name, value in environment(port).items():
            patch.setenv(name, value)
        yield stack.enter_context(cluster())


def copies(store: Store, folder: Path) -> tuple[Path, str]:
    """A copy with its samples in a folder, and one on PostgreSQL with its samples in S3."""
    beside, address = folder / "beside.db", postgres().address()
    copy_store(store, beside, f"folder:{folder}/samples")
    copy_store(store, address, f"s3://{BUCKET}/{folder.name}")
    held = "select count(*) from chunks join series on id = key >> 35 where dataset = 'series'"
    # A random lab may have no samples.
    (sampled,) = store.execute("select count(*) > 0 from series where dataset = 'series'").fetchone()
    for place in (beside, address):
        with Store.open(place) as copy:
            (moved,) = copy.execute("select count(*) > 0 from series_objects").fetchone()
            assert moved == sampled
            assert copy.execute(held).fetchone() == (0,), "no sample is in the database"
    return beside, address


def agree(
    store: Store,
    all_asked: Sequence[Asked],
    folder: Path,
    elsewhere: tuple[str, Callable[[LocalBackend], None]],
    project: str | None = None,
    organization: str | None = None,
) -> str:
    """Compare all three; gives the address of the store on PostgreSQL."""
    file = store.path
    beside, address = copies(store, folder)
    store.close()
    dask, kill_one = elsewhere
    killed.clear()
    with wb.open(file, project, organization, executor="serial") as bench:
        wanted = [outcome(bench.backend, one) for one in all_asked]
        refused = fanned_out(bench.backend, all_asked, None)
    runs = sum(not isinstance(one, str) for one in wanted)
    assert runs > len(all_asked) / 4
    for place, executor, killing in ((beside, "processes:2", of_processes), (address, dask, kill_one)):
        before = len(killed)
        with wb.open(place, project, organization, executor=executor) as bench:
            backend = bench.backend
            assert isinstance(backend, LocalBackend)
            assert fanned_out(backend, all_asked, killing) == refused
            assert len(killed) > before
            at_hand = [
                backend.answered(sound(one.config), {}).cache["dataset"]
                for one, why in zip(all_asked, refused, strict=True)
                if why is None
            ]
            assert set(at_hand) == {"hit"}, "what a worker made is there for this process"
            differ = [one for one, was in zip(all_asked, wanted, strict=True) if outcome(backend, one) != was]
            assert differ == []
    return address


@pytest.mark.filterwarnings("ignore:.*scripts of saved plots:workbench.errors.StoreNotice")
def test_golden_plans_give_the_same_bytes_everywhere_also_while_workers_are_killed(
    tmp_path: Path, elsewhere: tuple[str, Callable[[LocalBackend], None]], long: bool
) -> None:
    plans, file = golden(), current(tmp_path)
    address = agree(Store.open(file), plans, tmp_path, elsewhere, PROJECT, "Local")
    if long:
        one_server_is_killed(file, address, plans, tmp_path)


def one_server_is_killed(file: Path, address: str, plans: Sequence[Asked], folder: Path) -> None:
    """Two servers on PostgreSQL answer the bytes that one on the file answers, also while one of them is killed."""
    key = KEYS["admin"]["key"]
    servers: list[Server] = []
    begun = threading.Event()
    same: list[bool] = []

    def ask_until_it_is_gone() -> None:
        with wb.connect(servers[2].address, key, PROJECT) as bench, suppress(ServerAway):
            for number in count():
                place = number % len(plans)
                same.append(outcome(bench.backend, plans[place]) == wanted[place])
                begun.set()

    try:
        for place, name in ((file, "file"), (address, "first"), (address, "second")):
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("XDG_CACHE_HOME", str(folder / name))
                servers.append(Server(place, key=key))
        with wb.connect(servers[0].address, key, PROJECT) as bench:
            wanted = [outcome(bench.backend, one) for one in plans]
        asking = threading.Thread(target=ask_until_it_is_gone)
        asking.start()
        assert begun.wait(60)
        with wb.connect(servers[1].address, key, PROJECT) as bench:
            found = []
            for number, one in enumerate(plans):
                if number == len(plans) // 3:
                    servers[2].kill()
                found.append(outcome(bench.backend, one))
        asking.join(60)
        assert not asking.is_alive()
        assert found == wanted
        assert all(same)
    finally:
        for server in servers:
            server.stop()


@pytest.mark.long
def test_random_plans_give_the_same_bytes_everywhere_also_while_workers_are_killed(
    tmp_path: Path, elsewhere: tuple[str, Callable[[LocalBackend], None]]
) -> None:
    asked = 0
    for seed in range(10):
        folder = tmp_path / f"lab{seed}"
        folder.mkdir()
        store, found = drawn(folder, seed, 160)
        agree(store, found, folder, elsewhere)
        asked += len(found)
    assert asked >= 1000
