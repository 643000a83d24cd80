"""Data from a server, kept under the server's name of their content, so that they are not sent twice."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..dataset import COLUMNS, Warn, pack
from ..engine import arrow
from ..engine.answer import Answered, Named
from ..engine.reader import Cancel
from ..errors import ServerAway
from ..operations.operation import Sent
from ..recipe.jsontext import canonical
from ..table import Table
from .client import Client, Reply

KEPT_BYTES = 512 << 20
_OFFERED = 8
"""How many contents of one plan a request names; each costs some bytes."""


@dataclass(frozen=True)
class Fetched(Answered):
    """Data from a server, and the request for them."""

    path: str = ""
    body: dict[str, Sent] = field(default_factory=dict)


class Fetching:
    """Asks for data, and keeps the latest steps up to ``most`` bytes."""

    def __init__(self, client: Client, most: int = KEPT_BYTES) -> None:
        self._client = client
        self._most = most
        self._packed: OrderedDict[str, bytes] = OrderedDict()
        self._of_plan: OrderedDict[bytes, list[str]] = OrderedDict()
        self._lock = threading.Lock()

    def ask(self, path: str, body: Mapping[str, Sent], cancel: Cancel | None = None) -> Fetched:
        """The data of a request; the server does not send again what is already here."""
        plan = canonical([path, {key: value for key, value in body.items() if key != "values"}])
        started = time.perf_counter()
        reply = self._reply(path, body, self._offered(plan), cancel)
        spent = (time.perf_counter() - started) * 1e3
        content = reply.headers.get(arrow.CONTENT, "")
        steps, about = arrow.from_arrow(reply.content)
        columns = {step: [(one["name"], one["type"]) for one in found] for step, found in about["columns"].items()}
        packed = None if steps else self._known(content)
        if packed is None:
            if set(steps) != set(columns):
                raise ServerAway("The server's answer lacks steps of the plan. Ask again.")
            series = {step: columns[step] for step, result in steps.items() if not isinstance(result, Table)}
            packed = pack(steps, {COLUMNS: series})
        self._keep(plan, content, packed)
        return Fetched(
            packed=packed,
            named=Named(packed, content),
            values=about["values"],
            options=about["options"],
            warnings=[Warn(**warning) for warning in about["warnings"]],
            columns=columns,
            cache=about["cache"],
            reads=about["reads"],
            timings={**about["timings"], "server": spent},
            data_at=_number(reply.headers.get(arrow.DATA_AT)),
            path=path,
            body=dict(body),
        )

    def is_current(self, shown: Fetched) -> bool:
        """Whether the same request still gives the same data, choices and warnings."""
        reply = self._reply(shown.path, shown.body, [shown.content], None)
        if reply.headers.get(arrow.CONTENT) != shown.content:
            return False
        _, about = arrow.from_arrow(reply.content)
        warnings = [Warn(**warning) for warning in about["warnings"]]
        return (about["options"], warnings) == (shown.options, shown.warnings)

    def _reply(self, path: str, body: Mapping[str, Sent], have: list[str], cancel: Cancel | None) -> Reply:
        headers = {"Accept": self._client.accept, arrow.HAVE: ", ".join(have)}
        return self._client.ask("POST", path, json=body, headers=headers, cancel=cancel)

    def _offered(self, plan: bytes) -> list[str]:
        with self._lock:
            return [content for content in self._of_plan.get(plan, ()) if content in self._packed]

    def _known(self, content: str) -> bytes | None:
        with self._lock:
            return self._packed.get(content)

    def _keep(self, plan: bytes, content: str, packed: bytes) -> None:
        with self._lock:
            before = [one for one in self._of_plan.pop(plan, []) if one != content]
            self._of_plan[plan] = [content, *before][:_OFFERED]
            self._packed.pop(content, None)
            self._packed[content] = packed
            while len(self._packed) > 1 and sum(map(len, self._packed.values())) > self._most:
                self._packed.popitem(last=False)
            while len(self._of_plan) > 1000:
                self._of_plan.popitem(last=False)


def _number(text: str | None) -> int | None:
    """The number in a header; an older server sends none."""
    return int(text) if text is not None and text.isascii() and text.isdigit() else None
