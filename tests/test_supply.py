"""What is installed: locked with hashes, without known holes, without a notebook server, and listed in a bill."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools import audit, bill_of_materials
from tools.lock_file import BUILD, EXTRAS, LOCK, locked

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGES = locked(LOCK.read_text("utf-8"))


def test_the_list_of_holes_is_whole() -> None:
    listed = audit.known()
    assert isinstance(listed["checked"], date)
    for entry in listed["advisory"]:
        assert Version(entry["fixed"])
        assert entry["ids"]
        assert entry["what"]
        assert entry["source"].startswith("https://")
        assert entry["seen"] <= listed["checked"]
    for left in listed["open"]:
        assert left["here"]
        assert left["seen"] <= listed["checked"]


def test_nothing_that_is_allowed_locked_or_installed_has_a_known_hole() -> None:
    assert audit.holes(audit.known()["advisory"]) == []
    declared = dict(audit.floors())
    assert {"starlette", "orjson", "python-multipart", "h11", "pyarrow", "jupyterlab", "jupyter-server"} <= set(
        declared
    )


@pytest.mark.parametrize(
    "where", ["the lowest version in pyproject.toml", "requirements/server.txt", "installed here"]
)
def test_a_hole_is_found_wherever_it_is(where: str) -> None:
    entry: audit.Entry = {**audit.known()["advisory"][0], "package": "Starlette", "fixed": "999"}
    found = [one for one in audit.holes([entry]) if one.where == where]
    assert len(found) == 1
    assert re.search(r"starlette \S+ has CVE-\S+", str(found[0]))


def test_the_lock_has_all_that_the_image_needs_and_no_notebook_server() -> None:
    by_name = {canonicalize_name(one.name): [] for one in PACKAGES}
    for one in PACKAGES:
        by_name[canonicalize_name(one.name)].append(one)
        assert one.hashes
        assert one.where is None or Marker(one.where)
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    assert {"neware", "postgres", "object"} <= set(EXTRAS)
    assert "psycopg-binary" in by_name, "the image has no libpq of its own"
    for requirement in map(Requirement, wanted):
        versions = [one.version for one in by_name[canonicalize_name(requirement.name)]]
        assert versions
        assert all(requirement.specifier.contains(version) for version in versions), requirement
    assert not {"jupyterlab", "jupyter-server", "notebook", "tornado", "nbconvert", "h5py"} & set(by_name)


def test_the_image_installs_the_locks_and_nothing_else() -> None:
    text = (ROOT / "Containerfile").read_text("utf-8").replace("\\\n", " ")
    installs = re.findall(r"pip (?:install|wheel) ([^&\n]+)", text)
    assert len(installs) == 4
    for words in installs:
        assert "--require-hashes -r" in words or "--no-deps" in words, words
        assert "--no-build-isolation" in words or "--no-index" in words or "--require-hashes" in words
    assert {one.name for one in locked(BUILD.read_text("utf-8"))} >= {"hatchling"}
    assert "--extra" not in text


def test_a_lock_without_a_hash_or_with_another_line_is_refused() -> None:
    with pytest.raises(ValueError, match="no hash: a"):
        locked("a==1 \\\n")
    with pytest.raises(ValueError, match="not a line"):
        locked("-e .\n")


def test_the_bill_lists_the_lock_and_who_asks_for_whom() -> None:
    made = json.loads(json.dumps(bill_of_materials.bill(PACKAGES)))
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.6")
    assert [(one["name"], one["version"]) for one in made["components"]] == [
        (one.name, one.version) for one in PACKAGES
    ]
    references = [one["bom-ref"] for one in [made["metadata"]["component"], *made["components"]]]
    assert len(set(references)) == len(references)
    asked = {one["ref"]: one["dependsOn"] for one in made["dependencies"]}
    assert set(asked) == set(references)
    reached, left = set(), [made["metadata"]["component"]["bom-ref"]]
    while left:
        reference = left.pop()
        if reference not in reached:
            reached.add(reference)
            left += asked[reference]
    assert reached == set(references), "a package that nobody asks for"
