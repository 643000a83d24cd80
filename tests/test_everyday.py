"""What the everyday run leaves out: each entry is a test that is there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from support.everyday import EACH, NEVER, WORTH, Everyday
from support.recorded_seconds import of_run, recorded

TESTS = Path(__file__).parent


@pytest.mark.parametrize("file", sorted(EACH.keys() | WORTH.keys()))
def test_each_entry_is_a_test_that_is_there(file: str) -> None:
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert EACH.get(file, {}).keys() | WORTH.get(file, {}).keys() <= there
    assert all(each == NEVER or each > 1 for each in EACH.get(file, {}).values())


def test_what_is_worth_more_than_usual_was_recorded_to_take_more() -> None:
    assert {file for file in WORTH if not recorded().get(file)} == set()


def test_each_so_manieth_case_of_a_test_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.everyday.EACH", {"a.py": {"test_three": 3, "test_never": NEVER}})
    cases = [f"tests/a.py::test_three[{place}]" for place in range(7)]
    everyday = Everyday(cases)
    assert [case[-2] for case in cases if everyday.has(case)] == ["0", "3", "6"]
    assert not everyday.has("tests/a.py::test_never")
    assert everyday.has("tests/a.py::test_other[x]")
    assert everyday.has("tests/b.py::test_three[1]")


def test_as_many_cases_run_as_a_test_is_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    run = "".join(f"0.24s call     tests/a.py::test_six[{place}]\n" for place in range(6))
    run += "9.00s setup    tests/a.py::test_six[0]\n5.00s call     tests/a.py::test_slow\n"
    run += "0.20s call     tests/a.py::test_quick\n"
    assert of_run(run) == {"a.py": {"test_six": 0.24, "test_slow": 5.0}}
    monkeypatch.setattr("support.everyday.recorded", lambda: of_run(run))
    six = [f"tests/a.py::test_six[{place}]" for place in range(6)]
    cases = [*six, "tests/a.py::test_slow", "tests/a.py::test_quick"]
    everyday = Everyday(cases)
    assert [case for case in cases if everyday.has(case)] == [six[0], six[4], cases[-1]]
    monkeypatch.setattr("support.everyday.WORTH", {"a.py": {"test_slow": 5, "test_six": 9}})
    everyday = Everyday(cases)
    assert all(everyday.has(case) for case in cases)
