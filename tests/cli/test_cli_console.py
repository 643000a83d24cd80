"""The bar for work that takes its time, and tables that show what they are given."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text
from support.waiting import until

from workbench import cli
from workbench.cli import console
from workbench.ingest.report.report import FileReport, Report
from workbench.messages import spaced


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


def test_no_name_moves_anything_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9b\u202e"
    for print_it in (
        lambda: console.print_rows([{"name": name}], ["name"], title=name),
        lambda: console.out.print(name, markup=False),
        lambda: console.out.print(Text(name)),
        lambda: console.out.print(report_of(name)),
    ):
        print_it()
        printed = capsys.readouterr().out
        assert r"\x1b]52;c;ZXZpbA==" in printed
        assert not set(printed) & set(name[:1] + name[-2:])
    console.print_json({name: [name]})
    printed = capsys.readouterr().out
    assert json.loads(printed) == {name: [name]}
    assert not set(printed) & set("\x1b\x07\x9b\u202e")
    shown = io.StringIO()
    monkeypatch.setattr(console, "err", console._Console(file=shown, force_terminal=True, width=80))
    monkeypatch.setattr(console, "BEFORE_BAR", 0.0)
    with console.progress_bar("Reading") as step:
        step(1, 3, name)
        until(lambda: r"\x1b]52;c" in shown.getvalue())
    assert "\x1b]" not in shown.getvalue()


def report_of(name: str) -> Report:
    report = Report()
    report.files.append(FileReport(path=name, status="refused", why=name))
    return report


def test_the_package_runs_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "workbench", "--version-of-nothing"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "No such option" in done.stderr + done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_utf_8_shows_signs_that_it_lacks_as_numbers(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "Zelle … 电池 \U0001f50b"
    with io.TextIOWrapper(io.BytesIO(), encoding) as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        console.print_everywhere()
        console.print_rows([{"name": name}], ["name"])
        terminal.flush()
        assert r"\u7535\u6c60" in terminal.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
        terminal.buffer.truncate(0)
        console.print_json({"name": name})
        terminal.flush()
        assert json.loads(terminal.buffer.getvalue().strip(b"\0")) == {"name": name}  # type: ignore[attr-defined]


def test_ctrl_c_ends_a_command_with_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed(_text: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["workbench", "--version"])
    monkeypatch.setattr(console.out, "print", pressed)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert (end.value.code, capsys.readouterr().err) == (130, "Stopped.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_an_output_that_cannot_be_written_ends_in_words() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == (
        "No space left on device. The system does not say of which file; it may be that of the output.\n"
    )
