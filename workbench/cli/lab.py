"""Starts JupyterLab on a folder of notebooks. What would contact other machines is off."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from ..errors import BadRequest, WorkbenchError

NOTEBOOKS = "notebooks"
QUIET = (
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
)
"""No news, no check for updates, no list of extensions: JupyterLab contacts no other machine."""
CONFIG = Path(__file__).parent / "jupyter_config"
"""Defaults of JupyterLab's settings. Without them the page asks each new user whether it may fetch news. What a user
has chosen in the settings goes before them."""
PROMPT = "--ServerApp.kernel_websocket_connection_class=workbench.cli.lab_socket.PromptChannels"


@dataclass(frozen=True)
class Opening:
    """Where JupyterLab is opened: ``root`` is the folder it shows, ``first`` the notebook that it opens with, as a
    path below it."""

    root: Path
    first: str

    @classmethod
    def of(cls, folder: Path) -> Opening:
        """The notebooks of a folder: those in its folder ``notebooks``, else its own.

        Raises
        ------
        BadRequest
            If there is no such folder, or it holds no notebooks.
        """
        if not folder.is_dir():
            raise BadRequest(
                f"There is no folder '{folder}'. Name a folder with notebooks, or let `workbench demo {folder}` "
                "make one."
            )
        for place in (folder / NOTEBOOKS, folder):
            if found := sorted(place.glob("*.ipynb")):
                return cls(folder.resolve(), found[0].relative_to(folder).as_posix())
        raise BadRequest(
            f"The folder '{folder}' holds no notebooks, and neither does '{folder / NOTEBOOKS}'. "
            f"Name another folder, or let `workbench demo {folder}` make some."
        )


def arguments(opening: Opening, *, port: int | None, browser: bool, further: Sequence[str]) -> list[str]:
    """The options that JupyterLab is started with; ``further`` comes last, so that it wins."""
    given = [
        f"--ServerApp.root_dir={opening.root}",
        f"--LabApp.default_url=/lab/tree/{quote(opening.first)}",
        *QUIET,
    ]
    if port is not None:
        given += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if not browser:
        given.append("--no-browser")
    # Kernels behind a gateway have a socket of their own.
    if "JUPYTER_GATEWAY_URL" not in os.environ and not any("Gateway" in word for word in further):
        given.append(PROMPT)
    return [*given, *further]


def start(given: Sequence[str]) -> None:
    """Run JupyterLab in this process until it is stopped."""
    from jupyterlab.labapp import LabApp

    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(
        filter(None, (os.environ.get("JUPYTER_CONFIG_PATH"), str(CONFIG)))
    )
    LabApp.launch_instance(list(given))


def require() -> None:
    """Do nothing where JupyterLab is installed.

    Raises
    ------
    WorkbenchError
        If it is not installed; the sentence says what to install, and what works without it.
    """
    if find_spec("jupyterlab") is None or find_spec("jupyter_server") is None:
        raise WorkbenchError(
            "JupyterLab is not installed: pip install 'battery-workbench[lab]'. Any other notebook works too: "
            "`import workbench` in it."
        )
