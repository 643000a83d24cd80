from __future__ import annotations

import itertools
import multiprocessing
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.record_store import RATINGS, Lab

from workbench.errors import BadRequest, Conflict, Invalid, NotFound
from workbench.records import KINDS, Batch, Measurement
from workbench.store import Scope, Store


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab.at(tmp_path)
    yield made
    made.store.close()


MAKERS: dict[str, Any] = {
    "projects": lambda lab, scope: lab.make("projects", scope),
    "materials": lambda lab, scope: lab.make("materials", scope, project_id=scope.project_id),
    "material_properties": lambda lab, scope: lab.make(
        "material_properties", scope, material_id=MAKERS["materials"](lab, scope).id
    ),
    "specifications": lambda lab, scope: lab.specification(scope=scope),
    "batches": lambda lab, scope: lab.make("batches", scope, specification_id=lab.specification(scope=scope).id),
    "instances": lambda lab, scope: lab.instance(scope=scope),
    "measurements": lambda lab, scope: lab.measurement(scope=scope),
    "analyses": lambda lab, scope: lab.make(
        "analyses", scope, measurement_id=lab.measurement(scope=scope).id, analysis_type="dcir_from_hppc"
    ),
    "models": lambda lab, scope: lab.make("models", scope, config={}, project_id=scope.project_id),
    "simulations": lambda lab, scope: lab.make("simulations", scope),
    "studies": lambda lab, scope: lab.make("studies", scope),
    "drive_cycles": lambda lab, scope: lab.make("drive_cycles", scope, data=[[0, 1], [1, 2.5]]),
    "dashboards": lambda lab, scope: lab.make("dashboards", scope),
    "plots": lambda lab, scope: lab.make(
        "plots", scope, dashboard_id=lab.make("dashboards", scope).id, config={"plan": {}}
    ),
    "raw_data": lambda lab, scope: lab.make("raw_data", scope, filename="a.csv", size=0, piece="0" * 64),
    "sessions": lambda lab, scope: lab.make("sessions", scope),
}


def test_every_kind_but_the_owners_has_a_maker() -> None:
    assert set(MAKERS) == set(KINDS) - {"organizations", "users"}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_record_comes_back_as_it_was_made(lab: Lab, kind: str) -> None:
    made = MAKERS[kind](lab, lab.scope)
    assert lab.rows.get(kind, made.id, lab.scope) == made
    assert made.created_by_email == "local@localhost"
    assert made.id in [item.id for item in lab.rows.page(kind, lab.scope).items]
    assert lab.store.verify() == []


@pytest.mark.parametrize("kind", MAKERS)
def test_foreign_and_unknown_are_one_answer(lab: Lab, kind: str) -> None:
    abroad = lab.another_organization()
    foreign = MAKERS[kind](lab, abroad)
    unknown = "01900000-0000-7000-8000-000000000000"
    for act in (
        lambda id: lab.rows.get(kind, id, lab.scope),
        lambda id: lab.rows.update(kind, id, {"name": "x"}, lab.scope),
        lambda id: lab.rows.delete(kind, id, lab.scope),
        lambda id: lab.rows.find(kind, id, lab.scope),
    ):
        texts = []
        for id in (foreign.id, unknown, "no uuid"):
            with pytest.raises(NotFound) as caught:
                act(id)
            texts.append(str(caught.value).replace(id, "ID"))
        assert len(set(texts)) == 1
    assert foreign.id not in [item.id for item in lab.rows.page(kind, lab.scope).items]
    assert lab.rows.get(kind, foreign.id, abroad) == foreign


@pytest.mark.parametrize("kind", [kind for kind, cls in KINDS.items() if cls.scoping == "project"])
def test_a_record_of_another_project_is_out_of_reach(lab: Lab, kind: str) -> None:
    made = MAKERS[kind](lab, lab.another_project())
    with pytest.raises(NotFound):
        lab.rows.get(kind, made.id, lab.scope)


