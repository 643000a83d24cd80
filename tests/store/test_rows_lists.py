from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.record_store import RATINGS, Lab, quantity

from workbench.errors import Invalid
from workbench.recipe.filters import APPLIES, CLOSED, LISTS
from workbench.records import SOURCES
from workbench.store import Scope

ALL = ["id", "name", "notes", "project_id", "created_at", "updated_at", "created_by_email"]
CELL = ["instance_id", "instance_name", "specification_id", "specification_name", "batch_id", "batch_name"]
COLUMNS = {
    "cellSpecifications": [
        "form_factor",
        "manufacturer",
        *(
            f"ratings.{member}.{part}"
            for member in (
                "capacity",
                "voltage_min",
                "voltage_max",
                "nominal_voltage",
                "energy",
                "energy_density_gravimetric",
                "energy_density_volumetric",
                "max_discharge_rate",
                "max_charge_rate",
            )
            for part in ("value", "unit")
        ),
    ],
    "instances": ["specification_id", "specification_name", "batch_id", "batch_name", "date_manufactured"],
    "measurements": [
        *CELL,
        *("measurement_type", "start_time", "end_time", "processing_status", "tags"),
        *("sample_count", "step_count", "cycle_count", "kinds"),
    ],
    "analyses": ["measurement_id", "measurement_name", *CELL, "analysis_type"],
    "materials": ["manufacturer", "product_id"],
    "materialProperties": ["material_id", "material_name", "data_version"],
    "simulations": ["model_id", "model_name", "specification_id", "specification_name", "state"],
}
OPEN = {
    "cellSpecifications": ["properties", "source"],
    "instances": ["properties"],
    "measurements": ["properties", "protocol", "test_setup"],
    "analyses": ["metadata"],
    "materials": [],
    "materialProperties": [],
    "simulations": [],
}


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab.at(tmp_path)
    yield made
    made.store.close()


def refused(lab: Lab, source: str, **asked: Any) -> tuple[tuple[Any, ...], str]:
    with pytest.raises(Invalid) as caught:
        lab.list(source, **asked)
    (problem,) = caught.value.problems
    return problem.loc, problem.msg


def row(lab: Lab, source: str, **asked: Any) -> dict[str, Any]:
    (found,) = lab.list(source, **asked).table.records()
    return dict(found)


class TestColumns:
    @pytest.mark.parametrize("source", SOURCES)
    def test_stand_in_their_order_also_without_rows(self, lab: Lab, source: str) -> None:
        table = lab.list(source).table
        assert table.names == ALL + COLUMNS[source]
        assert table.n == 0
        assert {name: column.kind for name, column in table.items()} == {
            name: kind for name, kind in lab.rows.columns(source, lab.scope).items() if name in table
        }

    @pytest.mark.parametrize("source", SOURCES)
    def test_open_objects_are_those_of_the_recipe(self, source: str) -> None:
        assert [member.name for member in SOURCES[source].members().values() if member.open] == OPEN[source]

    def test_kinds_are_those_of_the_declaration(self, lab: Lab) -> None:
        kinds = lab.rows.columns("measurements", lab.scope)
        assert kinds["created_at"] == kinds["end_time"] == "datetime"
        assert kinds["sample_count"] == "integer"
        assert kinds["tags"] == kinds["notes"] == "text"
        assert lab.rows.columns("instances", lab.scope)["date_manufactured"] == "text"
        assert lab.rows.columns("cellSpecifications", lab.scope)["ratings.energy.value"] == "number"
        assert lab.rows.columns("materialProperties", lab.scope)["data_version"] == "integer"

    def test_names_behind_keys_come_along(self, lab: Lab) -> None:
        specification = lab.specification(name="S")
        batch = lab.make("batches", name="B", specification_id=specification.id)
        cell = lab.instance(specification, name="C", batch_id=batch.id, date_manufactured="2026-02-03")
        measurement = lab.measurement(
            cell, name="M", tags=["b", "a"], start_time="2026-01-31T12:00:00.5Z", notes="n"
        )
        analysis = lab.make("analyses", measurement_id=measurement.id, analysis_type="dcir")
        found = row(lab, "analyses")
        assert found["id"] == analysis.id
        assert [found[name] for name in COLUMNS["analyses"]] == [
            *(measurement.id, "M", cell.id, "C", specification.id, "S", batch.id, "B", "dcir")
        ]
        found = row(lab, "measurements")
        assert found["tags"] == "a, b"
        assert found["start_time"] == datetime(2026, 1, 31, 12, 0, 0, 500000, tzinfo=UTC)
        assert found["end_time"] is None
        assert found["created_by_email"] == "local@localhost"
        assert row(lab, "instances")["date_manufactured"] == "2026-02-03"
        lab.rows.update("specifications", specification.id, {"name": "T"}, lab.scope)
        assert row(lab, "analyses")["specification_name"] == "T"

    def test_no_tags_are_the_empty_text(self, lab: Lab) -> None:
        lab.measurement()
        assert row(lab, "measurements", fields=["tags"]) == {"tags": ""}

    def test_ratings_are_numbers_and_units(self, lab: Lab) -> None:
        lab.specification()
        asked = ["ratings.capacity.value", "ratings.capacity.unit", "ratings.energy.value"]
        assert repr(row(lab, "cellSpecifications", fields=asked)) == repr(
            dict(zip(asked, (5.0, "A.h", None), strict=True))
        )

    def test_stand_in_the_order_of_fields_and_count_once(self, lab: Lab) -> None:
        lab.measurement(name="M")
        assert lab.list("measurements", fields=["tags", "name", "tags"]).table.names == ["tags", "name"]
        assert lab.list("measurements", fields=[]).table.names == ["id"]
        assert row(lab, "measurements", fields=["organization_id", "content_hash"]) == {
            "organization_id": lab.scope.organization_id,
            "content_hash": None,
        }


