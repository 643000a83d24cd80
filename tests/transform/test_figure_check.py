"""A figure from elsewhere is shown only if nothing in it fetches, runs or reaches too far."""

from __future__ import annotations

import contextlib
import time

import numpy as np
import orjson
import plotly.express as px
import plotly.graph_objects as go
import plotly.io as pio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plotly.basedatatypes import BaseTraceType

from workbench.transform.figure import encode, trace_types
from workbench.transform.figure_check import Unsafe, checked

PNG = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVQYV2NgAAIAAAUAAarVyFEAAAAASUVORK5CYI"
PNG += "I="


def figure(layout: object = None, *traces: object, **more: object) -> bytes:
    return orjson.dumps({"data": list(traces), "layout": layout or {}, **more})


def refused(raw: bytes) -> str:
    with pytest.raises(Unsafe) as caught:
        checked(raw)
    return str(caught.value)


HONEST = {
    "lines": lambda: go.Figure(
        go.Scatter(x=np.arange(50.0), y=np.arange(50)), {"title": "Voltage [V] <b>at</b> C/2"}
    ),
    "express": lambda: px.scatter(x=[1, 2], y=[3, 4], color=["a", "b"], facet_col=["u", "v"], template="seaborn"),
    "times": lambda: go.Figure(go.Scatter(x=np.array(["2024-01-01"], "M8[us]"), y=[1])),
    "heat": lambda: go.Figure(go.Heatmap(z=np.ones((3, 4)), colorscale="Viridis")),
    "image": lambda: go.Figure(go.Image(source=PNG), {"images": [{"source": PNG, "x": 0}]}),
    "sankey": lambda: go.Figure(go.Sankey(link={"source": [0], "target": [1], "value": [2.0]})),
    "links": lambda: go.Figure(
        layout_title_text='<a href="https://doi.org/10.1">paper</a> <span style="color:#123">s</span>'
    ),
    "words": lambda: go.Figure(go.Bar(x=["prototype cell", "constructor", "__proto__"], y=[1, 2, 3])),
    "formula": lambda: go.Figure(layout_title_text=r"$\frac{dQ}{dV}$ in $\mathrm{A\,h}$"),
    "buttons": lambda: go.Figure(
        layout={
            "updatemenus": [
                {"buttons": [{"method": "update", "args": [{"visible": [True]}, {"title.text": "x"}]}]}
            ]
        }
    ),
    "frames": lambda: px.bar(x=["a", "b"], y=[1, 2], animation_frame=[1, 2]),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_figure_comes_back_byte_for_byte(name: str) -> None:
    raw = encode(HONEST[name]())
    assert checked(raw) == raw


@pytest.mark.parametrize("name", list(pio.templates))
def test_every_template_is_honest(name: str) -> None:
    raw = encode(go.Figure(layout={"template": name}))
    assert checked(raw) == raw


def test_the_kinds_of_traces_are_plotlys() -> None:
    classes = (getattr(go, name) for name in dir(go))
    traces = {
        str(one._path_str) for one in classes if isinstance(one, type) and issubclass(one, BaseTraceType)
    } - {""}
    assert trace_types() == traces - {str(BaseTraceType._path_str)}


@pytest.mark.parametrize("kind", sorted(trace_types()))
def test_maps_fetch_and_all_other_kinds_are_drawn(kind: str) -> None:
    raw = figure(None, {"type": kind})
    if kind in ("scattergeo", "scattermap", "choropleth", "choroplethmap", "densitymap"):
        assert "map" in refused(raw)
    else:
        assert checked(raw) == raw


ADDRESSES = [
    "http://a.b/c.png",
    "//a.b/c.png",
    "/c.png",
    "c.png",
    "HTTPS://a.b",
    " data:image/png;base64,AAAA",
    "data:image/svg+xml;base64,AAAA",
    "data:image/png,raw",
    "data:text/html;base64,AAAA",
    "blob:http://a/1",
    "javascript:alert(1)",
    PNG + "#x",
    PNG + "\n",
]
PLACES = [
    lambda a: figure({"images": [{"source": a}]}),
    lambda a: figure({"images": [[{"source": a}]]}),
    lambda a: figure({"template": {"layout": {"images": [{"source": a}]}}}),
    lambda a: figure({"template": {"data": {"image": [{"source": a}]}}}),
    lambda a: figure({"images[0].source": a}),
    lambda a: figure({"images[0][source]": a}),
    lambda a: figure(None, {"type": "image", "source": a}),
    lambda a: figure(None, frames=[{"layout": {"images": [{"source": a}]}}]),
    lambda a: figure({"updatemenus": [{"buttons": [{"args": [{"images[0].source": a}]}]}]}),
    lambda a: figure({"map": {"layers": [{"source": a}]}}),
    lambda a: figure({"map": {"layers": [{"source": [a]}]}}),
    lambda a: figure({"x": {"geojson": a}}),
]


@pytest.mark.parametrize("place", range(len(PLACES)))
@pytest.mark.parametrize("address", ADDRESSES)
def test_only_embedded_pictures_have_an_address(address: str, place: int) -> None:
    assert "address" in refused(PLACES[place](address))
    assert checked(PLACES[place](PNG))


@pytest.mark.parametrize(
    "raw",
    [
        figure({"__proto__": {"a": 1}}),
        figure({"a": [{"constructor": 1}]}),
        figure({"xaxis.__proto__.a": 1}),
        figure({"xaxis[__proto__].a": 1}),
        figure({"a": {"b.prototype": 1}}),
        figure(None, {"type": "bar", "customdata": [{"prototype": 1}]}),
        figure(None, frames=[{"name": "a", "data": [{"__proto__": 1}]}]),
        figure({"sliders": [{"steps": [{"args": [["__proto__.a"], 1]}]}]}),
        figure({"updatemenus": [{"buttons": [{"args2": ["a[constructor].b", 1]}]}]}),
    ],
)
def test_no_key_reaches_a_prototype(raw: bytes) -> None:
    assert "JavaScript reserves" in refused(raw)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"dtype": "f8", "bdata": "AAAA"}, "not a whole number of f8"),
        ({"dtype": "f8", "bdata": "AAAAAAAA8D8=", "shape": "2"}, "do not fill"),
        ({"dtype": "f8", "bdata": "AAAAAAAA8D8=", "shape": "1, 1, 1, 1"}, "one to three"),
        ({"dtype": "f8", "bdata": "AAAAAAAA8D8=", "shape": "-1"}, "one to three"),
        ({"dtype": "f8", "bdata": "AAAAAAAA8D8=", "shape": "١"}, "one to three"),
        ({"dtype": "f8", "bdata": "*AAAAAAA8D8="}, "not a typed array"),
        ({"dtype": "f8", "bdata": "AAAAAAAA8D8=\n"}, "not a typed array"),
        ({"dtype": "i8", "bdata": "AAAAAAAA8D8="}, "not a typed array"),
        ({"dtype": ["f8"], "bdata": "AAAAAAAA8D8="}, "not a typed array"),
        ({"bdata": 5}, "not a typed array"),
    ],
)
def test_typed_arrays_are_what_they_say(spec: object, why: str) -> None:
    assert why in refused(figure(None, {"type": "bar", "y": spec}))


