"""Hostile scripts as files, and what must hold after each: for the tests and the benchmark of protected drawing."""

from __future__ import annotations

import json
import re
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.dataset import Samples, pack
from workbench.table import Table
from workbench.transform import inprocess

OWN = Path(__file__).parents[1] / "transform" / "hostile"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "hostile"
WITNESS = """
import re
def transform(data, params):
    d = data["cycles"].copy()
    d["cell"] = d["name"].str.extract(r"^(\\w+)-", expand=False)
    fig = px.line(d, x="cycle", y="capacity_Ah", color="cell")
    fig.add_scatter(y=np.random.normal(size=5) + np.mean(data["curves"]["a"]["voltage_V"]))
    return fig
"""

Run = Callable[[str, float], dict[str, Any]]
"""Script and seconds -> how it ended."""
_QUICK, _LONG = 0.8, 6.0


def dataset() -> bytes:
    """The steps that the scripts expect."""
    n = 500
    curve = Table.of({"time_s": np.arange(n) * 1.0, "voltage_V": np.linspace(4, 3, n), "current_A": np.ones(n)})
    ids, names = ["a", "b", "c"], ["A-1", "A-2", "B-1"]
    cycles = {
        "measurement_id": np.repeat(ids, 60),
        "name": np.repeat(names, 60),
        "cycle": np.tile(np.arange(60), 3),
        "capacity_Ah": np.linspace(5, 4, 180),
    }
    cells = {"id": ids, "name": names, "batch": ["A", "A", None], "capacity_Ah": [5.0, 4.9, None]}
    made = np.array(["2024-01-01", "2024-01-02", "2024-02-01"], "M8[us]")
    return pack(
        {
            "rows": Table.of({"id": ids, "name": names, "value": np.array([1.0, 2.0, 3.0])}),
            "curves": {key: Samples(np.arange(n), curve, True, n) for key in ids},
            "cycles": Table.of(cycles),
            "cells": Table.of({**cells, "created_at": made}),
        }
    )


@dataclass(frozen=True)
class Case:
    name: str
    category: str
    text: str
    good: frozenset[str]
    checks: tuple[str, ...]


def cases(folder: Path, tokens: dict[str, str]) -> list[Case]:
    """The scripts of a folder with their tokens filled in."""
    found = []
    for path in sorted(folder.glob("*.py")):
        text = path.read_text("utf-8")
        told = json.loads(re.search(r"^# expect: (.*)$", text, re.MULTILINE).group(1))  # type: ignore[union-attr]
        filled = re.sub(r"\{\{([A-Z_]+)\}\}", lambda found: tokens[found.group(1)], text)
        good = frozenset([told["outcome"], *told["also"]])
        found.append(Case(told["name"], told["category"], filled, good, tuple(told["checks"])))
    return found


