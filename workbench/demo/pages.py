"""The index page of a demo: every figure under its dashboard, with its question and its param values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TypedDict

import orjson
from pydantic import JsonValue

from .. import export
from ..inert_page import inert_script, page_start
from ..messages import spaced
from ..passport import Passport
from ..recipe.controls import decide
from ..recipe.params import Param
from ..recipe.values import fixed_options


class Count(TypedDict):
    """How many records of a kind there are, with the names of some."""

    what: str
    count: int
    examples: str


@dataclass(frozen=True)
class Drawn:
    """A drawn plot, or a plot with the problem that kept it from being drawn."""

    name: str
    dashboard: str
    slug: str
    description: str
    figure: bytes | None = None
    params: Mapping[str, Param] = field(default_factory=dict)
    values: Mapping[str, JsonValue] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    ms: float = 0.0
    problem: str = ""
    passport: Passport | None = None

    @property
    def result(self) -> str:
        """What came of it, in words."""
        if self.figure is None:
            return "failed"
        return f"drawn, {len(self.warnings)} warnings" if self.warnings else "drawn"


def index_page(plots: Sequence[Drawn], counts: Sequence[Count]) -> bytes:
    """The page as HTML. It needs only plotly.js next to it, and draws a figure when it scrolls into view."""
    boards: dict[str, list[Drawn]] = {}
    for plot in plots:
        boards.setdefault(plot.dashboard, []).append(plot)
    links = "".join(f'<a href="#{_anchor(board)}">{escape(board)}</a>' for board in boards)
    sections = "".join(_section(board, listed) for board, listed in boards.items())
    figures = {plot.slug: plot.figure for plot in plots if plot.figure is not None}
    page = f"""{page_start("Battery Workbench demo")}
