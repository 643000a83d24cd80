"""The help of the commands as a person sees it: literals as they are written, an example that is copied in one piece,
plain words."""

from __future__ import annotations

import re
import shlex

import pytest
import typer
from typer.testing import CliRunner

from tools.docs.commands import commands
from workbench.cli import app, help

COMMANDS = {
    "": typer.main.get_command(app),
    **{name: group for name, group in typer.main.get_command(app).commands.items() if hasattr(group, "commands")},
    **commands(),
}
LITERAL = re.compile(r"`([^`]+)`")
NOT_SAID = re.compile(
    r"\b(mend(ed|s)?|told|tells?|odd|unsound|at the door|foreign|pieces?|seals?|the account|put aside|is no|stands? in|"
    r"far|near)\b",
    re.IGNORECASE,
)


def shown(name: str, width: int) -> str:
    """The help of a command in a terminal of this width."""
    done = CliRunner().invoke(app, [*name.split(), "--help"], env={"COLUMNS": str(width)}, prog_name="workbench")
    assert done.exit_code == 0
    return done.output


def texts(name: str) -> list[str]:
    """All that is written for the help of a command."""
    command = COMMANDS[name]
    return [command.help or "", command.epilog or "", *(param.help or "" for param in help.params(command))]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_every_literal_is_shown_as_it_is_written(name: str, width: int) -> None:
    page = shown(name, width)
    for text in texts(name):
        for literal in LITERAL.findall(text):
            assert literal in page, (literal, page)


def test_the_rule_that_people_copy_is_right() -> None:
    for width in (60, 80, 120):
        page = shown("ingest", width)
        assert "How to read labels from file names" in page
        assert page.count("{batch}_{cell}_{test}") == 2


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", COMMANDS)
def test_only_an_example_is_longer_than_the_terminal_is_wide(name: str, width: int) -> None:
    page, _, example = shown(name, width).partition("\nExample:\n")
    assert max(map(len, page.splitlines())) <= width
    assert len(example.splitlines()) == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_ends_with_an_example_that_the_command_takes(name: str) -> None:
    example = shown(name, 80).splitlines()[-1]
    program, *words = shlex.split(example)
    assert program == "workbench"
    assert words[: len(name.split())] == name.split()
    called = next(
        one for one in sorted(COMMANDS, key=len, reverse=True) if one and " ".join(words).startswith(one)
    )
    context = COMMANDS[called].make_context(called, words[len(called.split()) :], resilient_parsing=False)
    assert context.params


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_in_plain_words_and_whole_sentences(name: str) -> None:
    for text in filter(None, texts(name)):
        assert not NOT_SAID.search(text), text
        if not text.startswith("Example: "):
            assert text.rstrip()[-1] == ".", text


@pytest.mark.parametrize("name", COMMANDS)
def test_no_default_is_an_empty_text(name: str) -> None:
    assert "default: " not in [help.default(param) for param in help.params(COMMANDS[name])]


def test_brackets_and_underscores_are_no_markup() -> None:
    commands = help.Commands("Of `a_b_c`, *stars*, [red]colours[/red] and :smile: faces.")

    @commands.add("workbench x 'a  b' --one_two")
    def first(path: str) -> None:
        """Read `x  [degC]` from `_a_`."""

    @commands.add("workbench second")
    def second() -> None:
        """Do nothing."""

    runner = CliRunner()
    page = runner.invoke(commands, ["--help"]).output
    assert "Of 'a_b_c', *stars*, [red]colours[/red] and :smile: faces." in page
    page = runner.invoke(commands, ["first", "--help"], env={"COLUMNS": "20"}).output
    assert "x  [degC]" in page
    assert "\n  workbench x 'a  b' --one_two\n" in page