class Trap:
    """A folder with a store and a secret, and sockets that count whoever comes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.secret = f"canary{secrets.token_hex(8)}rest{secrets.token_hex(12)}"
        self.store, self.canary = folder / "store.db", folder / "canary.txt"
        self.store.write_bytes(b"SQLite format 3\0" + self.secret.encode() * 50)
        self.canary.write_text(self.secret)
        folder.chmod(0o777)
        for path in (self.store, self.canary):
            path.chmod(0o666)
        self._stack = ExitStack()
        self._tcp = self._open(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        port = self._tcp.getsockname()[1]
        self._udp = self._open(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", port))
        self._unix = self._open(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "trap.sock"))
        self.tokens = {
            "STORE": str(self.store),
            "CANARY_FILE": str(self.canary),
            "WRITABLE": str(folder),
            "PORT": str(port),
            "UNIX": str(folder / "trap.sock"),
            "FOREIGN_ID": "0198c5f0-0000-7000-8000-000000000000",
            "CANARY_MARK": self.secret[:22],
            "CANARY_REVERSED": self.secret[:22][::-1],
        }
        self._files, self._bytes = self._names(), self.store.read_bytes()

    def _open(self, family: int, kind: int, address: Any) -> socket.socket:
        opened = self._stack.enter_context(socket.socket(family, kind))
        opened.bind(address)
        if kind == socket.SOCK_STREAM:
            opened.listen()
        opened.setblocking(False)
        return opened

    def close(self) -> None:
        self._stack.close()

    def _names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())

    def sprung(self) -> list[str]:
        """What was caught: files, changes, connections."""
        found = [] if self._names() == self._files else [f"new files {self._names()}"]
        found += [] if self.store.read_bytes() == self._bytes else ["the store was changed"]
        for one in (self._tcp, self._unix):
            try:
                one.accept()[0].close()
                found.append("a connection")
            except BlockingIOError:
                continue
        try:
            self._udp.recv(10)
            found.append("a packet")
        except BlockingIOError:
            return found
        return found


class Judge:
    """Runs cases and says, in words, which of their checks did not hold."""

    def __init__(self, run: Run, trap: Trap, *, memory_mb: float) -> None:
        self.run, self.trap, self.memory_mb = run, trap, memory_mb
        self.witness = run(WITNESS, _LONG)["figure"]

    def judge(self, case: Case) -> list[str]:
        # What is to run out of time has little; what is to be done has enough for a busy machine.
        seconds = _QUICK if case.good & {"limited"} and case.category in ("limits", "errors") else _LONG
        began = time.monotonic()
        told = self.run(case.text, seconds)
        spent = time.monotonic() - began
        outcome = told["outcome"]
        found = [] if self._outcome_good(case, outcome) else [f"{outcome}: {told['why'][:200]}"]
        if self.trap.secret in json.dumps(told) or self.trap.secret[::-1] in json.dumps(told):
            found.append("the secret came out")
        if told["processes_left"]:
            found.append(f"{told['processes_left']} processes left")
        found += [check for check in case.checks if not self._holds(check, case, told, spent - seconds)]
        found += self.trap.sprung()
        return [f"{case.name}: {one}" for one in found]

    @staticmethod
    def _outcome_good(case: Case, outcome: str) -> bool:
        return outcome in case.good or (outcome == "figure" and "harmless" in case.good)

    def _holds(self, check: str, case: Case, told: dict[str, Any], over: float) -> bool:
        figure = told.get("figure")
        name, _, value = check.partition(":")
        if name in ("next_run_same", "server_alive"):
            return bool(self.run(WITNESS, _LONG)["figure"] == self.witness)
        if name == "within_time":
            return over <= 1
        if name == "within_memory":
            return bool(told["peak_mb"] <= self.memory_mb + 50)
        if name == "reply_below":
            return len(json.dumps(told)) < int(value)
        if name == "same_twice":
            return bool(self.run(case.text, _LONG).get("figure") == figure)
        if name == "same_as_unlocked":
            drawn = inprocess.draw(case.text, dataset(), {})
            return drawn.figure.decode() == figure and drawn.log == told["log"]
        if name == "reply_is_figure_or_error":
            return (figure is not None and "data" in json.loads(figure)) != bool(told["why"])
        if figure is None:
            return True
        if name == "strict_json":
            return "NaN" not in figure and isinstance(json.loads(figure, parse_constant=_not_strict), dict)
        if name == "title_is":
            return bool(json.loads(figure)["layout"]["title"]["text"] == value)
        if name == "no_remote_url":
            return re.search(r'"[^"]*(?:https?:)?//', figure) is None
        if name == "no_prototype_key":
            return re.search(r"__proto__|constructor|prototype", figure) is None
        # Those that every run is looked at for, and page_inert, which needs a browser.
        return name in (
            "no_canary",
            "no_connection",
            "no_new_file",
            "store_unchanged",
            "no_new_process",
            "page_inert",
        )

    def all(self, wanted: list[Case], at_once: int = 1) -> list[str]:
        with ThreadPoolExecutor(at_once) as threads:
            return [word for words in threads.map(self.judge, wanted) for word in words]


def _not_strict(name: str) -> None:
    raise ValueError(name)
