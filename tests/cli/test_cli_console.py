"""The bar for work that takes its time, and tables that show what they are given."""

from __future__ import annotations

import io
import subprocess
import sys
import time

import pytest
from rich.console import Console

from workbench.cli import console
from workbench.phrases import spaced


def bar_of(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool, before: float) -> str:
    shown = io.StringIO()
    monkeypatch.setattr(console, "err", Console(file=shown, force_terminal=is_terminal, width=80))
    monkeypatch.setattr(console, "BEFORE_BAR", before)
    with console.progress_bar("Reading") as step:
        step(1, 3, "cell 1.csv")
        time.sleep(0.3)
    return shown.getvalue()


def test_the_bar_shows_itself_after_a_moment_and_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Reading 1/3 cell 1.csv" in bar_of(monkeypatch, is_terminal=True, before=0.01)
    assert bar_of(monkeypatch, is_terminal=True, before=60) == ""
    assert bar_of(monkeypatch, is_terminal=False, before=0.01) == ""


def test_the_bar_ends_with_the_work_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "err", Console(file=io.StringIO(), force_terminal=True))
    monkeypatch.setattr(console, "BEFORE_BAR", 0.0)

    def work() -> None:
        with console.progress_bar("Reading"):
            time.sleep(0.05)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        work()


def test_cells_are_text_and_never_markup(capsys: pytest.CaptureFixture[str]) -> None:
    console.print_rows([{"name": "[red]a[/red]", "n": 12345, "none": None}], ["name", "n", "none"])
    printed = capsys.readouterr().out
    assert "[red]a[/red]" in printed
    assert spaced(12345) in printed


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "--version-of-nothing"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "No such option" in done.stderr + done.stdout