@pytest.mark.parametrize("kind", ["specifications", "materials", "models", "simulations", "studies"])
def test_a_record_without_project_is_seen_in_every_project(lab: Lab, kind: str) -> None:
    values = {"specifications": {"ratings": RATINGS}, "models": {"config": {}}}.get(kind, {})
    made = lab.make(kind, project_id=None, **values)
    assert lab.rows.get(kind, made.id, lab.another_project()) == made
    assert lab.rows.get(kind, made.id, Scope(lab.scope.organization_id, None)) == made


def test_a_link_out_of_reach_is_not_found(lab: Lab) -> None:
    foreign = lab.specification(scope=lab.another_organization())
    with pytest.raises(NotFound, match="There is no cell specification"):
        lab.instance(foreign)
    with pytest.raises(NotFound, match="There is no model"):
        lab.make("simulations", model_id="nothing")
    with pytest.raises(NotFound, match="There is no project"):
        lab.specification(project_id=lab.another_project().project_id)


def test_a_child_belongs_to_the_project_of_its_parent(lab: Lab) -> None:
    shared = lab.specification(project_id=None)
    elsewhere = lab.another_project()
    here, there = lab.instance(shared, name="c"), lab.instance(shared, name="c", scope=elsewhere)
    assert (here.project_id, there.project_id) == (lab.scope.project_id, elsewhere.project_id)
    assert lab.measurement(here).project_id == lab.scope.project_id
    with pytest.raises(BadRequest, match="same project as its parent"):
        lab.instance(lab.specification(), project_id=None)
    with pytest.raises(BadRequest, match="A cell instance cannot move to another project"):
        lab.rows.update("instances", here.id, {"project_id": None}, lab.scope)


def test_the_article_of_a_kind_is_the_one_that_people_say(lab: Lab) -> None:
    with pytest.raises(Invalid, match="An analysis has no field 'nme' to filter by"):
        lab.rows.page("analyses", lab.scope, where={"nme": "x"})
    with pytest.raises(Invalid, match="A study is not sorted by 'nme'"):
        lab.rows.page("studies", lab.scope, order_by="nme")


def test_what_all_projects_share_points_to_no_single_project(lab: Lab) -> None:
    model = lab.make("models", config={}, project_id=lab.scope.project_id)
    with pytest.raises(BadRequest, match="all projects share"):
        lab.make("simulations", model_id=model.id, project_id=None)


def test_a_system_model_is_open_to_all_and_to_be_seen_only(lab: Lab) -> None:
    model = lab.make("models", config={"a": 1})
    with lab.store.transaction() as db:
        db.execute("UPDATE models SET organization_id = NULL, created_by = NULL")
        db.execute("UPDATE search_entries SET organization_id = NULL WHERE id = ?", [model.id])
    assert lab.rows.get("models", model.id, lab.another_organization()).config == {"a": 1}
    with pytest.raises(BadRequest, match="system"):
        lab.rows.update("models", model.id, {"name": "mine"}, lab.scope)
    with pytest.raises(BadRequest, match="system"):
        lab.rows.delete("models", model.id, lab.scope)


UNIQUE: dict[str, Any] = {
    "specifications": lambda lab: {"ratings": RATINGS},
    "instances": lambda lab: {"specification_id": lab.specification().id},
    "batches": lambda lab: {"specification_id": lab.specification().id},
    "measurements": lambda lab: {"instance_id": lab.instance().id, "measurement_type": "file"},
    "projects": lambda lab: {},
    "dashboards": lambda lab: {},
    "plots": lambda lab: {"dashboard_id": lab.make("dashboards").id, "config": {}},
}


