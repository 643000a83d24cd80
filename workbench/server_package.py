"""Whether ``import server`` finds the package of the workbench: a user's own ``server.py`` may come before it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from .errors import BadRequest

OURS = Path(__file__).parents[1] / "server" / "__init__.py"


def check_server_package() -> None:
    """Make sure that ``import server`` gives the package that is installed with the workbench.

    Raises
    ------
    BadRequest
        If there is another module of this name, or none; names it, and what to do.
    """
    found = _file_of_server()
    if found is None:
        raise BadRequest("The package 'server' of the workbench is missing. Install battery-workbench again.")
    if found.resolve() == OURS.resolve():
        return
    own = found.parent if found.name == "__init__.py" else found
    kind = "folder" if own != found else "file"
    raise BadRequest(
        f"The {kind} '{own}' hides the workbench's own package 'server': both are imported by the name 'server'. "
        f"Rename the {kind}, for example to 'my_{own.name}', and start again."
    )


def _file_of_server() -> Path | None:
    """The file that ``import server`` runs or has run."""
    known = sys.modules.get("server")
    if known is not None:
        return Path(known.__file__) if known.__file__ else None
    spec = find_spec("server")
    return Path(spec.origin) if spec is not None and spec.origin else None
