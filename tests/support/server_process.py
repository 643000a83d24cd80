"""A server in a process of its own, which may be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2 as httpx

ROOT = Path(__file__).parents[2]
WORKBENCH = [sys.executable, "-c", "from workbench.cli import main; main()"]


class Server:
    """``address`` and ``key``; ``kill`` ends it at once, ``stop`` gracefully."""

    def __init__(self, store: Path, *more: str, key: str | None = None) -> None:
        words = [*WORKBENCH, "serve", "--store", str(store), "--port", "0", "--json", *more]
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT, start_new_session=True
        )
        self.key, self.address = key or "", ""
        while not self.address:
            line = self.process.stdout.readline() if self.process.stdout else ""
            if not line:
                raise RuntimeError("the server ended before it listened")
            said = json.loads(line)
            self.key, self.address = said.get("key", self.key), said.get("listening", "")

    def client(self, **more: Any) -> httpx.Client:
        return httpx.Client(base_url=self.address, headers={"X-API-Key": self.key}, **{"timeout": 60, **more})

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
        self._end()

    def _end(self) -> None:
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
