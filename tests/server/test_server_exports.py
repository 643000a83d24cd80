"""Plots as files over HTTP: each opens, is named after its plot, and gives its passport back."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

import nbformat
import pytest
from support.full_organization import World, make
from support.needs import chromium
from support.server_in_process import Lab

from workbench.passport import Passport, passport_in, passports_in, why_changed
from workbench.recipe.recipe import Recipe

RECIPE: dict[str, Any] = {
    "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
    "transform": (
        "def transform(data, params):\n    return {'data': [{'y': [len(data['cells'])] * params['n']}], 'layout': {}}\n"
    ),
    "params": {"n": {"kind": "view", "default": 3, "control": {"min": 1, "max": 9}}},
}


@pytest.fixture
def path(served: Lab) -> str:
    world: World = make(served, served.admin, "OURS")
    place = f"/projects/{world.ids['project_id']}/dashboards/{world.ids['dashboard_id']}/plots"
    made = served.json("POST", place, json={"name": 'Fade: "Ä"/<b>', "config": RECIPE})
    return f"{place}/{made['id']}"


def passport(served: Lab, path: str, **params: Any) -> Passport:
    answer = served.call("GET", f"{path}/export", params=params)
    assert answer.status_code == 200, answer.text
    found = passport_in(answer.content)
    assert found is not None
    return found


def test_every_format_has_the_same_passport_and_the_name_of_the_plot(served: Lab, path: str) -> None:
    said = {}
    for format in ("html", "parquet", "ipynb", "csv.json"):
        answer = served.call("GET", f"{path}/export", params={"format": format, "values": '{"n": 4}'})
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-disposition"].startswith(
            "attachment; filename*=UTF-8''Fade%20%C3%84%20b%20"
        )
        assert answer.headers["content-disposition"].endswith(f".{format}")
        said[format] = passport(served, path, format=format, values='{"n": 4}')
    first = said["html"]
    assert first.values == {"n": 4}
    assert first.plot is not None
    assert path.endswith(first.plot.id)
    assert first.made_by == served.admin.user_id
    assert all(why_changed(first, one) == () for one in said.values())
    assert why_changed(first, passport(served, path)).kinds == ["values"]


def test_json_and_csv_are_the_figure_and_its_values(served: Lab, path: str) -> None:
    figure = served.json("GET", f"{path}/figure")["figure"]
    assert served.call("GET", f"{path}/export", params={"format": "json"}).json() == figure
    table = served.call("GET", f"{path}/export", params={"format": "csv"}).text
    assert table.splitlines()[0] == "trace,name,x,y"
    assert len(table.splitlines()) == 4


def test_a_picture_is_drawn_by_the_server(served: Lab, path: str) -> None:
    chromium()
    assert passport(served, path, format="png").values == {"n": 3}


def test_a_notebook_opens_the_server_without_a_key_in_it_and_an_untrusted_script(served: Lab, path: str) -> None:
    book = served.call("GET", f"{path}/export", params={"format": "ipynb"}).json()
    cells = ["".join(cell["source"]) for cell in book["cells"]]
    assert "bench = wb.connect('http://localhost', os.environ['WORKBENCH_API_KEY']" in cells[1]
    assert served.admin.key not in json.dumps(book)
    scope: dict[str, str] = {}
    exec(cells[3], scope)
    assert Recipe({**RECIPE, "transform": scope["transform"]}).foreign


def test_the_recipe_may_be_left_out_and_an_older_revision_taken(served: Lab, path: str) -> None:
    found = passport(served, path, with_recipe="false")
    assert found.recipe is None
    served.json(
        "PATCH", path, json={"revision": 1, "config": {**RECIPE, "params": {"n": {"kind": "view", "default": 2}}}}
    )
    old, new = passport(served, path, revision=1), passport(served, path)
    assert (old.plot and old.plot.revision, new.plot and new.plot.revision) == (1, 2)
    assert why_changed(old, new).kinds == ["params", "values"]


def test_a_viewer_may_export_and_an_unknown_format_is_refused(served: Lab, path: str) -> None:
    viewer = served.person("viewer@lab", everywhere="project-viewer")
    assert served.call("GET", f"{path}/export", viewer).status_code == 200
    assert served.call("GET", f"{path}/export", params={"format": "exe"}).status_code == 422


def test_a_dashboard_is_one_file_with_every_figure_and_every_problem(served: Lab, path: str) -> None:
    board, _, plot = path.rpartition("/plots/")
    broken = {**RECIPE, "transform": "def transform(data, params):\n    raise ValueError('<b>no')\n"}
    served.json("POST", f"{board}/plots", json={"name": "Broken", "config": broken})
    values = json.dumps({plot: {"n": 7}})
    page = served.call("GET", f"{board}/export", params={"values": values})
    assert page.status_code == 200, page.text
    assert "&lt;b&gt;no" in page.text
    assert "http://" not in page.text.partition("<body>")[2]
    found = passports_in(page.content)
    assert len(found) == 2  # one more plot is on the dashboard, and the broken one has none
    mine = next(one for one in found if one.plot and one.plot.id == plot)
    assert mine.values == {"n": 7}
    book = served.call("GET", f"{board}/export", params={"format": "ipynb", "values": values})
    nbformat.validate(nbformat.reads(book.text, 4))
    assert why_changed(mine, next(one for one in passports_in(book.content) if one.plot == mine.plot)) == ()
    packed = served.call("GET", f"{board}/export", params={"format": "zip", "values": values})
    with zipfile.ZipFile(io.BytesIO(packed.content)) as files:
        names = files.namelist()
        inside = {name: files.read(name) for name in names}
    (table,) = (name for name in names if name.endswith(".csv") and "Fade" in name)
    said = passport_in(inside[f"{table}.json"])
    assert said is not None
    assert why_changed(mine, said) == ()
    assert json.loads(inside[f"{table}.json"])["sha256"] == hashlib.sha256(inside[table]).hexdigest()
    assert any(name.endswith("Broken.txt") and b"no" in inside[name] for name in names)
    assert all("/" not in name and "<" not in name for name in names)
    for wrong in ('{"none": {}}', '{"' + plot + '": {"n": 99}}'):
        answer = served.call("GET", f"{board}/export", params={"values": wrong})
        assert answer.status_code == 422 or "99" in answer.text
