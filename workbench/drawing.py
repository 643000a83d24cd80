"""Drawing a recipe: its data, then its script, then the figure, which is kept in a cache."""

from __future__ import annotations

import hashlib
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NotRequired

import orjson
from pydantic import JsonValue
from typing_extensions import TypedDict

from .cached_property import cached_property
from .dataset import Dataset
from .errors import Cancelled, Invalid, NotProtected
from .operations import Operations
from .own_scripts import OwnScripts
from .quick_import import later
from .recipe.strict import Raw
from .store.cache.cache import Cache, Found
from .table import time_text

if TYPE_CHECKING:
    from . import lint as linting
    from . import passport, typed_arrays
    from .engine import answer, keys, traces
    from .engine.reader import Cancel, Progress
    from .engine.traces import TraceShown
    from .lint import Lint
    from .passport import Passport, PlotSeen
    from .recipe import check as recipe_check
    from .recipe import plot as recipe_plot
    from .recipe import values as recipe_values
    from .recipe.plot import PlotConfig
    from .transform import drawers, figure_check
    from .transform import script as scripts
    from .transform.drawers import Drawer
else:  # plotly, lint and the scripts wait for the first figure
    passport = later("workbench.passport")
    keys = later("workbench.engine.keys")
    traces = later("workbench.engine.traces")
    linting = later("workbench.lint")
    figure_check = later("workbench.transform.figure_check")
    drawers = later("workbench.transform.drawers")
    scripts = later("workbench.transform.script")
    typed_arrays = later("workbench.typed_arrays")
    recipe_check = later("workbench.recipe.check")
    recipe_values = later("workbench.recipe.values")
    recipe_plot = later("workbench.recipe.plot")


Values = Mapping[str, JsonValue]
"""Chosen values by param name."""


UNTRUSTED = (
    "This script was not drawn: it must run protected, and this machine cannot do that. Draw it on a server on Linux "
    "(workbench.connect), or on Linux in a container or in WSL. Or read it, and if you trust it say protected=False "
    "for this figure, or bench.trust(recipe) for good."
)
"""What a person can do where an untrusted script is refused."""


class HintShown(TypedDict):
    """What lint finds in a figure: the rule, a sentence with the fix, and the trace or axis that it is about."""

    code: str
    message: str
    trace: NotRequired[int]
    axis: NotRequired[str]


