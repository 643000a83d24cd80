"""A function as a transform: its text with all it needs, and in words what cannot come along."""

from __future__ import annotations

import functools
import math
import os
from math import pi, sqrt
from typing import Any

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
import pytest
import scipy.signal as sig
from IPython.core.interactiveshell import InteractiveShell
from plotly.subplots import make_subplots

import workbench as wb
from workbench import battery
from workbench.battery import axis_title
from workbench.recipe.function import script_of
from workbench.transform.script import check_script, run

PLAN = {"steps": {"cells": {"op": "list", "source": "instances"}}}
TITLES = {"x": ["a", "b"], "µ": (None, 1.5, True)}
LIMIT = 0.8
limit = 3
table = pd.DataFrame({"a": [1]})


def scaled(values):
    """Uses a constant and an imported module."""
    return [math.sqrt(value) * LIMIT for value in values]


def twice(values):
    return scaled(scaled(values))


def draw(data, params):
    figure = make_subplots(rows=2)
    figure.add_scatter(x=twice([16.0]), y=[pi * sqrt(4)], name=axis_title("Voltage [V]"))
    window = sig.get_window("hann", 4)
    figure.update_layout(template=battery.template(), title=f"{TITLES['µ'][1]} {len(window)} {np.sum([1, 2])}")
    return go.Figure(figure) if px.defaults else figure


def test_what_a_function_needs_comes_along() -> None:
    text = script_of(draw)
    assert check_script(text) == []
    lines = text.split("\n")
    for line in (
        "import math",
        "from scipy import signal as sig",
        "from math import pi",
        "from math import sqrt",
        "from plotly.subplots import make_subplots",
        "from workbench import battery",
        "from workbench.battery import axis_title",
        "LIMIT = 0.8",
        "TITLES = {'x': ['a', 'b'], 'µ': (None, 1.5, True)}",
        "def transform(data, params):",
    ):
        assert lines.count(line) == 1, line
    assert "import numpy" not in text
    assert (
        lines.index("def scaled(values):")
        < lines.index("def twice(values):")
        < lines.index("def transform(data, params):")
    )
    drawn = run(text, {}, {}).value
    alone = draw({}, {})
    assert drawn.data[0].x == alone.data[0].x == (math.sqrt(4 * LIMIT) * LIMIT,)
    assert drawn.data[0].y == alone.data[0].y
    assert drawn.layout.title == alone.layout.title


def test_it_is_the_transform_of_a_recipe() -> None:
    recipe = wb.Recipe(plan=PLAN, transform=draw)
    assert recipe.transform == script_of(draw)
    assert wb.Recipe(recipe.raw()) == recipe
    assert wb.Recipe({"plan": PLAN, "transform": draw}) == recipe


def countdown(data, params):
    rest = data if isinstance(data, int) else 3
    countdowns = "countdown"
    return {"data": [], "layout": {"title": countdowns}} if rest == 0 else countdown(rest - 1, params)


def test_a_function_that_calls_itself_is_renamed_throughout() -> None:
    text = script_of(countdown)
    assert "else transform(rest - 1, params)" in text
    assert 'countdowns = "countdown"' in text
    assert run(text, {}, {}).value == {"data": [], "layout": {"title": "countdown"}}


def unfit(data, params):
    folder = os.getcwd()
    open(folder)  # noqa: SIM115
    return wb, table, limit, tabel, Local  # noqa: F821


class Local:
    def draw(self, data, params):
        return data


def problems(function: Any) -> list[wb.Problem]:
    with pytest.raises(wb.Invalid) as caught:
        script_of(function)
    return caught.value.problems


def test_what_cannot_come_along_is_told_with_line_and_mend() -> None:
    found = problems(unfit)
    assert [(p.ctx["name"], p.ctx["line"]) for p in found] == [
        ("os", 2),
        ("open", 3),
        ("wb", 4),
        ("table", 4),
        ("limit", 4),
        ("tabel", 4),
        ("Local", 4),
    ]
    by_name = {p.ctx["name"]: p for p in found}
    assert all(p.loc == ("config", "transform") for p in found)
    assert by_name["os"].ctx["text"] == "folder = os.getcwd()"
    assert str(by_name["os"]).startswith("config.transform: Line 2 of 'unfit': A script cannot import 'os'.")
    assert "from workbench import battery" in by_name["wb"].msg
    assert "a DataFrame" in by_name["table"].msg
    assert "add a step to the plan" in by_name["table"].msg
    assert (
        "write 'limit = 3' inside 'unfit', make it a param, or write its name in capitals" in by_name["limit"].msg
    )
    assert "Did you mean 'table'" in by_name["tabel"].msg
    assert "class of your own" in by_name["Local"].msg


