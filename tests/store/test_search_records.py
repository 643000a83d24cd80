from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.record_store import Lab

from workbench.errors import BadRequest, Invalid
from workbench.ingest.recompute import recompute
from workbench.records import ENTITIES
from workbench.store import Scope
from workbench.store.db.facts import set_fact
from workbench.store.records.search import Found, check, search
from workbench.store.store import Store


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab.at(tmp_path)
    yield made
    made.store.close()


def found(lab: Lab, text: str, scope: Scope | None = None, **asked: Any) -> Found:
    return search(lab.store, text, scope or lab.scope, **asked)


def names(lab: Lab, text: str, scope: Scope | None = None, **asked: Any) -> list[str]:
    return [hit.name for hit in found(lab, text, scope, **asked).results]


def test_kinds_are_those_of_the_wire_and_of_the_surface() -> None:
    assert set(ENTITIES) == {
        *("project", "model", "cell_specification", "cell_instance", "cell_measurement", "material", "study"),
        *("dashboard", "plot", "cell_batch", "analysis", "simulation", "drive_cycle"),
    }


@pytest.mark.parametrize("text", ["NMC", "nmc8", "mc", "MC", "straße", "STRASSE", "ße a", '"x', "%_", "1%_"])
def test_any_part_of_a_name_is_found_with_case_ignored(lab: Lab, text: str) -> None:
    lab.make("materials", name='NMC811%_ Straße at "x"')
    lab.make("materials", name="other")
    assert names(lab, text) == ['NMC811%_ Straße at "x"']


def test_texts_are_found_by_the_beginnings_of_their_words(lab: Lab) -> None:
    lab.specification(name="A", notes="Über-cells for fast charging at 25 degC")
    lab.make("studies", name="B", description="fastest protocols")
    assert names(lab, "fast") == ["A", "B"]
    assert names(lab, "UEBER") == []
    assert names(lab, "über") == names(lab, "char fast") == names(lab, "25 deg") == ["A"]
    assert names(lab, "ast") == []
    assert names(lab, "fast slow") == []
    assert names(lab, '"* OR') == names(lab, "NEAR(") == names(lab, "--") == []


def test_hits_by_name_stand_before_hits_by_text(lab: Lab) -> None:
    lab.specification(name="a note", notes="graphite cell")
    lab.specification(name="has graphite")
    lab.specification(name="graphite first")
    lab.specification(name="Graphite")
    assert names(lab, "graphite") == ["Graphite", "graphite first", "has graphite", "a note"]
    both = lab.specification(name="graphite second", notes="graphite")
    assert [hit.id for hit in found(lab, "graphite").results].count(both.id) == 1


def test_per_type_cuts_each_kind_and_total_counts_what_is_left(lab: Lab) -> None:
    for n in range(7):
        lab.make("materials", name=f"graphite {n}")
        lab.make("studies", name=f"graphite {n}")
    everything = found(lab, "graphite", limit=100)
    assert (everything.total, len(everything.results)) == (10, 10)
    assert found(lab, "graphite", per_type=20).total == 14
    pages = [found(lab, "graphite", limit=4, offset=offset) for offset in (0, 4, 8, 12)]
    assert [hit for page in pages for hit in page.results] == everything.results
    assert {page.total for page in pages} == {10}
    assert found(lab, "graphite", entity_types=["study"]).total == 5
    with pytest.raises(Invalid, match="There is no kind 'nonsense'"):
        found(lab, "graphite", entity_types=["pipeline", "nonsense"])
    assert found(lab, "graphite", entity_types=[]).total == 0


def test_kinds_of_the_interface_that_a_store_does_not_have_simply_have_no_hits(lab: Lab) -> None:
    lab.make("studies", name="graphite")
    assert found(lab, "graphite", entity_types=["pipeline", "study", "optimization"]).total == 1
    elsewhere = ["parameterized_model", "experiment_template", "optimization_template", "optimization", "pipeline"]
    assert found(lab, " graphite ", entity_types=elsewhere) == Found([], "graphite", 0, 25, 0)


