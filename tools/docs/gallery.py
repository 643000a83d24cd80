"""The pages of the gallery: ``docs/reference/gallery.md`` shows all recipes, and each has a page of its own in
``docs/reference/gallery`` with its picture, question, needs, params and script."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

from workbench.gallery.catalog import entries
from workbench.gallery.entry import Entry

from .prose import MADE

PICTURES = Path(__file__).parents[2] / "docs" / "images" / "gallery"
PARAMS = PICTURES / "params.json"
"""What the demo's recipes offer to choose, written with the pictures: recipe -> param -> its label and options."""


def page() -> str:
    """The page that leads to the others."""
    head = f"""# The gallery

<!-- {MADE} -->

Ready recipes. Each answers one question on the data of any store: `bench.show("fade")` opens one with its controls,
`workbench run fade -o fade.pdf` writes its figure, and [Answer everyday questions](../how-to/answer-questions.md) says
more. The pictures are drawn from the demo by `python -m tools.docs.gallery_pictures`.

| question | recipe | picture |
|---|---|---|
"""
    rows = [
        f"| {one.question} | [{one.name}](gallery/{one.name}.md) | {_picture(one, '../images') or 'not in the demo'} |"
        for one in entries().values()
    ]
    return head + "\n".join(rows) + "\n"


def pages() -> dict[str, Callable[[], str]]:
    """The page of each recipe: name of the file -> what makes its text."""
    return {f"{name}.md": partial(_page, name) for name in entries()}


def _picture(one: Entry, images: str) -> str:
    there = (PICTURES / f"{one.name}.png").exists()
    return f"![{one.title}, drawn from the demo]({images}/gallery/{one.name}.png)" if there else ""


def _page(name: str) -> str:
    one = entries()[name]
    params: dict[str, dict[str, str]] = json.loads(PARAMS.read_text("utf-8")) if PARAMS.exists() else {}
    picture = _picture(one, "../../images")
    parts = [
        f"# {one.title}\n\n<!-- {MADE} -->\n\n**{one.question}**\n",
        f"\n{picture or 'The demo has no data for it, so there is no picture.'}\n",
        f'\n```python\nbench.show("{name}")\nbench.export("{name}", "{name}.pdf", width="8.5 cm")\n```\n',
        f"\n```sh\nworkbench run {name} -o {name}.pdf\n```\n",
        f"\n## What it needs\n\n{one.needs}",
    ]
    if one.analyses:
        commands = ", ".join(f"`workbench analyse {analysis}`" for analysis in one.analyses)
        parts.append(f" They are computed by {commands}.")
    parts.append(" A test that lacks a column is left out; the figure names both.\n")
    if chosen := params.get(name, {}):
        parts.append("\n## What you choose\n\n| param | what it chooses |\n|---|---|\n")
        parts += [f"| `{param}` | {words} |\n" for param, words in chosen.items()]
    script = f"```text\n{one.script}```"
    parts.append(f"\n<details>\n<summary>Its script</summary>\n\n{script}\n\n</details>\n")
    parts.append("\n[All recipes](../gallery.md)\n")
    return "".join(parts)
