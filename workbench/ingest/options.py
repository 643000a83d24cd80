"""The options of an ingest, declared once: Python, the command line, HTTP and the columns of a sheet derive from here.

A new option is one field of `IngestOptions` and its line in `IngestKeywords` below it, which editors read. This module
imports no reader and no store, so that a help text costs nothing.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    ParamSpec,
    Protocol,
    Self,
    TypeAlias,
    TypedDict,
    TypeVar,
)
from zoneinfo import available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainValidator,
    SkipValidation,
    ValidationError,
    create_model,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from ..errors import BadRequest, Invalid, Problem, instead, near
from ..messages import option_name

if TYPE_CHECKING:
    from ..records import Record

_DIFFERENCE = re.compile(r"(?:UTC|GMT)?\s*([+-])0?(\d{1,2})(?::?00)?", re.IGNORECASE)
"""A whole number of hours from UTC, as people write it: UTC+1, +01:00."""
P = ParamSpec("P")
R = TypeVar("R")


class Frame(Protocol):
    """A DataFrame, as far as a sheet needs it."""

    @property
    def columns(self) -> Iterable[str]: ...

    def to_dict(self, orient: str, /) -> list[dict[str, JsonValue]]: ...


def _as_ref(value: str | Record) -> str | Record:
    from ..records import Record

    if not isinstance(value, str | Record):
        raise PydanticCustomError("string_type", "Input should be a name, an id or a record")
    return value


def _as_text(value: str) -> str:
    from ..records.values import clean_text

    return clean_text(value)


if TYPE_CHECKING:
    Ref: TypeAlias = str | Record
else:
    Ref = Annotated[Any, PlainValidator(_as_ref)]
"""A name, an id or a record; records are imported when one is checked."""
FileProgress: TypeAlias = Callable[[int, int, str], None]
"""Called with (files done, files in all, the current file)."""
RatingText: TypeAlias = str | Mapping[str, JsonValue]
SheetGiven: TypeAlias = str | os.PathLike[str] | Frame | Sequence[Mapping[str, JsonValue]]
Text: TypeAlias = Annotated[str, AfterValidator(_as_text)]

CYCLES = ("count", "file")
"""The values of the option ``cycles``."""


@dataclass(frozen=True)
class Names:
    """What a column of a sheet, and a field of a name rule, may be called: the first name is the usual one."""

    english: tuple[str, ...]
    german: tuple[str, ...] = ()


@dataclass(frozen=True)
class Said:
    """How an option is said outside Python.

    ``metavar`` stands for its value in help texts, ``terminal`` is what the command line reads (the type of the field
    where it is None), ``least`` its lowest value there and ``help`` its sentence where that of Python does not do.
    ``watch``: `workbench watch` takes it too. ``http`` is its type in a request; None: it is used where the files are
    and not sent. ``column`` names the column of a sheet that says it of one file.
    """

    metavar: str | None = None
    terminal: type | UnionType | None = None
    least: int | None = None
    help: str | None = None
    watch: bool = True
    http: type | UnionType | None = None
    column: Names | None = None


def _as_tuple(value: str | Iterable[str]) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, Iterable) else value


class IngestOptions(BaseModel):
    """What may be said of an ingest: which cells the files are about, how they are read, what is kept."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    specification: Annotated[
        Ref | None,
        Said("NAME", str | None, http=Text, column=Names(
            ("specification", "cell specification", "cell type", "design"), ("zelltyp", "spezifikation"))),
    ] = Field(
        None,
        description="Specification of the cells, created if it does not exist. Without it each cell gets one of its "
        "own, named `Unspecified` and the name of the cell.",
    )  # fmt: skip
    rating: Annotated[
        SkipValidation[RatingText | None],
        Said("RATING", str | None, http=Text | dict[str, JsonValue], column=Names(("rating", "ratings"))),
    ] = Field(
        None,
        description="Ratings of a new specification, as `5Ah,2.5V,4.2V`. Without it they are estimated from "
        "the data, and the `source` of the specification says so.",
    )
    instance: Annotated[
        Ref | None,
        Said("NAME", str | None, http=Text, column=Names(
            ("instance", "cell", "cell name", "cell id", "cell instance"), ("zelle", "zellname"))),
    ] = Field(
        None,
        description="The cell, created if it does not exist. Without it: the name of the file, with that of its folder "
        "if several folders have a file of that name.",
    )  # fmt: skip
    batch: Annotated[
        Ref | None,
        Said("NAME", str | None, http=Text, column=Names(("batch", "cell batch"), ("charge", "los"))),
    ] = Field(None, description="Batch of the cells, created if it does not exist.")
    format: Annotated[str | None, Said("FORMAT", http=Text, column=Names(("format", "file format")))] = Field(
        None, description="Format of the files. Without it: recognised from the content."
    )
    column_map: Annotated[
        Mapping[str, str] | None,
        Said(
            "THEIRS=OURS", list[str] | None, http=dict[str, str], column=Names(("map", "column map")),
            help="A column of the file and what it is, as `Volts=Voltage [V]`."),
    ] = Field(None, description='Columns of the file and what they are, as `{"Volts": "Voltage [V]"}`.')  # fmt: skip
    sign: Annotated[str | None, Said("SIGN", http=Text, column=Names(("sign", "current sign")))] = Field(
        None, description="What a positive current means in the file: `discharge`, `charge` or `unsigned`."
    )
    zone: Annotated[str | None, Said("ZONE", http=Text)] = Field(
        None,
        description="Time zone of clock times that name no zone, as `Europe/Berlin`. Without it: `UTC`.",
    )
    repair: Annotated[
        tuple[str, ...], BeforeValidator(_as_tuple), Said("WHAT", list[str] | None, http=list[str])
    ] = Field(
        (),
        description="What may be repaired. `time`: where the clock jumps back, the jump is taken out: time stays "
        "the same there.",
    )
    cycles: Annotated[str | None, Said("HOW", http=Text)] = Field(
        None,
        description="How cycles are numbered. `count`: by counting half cycles. `file`: by the file's own numbers; a "
        "file without numbers is one cycle. Without it: by the file's own numbers if they rise, else by counting half "
        "cycles.",
    )
    jobs: Annotated[int, Said("N", least=1, http=int)] = Field(
        1, description="How many files are read at the same time."
    )
    keep_file: Annotated[bool, Said(watch=False, http=bool)] = Field(
        False, description="Keep a copy of each file in the store too."
    )
    sheet: Annotated[SkipValidation[SheetGiven | None], Said("FILE", Path | None)] = Field(
        None,
        description="A csv file or a workbook that says what each file is: a column `file`, and any of "
        "`specification`, `batch`, `cell`, `test`, `protocol`, `tags`, `temperature [degC]`, "
        "`mass [g]` ... In Python also a DataFrame or rows. Ingest with a changed sheet to update the "
        "labels in the store.",
    )
    name_rule: Annotated[str | None, Said("RULE")] = Field(
        None,
        description="How to read labels from file names, as `{batch}_{cell}_{test}`. A rule with `/` reads folder "
        "names too, those below the folder that is ingested. A sheet goes before the rule, and the rule before the "
        "other options.",
    )
    again: Annotated[bool, Said(watch=False, http=bool)] = Field(
        False,
        description="Read files again that are in the store, into the same measurements. Without a file: read the kept "
        "copies of files that an older version read by a rule that was wrong.",
    )
    dry_run: Annotated[bool, Said(watch=False, http=bool)] = Field(
        False, description="Show what would happen and change nothing."
    )

    @field_validator("format")
    @classmethod
    def _known_format(cls, format: str | None) -> str | None:
        from ..readers import FORMATS

        if format is not None and format not in FORMATS:
            raise BadRequest(f"There is no format '{format[:80]}'. {instead(format, FORMATS, 'formats')}")
        return format

    @field_validator("cycles")
    @classmethod
    def _known_cycles(cls, cycles: str | None) -> str | None:
        if cycles is not None and cycles not in CYCLES:
            close = instead(cycles, CYCLES, "values")
            raise BadRequest(f"'{cycles[:80]}' is not a value of '{option_name('cycles')}'. {close}")
        return cycles

    @field_validator("zone")
    @classmethod
    def _known_zone(cls, zone: str | None) -> str | None:
        if zone is not None and zone not in (known := available_timezones()):
            raise BadRequest(f"There is no time zone '{zone[:80]}'. {_zones_instead(zone, known)}")
        return zone

    @classmethod
    def of(cls, given: IngestKeywords | Mapping[str, JsonValue]) -> Self:
        """The options of keyword arguments; one that is None is not given.

        Raises
        ------
        UnknownOption
            For an option that does not exist; names the nearest one.
        BadRequest
            For a value that an option does not take.
        """
        for name in given:
            if name not in cls.model_fields:
                raise UnknownOption(f"There is no option '{name}'. {instead(name, cls.model_fields, 'options')}")
        try:
            return cls.model_validate({name: value for name, value in given.items() if value is not None})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = option_name(str(first["loc"][0]))
            raise BadRequest(f"'{name}' is {_expected(first)}, not {first['input']!r}.") from None