def test_typed_arrays_of_every_type_are_let_in() -> None:
    for dtype in ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4"):
        raw = encode({"data": [{"type": "heatmap", "z": np.ones((3, 2), dtype)}], "layout": {}})
        assert checked(raw) == raw


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "not JSON"),
        (b"[]", "mapping"),
        (b'{"layout": {}}', "lists"),
        (b'{"data": {}}', "lists"),
        (b'{"data": [1]}', "not a trace"),
        (b'{"data": [{"type": 5}]}', "not a type of trace"),
        (b'{"data": [{"type": "scater"}]}', "Did you mean 'scatter'"),
        (b'{"data": [], "config": {}}', "no 'config'"),
        (b'{"data": [{"y": [NaN]}]}', "not JSON"),
        (b'{"data": []} {"data": []}', "not JSON"),
        (b'{"data": [], "layout": {"a": "\xff"}}', "not JSON"),
        (b'{"data": ' + b"[" * 2000 + b"]" * 2000 + b"}", "not JSON"),
        (b'{"data": [], "layout": {"a": ' + b"[" * 60 + b"]" * 60 + b"}}", "deep"),
        (b'{"data": [], "layout": {"a": [' + b"{}," * 400_001 + b"{}]}}", "more than 400000"),
        (b'{"data": [], "layout": {"a": "' + b"x" * 2**24 + b'"}}', "MB"),
        (b'{"data": [], "frames": [{"data": [{"type": "scattermap"}]}]}', "map"),
    ],
)
def test_what_is_no_figure(raw: bytes, why: str) -> None:
    assert why in refused(raw)


