"""One declaration of the options of an ingest: every place has every one of them, also one that is added."""

from __future__ import annotations

import inspect
from typing import Annotated, Any, get_type_hints

import pytest
import typer
from pydantic import Field

import workbench as wb
from tools.docs import commands, python
from workbench.bench import Bench
from workbench.cli.ingest_options import with_ingest_options
from workbench.errors import BadRequest, Invalid
from workbench.ingest import IngestKeywords, IngestOptions
from workbench.ingest.options import Names, Said, _shows, body_model, said, sent_options, to_send
from workbench.ingest.plan.headings import columns
from workbench.messages import option_name, typed_in


class More(IngestOptions):
    """The options and one more."""

    chamber: Annotated[str | None, Said("CHAMBER", http=str, column=Names(("chamber", "oven"), ("kammer",)))] = (
        Field(None, description="The chamber that the cells were in.")
    )


def shown(command: Any) -> dict[str, Any]:
    """The options of a command by their spelling in a terminal."""
    app = typer.Typer()
    app.command()(command)
    made: Any = typer.main.get_command(app)
    return {option: parameter for parameter in made.params for option in parameter.opts}


def takes_options() -> Any:
    """A function that takes every option."""

    def command(organization: str | None = None, **options: Any) -> None:
        """A command.

        Parameters
        ----------
        options : all of them.
        """

    return command


def test_the_keywords_that_editors_read_are_the_fields_of_the_model() -> None:
    keywords, fields = get_type_hints(IngestKeywords), get_type_hints(IngestOptions)
    assert list(keywords) == list(IngestOptions.model_fields)
    one_or_several = {"repair"}
    assert {name for name in keywords if keywords[name] != fields[name]} == one_or_several
    for name, field in IngestOptions.model_fields.items():
        assert IngestOptions.of({name: None}) == IngestOptions()
        assert (field.description or "").endswith(".")


@pytest.mark.parametrize("function", [Bench.ingest, Bench.watch])
def test_python_shows_every_option_and_nothing_else(function: Any) -> None:
    taken = inspect.signature(function).parameters
    for name, field in IngestOptions.model_fields.items():
        assert taken[name].default == field.default
        assert taken[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert "options" not in taken


@pytest.mark.parametrize("watch", [False, True])
def test_the_command_line_has_every_option(watch: bool) -> None:
    command = commands.commands()["watch" if watch else "ingest"]
    found = {option: parameter for parameter in command.params for option in parameter.opts}
    for name, field in IngestOptions.model_fields.items():
        with typed_in("terminal"):
            spelled = option_name(name)
        assert (spelled in found) == (said(field).watch or not watch)
        if spelled in found:
            assert found[spelled].name == name
            assert found[spelled].help


def test_a_request_takes_what_is_sent_and_what_is_sent_is_all_that_is_needed() -> None:
    here = {"sheet", "name_rule"}
    taken = body_model().model_fields
    assert set(IngestOptions.model_fields) - here == set(taken) - {"whole_lines"}
    options = IngestOptions.of({"batch": "A", "repair": "time", "column_map": {"V": "Voltage [V]"}, "jobs": 2})
    sent = to_send(options, whole_lines=True)
    later = {"cycles", "again"}  # a server of 0.1.0 does not know them
    assert set(sent) == set(taken) - later
    assert later <= set(to_send(IngestOptions.of({"cycles": "count", "again": True}), whole_lines=False))
    back = sent_options({**sent, "repair": list(sent["repair"])})
    assert (back.options, back.whole_lines) == (options, True)


def test_the_reference_pages_describe_every_option() -> None:
    pages = {"python.md": python.page(), "commands.md": commands.page()}
    for name, field in IngestOptions.model_fields.items():
        assert f"- **{name}**: {field.description}" in pages["python.md"]
        words = said(field).help or field.description
        assert words
        assert words in pages["commands.md"]


def test_a_new_option_is_one_field() -> None:
    assert More.of({"chamber": "oven 2"}).model_dump(exclude_defaults=True) == {"chamber": "oven 2"}

    told = _shows(takes_options(), More)
    assert inspect.signature(told).parameters["chamber"].default is None
    assert "chamber : The chamber that the cells were in." in (inspect.getdoc(told) or "")

    command = shown(with_ingest_options(model=More)(takes_options()))
    assert command["--chamber"].help == "The chamber that the cells were in."

    assert "chamber" in body_model(More).model_fields
    assert "chamber" in to_send(More.of({"chamber": "oven 2"}), whole_lines=False)
    assert columns(More)["chamber"].english == ("chamber", "oven")


def test_an_option_that_does_not_exist_names_the_nearest_one(tmp_path: Any) -> None:
    with wb.open(tmp_path / "lab.db") as bench:
        for call in (bench.ingest, bench.watch):
            with pytest.raises(BadRequest, match=r"no option 'instnace'. Did you mean 'instance'\?"):
                call(tmp_path, instnace="a")  # type: ignore[operator]
            with pytest.raises(TypeError):
                call(tmp_path, instnace="a")  # type: ignore[operator]
    with pytest.raises(Invalid, match=r"no option 'speccification'. Did you mean 'specification'\?"):
        sent_options({"speccification": "a"})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"jobs": "two"}, "'jobs' is a whole number, not 'two'"),
        ({"column_map": 3}, "'column_map' is an object, not 3"),
        ({"repair": 3}, "'repair' is a list, not 3"),
        ({"specification": 3}, "'specification' is a text, not 3"),
        ({"zone": "berlin"}, "no time zone 'berlin'. Did you mean 'Europe/Berlin'"),
        ({"zone": "New York"}, "Did you mean 'America/New_York'"),
        ({"zone": "UTC+1"}, "Did you mean 'Etc/GMT-1'"),
        ({"zone": "-05:00"}, r"Did you mean 'Etc/GMT\+5'"),
        ({"zone": "+05:30"}, "Name a place"),
        ({"zone": "Mars"}, "Name a place, as 'Europe/Berlin'"),
        ({"zone": "Europe/Berln"}, "no time zone 'Europe/Berln'. Did you mean 'Europe/Berlin'"),
        ({"format": "newar"}, "no format 'newar'. Did you mean 'neware'"),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused_by_name(given: dict[str, Any], words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        IngestOptions.of(given)


@pytest.mark.parametrize(
    ("given", "loc", "kind"),
    [
        ({"jobs": "2"}, ("jobs",), "int_type"),
        ({"dry_run": 1}, ("dry_run",), "bool_type"),
        ({"batch": {}}, ("batch",), "str_type"),
        ({"repair": "time"}, ("repair",), "list_type"),
        ({"repair": [1]}, ("options", "repair"), "string_type"),
        ({"column_map": {"V": 1}}, ("options", "column_map"), "string_type"),
        ({"rating": 3}, ("options", "rating"), "value_error"),
        ({"batch": "a\0"}, ("batch",), "value_error"),
        ({"sheet": "a.csv"}, ("options", "sheet"), "extra_forbidden"),
    ],
)
def test_a_request_is_refused_by_place_and_kind(given: dict[str, Any], loc: tuple[str, ...], kind: str) -> None:
    with pytest.raises(Invalid) as caught:
        sent_options(given)
    assert [(problem.loc, problem.type) for problem in caught.value.problems] == [(loc, kind)]
