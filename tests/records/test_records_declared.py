from __future__ import annotations

import hashlib
import json
import sys
import uuid
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import BadRequest
from workbench.records import ENTITIES, KINDS, SOURCES, DriveCycle, Measurement, Model, Plot, Specification, kind
from workbench.records.values import as_date, as_moment, json_object
from workbench.store.records.open_fields import join_name, split_name
from workbench.store.records.rows import new_id
from workbench.store.records.tables import decode, encode

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
BASE = {"id": "i", "name": "n", "created_at": NOW, "updated_at": NOW, "organization_id": "o"}


@pytest.mark.parametrize("cls", KINDS.values(), ids=lambda cls: cls.table)
def test_every_kind_and_field_is_described(cls: Any) -> None:
    assert cls.__doc__
    assert all(member.meaning.endswith(".") for member in cls.members().values())


@pytest.mark.parametrize("cls", KINDS.values(), ids=lambda cls: cls.table)
def test_marks_point_to_what_there_is(cls: Any) -> None:
    members = cls.members()
    for member in members.values():
        if member.link is not None:
            assert member.link.table in KINDS
        if member.through is not None:
            target = KINDS[members[member.through.link].link.table]
            assert member.kind == target.members()[member.through.field].kind
    assert {wanted.field for wanted in cls.filters.values()} <= set(members)
    assert {name for rule in cls.unique for name in rule.fields} <= set(members)
    assert set(cls.sorts) <= set(members)
    assert cls.by_store <= {*members, "organization_id", "created_by"}


@pytest.mark.parametrize("cls", KINDS.values(), ids=lambda cls: cls.table)
def test_annotations_are_not_texts(cls: Any) -> None:
    """As texts pydantic would evaluate them whenever a process opens a store."""
    modules = {base.__module__ for base in cls.__mro__ if base.__module__.startswith("workbench.")}
    assert not [name for name in modules if hasattr(sys.modules[name], "annotations")]


def test_a_kind_is_named_by_table_source_or_entity() -> None:
    assert kind("specifications") is kind("cellSpecifications") is kind("cell_specification") is Specification
    assert len(SOURCES) == 7
    assert len(ENTITIES) == 13
    with pytest.raises(BadRequest, match="'measurements'"):
        kind("measurement")


def test_the_interface_finds_its_fields() -> None:
    specification = set(Specification.members())
    assert specification >= {
        *("name", "ratings", "id", "organization_id", "form_factor", "manufacturer", "anode_id", "cathode_id"),
        *("electrolyte_id", "separator_id", "case_id", "properties", "source", "notes", "created_by"),
        "created_by_email",
    }
    assert set(Model.members()) >= {
        *("name", "id", "organization_id", "created_at", "updated_at", "config", "is_custom_model"),
        *("description", "simulator_version", "chemistry", "simulation_settings", "created_by_email"),
    }
    assert set(DriveCycle.members()) >= {
        *("name", "data", "organization_id", "id", "content_hash", "created_at", "measurement_id", "created_by")
    }


def test_wire_names_go_both_ways() -> None:
    made = Measurement.checked({**BASE, "instance_id": "c", "measurement_type": "file"})
    wire = made.wire()
    assert (wire["cell_instance_id"], wire["tags"], wire["created_at"]) == ("c", [], "2026-01-31T12:00:00.000000Z")
    assert "instance_id" not in wire
    assert Measurement.from_wire({"cell_instance_id": "c", "notes": None, "typo": 1}) == {
        "instance_id": "c",
        "notes": None,
        "typo": 1,
    }


def test_rows_of_the_store_are_the_records() -> None:
    made = Plot.checked({**BASE, "dashboard_id": "d", "config": {"z": 1, "a": 2.0}, "project_id": "p"})
    row = encode(made)
    assert row["created_at"] == int(NOW.timestamp()) * 1_000_000
    assert json.loads(row["config"]) == {"z": 1, "a": 2.0}
    row.pop("name_folded")
    assert Plot.model_validate(decode(Plot, row)) == made


def test_the_content_hash_is_sha256_of_name_and_canonical_data() -> None:
    made = DriveCycle.checked({**BASE, "name": "wltp", "data": [[0, -0.0], [1, 2.5]]})
    assert made.content_hash == hashlib.sha256(b"wltp\x000.0,0.0\n1.0,2.5\n").hexdigest()


@given(st.lists(st.text(), min_size=1))
def test_any_keys_can_be_named(keys: list[str]) -> None:
    # A backslash right before a dot or at the end of a key is the one thing that has no name.
    path = tuple(key.replace("\\", "") for key in keys)
    assert split_name(join_name(path)) == path


@given(st.datetimes(datetime(1971, 1, 1), datetime(9000, 1, 1)), st.integers(1, 10**9))
def test_ids_are_uuids_in_the_order_of_time(moment: datetime, later: int) -> None:
    early = moment.replace(tzinfo=UTC)
    late = early + timedelta(microseconds=later)
    assert new_id(early) < new_id(late)
    made = uuid.UUID(new_id(early))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc."), inner),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text("xyz"), JSON))
def test_json_comes_back_in_type_and_order(value: dict[str, Any]) -> None:
    made = Measurement.checked({**BASE, "instance_id": "c", "measurement_type": "file", "properties": value})
    row = encode(made)
    row.pop("name_folded")
    assert repr(Measurement.model_validate(decode(Measurement, row)).properties) == repr(value)


def test_numpy_and_times_become_json() -> None:
    given_values = {
        "a": np.float64(1.5),
        "b": np.int32(3),
        "c": np.bool_(True),
        "d": NOW,
        "e": date(2026, 1, 2),
        "f": (1, 2),
    }
    assert json_object(given_values) == {
        "a": 1.5,
        "b": 3,
        "c": True,
        "d": "2026-01-31T12:00:00Z",
        "e": "2026-01-02",
        "f": [1, 2],
    }


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"a": {"b": float("inf")}}, "'a.b' is inf"),
        ({"a": [1, {2}]}, r"'a\[1\]' is a set"),
        ({"a": 2**63}, "64 bits"),
        ({"a": {1: 2}}, "keys of 'a'"),
        ({"a": "\ud800"}, "Unicode"),
    ],
)
def test_what_json_cannot_hold_is_refused_by_place(value: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        json_object(value)


def test_what_is_nested_too_deep_is_refused() -> None:
    value: dict[str, Any] = {}
    for _ in range(60):
        value = {"a": value}
    with pytest.raises(ValueError, match="deeper"):
        json_object(value)


@pytest.mark.parametrize("wrong", [5, True, None, "2026", "31.01.2026", [NOW], "0001-01-01T00:00:00+14:00"])
def test_what_is_no_time_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        as_moment(wrong)


@pytest.mark.parametrize("wrong", [5, NOW, "2026-01-31T00:00:00", "31.01.2026"])
def test_what_is_no_day_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        as_date(wrong)
