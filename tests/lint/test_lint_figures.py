"""Figure lint: each rule finds what it is for, and stays silent on figures that are right."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

import workbench as wb
from workbench import battery, steps
from workbench.bench import Bench
from workbench.dataset import Dataset, Samples
from workbench.demo.saved import Saved, saved_plots
from workbench.lint import RULES, Lint, hints, lint
from workbench.recipe.controls import decide
from workbench.recipe.recipe import Recipe
from workbench.table import Column, Table
from workbench.transform.figure import encode

CYCLE, CAPACITY, LOWEST = "Cycle count", "Discharge capacity [A.h]", "Min voltage [V]"
TITLES = {"xaxis_title": "Cycle number", "yaxis_title": "Capacity / A h"}


@pytest.fixture(scope="module")
def bench(demo_store: Path) -> Iterator[Bench]:
    with wb.open(demo_store) as bench:
        yield bench


def codes(figure: go.Figure, dataset: Dataset | None = None) -> list[str]:
    return [odd.code for odd in lint(encode(figure), dataset)]


def found(figure: go.Figure, code: str, dataset: Dataset | None = None) -> list[Lint]:
    return [odd for odd in lint(encode(figure), dataset) if odd.code == code]


def line(x: Any, y: Any, *, titles: Any = TITLES, **more: Any) -> go.Figure:
    return go.Figure(go.Scatter(x=x, y=y, mode="lines", **more)).update_layout(**titles)


# No false alarm


def other_values(recipe: Recipe, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every other choice of each view param that has fixed ones or is a switch."""
    for name, param in recipe.config.params.items():
        control = decide(name, param, options.get(name))
        if param.kind != "view":
            continue
        if isinstance(param.default, bool):
            yield {name: not param.default}
        for option in control.get("options", ()):
            if option["value"] != param.default:
                yield {name: option["value"]}


@pytest.mark.parametrize("plot", saved_plots(), ids=[plot.slug for plot in saved_plots()])
def test_the_plots_of_the_demo_are_without_lint(bench: Bench, plot: Saved) -> None:
    recipe = bench.dashboards.get(plot.dashboard).plot(plot.name).recipe()
    answer = bench.backend.figure(recipe.config, {})
    assert answer.lint == []
    for values in other_values(recipe, answer.options):
        assert bench.backend.figure(recipe.config, values).lint == [], values


def test_a_plain_figure_of_express_has_none() -> None:
    frame = px.data.gapminder().query("continent == 'Oceania'")
    assert codes(px.line(frame, x="year", y="lifeExp", color="country")) == []
    assert codes(px.scatter(frame, x="gdpPercap", y="lifeExp", log_x=True, facet_col="country")) == []
    assert codes(px.box(frame, x="country", y="lifeExp")) == []
    assert codes(px.bar(frame, x="year", y="pop", color="country")) == []
    assert codes(px.histogram(frame, x="lifeExp")) == []
    assert codes(go.Figure(go.Heatmap(z=[[1, 2], [3, 4]]))) == []


# Partial cycles


def cycles(last_low: float = 3.2, last: float = 1.4, *, lowest: bool = True, n: int = 30) -> Dataset:
    capacity = np.append(np.linspace(5, 4.6, n - 1), last)
    columns: dict[str, Any] = {"measurement_id": ["m"] * n, CYCLE: np.arange(n), CAPACITY: capacity}
    if lowest:
        columns[LOWEST] = np.append(np.full(n - 1, 2.5), last_low)
    return Dataset({"cycles": Table.of(columns)})


def fade(dataset: Dataset, shift: int = 1, factor: float = 1000.0) -> go.Figure:
    rows = dataset.steps["cycles"]
    assert isinstance(rows, Table)
    titles = {"xaxis_title": "Cycle number", "yaxis_title": {1.0: "Q / A h", 1e3: "Q / mA h"}.get(factor, "Q / %")}
    return line(rows[CYCLE].values + shift, rows[CAPACITY].values * factor, titles=titles, name="M50-A-01")