@pytest.mark.parametrize("kind", UNIQUE)
def test_a_name_that_is_taken_names_its_holder(lab: Lab, kind: str) -> None:
    values = UNIQUE[kind](lab)
    first = lab.make(kind, name="Straße", **values)
    other = lab.make(kind, name="other", **values)
    for act in (
        lambda: lab.make(kind, name="Straße", **values),
        lambda: lab.rows.update(kind, other.id, {"name": "Straße"}, lab.scope),
    ):
        with pytest.raises(Conflict) as caught:
            act()
        assert caught.value.existing_id == first.id
    lab.rows.update(kind, first.id, {"name": "Straße"}, lab.scope)
    if kind == "batches":
        with pytest.raises(Conflict):
            lab.make(kind, name="STRASSE", **values)
    else:
        assert lab.make(kind, name="STRASSE", **values).id != first.id


@pytest.mark.parametrize("kind", ["specifications", "instances", "batches", "measurements", "plots"])
def test_a_name_may_be_used_again_elsewhere(lab: Lab, kind: str) -> None:
    first = lab.make(kind, name="same", **UNIQUE[kind](lab))
    scope = lab.another_project() if kind == "specifications" else lab.scope
    assert lab.make(kind, scope, name="same", **UNIQUE[kind](lab)).id != first.id


@pytest.mark.parametrize("kind", ["analyses", "materials", "models", "simulations", "studies"])
def test_other_kinds_may_share_names(lab: Lab, kind: str) -> None:
    for _ in range(2):
        MAKERS[kind](lab, lab.scope)
    first, second = lab.rows.page(kind, lab.scope).items
    assert lab.rows.update(kind, second.id, {"name": first.name}, lab.scope).name == first.name
    with pytest.raises(BadRequest, match="give an id"):
        lab.rows.find(kind, first.name, lab.scope)


def test_a_name_that_several_have_is_answered_with_the_cells_of_each(lab: Lab) -> None:
    tests = [lab.make("measurements", name="RPT", **UNIQUE["measurements"](lab)) for _ in range(2)]
    assert tests[0].instance_name != tests[1].instance_name
    with pytest.raises(BadRequest) as caught:
        lab.rows.find("measurements", "RPT", lab.scope)
    assert all(f"{one.id} (cell '{one.instance_name}')" in str(caught.value) for one in tests)


def test_the_same_content_is_kept_once_in_a_project(lab: Lab) -> None:
    first = lab.measurement(content_hash="ab" * 32)
    with pytest.raises(Conflict) as caught:
        lab.measurement(content_hash="ab" * 32)
    assert caught.value.existing_id == first.id
    assert lab.rows.of_content("ab" * 32, lab.scope) == lab.rows.get(Measurement, first.id, lab.scope)
    elsewhere = lab.another_project()
    assert lab.rows.of_content("ab" * 32, elsewhere) is None
    lab.measurement(scope=elsewhere, content_hash="ab" * 32)


def test_a_drive_cycle_is_kept_once_for_each_content(lab: Lab) -> None:
    first = lab.make("drive_cycles", name="wltp", data=[[0, 1], [1, 2]])
    assert lab.make("drive_cycles", name="wltp", data=[[0.0, 1.0], [1, 2.0]]) == first
    assert lab.make("drive_cycles", name="wltp", data=[[0, 1], [1, 2.5]]).id != first.id
    assert lab.make("drive_cycles", name="ftp", data=[[0, 1], [1, 2]]).id != first.id
    abroad = lab.make("drive_cycles", lab.another_organization(), name="wltp", data=[[0, 1], [1, 2]])
    assert abroad.id != first.id
    assert abroad.content_hash == first.content_hash


@pytest.mark.parametrize("data", [[], [[0]], [[0, 1, 2]], [[0, float("nan")]], [[1, 0], [0, 0]], "abc"])
def test_a_drive_cycle_has_rows_of_time_and_current(lab: Lab, data: Any) -> None:
    with pytest.raises(Invalid):
        lab.make("drive_cycles", data=data)


