"""Which language model answers: its provider, name, address and key, from arguments or the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ..environment import MODEL, MODEL_KEY, MODEL_TOKENS, MODEL_URL
from ..errors import BadRequest
from .budget import LEAST_ANSWER, USUAL

OPENAI = "openai"


@dataclass(frozen=True)
class Chosen:
    """A model that was chosen. Its key is in none of its texts.

    Parameters
    ----------
    provider, name : such as ``openai`` and ``gpt-5-mini``.
    url : address of an OpenAI-compatible server; None for the provider's own.
    key : None if the provider reads a variable of its own, or needs none.
    tokens : what a session may take.
    """

    provider: str
    name: str
    url: str | None = None
    key: str | None = field(default=None, repr=False)
    tokens: int = USUAL

    @property
    def title(self) -> str:
        """What people call it."""
        place = "" if self.url is None else f" at {urlsplit(self.url).netloc.rpartition('@')[2]}"
        return f"{self.provider}:{self.name}{place}"


def chosen(model: str | None = None, url: str | None = None) -> Chosen:
    """The model that is meant: ``provider:name``, or a name alone for a server of the own network.

    What is not given is read from ``$WORKBENCH_MODEL``, ``$WORKBENCH_MODEL_URL``, ``$WORKBENCH_MODEL_KEY`` and
    ``$WORKBENCH_MODEL_TOKENS``.

    Raises
    ------
    BadRequest
        If no model is named, or something is malformed.
    """
    named = model or os.environ.get(MODEL, "")
    place = url or os.environ.get(MODEL_URL) or None
    if not named:
        raise BadRequest(
            f"No language model is chosen. Set ${MODEL}, such as openai:gpt-5-mini or anthropic:claude-sonnet-4-5; for "
            f"a server of your own network also ${MODEL_URL}. Without a model, the built-in author answers."
        )
    provider, is_there, name = named.partition(":")
    # Names of models on own servers hold colons, as in qwen3:8b, and no name of a provider.
    if place is not None and provider != OPENAI:
        provider, name = OPENAI, named
    elif not is_there or not provider or not name:
        raise BadRequest(f"'{named}' is not a model. Write provider:name, such as openai:gpt-5-mini.")
    if place is not None:
        _refuse_other_address(place)
    return Chosen(provider, name, place, os.environ.get(MODEL_KEY) or None, _tokens())


def _refuse_other_address(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadRequest(f"'{url}' is not the address of a model's server. Write it as http://gpu:8000/v1.")


def _tokens() -> int:
    text = os.environ.get(MODEL_TOKENS)
    if text is None:
        return USUAL
    if not text.isascii() or not text.isdigit() or int(text) < LEAST_ANSWER:
        raise BadRequest(f"${MODEL_TOKENS} is '{text}'; it must be a whole number from {LEAST_ANSWER}.")
    return int(text)
