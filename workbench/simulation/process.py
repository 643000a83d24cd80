"""Starts the process that simulates, waits for it within a limit of time, and reads what it answers."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import JsonValue

from .. import temporary_folder

MODELS = ("SPM", "SPMe", "DFN")
"""The models of lithium-ion cells that can be simulated, from the fastest to the most detailed."""
_CHILD = Path(__file__).with_name("child.py")
_SLICE = 0.05
_LAST_WORDS = 400
Numbers = NDArray[np.float64]


class Failed(Exception):
    """A simulation without a result; the text says why."""


@dataclass(frozen=True)
class Job:
    """What to simulate.

    Attributes
    ----------
    parameters : the name of a set of PyBaMM, or a BPX document.
    model : one of ``MODELS``.
    protocol : steps in words; empty for a measured current.
    soc : state of charge at the start, 0 to 1; None: by ``start_voltage``.
    temperature : of the surroundings and at the start, in degC; None: that of the parameters.
    thermal : whether the cell warms up.
    period : seconds between two rows of a protocol in words.
    time, current : s and A of a measured current, positive on discharge.
    """

    parameters: str | Mapping[str, JsonValue]
    model: str
    protocol: Sequence[str]
    soc: float | None
    start_voltage: float | None
    temperature: float | None
    thermal: bool
    period: float = 10.0
    time: Numbers = field(default_factory=lambda: np.zeros(0))
    current: Numbers = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class Result:
    """The rows of a simulation by column name, the step of each row (empty for a measured current), what was noticed,
    and the version of PyBaMM."""

    rows: dict[str, Numbers]
    steps: NDArray[np.int64]
    notes: list[str]
    version: str


def is_installed() -> bool:
    """Whether PyBaMM is installed here. It is not imported: that takes seconds."""
    return importlib.util.find_spec("pybamm") is not None


class Running:
    """A simulation that runs in a process of its own.

    ``done`` says whether it has ended, ``stop()`` ends it, ``result()`` waits for what it gives.
    """

    def __init__(self, job: Job, seconds: float | None) -> None:
        self._place = temporary_folder.make()
        self._seconds, self._started = seconds, time.monotonic()
        self._stopped = False
        self._write(job)
        # A group of its own, so that what PyBaMM starts ends with it; no interrupt of the notebook reaches it.
        with (self._place / "stderr").open("wb") as errors:
            self._process = subprocess.Popen(  # noqa: S603  (this Python, and a file of ours)
                [sys.executable, "-P", str(_CHILD), str(self._place)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                cwd=self._place,
                env={
                    **os.environ,
                    "PYBAMM_DISABLE_TELEMETRY": "true",
                    "OMP_NUM_THREADS": "1",
                    "MPLBACKEND": "Agg",
                },
                start_new_session=True,
            )
        # Also when nobody asks for the result, and when this process ends.
        self._end = weakref.finalize(self, _ended, self._process, self._place)

    def _write(self, job: Job) -> None:
        if len(job.time):
            np.savez(self._place / "measured.npz", time=job.time, current=job.current)
        content = {
            "parameters": job.parameters,
            "model": job.model,
            "protocol": list(job.protocol),
            "soc": job.soc,
            "start_voltage": job.start_voltage,
            "temperature": job.temperature,
            "thermal": job.thermal,
            "period": job.period,
        }
        (self._place / "job.json").write_bytes(orjson.dumps(content))

    @property
    def done(self) -> bool:
        """Whether it has ended, well or not."""
        return self._stopped or self._process.poll() is not None

    def stop(self) -> None:
        """End it at once; nothing is kept."""
        self._stopped = True
        self._end()

    def result(self) -> Result:
        """Wait for the end, at most until the limit of time, and give what was simulated.

        Raises
        ------
        Failed
            If it was stopped, took longer than its limit, or has no result. The process has ended then.
        """
        try:
            while self._process.poll() is None and not self._stopped:
                if self._seconds is not None and time.monotonic() - self._started > self._seconds:
                    raise Failed(
                        f"The simulation took longer than {self._seconds:g} s and was stopped. Give it a longer "
                        "time_limit, a simpler model, or a shorter protocol."
                    )
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_SLICE)
            if self._stopped:
                raise Failed("The simulation was stopped.")
            return self._read()
        finally:
            self.stop()

    def _read(self) -> Result:
        answer = self._place / "answer.json"
        if not answer.exists():
            words = (self._place / "stderr").read_text("utf-8", "replace").strip()[-_LAST_WORDS:].splitlines()
            raise Failed(
                f"The process of the simulation ended without an answer. {words[-1] if words else ''}".strip()
            )
        found = orjson.loads(answer.read_bytes())
        if "error" in found:
            raise Failed(str(found["error"]))
        held = np.load(self._place / "rows.npy")
        rows = {str(name): np.asarray(row, float) for name, row in zip(found["columns"], held, strict=True)}
        steps = np.asarray(np.load(self._place / "steps.npy"), np.int64)
        return Result(rows, steps, [str(note) for note in found["notes"]], str(found["version"]))


def _ended(process: subprocess.Popen[bytes], folder: Path) -> None:
    """End a process and what it has started, and remove its folder."""
    if process.poll() is None:
        if sys.platform == "win32":  # it has no groups of processes
            process.kill()
        else:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def start(job: Job, seconds: float | None) -> Running:
    """Start a simulation; ``seconds`` is the most that it may take, None: no limit."""
    return Running(job, seconds)
