"""Names of steps and params that a script misspells are reported with their line; honest scripts are left alone."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from support.handwritten import HANDWRITTEN

from workbench.transform.script import check_script
from workbench.transform.used_names import check_keys

ROOT = Path(__file__).parents[2]
STEPS, PARAMS = ["cycles", "curves"], ["cells", "smooth"]


def told(body: str, before: str = "", arguments: str = "data, params") -> list[str]:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    text = f"{before}def transform({arguments}):\n{lines}\n    return go.Figure()\n"
    assert check_script(text) == []
    problems = check_keys(text, STEPS, PARAMS)
    assert all(problem.loc == ("config", "transform") for problem in problems)
    return [problem.msg for problem in problems]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x = data['cycle']", "Line 2: There is no step 'cycle'. Did you mean 'cycles'?"),
        ("x = params['smoth']", "Line 2: There is no param 'smoth'. Did you mean 'smooth'?"),
        ("x = params.get('smoth', 3)", "Line 2: There is no param 'smoth'. Did you mean 'smooth'?"),
        (
            "y = 1\nx = [data['zz'] for k in range(3)]",
            "Line 3: There is no step 'zz'. The steps are 'cycles', 'curves'.",
        ),
        ("f = lambda k: data['cycle'][k]", "Line 2: There is no step 'cycle'. Did you mean 'cycles'?"),
        ("params['x'] = 1\nz = params['smoth']", "Line 3: There is no param 'smoth'. Did you mean 'smooth'?"),
    ],
)
def test_a_misspelt_key_is_told_with_its_line(body: str, message: str) -> None:
    assert told(body) == [message]


def test_each_key_is_told_at_each_line_once() -> None:
    found = told("x = data['cycle'], data['cycle'], params['smoth']\ny = data['cycle']")
    assert [message.split(":")[0] for message in found] == ["Line 2", "Line 2", "Line 3"]


def test_the_arguments_may_have_any_names() -> None:
    assert told("x = d['cycle'] + data['anything']", "data = {}\n", "d, p") == [
        "Line 3: There is no step 'cycle'. Did you mean 'cycles'?"
    ]


def test_a_helper_does_not_hide_a_misspelt_key() -> None:
    assert (
        len(told("x = size(data, params)\ny = data['cycle']", "def size(data, params):\n    return data['q']\n"))
        == 1
    )


@pytest.mark.parametrize(
    "body",
    [
        "x = data['cycles'], params['cells'], params.get('smooth')",
        "x = params.get('width', 3), params.get('width')",
        "params['width'] = 3\nx = params['width']",
        "params.setdefault('width', 3)\nx = params['width']",
        "params.update(width=3)\nx = params['width']",
        "params.update({'width': 3})\nx = params['width']",
        "params.update(dict(width=3))\nx = params['width']",
        "params = {'width': 3, **params}\nx = params['width']",
        "params |= {'width': 3}\nx = params['width']",
        "for k in 'ab':\n    params[k] = 1\nx = params['a']",
        "if 'width' in params:\n    x = params['width']",
        "x = params['width'] if 'width' in params.keys() else 3",
        "if all(k in data for k in ('a', 'b')):\n    x = data['a']",
        "try:\n    x = data['extra']\nexcept KeyError:\n    x = None",
        "try:\n    x = data['extra']\nexcept:\n    x = None",
        "import contextlib\nwith contextlib.suppress(KeyError):\n    x = data['extra']",
        "for data in [{'a': 1}]:\n    x = data['a']",
        "x = [data['a'] for data in [{'a': 1}]]",
        "f = lambda data: data['a']",
        "def f(params):\n    return params['a']",
        "with open as data:\n    x = data['a']",
        "match params:\n    case {'cells': 1, **params}:\n        x = params['a']",
        "key = 'a'\nx = data[key], data[0:1], data[f'{key}']",
        "frame = data['cycles']\nx = frame['anything'], frame.get('other')",
    ],
)
def test_an_honest_script_is_left_alone(body: str) -> None:
    assert told(body) == []


def test_a_helper_may_fill_what_it_is_given() -> None:
    helper = "def fill(values, key):\n    values[key] = 1\n\n"
    assert told("fill(params, 'width')\nx = params['width']", helper) == []
    assert told("fill({}, 'width')\nx = params['width']", helper) != []


def test_nothing_is_told_where_names_cannot_be_read() -> None:
    text = "def transform(data, params):\n    return data['a'], params['b']\n"
    assert len(check_keys(text, [], [])) == 2
    assert check_keys(text, None, None) == []
    assert check_keys("def transform(", [], []) == []
    assert check_keys("def transform(*both):\n    return both[0]['a']\n", [], []) == []


def test_no_recipe_of_ours_is_accused() -> None:
    recipes = [*HANDWRITTEN.values()]
    recipes += [json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "docs" / "recipes").glob("*.json"))]
    assert len(recipes) > 10
    for one in recipes:
        raw = one if isinstance(one, dict) else one.dump()
        assert check_keys(raw["transform"], raw["plan"]["steps"], raw.get("params", {})) == []


def test_the_scripts_of_the_tests_can_be_walked() -> None:
    found = 0
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "def transform(" in node.value:
                check_keys(node.value, [], [])
                found += 1
    assert found > 20
