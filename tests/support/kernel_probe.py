"""A second client of a notebook's kernel: asks it for values and measures how soon it answers."""

from __future__ import annotations

import ast
import asyncio
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from jupyter_client import AsyncKernelClient

T = TypeVar("T")
SECONDS = 60


class KernelProbe:
    """Asks a running kernel. It has a thread and a loop of its own, for playwright keeps one running in the test's."""

    def __init__(self, connection: Path) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kernel-probe")
        self._loop = asyncio.new_event_loop()
        self._client = AsyncKernelClient(connection_file=str(connection))
        self._done(self._connect())

    def ask(self, expression: str) -> Any:
        """The value of an expression in the notebook, by way of its ``repr``."""
        return ast.literal_eval(self._done(self._evaluate(expression)))

    def wait(self, expression: str, value: object) -> None:
        """Wait until an expression in the notebook has this value: what a person does reaches the kernel later."""
        until = time.monotonic() + SECONDS
        while (found := self.ask(expression)) != value:
            if time.monotonic() > until:
                raise AssertionError(f"{expression} is {found!r}, not {value!r}, after {SECONDS} s")
            time.sleep(0.05)

    def run(self, code: str) -> None:
        """Run statements in the notebook, seen by no cell."""
        self._done(self._execute(code, {}))

    def delay(self) -> float:
        """Seconds until ``1+1`` is answered."""
        return self._done(self._timed())

    def close(self) -> None:
        self._done(self._disconnect())
        self._loop.close()
        self._thread.shutdown()

    def _done(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            waiting = self._thread.submit(self._loop.run_until_complete, work)
        except RuntimeError:  # closed meanwhile
            work.close()
            raise
        return waiting.result(2 * SECONDS)

    async def _connect(self) -> None:
        self._client.load_connection_file()
        self._client.start_channels()
        await self._client.wait_for_ready(timeout=SECONDS)

    async def _disconnect(self) -> None:
        self._client.stop_channels()
        self._client.context.term()

    async def _timed(self) -> float:
        started = time.perf_counter()
        if await self._evaluate("1+1") != "2":
            raise AssertionError("the kernel cannot add")
        return time.perf_counter() - started

    async def _evaluate(self, expression: str) -> str:
        content = (await self._execute("", {"value": expression}))["user_expressions"]["value"]
        if content["status"] != "ok":
            raise AssertionError(f"{expression}: {content['ename']}: {content['evalue']}")
        return str(content["data"]["text/plain"])

    async def _execute(self, code: str, expressions: dict[str, str]) -> dict[str, Any]:
        client = self._client
        request = client.execute(code, silent=not code, store_history=False, user_expressions=expressions)
        while True:
            reply = await client.get_shell_msg(timeout=SECONDS)
            if reply["parent_header"].get("msg_id") == request:
                break
        content: dict[str, Any] = reply["content"]
        if content["status"] != "ok":
            raise AssertionError(f"{code}: {content.get('ename')}: {content.get('evalue')}")
        return content
