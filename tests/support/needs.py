"""Programs beside Python that some tests need: a test without its program is skipped, but fails in continuous
integration (``CI=true``), where `.ci/run` installs them all."""

from __future__ import annotations

import os
import shutil

import pytest

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def program(*names: str, package: str) -> str:
    """Where the first of these programs is that is installed."""
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        why = f"{names[0]} is not installed: install the package '{package}' of your system."
        if os.environ.get("CI", "").lower() in ("true", "1"):
            pytest.fail(why)
        pytest.skip(why)
    return found


def chromium() -> str:
    return program(*CHROMIUM, package="chromium")


def mdbtools() -> str:
    """The program that reads Arbin's Access databases."""
    return program("mdb-export", package="mdbtools")
