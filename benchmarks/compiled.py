"""Python keeps the modules that it compiles, as on a user's computer, whatever this machine switches off."""

from __future__ import annotations

import os


def keep_compiled() -> None:
    """From here on a process that is started finds compiled what the one before it compiled.

    Without it each start of a command compiles all of the workbench again, while pip compiled the libraries beside it.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
