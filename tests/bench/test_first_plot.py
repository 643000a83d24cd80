"""The page of a notebook gets plotly.js before the first plot: only where there is a page."""

from __future__ import annotations

import asyncio

import pytest

from workbench.bench import first_plot
from workbench.notebook import plotly_ahead


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    pytest.importorskip("ipykernel")  # a kernel has it
    made: list[str] = []
    monkeypatch.setattr(plotly_ahead, "PlotlyAhead", lambda: made.append("widget"))
    monkeypatch.setattr(first_plot, "_QUIET_SECONDS", 0)
    first_plot._bring.cache_clear()
    return made


async def cells(number: int) -> None:
    for _ in range(number):
        first_plot.prepare()
        await asyncio.sleep(0)
        await asyncio.sleep(0)


def test_once_in_a_kernel_of_a_page(brought: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/notebooks/one.ipynb")
    asyncio.run(cells(3))
    assert brought == ["widget"]


def test_never_without_a_page(brought: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    asyncio.run(cells(3))
    assert brought == []


def test_a_program_without_a_loop_goes_on(brought: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "/notebooks/one.ipynb")
    first_plot.prepare()
    assert brought == []
