"""``workbench lab`` from outside: JupyterLab answers on the notebooks of a folder, or a sentence says why not."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from support.waiting import until

import workbench as wb
from workbench.cli import main
from workbench.cli.lab import PROMPT, Opening, arguments
from workbench.cli.lab_socket import PromptChannels
from workbench.environment import ORGANIZATION, PROJECT, STORE
from workbench.errors import BadRequest

COMMAND = Path(sys.executable).with_name("workbench")


def notebook(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(), path)
    return path


def test_a_folder_of_notebooks_is_opened_with_its_first(tmp_path: Path) -> None:
    notebook(tmp_path / "notebooks" / "02_second.ipynb")
    notebook(tmp_path / "notebooks" / "01_first.ipynb")
    assert Opening.of(tmp_path) == Opening(tmp_path.resolve(), "notebooks/01_first.ipynb")


def test_notebooks_may_lie_in_the_folder_itself(tmp_path: Path) -> None:
    notebook(tmp_path / "ageing.ipynb")
    (tmp_path / "notebooks").mkdir()
    assert Opening.of(tmp_path).first == "ageing.ipynb"


def test_a_name_with_blanks_and_signs_is_opened(tmp_path: Path) -> None:
    notebook(tmp_path / "my notes #1.ipynb")
    given = arguments(Opening.of(tmp_path), port=None, browser=True, further=[])
    assert "--LabApp.default_url=/lab/tree/my%20notes%20%231.ipynb" in given


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"There is no folder .*absent.*workbench demo .*absent"):
        Opening.of(tmp_path / "absent")


def test_a_folder_without_notebooks_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="holds no notebooks"):
        Opening.of(tmp_path)


def test_options_reach_jupyterlab_and_the_last_wins(tmp_path: Path) -> None:
    given = arguments(Opening(tmp_path, "a.ipynb"), port=8899, browser=False, further=["--LabApp.news_url=x"])
    assert "--ServerApp.port=8899" in given
    assert "--no-browser" in given
    assert given[-1] == "--LabApp.news_url=x"


def test_large_messages_do_not_wait_unless_kernels_are_behind_a_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening = Opening(tmp_path, "a.ipynb")
    assert PROMPT in arguments(opening, port=None, browser=True, further=[])
    gateway = ["--GatewayClient.url=http://127.0.0.1:9"]
    assert PROMPT not in arguments(opening, port=None, browser=True, further=gateway)
    monkeypatch.setenv("JUPYTER_GATEWAY_URL", "http://127.0.0.1:9")
    assert PROMPT not in arguments(opening, port=None, browser=True, further=[])


def test_the_socket_is_told_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    monkeypatch.setattr(ZMQChannelsWebsocketConnection, "connect", lambda self: told.append("connected"))
    socket = PromptChannels.__new__(PromptChannels)
    handler = SimpleNamespace(set_nodelay=told.append)
    monkeypatch.setattr(PromptChannels, "websocket_handler", handler)
    socket.connect()
    assert told == [True, "connected"]


def test_the_command_says_what_is_missing_and_ends_with_2(tmp_path: Path) -> None:
    ended = subprocess.run([COMMAND, "lab", "absent"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert ended.stderr.startswith("There is no folder 'absent'.")
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "absent").exists()


def test_without_jupyterlab_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("workbench.cli.lab.find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["workbench", "lab"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "pip install 'battery-workbench[lab]'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_jupyterlab_answers_and_asks_nothing_of_others(tmp_path: Path) -> None:
    notebook(tmp_path / "notebooks" / "01_first.ipynb")
    root = tmp_path / "home"
    own = {
        name: str(root / name)
        for name in ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    words = [COMMAND, "lab", ".", "--no-browser", "--", "--ServerApp.port=0", "--allow-root"]
    process = subprocess.Popen(
        words,
        cwd=tmp_path,
        env={**os.environ, **own},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    killer = threading.Timer(90, process.kill)
    killer.start()
    try:
        page = OpenedPage(process)
        assert "/lab/tree/notebooks/01_first.ipynb?token=" in page.address
        assert page.settings["news"] == {"disabled": True}
        assert page.settings["extensionManager"]["can_install"] is False
        told = page.defaults("@jupyterlab/apputils-extension:notification")
        assert told["fetchNews"] == "false"  # else a question to the user covers the first notebook
        assert told["checkForUpdates"] is False
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        assert process.wait(30) == 0
    finally:
        killer.cancel()
        process.kill()
        process.communicate()


class OpenedPage:
    """The page whose address JupyterLab prints, with the settings that it carries."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        told = ""
        for line in process.stderr:
            told += line
            if found := re.search(r"http://\S+token=\w+", line):
                break
        else:
            raise AssertionError(told)
        self.address = found[0]
        page = self._read(self.address)
        self.settings = json.loads(re.search(r'id="jupyter-config-data"[^>]*>(.*?)</script>', page, re.DOTALL)[1])

    def defaults(self, plugin: str) -> dict[str, object]:
        """The settings of a plugin of JupyterLab for a user who chose none."""
        address, _, token = self.address.partition("?")
        root = address.partition("/lab/tree/")[0]
        schema = json.loads(self._read(f"{root}/lab/api/settings/{plugin}?{token}"))["schema"]
        return {name: one.get("default") for name, one in schema["properties"].items()}

    def _read(self, address: str) -> str:
        def answer() -> str:
            try:
                with urllib.request.urlopen(address, timeout=60) as page:
                    return page.read().decode()
            except urllib.error.URLError:  # the address is printed a moment before anybody listens
                return ""

        return until(answer, address)


def test_options_may_stand_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("workbench.cli.lab.start", given.extend)
    monkeypatch.setattr("sys.argv", ["workbench", "lab", "--no-browser", "--", "--ServerApp.ip=127.0.0.1"])
    notebook(tmp_path / "workbench-demo" / "notebooks" / "01_first.ipynb")
    with pytest.raises(SystemExit, match="0"):
        main()
    assert f"--ServerApp.root_dir={tmp_path / 'workbench-demo'}" in given
    assert given[-1] == "--ServerApp.ip=127.0.0.1"


def test_the_notebooks_open_the_store_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("workbench.cli.lab.start", lambda given: None)
    for name in (STORE, PROJECT, ORGANIZATION):
        monkeypatch.setenv(name, "")  # what the command sets is taken back with it
    notebook(tmp_path / "first.ipynb")
    with wb.open("lab.db") as bench:
        bench.projects.create(name="Ageing")
    words = ["lab", ".", "--store", "lab.db", "--project", "Ageing", "--organization", "Local"]
    monkeypatch.setattr("sys.argv", ["workbench", *words])
    with pytest.raises(SystemExit, match="0"):
        main()
    monkeypatch.chdir("/")
    with wb.open() as bench:
        assert bench.backend.project.name == "Ageing"
        assert bench.backend.store.path == tmp_path / "lab.db"
