"""A recording: requests in their order to one server on one copy of the old store, each with its answer made plain."""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.recordings.plain import Plain, differences, hashed, without_descriptions, without_progress
from tests.stores.old_store import KEYS, current, named, own_ids, served

ANSWERS = Path(__file__).parent / "answers"
UNKNOWN = "01890000-0000-7000-8000-000000000000"
"""The id of nothing."""
Step = list[Any]
"""``[request, status, headers that are not as usual, body]``."""
Flow = Callable[["Asking"], None]
_SHORT = 200
"""A body that is longer is kept once."""
_DESCRIBED = ("/recipe/schema", "/roles/project")
"""Answers that describe in sentences what they hold."""
FLOWS: dict[str, tuple[Flow, int, dict[str, Any]]] = {}
"""Name -> the function that asks, the longest body that is kept whole, and the settings of the server."""


def flow(longest: int = 100_000, **settings: Any) -> Callable[[Flow], Flow]:
    """This function is a recording, under its own name. Of a body with more than ``longest`` characters a hash is
    kept, where another recording has it whole."""

    def keep(function: Flow) -> Flow:
        FLOWS[function.__name__] = (function, longest, settings)
        return function

    return keep


class Asking:
    """Sends requests as people of the old store and keeps what was answered."""

    def __init__(self, client: Any, longest: int) -> None:
        self.client = client
        self._longest = longest
        self.steps: list[Step] = []
        self.asked: list[tuple[str, str, int]] = []
        self._plain = Plain({*own_ids(), UNKNOWN}, once=True, versions=False)
        self._bodies: dict[str, int] = {}

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        who: str | None = "admin",
        headers: Mapping[str, str] | None = None,
        note: str = "",
        label: str = "",
        zipped: bool = False,
        **more: Any,
    ) -> Any:
        """The answer to a request; ``body`` is JSON, or bytes as they are sent. ``more`` is as httpx takes it."""
        sent = {**({} if who is None else {"X-API-Key": KEYS[who]["key"]}), **(headers or {})}
        if body is not None:
            content = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
            more["content"] = gzip.compress(content, mtime=0) if zipped else content
            sent = {"Content-Type": "application/json", **({"Content-Encoding": "gzip"} if zipped else {}), **sent}
        answer = self.client.request(method, path, headers=sent, **more)
        self._keep(method, path, who, body, note, label, more, answer)
        return answer

    def json(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """The JSON value of an answer of success."""
        answer = self(method, path, body, **more)
        if answer.status_code != 200:
            raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return answer.json()

    def wait(self, path: str) -> None:
        """Wait for an ingest; how often it is asked before it is done is chance, so it is not kept."""
        while self.client.get(path, headers={"X-API-Key": KEYS["admin"]["key"]}).json()["state"] == "running":
            time.sleep(0.02)

    def _keep(
        self,
        method: str,
        path: str,
        who: str | None,
        body: Any,
        note: str,
        label: str,
        more: Mapping[str, Any],
        answer: Any,
    ) -> None:
        asked = label or f"{method} {path}"
        if more.get("params"):
            pairs = more["params"].items() if isinstance(more["params"], Mapping) else more["params"]
            asked += "?" + "&".join(f"{name}={value}" for name, value in pairs)
        asked += f" as {who}" if who != "admin" else ""
        if body is not None and not note:
            sent = body.decode("utf-8", "backslashreplace") if isinstance(body, bytes) else json.dumps(body)
            text = self._plain.text(sent)
            note = text if len(text) < 60 else f"{text[:40]}... #{hashed(text)[:6]}"
        asked = self._plain.text(named(asked) + (f" ({note})" if note else ""))
        headers = self._plain.headers(answer.headers)
        content = self._plain.body(answer.content, answer.headers.get("content-type", ""))
        if path in _DESCRIBED:
            content = without_descriptions(content)
        if method == "POST" and path.endswith("/ingests"):
            content = without_progress(content)
        content = self._once(content)
        self.steps.append([asked, answer.status_code, headers, content])
        self.asked.append((method, path.partition("?")[0], answer.status_code))

    def _once(self, content: Any) -> Any:
        """A body, or which request it was the answer to before."""
        text = json.dumps(content)
        if len(text) < _SHORT:
            return content
        number = self._bodies.setdefault(text, len(self.steps) + 1)
        if number <= len(self.steps):
            return f"as of request {number}"
        return content if len(text) <= self._longest else f"<{len(text)} characters #{hashed(text)}>"


def run(name: str) -> tuple[list[Step], str | None, list[tuple[str, str, int]]]:
    """What the current code answers in a recording, why it stopped if it did before its end, and what was asked."""
    function, longest, settings = FLOWS[name]
    with (
        tempfile.TemporaryDirectory(prefix="recording-") as folder,
        served(current(Path(folder)), **settings) as client,
    ):
        asking = Asking(client, longest)
        stopped = None
        try:
            function(asking)
        except (AssertionError, KeyError, IndexError, TypeError, ValueError) as error:
            stopped = f"{type(error).__name__}: {error}"
    return asking.steps, stopped, asking.asked


def recorded(name: str) -> list[Step]:
    """What 0.1.0 answered."""
    found: list[Step] = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def write(name: str, steps: list[Step]) -> None:
    """Keep a recording: a line for each request."""
    lines = ",\n".join(json.dumps(step, ensure_ascii=False, separators=(",", ":")) for step in steps)
    (ANSWERS / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def compared(was: list[Step], now: list[Step]) -> list[str]:
    """Each difference of two runs of a recording, to be read: the request, the place, was, is."""
    found = []
    names = ("request", "status", "headers", "body")
    for number, (old, new) in enumerate(zip(was, now, strict=False), start=1):
        for name, one, other in zip(names, old, new, strict=True):
            for place, before, after in differences(one, other, name):
                found.append(f"request {number}: {old[0]}\n    at  {place}\n    was {before}\n    is  {after}")
    if len(was) != len(now):
        found.append(f"There were {len(was)} requests, there are {len(now)}.")
    return found
