"""From a sentence in the page's editor: the built-in author, the context, a pasted answer, its problems, and saving."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from support.web_page import Site, open_site, pictures_folder

import workbench as wb
from workbench.local import LocalBackend

pytestmark = pytest.mark.long
PLAN = {"steps": {"cells": {"op": "list", "source": "instances", "fields": ["name", "batch_name"]}}}
SCRIPT = """def transform(data, params):
    counts = data["cells"]["batch_name"].value_counts()
    figure = go.Figure(go.Bar(x=counts.index, y=counts, name="cells"))
    return figure.update_xaxes(title="Batch").update_yaxes(title="Number of cells")
"""
DRAFT = {"name": "Cells by batch", "config": {"plan": PLAN, "transform": SCRIPT}}


@pytest.fixture(scope="module")
def site(demo_store: Path, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    with open_site(demo_store, tmp_path_factory.mktemp("site"), browser) as site:
        yield site


def edits(old: str, new: str) -> str:
    return json.dumps({"say": "Changed.", "edits": [{"part": "transform", "old": old, "new": new}]})


def test_a_pasted_answer_is_checked_repaired_drawn_and_saved_with_its_session(site: Site) -> None:
    with wb.Bench(LocalBackend.open(site.store.path)) as bench:
        board = bench.dashboards.create("Wished")
        project = bench.backend.project.id
    window = site.window(f"/boards/{project}/{board.id}/new-plot")
    page = window.page
    expect(page.get_by_text("Give the plot a name to save it")).to_be_visible()
    first = page.get_by_role("article", name="Draft")
    expect(first).to_have_attribute("data-state", "drawn")
    expect(first).not_to_contain_text("partial")  # no test ends in a cycle that was broken off
    page.get_by_text("From a sentence").click()
    page.get_by_role("textbox", name="Wish").fill("Cells by batch")
    page.get_by_role("button", name="Copy the context").click()
    pasted = page.get_by_role("textbox", name="Answer of a language model")
    expect(pasted).to_be_focused()
    pasted.fill(
        "Gladly:\n```json\n" + json.dumps({"say": "Cells.", "draft": DRAFT}).replace("'cels'", "") + "\n```"
    )
    check = page.get_by_role("button", name="Check and draw")
    wrong = json.dumps({"say": "Cells.", "draft": DRAFT}).replace("value_counts", "value_cuonts")
    pasted.fill(f"Gladly:\n```json\n{wrong}\n```")
    check.click()
    answer = page.get_by_role("group", name="Answer")
    expect(answer).to_contain_text("value_cuonts")
    expect(answer.get_by_role("button", name="Copy the problems")).to_be_visible()
    expect(answer).not_to_contain_text("in the editor below")
    pasted.fill(edits("value_cuonts", "value_counts"))
    check.click()
    expect(answer).to_contain_text("The draft is in the editor below.")
    answer.get_by_text("Numbers of the figure").click()
    expect(answer).to_contain_text("'cells' (bar), 3 points")
    draft = page.get_by_role("article", name="Draft")
    expect(draft).to_have_attribute("data-state", "drawn")
    pasted.fill(edits("Number of cells", "Cells of the batch"))
    check.click()
    answer.get_by_text("What changes").click()
    expect(answer.get_by_role("tab", name="Script")).to_be_visible()
    folder = pictures_folder()
    if folder is not None:
        page.screenshot(path=folder / "page-from-sentence.png", full_page=True)
    expect(page.get_by_role("textbox", name="Name of the plot")).to_have_value("Cells by batch")
    save = page.get_by_role("button", name="Save", exact=True)
    expect(save).to_be_enabled()
    save.click()
    expect(page.get_by_role("heading", name="Cells by batch", level=1)).to_be_visible()
    window.assert_proper()
    window.close()
    with wb.Bench(LocalBackend.open(site.store.path)) as bench:
        plot = bench.dashboards.get("Wished").plot("Cells by batch")
        assert "Cells of the batch" in plot.record.config["transform"]
        assert plot.history()["origin"].tolist() == ["draft"]
        session = plot.session()
        assert session is not None
        assert bench.sessions.replay(session)[-1].is_sound


def test_the_built_in_author_changes_the_plot_that_is_open_and_undo_goes_back(site: Site) -> None:
    with wb.Bench(LocalBackend.open(site.store.path)) as bench:
        board = bench.dashboards.get("Ageing")
        plot = board.save(
            "Fade", bench.check_answer(bench.backend.propose("capacity fade").model_dump()).draft["config"]
        )
        home = f"/boards/{bench.backend.project.id}/{board.id}"
    window = site.window(f"{home}/plots/{plot.id}/edit")
    page = window.page
    expect(page.get_by_text("No problems")).to_be_visible()
    page.get_by_text("From a sentence").click()
    wish = page.get_by_role("textbox", name="Wish")
    wish.fill("only batch A")
    wish.press("Enter")
    answer = page.get_by_role("group", name="Answer")
    expect(answer).to_contain_text("The draft is in the editor below.")
    expect(page.get_by_text("not saved")).to_be_visible()
    answer.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("not saved")).to_be_hidden()
    wish.fill("Plot the pressure over time")
    wish.press("Enter")
    expect(answer).to_contain_text("pressure")
    expect(answer).not_to_contain_text("in the editor below")
    wish.fill("only batch B")
    wish.press("Enter")
    expect(page.get_by_text("not saved")).to_be_visible()
    with wb.Bench(
        LocalBackend.open(site.store.path)
    ) as bench:  # a notebook with the same plot, and so its session
        other = bench.author("only batch C", bench.dashboards.get("Ageing"), plot=plot.id)
        other.ask("only batch C")
        other.close()
    page.get_by_role("button", name="Save as revision 2").click()
    expect(page.get_by_text("Saved as revision 2")).to_be_visible()
    with wb.Bench(LocalBackend.open(site.store.path)) as bench:
        saved = bench.dashboards.get("Ageing").plot("Fade").record.config["params"]["cells"]["default"]
        assert all(cell.startswith("M50-B") for cell in saved)
    window.assert_proper()
    window.close()


def test_a_name_that_somebody_typed_stays_when_a_draft_comes(site: Site) -> None:
    with wb.Bench(LocalBackend.open(site.store.path)) as bench:
        board = bench.dashboards.create("Named")
        project = bench.backend.project.id
    window = site.window(f"/boards/{project}/{board.id}/new-plot")
    page = window.page
    name = page.get_by_label("Name of the plot")
    page.get_by_text("From a sentence").click()
    page.get_by_role("button", name="Paste an answer").click()
    pasted = page.get_by_role("textbox", name="Answer of a language model")
    answer = page.get_by_role("group", name="Answer")

    def paste(called: str) -> None:
        pasted.fill(json.dumps({"say": f"Called {called}.", "draft": {**DRAFT, "name": called}}))
        page.get_by_role("button", name="Check and draw").click()
        expect(answer).to_contain_text(f"Called {called}.")
        expect(answer).to_contain_text("The draft is in the editor below.")

    paste("Cells by batch")
    expect(name).to_have_value("Cells by batch")
    paste("Cells of each batch")
    expect(name).to_have_value("Cells of each batch")
    name.fill("Monday")
    paste("Batches")
    expect(page.get_by_role("article", name="Draft")).to_have_attribute("data-state", "drawn")
    expect(name).to_have_value("Monday")
    window.assert_proper()
    window.close()
