"""What the everyday run leaves out: each entry is a test that is there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from support.everyday import EACH, NEVER, Everyday

TESTS = Path(__file__).parent


@pytest.mark.parametrize("file", EACH)
def test_each_entry_is_a_test_that_is_there(file: str) -> None:
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    there = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert EACH[file].keys() <= there
    assert all(each == NEVER or each > 1 for each in EACH[file].values())


def test_each_so_manieth_case_of_a_test_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("support.everyday.EACH", {"a.py": {"test_three": 3, "test_never": NEVER}})
    everyday = Everyday()
    cases = [f"tests/a.py::test_three[{place}]" for place in range(7)]
    assert [case[-2] for case in cases if everyday.has(case)] == ["0", "3", "6"]
    assert not everyday.has("tests/a.py::test_never")
    assert everyday.has("tests/a.py::test_other[x]")
    assert everyday.has("tests/b.py::test_three[1]")
