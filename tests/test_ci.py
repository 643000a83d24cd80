"""What continuous integration runs: the parts of the long run are all test files, each once."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def parts() -> dict[str, list[Path]]:
    """The test files of each part."""
    lines = [line.split() for line in (ROOT / ".ci" / "parts").read_text().splitlines() if line[:1] != "#"]
    return {name: sorted(files(places)) for name, *places in lines}


def files(words: list[str]) -> set[Path]:
    """The files of a line's folders and files, without those that it leaves out."""
    left_out = {ROOT / word.removeprefix("--ignore=") for word in words if word.startswith("--ignore=")}
    found = [file for word in words if not word.startswith("--") for file in files_of(word)]
    assert left_out <= set(found)
    assert len(found) == len(set(found))
    return set(found) - left_out


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