class TestDottedNames:
    def test_reach_into_open_objects(self, lab: Lab) -> None:
        lab.measurement(properties={"mass": quantity(68, "g"), "a.b": {"c.": 1}, "": 2}, protocol={"name": "RPT"})
        asked = ["properties.mass.value", r"properties.a\.b.c\.", "protocol.name", "properties."]
        listed = lab.list("measurements", fields=asked)
        assert listed.table.records() == [dict(zip(asked, (68, 1, "RPT", 2), strict=True))]
        assert listed.unfilled == {}

    def test_that_no_record_fills_are_nulls_and_named(self, lab: Lab) -> None:
        lab.measurement(properties={"a": None, "b": 1})
        listed = lab.list("measurements", fields=["properties.a", "properties.b", "properties.b.c", "protocol.x"])
        assert [*listed.unfilled] == ["properties.a", "properties.b.c", "protocol.x"]
        assert listed.table.records() == [
            {"properties.a": None, "properties.b": 1, "properties.b.c": None, "protocol.x": None}
        ]
        assert listed.table["properties.a"].kind == "null"

    def test_take_their_kind_from_all_records_in_reach(self, lab: Lab) -> None:
        values: list[Any] = [1, 2.5, None]
        for value in values:
            lab.measurement(properties={"x": value, "y": value == 1, "z": "t" if value else 5})
        listed = lab.list("measurements", fields=["properties.x", "properties.y", "properties.z"], limit=1)
        kinds = {name: column.kind for name, column in listed.table.items()}
        assert kinds == {"properties.x": "number", "properties.y": "boolean", "properties.z": "mixed"}
        assert repr(listed.table["properties.x"].tolist()) == "[1.0]"
        nobody = lab.list("measurements", {"name": "nobody"}, ["properties.x", "properties.y"])
        assert [column.kind for column in nobody.table.values()] == ["number", "boolean"]
        assert nobody.unfilled == {}

    def test_do_not_look_beyond_the_scope(self, lab: Lab) -> None:
        lab.measurement(properties={"x": 1})
        for scope in (lab.another_project(), lab.another_organization()):
            lab.measurement(scope=scope, properties={"x": "text", "deep": {"y": 1}, "z": 1})
        listed = lab.list("measurements", fields=["properties.x", "properties.deep", "properties.z"])
        assert listed.table["properties.x"].kind == "integer"
        assert [*listed.unfilled] == ["properties.deep", "properties.z"]
        lab.make(
            "measurements",
            project_id=None,
            instance_id=lab.instance(lab.specification(project_id=None), project_id=None).id,
            measurement_type="properties",
            properties={"x": 2.5},
        )
        assert lab.list("measurements", fields=["properties.x"]).table["properties.x"].kind == "number"

    def test_are_looked_at_anew_when_a_record_has_changed(self, lab: Lab) -> None:
        made = lab.measurement(properties={"x": 1})
        assert lab.list("measurements", fields=["properties.x"]).table["properties.x"].kind == "integer"
        lab.rows.update("measurements", made.id, {"properties": {"x": "t"}}, lab.scope)
        assert lab.list("measurements", fields=["properties.x"]).table.records() == [{"properties.x": "t"}]

    def test_that_end_at_an_object_say_what_is_under_it(self, lab: Lab) -> None:
        lab.measurement(properties={"deep": 1})
        lab.measurement(properties={"deep": {"x": 1, "y.z": 2}})
        loc, text = refused(lab, "measurements", fields=["id", "properties.deep"])
        assert loc == ("fields", 1)
        assert r"'properties.deep.x', 'properties.deep.y\.z'" in text
        _, text = refused(lab, "measurements", fields=["properties"])
        assert "'properties.deep'" in text
        _, text = refused(lab, "cellSpecifications", fields=["ratings.capacity"])
        assert "'ratings.capacity.value', 'ratings.capacity.unit'" in text

    def test_that_end_at_an_array_show_texts_alone(self, lab: Lab) -> None:
        lab.measurement(properties={"who": ["Ann", "Bob"], "none": [], "n": [1, 2]})
        found = row(lab, "measurements", fields=["properties.who", "properties.none"])
        assert found == {"properties.who": "Ann, Bob", "properties.none": ""}
        loc, text = refused(lab, "measurements", fields=["properties.n"])
        assert loc == ("fields", 0)
        assert "array" in text

    @pytest.mark.parametrize(
        ("source", "field", "near"),
        [
            ("cellSpecifications", "ratings.typo.value", "ratings."),
            ("cellSpecifications", "ratings.capacty.value", "'ratings.capacity.value'"),
            ("measurements", "nmae", "'name'"),
            ("measurements", "propertis.mass", "'properties.mass'"),
            ("measurements", "batch", "'batch_id'"),
            ("measurements", "source.file", ""),
            ("materials", "properties.x", ""),
            ("instances", "name.x", "'name'"),
            ("instances", "", ""),
        ],
    )
    def test_that_cannot_be_name_what_is_near(self, lab: Lab, source: str, field: str, near: str) -> None:
        loc, text = refused(lab, source, fields=["id", field])
        assert loc == ("fields", 1)
        assert near in text

    def test_all_problems_are_said_at_once(self, lab: Lab) -> None:
        with pytest.raises(Invalid) as caught:
            lab.list("measurements", {"materialId": "x", "measurementType": 3}, ["nmae", "id", "propertis"])
        assert [problem.loc for problem in caught.value.problems] == [
            ("fields", 0),
            ("fields", 2),
            ("where", "materialId"),
            ("where", "measurementType"),
        ]


