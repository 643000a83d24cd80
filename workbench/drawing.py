"""Drawing a recipe: its data, then its script, then the figure, which is kept in a cache."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from .engine import answer, keys
from .engine.reader import Cancel, Progress
from .errors import Cancelled, Invalid
from .lint import Lint, lint
from .operations import Operations
from .recipe.check import sound
from .recipe.plot import PlotConfig
from .recipe.strict import Raw
from .recipe.values import effective
from .store.cache.cache import Cache
from .transform.drawers import Drawer, drawer
from .transform.script import check_script

Values = Mapping[str, JsonValue]
"""Chosen values by param name."""


@dataclass(frozen=True)
class FigureAnswer:
    """A drawn recipe: ``figure`` is its JSON as bytes; the other fields are those of the interface's figure answer.

    ``at_hand`` is the dataset that it was drawn from, to draw it again.
    """

    figure: bytes
    values: dict[str, JsonValue]
    options: dict[str, list[dict[str, JsonValue]]]
    warnings: list[dict[str, Any]]
    cache: dict[str, str]
    reads: dict[str, int]
    timings: dict[str, float] = field(default_factory=dict)
    log: str = ""
    at_hand: answer.Answered | None = field(default=None, repr=False, compare=False)

    @cached_property
    def lint(self) -> list[Lint]:
        """What lint finds in the figure, its traces and its data; computed when it is first read."""
        return lint(self.figure, None if self.at_hand is None else self.at_hand.dataset)


class Drawing(Operations):
    """The part of a backend that draws; the data come from `answered`.

    Attributes
    ----------
    cache : where figures are kept.
    protected : every script runs locked in; without it only those that somebody else wrote.
    drawn_for : the organization whose turn a protected figure takes; None where there is only one user.
    """

    cache: Cache
    protected: bool = False
    drawn_for: str | None = None

    @abstractmethod
    def answered(
        self,
        config: PlotConfig,
        values: Values,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> answer.Answered:
        """The steps of a checked recipe as a transform takes them."""

    def figure(
        self,
        config: Raw,
        values: Values,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        *,
        protected: bool | None = None,
    ) -> FigureAnswer:
        """The figure of a recipe. If its dataset is in the cache and fresh, no step runs and no source is read.

        ``protected`` runs its script in a locked process; None does as this backend does.

        Raises
        ------
        Invalid
            If the recipe or a value is wrong.
        ScriptError
            If the script fails.
        """
        started = time.perf_counter()
        draws = self._drawer(protected)
        checked = drawable(config, draws)
        checked_at = time.perf_counter()
        answered = self.answered(checked, values, progress, cancel)
        timings = {"check": _ms(started, checked_at), **answered.timings}
        return self._drawn(checked, answered, draws, timings, cancel)

    def redraw(
        self,
        config: Raw,
        values: Values,
        shown: FigureAnswer,
        cancel: Cancel | None = None,
        *,
        protected: bool | None = None,
    ) -> FigureAnswer:
        """A shown figure with other ``view`` values, drawn from the same data: the store is not read.

        Raises
        ------
        Invalid
            For values that their controls do not allow.
        """
        draws = self._drawer(protected)
        checked = drawable(config, draws)
        if shown.at_hand is None:
            return self.figure(checked, values, cancel=cancel, protected=protected)
        taken = {**shown.at_hand.values, **effective(checked, values)}
        again = replace(
            shown.at_hand, values=taken, cache={"dataset": "hit"}, reads={"steps": 0, "sources": 0}, timings={}
        )
        return self._drawn(checked, again, draws, {}, cancel, soon=True)

    def _drawn(
        self,
        config: PlotConfig,
        answered: answer.Answered,
        draws: Drawer,
        timings: dict[str, float],
        cancel: Cancel | None,
        *,
        soon: bool = False,
    ) -> FigureAnswer:
        started = time.perf_counter()
        key = keys.figure_key(answered.content, config.transform, answered.values)

        def make() -> tuple[bytes, dict[str, JsonValue]]:
            drawn = draws.draw(
                config.transform,
                answered.packed,
                answered.values,
                content=answered.content,
                organization=self.drawn_for,
                cancelled=None if cancel is None else cancel.is_set,
            )
            return drawn.figure, {"log": drawn.log, "looked_at": draws.locked}

        def good(meta: Mapping[str, JsonValue]) -> bool:
            return bool(meta.get("looked_at")) or not draws.locked

        def waiting() -> None:
            if cancel is not None and cancel.is_set():
                raise Cancelled("The request was cancelled while another one drew its figure.")

        found = self.cache.get_or_make("figure", key, make, good, waiting, soon=soon)
        return FigureAnswer(
            figure=found.data,
            values=answered.values,
            options=answered.options,
            warnings=[warning.as_dict() for warning in answered.warnings],
            cache={**answered.cache, "figure": "hit" if found.hit else "miss"},
            reads=answered.reads,
            timings={**timings, "draw": _ms(started, time.perf_counter())},
            log=found.meta.get("log", ""),
            at_hand=answered,
        )

    def _drawer(self, protected: bool | None = None) -> Drawer:
        """Who draws: this process or a locked one. No other place chooses."""
        return drawer(self.protected if protected is None else protected)

    def check_script(self, config: PlotConfig) -> None:
        """Refuse a recipe whose script is not sound.

        Raises
        ------
        Invalid
            With everything wrong with the script. If scripts are protected, a locked process looks at it: a script can
            make Python's parser take seconds and much memory, or crash.
        """
        if problems := self._drawer().check(config.transform, organization=self.drawn_for):
            raise Invalid(problems)


def drawable(config: Raw, draws: Drawer) -> PlotConfig:
    """The checked recipe, with its script. A locked process checks the script itself, so that a script that crashes
    Python's parser crashes that process and not this one.

    Raises
    ------
    Invalid
        With everything wrong with it.
    """
    checked = config if isinstance(config, PlotConfig) else sound(config)
    if not draws.locked and (problems := check_script(checked.transform)):
        raise Invalid(problems)
    return checked


def _ms(start: float, end: float) -> float:
    return round((end - start) * 1000, 3)
