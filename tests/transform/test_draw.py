"""Scripts: the check, the run, and errors with the script's own line."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import orjson
import plotly.express as px
import plotly.io as pio
import pytest

from workbench.dataset import Samples, pack
from workbench.errors import ScriptError
from workbench.table import Table
from workbench.transform.figure import decode
from workbench.transform.inprocess import draw
from workbench.transform.script import check_script, signature

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "hostile"


def dataset() -> bytes:
    n = 500
    curve = Table.of({"time_s": np.arange(n) * 1.0, "voltage_V": np.linspace(4, 3, n), "current_A": np.ones(n)})
    ids = ["a", "b", "c"]
    cells = {"id": ids, "name": ["A-1", "A-2", "B-1"], "batch": ["A", "A", None], "capacity_Ah": [1.0, 2.0, 3.0]}
    cycles = {"measurement_id": np.repeat(ids, 60), "name": np.repeat(["A-1", "A-2", "B-1"], 60)}
    numbers = {"cycle": np.tile(np.arange(60), 3), "capacity_Ah": np.tile(np.linspace(5, 4, 60), 3)}
    return pack(
        {
            "rows": Table.of({"id": ids, "name": ids, "value": [1.0, 2.0, 3.0]}),
            "curves": {key: Samples(np.arange(n), curve, True, n) for key in ids},
            "cycles": Table.of({**cycles, **numbers}),
            "cells": Table.of(cells),
        }
    )


DATA = dataset()


def script(*body: str, head: str = "") -> str:
    return "\n".join([*head.splitlines(), "def transform(data, params):", *(f"    {line}" for line in body)])


def failure(text: str, params: dict[str, object] | None = None) -> ScriptError:
    with pytest.raises(ScriptError) as caught:
        draw(text, DATA, params or {})
    assert all(problem.loc == ("config", "transform") for problem in caught.value.problems)
    return caught.value


def test_a_script_draws_with_the_names_that_are_there() -> None:
    drawn = draw(
        script(
            "frame = pd.DataFrame({'x': np.arange(3)})",
            "assert list(px.line(frame, x='x').data)",
            "print('cells', len(data['cells']))",
            "return go.Figure(go.Scatter(y=data['rows']['value'], name=params['name']))",
        ),
        DATA,
        {"name": "N"},
    )
    trace = decode(drawn.figure)["data"][0]
    assert (trace["y"].tolist(), trace["name"]) == ([1.0, 2.0, 3.0], "N")
    assert drawn.log == "cells 3\n"


@pytest.mark.parametrize("module", ["math", "re", "datetime", "itertools", "statistics", "json", "scipy.signal"])
def test_modules_there_are(module: str) -> None:
    text = script(
        "import " + module, f"from {module} import __name__ as n", "return {'data': []}", head=f"import {module}"
    )
    assert check_script(text) == []
    draw(text, DATA, {})


@pytest.mark.parametrize(
    "line",
    [
        "from workbench import battery",
        "import workbench.battery",
        "import workbench.battery as b",
        "from workbench.battery import dqdv",
        "from workbench.battery.style import PALETTE",
    ],
)
def test_our_helpers_are_there(line: str) -> None:
    draw(script("return {'data': []}", head=line), DATA, {})


REFUSED = """
import os; import sys; import io; import pathlib; import socket; import subprocess; import ctypes; import pickle
import sqlite3; import importlib; import requests; import polars; import threading; import workbench
from workbench import open; import workbench.store; from . import x; import urllib.request; from os import path
import math, os
"""


@pytest.mark.parametrize("line", REFUSED.strip().replace("\n", "; ").split("; "))
def test_other_modules_are_a_problem_with_its_line(line: str) -> None:
    for text in (script("return {'data': []}", head="\n" + line), script("return {'data': []}") + "\n    " + line):
        found = check_script(text)
        assert len(found) == 1
        assert found[0].loc == ("config", "transform")
        assert found[0].ctx["text"] == line
        assert (
            found[0].ctx["line"]
            == text.splitlines().index(line if line in text.splitlines() else "    " + line) + 1
        )
        assert "scipy" in found[0].msg
        assert failure(text).problems == found


def test_a_misspelt_module_is_named() -> None:
    assert "Did you mean 'numpy'?" in check_script(script("return {}", head="import nunpy"))[0].msg


def test_the_hook_says_the_same_of_imports_that_the_text_hides() -> None:
    error = failure(script("return __import__('os').getcwd()"))
    assert error.problems[0].ctx["line"] == 2
    assert "A script cannot import 'os'." in error.problems[0].msg


@pytest.mark.parametrize("call", ["open('x')", "input()", "breakpoint()", "exit()"])
def test_no_files_and_no_questions(call: str) -> None:
    assert "A script cannot call" in failure(script(call)).problems[0].msg


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\ndef transform(data, params)\n    return 1", 2, "SyntaxError: expected ':'"),
        ("def transform(data, params):\nreturn 1", 2, "IndentationError"),
        ("return 1\ndef transform(data, params):\n    return 1", 1, "'return' outside function"),
        ("x = 1", 1, "does not define a function transform"),
        ("x = 1\ndef transfrom(data, params): return 1", 2, "There is 'transfrom'"),
        ("transform = lambda data, params: 1", 1, "does not define a function"),
        ("def transform(data): return 1", 1, "takes two arguments"),
        ("def transform(data, params, more): return 1", 1, "takes two arguments"),
        ("def transform(data, params, *, more): return 1", 1, "takes two arguments"),
        ("def transform(): return 1", 1, "takes two arguments"),
        ("async def transform(data, params): return 1", 1, "asynchronous"),
        ("def transform(data, params):\n    yield 1", 1, "yields"),
        ("def transform(d, p): return 1\ndef transform(d, p): return 2", 2, "a second time"),
        ("x = 1\na = '\0'", 2, "null bytes"),
        ("", 1, "does not define a function"),
    ],
)
def test_the_shape_of_a_script(text: str, line: int, words: str) -> None:
    found = check_script(text)
    assert len(found) == 1
    assert found[0].ctx == {"line": line, "text": (text.splitlines() or [""])[line - 1].strip()}
    assert words in found[0].msg
    assert failure(text).problems == found


@pytest.mark.parametrize(
    "text",
    [
        "def transform(data, params, more=1): return {'data': []}",
        "def transform(*both): return {'data': []}",
        "def transform(d, p):\n    def inner():\n        yield 1\n    return {'data': [*inner()] and []}",
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
        "def transform(data, params) -> A: return {'data': []}",
    ],
)
def test_shapes_that_are_sound(text: str) -> None:
    assert check_script(text) == []
    draw(text, DATA, {})


@pytest.mark.parametrize(
    "text",
    [
        "-" * 90_000 + "1",
        "not " * 24_000 + "1",
        "a" + ".a" * 40_000,
        "1" + "+1" * 45_000,
        "lambda:" * 14_000 + "1",
    ],
)
def test_what_is_too_deep_to_parse_is_said_to_be(text: str) -> None:
    """Python has no words for some of it."""
    (problem,) = check_script(f"def transform(data, params):\n    return {text}\n")
    assert problem.msg == "Python cannot parse the script: it is nested too deep, or a statement is too long."


@pytest.mark.parametrize("depth", [500, 2000, 3000, 20_000])
def test_deep_expressions_draw_or_are_a_problem(depth: int) -> None:
    text = script(f"x = {'+'.join(['1'] * depth)}", "return {'data': [], 'layout': {'width': x}}")
    if depth > 500 and check_script(text):
        assert "cannot parse the script" in failure(text).problems[0].msg
    else:
        assert draw(text, DATA, {}).figure == b'{"data":[],"layout":{"width":%d}}' % depth


def test_a_script_is_parsed_and_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A locked process draws one figure, so nothing that it read of an earlier script helps it."""
    compiled: list[object] = []

    def counted(source: object, *of: object, **more: object) -> object:
        compiled.append(type(source).__name__)
        return compile(source, *of, **more)  # type: ignore[call-overload]

    monkeypatch.setattr("workbench.transform.script.compile", counted, raising=False)
    monkeypatch.setattr("ast.parse", lambda text, name="": counted(text, name, "exec", 0x400))
    draw(script("return go.Figure()", head="# read once"), DATA, {})
    assert compiled == ["str", "Module"]


