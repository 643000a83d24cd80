"""The commands of analyses and of the gallery: analyse, kinds, gallery."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import BadRequest
from ..messages import said_of_json
from .console import out, print_json, print_rows, progress_bar
from .help import Commands
from .options import (
    ExecutorOption,
    JsonOption,
    OrganizationOption,
    ProjectOption,
    StoreOption,
    existing,
    open_bench,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

    from ..bench import Bench

commands = Commands()


@commands.add("workbench analyse dcir --where batch=A")
def analyse(
    type: Annotated[
        str | None,
        typer.Argument(
            metavar="TYPE",
            help="The analysis, `kinds`, or `arrival` for all that is due. Without it, the analyses are listed.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="KEY=VALUE",
            help="Only these tests, by a filter of a `list` step: `batch=A`. Without it: all whose kind fits, or that "
            "have a record of it.",
        ),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "-p", metavar="NAME=VALUE", help="A parameter of the analysis. `NAME:=JSON` is read as JSON."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Only print what would be computed. The exit code is 1 if there is something to compute.",
        ),
    ] = False,
    on_arrival: Annotated[
        bool | None,
        typer.Option(
            "--on-arrival/--not-on-arrival",
            help="From now on compute what fits their kinds when tests are ingested, or no more.",
            show_default=False,
        ),
    ] = None,
    executor: ExecutorOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compute an analysis of tests, and keep the results in the store.

    Results that are up to date stay; missing and outdated ones are computed. Run the command again after a stop: it
    goes on from there. `kinds`
    recognises which kinds of tests there are: check-ups, pulses, GITT, impedance, rates, ageing."""
    from ..ingest.recompute import filters, require_some

    reads = check or (type is None and on_arrival is None)
    with open_bench(existing(store), project, organization, read_only=reads, executor=executor) as bench:
        if on_arrival is not None:
            bench.analyse_on_arrival(on_arrival)
        if type is None and on_arrival is not None:
            out.print(f"Tests are {'' if on_arrival else 'not '}analysed when they arrive.")
            return
        if type is None:
            _list(bench, as_json)
            return
        chosen = filters(where) if where else None
        if chosen:
            require_some(chosen, bench.backend.listing)
        with progress_bar("Analysing") as told:
            given = _parameters(param or [])
            done = bench.backend.analyse(type, chosen, given, check=check, progress=told)
    if as_json:
        print_json(done.as_dict())
    else:
        out.print(done.in_words(check=check), markup=False, soft_wrap=True)
    if check and done.computed:
        raise typer.Exit(1)


def _list(bench: Bench, as_json: bool) -> None:
    rows: list[dict[str, JsonValue]] = json.loads(bench.analysis_types().to_json(orient="records"))
    if as_json:
        print_json(rows)
    else:
        shown = [{**row, "kinds": ", ".join(map(str, _texts(row["kinds"]))) or "all"} for row in rows]
        print_rows(shown, ["type", "question", "reads", "kinds"])


def _texts(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def _parameters(words: list[str]) -> dict[str, JsonValue]:
    made: dict[str, JsonValue] = {}
    for word in words:
        name, is_there, text = word.partition("=")
        if not is_there:
            raise BadRequest(f"'{word}' is not a parameter. Write it as NAME=VALUE: rest=600.")
        if not name.endswith(":"):
            made[name] = _number_or_text(text)
            continue
        try:
            made[name.removesuffix(":")] = json.loads(text)
        except ValueError as error:
            raise BadRequest(f"The value of '{name[:-1]}' is not JSON: {said_of_json(error)}.") from error
    return made


def _number_or_text(text: str) -> JsonValue:
    try:
        return float(text) if any(letter in text for letter in ".eE") else int(text)
    except ValueError:
        return text


@commands.add("workbench kinds --store lab.db")
def kinds(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print which kinds of tests there are, how certain that is, and why. Nothing is changed."""
    with open_bench(existing(store), project, organization, read_only=True) as bench, progress_bar("Looking"):
        rows: list[dict[str, JsonValue]] = json.loads(bench.kinds().to_json(orient="records"))
    if as_json:
        print_json(rows)
    elif rows:
        print_rows(rows, ["instance_name", "measurement_name", "kind", "certainty", "evidence"])
    else:
        out.print("No test is of a known kind.")


@commands.add("workbench gallery --store lab.db")
def gallery(
    store: StoreOption = None,
    project: ProjectOption = None,
    organization: OrganizationOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the ready recipes and their questions, and what the store lacks for some. `workbench run fade -o fade.pdf`
    draws one."""
    with open_bench(existing(store), project, organization, read_only=True) as bench, progress_bar("Looking"):
        found = bench.gallery()
    if as_json:
        print_json([dict(item) for item in found.items])
    else:
        print_rows([dict(item) for item in found.items], ["name", "question", "lacking"])
