"""The documentation site: ``just docs``. Its sources are the Markdown files of the whole repository, as they are."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import workbench

project = "Battery Workbench"
author = "The Battery Workbench developers"
release = version = workbench.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
root_doc = "README"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/*.md",
    "benchmarks/results/*.md",
    "docs/**",
]
exclude_patterns = [".*", "build", "dist", "tests", "sample_data", "workbench", "server", "**/*.json", "**/*.py"]
source_suffix = {".md": "markdown"}

nitpicky = True
# Signatures also name types of other packages, and types of ours that are not public: they link to nothing.
nitpick_ignore_regex = [(r"py:.*", rf"(?!(?:workbench|wb)\.(?:{'|'.join(workbench.__all__)})$).*")]
default_role = "code"

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autosummary_generate = False
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"{project} {release}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}

KINDS = {"tutorial": "Tutorials", "how-to": "How to", "reference": "Reference", "explanation": "Explanation"}


def contents(name: str, text: str) -> dict[str, list[str]]:
    """Caption -> pages below a page, from the links on it: what a reader of the repository follows, too."""
    links = list(dict.fromkeys(re.findall(r"\]\((?:\./)?([\w./-]+)\.md\)", text)))
    if name == "README":
        return {
            "": [
                *(link for link in links if link == "docs/README" or not link.startswith("docs/")),
                "CONTRIBUTING",
            ]
        }
    if name == "docs/README":
        return {title: [link for link in links if link.startswith(f"{kind}/")] for kind, title in KINDS.items()}
    if name == "docs/reference/gallery":
        return {"": [link for link in links if link.startswith("gallery/")]}
    if name == "benchmarks/README":
        return {"": [link for link in links if link.startswith("results/")]}
    return {}


def add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Give the pages that lead to others their tables of contents."""
    for caption, pages in contents(name, source[0]).items():
        heading = f":caption: {caption}\n" if caption else ""
        listed = "\n".join(dict.fromkeys(pages))
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n{heading}\n{listed}\n```\n"


def finish(app: Sphinx, failure: Exception | None) -> None:
    """Make the first page of the site; refuse a site that loads anything from another machine."""
    if failure or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    (folder / "index.html").write_text('<meta http-equiv="refresh" content="0; url=README.html">', "utf-8")
    loads = re.compile(
        r'<(?:script|img|iframe)\b[^>]*\bsrc="(?:https?:)?//[^"]*|<link\b[^>]*stylesheet[^>]*href="(?:https?:)?//[^"]*'
    )
    for page in sorted(folder.rglob("*.html")):
        if found := loads.search(page.read_text("utf-8")):
            raise ExtensionError(f"{page.relative_to(folder)} loads from another machine: {found[0]}")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
    app.connect("build-finished", finish)
