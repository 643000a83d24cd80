"""Writes the recipe files of this folder from the page ``how-to/recipes-by-example.md``: run it from anywhere."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "how-to" / "recipes-by-example.md"


def main() -> None:
    """Run the page's Python in this folder."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    with contextlib.chdir(HERE):
        exec("\n".join(blocks), {})  # noqa: S102


if __name__ == "__main__":
    main()
