"""Sessions: conversations about a project, their messages, and the drafts of plots in them."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from .record import Aside, InProject, Json, Link, Moment, Name, Strict, Text

Role = Literal["user", "assistant"]


class Session(InProject):
    """A conversation of one user about a project, for example to make a plot. Only this user sees it."""

    table = "sessions"
    label = "session"
    private: ClassVar[bool] = True

    name: Name = Field(serialization_alias="title", description="What it is about.")
    created_by: Annotated[str | None, Link("users"), Aside()] = Field(
        None, serialization_alias="user_id", description="The user whose session it is."
    )
    dashboard_id: Annotated[str | None, Link("dashboards")] = Field(
        None, description="The dashboard that its plot is made for."
    )
    plot_id: Annotated[str | None, Link("plots")] = Field(None, description="The plot that it is about.")
    sdk_session_id: Text | None = Field(None, description="Id of the session in the program that leads it.")


class Message(Strict):
    """One message of a session as it was shown: a text of the user, or what the assistant said and did."""

    id: str = Field(description="Identifier; later messages have later ids.")
    session_id: str = Field(description="Its session.")
    role: Role = Field(description="Who speaks.")
    content: Json = Field(description="The text or the parts of the message.")
    created_at: Moment = Field(description="When it came in, UTC; no two are equal.")


class Draft(Strict):
    """A recipe that is not saved yet. ``draft`` is as it was sent and may be invalid; ``accepted`` is the plot that it
    became, as ``<plot id> <revision>``."""

    id: str = Field(description="Identifier; later drafts have later ids.")
    session_id: str = Field(description="The session it came up in.")
    draft: Json = Field(description="Name and recipe as they were sent.")
    accepted: str | None = Field(None, description="The plot and revision it became.")
    created_at: Moment = Field(description="When it came in, UTC.")
