"""Names with accents: one sign for a letter and its accent, or two, as macOS writes them, are one name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.record_store import Lab

import workbench as wb
from workbench.errors import Conflict
from workbench.records import Measurement
from workbench.store.db import checksums
from workbench.store.records.search import index, search

ONE, TWO = (unicodedata.normalize(form, "Zelle-ä") for form in ("NFC", "NFD"))
BOTH = pytest.mark.parametrize("typed", [ONE, TWO])


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab.at(tmp_path)
    yield made
    made.store.close()


def older(lab: Lab, record: Any, name: str) -> None:
    """Give a record a name as an older version kept it."""
    with lab.store.transaction() as db:
        folded = name.casefold()
        db.execute(
            f'UPDATE "{record.table}" SET name = ?, name_folded = ? WHERE id = ?', [name, folded, record.id]
        )
        index(db, record.model_copy(update={"name": name}))
        checksums.update(db, record.table, [record.id])
        lab.store.bump(db, record.table)


def hits(lab: Lab, text: str) -> list[str]:
    return [hit.id for hit in search(lab.store, text, lab.scope).results]


@BOTH
@pytest.mark.parametrize("kept", [ONE, TWO])
@pytest.mark.parametrize("is_older", [False, True])
def test_a_name_is_found_in_either_form(lab: Lab, kept: str, typed: str, is_older: bool) -> None:
    cell = lab.instance(name="plain" if is_older else kept)
    if is_older:
        older(lab, cell, kept)
    lab.instance(name="another")
    assert lab.rows.find("instances", typed, lab.scope).id == cell.id
    for where in ({"name": typed}, {"name": {"contains": typed.upper()}}, {"name": {"in": [typed]}}):
        assert [one.id for one in lab.rows.page("instances", lab.scope, where=where).items] == [cell.id]
    (other,) = lab.rows.page("instances", lab.scope, where={"name": {"ne": typed}}).items
    assert other.name == "another"
    for text in (typed, typed.removeprefix("Zelle"), typed.upper()):
        assert hits(lab, text) == hits(lab, text) == [cell.id]
    for key in ("name", "nameContains"):
        listed = lab.rows.plan_list("instances", lab.scope, {key: typed}, ["id"], 10)
        assert listed.table.records() == [{"id": cell.id}]
    assert lab.store.verify() == []


@BOTH
@pytest.mark.parametrize("kept", [ONE, TWO])
@pytest.mark.parametrize("is_older", [False, True])
@pytest.mark.parametrize("kind", ["specifications", "batches", "dashboards"])
def test_a_name_is_taken_in_either_form(lab: Lab, kind: str, kept: str, typed: str, is_older: bool) -> None:
    given: dict[str, Any] = {}
    if kind == "batches":
        given = {"specification_id": lab.specification().id}
    if kind == "specifications":
        made = lab.specification(name="plain" if is_older else kept)
        given = {"ratings": made.ratings.model_dump(exclude_none=True)}
    else:
        made = lab.make(kind, name="plain" if is_older else kept, **given)
    if is_older:
        older(lab, made, kept)
    with pytest.raises(Conflict) as caught:
        lab.rows.create(kind, {"name": typed, **given}, scope=lab.scope)
    assert caught.value.existing_id == made.id


def test_a_store_that_has_both_goes_on_with_both(lab: Lab) -> None:
    first, second = (lab.make("dashboards", name=name) for name in (ONE, "plain"))
    older(lab, second, TWO)
    assert lab.store.verify() == []
    changed = lab.rows.update("dashboards", second.id, {"description": "x", "name": TWO}, lab.scope)
    assert changed.name == TWO
    assert lab.rows.update("dashboards", first.id, {"description": "y"}, lab.scope).name == ONE
    assert set(hits(lab, ONE)) == set(hits(lab, TWO)) == {first.id, second.id}
    with pytest.raises(Conflict):
        lab.make("dashboards", name=ONE)


@BOTH
def test_tags_are_one_in_either_form(lab: Lab, typed: str) -> None:
    tests = [lab.measurement(tags=[name]) for name in (ONE, TWO)]
    assert [one.tags for one in tests] == [[ONE], [ONE]]
    found = lab.rows.page(Measurement, lab.scope, where={"tags": {"all": [typed]}}).items
    assert [one.id for one in found] == [one.id for one in tests]
    found = lab.rows.page(Measurement, lab.scope, where={"anywhere": typed}).items
    assert [one.id for one in found] == [one.id for one in tests]


@BOTH
def test_plots_and_projects_are_found_in_either_form(tmp_path: Path, typed: str) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        bench.projects.create(name=TWO)
        assert bench.project(typed).projects.list()["name"].tolist() == ["Default", ONE]
        board = bench.dashboards.create(bench.projects.list()["id"][0], ONE)
        assert bench.dashboards.get(typed).id == board.id


def test_blanks_around_a_name_are_no_part_of_it_unless_an_older_version_kept_them(lab: Lab) -> None:
    specification = lab.specification()
    old = lab.instance(name="old", specification=specification)
    older(lab, old, " old ")
    assert lab.rows.find("instances", " old ", lab.scope).id == old.id
    assert lab.rows.update("instances", old.id, {"name": " old ", "notes": "x"}, lab.scope).name == " old "
    new = lab.instance(name="\u00a0new ", specification=specification)
    assert (new.name, lab.rows.find("instances", " new ", lab.scope).id) == ("new", new.id)
    with pytest.raises(Conflict, match="'new'"):
        lab.rows.update("instances", old.id, {"name": "new "}, lab.scope)
    beside = lab.instance(name="old ", specification=specification)
    assert [lab.rows.find("instances", name, lab.scope).id for name in ("old", " old ")] == [beside.id, old.id]
    assert lab.store.verify() == []
