"""The figure a person gets: a ``plotly`` figure that knows how it was made, and keeps the data private."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

from ..backend import FigureAnswer
from ..export import CONFIG
from ..lint import Lint
from ..transform.figure import to_plotly


@dataclass(frozen=True)
class Made:
    """How a figure came about.

    ``values`` are all effective param values; ``options`` the present choices of each param that has them;
    ``warnings`` what the answer left out or dropped; ``cache`` whether dataset and figure were a hit; ``reads``
    how many steps ran and how many sources were read; ``timings`` milliseconds by stage; ``log`` what the
    script printed. ``lint`` is what looks odd about the figure, beside it and never in it.
    """

    values: dict[str, Any] = field(default_factory=dict)
    options: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    warnings: list[dict[str, Any]] = field(default_factory=list)
    cache: dict[str, str] = field(default_factory=dict)
    reads: dict[str, int] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    log: str = ""
    answer: FigureAnswer | None = field(default=None, repr=False, compare=False)

    @cached_property
    def lint(self) -> list[Lint]:
        """What a careful reader would ask about the figure: each with its code, trace, axis and mend; often empty."""
        return self.answer.lint if self.answer is not None else []


class Figure(go.Figure):  # type: ignore[misc]
    """A ``plotly.graph_objects.Figure`` with ``.workbench``, the account of how it was made.

    Shown in a notebook or written as a page it carries no button that uploads its data to a plotting service.
    """

    def __init__(self, *args: Any, made: Made | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._made = made or Made()

    @property
    def workbench(self) -> Made:
        return self._made

    def show(self, *args: Any, **kwargs: Any) -> None:
        """As plotly's ``show``, with our display configuration unless ``config`` says otherwise."""
        super().show(*args, **{**kwargs, "config": _config(kwargs)})

    def to_html(self, *args: Any, **kwargs: Any) -> str:
        """As plotly's ``to_html``, with our display configuration unless ``config`` says otherwise."""
        page: str = super().to_html(*args, **{**kwargs, "config": _config(kwargs)})
        return page

    def write_html(self, *args: Any, **kwargs: Any) -> None:
        """As plotly's ``write_html``, with our display configuration unless ``config`` says otherwise."""
        super().write_html(*args, **{**kwargs, "config": _config(kwargs)})

    def _ipython_display_(self) -> None:
        if pio.renderers.render_on_display and pio.renderers.default:
            pio.show(self, config=CONFIG)
        else:
            print(repr(self))


def _config(given: dict[str, Any]) -> dict[str, Any]:
    return {**CONFIG, **(given.get("config") or {})}


def made_of(answer: FigureAnswer) -> Made:
    """The account of a figure answer."""
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
    """A figure answer as people hold it."""
    return to_plotly(answer.figure, Figure, made=made_of(answer))
