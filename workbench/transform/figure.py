"""The one serialiser of figures: a plotly figure, or a mapping with ``data`` and ``layout``, to bytes and back.

Engine, caches, server and export all carry these bytes, so a figure is the same everywhere, byte for byte.
Numbers of traces travel as base64 typed arrays (the form plotly.js reads); a layout is plain JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal, TypeVar

import numpy as np
import orjson
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from numpy.typing import NDArray
from plotly.basedatatypes import BaseFigure, BasePlotlyType

from ..errors import instead
from ..typed_arrays import decode, to_spec

__all__ = ["NotAFigure", "decode", "encode", "problems", "to_plotly"]

F = TypeVar("F", bound=go.Figure)
PARTS = ("data", "layout", "frames")
DEEPEST = 40
_PLAIN = {str, int, float, bool, type(None)}
# plotly.js decodes no typed array under these keys, and plotly.py writes none there either.
_NEVER_TYPED = {"geojson", "layer", "layers", "range"}
_FREE = {"meta", "customdata", "args", "args2", "geojson"}  # an author's own content: nothing is normalised there


class NotAFigure(ValueError):
    """What a script returned is no figure; the text says why and what would be one."""


def encode(figure: Any) -> bytes:
    """The bytes of a figure: UTF-8 JSON with ``data``, ``layout`` and, if there are any, ``frames``.

    Parameters
    ----------
    figure : ``go.Figure``, or a mapping with ``data`` (a list of traces) and ``layout``.

    Arrays, pandas columns and numpy scalars may stand anywhere. Float and integer arrays of traces become
    typed arrays of the smallest type that keeps every value; date-times become ISO text (UTC, without a zone,
    as plotly.js reads it); NaN in lists becomes null. Titles given as text become ``{"text": ...}``, and the name
    of a template becomes that template, as plotly.js knows no names.

    Raises
    ------
    NotAFigure
        If it is anything else, holds an unknown part, or a value that no figure can hold.
    """
    parts = _parts(figure)
    unknown = [name for name in parts if name not in PARTS]
    if unknown:
        raise NotAFigure(f"A figure has no '{unknown[0]}'. {instead(str(unknown[0]), PARTS, 'parts of a figure')}")
    traces, layout, frames = parts.get("data"), parts.get("layout"), parts.get("frames")
    plain: dict[str, Any] = {
        "data": [_trace(trace, f"data[{n}]") for n, trace in enumerate(_list(traces, "data"))],
        "layout": _mapping(layout, "layout", typed=False),
    }
    if frames is not None and len(frames):
        plain["frames"] = [_mapping(frame, f"frames[{n}]") for n, frame in enumerate(_list(frames, "frames"))]
    try:
        return orjson.dumps(plain)
    except TypeError as error:
        raise NotAFigure(f"The figure cannot be written: {error}.") from error


def to_plotly(data: bytes | bytearray | memoryview, kind: type[F] = go.Figure, **more: Any) -> F:
    """The figure of encoded bytes as a ``go.Figure``, or as a ``kind`` of it made with ``more``.

    A figure without a template keeps none (plotly would otherwise put its own in, and the figure would look
    different from the one a page shows). Properties that this plotly does not know are left out.
    """
    content = decode(data)
    figure: F = kind(content, skip_invalid=True, **more)
    if "template" not in content["layout"]:
        figure.layout.template = None
    return figure


def problems(data: bytes | bytearray | memoryview) -> list[str]:
    """What plotly finds wrong in encoded bytes (unknown properties, values of a wrong kind); empty if sound.

    Costs about 0.2 ms a trace. A ``go.Figure`` was looked at by plotly when it was built, and needs it no more.
    """
    try:
        go.Figure(decode(data))
    except (ValueError, TypeError) as error:
        # plotly lists every property there is after these words; the nearest name stands before them.
        return [" ".join(str(error).partition("\n    Valid properties")[0].split())[:600]]
    return []


def _parts(figure: Any) -> Mapping[str, Any]:
    if isinstance(figure, BaseFigure):
        # The figure's own dicts: to_dict() would deep-copy every array, 24 ms for 100 traces of 2000 points.
        frames = [frame.to_plotly_json() for frame in figure.frames]
        return {"data": figure._data, "layout": figure._layout, "frames": frames}
    if isinstance(figure, Mapping):
        if "data" not in figure:
            raise NotAFigure(
                "A mapping is a figure if it has 'data' (a list of traces) and 'layout'; 'data' is missing."
            )
        return {**figure, "layout": _themed(figure.get("layout"))}
    kind = "nothing (None)" if figure is None else f"a {type(figure).__name__}"
    raise NotAFigure(f"transform returned {kind}; return a go.Figure, or a mapping with 'data' and 'layout'.")


def _themed(layout: Any) -> Any:
    """The layout with its template in full where it is given by name (``"plotly_white"``, ``"ggplot2+xgridoff"``)."""
    if not isinstance(layout, Mapping) or not isinstance(layout.get("template"), str):
        return layout
    for name in layout["template"].split("+"):
        if name not in pio.templates:
            raise NotAFigure(f"There is no template '{name}'. {instead(name, list(pio.templates), 'templates')}")
    return {**layout, "template": go.Layout(template=layout["template"]).template}


def _list(value: Any, place: str) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return list(value)
    raise NotAFigure(f"'{place}' of a figure is a list; here it is a {type(value).__name__}.")


def _mapping(value: Any, place: str, typed: bool = True) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, BasePlotlyType):
        value = value.to_plotly_json()
    if not isinstance(value, Mapping):
        raise NotAFigure(f"'{place}' of a figure is a mapping; here it is a {type(value).__name__}.")
    return _plain_dict(value, place, typed, 1)


def _trace(value: Any, place: str) -> dict[str, Any]:
    trace = _mapping(value, place)
    # As in plotly's own JSON: a uid is random, and would make two equal figures differ.
    trace.pop("uid", None)
    return trace


def _plain_dict(
    value: Mapping[Any, Any], place: str, typed: bool, depth: int, free: bool = False
) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for key, item in value.items():
        name = key if type(key) is str else str(key)
        if type(item) is str:
            plain[name] = {"text": item} if name == "title" and not free else item
        else:
            inner = typed and name not in _NEVER_TYPED
            plain[name] = _plain(item, f"{place}.{name}", inner, depth + 1, free or name in _FREE)
    return plain


def _plain(value: Any, place: str, typed: bool, depth: int, free: bool) -> Any:
    """``value`` as JSON scalars, lists, dicts and typed arrays."""
    if type(value) in _PLAIN:
        return value
    if depth > DEEPEST:
        raise NotAFigure(f"'{place[:80]}...' is nested more than {DEEPEST} deep.")
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


def _plain_list(value: list[Any] | tuple[Any, ...], place: str, typed: bool, depth: int, free: bool) -> list[Any]:
    if set(map(type, value)) <= _PLAIN:
        return list(value)
    return [_plain(item, f"{place}[{n}]", typed, depth + 1, free) for n, item in enumerate(value)]


def _unwrapped(values: Any) -> NDArray[Any]:
    """The numpy array of a pandas column; nulls of masked numbers become NaN, zones become UTC."""
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


def _array(values: NDArray[Any], place: str, typed: bool, depth: int, free: bool) -> Any:
    code = values.dtype.kind
    if code == "M":
        return _time_texts(values)
    if code == "m":
        raise NotAFigure(f"'{place}' holds time spans; give numbers, such as .dt.total_seconds().")
    if code in "fiu":
        return to_spec(values) if typed and values.ndim <= 3 else values.tolist()
    if code == "b":
        return values.tolist()
    if code in "OUT":
        return _plain(values.tolist(), place, False, depth + 1, free)
    raise NotAFigure(f"'{place}' holds values of type {values.dtype}, which no figure can hold.")


def _time_texts(values: NDArray[Any]) -> list[Any]:
    """ISO texts as short as they are exact: whole seconds carry no fraction."""
    if values.ndim > 1:
        return [_time_texts(row) for row in values]
    missing = np.isnat(values)
    micros = np.where(missing, np.datetime64(0, "us"), values.astype("datetime64[us]"))
    ticks = micros.astype(np.int64)
    unit: Literal["s", "ms", "us"] = "us"
    if not (ticks % 1000).any():
        unit = "ms" if (ticks % 1_000_000).any() else "s"
    texts: list[Any] = np.datetime_as_string(micros, unit=unit).tolist()
    for place in np.flatnonzero(missing).tolist():
        texts[place] = None
    return texts


def _scalar(value: Any, place: str) -> Any:
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
        raise NotAFigure(f"'{place}' is a time span; give a number, such as .total_seconds().")
    if isinstance(value, np.generic | np.ndarray):
        return value.item()
    if isinstance(value, Decimal):
        number = float(value)
        return number if math.isfinite(number) else None
    for base in (bool, int, float, str):
        if isinstance(value, base):
            return base(value)
    mend = " Sort it into a list." if isinstance(value, set | frozenset) else ""
    raise NotAFigure(f"'{place}' is a {type(value).__name__}, which no figure can hold.{mend}")
