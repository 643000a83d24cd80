"""Figure bytes against plotly's own writer, and the time of a cache hit: ``python benchmarks/figure.py``.

Rounds are interleaved, so that a busy machine slows ours and theirs alike; the table holds ratios and medians.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio

from workbench.dataset import Samples, pack
from workbench.store.cache.cache import Cache
from workbench.table import Table
from workbench.transform.figure import encode
from workbench.transform.inprocess import draw

ROUNDS = 25
RESULT = Path(__file__).parent / "results" / "figure.md"
SCRIPT = """
def transform(data, params):
    traces = [
        {"type": "scatter", "mode": "lines", "name": key, "x": frame["t"], "y": frame["U"]}
        for key, frame in data["curves"].items()
    ]
    return {"data": traces, "layout": {"title": {"text": "A"}}}
"""


def milliseconds(work: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """The median of each, all run once a round."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds + 1):
        for name, one in work.items():
            began = time.perf_counter()
            one()
            times[name].append((time.perf_counter() - began) * 1e3)
    return {name: statistics.median(spent[1:]) for name, spent in times.items()}


def figures() -> dict[str, float]:
    rng = np.random.default_rng(1)
    t = np.arange(2000.0)
    traces = [
        {"type": "scatter", "mode": "lines", "name": f"{n}", "x": t, "y": rng.random(2000)} for n in range(100)
    ]
    content = {"data": traces, "layout": {"title": {"text": "A"}}}
    figure = go.Figure(content)
    table = Table.of({"t": t, "U": rng.random(2000)})
    packed = pack({"curves": {f"{n}": Samples(np.arange(2000), table, False, 10**6) for n in range(100)}})
    return milliseconds(
        {
            "mapping": lambda: encode(content),
            "figure": lambda: encode(figure),
            "plotly from mapping": lambda: pio.to_json(go.Figure(content)),
            "plotly": lambda: pio.to_json(figure),
            "draw": lambda: draw(SCRIPT, packed, {}),
        }
    )


def cache_hits(folder: Path) -> dict[str, float]:
    data = os.urandom(4 * 2**20)
    with Cache(folder / "near.cache") as near, Cache(folder / "near.cache", memory_bytes=0) as far:
        near.put("figure", "k", data, {"a": 1})

        def make() -> tuple[bytes, dict[str, int]]:
            raise RuntimeError("it is there")

        return milliseconds(
            {
                "memory": lambda: near.get_or_make("figure", "k", make),
                "side file": lambda: far.get_or_make("figure", "k", make),
            },
            rounds=100,
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        hits = cache_hits(Path(folder))
    ms = figures()
    lines = [
        "# Figure bytes and cache hits",
        "",
        f"100 traces x 2000 points; median of {ROUNDS} interleaved rounds. `benchmarks/figure.py` makes this page.",
        "",
        "| what | ms | ratio | bar | good |",
        "|---|---|---|---|---|",
        f"| plotly: `pio.to_json(go.Figure(mapping))` | {ms['plotly from mapping']:.1f} | 1 | | |",
        f"| plotly: `pio.to_json(figure)` | {ms['plotly']:.1f} | 1 | | |",
        f"| ours from the mapping, against plotly from the mapping | {ms['mapping']:.1f} "
        f"| {ms['plotly from mapping'] / ms['mapping']:.1f}x faster | | |",
        f"| ours from the mapping, against plotly from a made figure | {ms['mapping']:.1f} "
        f"| {ms['plotly'] / ms['mapping']:.1f}x faster | 2x | 3x |",
        f"| ours from a made figure, against plotly from it | {ms['figure']:.1f} "
        f"| {ms['plotly'] / ms['figure']:.1f}x faster | | |",
        f"| `draw`: packed dataset to frames, script, bytes | {ms['draw']:.1f} | | | |",
        f"| cache hit of 4 MB, memory | {hits['memory']:.3f} | | <= 1 ms | |",
        f"| cache hit of 4 MB, side file (first of a process), checksum verified | {hits['side file']:.1f} | | | |",
        "",
    ]
    text = "\n".join(lines)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