@pytest.mark.parametrize(
    "text",
    [
        '<b style="background:url(//a)">x</b>',
        "<b STYLE='cursor: URL(a)'>",
        "<span style=\"cursor:image-set('a' 1x)\">",
        '<span style="cursor:u\\72l(a)">',
        '<span style="cursor:u/**/rl(a)">',
        '<span style="cursor:ur&#108;(a)">',
        '<span a="b" style = "mask:src(a)">',
        "<span style=\"@import 'a'\">",
        "<span style=cursor:url(a)>",
        r"$\href{javascript:alert(1)}{x}$",
        r"$\style{background:url(a)}{x}$",
        r"$\require{html}$",
        r"a $\HREF{a}{b}$",
    ],
)
def test_texts_neither_fetch_nor_link_by_a_style_or_a_formula(text: str) -> None:
    for raw in (figure({"title": {"text": text}}), figure(None, {"type": "bar", "text": ["a", text]})):
        refused(raw)


def test_what_is_hidden_from_a_quick_look_is_not_in_what_comes_back() -> None:
    raw = b'{"data": [], "layout": {"images": [{"source": "http://a"}], "images": [], "t": "\\u0061", "n": 1e0}}'
    assert checked(raw) == b'{"data":[],"layout":{"images":[],"t":"a","n":1.0}}'
    assert "style" in refused(b'{"data": [], "layout": {"t": "<b \\u0073tyle=\'a:url(b)\'>"}}')


def test_a_large_figure_of_plain_numbers_is_looked_at_quickly() -> None:
    raw = orjson.dumps({"data": [{"type": "scatter", "y": np.random.default_rng(0).random(400_000).tolist()}]})
    began = time.process_time()
    checked(raw)
    assert time.process_time() - began < 0.3


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["source", "args", "map", "style", "a.b", "bdata", "dtype", "shape", "x"]), inner
        )
    ),
    max_leaves=20,
)


@settings(max_examples=100, deadline=None)
@given(JSON, JSON)
def test_whatever_comes_ends_in_a_figure_or_in_words(layout: object, trace: object) -> None:
    raw = orjson.dumps({"data": [trace], "layout": layout})
    try:
        once = checked(raw)
    except Unsafe:
        return
    assert checked(once) == once


def test_an_authors_own_content_may_name_sources() -> None:
    raw = figure(
        {"meta": {"source": "Neware, 2024", "url": "none"}}, {"type": "bar", "customdata": [{"source": "a"}]}
    )
    assert checked(raw) == raw


@pytest.mark.parametrize(
    "layout",
    [
        {"updatemenus": [{"buttons": [{"method": "restyle", "args": ["type", "scattermap"]}]}]},
        {"updatemenus": [{"buttons": [{"method": "restyle", "args": [{"type": ["scattergeo"]}]}]}]},
        {"sliders": [{"steps": [{"method": "animate", "args": [[{"data": [{"type": "densitymap"}]}]]}]}]},
    ],
)
def test_no_button_turns_a_trace_into_a_map(layout: object) -> None:
    assert "map" in refused(figure(layout, {"type": "scatter"}))


