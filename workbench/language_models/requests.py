"""One request to a language model: streamed, stopped at once when that is wanted, its errors in our words.

The only module that imports pydantic-ai.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import AgentRunError, ModelHTTPError, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    UserPromptPart,
)
from pydantic_ai.models import Model, infer_model
from pydantic_ai.settings import ModelSettings

from ..authoring.loop import Turn
from ..background_loop import background_loop
from ..errors import BadRequest, Cancelled, ServerAway
from .choice import Chosen

if TYPE_CHECKING:
    from .model import LanguageModel

Heard: TypeAlias = Callable[[str], None]
MOST_ANSWER = 32_000
"""Most tokens of one answer, also where the budget has more."""
SECONDS = 300.0
"""How long a model may be silent."""
_LETTERS = 20
"""A token has fewer; a server that sends more does not keep the bound that it was given."""
_LOOK_S = 0.05
_LOOP = "workbench-language-models"
"""A notebook has an event loop of its own, which must stay free."""
_NO_KEY = "none"
"""Own servers mostly need no key, but the protocol has a place for one."""
_MOST_WORDS = 300
_CUT = {
    "length": "Its server stopped at the longest answer, or at the end of its context; we allow {limit} tokens. Give "
    "the server a longer context, choose another model, or start a new session if little of its budget is left.",
    "content_filter": "A filter of its provider stopped it. Ask in other words, or choose another model.",
}
"""What is said where a server ends an answer early: to repair it would only cost the same again."""


class _Endless(Exception):
    """An answer went on beyond the bound of its tokens."""


def made(meant: Chosen) -> Model:
    """The model of pydantic-ai that was chosen.

    Raises
    ------
    BadRequest
        If its provider is unknown or not installed, or its key is missing.
    """
    try:
        if meant.url is not None or (meant.key is not None and meant.provider == "openai"):
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.providers.openai import OpenAIProvider

            key = meant.key or (_NO_KEY if meant.url is not None else None)
            return OpenAIChatModel(meant.name, provider=OpenAIProvider(base_url=meant.url, api_key=key))
        if meant.key is not None:
            from pydantic_ai.providers import infer_provider_class

            # Every provider that has a key takes it under this name; pydantic-ai has no type that says so.
            factory = infer_provider_class
            return infer_model(f"{meant.provider}:{meant.name}", lambda name: factory(name)(api_key=meant.key))  # type: ignore[call-arg]
        return infer_model(f"{meant.provider}:{meant.name}")
    except (UserError, ImportError, ValueError, TypeError) as error:
        raise BadRequest(f"The model {meant.title} cannot be used. {_short(str(error), meant.key)}") from None


def asked(by: LanguageModel, turns: Sequence[Turn], most: int, heard: Heard) -> int:
    """Ask for an answer of at most ``most`` tokens; ``heard`` gets its parts. Gives the tokens that it took.

    Raises
    ------
    Cancelled
        As soon as the model is stopped.
    ServerAway
        If the server of the model cannot be reached, or refuses, or ends the answer before it is complete.
    """
    limit = min(most, MOST_ANSWER)
    work = _streamed(by.model, messages(turns), ModelSettings(max_tokens=limit, timeout=SECONDS), heard)
    try:
        used, end = _wait(asyncio.run_coroutine_threadsafe(work, background_loop(_LOOP)), by.stop)
    except ModelHTTPError as error:
        said = _short(str(error.body or error.message), by.key)
        raise ServerAway(f"The model {by.title} refused with status {error.status_code}. {said}") from None
    except _Endless:
        raise ServerAway(
            f"The answer of the model {by.title} does not end: it is longer than {limit} tokens can be. Choose another "
            "model."
        ) from None
    # A server that is none of a model answers anything, and the library of its provider stumbles over what it lacks.
    except (AgentRunError, UserError, OSError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = _short(str(error) or type(error).__name__, by.key)
        raise ServerAway(f"The model {by.title} gave no answer. {why}") from None
    if end in _CUT:
        raise ServerAway(f"The answer of the model {by.title} is not complete. {_CUT[end].format(limit=limit)}")
    return used


async def _streamed(
    model: Model, sent: list[ModelMessage], settings: ModelSettings, heard: Heard
) -> tuple[int, str | None]:
    """The tokens that an answer took, and why it ended, if the server says so."""
    letters, most = 0, _LETTERS * settings["max_tokens"]
    # Leaving the model closes its connections, also where a stop comes in the middle of an answer.
    async with model, model_request_stream(model, sent, model_settings=settings) as stream:
        async for event in stream:
            text, is_said = _text_in(event)
            letters += len(text)
            if letters > most:
                raise _Endless
            if is_said and text:
                heard(text)
        return stream.usage.total_tokens, stream.finish_reason


def _text_in(event: object) -> tuple[str, bool]:
    """The text of a part of an answer, and whether it is said, not thought."""
    if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart | ThinkingPart):
        return event.part.content, isinstance(event.part, TextPart)
    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta | ThinkingPartDelta):
        return event.delta.content_delta or "", isinstance(event.delta, TextPartDelta)
    return "", False


def messages(turns: Sequence[Turn]) -> list[ModelMessage]:
    """The turns of a conversation as pydantic-ai has them."""
    made: list[ModelMessage] = []
    waiting: list[SystemPromptPart | UserPromptPart] = []
    for turn in turns:
        if turn.role == "assistant":
            if waiting:
                made.append(ModelRequest(parts=waiting))
                waiting = []
            made.append(ModelResponse(parts=[TextPart(turn.text)]))
        else:
            waiting.append((SystemPromptPart if turn.role == "system" else UserPromptPart)(turn.text))
    return [*made, ModelRequest(parts=waiting)] if waiting else made


def _wait(future: Future[tuple[int, str | None]], stop: threading.Event) -> tuple[int, str | None]:
    """The result; Cancelled as soon as ``stop`` is set. Whatever ends the waiting ends the request."""
    try:
        while not stop.is_set():
            with suppress(NotYet):
                return future.result(_LOOK_S)
            if future.done():
                return future.result()
        raise Cancelled("The author was stopped. Nothing was saved.")
    finally:
        future.cancel()


def _short(text: str, key: str | None) -> str:
    """Words of a provider, without the key, and not too many."""
    words = " ".join((text.replace(key, "...") if key else text).split())
    return words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}..."
