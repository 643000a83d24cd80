"""What continuous integration runs: the parts of the long run are all test files, each once."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def parts() -> dict[str, list[Path]]:
    """The test files of each part."""
    lines = [line.split() for line in (ROOT / ".ci" / "parts").read_text().splitlines() if line[:1] != "#"]
    return {name: [file for place in places for file in files_of(place)] for name, *places in lines}


def files_of(place: str) -> list[Path]:
    found = [*ROOT.glob(place if place.endswith(".py") else f"{place}/**/test_*.py")]
    assert found, f"{place} holds no tests"
    return found


def test_the_parts_are_all_test_files_each_once() -> None:
    told = sorted(file for files in parts().values() for file in files)
    assert told == sorted((ROOT / "tests").rglob("test_*.py"))


def test_a_part_that_is_not_there_is_refused_with_those_that_are() -> None:
    ended = subprocess.run(
        [ROOT / ".ci" / "run", "--long", "nothing"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert f"There is no part 'nothing'. Parts: {' '.join(parts())} postgres benchmarks" in ended.stderr
