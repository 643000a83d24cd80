"""Every hostile script ends as expected in a protected run, and every honest one draws what it draws unprotected."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_corpus import OWN, SHARED, Judge, Trap, cases, dataset

from workbench.transform import protected
from workbench.transform.protected import Limits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the lock is Linux's")

LIMITS = Limits(seconds=1.5, memory_mb=256)


@pytest.fixture(scope="module")
def trap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trap]:
    folder = tmp_path_factory.mktemp("trap")
    for parent in (folder, *list(folder.parents)[:3]):
        parent.chmod(parent.stat().st_mode | 0o055)  # so that its permissions are not what keeps a script out
    made = Trap(folder)
    yield made
    made.close()


@pytest.fixture(scope="module")
def judge(trap: Trap) -> Iterator[Judge]:
    data = dataset()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBENCH_TEST_SECRET", trap.secret)
        pool = protected.new(LIMITS, workers=2)
        assert pool.fence().holds, pool.fence().why
        yield Judge(
            lambda script: protected.draw(script, data, {}, by=pool), trap, seconds=LIMITS.seconds, memory_mb=256
        )
        pool.close()


def corpus(trap: Trap) -> list:
    given = cases(SHARED, trap.tokens) if SHARED.is_dir() else []
    return given + cases(OWN, trap.tokens)


def test_there_are_many_kinds_of_hostile_scripts(trap: Trap) -> None:
    kinds = Counter(case.category for case in cases(OWN, trap.tokens))
    assert sum(kinds.values()) - kinds["honest"] >= 40
    assert set(kinds) >= {"files", "environment", "network", "processes", "native", "limits", "isolation", "errors"}
    texts = [path.read_text("utf-8") for path in [*OWN.glob("*.py"), *SHARED.glob("*.py")]]
    assert len(set(texts)) == len(texts)


def test_every_script_ends_as_expected_two_at_a_time(judge: Judge, trap: Trap) -> None:
    assert judge.all(corpus(trap), at_once=2) == []


@pytest.mark.long
def test_three_rounds_in_one_life_of_the_zygote(judge: Judge, trap: Trap) -> None:
    for _ in range(3):
        assert judge.all(corpus(trap)) == []


def test_the_scripts_bite_where_there_is_no_lock(trap: Trap, tmp_path: Path) -> None:
    """A check that cannot fail shows nothing: the same scripts, in a process without the lock."""
    pool = protected.lone.Lone(LIMITS)
    data = dataset()
    wanted = ["os_through_pandas", "list_folder", "stat_probe", "real_open", "socket_by_c", "fork_bomb_none"]
    found = {
        case.name: protected.draw(case.text, data, {}, by=pool)["outcome"]
        for case in cases(OWN, trap.tokens)
        if case.name in wanted
    }
    assert found == dict.fromkeys(found, "figure")
    assert len(found) == 5
