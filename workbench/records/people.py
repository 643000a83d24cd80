"""Organizations and their users. Memberships, roles and keys come with the server."""

from typing import Annotated

from pydantic import AfterValidator, Field

from .record import Record, Unique
from .values import plain_name


def _email(text: str) -> str:
    name, at, host = text.partition("@")
    if not (name and at and host) or any(letter.isspace() for letter in text):
        raise ValueError(f"'{text}' is not an e-mail address, such as name@example.org.")
    return plain_name(text).lower()


class Organization(Record):
    """Whose records these are. A new store has one, 'Local'."""

    table = "organizations"
    label = "organization"
    scoping = "itself"
    unique = (Unique(("name",)),)


class User(Record):
    """Who made a record. A new store has one, local@localhost."""

    table = "users"
    label = "user"
    unique = (Unique(("email",)),)

    email: Annotated[str, AfterValidator(_email)] = Field(
        description="Address in small letters, unique in the store."
    )
