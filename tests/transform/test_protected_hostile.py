"""Every hostile script ends as expected in a protected run, and every honest one draws what it draws unprotected."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import pytest
from support.hostile_scripts import OWN, SHARED, Case, Judge, Trap, cases, dataset

from workbench.transform import protected
from workbench.transform.protected import Limits
from workbench.transform.protected.unprotected import Unprotected

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


def test_every_script_ends_as_expected_two_at_a_time(judge: Judge, trap: Trap) -> None:
    assert judge.all(corpus(trap), at_once=2) == []


@pytest.mark.long
def test_three_rounds_in_one_life_of_the_zygote(judge: Judge, trap: Trap) -> None:
    for _ in range(3):
        assert judge.all(corpus(trap)) == []


def test_the_scripts_bite_where_there_is_no_lock(trap: Trap) -> None:
    """A check that cannot fail shows nothing: the same scripts, in a process without the lock."""
    alone = Unprotected(Limits(seconds=3))
    data = dataset()
    wanted = ["os_through_pandas", "list_folder", "stat_probe", "real_open", "socket_by_c"]
    found = {
        case.name: protected.draw(case.text, data, {}, by=alone)["outcome"]
        for case in cases(OWN, trap.tokens)
        if case.name in wanted
    }
    assert found == dict.fromkeys(found, "figure")
    assert len(found) == 5
