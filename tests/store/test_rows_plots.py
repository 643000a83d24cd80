"""Studies and what they hold; plots, their revisions and their places on a dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.record_store import Lab

from workbench.errors import BadRequest, Conflict, Invalid, NotFound
from workbench.records import Measurement


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab.at(tmp_path)
    yield made
    made.store.close()


class TestStudies:
    def test_hold_measurements_and_simulations_once(self, lab: Lab) -> None:
        study, measurement, simulation = lab.make("studies"), lab.measurement(), lab.make("simulations")
        for _ in range(2):
            lab.rows.assign(study.id, "measurements", measurement.id, lab.scope)
            lab.rows.assign(study.id, "simulations", simulation.id, lab.scope)
        held = lab.rows.get("studies", study.id, lab.scope)
        assert (held.measurement_count, held.simulation_count) == (1, 1)
        assert held.wire()["validation_count"] == 1
        page = lab.rows.page(Measurement, lab.scope, where={"study_id": study.id})
        assert [item.id for item in page.items] == [measurement.id]
        lab.rows.unassign(study.id, "measurements", measurement.id, lab.scope)
        lab.rows.delete("simulations", simulation.id, lab.scope)
        held = lab.rows.get("studies", study.id, lab.scope)
        assert (held.measurement_count, held.simulation_count) == (0, 0)

    def test_hold_nothing_else(self, lab: Lab) -> None:
        study = lab.make("studies")
        with pytest.raises(BadRequest, match="measurements and simulations"):
            lab.rows.assign(study.id, "instances", lab.instance().id, lab.scope)
        with pytest.raises(NotFound):
            lab.rows.assign(study.id, "measurements", lab.measurement(scope=lab.another_project()).id, lab.scope)


class TestPlots:
    def test_every_save_is_a_revision_with_author_and_origin(self, lab: Lab) -> None:
        board = lab.make("dashboards")
        first = lab.store.plots.save(board.id, "Fade", {"plan": 1}, lab.scope, lab.user)
        second = lab.store.plots.save(board.id, "Fade", {"plan": 2}, lab.scope, lab.user, origin="authoring")
        assert (first.id, first.revision, second.revision) == (second.id, 1, 2)
        third = lab.store.plots.restore(first.id, 1, lab.scope, lab.user)
        assert (third.revision, third.config) == (3, {"plan": 1})
        history = lab.store.plots.history(first.id, lab.scope)
        assert [(r.revision, r.config["plan"], r.origin) for r in history] == [
            (1, 1, "save"),
            (2, 2, "authoring"),
            (3, 1, "restore 1"),
        ]
        assert {r.created_by_email for r in history} == {"local@localhost"}
        assert lab.rows.get("dashboards", board.id, lab.scope).plot_count == 1
        assert lab.store.verify() == []

    def test_saving_the_same_again_is_a_revision_too(self, lab: Lab) -> None:
        board = lab.make("dashboards")
        for n in (1, 2):
            assert lab.store.plots.save(board.id, "Fade", {"plan": 1}, lab.scope).revision == n

    def test_a_stale_revision_is_a_conflict_with_both_numbers(self, lab: Lab) -> None:
        board = lab.make("dashboards")
        plot = lab.store.plots.save(board.id, "Fade", {}, lab.scope)
        lab.rows.update("plots", plot.id, {"config": {"a": 1}, "revision": 1}, lab.scope)
        with pytest.raises(Conflict, match=r"revision 2.*from 1"):
            lab.rows.update("plots", plot.id, {"config": {"a": 2}, "revision": 1}, lab.scope)
        assert lab.rows.get("plots", plot.id, lab.scope).config == {"a": 1}

    def test_unknown_revisions_and_taken_ids(self, lab: Lab) -> None:
        board = lab.make("dashboards")
        plot = lab.store.plots.save(board.id, "Fade", {}, lab.scope)
        with pytest.raises(NotFound, match="no revision 7"):
            lab.store.plots.restore(plot.id, 7, lab.scope)
        with pytest.raises(Conflict):
            lab.store.plots.save(board.id, "New", {}, lab.scope, id=plot.id)
        own = "01900000-0000-7000-8000-000000000000"
        assert lab.store.plots.save(board.id, "New", {}, lab.scope, id=own).id == own

    @pytest.mark.parametrize("kind", ["plots", "dashboards", "projects"])
    def test_the_id_of_a_deleted_plot_is_not_given_again(self, lab: Lab, kind: str) -> None:
        """Sessions, stars and passports of figures may still name that plot."""
        scope = lab.another_project()
        board = lab.make("dashboards", scope)
        plot = lab.store.plots.save(board.id, "Fade", {}, scope)
        said = []
        for gone in (False, True):
            if gone:
                lab.rows.delete(
                    kind, {"plots": plot.id, "dashboards": board.id}.get(kind, str(scope.project_id)), scope
                )
            elsewhere = lab.make("dashboards")
            with pytest.raises(Conflict) as caught:
                lab.store.plots.save(elsewhere.id, "New", {}, lab.scope, id=plot.id)
            said.append((str(caught.value), caught.value.existing_id))
        assert said[0] == said[1]
        assert lab.store.verify() == []

    def test_a_deleted_plot_leaves_its_dashboard(self, lab: Lab) -> None:
        board = lab.make("dashboards")
        kept, gone = (lab.store.plots.save(board.id, name, {}, lab.scope) for name in ("kept", "gone"))
        layout = [{"plot_id": plot.id, "x": 0, "y": 0, "w": 6, "h": 4} for plot in (kept, gone)]
        lab.rows.update("dashboards", board.id, {"layout": layout}, lab.scope)
        before = lab.store.revisions(["dashboards"])
        lab.rows.delete("plots", gone.id, lab.scope)
        assert lab.store.revisions(["dashboards"]) != before
        (tile,) = lab.rows.get("dashboards", board.id, lab.scope).layout
        assert tile.plot_id == kept.id
        with pytest.raises(BadRequest, match="not a plot of this dashboard"):
            lab.rows.update("dashboards", board.id, {"layout": layout}, lab.scope)

    def test_the_order_of_a_recipe_is_kept(self, lab: Lab) -> None:
        board = lab.make("dashboards")
        config = {"steps": {"z": 1, "a": 2.0}}
        kept = lab.store.plots.save(board.id, "Fade", config, lab.scope).config
        assert repr(kept) == repr(config)

    @pytest.mark.parametrize("tile", [{"x": 8, "w": 6}, {"x": -1}, {"w": 0}, {"z": 1}, {"x": 1.0}])
    def test_a_layout_stays_on_its_grid(self, lab: Lab, tile: dict[str, Any]) -> None:
        with pytest.raises(Invalid):
            lab.make("dashboards", layout=[{"plot_id": "p", "x": 0, "y": 0, "w": 6, "h": 4, **tile}])
