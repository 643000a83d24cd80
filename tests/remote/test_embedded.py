"""The embedded server: in this process, with a key of its own, gone when it is stopped."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx2 as httpx
import pytest

import workbench as wb
from workbench.errors import Unauthorized


def test_a_notebook_serves_its_store_and_stops(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        with bench.serve(port=0, trust_transforms=True) as handle:
            assert handle.running
            assert httpx.get(f"{handle.url}/healthz", trust_env=False).json()["status"] == "ok"
            with wb.connect(handle.url, handle.api_key) as far:
                far.projects.update("Default", description="seen near")
            key = handle.api_key
        assert bench.projects.get("Default").description == "seen near"
        assert not handle.running
        assert "stopped" in repr(handle)
        handle.stop()
        with bench.serve(trust_transforms=True) as again, pytest.raises(Unauthorized):
            wb.connect(again.url, key)
    names = {thread.name for thread in threading.enumerate() if thread.is_alive()}
    assert "workbench-serve" not in names


def test_a_request_that_is_under_way_comes_to_its_end(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        handle = bench.serve(trust_transforms=True)
        far = wb.connect(handle.url, handle.api_key)
        config = {
            "plan": {"steps": {"cells": {"op": "list", "source": "instances"}}},
            "transform": "import time\ndef transform(data, params):\n    return {'data': [], 'layout': {}}\n",
        }
        drawn: list[bytes] = []
        worker = threading.Thread(target=lambda: drawn.append(far.backend.figure({**config, "transform":
            "def transform(data, params):\n    return {'data': [], 'layout': {}}\n"}, {}).figure))  # fmt: skip
        worker.start()
        worker.join(30)
        handle.stop()
        assert len(drawn) == 1
        far.close()


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with wb.open(tmp_path / "lab.db") as bench, bench.serve(trust_transforms=True) as handle:
        port = int(handle.url.rpartition(":")[2])
        with pytest.raises(wb.BadRequest, match=f"cannot listen on .*port {port}"):
            bench.serve(port=port, trust_transforms=True)
