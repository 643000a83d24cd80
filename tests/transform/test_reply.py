"""What comes back from a locked process costs the server little, and ends in an answer or in words, whatever it is."""

from __future__ import annotations

import time
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.transform.protected.messages import MOST_ANSWER_JSON, Job
from workbench.transform.protected.reply import Forged, read
from workbench.transform.script import MOST_PROBLEMS, check_script
from workbench.transform.used_names import check_keys

DEEP = b"[" * 1000 + b"]" * 1000
FIGURES = {
    "kind of trace": b'{"data": [{"type": %s}]}' % DEEP,
    "kind in a frame": b'{"data": [], "frames": [{"data": [{"type": %s}]}]}' % DEEP,
    "type of an array": b'{"data": [{"y": {"bdata": "", "dtype": %s}}]}' % DEEP,
    "shape of an array": b'{"data": [{"y": {"bdata": "AA==", "dtype": "u1", "shape": [%s]}}]}' % DEEP,
    "style of a map": b'{"data": [], "layout": {"map": {"style": %s}}}' % DEEP,
    "arguments": b'{"data": [], "layout": {"updatemenus": [{"args": %s}]}}' % DEEP,
    "part": b'{"data": [], "\\u0000": 1}',
}


def job(script: str = "def transform(data, params):\n    return 1") -> Job:
    return Job("draw", script, {}, 8.0, 512, 16 * 2**20)


def told(problems: list[Any]) -> bytes:
    return orjson.dumps({"log": "", "problems": problems})


@pytest.mark.parametrize("name", FIGURES)
def test_what_is_nested_where_a_text_belongs_is_refused_in_words(name: str) -> None:
    answer = read(job(), told([]), FIGURES[name])
    assert answer.figure is None
    assert len(answer.problems[0].msg) < 1000


@pytest.mark.parametrize(
    "warned",
    [
        "x",
        [1],
        [{"code": "samples_left_out"}],
        [{"code": "made up", "message": "x"}],
        [{"code": ["samples_left_out"], "message": "x"}],
        [{"code": "samples_left_out", "message": "x" * 2000}],
        [{"code": "samples_left_out", "message": "x"}] * 21,
    ],
)
def test_warnings_that_no_helper_gives_are_forged(warned: Any) -> None:
    reply = {"log": "", "problems": [], "warned": warned}
    with pytest.raises(Forged):
        read(job(), orjson.dumps(reply), b'{"data": [], "layout": {}}')


def test_many_forged_problems_of_a_long_script_cost_little() -> None:
    forged = [{"msg": "x", "type": "script_error", "line": 999_999}] * MOST_PROBLEMS
    began = time.process_time()
    read(job("\n" * 1_000_000), told(forged), b"")
    assert time.process_time() - began < 1.0
    one_line = read(job("x" * 1_000_000), told([{**one, "line": 1} for one in forged]), b"")
    assert sum(len(problem.ctx["text"]) for problem in one_line.problems) < 100_000


def test_a_script_with_more_mistakes_than_are_told_is_no_forgery() -> None:
    script = "import os;" * 20_000 + "\ndef transform(data, params): return 1"
    began = time.process_time()
    found = check_script(script)
    assert time.process_time() - began < 3.0
    assert len(found) == MOST_PROBLEMS
    assert sum(len(problem.ctx["text"]) for problem in found) < 100_000
    sent = [{"msg": one.msg, "type": one.type, "line": one.ctx["line"]} for one in found]
    assert len(read(job(script), told(sent), b"").problems) == MOST_PROBLEMS


def test_of_many_unknown_keys_the_first_are_told() -> None:
    script = "def transform(data, params):\n" + "".join(f" data['x{n}']\n" for n in range(1000))
    found = check_keys(script, ["a"], [])
    assert [one.ctx["line"] for one in found] == list(range(2, MOST_PROBLEMS + 2))
    long = check_keys("def transform(data, params):\n return data['%s']" % ("x" * 100_000), ["a"], [])
    assert len(long[0].msg) < 1000


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["log", "problems", "limit", "msg", "type", "line", "error"]), inner)
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None)
@given(VALUES, st.booleans())
def test_whatever_comes_is_an_answer_or_forged(value: Any, wrapped: bool) -> None:
    text = orjson.dumps({"log": "", "problems": [value]} if wrapped else value)
    assert len(text) <= MOST_ANSWER_JSON
    try:
        answer = read(job(), text, b"{}")
    except Forged:
        return
    assert answer.problems
