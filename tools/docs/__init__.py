"""The reference pages of ``docs/reference`` and the recipe's JSON Schema, written from the code.

``python -m tools.docs`` writes them; ``--check`` writes nothing and fails if one of them is stale.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workbench.recipe.schema import SCHEMA_FILE, schema_text

from . import (
    analyses,
    api,
    builders,
    columns,
    commands,
    errors,
    formats,
    gallery,
    http,
    lint,
    python,
    recipe,
    records,
)

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
COMMAND = "python -m tools.docs"

WRITTEN: dict[Path, Callable[[], str]] = {
    SCHEMA_FILE: schema_text,
    FOLDER / "analyses.md": analyses.page,
    FOLDER / "api.md": api.page,
    FOLDER / "builders.md": builders.page,
    FOLDER / "catalog.md": columns.page,
    FOLDER / "commands.md": commands.page,
    FOLDER / "errors.md": errors.page,
    FOLDER / "formats.md": formats.page,
    FOLDER / "gallery.md": gallery.page,
    **{FOLDER / "gallery" / name: made for name, made in gallery.pages().items()},
    FOLDER / "http.md": http.page,
    FOLDER / "lint.md": lint.page,
    FOLDER / "python.md": python.page,
    FOLDER / "recipe.md": recipe.page,
    FOLDER / "records.md": records.page,
}
"""Each file that is written from the code, and the function that makes its text."""


def stale() -> list[Path]:
    """The files that are not what the code says now, and pages of recipes that are no more."""
    found = [path for path, made in WRITTEN.items() if not path.exists() or path.read_text("utf-8") != made()]
    return found + [path for path in sorted((FOLDER / "gallery").glob("*.md")) if path not in WRITTEN]
