"""Texts of a figure are judged by what plotly can make of them, in every text attribute of plotly's schema."""

from __future__ import annotations

import contextlib
import random
import time
from itertools import product
from typing import Any

import orjson
import plotly.graph_objects as go
import pytest
from support.hostile_texts import PAYLOADS, cases, figure_of, text_attributes

from workbench.transform.figure import encode
from workbench.transform.figure_check import Unsafe, checked

ADDRESS = "http://127.0.0.1:9/x"
TAIL = "b style='background:url(//a)'>x</b>"


def figure(layout: object = None, *traces: object, **more: object) -> bytes:
    return orjson.dumps({"data": list(traces), "layout": layout or {}, **more})


def bar(**attributes: object) -> bytes:
    return figure(None, {"type": "bar", "y": [1], **attributes})


HOSTILE: dict[str, bytes] = {
    "fill of ticks": figure({"yaxis": {"tickformat": "<^9", "ticksuffix": TAIL}}),
    "fill with a comparison": figure({"yaxis": {"tickformat": "<=9", "ticksuffix": TAIL}}),
    "fill of hover": figure({"yaxis": {"hoverformat": "<<9"}}),
    "fill of a stop": figure({"yaxis": {"tickformatstops": [{"value": "<^9"}]}}),
    "fill of a stop by name": figure({"yaxis.tickformatstops[0].value": "<^9"}),
    "fill of cells": figure(None, {"type": "table", "cells": {"format": [[None, "<^9"]], "suffix": [TAIL]}}),
    "fill of a number": figure(None, {"type": "indicator", "number": {"valueformat": "<^9", "suffix": TAIL}}),
    "fill by a button": figure({"updatemenus": [{"buttons": [{"args": ["yaxis.tickformat", "<^9"]}]}]}),
    "fills by a button": figure({"updatemenus": [{"buttons": [{"args": [{"yaxis.tickformat": ["<^9"]}]}]}]}),
    "fill in a frame": figure(frames=[{"layout": {"yaxis": {"tickformat": "<^9"}}}]),
    "fill in a template": bar(texttemplate="%{y:<^9}%{customdata}", customdata=[TAIL]),
    "fill in a shape": figure({"shapes": [{"label": {"texttemplate": "%{x0:<^9}"}}]}),
    "end in a template": bar(texttemplate="%{y:>^9}<"),
    "time in a template": bar(hovertemplate="%{x|<}%{customdata}", customdata=[TAIL]),
    "time behind a sign": bar(hovertemplate="%{x|%d:<}%{customdata}"),
    "time behind a bar": bar(hovertemplate="%{x|a|<}%{customdata}"),
    "quotes of commands": figure({"yaxis": {"tickformat": "\\^9", "ticksuffix": "href{x}$", "tickprefix": "$"}}),
    "separators": figure({"separators": "<,", "yaxis": {"ticksuffix": TAIL}}),
    "separators by a button": figure({"sliders": [{"steps": [{"args": ["separators", "<,"]}]}]}),
    "a name that is cut": figure({"hoverlabel": {"namelength": 2}}, {"type": "bar", "name": "<brick"}),
    "names that are cut": bar(name="<brick", hoverlabel={"namelength": [9, 2]}),
    "a name that a button cuts": figure(
        {"updatemenus": [{"buttons": [{"args": ["hoverlabel.namelength", 2]}]}]}, {"type": "bar", "name": "<5"}
    ),
    "insides of plotly": bar(texttemplate="%{xaxis._gd._fullData[0]._module.plot}%{customdata}"),
    "a function": bar(texttemplate="%{customdata.constructor}"),
    "two styles": bar(name="<b style=x\"style='background: url(//a)'>x</b>"),
    "a style in a title": bar(name="<b title=\"x style='background: url(//a)'\">x</b>"),
    "a link that wraps": figure(
        None, {"type": "table", "cells": {"values": [["<a_href='x'style='background:url(//a)'>"]]}}
    ),
    "a quote of svg": bar(name="<a href='https://a.example/TOBESTRIPPED'>x</a>"),
    "a quote of svg by entity": bar(name="<a href='https://a.example/&#84;OBESTRIPPED'>x</a>"),
    "a key": figure({"yaxis": {"labelalias": {"<b style='background:url(//a)'>": "x"}}}),
    "http": bar(name="<a href='http://a.example'>x</a>"),
    "script": bar(name="<a href='javascript:alert(1)'>x</a>"),
    "relative": bar(name="<a href='page.html'>x</a>"),
    "in place of the page": bar(name="<a href='https://a.example' target='_top'>x</a>"),
    "in the same tab": bar(name="<a target=_self href='https://a.example'>x</a>"),
    "a window": bar(name="<a href='https://a.example' popup='width=1'>x</a>"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_format_template_or_link_gets_a_tag_into_a_page(name: str) -> None:
    with pytest.raises(Unsafe):
        checked(HOSTILE[name])


HONEST: dict[str, Any] = {
    "formats": {"yaxis": {"tickformat": ",.2f", "hoverformat": " >10.3~s", "separators": ", "}},
    "aligned": {"yaxis": {"tickformat": "<10", "hoverformat": "_>8d"}, "xaxis": {"tickformat": "0=5"}},
    "times": {"xaxis": {"tickformat": "%b %d<br>%Y", "tickformatstops": [{"value": "%H:%M<br><b>%e</b>"}]}},
    "separators": {"separators": ".'"},
    "labels": {"xaxis": {"ticktext": ["<=5", "< 3", "<5 > 2", ">=7", "5 << 9"], "labelalias": {"<5": "few"}}},
    "values": {"sliders": [{"steps": [{"value": "<=5", "label": "<=5", "args": ["title.text", "<=5"]}]}]},
    "links": {"title": {"text": "<a href=\"https://doi.org/10.1/a?b=1&c=2#d\" target='_blank'>p</a>"}},
    "mail": {"title": {"text": "<a href='mailto:a@b.example'>p</a>"}},
    "styles": {
        "title": {"text": "<span style=\"font-family:'Arial'; color:rgba(1,2,3,.5)\">p</span><br/>x<br />y"}
    },
    "names": {"hoverlabel": {"namelength": -1}, "title": {"text": "I<I_max"}},
    "short names": {"hoverlabel": {"namelength": 2}, "title": {"text": "<b>x</b>"}},
}
TEMPLATES = [
    *("%{x:.2f} <br>%{customdata[0]:,}<extra></extra>", "%{y:>10.1f}<br>", "%{y:<8}|<br>", "%{x|%b %d<br>%Y}<br>"),
    *("<b>%{fullData.name}</b>: %{y:$,.0f}", "%{_xother} < 5", "%{meta[0]} &lt; %{label}<br>%{percent:.1%}"),
]


@pytest.mark.parametrize("name", HONEST)
def test_honest_formats_separators_and_links_stay_byte_for_byte(name: str) -> None:
    raw = figure(HONEST[name], {"type": "bar", "y": [1]})
    assert checked(raw) == raw


@pytest.mark.parametrize("template", TEMPLATES)
def test_honest_templates_stay_byte_for_byte(template: str) -> None:
    raw = bar(texttemplate=template, hovertemplate=[template], customdata=[["a < b", 1]])
    assert checked(raw) == raw


@pytest.mark.parametrize("number", range(100))
def test_a_hundred_honest_figures_stay_byte_for_byte(number: int) -> None:
    """Figures as scripts draw them, with everything that has a text."""
    chosen = random.Random(number)
    kinds = ["scatter", "bar", "box", "heatmap", "pie", "table", "histogram", "contour", "violin", "scatterpolar"]
    words = [
        "Voltage / V",
        "I < 2 A",
        "SoH ≥ 80 %",
        "C/2 <b>cell 3</b>",
        "Q<sub>d</sub>",
        "a & b",
        "50 %",
        "$\\frac{dQ}{dV}$",
    ]
    made = go.Figure()
    for _ in range(chosen.randint(1, 5)):
        kind, name = chosen.choice(kinds), chosen.choice(words)
        if kind == "table":
            made.add_table(
                header={"values": words}, cells={"values": [words], "format": [",.2f"], "suffix": " mAh"}
            )
        elif kind == "pie":
            made.add_pie(labels=words, values=[1] * len(words), texttemplate="%{label}: %{percent:.1%}")
        else:
            extra = {"hovertemplate": chosen.choice(TEMPLATES)} if kind not in ("pie", "table") else {}
            made.add_trace({"type": kind, "name": name, "meta": words, **extra})
    made.update_layout(
        title=chosen.choice(words),
        separators=chosen.choice([".,", ", ", ".'", ". "]),
        xaxis={
            "tickformat": chosen.choice([".2f", "~s", "%H:%M", ",d", ">8", ""]),
            "ticksuffix": " h",
            "tickprefix": "~",
        },
        yaxis={"title": chosen.choice(words), "exponentformat": "power", "hoverformat": ".3~g"},
        annotations=[{"text": chosen.choice(words), "hovertext": chosen.choice(words)}],
        hovermode=chosen.choice(["x unified", "closest"]),
        updatemenus=[{"buttons": [{"label": "log", "method": "relayout", "args": ["yaxis.type", "log"]}]}],
        sliders=[
            {"currentvalue": {"prefix": "Cycle < "}, "steps": [{"label": "<5", "method": "skip", "args": []}]}
        ],
    )
    raw = encode(made)
    assert checked(raw) == raw


# Whole tags that fetch or run wherever they are shown; the others depend on what comes behind them.
CERTAIN = [
    number
    for number, (text, _) in enumerate(PAYLOADS)
    if text.startswith(("<b style", "<b\nstyle", "<span", "<a "))
]


def test_the_schema_has_the_attributes_that_plotly_documents() -> None:
    found = text_attributes()
    assert len(found) > 1400
    assert {"layout.yaxis.tickformat", "layout.title.text", "pie.texttemplate"} <= set(found)


def test_every_text_attribute_with_every_payload(long: bool) -> None:
    chosen = list(cases()) if long else random.Random(3).sample(list(cases()), 500)
    chosen += product(["layout.title.text", "scatter.name", "layout.annotation.text"], CERTAIN)
    let_in = set()
    for attribute, payload in chosen:
        raw = figure_of([attribute], payload, ADDRESS)
        with contextlib.suppress(Unsafe):
            assert checked(raw) == raw
            let_in.add(payload)
    assert not let_in & set(CERTAIN)


EVIL = {
    "templates": "<5" + "%{x" * 60_000,
    "bodies": "<5" + "%{x:" + "<" * 200_000,
    "closed templates": "<5" + "%{x}" * 50_000,
    "internals": "%{" * 100_000,
    "long template": "%{" + "a" * 200_000,
    "attributes": "<b" + " a='b'" * 40_000,
    "spaces": "<b" + " " * 200_000 + ">",
    "spaces before signs": "<b" + (" a" + " " * 500) * 300 + ">",
    "links that wrap": "<a_href=" * 30_000,
}


@pytest.mark.parametrize("name", EVIL)
def test_no_template_makes_the_look_at_it_slow(name: str) -> None:
    raw = figure({"t": EVIL[name]})
    began = time.process_time()
    with contextlib.suppress(Unsafe):
        checked(raw)
    assert time.process_time() - began < 0.4