EVIL = {
    "open tags": "<" * 200_000 + "style(",
    "words without a call": "<b style='" + "a" * 200_000 + "'>",
    "spaces": "<b style='a" + " " * 200_000 + "'>",
    "many styles": "<" + "style = " * 50_000 + ">",
    "styles and spaces": "<" + ("style" + " " * 500) * 400 + ">",
    "quotes": "<" + "style='" * 50_000,
    "calls": "<b style='" + "rgb(" * 50_000 + "'>",
    "dots": "$" + "\\href" * 40_000,
}


@pytest.mark.parametrize("name", EVIL)
def test_no_text_makes_the_look_at_it_slow(name: str) -> None:
    raw = figure({"t": EVIL[name], "s": "style "})
    began = time.process_time()
    with contextlib.suppress(Unsafe):
        checked(raw)
    assert time.process_time() - began < 0.3


@pytest.mark.parametrize(
    "raw",
    [
        b'{"data": [], "layout": {"args": [' + b'"a.b",' * 900_000 + b"1]}}",
        b'{"data": [], "layout": {"args": [' + b'"a.source",' * 900_000 + b"1]}}",
        b'{"data": [], "layout": {"a": [' + b"\"<b style='a:rgb(1,2,3)'>\"," * 99_000 + b"1]}}",
        b'{"data": [], "layout": {"a": [' + b"{}," * 390_000 + b"{}]}}",
        b'{"data": [], "layout": {"a": [' + b'{"a":{}},' * 195_000 + b"{}]}}",
        b'{"data": [{"type": "bar", "y": {"dtype": "f8", "bdata": "", "shape": "' + b"1," * 7_000_000 + b'1"}}]}',
        b'{"data": [{"type": "bar", "y": {"dtype": "f8", "bdata": "", "shape": [' + b"1," * 7_000_000 + b"1]}}]}",
        b'{"data": [], "layout": {"' + b"a." * 7_000_000 + b'": 1}}',
        b'{"data": [], "layout": {"a": ["style", ' + b'"$",' * 3_900_000 + b"1]}}",
        b'{"data": [{"type": [' + b"1," * 7_000_000 + b"1]}]}",
        b'{"data": [], "layout": {"a": "' + b"<b>" * 5_000_000 + b'"}}',
        b'{"data": [], "layout": {"a": "' + b"<b style=a>" * 1_400_000 + b'"}}',
        b'{"data": [], "layout": {"a": ["$",' + b'"<5\\\\x",' * 900_000 + b"1]}}",
    ],
    ids=[
        *("arguments", "names of arguments", "styles"),
        *("dicts", "nested", "long shape", "listed shape", "dotted key", "texts", "kind of trace"),
        *("plain tags", "tags", "signs in texts"),
    ],
)
def test_no_figure_costs_the_server_much(raw: bytes) -> None:
    began = time.process_time()
    with contextlib.suppress(Unsafe):
        checked(raw)
    assert time.process_time() - began < 2.0


