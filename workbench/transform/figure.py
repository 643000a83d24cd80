"""Writes a figure (a plotly figure, or a mapping with ``data`` and ``layout``) as bytes, and reads it back.

Engine, caches, server and export all carry these bytes, so a figure is the same everywhere, byte for byte.
The numbers of traces are base64 typed arrays (the form that plotly.js reads). A layout is plain JSON.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import orjson
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import NDArray
from plotly.basedatatypes import BaseFigure, BasePlotlyType
from pydantic import JsonValue

from ..errors import instead
from ..typed_arrays import decode, to_spec

__all__ = ["NotAFigure", "decode", "encode", "problems", "to_plotly"]

F = TypeVar("F", bound=go.Figure)
Given: TypeAlias = Any
"""What a script returned or put into a figure: any Python value, read with isinstance."""
AnyArray: TypeAlias = NDArray[np.generic]
PARTS = ("data", "layout", "frames")
DEEPEST = 40
_PLAIN = {str, int, float, bool, type(None)}
# plotly.js does not decode typed arrays under these keys, and plotly.py does not write them there.
_NEVER_TYPED = {"geojson", "layer", "layers", "range"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z][A-Za-z0-9]*)*")
_FREE = {"meta", "customdata", "args", "args2", "geojson"}  # content of the author, written as it is


class NotAFigure(ValueError):
    """What a script returned is not a figure. The text says why, and what to return."""


def encode(figure: Given) -> bytes:
    """The bytes of a figure: UTF-8 JSON with ``data``, ``layout`` and, if there are any, ``frames``.

    Parameters
    ----------
    figure : ``go.Figure``, or a mapping with ``data`` (a list of traces) and ``layout``.

    Arrays, pandas columns and numpy scalars may be anywhere in it. Float and integer arrays of traces become typed
    arrays of the smallest type that keeps every value. Date-times become ISO text (UTC, without a zone, as plotly.js
    reads it). NaN in lists becomes null. A title given as text becomes ``{"text": ...}``. The name of a template
    becomes that template, because plotly.js does not know the names.

    Raises
    ------
    NotAFigure
        If ``figure`` is anything else, has an unknown part, or holds a value that a figure cannot hold.
    """
    parts = _parts(figure)
    unknown = [name for name in parts if name not in PARTS]
    if unknown:
        raise NotAFigure(f"A figure has no '{unknown[0]}'. {instead(str(unknown[0]), PARTS, 'parts of a figure')}")
    traces, layout, frames = parts.get("data"), parts.get("layout"), parts.get("frames")
    plain: dict[str, JsonValue] = {
        "data": [_trace(trace, f"data[{n}]") for n, trace in enumerate(_list(traces, "data"))],
        "layout": _mapping(layout, "layout", typed=False),
    }
    if frames is not None and len(frames):
        plain["frames"] = [_mapping(frame, f"frames[{n}]") for n, frame in enumerate(_list(frames, "frames"))]
    try:
        return orjson.dumps(plain)
    except TypeError as error:
        raise NotAFigure(f"The figure cannot be written as JSON: {error}.") from error


def to_plotly(data: bytes | bytearray | memoryview, kind: Callable[..., F] = go.Figure) -> F:
    """The figure of encoded bytes as a ``go.Figure``, or as what ``kind``, such as a subclass of it, makes.

    A figure without a template stays without one: with plotly's default template it would look different from the
    figure on a page. Properties that this plotly does not know are left out.
    """
    content = decode(data)
    try:
        figure = kind(content, skip_invalid=True)
    except (TypeError, KeyError, ValueError):  # plotly breaks on names that it cannot split, such as "1" or "x_1"
        figure = kind(_with_plain_names(content), skip_invalid=True)
    if "template" not in content["layout"]:
        figure.layout.template = None
    return figure


def _with_plain_names(value: JsonValue) -> JsonValue:
    """A part of a figure without the properties whose names are none of plotly's, whatever its version."""
    if isinstance(value, list):
        return [_with_plain_names(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: item if name in _FREE else _with_plain_names(item)
        for name, item in value.items()
        if _NAME.fullmatch(name) and name != "self"
    }


@cache
def trace_types() -> frozenset[str]:
    """The types of traces, from the names of plotly's classes. Loading the classes would take seconds."""
    names = set(go.__all__)
    classes = (name for name in names if name[0].isupper() and name.lower() in names)
    return frozenset(name.lower() for name in classes) - {"layout"}


def type_problem(kind: JsonValue, place: str) -> str | None:
    """What is wrong with the type of a trace; None if plotly has it."""
    types = trace_types()
    if isinstance(kind, str) and kind in types:
        return None
    shown = str(kind)[:40] if isinstance(kind, str | int | float) else f"a {type(kind).__name__}"
    return (
        f"'{place}' is '{shown}', which is not a type of trace. {instead(shown, sorted(types), 'types of trace')}"
    )


def problems(data: bytes | bytearray | memoryview) -> list[str]:
    """What plotly finds wrong in encoded bytes (unknown properties, values of a wrong kind). Empty if sound.

    Takes about 0.2 ms for each trace. plotly has already checked a ``go.Figure`` while it was built.
    """
    try:
        go.Figure(decode(data))
    except (ValueError, TypeError, KeyError) as error:
        # After these words plotly lists every property that it knows; the nearest name comes before them.
        return [" ".join(str(error).partition("\n    Valid properties")[0].split())[:600]]
    return []


def _parts(figure: Given) -> Mapping[str, Given]:
    if isinstance(figure, BaseFigure):
        # These dicts belong to the figure. to_dict() would copy every array: 24 ms for 100 traces of 2000 points.
        frames = [frame.to_plotly_json() for frame in figure.frames]
        return {"data": figure._data, "layout": figure._layout, "frames": frames}
    if isinstance(figure, Mapping):
        if "data" not in figure:
            raise NotAFigure(
                "transform returned a mapping without 'data'. Give it 'data' (a list of traces) and 'layout'."
            )
        return {**figure, "layout": _themed(figure.get("layout"))}
    name = type(figure).__name__
    kind = "nothing (None)" if figure is None else f"{'an' if name[0] in 'aeio' else 'a'} {name}"
    raise NotAFigure(f"transform returned {kind}. Return a go.Figure, or a mapping with 'data' and 'layout'.")


def _themed(layout: Given) -> Given:
    """The layout, with the template itself in place of its name (``"plotly_white"``, ``"ggplot2+xgridoff"``)."""
    if not isinstance(layout, Mapping) or not isinstance(layout.get("template"), str):
        return layout
    for name in layout["template"].split("+"):
        if name not in pio.templates:
            raise NotAFigure(f"There is no template '{name}'. {instead(name, list(pio.templates), 'templates')}")
    return {**layout, "template": go.Layout(template=layout["template"]).template}


def _list(value: Given, place: str) -> list[Given]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return list(value)
    raise NotAFigure(f"'{place}' of a figure must be a list, not a {type(value).__name__}.")


def _mapping(value: Given, place: str, typed: bool = True) -> dict[str, JsonValue]:
    if value is None:
        return {}
    if isinstance(value, BasePlotlyType):
        value = value.to_plotly_json()
    if not isinstance(value, Mapping):
        raise NotAFigure(f"'{place}' of a figure must be a mapping, not a {type(value).__name__}.")
    return _plain_dict(value, place, typed, 1)


def _trace(value: Given, place: str) -> dict[str, JsonValue]:
    trace = _mapping(value, place)
    # plotly's own JSON leaves it out too: a uid is random, so two equal figures would differ.
    trace.pop("uid", None)
    if "type" in trace:
        wrong = type_problem(trace["type"], f"{place}.type")
        if wrong:  # plotly would make a scatter of it, without a word
            raise NotAFigure(wrong)
    return trace


def _plain_dict(
    value: Mapping[Given, Given], place: str, typed: bool, depth: int, free: bool = False
) -> dict[str, JsonValue]:
    plain: dict[str, JsonValue] = {}
    for key, item in value.items():
        name = key if type(key) is str else str(key)
        if type(item) is str:
            plain[name] = {"text": item} if name == "title" and not free else item
        else:
            inner = typed and name not in _NEVER_TYPED
            plain[name] = _plain(item, f"{place}.{name}", inner, depth + 1, free or name in _FREE)
    return plain


def _plain(value: Given, place: str, typed: bool, depth: int, free: bool) -> JsonValue:
    """``value`` as JSON scalars, lists, dicts and typed arrays."""
    if type(value) in _PLAIN:
        scalar: JsonValue = value
        return scalar
    if depth > DEEPEST:
        raise NotAFigure(f"'{place[:80]}...' is nested more than {DEEPEST} levels deep.")
    if isinstance(value, BasePlotlyType):
        value = value.to_plotly_json()
    if isinstance(value, Mapping):
        return _plain_dict(value, place, typed, depth, free)
    if isinstance(value, list | tuple):
        return _plain_list(value, place, typed, depth, free)
    if isinstance(value, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        value = _unwrapped(value)
    elif isinstance(value, pd.DataFrame):
        value = value.to_numpy()
    elif not isinstance(value, np.ndarray | np.generic) and hasattr(value, "__array__"):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.ndim:
        return _array(value, place, typed, depth, free)
    return _scalar(value, place)


def _plain_list(
    value: list[Given] | tuple[Given, ...], place: str, typed: bool, depth: int, free: bool
) -> list[JsonValue]:
    if set(map(type, value)) <= _PLAIN:
        return list(value)
    return [_plain(item, f"{place}[{n}]", typed, depth + 1, free) for n, item in enumerate(value)]


def _unwrapped(values: Given) -> AnyArray:
    """The numpy array of a pandas column. Nulls of masked numbers become NaN; times become UTC."""
    dtype = values.dtype
    if isinstance(dtype, pd.DatetimeTZDtype):
        local = values.dt if isinstance(values, pd.Series) else values
        return np.asarray(local.tz_convert("UTC").to_numpy(dtype=f"datetime64[{dtype.unit}]"))
    if isinstance(dtype, pd.CategoricalDtype):
        return np.asarray(values.astype(object))
    if pd.api.types.is_extension_array_dtype(dtype) and pd.api.types.is_numeric_dtype(dtype):
        if not pd.isna(values).any():
            return np.asarray(values.to_numpy(dtype=getattr(dtype, "numpy_dtype", None)))
        if pd.api.types.is_bool_dtype(dtype):
            return np.asarray(values.astype(object))
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(values)


def _array(values: AnyArray, place: str, typed: bool, depth: int, free: bool) -> JsonValue:
    code = values.dtype.kind
    if code == "M":
        return _time_texts(values)
    if code == "m":
        raise NotAFigure(f"'{place}' holds time spans. Give numbers, such as .dt.total_seconds().")
    if code in "fiu":
        numbers: JsonValue = to_spec(values) if typed and values.ndim <= 3 else values.tolist()
        return numbers
    if code == "b":
        booleans: JsonValue = values.tolist()
        return booleans
    if code in "OUT":
        return _plain(values.tolist(), place, False, depth + 1, free)
    raise NotAFigure(
        f"'{place}' holds values of type {values.dtype}. A figure holds numbers, texts, booleans and times."
    )


def _time_texts(values: AnyArray) -> list[JsonValue]:
    """ISO texts, exact and as short as possible: whole seconds have no fraction."""
    if values.ndim > 1:
        return [_time_texts(row) for row in values]
    missing = np.isnat(values)
    micros = np.where(missing, np.datetime64(0, "us"), values.astype("datetime64[us]"))
    ticks = micros.astype(np.int64)
    unit: Literal["s", "ms", "us"] = "us"
    if not (ticks % 1000).any():
        unit = "ms" if (ticks % 1_000_000).any() else "s"
    texts: list[JsonValue] = np.datetime_as_string(micros, unit=unit).tolist()
    for place in np.flatnonzero(missing).tolist():
        texts[place] = None
    return texts


def _scalar(value: Given, place: str) -> JsonValue:
    if (
        value is pd.NaT
        or value is pd.NA
        or (isinstance(value, np.datetime64 | np.timedelta64) and np.isnat(value))
    ):
        return None
    if isinstance(value, np.datetime64):
        return _time_texts(value.reshape(1))[0]
    if isinstance(value, datetime):
        naive = pd.Timestamp(value).tz_convert("UTC").tz_localize(None) if value.tzinfo else pd.Timestamp(value)
        return _time_texts(np.array([naive.to_datetime64()]))[0]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, np.timedelta64 | timedelta):
        raise NotAFigure(f"'{place}' is a time span. Give a number, such as .total_seconds().")
    if isinstance(value, np.generic | np.ndarray):
        number_or_text: JsonValue = value.item()
        return number_or_text
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else None
    for base in (bool, int, float, str):
        if isinstance(value, base):
            return base(value)
    fix = " Sort it into a list." if isinstance(value, set | frozenset) else ""
    raise NotAFigure(f"'{place}' is a {type(value).__name__}, which a figure cannot hold.{fix}")