def test_a_user_has_one_address_however_it_is_written(lab: Lab) -> None:
    made = lab.rows.create("users", {"name": "Ann", "email": "Ann@Lab.org"}, scope=lab.scope)
    assert lab.rows.user("ANN@lab.ORG") == made
    with pytest.raises(Conflict):
        lab.rows.create("users", {"name": "Ann", "email": "ann@lab.org"}, scope=lab.scope)
    with pytest.raises(NotFound):
        lab.rows.user("nobody@lab.org")
    for kind, id in (("users", made.id), ("organizations", lab.scope.organization_id)):
        with pytest.raises(BadRequest, match="cannot be deleted"):
            lab.rows.delete(kind, id, lab.scope)


def test_created_at_rises_strictly_and_ids_stand_in_its_order(lab: Lab) -> None:
    made = [lab.specification() for _ in range(50)]
    times = [record.created_at for record in made]
    assert all(early < late for early, late in itertools.pairwise(times))
    assert [record.id for record in made] == sorted(record.id for record in made)


def test_an_id_that_is_given_is_a_uuid_that_nothing_has(lab: Lab) -> None:
    taken = lab.specification().id
    for wrong, error in ((taken, Conflict), ("x", Invalid), (taken.upper(), Invalid)):
        with pytest.raises(error):
            lab.rows.create("studies", {"name": "s"}, scope=lab.scope, id=wrong)


def test_every_problem_of_a_record_is_said_at_once(lab: Lab) -> None:
    with pytest.raises(Invalid) as caught:
        lab.rows.create(
            "specifications",
            {"name": " ", "ratings": {"capacity": {"value": "5", "unti": "A.h"}}, "propertis": {}, "notes": 3},
            scope=lab.scope,
        )
    places = {problem.loc for problem in caught.value.problems}
    assert {
        ("name",),
        ("ratings", "capacity", "value"),
        ("ratings", "capacity", "unti"),
        ("ratings", "capacity", "unit"),
        ("ratings", "voltage_min"),
        ("ratings", "voltage_max"),
        ("propertis",),
        ("notes",),
    } == places
    assert "Did you mean 'properties'" in str(caught.value)


@pytest.mark.parametrize(
    "values",
    [
        {"start_time": "2026-01-02", "end_time": "2026-01-01"},
        {"start_time": 5},
        {"start_time": "yesterday"},
        {"measurement_type": "timeseries"},
        {"properties": {"a": float("nan")}},
        {"properties": {"a": 2**63}},
        {"properties": {"a": {1, 2}}},
        {"properties": [1]},
        {"name": "a\0b"},
        {"name": "\ud800"},
        {"notes": "\ud800"},
        {"name": "x" * 501},
        {"batch_name": "A"},
        {"id": "x"},
        {"created_at": "2026-01-01"},
        {"organization_id": "x"},
        {"files": [{"filename": "a/b", "piece": "0" * 64, "size": 1}]},
    ],
)
def test_what_a_record_cannot_be_is_refused(lab: Lab, values: dict[str, Any]) -> None:
    instance = lab.instance()
    before = lab.rows.page(Measurement, lab.scope).total
    data = {"name": "m", "instance_id": instance.id, "measurement_type": "properties", **values}
    with pytest.raises(Invalid) as caught:
        lab.rows.create("measurements", data, scope=lab.scope)
    assert caught.value.problems
    assert lab.rows.page(Measurement, lab.scope).total == before


def test_times_are_utc_and_dates_stay_dates(lab: Lab) -> None:
    made = lab.measurement(start_time="2026-01-31T13:00:00+01:00", end_time=datetime(2026, 2, 1))
    assert made.start_time == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert made.end_time == datetime(2026, 2, 1, tzinfo=UTC)
    assert made.wire()["start_time"] == "2026-01-31T12:00:00.000000Z"
    cell = lab.instance(date_manufactured="2025-12-31")
    assert cell.wire()["date_manufactured"] == "2025-12-31"


def test_json_keeps_its_types_and_order(lab: Lab) -> None:
    given = {"z": 5, "a": 5.0, "t": True, "n": None, "deep": {"é": ["x", 1, -0.0]}}
    kept = lab.measurement(properties=given).properties
    assert repr(kept) == repr(given)


