"""A model at an OpenAI-compatible address of the own network, as a small server of the test speaks it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from support.server_on_socket import listening

from workbench.authoring import Turn
from workbench.errors import ServerAway
from workbench.language_models import open_model

TURNS = [Turn("system", "Answer with JSON."), Turn("user", "Cells by name")]
PARTS = ['{"say": ', '"There is ', 'no such test."}']
KEY = "the-key-of-the-model"
_RUBBISH: dict[str, Any] = {"a list": [1], "a number": 7, "no choices": {"choices": [3]}, "a text": "hello"}
_ENDLESS = {"endless": "content", "endless-thoughts": "reasoning_content"}


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, list[Any]]]:
    """The address of a model that answers in parts, and what it was asked."""
    pytest.importorskip("pydantic_ai", reason="the extra 'llm' is not installed")
    asked: list[Any] = []

    async def complete(request: Request) -> Response:
        body = await request.json()
        asked.append((request.headers.get("authorization"), body))
        if body["model"] == "refused":
            message = f"Incorrect API key provided: {KEY}"
            return JSONResponse({"error": {"message": message, "code": "invalid_api_key"}}, 401)
        return StreamingResponse(_events(body["model"]), media_type="text/event-stream")

    app = Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
    with listening(app, lifespan="off") as (_, url):
        yield f"{url}/v1", asked


async def _events(model: str) -> Any:
    if model in _RUBBISH:
        yield _event(_RUBBISH[model])
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": model}
    for part in ["a" * 50_000] * 40 if model in _ENDLESS else PARTS:
        yield _event(
            {
                **head,
                "choices": [{"index": 0, "delta": {"role": "assistant", _ENDLESS.get(model, "content"): part}}],
            }
        )
    end = model if model in ("length", "content_filter") else "stop"
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": end}]})
    usage = {"prompt_tokens": 1000, "completion_tokens": 234, "total_tokens": 1234}
    yield _event({**head, "choices": [], "usage": usage})
    yield "data: [DONE]\n\n"


def _event(value: Any) -> str:
    return f"data: {json.dumps(value)}\n\n"


def test_the_answer_comes_in_parts_and_its_tokens_are_those_that_the_server_counts(
    address: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, asked = address
    monkeypatch.setenv("WORKBENCH_MODEL_KEY", KEY)
    heard: list[str] = []
    author = open_model("qwen3:8b", url=url, heard=heard.append)
    assert author(TURNS) == "".join(PARTS)
    assert heard == PARTS
    assert author.budget.spent == 1234
    sent, body = asked[-1]
    assert sent == f"Bearer {KEY}"
    assert (body["model"], body["stream"]) == ("qwen3:8b", True)
    assert [one["role"] for one in body["messages"]] == ["system", "user"]


def test_an_own_server_may_need_no_key(address: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    url, asked = address
    for name in ("WORKBENCH_MODEL_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert open_model("qwen3", url=url)(TURNS)
    assert asked[-1][0] == "Bearer none"


def test_a_key_of_the_provider_is_never_sent_to_another_address(
    address: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, asked = address
    monkeypatch.delenv("WORKBENCH_MODEL_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "the-key-for-the-provider")
    open_model("qwen3", url=url)(TURNS)
    assert "the-key-for-the-provider" not in str(asked[-1])


def test_a_refusal_is_said_without_the_key(
    address: tuple[str, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_MODEL_KEY", KEY)
    with pytest.raises(ServerAway, match=r"openai:refused at .* refused with status 401") as found:
        open_model("refused", url=address[0])(TURNS)
    assert KEY not in str(found.value)
    assert "Incorrect API key provided: ..." in str(found.value)


@pytest.mark.parametrize(
    ("end", "words"),
    [("length", "end of its context; we allow 32000 tokens"), ("content_filter", "A filter of its")],
)
def test_an_answer_that_is_cut_is_not_repaired(address: tuple[str, list[Any]], end: str, words: str) -> None:
    with pytest.raises(ServerAway, match=rf"openai:{end} at .* is not complete\. .*{words}"):
        open_model(end, url=address[0])(TURNS)


@pytest.mark.parametrize("kind", _ENDLESS)
def test_an_answer_without_an_end_is_ended(address: tuple[str, list[Any]], kind: str) -> None:
    author = open_model(kind, url=address[0])
    with pytest.raises(ServerAway, match=rf"openai:{kind} at .* does not end"):
        author(TURNS)
    assert kind != "endless" or author.budget.spent > 50_000


@pytest.mark.parametrize("kind", _RUBBISH)
def test_a_server_that_is_none_of_a_model_is_said_to_give_no_answer(
    address: tuple[str, list[Any]], kind: str
) -> None:
    """It was an AttributeError of the library."""
    with pytest.raises(ServerAway, match=r"gave no answer"):
        open_model(kind, url=address[0])(TURNS)


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    with pytest.raises(ServerAway, match=rf"127.0.0.1:{port} gave no answer"):
        open_model("qwen3", url=f"http://127.0.0.1:{port}/v1")(TURNS)
