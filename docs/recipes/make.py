"""Writes the recipe files of this folder from the page ``how-to/recipes-by-example.md``: run it from anywhere."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "how-to" / "recipes-by-example.md"


def main() -> None:
    """Run the page's Python elsewhere, and keep the recipes."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.chdir(folder):
            exec("\n".join(blocks), {})  # noqa: S102
        for recipe in Path(folder).glob("*.json"):
            shutil.copy(recipe, HERE)


if __name__ == "__main__":
    main()