@pytest.mark.parametrize("lowest", [True, False])
@pytest.mark.parametrize(("shift", "factor"), [(0, 1.0), (1, 1000.0), (1, 20.0)])
def test_a_partial_last_cycle_is_told_in_any_unit(lowest: bool, shift: int, factor: float) -> None:
    data = cycles(lowest=lowest)
    (odd,) = lint(encode(fade(data, shift, factor)), data)
    assert (odd.code, odd.trace) == ("partial_cycle", 0)
    assert "'M50-A-01' (data[0]) ends with cycle count 29, which was cut short" in odd.message
    assert (
        "stopped at 3.2 V, the others reach 2.5 V" if lowest else "falls to 30% of the cycle before"
    ) in odd.message


def test_a_whole_last_cycle_and_one_that_is_left_out_are_not() -> None:
    assert codes(fade(cycles(last_low=2.5)), cycles(last_low=2.5)) == []
    assert codes(fade(cycles(last=4.59, lowest=False)), cycles(last=4.59, lowest=False)) == []
    data = cycles()
    rows = data.steps["cycles"]
    assert isinstance(rows, Table)
    assert codes(line(rows[CYCLE].values[:-1], rows[CAPACITY].values[:-1]), data) == []
    unsteady = cycles(lowest=False)
    rows = unsteady.steps["cycles"]
    assert isinstance(rows, Table)
    rows[CAPACITY].values[-3] *= 0.7
    assert codes(fade(unsteady), unsteady) == []


def judged(*, complete: list[bool | None], owner: str = "measurement_id") -> Dataset:
    n = len(complete)
    rows = {owner: ["m"] * n, CYCLE: np.arange(n), CAPACITY: np.linspace(5, 4.6, n), "Complete": complete}
    return Dataset({"cycles": Table.of(rows)})


@pytest.mark.parametrize("owner", ["measurement_id", "id"])
def test_a_cycle_that_is_not_complete_is_told_wherever_it_is(owner: str) -> None:
    last = judged(complete=[True] * 9 + [False], owner=owner)
    (odd,) = lint(encode(fade(last)), last)
    assert "ends with cycle count 9, which was cut short: 'Complete' is false there" in odd.message
    middle = judged(complete=[True, True, False, True], owner=owner)
    (odd,) = lint(encode(fade(middle)), middle)
    assert "shows cycle count 2, which was cut short" in odd.message


def test_a_complete_cycle_is_not_told_however_small_it_is() -> None:
    """``Complete`` holds over what the capacities look like."""
    sudden = cycles(lowest=False)
    rows = sudden.steps["cycles"]
    assert isinstance(rows, Table)
    for known in (True, None):
        complete = Column.from_python([*[True] * (rows.n - 1), known], "boolean")
        data = Dataset({"cycles": Table({**rows.columns, "Complete": complete}, rows.n)})
        assert codes(fade(data), data) == []
    assert codes(fade(sudden), sudden) == ["partial_cycle"]


def naive(data, params):
    figure = px.line(data["cycles"], x="Cycle count", y="Discharge capacity [A.h]", color="measurement_id")
    return figure.update_xaxes(title="Cycle number")


def naive_recipe(*columns: str) -> wb.Recipe:
    tests = steps.list("measurements", name_contains="LFP-C-0", fields=["id", "name"])
    aged = steps.join(
        tests, tests, ("id", "id"), fields=[], where={"name": ["LFP-C-02_ageing", "LFP-C-03_ageing"]}
    )
    rows = steps.summary("cycles", aged, [CYCLE, CAPACITY, *columns])
    return wb.Recipe(plan=wb.plan(tests=tests, aged=aged, cycles=rows), transform=naive)


@pytest.mark.parametrize("columns", [(), (LOWEST,)])
def test_the_cliff_of_the_sample_data_is_found_in_a_naive_plot(bench: Bench, columns: tuple[str, ...]) -> None:
    figure = bench.figure(naive_recipe(*columns))
    (odd,) = figure.workbench.lint
    assert odd.code == "partial_cycle"
    assert "ends with cycle count 120" in str(odd)
    assert figure.data[odd.trace].x[-1] == 120
    assert odd.as_dict() == {"code": "partial_cycle", "message": odd.message, "trace": odd.trace}
    assert bench.figure(naive_recipe(*columns)).workbench.lint == [odd]
    assert wb.Figure(go.Figure()).workbench.lint == []