class UnknownOption(BadRequest, TypeError):
    """A keyword that is not an option; a TypeError too, as Python has it."""


class IngestKeywords(TypedDict, total=False):
    """The fields of `IngestOptions` as keyword arguments; a test holds that they are the same."""

    specification: Ref | None
    rating: RatingText | None
    instance: Ref | None
    batch: Ref | None
    format: str | None
    column_map: Mapping[str, str] | None
    sign: str | None
    zone: str | None
    repair: str | Iterable[str]
    cycles: str | None
    jobs: int
    keep_file: bool
    sheet: SheetGiven | None
    name_rule: str | None
    again: bool
    dry_run: bool


def said(field: FieldInfo) -> Said:
    """The marks of a field."""
    return next(mark for mark in field.metadata if isinstance(mark, Said))


# Python


def shows_options(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function that takes ``**options`` show each of them: in its signature, and in its docstring at the line
    that begins with ``options :``."""
    return _shows(function, IngestOptions)


def _shows(function: Callable[P, R], model: type[IngestOptions]) -> Callable[P, R]:
    signature = inspect.signature(function)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    named = [one for one in own if one.kind is one.KEYWORD_ONLY]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default)
        for name, field in model.model_fields.items()
    ]
    parameters = [*(one for one in own if one not in named), *options, *named]
    function.__dict__["__signature__"] = signature.replace(parameters=parameters)
    listed = "\n".join(f"{name} : {field.description}" for name, field in model.model_fields.items())
    function.__doc__ = re.sub(r"^options : .*$", lambda _: listed, inspect.getdoc(function) or "", flags=re.M)
    return function


# HTTP


class Sent(NamedTuple):
    """What a request says: the options, and that its files may have been written to meanwhile."""

    options: IngestOptions
    whole_lines: bool


@cache
def body_model(model: type[IngestOptions] = IngestOptions) -> type[BaseModel]:
    """The options as the body of a request has them: those that are sent, each nullable, nothing converted."""
    fields: dict[str, Any] = {
        name: (http | None, Field(None, description=field.description))
        for name, field in model.model_fields.items()
        if (http := said(field).http) is not None
    }
    lines = "The files may still be written to: a last line that has no end is left out."
    fields["whole_lines"] = (bool | None, Field(None, description=lines))
    return create_model("IngestBody", __config__=ConfigDict(extra="forbid", strict=True), **fields)


def sent_options(given: Mapping[str, JsonValue]) -> Sent:
    """The options of a request.

    Raises
    ------
    Invalid
        For an option that is not known, or a value of another type: all that are wrong, each with its place.
    BadRequest
        For a format or a zone that does not exist.
    """
    known = body_model().model_fields
    try:
        body = body_model().model_validate(dict(given))
    except ValidationError as error:
        raise Invalid(_problems(error, known)) from None
    said = body.model_dump(exclude_none=True)
    whole_lines = bool(said.pop("whole_lines", False))
    return Sent(IngestOptions.of(said), whole_lines)


_LATER = frozenset({"cycles", "again"})
"""Options that a server of 0.1.0 does not know: they are sent only where they say something."""


def to_send(options: IngestOptions, *, whole_lines: bool) -> dict[str, Any]:
    """The options that go along with a request; records among them are still records."""
    known = body_model(type(options)).model_fields
    said = {
        name: value
        for name, value in dict(options).items()
        if name in known and (name not in _LATER or value != type(options).model_fields[name].default)
    }
    return said | {"whole_lines": whole_lines}


_WORDS = {
    "string": "a text", "bool": "true or false", "int": "a whole number", "dict": "an object", "list": "a list",
    "mapping": "a mapping", "tuple": "a list", "finite": "a whole number",
}  # fmt: skip


def _expected(error: ErrorDetails) -> str:
    return _WORDS.get(error["type"].partition("_")[0], "something else")


def _problems(error: ValidationError, known: Mapping[str, FieldInfo]) -> list[Problem]:
    """What is wrong with a body, one problem for each option; unknown names alone, where there are any."""
    found: dict[str, ErrorDetails] = {}
    for one in error.errors(include_url=False):
        found.setdefault(str(one["loc"][0]), one)
    unknown = [name for name, one in found.items() if one["type"] == "extra_forbidden"]
    if unknown:
        message = f"There is no option '{unknown[0][:80]}'. {instead(unknown[0], known, 'options')}"
        return [Problem(("options", unknown[0]), message, "extra_forbidden")]
    return [_problem(name, one) for name, one in found.items()]


def _problem(name: str, error: ErrorDetails) -> Problem:
    if error["type"] == "value_error":
        return Problem((name,), "Text must be whole Unicode characters without NUL.", "value_error")
    if name == "rating":
        return Problem(("options", name), "'rating' is a text or an object.", "value_error")
    if len(error["loc"]) > 1:
        return Problem(("options", name), f"'{name}' holds texts.", "string_type")
    kind = error["type"].replace("string", "str")
    return Problem((name,), f"'{name}' is {_expected(error)}.", kind)


def _zones_instead(zone: str, known: Collection[str]) -> str:
    """The last sentence of an error about a time zone: the zone of that place or of that difference to UTC."""
    difference = _DIFFERENCE.fullmatch(zone.strip())
    if difference is not None:  # the names of these zones have the other sign
        turned = f"Etc/GMT{'-' if difference[1] == '+' else '+'}{int(difference[2])}"
        meant = [turned] if turned in known else []
    else:
        city = zone.strip().replace(" ", "_").casefold()
        meant = [name for name in sorted(known) if name.rpartition("/")[2].casefold() == city]
        meant = meant[:3] or near(zone, sorted(known))
    if meant:
        return "Did you mean " + " or ".join(f"'{name}'" for name in meant) + "?"
    return "Name a place, as 'Europe/Berlin', or 'UTC'. 'Etc/GMT-1' is always one hour ahead of UTC."
