"""Work on two cores inside one call: results in order, errors reported, nothing left running."""

from __future__ import annotations

import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from workbench.errors import BadRequest, StoreError
from workbench.store import Store
from workbench.store.db import parallel
from workbench.store.scope import EVERYTHING
from workbench.store.series import series_writer as of_series
from workbench.table import Table


@pytest.fixture(params=[1, 2])
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(parallel, "CORES", request.param)
    return int(request.param)


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "workbench-store"]


def slow(value: int) -> int:
    time.sleep(0.001 * (value % 3))
    return value


@pytest.mark.usefixtures("cores")
def test_results_come_in_the_order_of_the_jobs() -> None:
    called: list[threading.Thread] = []
    jobs = [partial(slow, value) for value in range(30)]
    assert parallel.results(jobs, lambda: called.append(threading.current_thread())) == list(range(30))
    assert called == [threading.current_thread()]
    assert not helpers()


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("wrong", [0, 1, 29, None])
def test_an_error_is_raised_by_the_call_and_ends_it(wrong: int | None) -> None:
    def job(value: int) -> int:
        if value == wrong:
            raise ZeroDivisionError
        return slow(value)

    def meanwhile() -> None:
        if wrong is None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        parallel.results([partial(job, value) for value in range(30)], meanwhile)
    assert not helpers()


def test_without_another_thread_one_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(parallel, "CORES", 2)
    monkeypatch.setattr(threading.Thread, "start", none_left)
    assert parallel.results([partial(slow, value) for value in range(5)]) == list(range(5))


@pytest.mark.usefixtures("cores")
def test_a_series_that_lost_a_part_is_never_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_series, "FLUSH_BYTES", 1)
    table = Table.of({"v": np.random.default_rng(0).normal(size=140_000)})
    full = StoreError("The disk is full.")

    def fails(*_: object) -> None:
        raise full

    with Store.open(tmp_path / "s.wb") as store:
        with store.series.writer("a") as writer:
            writer.add(table)
            with monkeypatch.context() as patched:
                patched.setattr(of_series.chunks, "insert", fails)
                with pytest.raises(StoreError, match="disk is full"):
                    writer.add(table)
            for again in (partial(writer.add, table), writer.publish):
                with pytest.raises(StoreError, match="could not be written; write the series again"):
                    again()
        assert store.series.info("a", scope=EVERYTHING) is None
        assert store.connection().execute("select count(*) from chunks").fetchone() == (0,)
    assert not helpers()


@pytest.mark.usefixtures("cores")
def test_what_cannot_be_encoded_is_told_by_the_call_that_gave_it(tmp_path: Path) -> None:
    table = Table.of({"v": np.arange(140_000.0), "note": ["\ud800"] * 140_000})
    with Store.open(tmp_path / "s.wb") as store, store.series.writer("a") as writer:
        with pytest.raises(BadRequest, match="not valid Unicode"):
            writer.add(table)
        with pytest.raises(StoreError, match="write the series again"):
            writer.publish()


@pytest.mark.usefixtures("cores")
def test_a_writer_works_inside_the_callers_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_series, "FLUSH_BYTES", 1)
    values = np.random.default_rng(0).normal(size=600_000)
    with Store.open(tmp_path / "s.wb") as store:
        with store.transaction() as connection, store.series.writer("a") as writer:
            writer.add(Table.of({"v": values}))
            writer.publish(connection)
        assert store.series.read("a", scope=EVERYTHING)["v"].values.tobytes() == values.tobytes()
        assert store.series.verify() == []


def test_the_log_is_moved_into_the_file_while_a_long_series_is_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    with Store.open(tmp_path / "s.wb") as store:
        with store.series.writer("a") as writer:
            for _ in range(24):
                writer.add(Table.of({"v": rng.normal(size=262_144)}))
            writer.publish()
        assert (tmp_path / "s.wb-wal").stat().st_size < 32 << 20 < (tmp_path / "s.wb").stat().st_size
