"""A JupyterLab of its own for the browser tests: own home, own folders, a token, a free port."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOKEN = "for-the-tests"
STARTS = 3
"""How often it is tried: a port that was free may be taken a moment later."""
SECONDS = 90
SETTINGS: dict[str, dict[str, Any]] = {
    # With windowing, what is scrolled away is not in the page.
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "docmanager-extension/plugin": {"autosave": False},
}
HOMES = {
    "HOME": "home",
    "IPYTHONDIR": "ipython",
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
}


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab: its address, the folder it shows, and where its kernels say how they are reached."""

    address: str
    root: Path
    runtime: Path
    token: str = TOKEN

    def page(self, notebook: Path) -> str:
        """The address of a notebook below the root, in a workspace of its own."""
        workspace = notebook.parent.parent.name
        return f"{self.address}/lab/workspaces/{workspace}/tree/{self.place(notebook)}?token={self.token}"

    def place(self, notebook: Path) -> str:
        """Where a notebook is below the root."""
        return notebook.relative_to(self.root).as_posix()

    def ask(self, path: str, method: str = "GET") -> Any:
        """What the server answers on ``/api/...``."""
        request = urllib.request.Request(f"{self.address}/api/{path}", method=method)
        request.add_header("Authorization", f"token {self.token}")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")

    def stop_kernel(self, notebook: Path) -> None:
        """End the kernel of a notebook, if it has one, so that one test does not slow down the next."""
        for session in self.ask("sessions"):
            if session["path"] == self.place(notebook):
                self.ask(f"kernels/{session['kernel']['id']}", "DELETE")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of a JupyterLab that knows nothing of the person who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "WORKBENCH"))}
    homes = {name: folder / place for name, place in HOMES.items()}
    for place in homes.values():
        place.mkdir(parents=True, exist_ok=True)
    for plugin, setting in SETTINGS.items():
        file = homes["JUPYTERLAB_SETTINGS_DIR"] / "@jupyterlab" / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(setting))
    kept.pop("PYTEST_CURRENT_TEST", None)
    return {**kept, **{name: str(place) for name, place in homes.items()}, "JUPYTER_TOKEN": TOKEN}


@contextmanager
def running_lab(root: Path, folder: Path) -> Iterator[Lab]:
    """Start ``workbench lab`` on ``root`` as a user would; everything else that it writes goes to ``folder``."""
    environment = surroundings(folder)
    for _ in range(STARTS):
        port = free_port()
        log = folder / f"lab-{port}.log"
        process = _start(root, port, environment, log)
        lab = Lab(f"http://127.0.0.1:{port}", root, folder / HOMES["JUPYTER_RUNTIME_DIR"])
        try:
            if _answers(lab, process):
                yield lab
                return
        finally:
            stop(process)
    raise RuntimeError(f"JupyterLab did not start.\n{log.read_text()[-4000:]}")


def _start(root: Path, port: int, environment: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    command = Path(sys.executable).with_name("workbench")
    further = ["--ServerApp.ip=127.0.0.1", "--allow-root", "--LabApp.expose_app_in_browser=True"]
    words = [str(command), "lab", str(root), "--port", str(port), "--no-browser", "--", *further]
    with log.open("wb") as stream:
        return subprocess.Popen(
            words, env=environment, stdout=stream, stderr=stream, stdin=subprocess.DEVNULL, start_new_session=True
        )


def _answers(lab: Lab, process: subprocess.Popen[bytes]) -> bool:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            lab.ask("status")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
        else:
            return True
    return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a server with its kernels, by force if it does not go."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)