# Groups of one


def spread(sizes: dict[str, int], n: int = 10) -> go.Figure:
    rows = [
        {"batch": batch, "cycle": cycle, "value": 100 - cycle - 0.1 * cell * cycle}
        for batch, size in sizes.items()
        for cell in range(size)
        for cycle in range(n if cell == 0 else n - 4 * (batch == "uneven"))
    ]
    figure = go.Figure().update_layout(**TITLES)
    for place, (batch, group) in enumerate(pd.DataFrame(rows).groupby("batch", sort=False)):
        mean = battery.mean_and_spread(group, "cycle", "value")
        figure.add_traces(battery.band(mean, "cycle", str(batch), battery.PALETTE[place]))
    return figure


def test_a_band_of_one_cell_is_told() -> None:
    assert codes(spread({"A": 2, "B": 3})) == []
    (odd,) = found(spread({"A": 2, "B": 1}), "group_of_one")
    assert odd.trace == 2
    assert "The band of 'B' (data[2]) has no width anywhere" in odd.message
    (tail,) = found(spread({"uneven": 2}), "group_of_one")
    assert "from 6 on" in tail.message


def test_error_bars_boxes_and_filled_lines_of_one_are_told() -> None:
    bars = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], error_y={"array": [0.1, 0]})).update_layout(**TITLES)
    assert codes(bars) == []
    bars.data[0].error_y.array = [0, None]
    assert codes(bars) == ["group_of_one"]
    assert codes(go.Figure(go.Box(x=["A", "A", "B"], y=[1, 2, 3])).update_layout(**TITLES)) == ["group_of_one"]
    assert codes(go.Figure(go.Box(x=["A", "A", "B", "B"], y=[1, 2, 3, 3])).update_layout(**TITLES)) == []
    assert codes(go.Figure(go.Violin(y=[1], name="A")).update_layout(**TITLES)) == ["group_of_one"]
    low, high = [1.0, 2.0, 3.0], [1.0, 2.5, 3.0]
    filled = line([1, 2, 3], low).add_scatter(x=[1, 2, 3], y=high, fill="tonexty")
    assert codes(filled) == []
    assert codes(filled.update_traces(y=low)) == ["group_of_one"]


# Curves