class TestFilters:
    def test_apply_to_the_sources_of_the_recipe(self) -> None:
        ours = {
            key: {source for source, cls in SOURCES.items() if key in cls.filters}
            for key in {key for cls in SOURCES.values() for key in cls.filters}
        }
        assert ours == {key: set(sources) for key, sources in APPLIES.items()}
        for cls in SOURCES.values():
            for key, wanted in cls.filters.items():
                assert (wanted.match == "in") == (key in LISTS)
                assert ((wanted.match == "equal" and cls.members()[wanted.field].choices) or None) == CLOSED.get(
                    key
                )

    def test_narrow_by_what_stands_behind(self, lab: Lab) -> None:
        specification = lab.specification(name="S")
        batch = lab.make("batches", name="Straße", specification_id=specification.id)
        cell = lab.instance(specification, name="C", batch_id=batch.id)
        measurement = lab.measurement(cell, name="M", measurement_type="file")
        lab.make("analyses", name="A", measurement_id=measurement.id, analysis_type="dcir")
        lab.make("simulations", name="Z", specification_id=specification.id)
        material = lab.make("materials", name="NMC")
        lab.make("material_properties", name="OCP", material_id=material.id)
        others = lab.measurement()
        lab.make("analyses", name="other", measurement_id=others.id, analysis_type="DCIR")
        lab.make("simulations", name="other")
        lab.make("material_properties", name="other", material_id=lab.make("materials", name="other").id)

        specific = {"specificationIds": [specification.id]}
        assert lab.names("cellSpecifications", specific) == ["S"]
        assert lab.names("instances", specific) == ["C"]
        assert lab.names("measurements", specific) == ["M"]
        assert lab.names("analyses", specific) == ["A"]
        assert lab.names("simulations", specific) == ["Z"]
        for source, name in (("instances", "C"), ("measurements", "M"), ("analyses", "A")):
            assert lab.names(source, {"instanceIds": [cell.id]}) == [name]
            assert lab.names(source, {"batch": "STRASSE"}) == [name]
            assert lab.names(source, {"batch": batch.id}) == [name]
            assert lab.names(source, {"batch": "stra"}) == []
        for source, name in (("measurements", "M"), ("analyses", "A")):
            assert lab.names(source, {"measurementIds": [measurement.id]}) == [name]
        assert lab.names("measurements", {"measurementType": "file"}) == ["M"]
        assert lab.names("analyses", {"analysisType": "dcir"}) == ["A"]
        assert lab.names("materials", {"materialId": material.id}) == ["NMC"]
        assert lab.names("materialProperties", {"materialId": material.id}) == ["OCP"]
        assert lab.names("materialProperties", {"name": "OCP", "nameContains": "cp"}) == ["OCP"]

    def test_a_study_holds_what_is_assigned(self, lab: Lab) -> None:
        study, held = lab.make("studies"), lab.measurement(name="M")
        lab.measurement()
        simulation = lab.make("simulations", name="Z")
        lab.rows.assign(study.id, "measurements", held.id, lab.scope)
        lab.rows.assign(study.id, "simulations", simulation.id, lab.scope)
        assert lab.names("measurements", {"studyId": study.id}) == ["M"]
        assert lab.names("simulations", {"studyId": study.id}) == ["Z"]
        assert lab.names("simulations", {"studyId": "x"}) == []

    def test_a_study_out_of_reach_holds_nothing(self, lab: Lab) -> None:
        cell = lab.instance(lab.specification(project_id=None), project_id=None)
        shared = lab.measurement(cell, project_id=None)
        elsewhere = lab.another_project()
        study = lab.make("studies", elsewhere)
        lab.rows.assign(study.id, "measurements", shared.id, elsewhere)
        assert lab.names("measurements", {"studyId": study.id}, elsewhere) == [shared.name]
        assert lab.names("measurements", {"studyId": study.id}) == []

    def test_name_contains_folds_case_and_takes_signs_as_they_are(self, lab: Lab) -> None:
        for name in ("Straße 50%_x", "ÄPFEL", "plain"):
            lab.make("materials", name=name)

        def found(text: Any) -> list[str]:
            return lab.names("materials", {"nameContains": text})

        assert found("STRASSE") == ["Straße 50%_x"]
        assert found("%_") == ["Straße 50%_x"]
        assert found("%") == ["Straße 50%_x"]
        assert found("äpf") == ["ÄPFEL"]
        assert found("P%N") == []
        assert found("") == ["Straße 50%_x", "ÄPFEL", "plain"]
        assert found("\0") == found("\ud800") == []

    @pytest.mark.parametrize("wrong", [5, 5.0, True, False, 0])
    def test_numbers_and_booleans_equal_no_text(self, lab: Lab, wrong: Any) -> None:
        lab.make("materials", name=str(wrong))
        lab.make("materials", name="5")
        for key in ("name", "nameContains", "ids", "materialId"):
            assert lab.names("materials", {key: wrong}) == []
        assert lab.names("materials", {"ids": [wrong]}) == []

    def test_lists_and_nulls(self, lab: Lab) -> None:
        made = [lab.make("materials") for _ in range(3)]
        ids = [record.id for record in made]
        names = [record.name for record in made]
        assert lab.names("materials", {"ids": ids[::-1]}) == names
        assert lab.names("materials", {"ids": ids[0]}) == names[:1]
        assert lab.names("materials", {"ids": [ids[0], None, 3, "none", ids[0]]}) == names[:1]
        assert lab.names("materials", {"ids": []}) == []
        assert lab.names("materials", {"ids": [None]}) == []
        assert lab.names("materials", {"ids": None, "name": None}) == names

    @pytest.mark.parametrize("key", ["name", "nameContains", "batch", "measurementType", "studyId"])
    def test_a_list_where_one_value_stands_is_an_error(self, lab: Lab, key: str) -> None:
        loc, text = refused(lab, "measurements", where={key: ["file"]})
        assert loc == ("where", key)
        assert "list" in text

    @pytest.mark.parametrize("wrong", ["timeseries", 5, True, ""])
    def test_a_value_outside_a_closed_set_names_the_set(self, lab: Lab, wrong: Any) -> None:
        loc, text = refused(lab, "measurements", where={"measurementType": wrong})
        assert loc == ("where", "measurementType")
        assert "'time_series', 'file', 'properties'" in text

    def test_a_key_must_apply_also_when_null(self, lab: Lab) -> None:
        loc, text = refused(lab, "materials", where={"batch": None})
        assert loc == ("where", "batch")
        assert "'instances', 'measurements', 'analyses'" in text
        _, text = refused(lab, "materials", where={"nameContain": "x"})
        assert "'nameContains'" in text

    def test_an_unknown_source(self, lab: Lab) -> None:
        loc, text = refused(lab, "measurement")
        assert loc == ("source",)
        assert "'measurements'" in text


