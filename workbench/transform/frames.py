"""``data`` of a script: the steps of a packed dataset as pandas frames, each built when the script asks for it.

Every frame is a copy for this script. A script that changes a frame changes neither the dataset nor what another
script sees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import JsonValue

from ..dataset import (
    COLUMNS,
    FRAME_KEY,
    Samples,
    SeriesSet,
    StepColumns,
    StepResult,
    record_names,
    stacked,
    unpack,
)
from ..errors import instead
from ..table import Column, Table

TEXT = pd.StringDtype("pyarrow", na_value=np.nan)
PandasValues: TypeAlias = NDArray[np.generic] | pd.api.extensions.ExtensionArray


class Absent(KeyError):
    """A step, source or param that does not exist. The text names those that do."""

    def __str__(self) -> str:
        return str(self.args[0])


def series_of(column: Column) -> PandasValues:
    """The pandas values of a column, (n,), always a copy.

    number float64 (null and NaN both NaN); integer int64, with nulls ``Int64``; boolean bool, with nulls
    ``boolean``; text ``str``; datetime ``datetime64[us, UTC]``; only nulls float64; mixed object (null: None). A mixed
    column whose rows are of one type here counts as that type: the others are in records outside of the step.
    """
    held = column.narrowed()
    return _ARRAYS[held.kind](held)


def _numbers(column: Column) -> PandasValues:
    return column.floats()


def _integers(column: Column) -> PandasValues:
    beyond = column.values.dtype == np.uint64 and len(column) and int(column.values.max()) > np.iinfo(np.int64).max
    values = column.values.astype(np.uint64 if beyond else np.int64)
    missing = column.null_mask()
    if not missing.any():
        return values
    values[missing] = 1
    return pd.arrays.IntegerArray(values, missing)


def _booleans(column: Column) -> PandasValues:
    missing = column.null_mask()
    values = column.values.copy()
    return pd.arrays.BooleanArray(values, missing) if missing.any() else values


def _times(column: Column) -> PandasValues:
    values = column.values.copy().view("M8[us]")
    values[column.null_mask()] = np.datetime64("NaT", "us")
    return pd.DatetimeIndex(values).tz_localize("UTC").array


def _texts(column: Column) -> PandasValues:
    missing = column.null_mask()
    if not column.words:
        return pd.array(np.full(len(column), np.nan, object), dtype=TEXT)
    codes = pa.array(column.values, mask=missing)
    words = pa.array(column.words, pa.large_string())
    # The stubs of pandas do not know the dtype argument.
    return pd.arrays.ArrowStringArray(words.take(codes), dtype=TEXT)  # type: ignore[call-arg]


def _mixed(column: Column) -> PandasValues:
    values = np.empty(len(column), object)
    values[:] = column.tolist()
    return values


_ARRAYS: dict[str, Callable[[Column], PandasValues]] = {
    "number": _numbers,
    "integer": _integers,
    "boolean": _booleans,
    "datetime": _times,
    "text": _texts,
    "mixed": _mixed,
    "null": _numbers,
}


@lru_cache(maxsize=64)
def _labels(names: tuple[str, ...]) -> pd.Index:
    """Column labels. Frames take views of them, which share the look-up table but not the name of the index."""
    return pd.Index(names, dtype=TEXT)


def frame_of(table: Table, rows: NDArray[np.int64] | None = None) -> pd.DataFrame:
    """The frame of a table. Its index holds ``rows`` (n,), the sample numbers, or without them counts from 0."""
    index = pd.RangeIndex(table.n) if rows is None else pd.Index(rows.copy())
    if table and all(column.kind == "number" for column in table.values()):
        # One block is three times faster than one array for each column, and a plot of 100 sources has 100 frames.
        block = np.vstack([column.floats() for column in table.values()]).T
        return pd.DataFrame(block, index=index, columns=_labels(tuple(table)).view(), copy=False)
    made = {name: series_of(column) for name, column in table.items()}
    return pd.DataFrame(made, index=index, columns=_labels(tuple(table)).view(), copy=False)


def whole_frame(table: Table, source: str) -> pd.DataFrame:
    """The frame of all samples of a source; its ``attrs["workbench"]`` says that it is complete."""
    frame = frame_of(table)
    frame.attrs[FRAME_KEY] = {"complete": True, "shown": table.n, "of": table.n, "source": source}
    return frame


def samples_told(samples: Samples, source: str, name: str | None = None) -> dict[str, JsonValue]:
    """What a frame of samples says of itself: whether it is complete, and how many samples it shows, of how many."""
    told: dict[str, JsonValue] = {
        "complete": samples.complete,
        "shown": samples.table.n,
        "of": samples.total,
        "source": source,
    }
    return told if name is None else {**told, "name": name}


class SeriesFrames(Mapping[str, pd.DataFrame]):
    """A series step: id -> frame of x and the columns, in the order of the step. The index holds sample numbers.

    Each frame carries ``attrs["workbench"]``: ``complete``, ``shown`` (samples in it), ``of`` (samples of the window)
    and ``source`` (its id), and ``name`` where a step has ids and names. Helpers such as
    ``battery.pulse_resistance`` look there.

    ``complete`` maps each id to whether its frame holds every sample of the window, ``total`` to how many
    samples the window holds. ``columns`` are the columns of the step; a step without sources has them too.
    """

    def __init__(
        self,
        series: SeriesSet,
        name: str = "",
        columns: StepColumns | None = None,
        named: Mapping[str, str] | None = None,
    ) -> None:
        self._series = series
        self._named = named or {}
        self._name = name
        self._columns = columns or []
        self._frames: dict[str, pd.DataFrame] = {}
        self.complete: dict[str, bool] = {key: samples.complete for key, samples in series.items()}
        self.total: dict[str, int] = {key: samples.total for key, samples in series.items()}

    @property
    def one_frame(self) -> str:
        """What to write where one frame is wanted, as a sentence."""
        return (
            f"Step '{self._name}' is a mapping of id to frame. data['{self._name}'].long(id='id') is one frame of all "
            "its sources."
        )

    def __getitem__(self, key: str) -> pd.DataFrame:
        if isinstance(key, list):  # as a frame takes names of columns
            raise Absent(self.one_frame)
        if key not in self._frames:
            if key not in self._series:
                if any(name == key for name, _ in self._columns):
                    raise Absent(
                        f"Step '{self._name}' is a mapping of id to frame, and '{key}' is a column of its frames. "
                        f"Take data['{self._name}'][id]['{key}'] for each id, or "
                        f"data['{self._name}'].long(id='id')['{key}']."
                    )
                raise Absent(
                    f"Step '{self._name}' holds no source '{key}'. {instead(str(key), self._series, 'sources')}"
                )
            samples = self._series[key]
            self._frames[key] = frame_of(samples.table, samples.rows)
            self._frames[key].attrs[FRAME_KEY] = samples_told(samples, key, self._named.get(key))
        return self._frames[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def __contains__(self, key: object) -> bool:
        return key in self._series

    def _ipython_key_completions_(self) -> list[str]:
        """What JupyterLab offers after ``data["curves"]["``."""
        return list(self)

    def __repr__(self) -> str:
        first = ", ".join(list(self._series)[:5]) + (", ..." if len(self) > 5 else "")
        return f"<series of {len(self)} sources: {first}>"

    def long(self, id: str = "id") -> pd.DataFrame:
        """All sources in one frame, one below the other. The first column ``id`` names the source.

        The index holds the sample numbers of each source. ``attrs["workbench"]`` counts all of them; its ``sources``
        has what the frame of each source says, its ``id`` is the name of the column.

        Raises
        ------
        ValueError
            If the step already has a column of that name.
        """
        keys, rows, table = stacked(self._series, self._columns)
        if id in table:
            raise ValueError(
                f"The step already has a column '{id}': choose another name, as in .long(id='source')."
            )
        made = frame_of(Table({id: keys, **table.columns}, len(rows)), rows)
        sources = {key: samples_told(samples, key, self._named.get(key)) for key, samples in self._series.items()}
        made.attrs[FRAME_KEY] = {
            "complete": all(self.complete.values()),
            "shown": len(rows),
            "of": sum(self.total.values()),
            "source": None,
            "id": id,
            "sources": sources,
        }
        return made


StepFrames: TypeAlias = pd.DataFrame | SeriesFrames


class Data(MutableMapping[str, StepFrames]):
    """``data`` of a script: step name -> DataFrame (row-shaped steps) or SeriesFrames (series steps)."""

    def __init__(self, steps: Mapping[str, StepResult], columns: Mapping[str, StepColumns] | None = None) -> None:
        self._steps = dict(steps)
        self._columns = columns or {}
        self._made: dict[str, StepFrames] = {}

    def __getitem__(self, name: str) -> StepFrames:
        if name not in self._made:
            if name not in self._steps:
                raise Absent(f"There is no step '{name}'. {instead(str(name), self._steps, 'steps')}")
            result = self._steps[name]
            self._made[name] = (
                frame_of(result)
                if isinstance(result, Table)
                else SeriesFrames(result, name, self._columns.get(name), record_names(self._steps))
            )
        return self._made[name]

    def __setitem__(self, name: str, value: StepFrames) -> None:
        self._made[name] = value
        self._steps.setdefault(name, Table({}, 0))

    def __delitem__(self, name: str) -> None:
        del self._steps[name]
        self._made.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def __contains__(self, name: object) -> bool:
        return name in self._steps

    def _ipython_key_completions_(self) -> list[str]:
        """What JupyterLab offers after ``data["``."""
        return list(self)

    def __repr__(self) -> str:
        return f"<data with steps {', '.join(self._steps)}>"


def frames(packed: bytes | bytearray | memoryview) -> Data:
    """The frames of a packed dataset, by step name.

    Raises
    ------
    StoreError
        If the bytes are not a packed dataset.
    """
    steps, extra = unpack(packed)
    return Data(steps, extra.get(COLUMNS))
