"""The page of the kinds of records and their fields."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.records import KINDS, Member, Record
from workbench.records.record import Filter, Unique

from .prose import MADE

_HEAD = f"""# Records: every kind and field

<!-- {MADE} -->

A record belongs to an organization, and most belong to a project in it; one without a project is seen in all
projects of its organization. What is out of reach and what does not exist give the same answer: not found.

**Names and ids.** Ids are time-ordered UUIDs and never used again; `created_at` strictly rises within a store.
A name that is taken is a conflict that says who has it. A drive cycle of the same name and content is answered
with the one that is there.

**Changing.** Only what is sent changes; an object that is sent replaces the old one whole. A record stays in its
project. Every change of a plot is a new revision; one that started from an older revision is a conflict.

**Deleting.** A link below marked *goes along* means that the record is deleted with what the link points to,
series and all; other links are emptied and the record stays. So a specification takes its batches and cells with
it, a cell its measurements, a measurement its analyses; a batch takes no cell, a study nothing. Organizations and
users stay.

**Tags** are trimmed, one spelling each with case ignored, that which the project knows, in alphabetical order: at
most 50 of at most 50 characters.
"""
_MATCHES = {
    "in": "any of these ids",
    "equal": "equal",
    "contains": "part of it, case ignored",
    "batch": "id or name of the batch, case ignored",
    "study": "assigned to this study",
}


def page() -> str:
    """The page as Markdown."""
    return "\n".join([_HEAD, *(line for cls in KINDS.values() for line in _kind(cls))])


def _kind(cls: type[Record]) -> Iterator[str]:
    yield f"## {cls.label[0].upper()}{cls.label[1:]}\n"
    yield " ".join((cls.__doc__ or "").split()) + "\n"
    names = [f"collection `{cls.table}`"]
    names += [f"source `{cls.listed_as}`"] if cls.listed_as else []
    names += [f"search `{cls.entity}`"] if cls.entity else []
    yield f"{', '.join(names)}. Sorted by {', '.join(f'`{name}`' for name in cls.sorts)}.\n"
    for rule in cls.unique:
        yield _rule(rule) + "\n"
    yield "| field | on the wire | type | meaning |\n|---|---|---|---|"
    for member in cls.members().values():
        yield f"| `{member.name}` | `{member.wire}` | {_type(member)} | {_meaning(member)} |"
    yield ""
    if cls.filters:
        yield "| filter | compares | how |\n|---|---|---|"
        yield from (_filter(key, wanted) for key, wanted in cls.filters.items())
        yield ""


def _rule(rule: Unique) -> str:
    *around, last = rule.fields
    case = ", case ignored" if rule.folded else ""
    return f"`{last}` is unique within {', '.join(f'`{name}`' for name in around) or 'the store'}{case}."


def _type(member: Member) -> str:
    if member.choices:
        kind = ", ".join(f"`{choice}`" for choice in member.choices)
    elif member.storage == "json":
        kind = "open object" if member.open else "object or list"
    else:
        kind = member.storage
    return kind if member.required else f"{kind} or null"


def _meaning(member: Member) -> str:
    said = [member.meaning]
    if member.link is not None:
        goes = ", goes along" if member.link.on_delete == "cascade" else ""
        said.append(f"Links to `{member.link.table}`{goes}.")
    if member.searched is not None:
        said.append("Searched by any part." if member.searched.how == "substring" else "Searched by words.")
    if not member.stored:
        said.append("Read only.")
    return " ".join(said)


def _filter(key: str, wanted: Filter) -> str:
    return f"| `{key}` | `{wanted.field}` | {_MATCHES[wanted.match]} |"
