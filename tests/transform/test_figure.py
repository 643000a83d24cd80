"""The one serialiser: what goes in comes out, equal content gives equal bytes, errors name the place."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import plotly.express as px
import plotly.graph_objects as go
import plotly.io as pio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.transform.figure import NotAFigure, decode, encode, problems, to_plotly


def trace(**content: object) -> dict[str, object]:
    """The first trace after a round trip through bytes."""
    return decode(encode({"data": [content], "layout": {}}))["data"][0]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([0.1, np.nan, np.inf]), "f8"),
        (np.array([0.1], np.float32), "f4"),
        (np.array([0.5], np.float16), "f4"),
        (np.array([1, -128]), "i1"),
        (np.array([1, 255]), "u1"),
        (np.array([1, -32768]), "i2"),
        (np.array([65535]), "u2"),
        (np.array([-(2**31)]), "i4"),
        (np.array([2**32 - 1]), "u4"),
        (np.array([1, 2], np.uint64), "i1"),
        (np.array([1.5], ">f8"), "f8"),
        (np.arange(6.0)[::2], "f8"),
        (np.arange(6.0).reshape(2, 3).T, "f8"),
        (pd.Series([1.5, 2.5], index=[5, 6]), "f8"),
        (pd.Index([1, 2, 3]), "i1"),
        (pd.Series([1, 2], dtype="Int64"), "i1"),
        (pd.Series([1, None], dtype="Int64"), "f8"),
        (pd.Series([1.5, None], dtype="Float64"), "f8"),
    ],
)
def test_numbers_travel_as_typed_arrays_of_the_smallest_type(values: object, dtype: str) -> None:
    spec = json.loads(encode({"data": [{"y": values}]}))["data"][0]["y"]
    assert spec["dtype"] == dtype
    expected = np.asarray(pd.Series(values, dtype=float) if isinstance(values, pd.Series) else values, float)
    np.testing.assert_array_equal(np.asarray(trace(y=values)["y"], float), expected)


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int64, np.int16, np.uint32, np.uint64]),
        hnp.array_shapes(max_dims=3),
    )
)
def test_any_array_comes_back_value_by_value(values: np.ndarray) -> None:
    back = trace(z=values)["z"]
    if isinstance(back, list):
        assert back == values.tolist()
    else:
        assert back.shape == values.shape
        np.testing.assert_array_equal(back.astype(values.dtype), values)


def test_integers_beyond_32_bits_are_lists() -> None:
    assert trace(y=np.array([2**53 + 1, 0]))["y"] == [2**53 + 1, 0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2.5, None, "a", True], [1, 2.5, None, "a", True]),
        ([float("nan"), float("inf"), -float("inf")], [None, None, None]),
        ([np.int64(1), np.float32(0.5), np.bool_(True), np.nan], [1, 0.5, True, None]),
        ((1, 2), [1, 2]),
        ([], []),
        (np.array([]), []),
        (np.array([True, False]), [True, False]),
        (pd.Series([True, None], dtype="boolean"), [True, None]),
        (pd.Series(["a", None]), ["a", None]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (np.array(["a", 1, None], object), ["a", 1, None]),
        (np.array(["a", "b"]), ["a", "b"]),
        (pd.Series(pd.to_datetime(["2026-01-31", None])), ["2026-01-31T00:00:00", None]),
        (pd.DatetimeIndex(["2026-01-31T12:00:00.5"], tz="Europe/Berlin"), ["2026-01-31T11:00:00.500"]),
        (np.array(["2026-01-31T00:00:00.000001"], "M8[us]"), ["2026-01-31T00:00:00.000001"]),
        ([datetime(2026, 1, 31, 13, tzinfo=timezone(timedelta(hours=1)))], ["2026-01-31T12:00:00"]),
        (
            [pd.Timestamp("2026-01-31"), pd.NaT, pd.NA, date(2026, 1, 1)],
            ["2026-01-31T00:00:00", None, None, "2026-01-01"],
        ),
        ([Decimal("1.5")], [1.5]),
        ([[1, np.int8(2)], np.array([[3.0], [4.0]])], None),
    ],
)
def test_other_values_become_plain_json(values: object, expected: list[object] | None) -> None:
    back = trace(y=values)["y"]
    if expected is not None:
        assert back == expected
        assert [type(a) for a in back] == [type(b) for b in expected]


def test_the_bytes_are_strict_json_and_deterministic() -> None:
    figure = {"data": [{"y": [float("nan")], "x": np.array([np.nan])}], "layout": {"width": float("inf")}}
    data = encode(figure)
    assert data == encode(figure)

    def refuse(text: str) -> None:
        raise AssertionError(text)

    json.loads(data, parse_constant=refuse)


def test_a_layout_holds_no_typed_arrays() -> None:
    layout = {"xaxis": {"range": np.array([0.0, 1.0]), "tickvals": np.array([1, 2])}}
    assert json.loads(encode({"data": [], "layout": layout}))["layout"]["xaxis"] == {
        "range": [0.0, 1.0],
        "tickvals": [1, 2],
    }


def test_a_figure_and_its_mapping_say_the_same() -> None:
    y = np.linspace(0, 1, 50)
    content = {
        "data": [{"type": "scatter", "y": y, "name": "a"}],
        "layout": {"title": "A", "xaxis": {"title": "t"}, "template": {"layout": {"xaxis": {"title": "u"}}}},
    }
    figure = go.Figure(content)
    ours, plotlys = json.loads(encode(figure)), json.loads(pio.to_json(figure))
    assert ours == plotlys
    direct = json.loads(encode(content))
    assert direct["layout"]["title"] == {"text": "A"}
    assert direct["layout"]["xaxis"]["title"] == {"text": "t"}
    assert direct["layout"]["template"]["layout"]["xaxis"]["title"] == {"text": "u"}
    assert direct["data"] == ours["data"]


def test_plotlys_own_figures_are_written_as_plotly_writes_them() -> None:
    frame = px.data.iris()
    for figure in (
        px.scatter(frame, x="sepal_width", y="sepal_length", color="species", hover_data=["petal_width"]),
        px.density_heatmap(frame, x="sepal_width", y="sepal_length"),
        px.box(frame, x="species", y="sepal_width"),
        px.line(frame, y="sepal_width", animation_frame="species", range_y=[0, 5]),
        go.Figure(go.Heatmap(z=np.arange(6.0).reshape(2, 3), colorbar={"title": "c"})),
    ):
        ours, plotlys = decode(encode(figure)), decode(pio.to_json(figure).encode())
        assert json.dumps(ours, default=np.ndarray.tolist) == json.dumps(plotlys, default=np.ndarray.tolist)


def test_an_authors_own_content_is_left_alone() -> None:
    back = decode(encode({"data": [{"meta": {"title": "mine"}}], "layout": {"meta": {"title": "mine"}}}))
    assert back["data"][0]["meta"] == back["layout"]["meta"] == {"title": "mine"}


def test_random_ids_are_left_out() -> None:
    assert "uid" not in trace(uid="x", y=[1])


def test_parts_may_be_plotly_objects() -> None:
    figure = {"data": [go.Scatter(y=[1, 2])], "layout": go.Layout(title="A")}
    back = decode(encode(figure))
    assert back["data"][0]["type"] == "scatter"
    assert back["layout"]["title"]["text"] == "A"


def test_frames_are_kept() -> None:
    figure = go.Figure(go.Scatter(y=[1]), frames=[go.Frame(data=[go.Scatter(y=np.array([2.0]))], name="f")])
    back = decode(encode(figure))
    assert back["frames"][0]["name"] == "f"
    assert back["frames"][0]["data"][0]["y"].tolist() == [2.0]
    assert "frames" not in decode(encode(go.Figure()))


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (None, "returned nothing"),
        ("figure", "returned a str"),
        ([1], "returned a list"),
        ({"layout": {}}, "without 'data'"),
        ({"data": [], "layuot": {}}, "'layuot'.*'layout'"),
        ({"data": {}}, "'data' of a figure must be a list"),
        ({"data": [1]}, r"'data\[0\]' of a figure must be a mapping"),
        ({"data": [], "layout": []}, "'layout' of a figure must be a mapping"),
        ({"data": [{"x": {1}}]}, r"'data\[0\].x' is a set.*Sort"),
        ({"data": [{"x": [object()]}]}, r"'data\[0\].x\[0\]' is a object"),
        ({"data": [{"x": b"raw"}]}, "is a bytes"),
        ({"data": [{"x": pd.to_timedelta([1], "s")}]}, "total_seconds"),
        ({"data": [{"x": timedelta(1)}]}, "total_seconds"),
        ({"data": [{"x": np.array([1j])}]}, "complex128"),
        ({"data": [{"x": 2**70}]}, "cannot be written"),
        ({"data": [{}, {"type": "scater"}]}, r"'data\[1\].type' is 'scater', .* Did you mean 'scatter'"),
        ({"data": [{"type": None}]}, r"'data\[0\].type' is 'a NoneType'"),
    ],
)
def test_what_is_no_figure_is_refused_with_the_place(figure: object, words: str) -> None:
    with pytest.raises(NotAFigure, match=words):
        encode(figure)


def test_a_figure_that_holds_itself_is_refused() -> None:
    inner: dict[str, object] = {}
    inner["again"] = inner
    with pytest.raises(NotAFigure, match="nested more than"):
        encode({"data": [{"meta": inner}]})


def test_the_content_given_is_not_changed() -> None:
    layout = {"title": "A"}
    content = {"data": [{"uid": "u", "y": np.array([1])}], "layout": layout}
    encode(content)
    assert layout == {"title": "A"}
    assert content["data"][0]["uid"] == "u"


def test_back_to_plotly_without_a_foreign_look() -> None:
    figure = to_plotly(
        encode({"data": [{"type": "scatter", "y": np.array([1.5, 2.5])}], "layout": {"title": "A"}})
    )
    assert figure.data[0].y.tolist() == [1.5, 2.5]
    assert figure.layout.template.to_plotly_json() == {}
    assert "template" not in json.loads(figure.to_json())["layout"]
    themed = go.Figure(go.Bar(y=[1]), layout={"template": "plotly_white"})
    assert encode(to_plotly(encode(themed))) == encode(themed)


@pytest.mark.parametrize("name", ["1", "x_1", "[0]", "..", "", "self", "title_1", "no_such"])
def test_names_that_plotly_does_not_have_are_left_out(name: str) -> None:
    """Some of them break plotly where it splits them into the parts of a path."""
    content = {"data": [{"type": "scatter", "y": [1], name: 2, "meta": {name: 3}}], "layout": {"xaxis": {name: 2}}}
    figure = to_plotly(encode(content))
    assert (figure.data[0].y, figure.data[0].meta) == ((1,), {name: 3})
    assert figure.layout.to_plotly_json().get("xaxis", {}) == {}
    assert problems(encode(content))


def test_a_template_by_name_is_written_in_full() -> None:
    named = {"data": [{"type": "bar", "y": [1]}], "layout": {"template": "plotly_white"}}
    assert decode(encode(named)) == decode(encode(go.Figure(named)))
    assert named["layout"] == {"template": "plotly_white"}


def test_problems_are_found_on_request() -> None:
    assert problems(encode({"data": [{"type": "scatter", "y": [1]}]})) == []
    found = problems(encode({"data": [{"type": "scatter", "yy": [1]}]}))
    assert "yy" in found[0]
    assert list(to_plotly(encode({"data": [{"type": "scatter", "yy": [1], "y": [2]}]})).data[0].y) == [2]


def test_times_of_utc() -> None:
    assert trace(x=[datetime(2026, 1, 1, tzinfo=UTC)])["x"] == ["2026-01-01T00:00:00"]
