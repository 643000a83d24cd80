"""``Figure``, the result of ``bench.figure``: a plotly figure that knows how it was made and uploads no data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import plotly.graph_objects as go
import plotly.io as pio
from pydantic import JsonValue

from ..backend import FigureAnswer
from ..export import CONFIG
from ..lint import Lint
from ..recipe.params import Choice
from ..transform.figure import to_plotly

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

    @cached_property
    def lint(self) -> list[Lint]:
        """What a careful reader should check in the figure: code, trace, axis and message with the fix; often empty."""
        return self.answer.lint if self.answer is not None else []


class Figure(go.Figure):  # type: ignore[misc]
    """A ``plotly.graph_objects.Figure`` with ``.workbench``, which says how it was made.

    In a notebook and as a page it has no button that uploads its data to a plotting service.
    """

    def __init__(self, *args: Plotly, made: Made | None = None, **kwargs: Plotly) -> None:
        super().__init__(*args, **kwargs)
        self._made = made or Made()

    @property
    def workbench(self) -> Made:
        """How the figure was made."""
        return self._made

    def show(self, *args: Plotly, **kwargs: Plotly) -> None:
        """As plotly's ``show``. ``config`` changes single settings of the workbench's display configuration."""
        super().show(*args, **{**kwargs, "config": _config(kwargs)})

    def to_html(self, *args: Plotly, **kwargs: Plotly) -> str:
        """As plotly's ``to_html``. ``config`` changes single settings of the workbench's display configuration."""
        page: str = super().to_html(*args, **{**kwargs, "config": _config(kwargs)})
        return page

    def write_html(self, *args: Plotly, **kwargs: Plotly) -> None:
        """As plotly's ``write_html``. ``config`` changes single settings of the workbench's display configuration."""
        super().write_html(*args, **{**kwargs, "config": _config(kwargs)})

    def _ipython_display_(self) -> None:
        if pio.renderers.render_on_display and pio.renderers.default:
            pio.show(self, config=CONFIG)
        else:
            print(repr(self))


def _config(given: dict[str, Plotly]) -> dict[str, Plotly]:
    return {**CONFIG, **(given.get("config") or {})}


def made_of(answer: FigureAnswer) -> Made:
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
    )


def figure_of(answer: FigureAnswer) -> Figure:
    """The figure of a figure answer."""
    return to_plotly(answer.figure, Figure, made=made_of(answer))