def test_update_changes_what_is_named_and_nothing_else(lab: Lab) -> None:
    made = lab.measurement(notes="old", properties={"a": 1})
    before = lab.store.revisions(["measurements"])
    assert lab.rows.update("measurements", made.id, {"notes": "old"}, lab.scope) == made
    assert lab.store.revisions(["measurements"]) == before
    changed = lab.rows.update("measurements", made.id, {"notes": None}, lab.scope)
    assert changed == made.model_copy(update={"notes": None, "updated_at": changed.updated_at})
    assert changed.updated_at > made.updated_at
    assert lab.store.revisions(["measurements"]) != before


def test_a_batch_of_another_specification_is_refused(lab: Lab) -> None:
    batch = lab.make("batches", specification_id=lab.specification().id)
    cell = lab.instance()
    with pytest.raises(BadRequest, match="another cell specification"):
        lab.rows.update("instances", cell.id, {"batch_id": batch.id}, lab.scope)
    own = lab.make("batches", specification_id=cell.specification_id, name="Own")
    inside = lab.rows.update("instances", cell.id, {"batch_id": own.id}, lab.scope)
    assert inside.batch_name == "Own"
    assert lab.rows.get("batches", own.id, lab.scope).instance_count == 1
    assert lab.rows.update("instances", cell.id, {"batch_id": None}, lab.scope).batch_name is None


def test_a_moved_batch_takes_its_cells_nowhere(lab: Lab) -> None:
    specification = lab.specification()
    batch = lab.make("batches", specification_id=specification.id)
    lab.instance(specification, batch_id=batch.id)
    with pytest.raises(BadRequest, match="cells"):
        lab.rows.update("batches", batch.id, {"specification_id": lab.specification().id}, lab.scope)


def test_deleting_takes_along_what_cannot_be_without(lab: Lab) -> None:
    specification = lab.specification()
    batch = lab.make("batches", specification_id=specification.id)
    cell = lab.instance(specification, batch_id=batch.id)
    measurement = lab.measurement(cell)
    analysis = lab.make("analyses", measurement_id=measurement.id, analysis_type="x")
    study = lab.make("studies")
    lab.rows.assign(study.id, "measurements", measurement.id, lab.scope)
    cut = lab.make("drive_cycles", data=[[0, 1]], measurement_id=measurement.id)
    simulation = lab.make("simulations", specification_id=specification.id)
    tables = ["specifications", "batches", "instances", "measurements", "analyses", "studies", "simulations"]
    before = lab.store.revisions(tables)
    gone = lab.rows.delete("specifications", specification.id, lab.scope)
    assert gone == {"specifications": 1, "batches": 1, "instances": 1, "measurements": 1, "analyses": 1}
    after = lab.store.revisions(tables)
    assert all(after[key] != before[key] for key in before)
    assert lab.rows.get("drive_cycles", cut.id, lab.scope).measurement_id is None
    assert lab.rows.get("simulations", simulation.id, lab.scope).specification_id is None
    assert lab.rows.get("studies", study.id, lab.scope).measurement_count == 0
    for kind, record in (("batches", batch), ("measurements", measurement), ("analyses", analysis)):
        with pytest.raises(NotFound):
            lab.rows.get(kind, record.id, lab.scope)
    assert lab.store.verify() == []


def test_deleting_a_batch_deletes_no_cell(lab: Lab) -> None:
    specification = lab.specification()
    batch = lab.make("batches", specification_id=specification.id)
    cell = lab.instance(specification, batch_id=batch.id)
    assert lab.rows.delete(Batch, batch.id, lab.scope) == {"batches": 1}
    assert lab.rows.get("instances", cell.id, lab.scope).batch_id is None


def test_deleting_a_project_leaves_what_all_share(lab: Lab) -> None:
    scope = lab.another_project()
    material = lab.make("materials", scope)
    lab.measurement(scope=scope)
    board = lab.make("dashboards", scope)
    lab.store.plots.save(board.id, "p", {}, scope)
    lab.rows.delete("projects", scope.project_id, lab.scope)
    assert lab.rows.get("materials", material.id, lab.scope) == material
    assert lab.store.verify() == []


