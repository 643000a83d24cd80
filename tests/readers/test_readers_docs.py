"""The pages about formats say what the code does."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.errors import FileRefused
from workbench.readers import BUILT_IN as FORMATS
from workbench.readers import read
from workbench.readers.file.source import look
from workbench.table import concat

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_example_of_the_how_to_reads_its_file(tmp_path: Path) -> None:
    page = (DOCS / "how-to/add-a-format.md").read_text()
    blocks = re.findall(r"```(\w*)\n(.*?)```", page, re.DOTALL)
    text = next(block for language, block in blocks if not language)
    names: dict[str, object] = {}
    exec(next(block for language, block in blocks if language == "python"), names)
    path = tmp_path / "exemplar.csv"
    path.write_text(text)
    reading = names["EXEMPLAR"].read(look(path))  # type: ignore[attr-defined]
    table = concat(list(reading.batches))
    assert table["Time [s]"].tolist() == [0.0, 30.0, 60.0]
    assert table["Current [A]"].tolist() == [0.0, -0.25, 0.25]
    assert table["Charge capacity [A.h]"].tolist() == pytest.approx([0.0, 0.0021, 0.0])
    assert table["Cycle from cycler"].tolist() == [1, 1, 2]
    assert table["Shelf"].tolist() == ["A", "A", "A"]
    assert (reading.counters, reading.start_time) == ("step", datetime(2024, 5, 13, 10, tzinfo=UTC))


def test_every_format_is_found_under_its_name_and_has_words() -> None:
    for name, format in FORMATS.items():
        assert format.name == name
        assert format.about.endswith(".")
        assert format.endings


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_refuses_a_foreign_file_in_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear colleague,\nthe cells are in the post.\n")
    with pytest.raises(FileRefused, match=r"letter\.txt") as refused:
        list(read(path, format=name).batches)
    assert str(tmp_path) not in str(refused.value)