@dataclass(frozen=True)
class FigureAnswer:
    """A drawn recipe: ``figure`` is its JSON as bytes; the other fields are those of the interface's figure answer.

    ``digest`` is the hash of ``figure``, where it is known. ``at_hand`` is the dataset that it was drawn from, to draw
    it again. ``traces`` and ``hints`` are what a server says of them; `traced` and `hinted` are the same for any
    answer.
    """

    figure: bytes
    values: dict[str, JsonValue]
    options: dict[str, list[dict[str, JsonValue]]]
    warnings: list[dict[str, Any]]
    cache: dict[str, str]
    reads: dict[str, int]
    timings: dict[str, float] = field(default_factory=dict)
    log: str = ""
    digest: str = ""
    traces: list[TraceShown] | None = field(default=None, repr=False, compare=False)
    hints: list[HintShown] | None = field(default=None, repr=False, compare=False)
    at_hand: answer.Answered | None = field(default=None, repr=False, compare=False)
    tracing: Callable[[], list[TraceShown]] | None = field(default=None, repr=False, compare=False)
    hinting: Callable[[FigureAnswer], list[HintShown]] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def traced(self) -> list[TraceShown]:
        """For each trace how many samples it shows, of how many, and whether zoom has more, or why not.

        It is computed when it is first read. An older server says nothing of it.
        """
        if self.traces is not None:
            return self.traces
        return [] if self.tracing is None else self.tracing()

    @cached_property
    def hinted(self) -> list[HintShown]:
        """What lint finds, the first of each kind, as a server says it; computed when it is first read, and kept."""
        if self.hints is not None:
            return self.hints
        return hints_of(self) if self.hinting is None else self.hinting(self)

    @cached_property
    def content(self) -> str:
        """The hash of the figure and of what is said of it: its values, choices and warnings. Two answers of the same
        content look alike, whatever they took."""
        digest = self.digest or _digest(self.figure)
        said = orjson.dumps([digest, self.values, self.options, self.warnings], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(said).hexdigest()[:32]

    @property
    def data(self) -> Dataset | None:
        """The data that it was drawn from; None where the server drew it."""
        return None if self.at_hand is None else self.at_hand.dataset

    @cached_property
    def lint(self) -> list[Lint]:
        """What lint finds in the figure, its traces and its data; computed when it is first read."""
        return linting.lint(self.figure, self.data, self.warnings)


def _digest(figure: bytes) -> str:
    return hashlib.sha256(figure).hexdigest()


class Drawing(Operations):
    """The part of a backend that draws; the data come from `answered`.

    Attributes
    ----------
    cache : where figures are kept.
    protected : every script runs locked in; without it only those that somebody else wrote.
    own_scripts : the record that says which scripts are this user's own; a server has none.
    drawn_for : the organization whose turn a protected figure takes; None where there is only one user.
    actor : the id of the user who asks.
    """

    actor: str
    cache: Cache
    protected: bool = False
    own_scripts: OwnScripts | None = None
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
        own: Drawer | None = None,
        strict: bool = False,
    ) -> FigureAnswer:
        """The figure of a recipe. If its dataset is in the cache and fresh, no step runs and no source is read.

        ``protected`` runs its script in a locked process; None does so for scripts that are not this user's own.
        ``own`` draws a script that is not protected; by default this process does. With ``strict`` a script fails that
        reads steps or params which the recipe does not have, also where it would not come to them; a figure from the
        cache may be of such a script.

        Raises
        ------
        Invalid
            If the recipe or a value is wrong.
        ScriptError
            If the script fails.
        NotProtected
            If it must be protected and this machine cannot lock a process.
        """
        started = time.perf_counter()
        draws = self._drawer(protected, own, config)
        checked = drawable(config, draws)
        checked_at = time.perf_counter()
        answered = self.answered(checked, values, progress, cancel)
        timings = {"check": _ms(started, checked_at), **answered.timings}
        return self._drawn(checked, answered, draws, timings, cancel, strict=strict)

    def passport(
        self,
        config: Raw,
        drawn: FigureAnswer,
        *,
        plot: PlotSeen | None = None,
        with_recipe: bool = True,
    ) -> Passport:
        """What a drawn figure was drawn from, to be kept in the files that it is exported to.

        Parameters
        ----------
        plot : the saved plot.
        with_recipe : without it only hashes of the recipe are kept.
        """
        checked = config if isinstance(config, recipe_plot.PlotConfig) else recipe_check.sound(config)
        answered = drawn.at_hand or self.answered(checked, drawn.values)
        return passport.made(
            checked,
            values=drawn.values,
            steps=answered.dataset.steps,
            figure=drawn.figure,
            versions=keys.versions(),
            made_at=time_text(time.time_ns() // 1000),
            warnings=list(dict.fromkeys(str(one["code"]) for one in drawn.warnings)),
            made_by=self.actor,
            plot=plot,
            with_recipe=with_recipe,
            data_at=answered.data_at,
        )

    def redraw(
        self,
        config: Raw,
        values: Values,
        shown: FigureAnswer,
        cancel: Cancel | None = None,
        *,
        protected: bool | None = None,
        own: Drawer | None = None,
    ) -> FigureAnswer:
        """A shown figure with other ``view`` values, drawn from the same data: the store is not read.

        Raises
        ------
        Invalid
            For values that their controls do not allow.
        """
        draws = self._drawer(protected, own, config)
        checked = drawable(config, draws)
        if shown.at_hand is None:
            return self.figure(checked, values, cancel=cancel, protected=protected, own=own)
        taken = {**shown.at_hand.values, **recipe_values.effective(checked, values)}
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
        strict: bool = False,
    ) -> FigureAnswer:
        started = time.perf_counter()
        key = keys.figure_key(answered.content, config.transform, answered.values)

        def make() -> tuple[bytes, dict[str, JsonValue]]:
            try:
                drawn = draws.draw(
                    config.transform,
                    bytes(answered.packed),
                    answered.values,
                    content=answered.content,
                    organization=self.drawn_for,
                    cancelled=None if cancel is None else cancel.is_set,
                    names=(list(config.plan.steps), list(config.params)) if strict else None,
                )
            except NotProtected as error:
                raise error if self.own_scripts is None else NotProtected(f"{UNTRUSTED} {error}") from None
            warned: list[JsonValue] = [one.as_dict() for one in drawn.warned]
            told: dict[str, JsonValue] = {"log": drawn.log, "looked_at": draws.locked, "warned": warned}
            return drawn.figure, {**told, "digest": _digest(drawn.figure)}

        def good(meta: Mapping[str, JsonValue]) -> bool:
            return bool(meta.get("looked_at")) or not draws.locked

        def waiting() -> None:
            if cancel is not None and cancel.is_set():
                raise Cancelled("The request was cancelled while another one drew its figure.")

        found = self.cache.get_or_make("figure", key, make, good, waiting, soon=soon)
        if found.hit and draws.locked and self.own_scripts is not None and not is_safe(found.bytes):
            # The file of the cache came with the store, so what it says about its figures does not count.
            found = Found(*make(), False)
            self.cache.put("figure", key, found.data, found.meta, soon=soon)

        def tracing() -> list[TraceShown]:
            traced: list[TraceShown] = orjson.loads(self.cache.get_or_make("traces", key, trace, soon=soon).bytes)
            return traced

        def hinting(drawn: FigureAnswer) -> list[HintShown]:
            def make() -> tuple[bytes, dict[str, JsonValue]]:
                return orjson.dumps(hints_of(drawn)), {}

            hinted: list[HintShown] = orjson.loads(self.cache.get_or_make("hints", key, make, soon=soon).bytes)
            return hinted

        def trace() -> tuple[bytes, dict[str, JsonValue]]:
            return orjson.dumps(traces.shown_traces(typed_arrays.decode(found.bytes), answered.dataset)), {}

        return FigureAnswer(
            figure=found.bytes,
            values=answered.values,
            options=answered.options,
            warnings=[*(one.as_dict() for one in answered.warnings), *found.meta.get("warned", [])],
            cache={**answered.cache, "figure": "hit" if found.hit else "miss"},
            reads=answered.reads,
            timings={**timings, "draw": _ms(started, time.perf_counter())},
            log=found.meta.get("log", ""),
            digest=found.meta.get("digest", ""),
            at_hand=answered,
            tracing=tracing,
            hinting=hinting,
        )

    def _drawer(self, protected: bool | None = None, own: Drawer | None = None, config: Raw = None) -> Drawer:
        """Who draws: a locked process, else ``own`` or this process. No other place chooses."""
        locked = (self.protected or self.is_untrusted(config)) if protected is None else protected
        return drawers.drawer(locked) if locked or own is None else own

    def is_untrusted(self, config: Raw) -> bool:
        """Whether the script of a recipe is not this user's own: it is marked so, or came from a store or a server."""
        script = script_in(config)
        return self.own_scripts is not None and script is not None and self.own_scripts.is_untrusted(script)

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