<style>{_STYLE}</style>
<script>{inert_script()}</script>
<script defer src="{export.PLOTLY_FILE}"></script>
</head>
<body>
<header>
<h1>Battery Workbench demo</h1>
<p>The cells are simulated. Their data were written as exports of four brands of cycler and read with the ordinary
readers. Every figure below is a saved plot: a recipe of data, script and params that anyone can draw again.</p>
<p>These pages show each figure with its values below and have no controls; <code>bench.show</code> in a notebook
has. Cycles count from 0, as in the data: axes, tables and params show the same numbers.</p>
<nav>{links}<a href="#store">What is in the store</a></nav>
</header>
<main>
{sections}
<section id="store"><h2>What is in the store</h2><table><tbody>{_counts(counts)}</tbody></table></section>
</main>
<footer><p>Open the store in Python: <code>import workbench as wb; bench = wb.open("workbench.db")</code></p></footer>
{_figures(figures)}
<script>{_SCRIPT.replace("CONFIG", orjson.dumps({**export.CONFIG, "displayModeBar": False}).decode())}</script>
</body>
</html>
"""
    return page.encode()


def shown(value: JsonValue, param: Param | None = None) -> str:
    """A param value for readers: the label of a choice, yes or no, a list with commas."""
    for option in (fixed_options(param) or ()) if param is not None else ():
        if option["value"] == value and type(option["value"]) is type(value):
            return str(option.get("label") or value)
    if value is None:
        return "auto"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        numbers = len(value) == 2 and all(isinstance(item, int | float) for item in value)
        return (
            " to ".join(map(str, value)) if numbers else ", ".join(shown(item, param) for item in value) or "none"
        )
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return str(value) or "any"


def _anchor(board: str) -> str:
    return escape("board-" + "".join(letter if letter.isalnum() else "-" for letter in board.lower()), quote=True)


def _section(board: str, plots: Sequence[Drawn]) -> str:
    cards = "".join(map(_card, plots))
    return f'<section id="{_anchor(board)}"><h2>{escape(board)}</h2><div class="grid">{cards}</div></section>\n'


def _card(plot: Drawn) -> str:
    slug = escape(plot.slug, quote=True)
    head = f"<h3>{escape(plot.name)}</h3><p>{escape(plot.description)}</p>"
    if plot.figure is None:
        return f'<article id="{slug}">{head}<p class="problem">Not drawn: {escape(plot.problem)}</p></article>'
    notes = "".join(f'<p class="warning">{escape(text)}</p>' for text in plot.warnings)
    return (
        f'<article id="{slug}">{head}<div class="figure" data-figure="{slug}"></div>{notes}'
        f"<dl>{_values(plot)}</dl>"
        f'<p class="open"><a href="{slug}.html">Open alone</a></p></article>'
    )


def _values(plot: Drawn) -> str:
    rows = []
    for name, value in plot.values.items():
        param = plot.params.get(name)
        if param is not None and decide(name, param)["widget"] == "textarea":
            continue  # the figure itself shows a text of several lines
        label = (param.control.label if param is not None and param.control is not None else None) or name
        rows.append(f"<div><dt>{escape(label)}</dt><dd>{escape(shown(value, param))}</dd></div>")
    return "".join(rows)


def _counts(counts: Sequence[Count]) -> str:
    return "".join(
        f'<tr><th scope="row">{escape(str(row["what"]))}</th><td class="number">{spaced(row["count"])}</td>'
        f"<td>{escape(str(row['examples']))}</td></tr>"
        for row in counts
    )


def _figures(figures: Mapping[str, bytes]) -> str:
    """The figures as JSON, escaped so that no figure can end its script element."""
    made = []
    for slug, figure in figures.items():
        text = figure.decode().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        made.append(f'<script type="application/json" id="of-{escape(slug, quote=True)}">{text}</script>')
    return "\n".join(made)


_STYLE = """
:root { color-scheme: light dark; --ground: #f4f5f7; --card: #ffffff; --ink: #1d2129; --soft: #5b6472;
  --line: #e1e4e9; --accent: #0b62a8; --alarm: #a83232; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171c; --card: #1e232b; --ink: #e8eaee; --soft: #a3acb9;
  --line: #323945; --accent: #7db9ee; --alarm: #f0a0a0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
header, main, footer { max-width: 1500px; margin: 0 auto; padding: 0 clamp(14px, 3vw, 40px); }
header { padding-top: 32px; }
h1 { margin: 0 0 6px; font-size: clamp(24px, 4vw, 34px); letter-spacing: -0.01em; }
h2 { margin: 40px 0 14px; font-size: 22px; }
h3 { margin: 0; font-size: 17px; }
header p { max-width: 75ch; margin: 0 0 8px; color: var(--soft); }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
nav { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 16px; }
nav a { padding: 5px 14px; border: 1px solid var(--line); border-radius: 999px; background: var(--card); }
.grid { display: grid; gap: 18px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 540px), 1fr)); }
article { min-width: 0; padding: 18px; border: 1px solid var(--line); border-radius: 12px; background: var(--card);
  display: flex; flex-direction: column; scroll-margin-top: 12px; }
article > p { margin: 2px 0 12px; color: var(--soft); }
.figure { height: 440px; background: #ffffff; border-radius: 8px; overflow: hidden; }
dl { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 12px 0 0; font-size: 13.5px; }
dl div { display: flex; flex-wrap: wrap; gap: 0 6px; min-width: 0; }
dt { color: var(--soft); }
dt::after { content: ":"; }
dd { margin: 0; overflow-wrap: anywhere; }
article > p.open { margin: auto 0 0; padding-top: 10px; font-size: 14px; }
article > p.warning, article > p.problem { margin: 10px 0 0; color: var(--alarm); font-size: 14px; }
table { border-collapse: collapse; background: var(--card); border: 1px solid var(--line); width: 100%;
  max-width: 900px; }
th, td { padding: 7px 12px; border-top: 1px solid var(--line); text-align: left; font-weight: 400;
  vertical-align: top; overflow-wrap: anywhere; }
td.number { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
td:last-child { color: var(--soft); }
footer { padding-top: 24px; padding-bottom: 40px; color: var(--soft); }
code { overflow-wrap: anywhere; }
@media (max-width: 640px) { .figure { height: 380px; margin: 0 -10px; } article { padding: 14px; } }
"""

_SCRIPT = """
addEventListener("DOMContentLoaded", () => {
  const draw = (place) => {
    const content = JSON.parse(document.getElementById("of-" + place.dataset.figure).textContent);
    Plotly.newPlot(place, {...content, config: CONFIG});
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      draw(entry.target);
    }
  }, {rootMargin: "600px"});
  for (const place of document.querySelectorAll("[data-figure]")) seen.observe(place);
});
"""
