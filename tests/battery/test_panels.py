"""``battery.panels``: a grid with room for titles and ticks, as lint and a reader see it."""

from __future__ import annotations

import pytest

from workbench import battery
from workbench.lint import lint
from workbench.transform.figure import encode

LONG = "A cell of a long name, measured at 25 degC, number "


@pytest.mark.parametrize(
    ("n", "columns", "shape"),
    [
        (1, None, (1, 1)),
        (2, None, (1, 2)),
        (3, None, (1, 3)),
        (4, None, (2, 2)),
        (10, None, (3, 4)),
        (5, 1, (5, 1)),
    ],
)
def test_panels_are_in_a_grid_that_lint_finds_nothing_in(
    n: int, columns: int | None, shape: tuple[int, int]
) -> None:
    names = [f"{LONG}{place}" for place in range(n)]
    figure, at = battery.panels(names, "Cycle count", "Discharge capacity [A.h]", columns=columns)
    assert (max(one["row"] for one in at), max(one["col"] for one in at)) == shape
    for place, name in zip(at, names, strict=True):
        figure.add_scatter(
            x=[0, 1, 2], y=[1.0, 0.9, 0.8], name=name, line={"color": "#0072B2"}, showlegend=False, **place
        )
    assert [odd.message for odd in lint(encode(figure))] == []
    headings = [note.text for note in figure.layout.annotations]
    assert len(set(headings)) == n, "names that differ stay different"
    assert max(map(len, headings)) * shape[1] <= 600 / 7


def test_each_column_and_row_of_panels_has_its_titles_once() -> None:
    figure, _ = battery.panels(["A", "B", "C", "D", "E"], "Cycle count", "Voltage [V]")
    titles = [axis.title.text for axis in figure.select_xaxes()]
    assert titles == [None, None, "Cycle count", "Cycle count", "Cycle count"]
    assert [axis.title.text for axis in figure.select_yaxes()] == ["Voltage / V", None, None, "Voltage / V", None]


def test_panels_below_each_other_share_the_x_axis_and_have_titles_of_their_own() -> None:
    quantities = ["Current [A]", "Puissance à la sortie du banc (décharge positive) [W]"]
    figure, at = battery.panels(["", ""], "Time [s]", quantities, columns=1)
    assert figure.layout.xaxis.matches == "x2"
    assert [axis.title.text for axis in figure.select_xaxes()] == [None, "Time / s"]
    upper, lower = (axis.title.text for axis in figure.select_yaxes())
    assert upper == "Current / A"
    assert lower == "Puissance à la sortie du<br>banc (décharge positive)<br>/ W"
    assert at == [{"row": 1, "col": 1}, {"row": 2, "col": 1}]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([],), "needs a title for each panel"),
        ((["A"], "x", ["y", "z"]), "'y' has 2 titles for 1 panels"),
        ((["A", "B"], ["x"]), "'x' has 1 titles for 2 panels"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: tuple[object, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        battery.panels(*arguments)
    with pytest.raises(ValueError, match="from 1 to 4"):
        battery.panels(["A"], columns=5)


def test_equal_panels_have_one_scale_and_keep_their_size() -> None:
    figure, places = battery.panels(["fresh", "aged"], "Re(Z) [mOhm]", "Im(Z) [mOhm]", equal=True)
    assert len(places) == 2
    assert figure.layout.yaxis.scaleanchor == "x"
    assert figure.layout.xaxis2.matches == "x"
    assert figure.layout.yaxis2.matches == "y"
    assert {axis.constrain for axis in (*figure.select_xaxes(), *figure.select_yaxes())} == {"range"}
    assert figure.layout.xaxis.matches is None
    assert figure.layout.yaxis.matches is None


def test_all_names_of_bars_are_written() -> None:
    figure, _ = battery.panels(["fade", "loss"], "Cell", "Fade / %", columns=1)
    axes = (*figure.select_xaxes(), *figure.select_yaxes())
    assert {axis.nticks for axis in axes} == {None}  # a number of ticks leaves out names