def hints_of(drawn: FigureAnswer) -> list[HintShown]:
    """What lint finds in a figure, the first of each kind."""
    found: list[HintShown] = []
    for one in linting.hints(drawn.lint):
        hint: HintShown = {"code": one.code, "message": one.message}
        if one.trace is not None:
            hint["trace"] = one.trace
        if one.axis is not None:
            hint["axis"] = one.axis
        found.append(hint)
    return found


def drawable(config: Raw, draws: Drawer) -> PlotConfig:
    """The checked recipe, with its script. A locked process checks the script itself, so that a script that crashes
    Python's parser crashes that process and not this one.

    Raises
    ------
    Invalid
        With everything wrong with it.
    """
    checked = config if isinstance(config, recipe_plot.PlotConfig) else recipe_check.sound(config)
    if not draws.locked and (problems := scripts.check_script(checked.transform)):
        raise Invalid(problems)
    return checked


def script_in(config: Raw) -> str | None:
    """The script of a recipe that may not be sound; None if it has none."""
    if isinstance(config, recipe_plot.PlotConfig):
        return config.transform
    script = config.get("transform") if isinstance(config, Mapping) else None
    return script if isinstance(script, str) else None


def is_safe(figure: bytes) -> bool:
    """Whether a figure that was not drawn now is as the check of figures wants it."""
    try:
        figure_check.checked(figure)
    except figure_check.Unsafe:
        return False
    return True


def _ms(start: float, end: float) -> float:
    return round((end - start) * 1000, 3)