def test_imports_are_found_in_every_block() -> None:
    blocks = [
        "if params:\n        import os",
        "for one in params:\n        pass\n    else:\n        import os",
        "try:\n        pass\n    except ValueError:\n        import os",
        "try:\n        pass\n    finally:\n        import os",
        "match params:\n        case 1:\n            import os",
        "with params:\n        import os",
        "def inner():\n        class Own:\n            import os",
    ]
    for block in blocks:
        assert [one.type for one in check_script(script(block, "return go.Figure()"))] == ["script_import"], block


def test_all_problems_at_once() -> None:
    found = check_script("import os\nimport sys\ndef transform(a): pass")
    assert [problem.ctx["line"] for problem in found] == [3, 1, 2]


def test_an_error_has_the_scripts_own_line_and_what_was_printed() -> None:
    error = failure(
        "def helper(x):\n    return 1 / x\ndef transform(data, params):\n    print('so far')\n    return helper(0)"
    )
    (problem,) = error.problems
    assert problem.ctx == {"line": 2, "text": "return 1 / x", "error": "ZeroDivisionError"}
    assert "ZeroDivisionError: division by zero" in problem.msg
    assert error.log == "so far\n"


def test_settings_of_a_notebook_or_another_script_change_no_figure() -> None:
    text = script(
        "print(np.array([1 / 3]), np.array([1.0]) / 0)",
        "return px.scatter(pd.DataFrame({'a': [1, 2]}), x='a', y='a')",
    )
    before = draw(text, DATA, {})
    draw(
        script(
            "px.defaults.template = 'plotly_dark'",
            "px.defaults.labels['a'] = 'A'",
            "np.seterr(all='raise')",
            "np.set_printoptions(precision=2)",
            "return go.Figure()",
        ),
        DATA,
        {},
    )
    assert px.defaults.template is None
    assert np.geterr()["divide"] == "warn"
    assert draw(text, DATA, {}) == before
    px.defaults.color_discrete_sequence = mine = ["red"]
    try:
        with np.errstate(all="raise"), np.printoptions(precision=3):
            assert draw(text, DATA, {}) == before
        assert px.defaults.color_discrete_sequence is mine
    finally:
        px.defaults.reset()


