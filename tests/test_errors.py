"""The error tree: one status and code a class, and words that teach."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

import workbench.errors as errors


def classes(base: type[errors.WorkbenchError]) -> list[type[errors.WorkbenchError]]:
    return [base, *(found for child in base.__subclasses__() for found in classes(child))]


def test_the_docstring_draws_every_class_with_its_status() -> None:
    drawn = errors.__doc__ or ""
    for cls in classes(errors.WorkbenchError):
        line = next(
            (line for line in drawn.splitlines() if f"{cls.__name__} " in line or line == cls.__name__), None
        )
        assert line is not None, f"{cls.__name__} is missing in the tree of errors.py"
        if cls is not errors.WorkbenchError:
            assert f" {cls.status} " in line


def test_the_nearest_names_are_offered_case_blind() -> None:
    assert errors.near("voltage [v]", ["Voltage [V]", "Current [A]"]) == ["Voltage [V]"]
    assert errors.instead("limt", ["limit", "where"]) == "Did you mean 'limit'?"
    assert errors.instead("zzz", ["limit"], "fields") == "The fields are 'limit'."
    assert errors.instead("zzz", [], "fields") == "There are no fields."


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("nope", []), ("foo", []), ("hello", []), ("gain", []), ("xlsx", []), ("state", []),
        ("newar", ["neware"]), ("macor", ["maccor"]), ("pek", ["pec"]), ("res", ["arbin-res"]), ("arbn", ["arbin"]),
        ("Volts", ["Voltage [V]"]), ("capacity", ["Discharge capacity [A.h]"]), ("BIOLOGICS", ["biologic"]),
    ],
)  # fmt: skip
def test_only_what_is_near_is_offered(name: str, near: list[str]) -> None:
    names = ["neware", "maccor", "pec", "biologic", "landt", "arbin", "arbin-res", "digatron", "gamry", "matlab"]
    assert errors.near(name, [*names, "Voltage [V]", "Discharge capacity [A.h]"])[:1] == near


def test_invalid_tells_all_problems_with_their_place() -> None:
    problems = [errors.Problem(("config", "plan", "steps", "a", 0), "is odd."), errors.Problem((), "whole.")]
    assert str(errors.Invalid(problems)) == "config.plan.steps.a.0: is odd.\nwhole."
    assert errors.Invalid(problems).problems[0].as_detail() == {
        "loc": ["config", "plan", "steps", "a", 0],
        "msg": "is odd.",
        "type": "value_error",
    }


CHAIN = (
    "import workbench as wb, pathlib\n{mode}\ndef mine(path):\n    return wb.Recipe.load(path)\nmine('no.json')"
)


@pytest.mark.parametrize(("mode", "inside"), [("", False), ("%xmode Verbose", True)])
def test_a_notebook_shows_the_callers_lines_and_the_sentence(mode: str, inside: bool) -> None:
    words = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "-c", CHAIN.format(mode=mode)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    told = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    assert "mine(" in told
    assert "return wb.Recipe.load(path)" in told
    assert told.rstrip().splitlines()[-1].startswith("BadRequest: The recipe"), told
    assert ("def load(cls" in told) is inside, told


def test_an_error_of_the_workbench_alone_keeps_its_lines() -> None:
    try:
        errors.instead(None, ["a"])  # type: ignore[arg-type]
    except AttributeError as error:
        inner = error.__traceback__.tb_next if error.__traceback__ else None
        assert errors._of_the_caller(inner) is inner
