"""Every hostile script ends as expected in a protected run, and every honest one draws what it draws unprotected."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from support.hostile_scripts import OWN, SHARED, Case, Judge, Trap, cases, dataset
from support.other_imports import WAYS, rewritten

from workbench.transform import protected

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lock is Linux's")


@pytest.fixture(scope="module")
def judge(trap: Trap, pool: protected.Pool) -> Judge:
    data = dataset()

    def run(script: str, seconds: float) -> dict[str, Any]:
        return protected.draw(script, data, {}, seconds=seconds, by=pool)

    return Judge(run, trap, memory_mb=256)


def corpus(trap: Trap) -> list[Case]:
    given = cases(SHARED, trap.tokens) if SHARED.is_dir() else []
    return given + cases(OWN, trap.tokens)


def test_there_are_many_kinds_of_hostile_scripts(trap: Trap) -> None:
    kinds = Counter(case.category for case in cases(OWN, trap.tokens))
    assert sum(kinds.values()) - kinds["honest"] >= 40
    assert set(kinds) >= {
        "files",
        "environment",
        "network",
        "processes",
        "native",
        "limits",
        "isolation",
        "errors",
    }
    texts = [path.read_text("utf-8") for path in [*OWN.glob("*.py"), *SHARED.glob("*.py")]]
    assert len(set(texts)) == len(texts)


@pytest.mark.long
def test_every_script_ends_as_expected_two_at_a_time(judge: Judge, trap: Trap) -> None:
    assert judge.all(corpus(trap), at_once=2) == []


@pytest.mark.long
def test_three_rounds_in_one_life_of_the_zygote(judge: Judge, trap: Trap) -> None:
    for _ in range(3):
        assert judge.all(corpus(trap)) == []


def past_the_list(trap: Trap) -> list[Case]:
    """Every script that imports something, with each other way to its modules. A figure is as good as an error there:
    what counts is what the checks see."""
    made = [rewritten(case, way) for case in corpus(trap) for way in WAYS]
    return [
        one
        if one.category == "honest"
        else replace(one, good=one.good | {"harmless", "refused", "limited", "killed"})
        for one in made
        if one is not None
    ]


@pytest.mark.long
def test_scripts_whose_imports_take_another_way_do_nothing_either(judge: Judge, trap: Trap, long: bool) -> None:
    wanted = past_the_list(trap)
    assert len({one.text for one in wanted}) == len(wanted) >= 60
    for _ in range(3 if long else 1):
        assert judge.all(wanted if long else wanted[::16], at_once=2) == []


@pytest.mark.parametrize("way", WAYS)
def test_each_way_gets_past_the_list_of_imports(pool: protected.Pool, way: str) -> None:
    """Else the test above would look at the list again, and not at the lock."""
    text = (
        "def transform(data, params):\n    import socket, os\n    return {'data': [], 'layout': {'meta': os.name}}"
    )
    plain = Case("imports", "files", text, frozenset(), ())
    other = rewritten(plain, way)
    assert other is not None
    assert "cannot import 'socket'" in protected.draw(text, dataset(), {}, by=pool)["why"]
    assert protected.draw(other.text, dataset(), {}, by=pool)["outcome"] == "figure"


@pytest.mark.long
def test_the_scripts_bite_where_there_is_no_lock(trap: Trap, long: bool) -> None:
    """A check that cannot fail shows nothing: the same scripts, in a process without the lock."""
    alone = (
        "import sys\nfrom workbench.transform import inprocess\n"
        "data = sys.stdin.buffer.read()\ninprocess.draw(sys.argv[1], data, {})\nprint('figure')"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    wanted = ["os_through_pandas", "socket_by_c", "list_folder", "stat_probe", "real_open"][: 5 if long else 2]
    found = {
        case.name: subprocess.run(
            [sys.executable, "-c", alone, case.text], input=dataset(), env=env, capture_output=True, timeout=60
        ).stdout.split()[-1:]
        for case in cases(OWN, trap.tokens)
        if case.name in wanted
    }
    assert found == {name: [b"figure"] for name in found}
    assert len(found) == len(wanted)
