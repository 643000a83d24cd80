"""The reference pages name what there is, and their examples run."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from workbench import battery
from workbench.dataset import Samples, pack
from workbench.table import Table
from workbench.transform.inprocess import draw
from workbench.transform.modules import STANDARD

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference"


def test_every_helper_is_documented() -> None:
    page = (DOCS / "battery.md").read_text() + (DOCS / "analyses.md").read_text()
    assert [name for name in battery.__all__ if name not in page] == []


def test_every_module_of_scripts_is_documented() -> None:
    page = (DOCS / "transform.md").read_text().partition("## Modules")[2].partition("## Output")[0]
    assert set(re.findall(r"`(\w+)`", page)) >= STANDARD


@pytest.mark.parametrize("name", ["battery.md", "transform.md"])
def test_the_first_example_of_a_page_draws(name: str) -> None:
    example = re.search(r"```python\n(.*?)```", (DOCS / name).read_text(), re.DOTALL)
    assert example is not None
    t = np.arange(1000.0)
    table = Table.of({"Time [s]": t, "Current [A]": -np.ones(1000), "Voltage [V]": 3 + t / 1000})
    packed = pack({"curves": {"cell": Samples(np.arange(1000), table, True, 1000)}})
    drawn = draw(example[1], packed, {"smooth": 0.01, "title": "T"})
    assert b'"cell"' in drawn.figure
    assert drawn.log == ""
