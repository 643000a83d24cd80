"""Operations on chat sessions, their messages, and the plots that are made from their drafts."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Protocol, cast

from pydantic import AfterValidator, Field, JsonValue, StringConstraints
from pydantic_core import PydanticCustomError

from ..errors import Invalid, Problem
from ..quick_import import later
from ..recipe.strict import NotNull
from ..records import Dashboard, Message, Plot, Session
from ..records.session import Role
from ..records.values import clean_text, plain_name
from ..store.records.people import Right
from .operation import Limit, Local, Offset, Sent, WholeBody, operation

if TYPE_CHECKING:
    from .. import authoring
    from ..authoring import drafts as desk
    from ..authoring import length
    from ..engine import reader
    from ..gallery import author
    from ..gallery.author import author as own_author
    from ..recipe import parse as recipe_parse
    from ..recipe import plot as recipe_plot
    from ..records import catalog as catalogs
else:  # an operation is declared without what carries it out: the authors and their texts
    authoring = later("workbench.authoring")
    desk = later("workbench.authoring.drafts")
    length = later("workbench.authoring.length")
    author = later("workbench.gallery.author")
    own_author = later("workbench.gallery.author.author")
    recipe_parse = later("workbench.recipe.parse")
    recipe_plot = later("workbench.recipe.plot")
    reader = later("workbench.engine.reader")
    catalogs = later("workbench.records.catalog")


PROJECT = "/projects/{project_id}"
BOARD = f"{PROJECT}/dashboards/{{dashboard_id}}"


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise PydanticCustomError("uuid_parsing", "This must be a UUID.") from None


Text = Annotated[str, AfterValidator(clean_text)]
PlotName = Annotated[str, AfterValidator(plain_name)]
PlotId = Annotated[str, AfterValidator(_uuid), Field(json_schema_extra={"format": "uuid", "x-record": "plots"})]
NewPlotId = Annotated[str, AfterValidator(_uuid), Field(json_schema_extra={"format": "uuid"})]
SessionId = Annotated[str, Field(json_schema_extra={"x-record": "sessions"})]
OnlyNewest = Annotated[
    bool | None, Field(description="Refuse if the newest draft is not sound, in place of saving an older one.")
]


class Author(Local, Protocol):
    """A store as one user sees it, with what the author of a recipe needs."""

    def catalog(self) -> catalogs.Catalog: ...
    def sound(self, config: Mapping[str, JsonValue]) -> list[Problem]: ...


GivenAnswer = Annotated[
    Sent,
    Field(
        description='The answer as a text, or as an object {"say": text, "draft": {"name", "config"} or null}; in '
        'place of a draft it may have "edits", a list of {"part", "old", "new"}, of the given one.'
    ),
]
ShownDraft = Annotated[
    dict[str, Sent] | None, Field(description="The draft or plot that the wish is about, a name and a recipe.")
]
Edited = Annotated[
    dict[str, Sent] | None, Field(description="The draft or plot that edits change, a name and a recipe.")
]
Chosen = Annotated[
    dict[str, Sent] | None, NotNull(), Field(description="Chosen values by param name; the rest are the defaults.")
]


if TYPE_CHECKING:

    class Examiner(Local, authoring.Draws, own_author.Knows, Protocol):
        """A store as one user sees it, that checks and draws recipes, and says what there is."""

else:
    Examiner = Local  # its bases would import the author and all that examines a draft


class ConversationOperations:
    """What users can do with their own chat sessions, and with the drafts in them."""

    group = "Authoring and sessions"

    @operation("GET", "/agent/sessions", Right.READ, project="query")
    def session_page(self: Local, limit: Limit = 100, offset: Offset = 0) -> list[Session]:
        """The caller's chat sessions in a project, the newest first."""
        return self.store.sessions.sessions(self.scope, self.actor, limit=limit, offset=offset)

    @operation("GET", "/agent/sessions/{session_id}", Right.READ, project="record", since="0.1.1")
    def session(self: Local, session_id: str) -> Session:
        """One of the caller's chat sessions."""
        return self.store.sessions.session(session_id, self.scope, self.actor)

    @operation("POST", "/agent/sessions", Right.WRITE, project="body")
    def open_session(self: Local, title: Text | None = None, sdk_session_id: Text | None = None) -> Session:
        """Open a chat session."""
        with self.writing():
            return self.store.sessions.open(self.scope, self.actor, title, sdk_session_id=sdk_session_id)

    @operation("GET", "/agent/sessions/{session_id}/messages", Right.READ, project="record")
    def message_page(self: Local, session_id: str, limit: Limit = 1000, offset: Offset = 0) -> list[Message]:
        """The messages of a chat session, the oldest first."""
        session = self.store.sessions.session(session_id, self.scope, self.actor)
        return self.store.sessions.messages(session, limit=limit, offset=offset)

    @operation("POST", "/agent/sessions/{session_id}/messages", Right.WRITE, project="record")
    def say(self: Local, session_id: str, role: str, content: dict[str, Sent]) -> Message:
        """Add a message to a chat session."""
        session = self.store.sessions.session(session_id, self.scope, self.actor)
        with self.writing():
            # The type of the argument has checked the role already.
            return self.store.sessions.say(session, cast(Role, role), content)

    @operation("GET", "/projects/{project_id}/authoring-context", Right.READ, heavy=True, since="0.1.1")
    def context_texts(
        self: Author, wish: Annotated[str, Field(description="What a plot should show.")] = ""
    ) -> length.ContextTexts:
        """The texts that ``authoring-context`` of a dashboard gives for a wish, and how long they are; no session."""
        if len(wish) > recipe_plot.MOST_PROMPT:
            message = f"'wish' has {len(wish)} characters; at most {recipe_plot.MOST_PROMPT} are allowed."
            raise Invalid(Problem(("wish",), message, "string_too_long"))
        told = authoring.tests_told(reader.Reader(self.store, self.scope), wish)
        return length.ContextTexts.of(
            authoring.system_text(), authoring.prompt_text(wish, self.catalog(), tests=told)
        )

    @operation("POST", f"{BOARD}/authoring-context", Right.WRITE, heavy=True)
    def authoring_texts(
        self: Author,
        dashboard: Dashboard,
        request: Annotated[Mapping[str, Sent], WholeBody(recipe_plot.AuthoringRequest)],
    ) -> authoring.AuthoringContext:
        """The texts from which a language model writes a recipe for this project; opens or continues a session."""
        asked = recipe_parse.parse_request(request)
        with self.writing(dashboard.id):
            session, shown = desk.begin(self.store, self.scope, self.actor, dashboard, asked)
        told = authoring.tests_told(reader.Reader(self.store, self.scope), asked.prompt)
        return authoring.texts(session, asked.prompt, self.catalog(), shown, told)

    @operation("POST", f"{PROJECT}/authoring/answers", Right.WRITE, heavy=True, reads=True, since="0.1.1")
    def check_answer(
        self: Examiner,
        answer: GivenAnswer,
        values: Chosen = None,
        draft: Edited = None,
        cancel: reader.Cancel | None = None,
    ) -> authoring.CheckedAnswer:
        """Check an answer of a language model and draw its draft: all that is wrong comes at once; nothing is kept."""
        return authoring.examine(answer, self, values, cancel, before=draft)

    @operation("POST", f"{PROJECT}/authoring/proposals", Right.WRITE, heavy=True, reads=True, since="0.1.1")
    def propose(
        self: Examiner,
        wish: Annotated[str, StringConstraints(min_length=1, max_length=recipe_plot.MOST_PROMPT)],
        draft: ShownDraft = None,
        cancel: reader.Cancel | None = None,
    ) -> authoring.CheckedAnswer:
        """The answer of the built-in author, which needs no language model: a checked draft, or words."""
        checked = authoring.examine(author.written(wish, self, draft), self, cancel=cancel)
        if checked.is_sound and checked.numbers is not None:
            apart = author.not_drawn(wish, checked.numbers.axes.values())
            if apart:
                answer = author.written(wish, self, draft, apart=apart)
                checked = authoring.examine(answer, self, cancel=cancel)
        if checked.draft is None or [one["type"] for one in checked.problems] != [authoring.EMPTY_FIGURE]:
            return checked
        said = [] if checked.numbers is None else checked.numbers.sentences
        return authoring.examine(author.nothing_drawn(wish, said), self, cancel=cancel)

    @operation("POST", f"{BOARD}/authoring-decision", Right.WRITE, heavy=True)
    def decide(
        self: Author,
        dashboard: Dashboard,
        name: PlotName | None = None,
        plot_id: PlotId | None = None,
        new_plot_id: NewPlotId | None = None,
        session_id: SessionId | None = None,
        only_newest: OnlyNewest = None,
    ) -> Plot:
        """Save the caller's newest sound draft as a plot."""
        return desk.decide(
            self.store,
            self.scope,
            self.actor,
            dashboard,
            self.sound,
            name=name,
            plot_id=plot_id,
            new_plot_id=new_plot_id,
            session_id=session_id,
            only_newest=bool(only_newest),
            writing=lambda: self.writing(new_plot_id or plot_id),
        )