def test_a_hit_says_where_it_belongs(lab: Lab) -> None:
    measurement = lab.measurement(name="RPT")
    hit = found(lab, "rpt").results[0]
    assert (hit.entity_type, hit.id) == ("cell_measurement", measurement.id)
    assert (hit.parent_id, hit.project_id) == (measurement.instance_id, lab.scope.project_id)
    assert hit.created_at == measurement.created_at
    assert hit.parent_name == measurement.instance_name
    cell = lab.rows.get("instances", measurement.instance_id, lab.scope)
    (hit,) = found(lab, cell.name, entity_types=["cell_instance"]).results
    assert hit.parent_id == cell.specification_id


def test_a_project_restricts_what_belongs_to_projects(lab: Lab) -> None:
    elsewhere, abroad = lab.another_project(), lab.another_organization()
    for scope, name in ((lab.scope, "here"), (elsewhere, "there"), (abroad, "abroad")):
        lab.make("studies", scope, name=f"graphite {name}")
        lab.make("materials", scope, name=f"graphite {name}", project_id=scope.project_id)
        lab.make("models", scope, name=f"graphite {name}", project_id=scope.project_id, config={})
    lab.make("studies", name="graphite shared", project_id=None)

    def seen(scope: Scope, entity: str) -> set[str]:
        return {name.removeprefix("graphite ") for name in names(lab, "graphite", scope, entity_types=[entity])}

    assert seen(lab.scope, "study") == {"here", "shared"}
    assert seen(elsewhere, "study") == {"there", "shared"}
    assert seen(abroad, "study") == {"abroad"}
    for entity in ("material", "model"):
        assert seen(lab.scope, entity) == seen(elsewhere, entity) == {"here", "there"}
    assert seen(Scope(lab.scope.organization_id, None), "study") == {"here", "there", "shared"}
    assert "Default" in names(lab, "default", elsewhere)


def test_the_index_follows_changes_and_deletions(lab: Lab) -> None:
    made = lab.specification(name="graphite", notes="slow")
    lab.rows.update("specifications", made.id, {"name": "silicon", "notes": "quick"}, lab.scope)
    assert names(lab, "graphite") == names(lab, "slow") == []
    assert names(lab, "silicon") == names(lab, "quick") == ["silicon"]
    lab.rows.delete("specifications", made.id, lab.scope)
    assert names(lab, "silicon") == names(lab, "quick") == []
    assert check(lab.store.connection()) == []


def test_a_search_goes_on_after_another_process_wrote_all_entries_again(lab: Lab) -> None:
    for name in ("graphite one", "graphite two"):
        lab.specification(name=name)
    for _ in range(3):  # from the second on, the names are in memory
        assert names(lab, "graphite") == ["graphite one", "graphite two"]
    with Store.open(lab.store.path) as other:
        with other.transaction() as db:
            set_fact(db, "search_rule", 0)
        assert recompute(other).search
    assert names(lab, "graphite") == ["graphite one", "graphite two"]


@pytest.mark.parametrize(
    "asked",
    [
        {"text": "a"},
        {"text": ""},
        {"text": " a "},
        {"text": "ab", "limit": 0},
        {"text": "ab", "limit": 101},
        {"text": "ab", "offset": -1},
        {"text": "ab", "per_type": 0},
        {"text": "ab", "per_type": 21},
    ],
)
def test_what_is_out_of_its_range_is_invalid(lab: Lab, asked: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        found(lab, **asked)


def test_blanks_alone_are_a_bad_request_and_the_query_is_trimmed(lab: Lab) -> None:
    with pytest.raises(BadRequest):
        found(lab, "   ")
    answer = found(lab, "  default ", limit=100, offset=0, per_type=20)
    assert (answer.query, answer.limit, answer.offset) == ("default", 100, 0)


def test_text_that_no_name_can_hold_finds_nothing(lab: Lab) -> None:
    assert names(lab, "\ud800x") == names(lab, "a\0b") == names(lab, "a\0") == []
