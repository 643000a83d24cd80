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


def bare_program(program: str) -> list[str]:
    """The command that runs a program in Python with the same imports, where the environment does not name them."""
    named = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    added = f"sys.path[1:1] = {[os.path.abspath(folder) for folder in named]!r}\n"
    return [sys.executable, "-s", "-P", "-c", same_path() + added + program]


_KEPT = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
_ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Arrow's own allocator starts a thread, and a lock holds for the thread alone that puts it on.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


def bare_environment() -> dict[str, str]:
    """The environment of a process that will be locked: nothing of this one but the search path, language, time zone
    and folder for temporary files. Libraries start no threads when they are imported."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ} | _ONE_THREAD