def test_a_step_that_is_not_there_has_one_name_of_an_error() -> None:
    (problem,) = failure(script("return data['nope']")).problems
    assert problem.ctx == {"line": 2, "text": "return data['nope']", "error": "KeyError"}
    assert "KeyError: There is no step 'nope'." in problem.msg


def test_lines_are_counted_as_python_counts_them() -> None:
    (problem,) = failure(script("a = 'one\u2028line\x0c'", "", "return a.nope")).problems
    assert problem.ctx == {"line": 4, "text": "return a.nope", "error": "AttributeError"}


def test_an_error_can_be_sent_whatever_its_words_hold() -> None:
    (problem,) = failure(script("raise ValueError('half a pair: \\ud800')")).problems
    assert "half a pair: ?" in problem.msg
    orjson.dumps(problem.as_detail())


def test_an_error_inside_a_library_is_laid_at_the_line_that_called_it() -> None:
    problem = failure(script("frame = data['cells']", "", "return frame['capacityAh']")).problems[0]
    assert problem.ctx["line"] == 4
    assert "Did you mean 'capacity_Ah'?" in problem.msg


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("return data['cels']", "Did you mean 'cells'"),
        ("return data['curves']['d']", "no source 'd'"),
        ("return params['smoth']", "Did you mean 'smooth'?"),
        ("return go.Figure(go.Scatter(yy=[1]))", "yy"),
        ("raise SystemExit(3)", "SystemExit"),
        ("return transform(data, params)", "RecursionError"),
        ("raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()", "could not be written"),
    ],
)
def test_errors_teach(line: str, words: str) -> None:
    problem = failure(script(line), {"smooth": 1}).problems[0]
    assert words in problem.msg
    assert problem.ctx["line"] == 2
    assert len(problem.msg) < 3000


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        (["if data:", "    return 'figure'", "return 1"], 3, "returned a str"),
        (["return [1,", "        2]"], 2, "returned a list"),
        (["x = 1", "return"], 3, "returned nothing"),
        (["x = 1"], 1, "returned nothing"),
        (["def inner():", "    return 5", "return {'data': [], 'oops': inner()}"], 4, "no 'oops'"),
        (["return {'data': [{'x': {1}}]}"], 2, "data[0].x"),
        (["return {'data': [], 'layout': {'template': 'plotly_wite'}}"], 2, "'plotly_white'"),
    ],
)
def test_what_is_no_figure_shows_the_line_that_returned_it(body: list[str], line: int, words: str) -> None:
    problem = failure(script(*body)).problems[0]
    assert problem.ctx["line"] == line
    assert words in problem.msg


