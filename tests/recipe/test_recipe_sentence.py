"""Recipes that are only a sentence are known by their script."""

from __future__ import annotations

import pytest

from workbench.recipe.sentence import sentence_of, sentence_script


@pytest.mark.parametrize(
    "text", ["No test.", "It isn't there.", "'a' and \"b\"", "a\nb \\ c", "温度", "'", ") or f(", ""]
)
def test_a_sentence_comes_back_from_its_script(text: str) -> None:
    assert sentence_of(sentence_script(text)) == text


@pytest.mark.parametrize(
    "inside",
    ["f('a')", "'a' + 'b'", "'a', 'b'", "text", "'a' 'b'", r"'\x'", r"'\d'", r"'\N{x}'", "'\0'", "'\ud800'"],
)
def test_other_scripts_have_no_sentence(inside: str) -> None:
    assert sentence_of(sentence_script("x").replace("'x'", inside)) is None
    assert sentence_of("def transform(data, params):\n    return None\n") is None