def test_one_of_many_reasons_leaves_nothing_behind(lab: Lab) -> None:
    lab.make("batches", name="A", specification_id=lab.specification(name="S").id)
    before = lab.store.revisions(["batches", "specifications"])

    def both() -> None:
        with lab.store.transaction():
            lab.specification(name="T")
            lab.specification(name="S")

    with pytest.raises(Conflict):
        both()
    with pytest.raises(NotFound):
        lab.rows.find("specifications", "T", lab.scope)
    assert lab.store.revisions(["batches", "specifications"]) == before


class TestTags:
    def test_are_trimmed_one_spelling_each_and_sorted(self, lab: Lab) -> None:
        assert lab.measurement(tags=[" rpt ", "Ageing", "RPT", "äh", "Zyklus"]).tags == [
            "Ageing",
            "rpt",
            "Zyklus",
            "äh",
        ]

    def test_keep_the_spelling_that_the_project_knows(self, lab: Lab) -> None:
        lab.measurement(tags=["RPT"])
        assert lab.measurement(tags=["rpt", "new"]).tags == ["new", "RPT"]
        assert lab.measurement(scope=lab.another_project(), tags=["rpt"]).tags == ["rpt"]

    def test_may_be_spelled_anew_by_the_only_one_that_has_them(self, lab: Lab) -> None:
        made = lab.measurement(tags=["RPT"])
        assert lab.rows.update("measurements", made.id, {"tags": ["rpt"]}, lab.scope).tags == ["rpt"]

    @pytest.mark.parametrize(
        "tags", [[""], ["  "], ["x" * 51], [3], [None], "rpt", None, [f"t{n}" for n in range(51)], ["\ud800"]]
    )
    def test_that_are_none_are_a_bad_request(self, lab: Lab, tags: Any) -> None:
        with pytest.raises(BadRequest):
            lab.measurement(tags=tags)

    def test_at_the_bound_are_kept(self, lab: Lab) -> None:
        tags = [f"{n:02}".ljust(50, "x") for n in range(50)]
        assert lab.measurement(tags=[*tags, tags[0].upper()]).tags == tags


class TestPages:
    def test_never_overlap_and_know_the_total(self, lab: Lab) -> None:
        specification = lab.specification()
        made = [lab.instance(specification) for _ in range(7)]
        found = []
        for offset in range(0, 9, 3):
            page = lab.rows.page("instances", lab.scope, limit=3, offset=offset, order_by="updated_at")
            assert (page.total, page.count) == (7, len(page.items))
            found += [item.id for item in page.items]
        assert found == [item.id for item in made]
        assert lab.rows.page("instances", lab.scope, offset=9).total == 7
        backwards = lab.rows.page("instances", lab.scope, order="desc")
        assert [item.id for item in backwards.items] == found[::-1]

    def test_are_narrowed_by_comparisons(self, lab: Lab) -> None:
        first = lab.measurement(name="Zell %_Ä", tags=["a", "b"], start_time="2026-01-01")
        second = lab.measurement(name="zell", tags=["A"], start_time="2026-01-03")

        def found(**where: Any) -> list[str]:
            return [item.id for item in lab.rows.page(Measurement, lab.scope, where=where).items]

        assert found(name={"contains": "%_ä"}) == [first.id]
        assert found(name={"contains": "ZELL"}) == [first.id, second.id]
        assert found(name="zell") == [second.id]
        assert found(created_by_email={"contains": "LOCAL@"}) == [first.id, second.id]
        assert found(start_time={"gt": "2026-01-01T00:00:00Z"}) == [second.id]
        assert found(start_time={"gte": "2026-01-01T00:00:00Z", "lt": datetime(2026, 1, 2, tzinfo=UTC)}) == [
            first.id
        ]
        assert found(tags={"all": ["A", "B"]}) == [first.id]
        assert found(tags={"any": ["b", "a"]}) == [first.id, second.id]
        assert found(tags={"any": []}) == []
        assert found(end_time=None) == [first.id, second.id]
        assert found(instance_id={"in": [second.instance_id, 3]}) == [second.id]
        assert found(specification_id=first.specification_id) == [first.id]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"order_by": "notes"},
            {"order": "up"},
            {"limit": -1},
            {"offset": -1},
            {"where": {"nam": "x"}},
            {"where": {"properties": "x"}},
            {"where": {"name": 5}},
            {"where": {"name": {"like": "x"}}},
            {"where": {"start_time": {"gt": "soon"}}},
            {"where": {"tags": {"none": ["x"]}}},
            {"where": {"sample_count": {"gt": True}}},
        ],
    )
    def test_that_cannot_be_are_refused(self, lab: Lab, wrong: dict[str, Any]) -> None:
        with pytest.raises(Invalid):
            lab.rows.page(Measurement, lab.scope, **wrong)


