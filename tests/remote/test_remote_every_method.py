"""Every public method of a bench, asked the same on two equal stores, one of them through a server: the same answers,
the same errors in the same words, and the same store afterwards."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support import method_calls, method_calls_of_plots
from support.asked_methods import COVERED, ROWS
from support.local_and_remote import Sides, sides
from support.plain_answers import Told

import workbench as wb
from workbench.bench import Bench, Board, SavedPlot
from workbench.bench.alerts import Alerts
from workbench.bench.collections import Collection
from workbench.bench.sessions import Sessions
from workbench.records import KINDS

FILES = (method_calls, method_calls_of_plots)
"""The files with the rows; importing them fills ``ROWS``."""


@dataclass
class Pair:
    """Two copies of the demo: ``near`` is asked here, ``far`` through a server."""

    near: wb.Bench
    served: Sides
    told: dict[str, Told]


@pytest.fixture(scope="module")
def pair(demo_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("every")
    places = {where: folder / where / "demo.db" for where in ("near", "far")}
    with wb.open(demo_store) as original:
        for place in places.values():
            place.parent.mkdir()
            original.backup(place)
        own = _ids(original)
    with wb.open(places["near"]) as near, sides(places["far"]) as served:
        told = {"near": Told("demo.db", folder, own), "far": Told(served.url, folder, own)}
        yield Pair(near, served, told)


def _ids(bench: wb.Bench) -> set[str]:
    connection = bench.backend.store.connection()
    kinds = [kind.table for kind in KINDS.values()]
    return {id for table in kinds for (id,) in connection.execute(f'SELECT id FROM "{table}"')}


@pytest.mark.parametrize("name", ROWS)
def test_near_and_far_answer_the_same(pair: Pair, name: str, tmp_path: Path) -> None:
    told: dict[str, list[Any]] = {}
    for where, bench in (("near", pair.near), ("far", pair.served.far)):
        folder = tmp_path / where
        folder.mkdir()
        pair.told[where].begin(folder)
        told[where] = _asked(bench, pair.told[where], name, folder)
    assert len(told["near"]) == len(told["far"])
    different = [(near, far) for near, far in zip(told["near"], told["far"], strict=True) if near != far]
    assert different == []


def _asked(bench: wb.Bench, told: Told, name: str, folder: Path) -> list[Any]:
    found: list[Any] = []

    def ask(call: Any) -> Any:
        answers: list[Any] = []
        found.append(told.outcome(lambda: answers.append(call()) or answers[0]))
        return answers[0] if answers else None

    ROWS[name](bench, ask, folder)
    return found


# No method without a row


def _public(cls: type) -> set[str]:
    """What a class offers: methods and properties without an underscore."""
    return {
        name
        for name, member in inspect.getmembers(cls)
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
    }


def methods(bench: wb.Bench) -> set[str]:
    """Every public method that a bench gives, by the place where people find it."""
    found = {f"Bench.{name}" for name in _public(Bench)}
    found |= {f"{cls.__name__}.{name}" for cls in (Board, SavedPlot) for name in _public(cls)}
    for name, held in vars(bench).items():
        if isinstance(held, Collection | Sessions | Alerts):
            found |= {f"{name}.{method}" for method in _public(type(held))}
    return found


def test_no_public_method_is_without_a_row(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        assert methods(bench) - COVERED == set()
        assert COVERED - methods(bench) == set()