def test_the_log_is_cut_at_64_kb_and_says_so() -> None:
    drawn = draw(script("for _ in range(100): print('é' * 1000)", "print('end')", "return {'data': []}"), DATA, {})
    assert 63_000 < len(drawn.log.encode()) <= 64_000
    assert "cut here" in drawn.log
    assert "end" not in drawn.log


def test_all_that_a_script_prints_or_is_warned_of_is_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = draw(script("data['cells'].info()", "np.array([1.0]) / 0", "return {'data': []}"), DATA, {})
    assert "RangeIndex: 3 entries" in drawn.log
    assert "Line 3: RuntimeWarning: divide by zero" in drawn.log
    assert capsys.readouterr() == ("", "")


def test_what_other_threads_print_is_not_in_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    done = threading.Event()

    def chatter() -> None:
        while not done.wait(0.001):
            print("other", end="")

    thread = threading.Thread(target=chatter)
    thread.start()
    text = script(
        "import time", "for _ in range(50):", "    print('mine')", "    time.sleep(0.001)", "return {'data': []}"
    )
    drawn = draw(text, DATA, {})
    done.set()
    thread.join()
    assert drawn.log == "mine\n" * 50
    assert "mine" not in capsys.readouterr().out


def test_nothing_outside_is_changed() -> None:
    params = {"list": [1], "map": {"a": 1}}
    before = random.getstate(), np.random.get_state()[1].tolist(), list(warnings.filters), sys.stdout
    pio.templates.default = "plotly_dark"
    try:
        text = script(
            "params['list'].append(2); params['map']['b'] = 2; params['new'] = 1",
            "data['cells'].loc[0, 'capacity_Ah'] = 99.0; data['curves']['a']['voltage_V'] *= 2; data.clear()",
            "random.seed(5); np.random.seed(5)",
            "warnings.simplefilter('error'); pio.templates.default = 'ggplot2'",
            "return {'data': []}",
            head="import random, warnings\nimport plotly.io as pio",
        )
        kept = bytes(DATA)
        draw(text, DATA, params)
        assert pio.templates.default == "plotly_dark"
    finally:
        pio.templates.default = "plotly"
    assert params == {"list": [1], "map": {"a": 1}}
    assert kept == DATA
    after = random.getstate(), np.random.get_state()[1].tolist(), list(warnings.filters), sys.stdout
    assert after == before
    assert "__transform__" not in sys.modules