class TestRows:
    def test_are_those_of_the_project_and_of_the_organization_at_large(self, lab: Lab) -> None:
        own = lab.specification(name="own")
        lab.specification(name="shared", project_id=None)
        elsewhere, abroad = lab.another_project(), lab.another_organization()
        lab.specification(name="elsewhere", scope=elsewhere)
        lab.specification(name="abroad", scope=abroad)
        source = "cellSpecifications"
        assert lab.names(source, {}) == ["own", "shared"]
        assert lab.names(source, {}, elsewhere) == ["shared", "elsewhere"]
        assert lab.names(source, {}, abroad) == ["abroad"]
        assert lab.names(source, {}, Scope(lab.scope.organization_id, None)) == ["shared"]
        assert lab.names(source, {"ids": [own.id]}, elsewhere) == []

    def test_stand_in_the_order_of_their_making_and_are_counted(self, lab: Lab) -> None:
        made = [lab.make("materials", name=f"{9 - n}") for n in range(5)]
        listed = lab.list("materials", fields=["id"], limit=2)
        assert listed.table["id"].tolist() == [record.id for record in made[:2]]
        assert listed.total == 5
        assert lab.list("materials", limit=5).total == 5
        assert lab.list("materials", {"name": "9"}, limit=1).total == 1
        assert lab.list("materials", limit=0).total == 5

    def test_dependencies_name_every_table_behind(self, lab: Lab) -> None:
        assert set(lab.rows.dependencies("measurements")) == {
            *("measurements", "instances", "specifications", "batches", "users", "series", "studies", "analyses")
        }
        assert set(lab.rows.dependencies("materials")) == {"materials", "users"}
        assert set(lab.rows.dependencies("materialProperties")) == {"material_properties", "materials", "users"}
        assert set(lab.rows.dependencies("analyses")) == {
            *("analyses", "measurements", "instances", "specifications", "batches", "users")
        }

    def test_whatever_changes_a_list_changes_a_revision_it_hangs_on(self, lab: Lab) -> None:
        specification = lab.specification()
        batch = lab.make("batches", specification_id=specification.id)
        cell = lab.instance(specification, batch_id=batch.id)
        measurement, study = lab.measurement(cell), lab.make("studies")
        tables = lab.rows.dependencies("measurements")
        rows = lab.rows
        for change in (
            lambda: rows.update("specifications", specification.id, {"name": "new"}, lab.scope),
            lambda: rows.update("batches", batch.id, {"name": "new"}, lab.scope),
            lambda: rows.update("instances", cell.id, {"name": "new"}, lab.scope),
            lambda: rows.update("measurements", measurement.id, {"name": "new"}, lab.scope),
            lambda: rows.assign(study.id, "measurements", measurement.id, lab.scope),
            lambda: rows.delete("studies", study.id, lab.scope),
            lambda: rows.delete("batches", batch.id, lab.scope),
            lambda: rows.delete("measurements", measurement.id, lab.scope),
        ):
            before = lab.store.revisions(tables)
            change()
            assert lab.store.revisions(tables) != before


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    lab = Lab.at(tmp_path_factory.mktemp("crowd"))
    with lab.store.transaction():
        specification = lab.specification(ratings=RATINGS)
        for _ in range(20):
            cell = lab.instance(specification)
            for n in range(100):
                lab.measurement(cell, tags=["a"], properties={"r": n + 0.5}, protocol={"name": "RPT"})
    yield lab
    lab.store.close()


def statements(lab: Lab, act: Callable[[], object]) -> int:
    """How many statements a read sends to the store."""
    sent: list[str] = []
    connection = lab.store.connection()
    connection.set_trace_callback(sent.append)
    try:
        act()
    finally:
        connection.set_trace_callback(None)
    return len(sent)


def test_two_thousand_measurements_cost_no_more_statements_than_two(crowd: Lab) -> None:
    ids = crowd.list("measurements", fields=["id"], limit=2000).table["id"].tolist()
    assert len(ids) == 2000
    fields = ["name", "properties.r", "protocol.name", "instance_name"]
    for where, chosen in (({}, None), ({"ids": ids}, None), ({}, fields)):
        few = statements(crowd, lambda where=where, chosen=chosen: crowd.list("measurements", where, chosen, 2))
        many = statements(
            crowd, lambda where=where, chosen=chosen: crowd.list("measurements", where, chosen, 1999)
        )
        assert 0 < many <= few < 20
