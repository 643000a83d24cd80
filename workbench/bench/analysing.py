"""``bench.analyse``: analyses that are computed once and kept; the kinds of tests; the gallery."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from pydantic import JsonValue

from ..backend import Backend
from ..errors import BadRequest, Invalid
from ..quick_import import later
from ..recipe.jsontext import plain
from ..records import Measurement, Record
from .collections import filters_of
from .recipe_input import ParamValue

if TYPE_CHECKING:
    import pandas as pd

    from ..analyses.run import Analysed
    from ..engine.reader import Cancel
    from . import gallery as cards
    from .gallery import Gallery
else:  # frames bring pandas, and the gallery its pictures
    cards = later("workbench.bench.gallery")
    pd = later("pandas")


Tests: TypeAlias = "str | Record | pd.Series | Iterable[str | Record] | Mapping[str, ParamValue] | None"
"""Tests by name, id or record, one or several; or the filters of a ``list`` step."""


class Analysing:
    """What a bench can do with analyses that the workbench computes, and with the recipes that draw them."""

    backend: Backend

    def analyse(
        self,
        type: str,
        measurements: Tests = None,
        *,
        check: bool = False,
        progress: Callable[[int, int, str], None] | None = None,
        cancel: Cancel | None = None,
        **parameters: JsonValue,
    ) -> Analysed:
        """Compute an analysis of tests and keep the results as ``analyses`` records.

        What is fresh stays: the same call again computes nothing. A record whose data, ratings or rule changed is
        stale and computed anew. Records that you made yourself are never changed. Each test is kept as soon as it is
        computed: after an interruption, the next call goes on with the rest.

        Parameters
        ----------
        type : an analysis, such as ``"dcir"`` (``bench.analysis_types()`` lists them), or ``"kinds"``: recognise
            which kinds of tests there are, or ``"arrival"``: all that is due by the kinds of the tests.
        measurements : names, ids or records of tests, or filters such as ``{"batch": "A"}``. Without them all tests
            whose kind the analysis reads, and those that have a record of it.
        check : compute nothing, only report what would be computed.
        progress : called with the number done, the number in all, and the name of the next test.
        cancel : stops the run when it is set.
        parameters : of the function of the same name in ``workbench.battery``.

        Raises
        ------
        BadRequest
            For an analysis or a parameter that does not exist; the message names the nearest.
        NotFound
            For a test that does not exist.
        Invalid
            For a filter or a parameter that JSON cannot hold, such as NaN.
        """
        where = self._filters(measurements)
        chosen, problems = plain(parameters, ("parameters",))
        if problems:
            raise Invalid(problems)
        given = chosen if isinstance(chosen, dict) else {}
        return self.backend.analyse(type, where, given, check=check, progress=progress, cancel=cancel)

    def analyse_on_arrival(self, on: bool | None = None) -> bool:
        """Whether this project computes analyses when tests arrive; with ``on`` it does from now on, or no more.

        After each ``ingest`` and each round of ``watch``, the kinds of the new tests are recognised, and the analyses
        that fit them are computed. On a server that happens in the background, and ingest does not wait for it.
        ``bench.analyse("arrival")`` computes what is due of the tests that are there already; what was interrupted
        goes on at the next arrival, or with it.
        """
        if on is None:
            return self.backend.analysed_on_arrival()
        if not isinstance(on, bool):
            raise BadRequest(f"Say on=True or on=False; this is {on!r:.40}.")
        return self.backend.analyse_on_arrival(on)

    def analysis_types(self) -> pd.DataFrame:
        """The analyses that can be computed: type, question, what they read, kinds of tests, parameters."""
        return pd.DataFrame(
            [dict(one) for one in self.backend.analysis_types()],
            columns=["type", "question", "reads", "kinds", "parameters", "results", "version"],
        )

    def kinds(self) -> pd.DataFrame:
        """The kinds of all tests, with their cells, how certain each is, from 0 to 1, and the evidence in words.

        A tag or the name of a protocol that names a kind replaces the guess. ``bench.analyse("kinds")`` keeps them, so
        that lists of measurements show them.
        """
        return pd.DataFrame(
            [dict(one) for one in self.backend.kinds_of_tests()],
            columns=["instance_name", "measurement_name", "kind", "certainty", "evidence", "measurement_id"],
        )

    def gallery(self, measurements: Tests = None) -> Gallery:
        """Ready recipes, each of which answers one question on the data of this project.

        In a notebook each is shown with a picture of your own data. ``bench.show("fade")`` opens one with its
        controls, ``bench.figure("fade", cells=[...])`` draws it, and ``bench.gallery().recipe("fade")`` gives the
        recipe to change. What a recipe lacks is said in a sentence.

        Parameters
        ----------
        measurements : the tests that count, as in ``analyse``: the recipes are made for these. Without them, for all.
        """
        chosen = self._filters(measurements)
        if chosen is None:
            return cards.Gallery(self.backend)
        return cards.Gallery(
            self.backend,
            [str(id) for id in self.backend.listing("measurements", chosen, ["id"], None)["id"].tolist()],
        )

    def _filters(self, measurements: Tests) -> dict[str, JsonValue] | None:
        if measurements is None:
            return None
        if not isinstance(measurements, str | Record | Iterable):
            raise BadRequest(f"Tests are named by names, ids, records or filters, not by {measurements!r:.40}.")
        if isinstance(measurements, Mapping):
            return filters_of(measurements)
        several = [measurements] if isinstance(measurements, str | Record) else list(measurements)
        return {"ids": [self.backend.get(Measurement, one).id for one in several]}
