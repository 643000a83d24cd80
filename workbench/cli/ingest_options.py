"""The options of `workbench ingest` and `workbench watch`, made from `IngestOptions`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, TypeAlias

import typer
from pydantic.fields import FieldInfo

from ..errors import BadRequest
from ..ingest.options import IngestOptions, said
from ..messages import option_name, typed_in

AFTER = "organization"
"""The shared option behind which these are listed."""
Command = Callable[..., None]
Typed: TypeAlias = Any
"""A value as typer read it: text, number, path or a list of them."""


def with_ingest_options(
    *, watch: bool = False, model: type[IngestOptions] = IngestOptions
) -> Callable[[Command], Command]:
    """Give a command that takes ``**options`` every option of an ingest, or every one that a watch takes."""
    fields = {name: field for name, field in model.model_fields.items() if said(field).watch or not watch}

    def given(command: Command) -> Command:
        @wraps(command)
        def run(**typed: Typed) -> None:
            command(
                **{name: _read(fields[name], value) if name in fields else value for name, value in typed.items()}
            )

        own = inspect.signature(command, eval_str=True).parameters
        parameters: list[inspect.Parameter] = []
        for name, parameter in own.items():
            if parameter.kind is not parameter.VAR_KEYWORD:
                parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
            if name == AFTER:
                parameters += [_parameter(name, field) for name, field in fields.items()]
        run.__dict__["__signature__"] = inspect.Signature(parameters)
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return given


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    """An option as typer reads it."""
    marks = said(field)
    kind = marks.terminal or field.annotation
    with typed_in("terminal"):
        spelled = option_name(name)
    option = typer.Option(spelled, metavar=marks.metavar, min=marks.least, help=marks.help or field.description)
    default = None if field.default == () else field.default
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def _read(field: FieldInfo, value: Typed) -> Typed:
    """What was typed, as the option takes it: a mapping from its pairs."""
    if said(field).metavar != "THEIRS=OURS" or not value:
        return value
    return _pairs(value)


def _pairs(items: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for item in items:
        theirs, equals, ours = item.partition("=")
        if not equals or not theirs.strip() or not ours.strip():
            raise BadRequest(f"--map takes 'their column=our column', not '{item}'.")
        pairs[theirs.strip()] = ours.strip()
    return pairs
