"""A bench of 0.1.0 works with this server, and this bench with a server of 0.1.0, or refuses it in one sentence.

Both are played from what a bench and a server of 0.1.0 said to each other while a script used every public method.
"""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import workbench as wb
from tests.recordings import bench_script
from tests.recordings.exchange import OldServer, connected, replay, turns
from tests.stores.old_store import current, served
from workbench.bench import Bench, Board, SavedPlot
from workbench.bench.collections import Collection
from workbench.bench.sessions import Sessions
from workbench.errors import OtherVersion

_MOST_SHOWN = 30


def test_a_bench_of_0_1_0_is_answered_by_this_server_as_by_its_own(tmp_path: Path) -> None:
    with served(current(tmp_path)) as client:
        found = replay(client)
    if found:
        pytest.fail(f"{len(found)} differences:\n" + "\n".join(found[:_MOST_SHOWN]), pytrace=False)


def test_this_bench_works_with_a_server_of_0_1_0_or_refuses_it(tmp_path: Path) -> None:
    server = OldServer()
    try:
        bench = connected(server)
    except OtherVersion as refused:
        said = str(refused)
        if "0.1.0" not in said or "\n" in said:
            pytest.fail(f"It is refused in other words than one sentence with the version: {said}")
        return
    with bench:
        try:
            bench_script.run(bench, tmp_path)
        finally:
            asked = "\n".join(server.unknown)
            assert not server.unknown, (
                f"asked of the old server, though it was never asked by its own bench:\n{asked}"
            )


def test_the_script_uses_every_public_method(tmp_path: Path) -> None:
    text = inspect.getsource(bench_script)
    offered = {name for cls in (Board, SavedPlot, Bench) for name in _public(cls)}
    with wb.open(tmp_path / "lab.db") as bench:
        for held in vars(bench).values():
            if isinstance(held, Collection | Sessions):
                offered |= _public(type(held))
    # What a bench of 0.1.0 could not do with a server.
    since = {"backup", "recompute", "trust", "distrust", "untrusted"}
    since |= {"warm", "export_tests"}
    since |= {
        "author",
        "check_answer",
        "context_texts",
        "replay",
        "session",
        "analyse",
        "analyse_on_arrival",
        "analysis_types",
        "kinds",
        "gallery",
        "exclude",
        "export_size",
        "backend",
        "exclusions",
        "include",
        "simulate",
        "start_simulation",
    }
    assert {name for name in offered if f".{name}" not in text} <= {"close"} | since


def _public(cls: type) -> set[str]:
    return {
        name
        for name, member in inspect.getmembers(cls)
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
    }


def test_the_exchange_is_long_enough() -> None:
    assert len(turns()) > 300
