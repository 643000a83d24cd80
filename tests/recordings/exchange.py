"""What a bench of 0.1.0 and a server of 0.1.0 said to each other, taken down between them; and both played again.

``python -m tests.recordings.exchange`` takes it down anew with the current code. **That is not how a difference is
accepted**: the file is what an installed 0.1.0 sends and what it was answered. It stays as it is.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import re
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx2 as httpx

import workbench as wb
from tests.recordings.asking import UNKNOWN
from tests.recordings.bench_script import run
from tests.recordings.plain import Plain, differences, without_progress
from tests.stores.old_store import KEYS, PROJECT, current, own_ids, served
from workbench.remote import RemoteBackend

FILE = Path(__file__).parent / "exchange-0.1.0.json.gz"
URL = "http://localhost"
_SENT = ("content-type", "accept", "x-workbench-have")
_BOUNDARY = re.compile(r"boundary=([^\s;]+)")
Turn = dict[str, Any]
"""A request and its answer: method, path, headers, body, and status, headers, body of the answer."""


def connected(transport: httpx.AsyncBaseTransport) -> wb.Bench:
    """A bench that speaks through a transport: the only place that knows how a remote bench is made."""
    return wb.Bench(RemoteBackend.connect(URL, KEYS["admin"]["key"], PROJECT, transport))


# Taken down


class Taking(httpx.AsyncBaseTransport):
    """Passes requests on to a server in this process, and takes down what was said."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.Lock()
        self.turns: list[Turn] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        return await asyncio.to_thread(self._passed, request, body)

    def _passed(self, request: httpx.Request, body: bytes) -> httpx.Response:
        path = request.url.raw_path.decode()
        headers = {name: value for name, value in request.headers.items() if name in (*_SENT, "x-api-key")}
        with self._lock:
            answer = self._client.request(request.method, path, headers=headers, content=body)
            asked = {"method": request.method, "path": path}
            asked |= {"headers": {name: headers[name] for name in _SENT if name in headers}, "body": packed(body)}
            told = dict(answer.headers)
            got = {"status": answer.status_code, "told": told, "answer": packed(answer.content)}
            self._keep({**asked, **got})
        return httpx.Response(answer.status_code, headers=told, content=answer.content)

    def _keep(self, turn: Turn) -> None:
        """Of the questions how far an ingest is, the last one: how many there are is chance."""
        same = ("method", "path")
        if (
            "/ingests/" in turn["path"]
            and turn["method"] == "GET"
            and all(turn[k] == self.turns[-1][k] for k in same)
        ):
            self.turns.pop()
        self.turns.append(turn)


def packed(data: bytes) -> str:
    """Bytes as text: as they are where they are text, else as base64."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return "base64:" + base64.b64encode(data).decode()
    return text


def unpacked(text: str) -> bytes:
    return base64.b64decode(text[7:]) if text.startswith("base64:") else text.encode()


def take() -> list[Turn]:
    """The whole conversation, on a fresh copy of the store."""
    with tempfile.TemporaryDirectory() as folder, served(current(Path(folder))) as client:
        transport = Taking(client)
        with connected(transport) as bench:
            files = Path(folder) / "files"
            files.mkdir()
            run(bench, files)
        return transport.turns


def turns() -> list[Turn]:
    """What was taken down with 0.1.0."""
    found: list[Turn] = json.loads(gzip.decompress(FILE.read_bytes()))
    return found


# An old client with the current server


class Names:
    """The ids and contents that a run made, by what they are called in both runs."""

    def __init__(self) -> None:
        self.plain = Plain({*own_ids(), UNKNOWN}, versions=False)

    def of(self, turn: Turn) -> list[Any]:
        """An answer, to be compared."""
        headers = self.plain.headers(turn["told"])
        body = self.plain.body(unpacked(turn["answer"]), turn["told"].get("content-type", ""))
        return [turn["status"], headers, body]


def replay(client: Any) -> list[str]:
    """Send what 0.1.0 sent; the differences of the answers, to be read."""
    old, new = Names(), Names()
    found = []
    for number, turn in enumerate(turns(), start=1):
        here = new.plain.made()
        names = {before: here[name] for name, before in old.plain.made().items() if name in here}
        answer = _sent(client, turn, names)
        was, now = old.of(turn), new.of(answer)
        if turn["path"].endswith("/ingests"):
            was, now = ([*one[:2], without_progress(one[2])] for one in (was, now))
        for place, before, after in differences(was, now, "answer"):
            asked = f"{turn['method']} {turn['path']}"
            found.append(f"request {number}: {asked}\n    at  {place}\n    was {before}\n    is  {after}")
    return found


def _sent(client: Any, turn: Turn, names: dict[str, str]) -> Turn:
    path, body = turn["path"], unpacked(turn["body"])
    headers = {**turn["headers"], "X-API-Key": KEYS["admin"]["key"]}
    for before, after in names.items():
        path = path.replace(before, after)
        body = body.replace(before.encode(), after.encode())
        headers = {name: value.replace(before, after) for name, value in headers.items()}
    while True:
        answer = client.request(turn["method"], path, headers=headers, content=body)
        if not ("/ingests/" in path and turn["method"] == "GET" and answer.json().get("state") == "running"):
            return {"status": answer.status_code, "told": dict(answer.headers), "answer": packed(answer.content)}
        time.sleep(0.02)


# The current client with an old server


class OldServer(httpx.AsyncBaseTransport):
    """Answers from what was taken down; what was never asked is noted and answered 501."""

    def __init__(self) -> None:
        self._answers: dict[str, list[Turn]] = defaultdict(list)
        for turn in turns():
            self._answers[_asked(turn["method"], turn["path"], turn["headers"], unpacked(turn["body"]))].append(
                turn
            )
        self.unknown: list[str] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        path = request.url.raw_path.decode()
        held = self._answers.get(_asked(request.method, path, request.headers, body))
        if not held:
            self.unknown.append(f"{request.method} {path} {body[:300]!r}")
            content = b'{"error_code": "NOT_IMPLEMENTED", "message": "A server of 0.1.0 was never asked this."}'
            return httpx.Response(501, headers={"content-type": "application/json"}, content=content)
        turn = held.pop(0) if len(held) > 1 else held[0]
        return httpx.Response(turn["status"], headers=turn["told"], content=unpacked(turn["answer"]))


def _asked(method: str, path: str, headers: Any, body: bytes) -> str:
    """What makes a request another one: a JSON body by its value, a form without its boundary, of data the length."""
    kind = headers.get("content-type", "")
    boundary = _BOUNDARY.search(kind)
    if kind.startswith("application/json"):
        told = json.dumps(json.loads(body), sort_keys=True)
    elif boundary is not None:
        told = str(_parts(body, boundary[1].encode()))
    else:
        told = str(len(body))
    return f"{method} {path} {told}"


def _parts(body: bytes, boundary: bytes) -> list[str]:
    """The parts of a form: a field with its text, a file by its name alone."""
    found = []
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.strip(b"\r\n").partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]*)"', head)
        text = "a file" if b"filename=" in head else content.decode()
        found.append(f"{name[1].decode() if name else ''}={text}")
    return sorted(found)


if __name__ == "__main__":
    taken = take()
    lines = ",\n".join(json.dumps(turn, ensure_ascii=False, separators=(",", ":")) for turn in taken)
    FILE.write_bytes(gzip.compress(f"[\n{lines}\n]\n".encode(), mtime=0))
    print(f"{len(taken)} requests")
