"""The process that draws the user's own scripts: it reads jobs from its input and writes answers to its output."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import struct
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Literal

from pydantic import JsonValue

from ..errors import Problem
from ..quick_import import not_collected

READY = b"R"
HEAD = struct.Struct("<4scIQ")  # magic, kind, bytes of JSON, bytes of the dataset or the figure
MAGIC = b"WBO1"
Kind = Literal[b"J", b"N", b"D"]
JOB, NEEDED, DONE = b"J", b"N", b"D"
"""A job; the answer that its dataset is needed; the answer with its figure or its problems."""
MOST_KEPT = 256 * 2**20
"""Most bytes of datasets that the process keeps. The last one is kept in any case."""
_WARM = (
    "from workbench import battery\n"
    "def transform(data, params):\n"
    "    figure = go.Figure(layout={'template': battery.template()})\n"
    "    figure.add_scatter(x=[0], y=[0], mode='lines', line={'color': 'red'})\n"
    "    figure.update_layout(xaxis={'title': {'text': 'x'}}, legend={'x': 0}, margin={'t': 0})\n"
    "    return figure\n"
)
_LATE_SECONDS = 10.0
_PARENT_SECONDS = 2.0


@dataclass(frozen=True)
class Job:
    """A script with its params. ``content`` names its dataset; None: it comes with the job."""

    script: str
    params: Mapping[str, JsonValue]
    content: str | None
    seconds: float | None

    def dump(self) -> bytes:
        return json.dumps(asdict(self), ensure_ascii=True).encode()


@dataclass(frozen=True)
class Answer:
    """A figure, or the problems of its script, and what the script printed."""

    figure: bytes = b""
    log: str = ""
    problems: list[Problem] = field(default_factory=list)

    def dump(self) -> bytes:
        found = [[list(one.loc), one.msg, one.type, one.ctx] for one in self.problems]
        return json.dumps({"log": self.log, "problems": found}, ensure_ascii=True).encode()

    @classmethod
    def load(cls, text: bytes, figure: bytes) -> Answer:
        told = json.loads(text)
        problems = [Problem(tuple(loc), msg, type_, ctx) for loc, msg, type_, ctx in told["problems"]]
        return cls(figure, told["log"], problems)


def read_exactly(read: Callable[[int], bytes], size: int) -> bytearray:
    """Read ``size`` bytes, in as many parts as they come; EOFError if the other end closes before that."""
    made = bytearray()
    while len(made) < size:
        part = read(min(size - len(made), 2**20))
        if not part:
            raise EOFError
        made += part
    return made


def main() -> None:
    """Answer jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt of the notebook is for the notebook
    _warm_up()
    trace = _trace_on_request()
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    threading.Thread(target=_leave_with_parent, args=(os.getppid(),), daemon=True).start()
    source = os.fdopen(0, "rb")
    _write(out, READY)
    kept: OrderedDict[str, bytearray] = OrderedDict()
    while True:
        try:
            _, _, length, size = HEAD.unpack(read_exactly(source.read, HEAD.size))
            job = Job(**json.loads(read_exactly(source.read, length)))
            data = read_exactly(source.read, size)
        except EOFError:
            os._exit(0)
        if not size and job.content is not None:
            if job.content not in kept:
                _write(out, HEAD.pack(MAGIC, NEEDED, 0, 0))
                continue
            kept.move_to_end(job.content)
            data = kept[job.content]
        elif job.content is not None:
            _keep(kept, job.content, data)
        if job.seconds is not None:  # if nobody stops the script in time, nobody is there any more
            faulthandler.dump_traceback_later(job.seconds + _LATE_SECONDS, exit=True, file=trace)
        answer = _answer(job, data)
        faulthandler.cancel_dump_traceback_later()
        text = answer.dump()
        _write(out, HEAD.pack(MAGIC, DONE, len(text), len(answer.figure)), text, answer.figure)


def _warm_up() -> None:
    """Draw once on an empty dataset: this loads what scripts have, and what plotly loads at its first figure.

    A notebook starts this process before it needs it.
    """
    with not_collected():
        from ..dataset import pack
        from ..errors import ScriptError
        from .inprocess import draw

        with suppress(ScriptError):  # a figure of the user says it too, where the user sees it
            draw(_WARM, pack({}), {})


def _answer(job: Job, data: bytearray) -> Answer:
    from ..errors import ScriptError
    from .inprocess import draw

    try:
        drawn = draw(job.script, data, job.params)
    except ScriptError as error:
        return Answer(b"", error.log, error.problems)
    return Answer(drawn.figure, drawn.log)


def _keep(kept: OrderedDict[str, bytearray], content: str, data: bytearray) -> None:
    kept[content] = data
    kept.move_to_end(content)
    while len(kept) > 1 and sum(map(len, kept.values())) > MOST_KEPT:
        kept.popitem(last=False)


def _trace_on_request() -> int:
    """Where the lines of a running script are written when its process is asked for them."""
    trace = os.dup(2)
    if sys.platform != "win32":
        faulthandler.register(signal.SIGUSR1, file=trace, all_threads=True)
    return trace


def _leave_with_parent(parent: int) -> None:
    """End this process if the one that it works for has ended, also while a script runs."""
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)


def _write(descriptor: int, *parts: bytes) -> None:
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[os.write(descriptor, view) :]
