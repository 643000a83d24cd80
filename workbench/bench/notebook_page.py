"""A saved notebook as one page in which the live views still have controls that work: the exporter ``workbench`` of
nbconvert. It draws what each view showed from the store again, with the figures of all choices of its view controls."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson
from nbconvert.exporters.html import HTMLExporter
from nbconvert.exporters.templateexporter import DictLoader
from pydantic import BaseModel, Field, Json, JsonValue, ValidationError
from traitlets import Bool, Unicode

from ..environment import meant_store, store_place
from ..errors import BadRequest, Invalid, NotFound
from ..notebook.saved_picture import VIEWS
from ..recipe.recipe import Recipe
from ..standalone_page.page import MOST_BYTES, PageParts, Sheet, looked_at, parts_of
from .as_of import then
from .opening import connect, open_bench
from .page_exports import source_of, today

if TYPE_CHECKING:
    from .bench import Bench

Notebook: TypeAlias = Any
"""A notebook, a cell or an output of nbformat, which has no types."""
_WIDGET = "application/vnd.jupyter.widget-view+json"
_TEMPLATE = "workbench.html.j2"
# The template of nbconvert takes scripts from other machines: for its widgets, diagrams and formulas.
_WITHOUT_NETWORK = """{% extends 'lab/index.html.j2' %}
{% block html_head_js %}{% endblock %}
{% block jupyter_widgets %}{% endblock %}
{% block html_head_js_mathjax %}{% if resources.mathjax_url %}{{ super() }}{% endif %}{% endblock %}
{% block html_head_js_mermaidjs %}{% endblock %}
"""


class _View(BaseModel):
    """What a live view showed."""

    name: str = Field(max_length=500)
    recipe: Json[dict[str, JsonValue]]
    values: dict[str, JsonValue]
    as_of: int | None = Field(None, ge=0)


class _Views(BaseModel):
    """What the live views of an output showed."""

    title: str = Field("", max_length=500)
    views: list[_View] = Field(max_length=200)


@dataclass(frozen=True)
class _Place:
    """An output with live views: in which cell, which of its outputs, and their plots."""

    cell: Notebook
    output: Notebook
    title: str
    sheets: list[Sheet]


class LivePage(HTMLExporter):  # type: ignore[misc]  # nbconvert has no types
    """Writes a notebook as one HTML page that needs no kernel and no network, with live views whose controls work.

    Scripts of the notebook run protected, unless they are this user's own. A view that cannot be drawn keeps its
    saved picture, and the page says why.
    """

    export_from_notebook = "Workbench page"
    store = Unicode(
        "",
        help="Where the data are: a file, postgresql://..., or the address of a server (its key is in "
        "$WORKBENCH_API_KEY). By default $WORKBENCH_STORE, else workbench.db.",
    ).tag(config=True)
    project = Unicode("", help="Name or id of the project, where there are several.").tag(config=True)
    controls = Bool(True, help="Controls of views work. Without, each view is its figure.").tag(config=True)
    mathjax_url = Unicode("", help="Where MathJax is, which draws formulas. By default they stay text.").tag(
        config=True
    )

    def __init__(self, *args: Any, **how: Any) -> None:
        loaders = [*how.pop("extra_loaders", []), DictLoader({_TEMPLATE: _WITHOUT_NETWORK})]
        super().__init__(*args, extra_loaders=loaders, template_file=_TEMPLATE, **how)

    def from_notebook_node(
        self, nb: Notebook, resources: dict[str, Any] | None = None, **more: Any
    ) -> tuple[str, dict[str, Any]]:
        """The page of a notebook, and what nbconvert keeps of it. The notebook is not changed."""
        made = deepcopy(nb)
        packed = self._live(made)
        page, resources = super().from_notebook_node(made, resources, **more)
        before, end, after = page.rpartition("</body>")
        return f"{before}{packed}{end}{after}", resources

    def _live(self, nb: Notebook) -> str:
        """Put frames where live views are; what the frames hold, for the end of the page."""
        found = [(cell, output, said) for cell, output in _outputs(nb) if (said := _said(output)) is not None]
        if not found:
            return ""
        with closing(self._bench()) as bench:
            frames = [parts for place in self._drawn(bench, found) if (parts := _replaced(place)) is not None]
        nb.metadata.pop("widgets", None)
        made = _packed(frames)
        if len(made) > MOST_BYTES:
            raise BadRequest(
                f"The live views of this notebook would have {len(made) / 1e6:.1f} MB; a page may have "
                f"{MOST_BYTES / 1e6:.0f} MB. Export it with --LivePage.controls=False, or fewer views at once."
            )
        return made

    def _bench(self) -> Bench:
        store = str(self.store)
        project = str(self.project) or None
        if store.startswith(("http://", "https://")):
            return connect(store, project=project)
        place = store_place(store) if store else meant_store(None)
        if not place.exists():
            raise NotFound(f"There is no store at '{place}'. Say where the data are: --LivePage.store=PATH.")
        return open_bench(place, project)

    def _drawn(self, bench: Bench, found: list[tuple[Notebook, Notebook, _Views]]) -> list[_Place]:
        """The first figures of all views; they share the most figures of a page."""
        sources = [
            source_of(then(bench.backend, one.as_of), _recipe(one), one.name or "Figure", one.values)
            for _, _, said in found
            for one in said.views
        ]
        sheets = iter(looked_at(sources, controls=bool(self.controls)))
        return [
            _Place(cell, output, said.title, [next(sheets) for _ in said.views]) for cell, output, said in found
        ]


def _outputs(nb: Notebook) -> Iterator[tuple[Notebook, Notebook]]:
    """The outputs of a notebook, each with its cell."""
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            yield cell, output


def _said(output: Notebook) -> _Views | None:
    """What the live views of an output showed; None where nothing sound says so."""
    try:
        return _Views.model_validate(output.get("metadata", {})[VIEWS])
    except (KeyError, ValidationError):
        return None


def _recipe(view: _View) -> Recipe | dict[str, JsonValue]:
    """The recipe of a view as one of somebody else; one that is not sound as it is, whose problems are shown."""
    try:
        made = Recipe(view.recipe)
    except Invalid:
        return view.recipe
    made.foreign = True
    return made


def _replaced(place: _Place) -> PageParts | None:
    """Put a frame in the place of the live view and its picture. What the frame holds; None where no plot is drawn."""
    place.cell.outputs = [one for one in place.cell.outputs if _WIDGET not in one.get("data", {})]
    if not any(one.drawn for one in place.sheets):
        why = "".join(f"<pre>{escape(one.problem)}</pre>" for one in place.sheets)
        place.output.data["text/html"] += f"<p>This view was not drawn again.</p>{why}"
        return None
    title = place.title or place.sheets[0].source.name
    place.output.data = {
        "text/html": (
            f'<iframe data-workbench title="{escape(title)}" sandbox="allow-scripts" '
            'style="width: 100%; height: 620px; border: 0"></iframe>'
        )
    }
    return parts_of(title, place.sheets, day=f"Drawn {today()}")


def _packed(frames: Sequence[PageParts]) -> str:
    """What the frames hold, plotly.js once, and the script that fills them."""
    if not frames:
        return ""
    libraries = list(dict.fromkeys(one.library for one in frames))
    pages: list[JsonValue] = [
        {"before": one.before, "library": libraries.index(one.library), "after": one.after} for one in frames
    ]
    return (
        "".join(_data("library", number, text.encode()) for number, text in enumerate(libraries))
        + "".join(_data("frame", number, orjson.dumps(one)) for number, one in enumerate(pages))
        + f"<script>\n{(Path(__file__).parent / 'notebook_page.js').read_text('utf-8')}</script>\n"
    )


def _data(kind: str, number: int, content: bytes) -> str:
    packed = base64.b64encode(gzip.compress(content, 6, mtime=0)).decode()
    return f'<script type="application/octet-stream" id="workbench-{kind}-{number}">{packed}</script>\n'
