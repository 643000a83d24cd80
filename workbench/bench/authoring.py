"""The part of a bench that writes plots from wishes: the texts for a language model, the check of its answers, and the
decision on its drafts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import BadRequest
from ..quick_import import later
from ..recipe.strict import Raw
from ..records import Dashboard
from .boards import Board, SavedPlot
from .collections import Ref
from .recipe_input import Values, merged

if TYPE_CHECKING:
    from ..authoring import AuthoringContext, CheckedAnswer, Respond
    from ..authoring.length import ContextTexts
    from ..backend import Backend
    from ..notebook.author_view import AuthorView
    from . import figure as figures
    from .boards import Boards
else:  # a figure brings plotly
    figures = later("workbench.bench.figure")

FIRST_BOARD = "Plots"
"""The dashboard that is made for the first plot of a project that has none."""


class Authoring:
    """Contexts, answers and decisions of a bench."""

    backend: Backend
    dashboards: Boards

    def author(
        self,
        wish: str | None = None,
        board: Board | Ref | None = None,
        plot: SavedPlot | Ref | None = None,
        *,
        respond: Respond | None = None,
    ) -> AuthorView:
        """From a sentence to a plot, in a notebook: the wish, the conversation, a live draft, and the decision.

        ``bench.author("capacity fade by batch, marked below 80 %")`` shows a draft with its picture, numbers and
        difference from the plot before. Ask for changes, undo them, and accept the draft into the dashboard. In
        Python the view has ``ask(wish)``, ``paste(answer)``, ``undo()``, ``accept(name)``, ``draft``, ``checked`` and
        ``plot``.

        Parameters
        ----------
        wish : what the plot should show, in English, German, French or Chinese; None: it is typed in the view.
        board : the dashboard that the plot is for; by default the only one. A project without any gets one.
        plot : the saved plot to change.
        respond : who answers, a function from messages to the text of an answer. By default the built-in author does,
            which needs no language model; with one of your own, copy the context in the view and paste its answer.

        Raises
        ------
        BadRequest
            If no dashboard is named and there are several.
        """
        from ..notebook.author_view import author_view  # widgets are loaded only when they are used

        held, wanted = self._board_and_plot(self._home() if board is None else board, plot)
        record = None if wanted is None else self.backend.plot(held.record, wanted)
        return author_view(self.backend, held.record, record, wish, figure=figures.figure_of, respond=respond)

    def _home(self) -> Board:
        """The only dashboard, or a new one."""
        names = self.backend.table(Dashboard, {}, ["name"], None)["name"].tolist()
        if len(names) > 1:
            raise BadRequest(
                f"There are {len(names)} dashboards: {', '.join(map(repr, names[:12]))}. Give board=..."
            )
        return self.dashboards.get(str(names[0])) if names else self.dashboards.create(FIRST_BOARD)

    def check_answer(
        self,
        answer: str | Mapping[str, Raw],
        values: Values | None = None,
        draft: Mapping[str, Raw] | None = None,
    ) -> CheckedAnswer:
        """Check the answer of a language model to an `authoring_context`, and draw its draft in a locked process.

        ``.problems`` has all that is wrong at once, each with its place and the fix; ``.figure``, ``.hints`` (what
        lint finds), ``.warnings`` and ``.numbers`` say what the draft draws; ``.words`` is what to give back to the
        model. Nothing is kept.

        Parameters
        ----------
        answer : its text, also with words around the JSON, or the object ``{"say", "draft": {"name", "config"}}``. In
            place of a draft it may have ``edits``, a list of ``{"part", "old", "new"}``: ``part`` is ``name``,
            ``plan``, ``params`` or ``transform``, and ``old`` is there exactly once.
        values : chosen values by param name; the rest are the defaults.
        draft : ``{"name", "config"}``, what the edits change.

        Raises
        ------
        NotProtected
            If no machine that takes part can lock a process: then nothing is drawn.
        """
        chosen = None if values is None else merged(values, {})
        return self.backend.check_answer(answer, chosen, None if draft is None else dict(draft))

    def context_texts(self, wish: str = "") -> ContextTexts:
        """The texts that `authoring_context` gives for a wish, without a session: what the wish costs.

        ``.system`` and ``.prompt`` are the texts, ``.characters`` and ``.tokens`` their length. Models cut texts in
        different ways, so that the number of tokens is about right for each.

        Parameters
        ----------
        wish : what a plot shall show, in words.
        """
        return self.backend.context_texts(wish)

    def authoring_context(
        self,
        board: Board | Ref,
        prompt: str,
        plot: SavedPlot | Ref | None = None,
        draft: Mapping[str, Raw] | None = None,
    ) -> AuthoringContext:
        """Two texts for a language model, ``.system`` and ``.prompt``.

        They are all that it needs to write a recipe for this project.
        ``.session_id`` is the session that is opened or continued.

        Parameters
        ----------
        board : the dashboard that the plot is for.
        prompt : what the plot shall show, in words.
        plot : the plot to change; without it the recipe is for a new plot.
        draft : ``{"name", "config"}``, the recipe to continue with. It is kept as the newest draft.

        Raises
        ------
        Invalid
            For a prompt or a draft that breaks its limits.
        """
        held, wanted = self._board_and_plot(board, plot)
        return self.backend.authoring_context(held.record, prompt, wanted, draft)

    def authoring_decision(
        self,
        board: Board | Ref,
        *,
        name: str | None = None,
        plot: SavedPlot | Ref | None = None,
        new_plot_id: str | None = None,
        session: str | None = None,
    ) -> SavedPlot:
        """Save your newest sound draft on a dashboard, as the next revision of ``plot`` or as a new plot.

        Parameters
        ----------
        name : name of the plot; by default the name of the draft.
        plot : the plot whose draft is saved. Without ``new_plot_id`` the draft becomes its next revision.
        new_plot_id : the id, a UUID, of the new plot.
        session : take only drafts of this session.

        Raises
        ------
        Conflict
            If the name or the id is taken, or if no draft is sound; ``detail`` says what is wrong with the newest.
        """
        held, wanted = self._board_and_plot(board, plot)
        return held._saved(self.backend.decide(held.record, name, wanted, new_plot_id, session))

    def _board_and_plot(self, board: Board | Ref, plot: SavedPlot | Ref | None) -> tuple[Board, str | None]:
        """A dashboard, and the id of one of its plots."""
        held = board if isinstance(board, Board) else self.dashboards.get(board)
        if plot is None:
            return held, None
        return held, self.backend.plot(held.record, plot.record if isinstance(plot, SavedPlot) else plot).id