STYLE = "style='background-image:url(//a)'>"
COMPOSED = {
    "prefix and suffix": figure(
        {"xaxis": {"tickprefix": "<b style='background-image:url(//a/", "ticksuffix": ")'>x</b>"}}
    ),
    "letters of a form of times": figure({"xaxis": {"type": "date", "tickformat": f"<b sty%le={STYLE[6:]}%Y"}}),
    "tag from a form of times": figure({"xaxis": {"type": "date", "tickformat": f"<%i {STYLE}%Y"}}),
    "two parts of meta": figure({"title": {"text": "%{meta.a}%{meta.b}"}, "meta": {"a": "<b st", "b": STYLE[2:]}}),
    "tag from meta": figure({"title": {"text": "<%{meta}"}, "meta": f"b {STYLE}"}),
    "name from meta": figure({"title": {"text": "<b%{meta}"}, "meta": f" {STYLE}"}),
    "style from meta": figure({"title": {"text": "<b style='cursor:%{meta}'>x"}, "meta": "url(//a)"}),
    "style from a template": figure(
        None, {"type": "bar", "texttemplate": "<b sty%{customdata}", "customdata": [STYLE[3:]]}
    ),
    "tag that is taken out": figure(None, {"type": "bar", "name": f"<b sty<x>{STYLE[3:]}"}),
    "sign before a part": figure({"yaxis": {"tickprefix": "<", "ticksuffix": f"b {STYLE}"}}),
    "space of JavaScript": figure({"title": {"text": "<b style\ufeff=\ufeff'cursor:url(//a)'>x"}}),
    "formula from meta": figure({"title": {"text": "$%{meta}$"}, "meta": "\\href{javascript:alert(1)}{x}"}),
    "command in two parts": figure(
        {"title": {"text": "$%{meta.a}%{meta.b}$"}, "meta": {"a": "\\hr", "b": "ef{}"}}
    ),
    "command from a form of times": figure(
        {"xaxis": {"type": "date", "tickformat": "$\\h%ref{javascript:1}{x}$"}}
    ),
    "command behind a percent": figure({"xaxis": {"type": "date", "tickformat": "$\\%-href{javascript:1}{x}$"}}),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_no_style_or_command_is_put_together_from_parts(name: str) -> None:
    assert "The text" in refused(COMPOSED[name])


@pytest.mark.parametrize(
    "text",
    [
        "a < b, x<5, <= 3, I<I_max and c << d",
        "<b>x</b> <span style='font-size:80%; color:rgb(1,2,3)'>y</span>",
        "<a href='https://a.b/c%20d?e=1'>paper</a>",
        "%{x:.2f} <br>%{customdata[0]}<extra></extra>",
        r"$\frac{dQ}{dV}$ at $50\%$ of $\mathrm{A\,h}$",
        "&lt;",
    ],
)
def test_honest_signs_and_tags_are_let_in(text: str) -> None:
    raw = figure({"title": {"text": text}}, {"type": "bar", "name": text, "hovertemplate": text})
    assert checked(raw) == raw


@pytest.mark.parametrize(
    "layout",
    [
        {"modebar": {"add": ["sendDataToCloud"]}},
        {"modebar": {"add": "toImage+SendDataToCloud"}},
        {"modebar.add": ["editInChartStudio"]},
        {"template": {"layout": {"modebar": {"add": ["senddatatocloud"]}}}},
        {"updatemenus": [{"buttons": [{"method": "relayout", "args": ["modebar.add", "sendDataToCloud"]}]}]},
        {"updatemenus": [{"buttons": [{"method": "relayout", "args": [{"modebar.add": ["sendDataToCloud"]}]}]}]},
    ],
)
def test_no_figure_adds_a_button_that_sends_it_elsewhere(layout: object) -> None:
    assert "to an external service" in refused(figure(layout))
    assert checked(figure({"modebar": {"add": ["drawline", "toggleSpikelines"]}}))


def with_button(args: list[object]) -> dict[str, object]:
    return {"data": [], "layout": {"updatemenus": [{"buttons": [{"method": "relayout", "args": args}]}]}}


@pytest.mark.parametrize("text", ["", "<b>", "M", "D3", "x", "-1", "M-1", "1 2", "Infinity"])
def test_texts_with_which_plotly_looks_for_ticks_without_end_are_refused(text: str) -> None:
    for figure in (
        {"data": [], "layout": {"yaxis": {"dtick": text}}},
        {"data": [{"type": "surface", "colorbar": {"dtick": text}}], "layout": {}},
        *map(
            with_button,
            (
                ["xaxis.dtick", text],
                [{"xaxis.minor.dtick": text}],
                ["colorbar.dtick", [text]],
                [{"dtick": [[text]]}],
            ),
        ),
    ):
        with pytest.raises(Unsafe, match="look for ticks without end"):
            checked(orjson.dumps(figure))


@pytest.mark.parametrize("given", ["M3", "M12", "L0.5", "D1", "D2", "86400000", "0.5", "1e3", 5, 0.1, None])
def test_distances_of_ticks_are_drawn(given: object) -> None:
    raw = orjson.dumps({"data": [], "layout": {"xaxis": {"dtick": given}, "meta": {"dtick": "any"}}})
    assert checked(raw) == raw
    raw = orjson.dumps(with_button(["xaxis.dtick", given]))
    assert checked(raw) == raw