class TestFind:
    def test_takes_a_record_an_id_or_an_exact_name(self, lab: Lab) -> None:
        made = lab.specification(name="LG M50")
        for ref in (made, made.id, "LG M50"):
            assert lab.rows.find("specifications", ref, lab.scope) == made
        with pytest.raises(NotFound, match="'LG M50'"):
            lab.rows.find("specifications", "lg m5", lab.scope)
        with pytest.raises(BadRequest):
            lab.rows.find("specifications", 5, lab.scope)

    def test_says_that_a_name_is_not_enough(self, lab: Lab) -> None:
        first, second = lab.instance(name="c"), lab.instance(name="c")
        with pytest.raises(BadRequest, match=first.id):
            lab.rows.find("instances", "c", lab.scope)
        where = {"specification_id": second.specification_id}
        assert lab.rows.find("instances", "c", lab.scope, where=where) == second


def _write(path: str, start: Any, name: str, results: Any) -> None:
    with Store.open(path) as store:
        (organization,) = store.rows.organizations()
        project = store.rows.find("projects", "Default", Scope(organization.id, None))
        scope = Scope(organization.id, project.id)
        start.wait()
        for n in range(40):
            data = {"name": f"{name} {n}", "ratings": RATINGS}
            store.rows.create("specifications", data, scope=scope)
            try:
                store.rows.create("specifications", {"name": f"same {n}", "ratings": RATINGS}, scope=scope)
                results.put(n)
            except Conflict:
                results.put(None)


def test_two_processes_write_at_once(lab: Lab) -> None:
    context = multiprocessing.get_context("spawn")
    start, results = context.Barrier(2), context.Queue()
    path = str(lab.store.path)
    writers = [context.Process(target=_write, args=(path, start, name, results)) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    won = [results.get(timeout=60) for _ in range(80)]
    for writer in writers:
        writer.join()
    assert sorted(n for n in won if n is not None) == list(range(40))
    items = lab.rows.page("specifications", lab.scope, limit=None).items
    assert len(items) == 120
    assert len({item.created_at for item in items}) == 120
    assert [item.id for item in items] == sorted(item.id for item in items)
    assert lab.store.verify() == []


def test_verify_names_what_is_wrong(lab: Lab) -> None:
    cell, plot = lab.instance(), MAKERS["plots"](lab, lab.scope)
    elsewhere = lab.specification(scope=lab.another_project())
    with lab.store.transaction() as db:
        db.execute("UPDATE instances SET specification_id = ? WHERE id = ?", [elsewhere.id, cell.id])
        db.execute("UPDATE plots SET revision = 2 WHERE id = ?", [plot.id])
        db.execute("UPDATE specifications SET ratings = '{}' WHERE id = ?", [elsewhere.id])
        db.execute("UPDATE dashboards SET name = 'secret'")
    findings = "\n".join(lab.store.verify())
    for part in (cell.id, plot.id, elsewhere.id, "search does not know the dashboard"):
        assert part in findings