def test_all_parts_of_a_recipe_are_told_at_once() -> None:
    with pytest.raises(wb.Invalid) as caught:
        wb.Recipe(plan={"steps": {"cells": {"op": "list", "source": "instance"}}}, transform=unfit)
    places = {p.loc for p in caught.value.problems}
    assert places == {("config", "plan", "steps", "cells", "source"), ("config", "transform")}


@functools.cache
def cached(data, params):
    return data


def own(function):
    return function


@own
def decorated(data, params):
    return data


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda data, params: data, "A lambda has no name"),
        (Local().draw, "'draw' is a method"),
        (Local.draw, "'draw' is written in the class 'Local'"),
        (Local, "'Local' is a class"),
        (len, "'len' is built in"),
        (np.sum, "no function|wrapped|'sum' "),
        (functools.partial(draw, {}), "A functools.partial"),
        (cached, "'cached' is wrapped by a decorator"),
        (decorated, "'decorated' is decorated by '@own'"),
        (eval("lambda: 0"), "A lambda"),
    ],
)
def test_a_callable_without_a_text_is_refused_in_words(given: Any, words: str) -> None:
    (found,) = problems(given)
    assert __import__("re").search(words, found.msg), found.msg


def test_a_function_in_a_function_stands_alone_or_says_what_it_takes_from_around_it() -> None:
    factor = 5

    def free(data, params):
        text = """
  not indented
        """
        return {"data": [], "layout": {"title": text}}

    def bound(data, params):
        return factor

    assert run(script_of(free), {}, {}).value["layout"]["title"] == "\n  not indented\n        "
    assert script_of(free).startswith("def transform(data, params):\n    text")
    (found,) = problems(bound)
    assert (found.ctx["line"], found.ctx["text"]) == (2, "return factor")
    assert "'factor' belongs to the function around 'bound'" in found.msg


def test_inner_functions_take_what_is_around_them_inside_the_function() -> None:
    def nested(data, params):
        factor = 2

        def scale(value):
            return factor * value

        return {"data": [], "layout": {"title": str([scale(n) for n in range(3) if n in data])}}

    assert run(script_of(nested), [1, 2], {}).value["layout"]["title"] == "[2, 4]"


def test_a_function_without_a_file_says_so() -> None:
    space: dict[str, Any] = {}
    exec("def draw(data, params):\n    return 1", space)
    (found,) = problems(space["draw"])
    assert "cannot be found" in found.msg


@pytest.fixture
def shell() -> Any:
    shell = InteractiveShell()
    yield shell
    InteractiveShell.clear_instance()


def test_a_function_of_a_notebook_cell(shell: Any) -> None:
    shell.run_cell("import numpy as xp\nBINS = 4\n")
    shell.run_cell("def helper(n):\n    return xp.arange(n)\n")
    done = shell.run_cell("x = 1\n\ndef draw(data, params):\n    return dict(data=[], n=helper(BINS))\n\ndraw")
    text = script_of(done.result)
    assert text == (
        "import numpy as xp\n\nBINS = 4\n\n\ndef helper(n):\n    return xp.arange(n)\n\n\n"
        "def transform(data, params):\n    return dict(data=[], n=helper(BINS))\n"
    )


def test_a_text_that_has_changed_since_is_not_taken(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib
    import linecache

    (tmp_path / "mine_changed.py").write_text("def draw(data, params):\n    return data['one']\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("mine_changed")
    assert "data['one']" in script_of(module.draw)
    (tmp_path / "mine_changed.py").write_text("def draw(data, params):\n    return data['second']\n")
    linecache.checkcache()
    (found,) = problems(module.draw)
    assert "has changed since it was defined" in found.msg
