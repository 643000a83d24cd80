"""The analyses against closed forms, published tables and other programs: each case is computed again, and what the
page of the docs says is what comes out."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tools import validation
from tools.validation import Case, Check, cases, text, written

CASES = cases()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if case.long else []) for name, case in CASES.items()]
)
def test_a_case_gives_its_reference_and_what_the_page_says(name: str) -> None:
    case = CASES[name]
    if missing := case.missing(validation.SHARED):
        pytest.skip(missing)
    found = list(case.compute(validation.SHARED))
    assert found
    assert [(check.quantity, check.ours, check.its) for check in found if not check.holds] == []
    told = {check.quantity: check.ours for check in written()[name]}
    # Another processor rounds otherwise in the last digits, a fit a little earlier.
    assert {check.quantity: check.ours for check in found} == pytest.approx(told, rel=1e-4, abs=1e-9, nan_ok=True)


def test_the_page_has_no_case_that_is_not_computed() -> None:
    assert list(written()) == list(CASES)


def test_no_two_checks_of_a_case_have_the_same_quantity() -> None:
    for name, checks in written().items():
        assert len({check.quantity for check in checks}) == len(checks), name


def test_a_number_that_is_off_or_missing_does_not_hold() -> None:
    def check(ours: float) -> Check:
        return Check("peukert", "exponent", "made", "closed form", 1.05, ours, 0.01)

    assert check(1.059).holds
    assert not check(1.061).holds
    assert not check(math.nan).holds


def test_a_case_says_what_it_lacks(tmp_path: Path) -> None:
    case = Case(
        "made",
        lambda _: [],
        files=("data/none.csv",),
        packages=("no_such_package",),
        programs=("no-such-program",),
    )
    words = "data/none.csv and the package no_such_package and the program no-such-program not here"
    assert case.missing(tmp_path) == words
    assert Case("made", lambda _: []).missing(tmp_path) == ""


def test_numbers_that_are_written_are_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = {"made": [Check("peukert", "exponent", "made", "closed form", 1.05, 1.0500000000012, 0.01)]}
    monkeypatch.setattr(validation, "NUMBERS", tmp_path / "analyses.json")
    assert written() == {}
    validation.NUMBERS.write_text(text(checks), "utf-8")
    assert written()["made"][0].ours == 1.05
