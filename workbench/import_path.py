"""How a process that this one starts imports the same modules."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FOLDER = str(Path(__file__).resolve().parents[1])
"""The folder from which the package `workbench` is imported."""


def pythonpath() -> str:
    """``PYTHONPATH`` for a process that needs this package and what its own environment has."""
    return os.pathsep.join([FOLDER, *filter(None, [os.environ.get("PYTHONPATH")])])


def same_path() -> str:
    """The first line of a program that imports from the same places as this process."""
    folders = [FOLDER, *(os.path.abspath(folder) for folder in sys.path if isinstance(folder, str))]
    return f"import sys; sys.path[:] = {list(dict.fromkeys(folders))!r}\n"