def half(n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    charge = np.linspace(0, 5, n)
    return charge, 4.2 - 0.2 * charge


def test_curves_joined_into_one_line_are_told() -> None:
    x, y = half()
    three = np.tile(x, 3), np.tile(y, 3)
    (odd,) = lint(encode(line(*three, name="test")))
    assert (odd.code, odd.trace) == ("joined_curves", 0)
    assert "jumps back from 5 to 0, and 1 more time." in odd.message
    assert codes(line(*three).update_traces(mode="markers")) == []
    gaps = [np.concatenate([values, [np.nan], values]) for values in (x, y)]
    assert codes(line(*gaps)) == []
    falling = np.tile(x[::-1], 2), np.tile(y, 2)
    assert codes(line(*falling)) == ["joined_curves"]
    many = pd.DataFrame({"Cycle count": list(range(50)) * 3, "Q": np.arange(150.0)})
    assert codes(px.line(many, x="Cycle count", y="Q")) == ["joined_curves"]


def test_lines_that_go_back_on_their_way_are_not() -> None:
    x, y = half()
    loop = np.concatenate([x, x[::-1]]), np.concatenate([y, y[::-1] + 0.1])
    assert codes(line(*loop)) == []
    angle = np.linspace(0, 2 * np.pi, 100)
    assert codes(line(np.cos(angle), np.sin(angle))) == []
    assert codes(line([0, 1] * 20, np.arange(40.0))) == []
    assert codes(line(*loop, fill="toself")) == []
    noisy = np.arange(200.0) + np.random.default_rng(0).normal(0, 3, 200)
    assert codes(line(noisy, noisy)) == []


def series(**columns: Any) -> Dataset:
    n = len(next(iter(columns.values())))
    names = {"t": "Time [s]", "i": "Current [A]", "v": "Voltage [V]", "re": "Z_Re [Ohm]", "im": "Z_Im [Ohm]"}
    table = Table.of({names[key]: np.asarray(values, float) for key, values in columns.items()})
    return Dataset({"samples": {"m": Samples(np.arange(n), table, True, n)}})


T = np.arange(50.0) * 10
SAMPLES = series(t=T, i=np.sin(T / 100), v=3 + np.cos(T / 90))
CURRENT, V = np.sin(T / 100), 3 + np.cos(T / 90)
HOURS = {"xaxis_title": "Time / h", "yaxis_title": "Current / A"}


def test_a_current_with_its_sign_turned_is_told_unless_the_figure_says_so() -> None:
    assert codes(line(T / 3600, CURRENT, titles=HOURS), SAMPLES) == []
    (odd,) = lint(
        encode(line(T / 3600, -1000 * CURRENT, titles={**HOURS, "yaxis_title": "Current / mA"})), SAMPLES
    )
    assert (odd.code, odd.trace, odd.axis) == ("current_turned", 0, "yaxis")
    for said in ("Current (charge positive) / A", "Current, positive on charge / A", "−I / A"):
        assert codes(line(T / 3600, -CURRENT, titles={**HOURS, "yaxis_title": said}), SAMPLES) == []


def test_arcs_that_hang_below_the_axis_are_told() -> None:
    angle = np.linspace(0, np.pi, 20)
    real, imaginary = 2 - np.cos(angle), -np.sin(angle)
    data = series(re=real, im=imaginary)
    titles = {"xaxis_title": "Z′ / mΩ", "yaxis_title": "Z″ / mΩ"}
    assert codes(line(1000 * real, 1000 * imaginary, titles=titles), data) == ["nyquist_turned"]
    assert codes(line(1000 * real, -1000 * imaginary, titles=titles), data) == []
    turned = line(real * 1000, imaginary * 1000, titles=titles).update_yaxes(autorange="reversed")
    assert codes(turned, data) == []


# Axes


def test_units_that_share_an_axis_are_told() -> None:
    frame = pd.DataFrame({"Time [s]": T, "Voltage [V]": V, "Current [A]": CURRENT})
    both = px.line(frame, x="Time [s]", y=["Voltage [V]", "Current [A]"])
    (odd,) = lint(encode(both))
    assert (odd.code, odd.trace, odd.axis) == ("mixed_units", 1, "yaxis")
    assert "'Voltage [V]' (data[0]) is in V and 'Current [A]' (data[1]) in A" in odd.message
    both.data[1].yaxis = "y2"
    both.update_layout(yaxis2={"title": "Current [A]", "overlaying": "y", "side": "right"})
    assert codes(both) == []
    unnamed = line(T, V, titles={"xaxis_title": "s", "yaxis_title": "value"}).add_scatter(x=T, y=CURRENT)
    assert "mixed_units" in codes(unnamed, SAMPLES)


@pytest.mark.parametrize(
    ("x", "title", "code"),
    [
        (T, "Time / s", None),
        (T, "Time / h", "wrong_unit"),
        (T / 3600, "Time / h", None),
        (T / 3600, "Time (hours)", None),
        (T / 60, "Time [h]", "wrong_unit"),
        (T / 60, "Time, min", None),
        (T / 3600, "Time in s", "wrong_unit"),
        (T, "Time", "unit_missing"),
        (T / 3600, "Time", None),
        (T + 1, "Time / h", None),
        (T, "Time / arbitrary", None),
    ],
)
def test_a_title_with_another_unit_or_none_is_told(x: Any, title: str, code: str | None) -> None:
    odds = lint(encode(line(x, V, titles={"xaxis_title": title, "yaxis_title": "Voltage / V"})), SAMPLES)
    assert [odd.code for odd in odds] == ([] if code is None else [code])
    assert all(odd.axis == "xaxis" for odd in odds)


def test_a_title_of_another_quantity_is_told() -> None:
    (odd,) = lint(encode(line(T / 3600, V, titles=HOURS)), SAMPLES)
    assert odd.code == "wrong_unit"
    assert "The axis yaxis says 'Current / A', and data[0] shows the column 'Voltage [V]'." in odd.message


def test_an_axis_of_numbers_without_title_is_told_once() -> None:
    figure = go.Figure(go.Scatter(x=[1, 2], y=[3, 4])).add_scatter(x=[1, 2], y=[5, 6])
    assert [(odd.code, odd.axis) for odd in lint(encode(figure))] == [
        ("axis_untitled", "xaxis"),
        ("axis_untitled", "yaxis"),
    ]
    dates = go.Figure(go.Scatter(x=["2024-01-01", "2024-01-02"], y=["a", "b"]))
    assert codes(dates) == []
    assert codes(figure.update_xaxes(visible=False).update_yaxes(title="y")) == []


@pytest.mark.parametrize(("titles", "untitled"), [
    ({"x_title": "Time / h", "y_title": "Voltage / V"}, set()), ({"x_title": "Time / h"}, {"yaxis", "yaxis3"}),
    ({"y_title": "Voltage / V"}, {"xaxis3", "xaxis4"}),
    ({"subplot_titles": ["a", "b", "c", "d"]}, {"xaxis3", "xaxis4", "yaxis", "yaxis3"}),
])  # fmt: skip
def test_a_title_that_panels_share_is_one_of_their_axes(titles: dict[str, Any], untitled: set[str]) -> None:
    figure = make_subplots(rows=2, cols=2, shared_xaxes=True, shared_yaxes=True, **titles)
    for row, col in ((1, 1), (1, 2), (2, 1), (2, 2)):
        figure.add_scatter(x=[1, 2, 3], y=[row, col, 5], name=f"{row}{col}", row=row, col=col)
    assert {one.axis for one in found(figure, "axis_untitled")} == untitled


def test_values_that_a_logarithm_cannot_show_are_told() -> None:
    figure = line([0.01, 1, 100], [1, 0, -2]).update_xaxes(type="log")
    assert codes(figure) == []
    (odd,) = lint(encode(figure.update_yaxes(type="log")))
    assert (odd.code, odd.axis) == ("log_not_positive", "yaxis")
    assert "2 of 3 values" in odd.message


# Looks


def named(*traces: dict[str, Any], **layout: Any) -> go.Figure:
    figure = go.Figure().update_layout(**TITLES, **layout)
    for place, trace in enumerate(traces):
        figure.add_scatter(**{"x": [1, 2], "y": [place, place + 1], "mode": "lines", **trace})
    return figure


def test_groups_that_look_alike_are_told() -> None:
    red, dashed = {"line": {"color": "red"}}, {"line": {"color": "red", "dash": "dash"}}
    assert codes(named({"name": "A", **red}, {"name": "B", **dashed})) == []
    (odd,) = lint(encode(named({"name": "A", **red}, {"name": "B", **red})))
    assert (odd.code, odd.trace) == ("same_look", 1)
    assert "'A', 'B' look alike" in odd.message
    assert codes(named({"name": "A", **red}, {"name": "B", **red, "showlegend": False})) == []
    nine = named(*({"name": f"cell {n}"} for n in range(9)), template=battery.template())
    assert codes(nine) == ["same_look"]
    nine.update_layout(annotations=battery.end_labels(nine.data), showlegend=False, margin={"r": 90})
    assert "same_look" not in codes(nine), "names beside the ends tell them apart"
    assert codes(named(*({"name": f"cell {n}"} for n in range(8)), template=battery.template())) == []
    (many,) = lint(encode(named(*({"name": f"cell {n}"} for n in range(11)), template=battery.template())))
    assert (
        "'cell 0', 'cell 8' look alike, with the same colour, dash and symbol; so do the traces of 2 more looks."
        in str(many)
    )


def test_entries_of_one_name_are_told() -> None:
    assert codes(named({"name": "A"}, {"name": "A"})) == ["same_name"]
    assert codes(named({"name": "A", "legendgroup": "a"}, {"name": "A", "legendgroup": "a"})) == []
    assert codes(named({"name": "A"}, {"name": "A", "showlegend": False})) == []


def test_traces_without_points_are_told() -> None:
    assert codes(named({"name": "A"}, {"name": "B", "x": [], "y": []})) == ["empty_trace"]
    assert codes(named({"name": "A"}, {"name": "B", "y": [None, np.nan]})) == ["empty_trace"]
    assert codes(named({"name": "A"}, {"name": "B", "x": [], "y": [], "showlegend": False})) == []
    assert codes(named({"name": "A"}, {"name": "swatch", "x": [None], "y": [None]})) == []
    assert codes(go.Figure()) == ["nothing_drawn"]
    assert codes(named({"name": "A", "x": [], "y": []})) == ["nothing_drawn"]


@pytest.mark.parametrize(
    ("trace", "is_empty"),
    [
        (go.Heatmap(z=[]), True),
        (go.Heatmap(x=[1, 2], y=[1, 2], z=[[None, np.nan], [None, None]]), True),
        (go.Heatmap(z=np.full((2, 2), np.nan)), True),
        (go.Heatmap(z=[[None, 1]]), False),
        (go.Contour(), True),
        (go.Scatterpolar(r=[], theta=[]), True),
        (go.Barpolar(r=[1]), False),
        (go.Scatter3d(x=[1], y=[1], z=[None]), True),
        (go.Pie(labels=["a"], values=[None]), True),
        (go.Pie(labels=["a", "a"]), False),
        (go.Indicator(value=3), False),
        (go.Box(q1=[1], median=[2], q3=[3]), False),
    ],
)
def test_a_figure_of_any_kind_may_show_nothing(trace: Any, is_empty: bool) -> None:
    assert ("nothing_drawn" in codes(go.Figure(trace))) == is_empty


@pytest.mark.parametrize(("rows", "more", "shown"), [
    (15, {"height": 300}, 5), (15, {"height": 580}, None), (16, {"height": 580}, 15), (30, {}, 16), (16, {}, None),
    (3, {"height": 100}, 0), (25, {"template": "none"}, 19), (15, {"template": "none"}, None),
])  # fmt: skip
def test_a_table_with_more_rows_than_fit_is_told(rows: int, more: dict[str, Any], shown: int | None) -> None:
    header, values = ["Cell", "Capacity / A h"], [[f"cell {n}" for n in range(rows)], list(range(rows))]
    table = go.Table(header={"values": header}, cells={"values": values})
    figure = go.Figure(table, layout={"template": battery.template(), **more})
    told = found(figure, "table_cut")
    assert len(told) == (shown is not None)
    if shown is not None:
        assert f"at most {shown} row" in told[0].message
        assert f" of its {rows} " in told[0].message
    assert found(go.Figure(go.Table(), layout={"height": 10}), "table_cut") == []


def test_texts_that_go_on_in_the_next_line_make_a_row_higher() -> None:
    """The picture of such a table was cut at its lower edge, though the height was right for rows of one line."""
    short, long = ["measured"] * 8, ["more than 1.2 times the cycles that were measured"] * 8
    for last, cut in ((short, False), (long, True)):
        table = go.Table(header={"values": list("ABCDEF")}, cells={"values": [short] * 5 + [last]})
        figure = go.Figure(table, layout={"template": battery.template(), "height": 470})
        assert bool(found(figure, "table_cut")) == cut
    wide = go.Table(header={"values": ["A"]}, cells={"values": [long]})
    assert found(go.Figure(wide, layout={"template": battery.template(), "height": 470}), "table_cut") == []


def thinned(every: int, complete: bool = False) -> Dataset:
    """Three steps of 100 s, of which each ``every``-th sample was read."""
    rows = np.arange(0, 300, every)
    table = Table.of({"Time [s]": rows * 1.0, "Voltage [V]": 3 + np.cos(rows / 40), "Step count": rows // 100})
    names = Table.of({"id": ["0198"], "name": ["rate test"]})
    return Dataset({"tests": names, "samples": {"0198": Samples(rows, table, complete, 300)}})


def by_step(every: int, factor: float = 1.0, gap: bool = False) -> go.Figure:
    rows = np.arange(0, 300, every)
    figure = go.Figure(layout=go.Layout(xaxis_title="Time / s", yaxis_title="Voltage / V"))
    for step in range(3):
        part = rows[rows // 100 == step]
        x, y = factor * part, 3 + np.cos(part / 40)
        figure.add_scatter(
            x=[*x, None] if gap else x, y=[*y, None] if gap else y, name=f"step {step}", mode="lines"
        )
    return figure


@pytest.mark.parametrize(("factor", "gap"), [(1.0, False), (1 / 3600, False), (1.0, True)])
def test_curves_of_few_of_their_samples_are_told_by_the_name_of_the_test(factor: float, gap: bool) -> None:
    (told,) = found(by_step(10, factor, gap), "samples_left_out", thinned(10))
    assert told.message.startswith(
        "3 curves have few of the samples of 'rate test': 'step 0' (data[0]) shows 10 of 91."
    )
    assert told.trace == 0


def test_curves_that_have_most_of_their_samples_or_enough_are_not() -> None:
    assert found(by_step(2), "samples_left_out", thinned(2)) == []
    assert found(by_step(10), "samples_left_out", thinned(10, complete=True)) == []
    assert found(by_step(10, 1.01), "samples_left_out", thinned(10)) == []
    assert found(by_step(10).update_traces(mode="markers"), "samples_left_out", thinned(10)) == []
    assert found(by_step(10), "samples_left_out") == []


def test_of_samples_that_a_helper_names_nothing_is_said_again() -> None:
    said = [{"code": "samples_left_out", "message": "It may be wrong: the frame of 'rate test' was read with 30."}]
    assert "samples_left_out" not in {one.code for one in lint(encode(by_step(10)), thinned(10), said)}
    other = [{"code": "samples_left_out", "message": "It may be wrong: the frame of 'other' was read with 30."}]
    assert "samples_left_out" in {one.code for one in lint(encode(by_step(10)), thinned(10), other)}


def test_every_rule_is_tried_and_has_words() -> None:
    text = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    for code, rule in RULES.items():
        assert f'"{code}"' in text, code
        assert rule.finds.endswith(".")
        assert rule.fix.endswith(".")


def test_hostile_figures_are_looked_at_without_a_word() -> None:
    for figure in (
        {},
        {"data": None},
        {"data": [{}], "layout": None},
        {"data": [{"x": 5, "y": "abc"}, {"type": "scatter", "x": [[1]], "y": {"a": 1}}], "layout": {"xaxis": 3}},
        {"data": [{"x": [1, None, "a"], "y": [True, False], "marker": {"color": [1]}, "line": 3, "name": 5}]},
        {"data": [{"type": "box"}, {"type": "bar", "y": []}, {"fill": "toself", "x": [], "y": []}]},
        {"data": [{"x": [1, 2, 3], "y": [1], "fill": "toself", "error_y": {"array": "x"}}]},
    ):
        before = copy.deepcopy(figure)
        assert isinstance(lint(figure, SAMPLES), list)
        assert figure == before


def test_values_of_any_kind_anywhere_in_a_figure_are_looked_at_without_an_error() -> None:
    rng = np.random.default_rng(1)
    values: list[Any] = [None, 3, "x", [1, 2], {"a": 1}, [None], [{"a": 1}], ["a", 1], True, [[1], [2]], "", 1e308]
    values += [[1e308, -1e308], {"color": [1]}, {"text": 5}, {"size": {}}, [10**18], "scatter", "bar", "lines"]
    keys = ["type", "x", "y", "z", "name", "mode", "line", "marker", "legendgroup", "showlegend", "visible"]
    keys += ["error_y", "fill", "xaxis", "customdata", "text"]
    places = ["xaxis", "yaxis", "annotations", "template", "colorway", "title", "coloraxis", "legend"]

    def some(names: list[str]) -> dict[str, Any]:
        return {name: values[rng.integers(len(values))] for name in rng.choice(names, 4, replace=False)}

    for _ in range(300):
        lint({"data": [some(keys) for _ in range(3)], "layout": some(places)}, None)


def test_hints_are_the_first_of_each_rule_with_the_number_of_the_others() -> None:
    found = [
        Lint("same_name", "One.", 0),
        Lint("same_name", "Two.", 1),
        Lint("unit_missing", "Three.", None, "xaxis"),
    ]
    first, other = hints([*found, found[1]])
    assert (first.code, first.message, first.trace) == ("same_name", "One. There are 2 more of this kind.", 0)
    assert other == found[2]
