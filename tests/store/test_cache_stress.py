"""Processes share one side file while it is deleted, overwritten with garbage, and its users are killed."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import time
from pathlib import Path

from workbench.store.cache.cache import Cache


def content(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest() * random.Random(key).randint(1, 3000)


def work(path: str, seed: int, seconds: float) -> None:
    """Ask for random keys and compare every answer with what it must be; ends with 0 only if all were right."""
    chance = random.Random(seed)
    cache = Cache(path, memory_bytes=300_000, disk_bytes=3_000_000)
    end = time.monotonic() + seconds
    hits = 0
    while time.monotonic() < end:
        key = f"k{chance.randint(0, 200)}"
        found = cache.get_or_make("figure", key, lambda key=key: (content(key), {"key": key}))
        if (found.data, found.meta) != (content(key), {"key": key}):
            sys.exit(f"wrong bytes for {key}")
        hits += found.hit
        if chance.random() < 0.02:
            cache.close()
    cache.close()
    print(hits)


def start(path: Path, seed: int, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, str(path), str(seed), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_no_answer_is_ever_wrong(tmp_path: Path, long: bool) -> None:
    path, seconds = tmp_path / "lab.cache", 20.0 if long else 2.0
    workers = [start(path, seed, seconds + 1) for seed in range(3)]
    chance = random.Random(9)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(chance.random() * 0.2)
        event = chance.random()
        if event < 0.3:
            for file in tmp_path.glob("lab.cache*"):
                file.unlink(missing_ok=True)
        elif event < 0.5:
            path.unlink(missing_ok=True)
        elif event < 0.7 and path.exists():
            with path.open("r+b") as file:
                file.seek(chance.randint(0, path.stat().st_size))
                file.write(b"garbage" * 100)
        elif event < 0.8:
            killed = workers.pop(0)
            killed.kill()
            killed.communicate()
            workers.append(start(path, chance.randint(10, 99), max(end - time.monotonic(), 0) + 1))
    for worker in workers:
        said, complained = worker.communicate(timeout=60)
        assert (worker.returncode, complained) == (0, "")
        assert int(said) >= 0


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
