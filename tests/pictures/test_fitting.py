"""A figure drawn for a screen is fitted to a paper: what gives way, what stays, and what becomes of its legend."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench import battery
from workbench.battery.paper_size import paper_in
from workbench.errors import BadRequest
from workbench.pictures import PaperOptions, Remark, fitted, wants_paper
from workbench.transform.figure import decode, encode


def fit(traces: list[dict[str, Any]], options: PaperOptions, **layout: Any) -> tuple[dict[str, Any], list[Remark]]:
    made, remarks = fitted(encode({"data": traces, "layout": {"template": battery.template(), **layout}}), options)
    return decode(made), remarks


def lines(names: list[str]) -> list[dict[str, Any]]:
    x = np.arange(20.0)
    return [{"type": "scatter", "name": name, "x": x, "y": x * k} for k, name in enumerate(names)]


def test_sizes_of_the_screen_give_way_and_the_rest_stays() -> None:
    trace = {
        "type": "scatter",
        "x": np.array([1.0, 2.0]),
        "y": [3.0, 4.0],
        "line": {"width": 3.6, "dash": "dot", "color": "#123456"},
        "marker": {"size": 9, "symbol": "square"},
        "textfont": {"size": 20, "color": "red"},
        "customdata": [{"font": {"size": 3}}, None],
    }
    layout = {
        "width": 1200,
        "height": 900,
        "font": {"size": 20},
        "margin": {"l": 200},
        "xaxis": {
            "title": {"text": "Voltage / V", "font": {"size": 30}},
            "range": [2, 4],
            "tickfont": {"size": 30},
        },
        "yaxis": {"title": {"text": "Cell / design"}, "showgrid": True},
        "annotations": [{"text": "here", "x": 1, "y": 2, "font": {"size": 44, "color": "blue"}}],
    }
    made, remarks = fit([trace], {"paper": "nature"}, **layout)
    drawn, held = made["data"][0], made["layout"]
    assert remarks == []
    assert not {"width", "height", "font", "margin"} & held.keys()
    assert held["xaxis"] == {"title": {"text": "Voltage (V)", "font": {}}, "range": [2, 4], "tickfont": {}}
    assert held["yaxis"]["title"]["text"] == "Cell / design", "it has no unit"
    assert "showgrid" not in held["yaxis"], "Nature takes no grid"
    assert held["annotations"][0]["font"] == {"color": "blue"}
    # A line of the default template (1.8 px) becomes 1 pt, so one of twice its width becomes 2 pt.
    assert drawn["line"] == {"width": pytest.approx(2 / 0.75), "dash": "dot", "color": "#123456"}
    assert drawn["marker"]["size"] == pytest.approx(9 * (1 / 0.75) / 1.8)
    assert drawn["textfont"] == {"color": "red"}
    assert drawn["customdata"] == trace["customdata"], "that is data"
    assert drawn["x"].tolist() == [1, 2]


def test_sizes_of_markers_in_an_array_shrink_by_their_reference() -> None:
    marker = {"size": np.array([10.0, 20.0]), "sizemode": "area", "sizeref": 0.5}
    made, _ = fit([{"type": "scatter", "x": [1, 2], "y": [1, 2], "marker": marker}], {"paper": True})
    factor = (1 / 0.75) / 1.8
    assert made["data"][0]["marker"]["sizeref"] == pytest.approx(0.5 / factor**2)
    assert made["data"][0]["marker"]["size"].tolist() == [10, 20]


def test_exponents_are_raised_figures_of_a_readable_size() -> None:
    made, _ = fit(lines(["A"]), {"paper": "rsc"}, yaxis={"title": {"text": "Capacity / mA h g⁻¹"}})
    title = made["layout"]["yaxis"]["title"]["text"]
    assert title.startswith("Capacity / mA h g<sup style=")
    assert title.endswith(">−1</sup>")
    assert "71.9%" in title, "7 pt letters at plotly's 70 % would be 4.9 pt"
    made, _ = fit(lines(["A"]), {"paper": "acs"}, yaxis={"title": {"text": "Capacity / mA h g⁻¹"}})
    assert made["layout"]["yaxis"]["title"]["text"] == "Capacity / mA h g<sup>−1</sup>"


def test_more_than_eight_numbers_get_a_colour_bar() -> None:
    names = [f"Cycle {k * 50}" for k in range(9)]
    made, remarks = fit(lines(names), {"paper": "acs"})
    assert remarks == []
    assert made["layout"]["showlegend"] is False
    *drawn, bar = made["data"]
    assert [trace["line"]["color"] for trace in drawn] == battery.shades([k * 50 for k in range(9)])
    assert (bar["marker"]["cmin"], bar["marker"]["cmax"]) == (0, 400)
    assert bar["marker"]["colorbar"]["title"]["text"] == "Cycle"
    eight, _ = fit(lines(names[:8]), {"paper": "acs"})
    assert len(eight["data"]) == 8
    assert "showlegend" not in eight["layout"]


def test_more_than_eight_names_are_written_at_the_curves() -> None:
    names = [f"{letter}-{letter}" for letter in "abcdefghijkl"]
    made, remarks = fit(lines(names), {"paper": "acs"})
    assert remarks == []
    assert made["layout"]["showlegend"] is False
    assert {note["text"] for note in made["layout"]["annotations"]} == set(names)
    assert {round(note["font"]["size"] * 0.75, 6) for note in made["layout"]["annotations"]} == {7}
    _, remarks = fit(lines([f"{k}-{k}" for k in range(60)]), {"paper": "acs"})
    assert [remark.code for remark in remarks] == ["legend_too_long"]
    assert "of 60 curves" in remarks[0].message


NOTE = {"yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False}


def test_a_long_note_is_cut_and_left_for_the_caption() -> None:
    def noted(words: int, traces: list[Any], width: str = "8.5 cm") -> tuple[str, list[Remark]]:
        text = "left out: " + ", ".join(f"cell {k}" for k in range(words))
        made, remarks = fit(traces, {"width": width}, annotations=[{**NOTE, "text": text, "yshift": 4}])
        return made["layout"]["annotations"][0]["text"], remarks

    short, remarks = noted(20, lines(["a"]))
    assert short.count("<br>") < 4
    assert remarks == []
    assert "cell 19" in short
    long, (remark,) = noted(90, lines(["a"]))
    assert long.count("<br>") == 3
    assert long.endswith(" …")
    assert remark.code == "note_cut"
    assert remark.message.endswith("cell 88, cell 89")
    below, above = (
        {**NOTE, "text": text, "yshift": shift} for text, shift in (("cell " * 80, 4), ("excluded", 200))
    )
    stacked = fit(lines(["a"]), {"width": "8.5 cm"}, annotations=[below, above])[0]["layout"]["annotations"]
    assert stacked[1]["yshift"] < 80, "the second is on the lines that are left of the first"
    wide, _ = noted(40, lines(["a"]), "17 cm")
    assert "cell 39" in wide
    sentence, remarks = noted(90, [])
    assert sentence.endswith("cell 89")
    assert remarks == [], "a figure that is only a sentence has all of it"


def test_a_long_legend_of_several_panels_stays_below_with_its_height() -> None:
    panels = {"xaxis": {"domain": [0, 0.45]}, "xaxis2": {"domain": [0.55, 1]}}

    def fitted_to(names: list[str]) -> tuple[Any, list[str]]:
        first = [{**trace, "legendgroup": trace["name"]} for trace in lines(names)]
        other = [{**trace, "xaxis": "x2", "showlegend": False} for trace in first]
        made, remarks = fit([*first, *other], {"paper": "acs"}, **panels)
        return made["layout"], [remark.code for remark in remarks]

    few, ten = fitted_to(["a", "b"]), fitted_to([f"cell {k}-{k}" for k in range(10)])
    assert ten[0].get("showlegend") is not False
    assert not ten[0].get("annotations")
    assert ten[1] == []
    assert paper_in(ten[0]).height > paper_in(few[0]).height + 15  # type: ignore[union-attr]
    assert fitted_to([f"a long name of a cell {k}-{k}" for k in range(90)])[1] == ["legend_too_long"]


def test_names_stay_in_the_legend_beside_a_colour_bar() -> None:
    made, _ = fit(lines([f"{k}-{k}" for k in range(10)]), {"paper": "acs"}, coloraxis={"colorscale": "Viridis"})
    assert made["layout"].get("showlegend") is not False
    assert not made["layout"].get("annotations")


def test_lines_above_the_plot_get_height() -> None:
    def height(text: str, *titles: dict[str, Any]) -> float:
        note = {"text": text, "yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 2}
        paper = paper_in(fit(lines(["a"]), {"paper": "acs"}, annotations=[*titles, note])[0]["layout"])
        assert paper is not None
        return paper.height

    assert height("one line") == height("")
    assert height("many words " * 20) > height("one line") + 5
    titled = [{"text": "Panel", "xref": "paper", "yref": "paper", "x": 0.5, "y": 1.0, "yanchor": "bottom"}]
    assert height("one line", *titled) > height("one line") + 3, "the title of a panel is below the line"


def test_a_legend_beside_the_plot_goes_below_and_gets_height() -> None:
    beside = {"x": 1.02, "y": 1, "xanchor": "left", "title": {"text": "Batch"}}
    made, _ = fit(lines(["a", "b", "c"]), {"paper": "acs"}, legend=beside)
    assert made["layout"]["legend"] == {"title": {"text": "Batch"}}
    high, plain = paper_in(made["layout"]), paper_in(fit(lines(["a"]), {"paper": "acs"})[0]["layout"])
    assert high is not None
    assert plain is not None
    assert high.height > plain.height
    inside, _ = fit(lines(["a", "b"]), {"paper": "acs"}, legend=battery.legend("top left"))
    assert inside["layout"]["legend"]["x"] == 0.02
    assert paper_in(inside["layout"]).height == plain.height  # type: ignore[union-attr]


def test_the_height_follows_the_panels_unless_it_is_given() -> None:
    below = {"yaxis": {"domain": [0.4, 1]}, "yaxis2": {"domain": [0, 0.35]}}
    beside = {"xaxis": {"domain": [0, 0.45]}, "xaxis2": {"domain": [0.55, 1]}}

    def height(options: PaperOptions, **layout: Any) -> float:
        found = paper_in(fit(lines(["a"]), options, **layout)[0]["layout"])
        assert found is not None
        return found.height

    one = height({"paper": "acs"})
    assert one == pytest.approx(0.75 * 82.55, abs=0.01)
    assert height({"paper": "acs"}, **below) == pytest.approx(one / 0.6 * 0.97, rel=0.01)
    assert height({"paper": "acs"}, **beside) == pytest.approx(0.5 * 82.55, abs=0.01)
    assert height({"paper": "acs", "height": "5 cm"}, **below) == 50
    # On a double column a wide panel has half of its width: two of them were a page of 233 mm.
    assert height({"paper": "acs", "columns": 2}, **below) == pytest.approx(0.5 * 177.8 / 0.6 * 0.97, rel=0.01)


def test_what_is_written_above_the_plot_gets_room() -> None:
    plain, _ = fit(lines(["a"]), {"paper": True})
    above = {"text": "Left", "xref": "paper", "yref": "paper", "x": 0.2, "y": 1.0, "showarrow": False}
    titled, _ = fit(lines(["a"]), {"paper": True}, annotations=[above])
    assert "margin" not in plain["layout"]
    assert titled["layout"]["margin"]["t"] > plain["layout"]["template"]["layout"]["margin"]["t"]


def test_options_that_cannot_be_are_refused() -> None:
    assert not wants_paper({})
    assert not wants_paper({"paper": None, "width": None})
    assert wants_paper({"font": "8 pt"})
    with pytest.raises(BadRequest, match="There is no journal 'natur'"):
        fit(lines(["a"]), {"paper": "natur"})
    with pytest.raises(BadRequest, match="height is 300 mm; 'acs' takes at most 241"):
        fit(lines(["a"]), {"paper": "acs", "height": 300})


LONG = "NDK_-_LG_M50_deg_-_exp_2_2_-_rig_3_-_25degC_-_cell_{}_-_BoL_-_RPT0_short_CA4"


def test_names_of_78_letters_are_cut_and_stay_different() -> None:
    names = [LONG.format(letter) for letter in "ABCD"]
    made, _ = fit(lines(names), {"width": "8.5 cm", "font": "8 pt"})
    shown = [trace["name"] for trace in made["data"]]
    assert len(set(shown)) == 4
    letters = made["layout"]["template"]["layout"]["font"]["size"]
    assert max(map(len, shown)) * 0.56 * letters < made["layout"]["template"]["layout"]["width"] - 100


def test_curves_that_end_far_apart_keep_a_legend() -> None:
    """Names beside their ends covered the curves that go on."""
    traces = lines([f"cell {k}" for k in "abcdefghij"])
    for number, trace in enumerate(traces):
        trace["x"], trace["y"] = trace["x"][: 5 + number], trace["y"][: 5 + number]
    made, remarks = fit(traces, {"width": "8.5 cm"})
    assert made["layout"].get("showlegend") is not False
    assert not made["layout"].get("annotations")
    assert not remarks


def test_a_legend_of_marks_without_points_stays() -> None:
    """Nothing was beside them, so there were no names at all."""
    keys = [{"type": "scatter", "name": f"cell {k}", "x": [None], "y": [None]} for k in range(10)]
    made, remarks = fit([*keys, *lines([""])], {"width": "8.5 cm"})
    assert made["layout"].get("showlegend") is not False
    assert not remarks


def test_names_that_were_placed_for_a_screen_are_placed_anew() -> None:
    traces = lines([f"curve {k}" for k in range(20)])
    labels = battery.end_labels(traces, height=900, size=10)
    made, _ = fit(traces, {"width": "8.5 cm"}, annotations=labels, showlegend=False)
    placed = made["layout"]["annotations"]
    assert len(placed) == 20
    assert {note["font"]["size"] for note in placed} == {made["layout"]["template"]["layout"]["font"]["size"]}


def test_a_sentence_is_in_the_middle_of_the_paper() -> None:
    """It reached over the right edge: its middle was that of the plot, and its lines were those of a screen."""
    figure = battery.message(f"No test gave a result. {LONG.format('C')}: a reason.").to_plotly_json()
    made, _ = fit([], {"width": "6 cm", "font": "8 pt"}, annotations=list(figure["layout"]["annotations"]))
    layout = made["layout"]
    assert layout["margin"]["l"] == layout["margin"]["r"]
    template = layout["template"]["layout"]
    longest = max(map(len, layout["annotations"][0]["text"].split("<br>")))
    assert longest * 0.56 * template["font"]["size"] < template["width"]


def test_a_figure_is_as_high_as_the_names_of_its_rows() -> None:
    bars = [{"type": "bar", "orientation": "h", "x": list(range(40)), "y": [f"cell {k}" for k in range(40)]}]
    made, _ = fit(bars, {"width": "8.5 cm"}, yaxis={"tickvals": bars[0]["y"]})
    template = made["layout"]["template"]["layout"]
    assert template["height"] > 40 * 1.3 * template["font"]["size"]
