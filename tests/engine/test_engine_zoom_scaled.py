"""Zoom on columns that a script has scaled or shifted: found in what is shown and verified on all of it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from support.engine_store import CURRENT, TIME, VOLTAGE, Lab

from workbench.dataset import Dataset, Samples
from workbench.engine.answer import Answered, dataset
from workbench.engine.scaled_columns import fit
from workbench.engine.traces import shown_traces, traceable
from workbench.engine.zoom import detail
from workbench.recipe.check import sound
from workbench.store.scope import EVERYTHING
from workbench.table import Table
from workbench.transform.figure import decode, encode

N = 30_000
START = 1_769_817_600.0
"""Seconds from 1970 to a day in 2026."""
DATE = "Date"
EPS = float(np.finfo(np.float64).eps)
CONFIG = {
    "plan": {
        "steps": {
            "tests": {"op": "list", "source": "measurements", "fields": ["id", "name"]},
            "curves": {
                "op": "series",
                "source": "measurements",
                "ids": {"from": "tests", "column": "id"},
                "x": TIME,
                "columns": [VOLTAGE, CURRENT, DATE],
                "max_points": 500,
            },
        }
    }
}
Change = Callable[[Any], Any]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Lab:
    """A long test of pulses, and one on the same grid of times."""
    lab = Lab(tmp_path_factory.mktemp("scaled"))
    cell = lab.make("instances", name="cell", specification_id=lab.specification("M50").id)
    for seed in range(2):
        noise = np.random.default_rng(seed)
        times = np.arange(N) * 2.0
        columns = {
            TIME: times,
            VOLTAGE: 3.6 + 0.5 * np.sin(times / 4000) + 0.01 * noise.standard_normal(N),
            CURRENT: np.where(np.arange(N) // 50 % 3 == 0, 2.5, -1.25) * (np.arange(N) % 100 > 40),
            DATE: (np.datetime64("2026-01-31T00:00:00") + (times * 1e6).astype("m8[us]")).astype("M8[us]"),
        }
        lab.measurement(cell, f"Test {seed}", series=Table.of(columns))
    return lab


@pytest.fixture(scope="module")
def answered(lab: Lab) -> Answered:
    return dataset(sound(CONFIG, transform=False), {}, lab.store, lab.scope)


def first(answered: Answered) -> tuple[str, Samples]:
    curves = answered.dataset.steps["curves"]
    assert isinstance(curves, dict)
    return next(iter(curves.items()))


def column(samples: Samples, name: str) -> Any:
    values = samples.table[name].values
    return values.view("M8[us]") if name == DATE else values


def whole(lab: Lab, key: str, name: str) -> Any:
    values = lab.store.series.read(key, scope=EVERYTHING)[name].values
    return values.view("M8[us]") if name == DATE else values


def figure_of(**trace: Any) -> dict[str, Any]:
    """A figure as the page gets it: written as bytes and read back."""
    return decode(encode({"data": [{"type": "scatter", **trace}], "layout": {}}))


def zoomed(lab: Lab, answered: Answered, figure: Any, low: Any, high: Any) -> Any:
    config = sound(CONFIG, transform=False)
    found = detail(figure, answered.dataset, config, lab.store, lab.scope, traces=[0], x=[low, high], width=4000)
    return found.get(0)


def hours(times: Any) -> Any:
    return times / 3600


def since(dates: Any) -> Any:
    return (dates - dates[0]) / np.timedelta64(1, "h")


EXACT: dict[str, tuple[str, Change, str, Change]] = {
    "hours": (TIME, hours, VOLTAGE, lambda v: v),
    "days": (TIME, lambda t: t / 86400, VOLTAGE, lambda v: v),
    "milliampere": (TIME, lambda t: t, CURRENT, lambda i: i * 1000),
    "charge positive": (TIME, lambda t: t, CURRENT, lambda i: -i),
    "both": (TIME, hours, CURRENT, lambda i: i * 1000),
    "against each other": (VOLTAGE, lambda v: v * 1000, CURRENT, lambda i: -i * 1000),
    "kelvin": (TIME, lambda t: t, VOLTAGE, lambda v: v + 273.15),
    "above 3.6 V": (TIME, lambda t: t / 60, VOLTAGE, lambda v: (v - 3.6) * 1000),
    "offset of a start": (TIME, lambda t: (t - 2000) / 3600, VOLTAGE, lambda v: v),
    "of its range": (TIME, lambda t: t, VOLTAGE, lambda v: (v - v.min()) / (4.2 - 3.0)),
    "since the first date": (DATE, since, VOLTAGE, lambda v: v),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("dtype", ["float64", "float32", "list", "Decimal"])
def test_detail_of_a_scaled_column_is_what_the_script_would_have_drawn(
    lab: Lab, answered: Answered, name: str, dtype: str
) -> None:
    """All that was left out is read again, and the same is done to it as to what is shown."""
    key, samples = first(answered)
    (x, of_x, y, of_y) = EXACT[name]

    def typed(values: Any) -> Any:
        if dtype == "list":
            return values.tolist()
        return [Decimal(repr(value)) for value in values.tolist()] if dtype == "Decimal" else values.astype(dtype)

    xs, ys = of_x(column(samples, x)), of_y(column(samples, y))
    figure = figure_of(x=typed(xs), y=typed(ys))
    (shown,) = shown_traces(figure, answered.dataset)
    assert shown == {"detail": "finer", "shown": samples.table.n, "of": N}
    middle = sorted(xs.tolist())[len(xs) // 2]
    width = (xs.max() - xs.min()) / 100
    finer = zoomed(lab, answered, figure, middle - width, middle + width)
    exact_x = of_x(whole(lab, key, x))
    exact_y = of_y(whole(lab, key, y)) if name != "of its range" else (whole(lab, key, y) - ys_min(samples)) / 1.2
    precision = 1e-6 if dtype == "float32" else 1e-13
    wanted = dict(zip(exact_x.tolist(), exact_y.tolist(), strict=True)) if x != VOLTAGE else None
    assert finer.shown == finer.of
    if wanted is None:
        assert len(finer.x) > len(xs)
        return
    near_x = np.array(sorted(wanted))
    places = np.clip(np.searchsorted(near_x, np.array(finer.x) - width / 1e4), 0, len(near_x) - 1)
    size = max(abs(near_x).max(), 1.0)
    assert np.abs(near_x[places] - finer.x).max() <= precision * size
    found_y = np.array([wanted[near_x[place]] for place in places])
    assert np.abs(found_y - finer.y).max() <= precision * max(abs(found_y).max(), 300)
    inside = [value for value in exact_x.tolist() if middle - width <= value <= middle + width]
    assert len([value for value in finer.x if middle - width <= value <= middle + width]) in (
        len(inside) - 1,
        len(inside),
        len(inside) + 1,
    )
    if dtype == "float64" and name in ("hours", "days", "milliampere", "charge positive", "both", "kelvin"):
        assert set(zip(finer.x, finer.y, strict=True)) <= set(wanted.items()), "equal to the bit"


def ys_min(samples: Samples) -> float:
    return float(column(samples, VOLTAGE).min())


def test_dates_made_from_seconds_are_read_again_as_dates(lab: Lab, answered: Answered) -> None:
    _, samples = first(answered)
    start = np.datetime64("2025-03-01T08:00:00")
    dates = start + (column(samples, TIME) * 1e6).astype("m8[us]")
    figure = figure_of(x=dates, y=column(samples, VOLTAGE))
    assert traceable(figure, answered.dataset)[0].x in (TIME, DATE)
    finer = zoomed(lab, answered, figure, "2025-03-01T09:00:00", "2025-03-01 09:01:00")
    assert [x for x in finer.x if "2025-03-01T09:00:30" <= x <= "2025-03-01T09:00:35"] == [
        "2025-03-01T09:00:30.000000",
        "2025-03-01T09:00:32.000000",
        "2025-03-01T09:00:34.000000",
    ]


def test_scaled_values_of_the_same_rows_follow(lab: Lab, answered: Answered) -> None:
    """Colours and arrays of arrays, as plotly express writes them for what is shown on hover."""
    key, samples = first(answered)
    times, volts, amperes = (column(samples, name) for name in (TIME, VOLTAGE, CURRENT))
    hover = np.stack([volts * 1000, amperes], axis=1)
    figure = figure_of(x=hours(times), y=volts, customdata=hover, marker={"color": amperes * 1000})
    finer = zoomed(lab, answered, figure, 5.0, 5.2)
    stored = dict(zip(whole(lab, key, TIME).tolist(), whole(lab, key, CURRENT).tolist(), strict=True))
    assert len(finer.x) == len(finer.others["customdata"]) == len(finer.others["marker.color"]) > len(times)
    for x, y, hovered, color in zip(
        finer.x, finer.y, finer.others["customdata"], finer.others["marker.color"], strict=True
    ):
        current = stored[round(x * 3600)]
        assert hovered == [pytest.approx(y * 1000), current]
        assert color == pytest.approx(current * 1000)


def test_sources_on_one_grid_are_told_apart_by_their_other_column(lab: Lab, answered: Answered) -> None:
    curves = answered.dataset.steps["curves"]
    assert isinstance(curves, dict)
    for key, samples in curves.items():
        figure = figure_of(x=hours(column(samples, TIME)), y=column(samples, VOLTAGE) * 1000)
        found = traceable(figure, answered.dataset)[0]
        assert (found.id, found.x, found.y) == (key, TIME, VOLTAGE)


UNTRACED: dict[str, tuple[Change, Change, str]] = {
    "square": (hours, lambda v: v**2, "its y is computed by the script"),
    "rounded": (hours, lambda v: v.round(2), "its y is computed by the script"),
    "smoothed": (hours, lambda v: np.convolve(v, [0.5, 0.5], "same"), "its y is computed by the script"),
    "sum": (hours, np.cumsum, "its y is computed by the script"),
    "nearly": (hours, lambda v: v * 1000 + 1e-6 * np.sin(v), "its y is computed by the script"),
    "logarithm of time": (lambda t: np.log(t + 1), lambda v: v, "its x is computed by the script"),
    "both": (np.sqrt, np.sqrt, "its x and y are computed by the script"),
    "gaps": (hours, lambda v: np.where(v > 3.9, np.nan, v), "its y is computed by the script"),
    "constant": (hours, lambda v: v * 0 + 4.2, "its y has one value in every sample shown"),
    "shuffled": (lambda t: hours(t[::-1]), lambda v: v, "computed by the script"),
    "few": (lambda t: t[:100], lambda v: v[:100], "computed by the script"),
}


@pytest.mark.parametrize("name", UNTRACED)
def test_what_is_not_one_column_is_left_alone_and_says_why(lab: Lab, answered: Answered, name: str) -> None:
    _, samples = first(answered)
    of_x, of_y, why = UNTRACED[name]
    figure = figure_of(x=of_x(column(samples, TIME)), y=of_y(column(samples, VOLTAGE)))
    (shown,) = shown_traces(figure, answered.dataset)
    assert shown["detail"] == "none"
    assert why in shown["why"]
    assert zoomed(lab, answered, figure, 0.0, 1e6) is None


def test_every_other_reason_is_said_too(answered: Answered) -> None:
    curves = answered.dataset.steps["curves"]
    assert isinstance(curves, dict)
    (key, one), (_, other) = curves.items()
    x, y = hours(column(one, TIME)), column(one, VOLTAGE)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"x": column(one, VOLTAGE), "y": column(other, VOLTAGE) * 2}, "its x and y come from different sources"),
        ({"x": x, "y": y, "text": [str(n) for n in range(len(x))]}, "its 'text' is not from the same rows"),
        ({"x": x, "y": y[:-1]}, "not of one length"),
        ({"y": y}, "fewer than two values of x"),
        ({"x": [None], "y": [None]}, "fewer than two values of x"),
        ({"x": x, "y": y, "type": "bar"}, "its type is 'bar'"),
        ({"x": x, "y": y, "meta": {"step": "curves", "id": "nobody"}}, "the source 'nobody' of step 'curves'"),
        ({"x": x, "y": column(one, TIME) * 2}, ""),
    ]
    for trace, why in cases:
        (shown,) = shown_traces(figure_of(**trace), answered.dataset)
        assert (shown["detail"] == "none") == bool(why), (trace, shown)
        assert why in shown.get("why", "")
    (shown,) = shown_traces(figure_of(x=x, y=column(one, TIME) * 2), answered.dataset)
    assert "several sources agree" in shown.get("why", "several sources agree")
    (shown,) = shown_traces(
        figure_of(x=x, y=column(one, TIME) * 2, meta={"step": "curves", "id": key}), answered.dataset
    )
    assert shown["detail"] == "finer"


def test_rows_and_whole_curves_have_all_there_is(answered: Answered) -> None:
    rows = Table.of({"cycle": [1, 2, 3], "capacity": [5.0, 4.9, 4.8]})
    samples = Samples(np.arange(3), Table.of({"t": [0.0, 3600.0, 7200.0], "v": [3.0, 3.5, 4.0]}), True, 3)
    held = Dataset({"cycles": rows, "curves": {"a": samples}})
    figure = decode(
        encode(
            {
                "data": [
                    {"x": np.array([1, 2, 3]), "y": np.array([5.0, 4.9, 4.8]), "type": "bar"},
                    {"x": np.array([0.0, 1.0, 2.0]), "y": np.array([3.0, 3.5, 4.0])},
                ],
                "layout": {},
            }
        )
    )
    assert shown_traces(figure, held) == [{"detail": "all", "shown": 3, "of": 3}] * 2
    made = figure_of(x=[1.0, 7.0, 5.0], y=[0.0, 1.0, 0.0])
    assert shown_traces(made, held)[0]["detail"] == "none"
    made["data"][0]["meta"] = {"step": next(name for name, one in held.steps.items() if isinstance(one, Table))}
    assert shown_traces(made, held) == [{"detail": "all", "shown": 3, "of": 3}], "made of rows, as the script says"
    made["data"][0]["meta"] = {"step": "no such step"}
    assert shown_traces(made, held)[0]["detail"] == "none"


# The factor and the offset alone


@pytest.mark.parametrize(
    ("column", "drawn", "found"),
    [
        ([0.0, 4.0, 0.0], [0.0, 4000.0, 0.0], True),  # mA: a factor between units
        ([0.0, 2.5, 0.0], [0.0, 5.0, 0.0], False),  # it may as well be a flag that is 5 while current flows
        ([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], False),
        ([-1.0, 2.0, 2.0], [-1000.0, 2000.0, 2000.0], True),
        ([-1.0, 2.0, 2.0], [1.0, -2.0, -2.0], True),
        ([-1.0, 2.0, 2.0], [5.0, 9.0, 9.0], False),  # any two points are on a line
        ([25.0, 26.0, 25.0], [298.15, 299.15, 298.15], True),
        ([1.0, 1.0, 1.0], [1000.0, 1000.0, 1000.0], False),
        ([1.0, 2.0, 3.0], [3.0, 5.0, 7.0], True),
        ([1.0, float("nan"), 3.0, 4.0], [2.0, float("nan"), 6.0, 8.0], True),
        ([1.0, float("nan"), 3.0, 4.0], [2.0, 4.0, 6.0, 8.0], False),
        ([1.0, 2.0, 3.0, 4.0], [2.0, float("nan"), 6.0, 8.0], False),
    ],
)
def test_too_few_values_verify_nothing(column: list[float], drawn: list[float], found: bool) -> None:
    assert (fit(np.array(drawn), np.array(column), EPS) is not None) == found


def test_random_factors_and_offsets_are_found_and_other_curves_are_not(long: bool) -> None:
    draw = np.random.default_rng(5)
    for _ in range(20_000 if long else 300):
        n = int(draw.integers(20, 400))
        column = draw.choice([1.0, 1e-3, 1e4, 1e9]) * (draw.standard_normal(n) + draw.choice([0.0, 10.0]))
        factor = float(
            draw.choice([-1.0, 1.0]) * draw.choice([1 / 3600, 1e3, 100, 1 / 86400, draw.uniform(0.1, 9)])
        )
        offset = float(draw.choice([0.0, 273.15, -column[0] * factor, draw.normal() * np.abs(column).max()]))
        drawn = column * factor + offset
        kind = draw.choice(["float64", "float32"])
        precision = float(np.finfo(kind).eps)
        scale = fit(drawn.astype(kind).astype(float), column, precision)
        if scale is None:
            assert kind == "float32"
            assert np.ptp(drawn) < 1e-3 * np.abs(drawn).max(), (factor, offset)
            continue
        further = draw.uniform(column.min(), column.max(), 50)
        size = np.abs(further * factor) + abs(offset)
        assert (np.abs(scale.apply(further) - (further * factor + offset)) <= 64 * precision * size.max()).all()
        span = np.ptp(drawn)
        bent = drawn + 1e-4 * span * ((column - column.min()) / np.ptp(column)) ** 2
        if kind == "float64":
            assert fit(bent, column, precision) is None