def test_runs_do_not_see_each_other() -> None:
    text = script(
        "global seen", "seen = globals().get('seen', 0) + 1", "return {'data': [], 'layout': {'width': seen}}"
    )
    assert draw(text, DATA, {}).figure == draw(text, DATA, {}).figure == b'{"data":[],"layout":{"width":1}}'


RANDOM = script(
    "frame = data['cycles'].groupby('measurement_id')['capacity_Ah'].mean()",
    "y = [random.random(), *np.random.rand(3), *frame]",
    "return px.scatter(x=y, y=y, color=[str(v) for v in y], template=None)",
    head="import random",
)


def test_the_same_figure_byte_for_byte_also_in_a_process_with_another_hash_seed() -> None:
    here = draw(RANDOM, DATA, {}).figure
    pio.templates.default = "plotly_dark"
    try:
        assert draw(RANDOM, DATA, {}).figure == here
    finally:
        pio.templates.default = "plotly"
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import test_draw as t\n"
        "from workbench.transform.inprocess import draw\n"
        "sys.stdout.buffer.write(draw(t.RANDOM, t.DATA, {}).figure)"
    )
    command = [sys.executable, "-c", program, str(Path(__file__).parent)]
    for seed in ("1", "2"):
        run = subprocess.run(command, capture_output=True, env={"PYTHONHASHSEED": seed, "PATH": ""}, check=True)
        assert run.stdout == here


def test_threads_draw_side_by_side() -> None:
    text = script("print(params['n'])", "return {'data': [], 'layout': {'width': params['n']}}")
    made: dict[int, tuple[bytes, str]] = {}

    def one(n: int) -> None:
        for _ in range(10):
            drawn = draw(text, DATA, {"n": n})
            made[n] = (drawn.figure, drawn.log)

    threads = [threading.Thread(target=one, args=[n]) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == {n: (b'{"data":[],"layout":{"width":%d}}' % n, f"{n}\n") for n in range(6)}


def test_the_versions_are_part_of_a_figures_key() -> None:
    assert [part.split("=")[0] for part in signature().split()] == [
        "battery-workbench",
        "plotly",
        "pandas",
        "numpy",
    ]


def test_the_shared_scripts() -> None:
    files = sorted(HOSTILE.glob("*.py"))
    if not files:
        pytest.skip("the shared folder of scripts is absent")
    for file in files:
        text = file.read_text()
        expected = json.loads(text.splitlines()[2].removeprefix("# expect: "))
        if expected["category"] == "honest":
            first = draw(text, DATA, {}).figure
            assert draw(text, DATA, {}).figure == first, file.name
        elif expected["name"] in ("javascript_link", "script_in_title", "nan_inf"):
            json.loads(draw(text, DATA, {}).figure)
        elif expected["name"] == "not_a_figure":
            assert failure(text).problems[0].ctx["line"] == 5
        elif "\nimport " in text and expected["category"] != "limits":
            assert check_script(text), file.name


RAISING = """
from collections.abc import Mapping

class Own(dict):
    def items(self, *_):
        raise {error}

    get = items

def transform(data, params):
    figure = Own(data=[], layout={{}})
    return {returned}
"""


@pytest.mark.parametrize("error", ["RuntimeError('broken')", "SystemExit(3)", "KeyError('x')", "MemoryError()"])
@pytest.mark.parametrize("returned", ["figure", "{'data': [Own(type='scatter')], 'layout': {}}"])
def test_an_error_while_a_figure_is_written_has_its_line(error: str, returned: str) -> None:
    text = RAISING.format(error=error, returned=returned)
    problem = failure(text).problems[0]
    assert problem.ctx["line"] in (6, 12), problem
    assert error.partition("(")[0] in str(problem.msg)
