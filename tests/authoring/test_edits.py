"""Edits by search and replace: each changes the one place that it names, or is refused in words and nothing changes."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest

from workbench.authoring.answer import read_answer
from workbench.authoring.context import prompt_text
from workbench.authoring.edits import HOW, MOST_EDITS, PARTS, edited, texts_of
from workbench.authoring.examples import answer
from workbench.records.catalog import Catalog, CatalogSource

DRAFT: dict[str, Any] = copy.deepcopy(dict(answer("fade")["draft"]))


def edit(part: str, old: str, new: str) -> dict[str, str]:
    return {"part": part, "old": old, "new": new}


def test_each_part_is_changed_at_the_one_place_that_is_named() -> None:
    made, problems = edited(
        DRAFT,
        [
            edit("name", "fade", "loss"),
            edit("plan", '"limit": 500', '"limit": 700'),
            edit("params", '"max": 1,', '"max": 0.95,'),
            edit("transform", "Capacity / first", "Retention"),
        ],
    )
    assert problems == []
    assert made is not None
    meant = copy.deepcopy(DRAFT)
    meant["name"] = "Capacity loss"
    meant["config"]["plan"]["steps"]["tests"]["limit"] = 700
    meant["config"]["params"]["limit"]["control"]["max"] = 0.95
    meant["config"]["transform"] = meant["config"]["transform"].replace("Capacity / first", "Retention")
    assert made == meant
    assert DRAFT["name"] == "Capacity fade"


@pytest.mark.parametrize("old", ['"limit":500', '"limit" :\n  500', '],\n"limit": 500', "500"])
def test_json_is_found_however_its_lines_are_set(old: str) -> None:
    new = old.replace("500", "501")
    made, problems = edited(DRAFT, [edit("plan", old, new)])
    assert problems == []
    assert made is not None
    assert made["config"]["plan"]["steps"]["tests"]["limit"] == 501  # type: ignore[index, call-overload]


def test_edits_apply_in_order() -> None:
    made, problems = edited(DRAFT, [edit("name", "Capacity", "Energy"), edit("name", "Energy fade", "Energy")])
    assert (problems, made and made["name"]) == ([], "Energy")


def test_params_can_be_added_where_there_are_none() -> None:
    bare = {"name": "n", "config": {key: DRAFT["config"][key] for key in ("plan", "transform")}}
    made, problems = edited(bare, [edit("params", "{}", '{"a": {"kind": "view", "default": 1}}')])
    assert problems == []
    assert made is not None
    assert made["config"]["params"] == {"a": {"kind": "view", "default": 1}}  # type: ignore[index, call-overload]
    assert "params" not in edited(bare, [edit("name", "n", "m")])[0]["config"]  # type: ignore[index, operator]


@pytest.mark.parametrize(
    ("edits", "place", "words"),
    [
        ([edit("transform", "return", "return ")], "edits.0.old", "is in 'transform' 2 times, in lines 9, 17"),
        ([edit("transform", "Capacity / frist", "")], "edits.0.old", "is not in 'transform'. The nearest line"),
        ([edit("plan", "battery.template()", "x")], "edits.0.old", "It is in 'transform'."),
        ([edit("script", "a", "b")], "edits.0.part", "no part 'script'"),
        ([edit("plan", "", "b")], "edits.0.old", "'old' is empty"),
        ([edit("params", " \n", "b")], "edits.0.old", "'old' is empty"),
        ([{"part": "plan", "old": "a"}], "edits.0.new", "'new' is missing"),
        ([{**edit("plan", "500", "1"), "why": "so"}], "edits.0.why", "'why' is not a part of an edit"),
        (["500"], "edits.0", "An edit is"),
        ([edit("plan", '"limit": 500', '"limit": 500}')], "edits", "After the edits, 'plan' is not JSON"),
        ([], "edits", "1 to 100 are allowed"),
        ([edit("name", "Capacity", "Capacity")] * (MOST_EDITS + 1), "edits", "101 entries"),
    ],
)
def test_what_is_not_there_once_is_refused_in_words(edits: list[Any], place: str, words: str) -> None:
    made, problems = edited(DRAFT, edits)
    assert made is None
    assert ".".join(map(str, problems[0].loc)) == place
    assert words in problems[0].msg


@pytest.mark.parametrize(
    ("part", "held", "old"),
    [
        ("plan", ["," * 60_000], "," * 30_000 + "b"),
        ("plan", ["a " * 40_000], "a " * 20_000 + "b"),
        ("plan", [" " * 60_000 + "b"], "a" + " " * 30_000 + "b"),
        ("transform", "a" * 60_000, "a" * 30_000 + "b"),
        ("transform", ("a" * 2000 + "\n") * 50, "a" * 2000 + "b"),
        ("transform", "a\n" * 20_000, "a"),
    ],
)
def test_no_edit_makes_looking_for_its_place_slow(part: str, held: Any, old: str) -> None:
    begun = time.process_time()
    made, [problem] = edited({"name": "n", "config": {part: held}}, [edit(part, old, "c")])
    assert made is None
    assert len(problem.msg) < 1000
    assert time.process_time() - begun < 2


def test_all_wrong_edits_come_at_once_and_nothing_is_changed() -> None:
    sent = [edit("name", "Capacity", "Energy"), edit("name", "fad!", ""), edit("plan", "nothing like this", "")]
    made, problems = edited(DRAFT, sent)
    assert made is None
    assert [one.loc[1] for one in problems] == [1, 2]
    assert edited(None, sent)[1][0].msg == "There is no plot to change here. Send the whole draft."


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"draft": DRAFT}, "not both"),
        ({"edits": "a"}, "'edits' needs a list"),
        ({"edits": {}}, "'edits' needs a list"),
    ],
)
def test_an_answer_has_a_draft_or_edits(more: dict[str, Any], words: str) -> None:
    sound = {"say": "Longer.", "edits": [edit("name", "fade", "loss")]}
    read = read_answer(json.dumps(sound))
    assert (read.say, read.draft, read.edits, read.problems) == ("Longer.", None, tuple(sound["edits"]), ())
    assert words in read_answer({**sound, **more}).problems[0].msg


def test_the_prompt_shows_each_part_as_edits_find_it() -> None:
    prompt = prompt_text(
        "Thicker lines", Catalog([CatalogSource("measurements", "Tests.", 0, [], [], [])], [], []), DRAFT
    )
    assert HOW in prompt
    for part, text in texts_of(DRAFT).items():
        assert f"`{part}`" in prompt
        assert text.rstrip() in prompt
        for line in text.strip().splitlines():
            if text.count(line.strip(" ,")) == 1 and line.strip(" ,{}"):
                assert edited(DRAFT, [edit(part, line.strip(" ,"), line.strip(" ,"))]) == (DRAFT, [])
    assert set(texts_of(DRAFT)) == set(PARTS)
