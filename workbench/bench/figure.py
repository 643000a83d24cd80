"""``Figure``, the result of ``bench.figure``: a plotly figure that knows how it was made and uploads no data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from pydantic import JsonValue

from ..backend import FigureAnswer
from ..cached_property import cached_property
from ..engine.traces import TraceShown
from ..errors import BadRequest
from ..export import CONFIG
from ..figure_numbers import tidy, tidy_frame
from ..lint import Lint
from ..passport import Passport
from ..pictures import PaperOptions, Remark
from ..recipe.params import Choice
from ..transform.figure import encode, to_plotly
from .display import show as show_static
from .figure_files import save_figure
from .plotly_renderers import import_renderers
from .polars_frames import polars_frame

if TYPE_CHECKING:
    import polars as pl

Plotly: TypeAlias = Any
"""An argument that plotly takes; plotly has no types."""


@dataclass(frozen=True)
class Made:
    """How a figure was made.

    Attributes
    ----------
    values : all effective values, by param name.
    options : the current choices of each param that has some.
    warnings : what was left out or dropped, each with ``code`` and ``message``.
    cache : whether the dataset and the figure came from the cache, each "hit" or "miss".
    reads : how many steps ran and how many sources were read.
    timings : milliseconds by stage.
    log : what the script printed.
    lint : what a careful reader should check. It is never drawn into the figure.
    """

    values: dict[str, JsonValue] = field(default_factory=dict)
    options: dict[str, list[Choice]] = field(default_factory=dict)
    warnings: list[dict[str, JsonValue]] = field(default_factory=list)
    cache: dict[str, str] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    log: str = ""
    answer: FigureAnswer | None = field(default=None, repr=False, compare=False)
    telling: Callable[[], Passport] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        shown: dict[str, object] = {"values": self.values, "reads": self.reads, "cache": self.cache}
        shown |= {"timings": {stage: float(f"{took:.3g}") for stage, took in self.timings.items()}}
        lines = [f"{name}: {value}" for name, value in shown.items()]
        lines += [f"warning: {warning['message']}" for warning in self.warnings]
        return "\n".join([*lines, f"log: {self.log}"] if self.log else lines)

    def __deepcopy__(self, memo: object) -> Made:
        return self

    def __getstate__(self) -> dict[str, object]:
        """What goes into another process: all that is known, but not the bench, which knows the passport."""
        known = {name: value for name, value in vars(self).items() if name != "passport"}
        return {**known, "answer": None, "telling": None, "lint": self.lint, "traces": self.traces}

    @cached_property
    def passport(self) -> Passport:
        """What the figure was drawn from, as exported files hold it.

        Raises
        ------
        BadRequest
            If no bench drew it, or one in another process.
        """
        if self.telling is None:
            raise BadRequest(
                "This figure was not drawn by bench.figure in this process, so nothing says what it was drawn from."
            )
        return self.telling()

    @cached_property
    def lint(self) -> list[Lint]:
        """What a careful reader should check in the figure: code, trace, axis and message with the fix; often empty."""
        return self.answer.lint if self.answer is not None else []

    @cached_property
    def traces(self) -> list[TraceShown]:
        """For each trace: ``shown`` samples ``of`` how many, and ``detail``.

        ``detail`` is ``finer`` where zoom reads more, ``all`` where nothing was left out, and ``none`` where the trace
        cannot be traced to a column; ``why`` says the reason.
        """
        return self.answer.traced if self.answer is not None else []


_FILLING = RLock()
"""While one thread makes a plotly figure of the bytes, another that asks for the same one waits."""


class Figure(go.Figure):  # type: ignore[misc]  # plotly has no types
    """A ``plotly.graph_objects.Figure`` with ``.workbench``, which says how it was made.

    In a notebook and as a page it has no button that uploads its data to a plotting service. What ``bench.figure``
    drew becomes a plotly figure only when something of it is asked for, because that takes longer than to get it from
    the cache.
    """

    def __init__(self, *args: Plotly, made: Made | None = None, **kwargs: Plotly) -> None:
        super().__init__(*args, **kwargs)
        self._made = made or Made()

    @classmethod
    def _drawn(cls, content: bytes, made: Made) -> Figure:
        """The figure of encoded bytes."""
        figure = cls.__new__(cls)
        figure.__dict__.update(_made=made, _content=content)
        return figure

    def __getattr__(self, name: str) -> Plotly:
        """Called for what is not there: plotly's own attributes, as long as only the bytes are."""
        if not name.startswith("__"):
            with _FILLING:
                content = self.__dict__.pop("_content", None)
                if content is not None:
                    try:
                        to_plotly(content, self._filled)
                    except BaseException:  # also where the user interrupts: it is made when it is next asked for
                        self.__dict__["_content"] = content
                        raise
            if content is not None or name in self.__dict__:  # the latter: another thread made it meanwhile
                return getattr(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __reduce__(self) -> tuple[Plotly, ...]:
        """For copies and other processes: plotly knows only its own part."""
        return (*super().__reduce__(), {"_made": self._made})

    def _filled(self, *args: Plotly, **kwargs: Plotly) -> Figure:
        super().__init__(*args, **kwargs)
        return self

    @property
    def workbench(self) -> Made:
        """How the figure was made."""
        return self._made

    def tidy(self) -> pd.DataFrame:
        """The plotted numbers, a row for each point: ``Curve``, ``Series``, then columns with the titles and units of
        the axes, such as ``Voltage [V]``. Any plotting library draws it."""
        return tidy_frame(encode(self))

    def to_polars(self) -> pl.DataFrame:
        """``tidy`` as a polars DataFrame.

        Raises
        ------
        BadRequest
            If polars is not installed.
        """
        return polars_frame(tidy(encode(self)))

    def save(self, path: str | Path, *, tidy: bool = False, **paper: Unpack[PaperOptions]) -> list[Remark]:
        """Write the figure, as it is now, to a file. Returns what is to be known about it.

        The file is as ``Bench.export`` writes it, but without a passport: you may have changed the figure."""
        return save_figure(Path(path), encode(self), paper, tidy=tidy)

    def show(self, *args: Plotly, **kwargs: Plotly) -> None:
        """As plotly's ``show``. ``config`` changes single settings of the workbench's display configuration."""
        import_renderers()
        super().show(*args, **{**kwargs, "config": _config(kwargs)})

    def to_html(self, *args: Plotly, **kwargs: Plotly) -> str:
        """As plotly's ``to_html``. ``config`` changes single settings of the workbench's display configuration."""
        page: str = super().to_html(*args, **{**kwargs, "config": _config(kwargs)})
        return page

    def write_html(self, *args: Plotly, **kwargs: Plotly) -> None:
        """As plotly's ``write_html``. ``config`` changes single settings of the workbench's display configuration."""
        super().write_html(*args, **{**kwargs, "config": _config(kwargs)})

    def _ipython_display_(self) -> None:
        import_renderers()
        if pio.renderers.render_on_display and pio.renderers.default:
            show_static(self)
        else:
            print(repr(self))


def _config(given: dict[str, Plotly]) -> dict[str, Plotly]:
    return {**CONFIG, **(given.get("config") or {})}


def made_of(answer: FigureAnswer, telling: Callable[[], Passport] | None = None) -> Made:
    """How a figure answer was made."""
    return Made(
        values=answer.values,
        options=answer.options,
        warnings=answer.warnings,
        cache=answer.cache,
        reads=answer.reads,
        timings=answer.timings,
        log=answer.log,
        answer=answer,
        telling=telling,
    )


def figure_of(answer: FigureAnswer, telling: Callable[[], Passport] | None = None) -> Figure:
    """The figure of a figure answer; ``telling`` gives its passport when that is asked for."""
    return Figure._drawn(answer.figure, made_of(answer, telling))
