"""The hostile scripts through the endpoint that draws a recipe which is not saved, as any contributor may send it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.hostile_scripts import OWN, SHARED, WITNESS, Case, Judge, Trap, cases
from support.other_imports import WAYS, rewritten
from support.server_in_process import Lab, lab

from workbench.transform import protected
from workbench.transform.protected import Limits

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the lock is Linux's"),
    pytest.mark.xdist_group("hostile"),
]
PLAN = {"steps": {"rows": {"op": "list", "source": "instances"}}}
HERE = "def transform(data, params):\n    return px.bar(x=[1, 2], y=[len(data), 3])"
"""The witness: the data of the other one are not in this store."""
NOT_SEEN = ("within_time", "within_memory")
"""Checks of what an endpoint does not say; the tests of protected drawing have them."""


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trap]:
    folder = tmp_path_factory.mktemp("trap")
    for parent in (folder, *list(folder.parents)[:3]):
        parent.chmod(parent.stat().st_mode | 0o055)
    made = Trap(folder)
    yield made
    made.close()


@pytest.fixture(scope="module")
def judge(trap: Trap, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    folder: Path = tmp_path_factory.mktemp("lab")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_TEST_SECRET", trap.secret)
        pool = protected.new(Limits(seconds=3, memory_mb=256), workers=2)
        patch.setattr(protected, "_shared", {os.getpid(): pool})
        with lab(folder) as served:
            yield Judge(lambda script, _: drawn(served, script), trap, memory_mb=256)
        pool.close()


def drawn(served: Lab, script: str) -> dict[str, Any]:
    """The answer of the endpoint in the form of the plug: never one of a broken server."""
    config = {"plan": PLAN, "transform": HERE if script == WITNESS else script}
    answer = served.call("POST", f"/projects/{served.project.id}/figures", json={"config": config})
    assert answer.status_code in (200, 422), (answer.status_code, answer.text[:300], script)
    said = {"why": "", "log": "", "processes_left": 0, "peak_mb": 0.0}
    if answer.status_code == 200:
        return {
            **said,
            "outcome": "figure",
            "figure": json.dumps(answer.json()["figure"]),
            "log": answer.json()["log"],
        }
    assert "Traceback" not in answer.text
    return {**said, "outcome": "refused", "why": answer.text}


def corpus(trap: Trap) -> list[Case]:
    """The hostile scripts that need no data, as they are and with other ways to their modules."""
    given = [*(cases(SHARED, trap.tokens) if SHARED.is_dir() else []), *cases(OWN, trap.tokens)]
    plain = [case for case in given if case.category != "honest" and "data[" not in case.text]
    others = [rewritten(case, way) for case in plain for way in WAYS]
    # An endpoint says 422 for whatever a script ended in; a figure is as good if every check holds.
    good = frozenset(("refused", "harmless"))
    return [
        replace(one, good=good, checks=tuple(check for check in one.checks if check not in NOT_SEEN))
        for one in (*plain, *others)
        if one is not None
    ]


@pytest.mark.long
def test_hostile_scripts_do_nothing_through_the_endpoint(judge: Judge, trap: Trap, long: bool) -> None:
    wanted = corpus(trap)
    assert len(wanted) >= 120
    for _ in range(3 if long else 1):
        assert judge.all(wanted if long else wanted[::20], at_once=2) == []
