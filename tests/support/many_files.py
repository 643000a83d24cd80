"""Many small files, and an ingest of them that is killed and resumed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

from support.server_process import ROOT, WORKBENCH
from support.waiting import until
from workbench.store import Store

LONG_STEP = 600
"""Samples of a step of a long file."""


def write(folder: Path, number: int, *, long_every: int | None = None) -> None:
    """So many files, each a test of its own cell: three cycles of a constant current. Every ``long_every``-th has so
    many samples, which compress so little, that a store keeps them as an object where it has a place for objects."""
    folder.mkdir()
    for n in range(number):
        a_step = LONG_STEP if long_every is not None and n % long_every == 0 else 8
        steps = np.repeat(np.arange(6), a_step)
        place = np.tile(np.linspace(0, 1, a_step), 6)
        current = np.where(steps % 2, -1.0, 1.0) * (1 + n / 10_000)
        voltage = np.where(steps % 2, 3.0 + 1.2 * place, 4.2 - 1.2 * place)
        if a_step == LONG_STEP:
            voltage = voltage + np.random.default_rng(n).normal(0, 1e-4, len(steps))
        rows = zip(np.arange(len(steps)) * 3600.0 / a_step, current, voltage, steps, strict=True)
        lines = ["Time [s],Current [A],Voltage [V],Step", *(",".join(map(repr, map(float, row))) for row in rows)]
        (folder / f"cell{n:05d}_life.csv").write_text("\n".join(lines) + "\n")


def held(place: str | Path) -> int:
    """How many measurements a store has."""
    with Store.open(place, read_only=True) as store:
        (found,) = store.execute("select count(*) from measurements").fetchone()
    return int(found)


def ingest(files: Path, place: str | Path, executor: str) -> subprocess.Popen[str]:
    """The command that reads the files, in a process of its own."""
    words = ["ingest", str(files), "--store", str(place), "--executor", executor, "--json"]
    words += ["--name-rule", "{cell}_{test}", "--jobs", "4", "--specification", "S", "--rating", "1Ah,3V,4.2V"]
    return subprocess.Popen([*WORKBENCH, *words], stdout=subprocess.PIPE, text=True, cwd=ROOT)


def ingest_killed(files: Path, place: str | Path, executor: str, kills: int) -> str:
    """Kill the ingest so many times as it proceeds, and let the last one end; what that one said."""
    number = len([*files.iterdir()])
    for n in range(kills):
        process = ingest(files, place, executor)
        wanted = number * (n + 1) // (kills + 1)
        until(lambda wanted=wanted: held(place) >= wanted, "the ingest", 3600, every=0.2)
        process.kill()
        process.communicate()
    said, _ = ingest(files, place, executor).communicate()
    return said
