"""The client of chat completions against services that behave well, badly, and not at all."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest
from aiohttp import web

from citewell.core.errors import (
    ServiceAnswerError,
    ServiceCutError,
    ServiceError,
    ServiceKeyRefusedError,
    ServiceQuotaError,
    ServiceRateError,
    ServiceUnreachableError,
)
from citewell.generator.chat_client import ChatClient, CompletionTimeouts
from citewell.generator.completion import CompletionRequest, TokenUsage

from .chat_service import ChatService, Handler, chunk, streamed, whole

MESSAGES = [{"role": "user", "content": "Why is the sky blue?"}]
REQUEST = CompletionRequest(max_tokens=20)
KEY = "sk-very/secret"


def json_answer(value: Any, status: int = 200, **headers: str) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.json_response(value, status=status, headers=headers)

    return handle


def refused(status: int, message: str = "No.", headers: dict[str, str] | None = None, **more: str) -> Handler:
    at_once = {"Retry-After-Ms": "1"}  # which the SDK knows beside Retry-After
    return json_answer({"error": {"message": message} | more}, status, **(headers or at_once))


def body(content: bytes, kind: str = "application/json") -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(body=content, headers={"Content-Type": kind})

    return handle


def stream_of(*pieces: str | bytes) -> Handler:
    async def handle(request: web.Request) -> web.StreamResponse:
        return await streamed(request, *pieces)

    return handle


def client(service: ChatService, **options: Any) -> ChatClient:
    settings: dict[str, Any] = {"key": KEY, "retries": 2} | options
    return ChatClient("tiny", service.url, **settings)


async def pieces(chat: ChatClient, request: CompletionRequest = REQUEST) -> list[str]:
    return [delta.text async for delta in chat.stream(MESSAGES, request) if delta.text]


async def test_an_answer_with_its_reason_and_its_tokens() -> None:
    async with (
        ChatService([json_answer(whole("Air scatters blue light."))]) as service,
        client(service) as chat,
    ):
        answer = await chat.complete(MESSAGES, CompletionRequest(max_tokens=20, temperature=0.5, seed=4))
    assert answer.text == "Air scatters blue light."
    assert (answer.finish_reason, answer.model, answer.usage) == ("stop", "tiny-1", TokenUsage(7, 3))
    sent = service.requests[0]
    assert sent["model"] == "tiny"
    assert sent["messages"] == MESSAGES
    assert (sent["max_tokens"], sent["temperature"], sent["seed"]) == (20, 0.5, 4)
    assert not {"n", "stream"} & sent.keys()
    assert service.headers[0]["Authorization"] == f"Bearer {KEY}"


async def test_without_a_key_none_is_sent() -> None:
    async with ChatService([json_answer(whole("Yes."))]) as service, client(service, key="") as chat:
        await chat.complete(MESSAGES, REQUEST)
    assert "Authorization" not in service.headers[0]


@pytest.mark.parametrize(("text", "finish"), [("", "stop"), (None, "length")])
async def test_an_empty_answer_is_an_answer(text: str | None, finish: str) -> None:
    async with ChatService([json_answer(whole(text, finish))]) as service, client(service) as chat:
        answer = await chat.complete(MESSAGES, REQUEST)
    assert (answer.text, answer.finish_reason) == ("", finish)


async def test_content_in_parts_and_a_declined_answer() -> None:
    parts = whole("")
    parts["choices"][0]["message"]["content"] = [{"type": "text", "text": "One. "}, {"text": "Two."}]
    declined = whole(None)
    declined["choices"][0]["message"]["refusal"] = "I cannot help with that."
    async with ChatService([json_answer(parts), json_answer(declined)]) as service, client(service) as chat:
        assert (await chat.complete(MESSAGES, REQUEST)).text == "One. Two."
        assert (await chat.complete(MESSAGES, REQUEST)).text == "I cannot help with that."


CASES: list[tuple[Handler, type[ServiceError], str, int]] = [
    (refused(401, "Incorrect API key"), ServiceKeyRefusedError, "401 Unauthorized: Incorrect API key", 1),
    (refused(403, "Not in your country"), ServiceKeyRefusedError, "403", 1),
    (refused(402), ServiceQuotaError, "402", 1),
    (refused(429, "You are out of credit", code="insufficient_quota"), ServiceQuotaError, "credit", 3),
    (refused(429, "Slow down"), ServiceRateError, "429 Too Many Requests: Slow down", 3),
    (refused(404, "The model `tiny` does not exist"), ServiceAnswerError, "does not exist", 1),
    (refused(400, "maximum context length is 2048"), ServiceAnswerError, "context length", 1),
    (refused(500), ServiceUnreachableError, "500", 3),
    (refused(503, "loading the model"), ServiceUnreachableError, "loading", 3),
    (json_answer({}, 307, Location="http://127.0.0.1/other"), ServiceAnswerError, "points to", 1),
    (json_answer({"error": {"message": "overloaded", "code": 503}}), ServiceUnreachableError, "overl", 1),
    (body(b"<html>Welcome</html>", "text/html"), ServiceAnswerError, "not a chat completion", 1),
    (body(b'{"choices": []}'), ServiceAnswerError, "not a chat completion", 1),
    (body(b'{"choices": [{"message": "text"}]}'), ServiceAnswerError, "not a chat completion", 1),
    (body(b"[1, 2]"), ServiceAnswerError, "not a chat completion", 1),
    (body(b"[" * 100_000), ServiceAnswerError, "not a chat completion", 1),
    (
        body(json.dumps(whole("é"), ensure_ascii=False).encode("latin-1")),
        ServiceAnswerError,
        "not a chat completion",
        1,
    ),
]


@pytest.mark.parametrize(("handler", "kind", "message", "tries"), CASES)
async def test_refusals_and_bad_answers(
    handler: Handler, kind: type[ServiceError], message: str, tries: int
) -> None:
    async with ChatService([handler]) as service, client(service) as chat:
        with pytest.raises(ServiceError) as caught:
            await chat.complete(MESSAGES, REQUEST)
        assert type(caught.value) is kind
        assert message in caught.value.message
        assert caught.value.hint
        assert len(service.requests) == tries
        with pytest.raises(kind):
            await pieces(chat)


async def test_the_key_is_in_no_error() -> None:
    said = f"The key {KEY} (sk-very%2Fsecret) is wrong."
    async with ChatService([refused(401, said)]) as service, client(service) as chat:
        with pytest.raises(ServiceKeyRefusedError) as caught:
            await chat.complete(MESSAGES, REQUEST)
    assert "secret" not in str(caught.value)
    assert "***" in caught.value.message


async def test_a_key_that_no_header_can_hold() -> None:
    with pytest.raises(ServiceKeyRefusedError, match="no HTTP header"):
        async with ChatClient("tiny", "http://127.0.0.1:9/v1", key="sk-\nx"):
            pass


async def test_what_failed_in_passing_is_sent_again() -> None:
    answers = [refused(503), refused(429), json_answer(whole("At last."))]
    async with ChatService(answers) as service, client(service) as chat:
        assert (await chat.complete(MESSAGES, REQUEST)).text == "At last."
    assert len(service.requests) == 3


async def test_a_service_is_asked_again_when_it_wants() -> None:
    busy = refused(429, headers={"Retry-After": "1"})
    async with ChatService([busy, json_answer(whole("Now."))]) as service, client(service) as chat:
        started = time.monotonic()
        assert (await chat.complete(MESSAGES, REQUEST)).text == "Now."
    assert time.monotonic() - started >= 1


async def test_a_long_wait_is_an_error_at_once() -> None:
    busy = refused(429, headers={"Retry-After": "3600"})
    async with ChatService([busy]) as service, client(service) as chat:
        with pytest.raises(ServiceRateError) as caught:
            await chat.complete(MESSAGES, REQUEST)
    assert caught.value.retry_after == 3600
    assert len(service.requests) == 1


async def test_parameters_that_a_model_refuses_are_left_out_from_then_on() -> None:
    def refuse(name: str) -> Handler:
        return refused(400, f"{name} is not supported", param=name, code="unsupported_parameter")

    answers = [refuse("max_tokens"), refuse("temperature"), json_answer(whole("Yes."))]
    async with ChatService(answers) as service, client(service) as chat:
        assert (await chat.complete(MESSAGES, REQUEST)).text == "Yes."
        await chat.complete(MESSAGES, REQUEST)
    assert len(service.requests) == 4
    for sent in service.requests[2:]:
        assert sent["max_completion_tokens"] == 20
        assert not {"max_tokens", "temperature"} & sent.keys()


async def test_requests_that_are_refused_at_the_same_time_are_all_sent_again() -> None:
    everybody = asyncio.Barrier(3)

    async def reasoning(request: web.Request) -> web.StreamResponse:
        if "max_tokens" not in await request.json():
            return web.json_response(whole("Yes."))
        await everybody.wait()
        refusal = {"message": "Use max_completion_tokens.", "param": "max_tokens"}
        return web.json_response({"error": refusal | {"code": "unsupported_parameter"}}, status=400)

    async with ChatService([reasoning]) as service, client(service) as chat, asyncio.timeout(60):
        answers = await asyncio.gather(*(chat.complete(MESSAGES, REQUEST) for _ in range(3)))
    assert [answer.text for answer in answers] == ["Yes."] * 3


async def test_a_service_that_is_down() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and does not listen
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        async with ChatClient("tiny", url, retries=0) as chat:
            with pytest.raises(ServiceUnreachableError, match="cannot be reached") as caught:
                await chat.complete(MESSAGES, REQUEST)
    assert "generator.base_url" in caught.value.hint


async def test_an_address_that_is_none() -> None:
    with pytest.raises(ServiceAnswerError, match="not a valid URL"):
        async with ChatClient("tiny", "not an address"):
            pass


@pytest.mark.parametrize("streaming", [True, False])
async def test_a_service_that_does_not_answer(streaming: bool) -> None:
    release = asyncio.Event()

    async def hang(request: web.Request) -> web.StreamResponse:
        await release.wait()
        return web.Response()

    timeouts = CompletionTimeouts(first_token=0.1, total=60 if streaming else 0.1)
    async with ChatService([hang]) as service, client(service, timeouts=timeouts, retries=1) as chat:
        with pytest.raises(ServiceUnreachableError, match="too long" if streaming else r"0\.1 s"):
            await (pieces(chat) if streaming else chat.complete(MESSAGES, REQUEST))
        assert len(service.requests) == (2 if streaming else 1)
        release.set()


async def test_a_stream_comes_piece_by_piece() -> None:
    second = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        response = await streamed(request, ": a comment\n\n", chunk(""), chunk("Air "))
        await second.wait()
        await response.write((chunk("scatters.") + chunk("", finish="stop") + "data: [DONE]\n\n").encode())
        return response

    found = []
    async with ChatService([handle]) as service, client(service) as chat:
        async for delta in chat.stream(MESSAGES, REQUEST):
            found.append(delta.text)
            if delta.text == "Air ":
                second.set()
    assert "".join(found) == "Air scatters."
    assert service.requests[0]["stream"] is True


SENT = (chunk("Blåbær ") + chunk("🫐.", finish="stop")).encode()


@pytest.mark.parametrize(
    "parts",
    [
        [SENT[n : n + 1] for n in range(len(SENT))],
        [SENT.replace(b"\n", b"\r\n")],
        [SENT.replace(b"\n", b"\r")],
        [b"\xef\xbb\xbfevent: message\nid: 3\n" + SENT],
        [SENT, b"data: [DONE]\n\n", b"data: garbage\n\n"],
        [SENT, b'data: {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}\n\n'],
    ],
)
async def test_streams_in_all_forms_that_the_standard_allows(parts: list[bytes]) -> None:
    async with ChatService([stream_of(*parts)]) as service, client(service) as chat:
        assert "".join(await pieces(chat)) == "Blåbær 🫐."


async def test_a_service_that_does_not_stream() -> None:
    async with ChatService([json_answer(whole("All at once."))]) as service, client(service) as chat:
        assert await pieces(chat) == ["All at once."]


BROKEN: list[tuple[list[str | bytes], type[ServiceError], str]] = [
    ([chunk("Half an ")], ServiceCutError, "broke off"),
    (["data: {]\n\n"], ServiceAnswerError, "not a chat completion"),
    ([b"data: \xff\xfe\n\n"], ServiceAnswerError, "not a chat completion"),
    (["data: [1]\n\n"], ServiceAnswerError, "not a chat completion"),
    (["data: [DONE]\n\n"], ServiceAnswerError, "empty stream"),
    ([], ServiceAnswerError, "empty stream"),
    (
        ['data: {"error": {"message": "CUDA out of memory", "code": 500}}\n\n'],
        ServiceUnreachableError,
        "CUDA",
    ),
]


@pytest.mark.parametrize(("parts", "kind", "message"), BROKEN)
async def test_streams_that_are_broken(
    parts: list[str | bytes], kind: type[ServiceError], message: str
) -> None:
    async with ChatService([stream_of(*parts)]) as service, client(service) as chat:
        with pytest.raises(ServiceError, match=message) as caught:
            await pieces(chat)
    assert type(caught.value) is kind


async def test_a_stream_that_broke_off_is_not_sent_again() -> None:
    fine = stream_of(chunk("Fine.", finish="stop"))
    async with ChatService([refused(503), fine]) as service, client(service) as chat:
        assert await pieces(chat) == ["Fine."]
    async with ChatService([stream_of(chunk("Half ")), fine]) as service, client(service) as chat:
        with pytest.raises(ServiceCutError):
            await pieces(chat)
    assert len(service.requests) == 1


async def test_a_stream_that_stalls_within_the_answer() -> None:
    release = asyncio.Event()

    async def stall(request: web.Request) -> web.StreamResponse:
        response = await streamed(request, chunk("Half "), ": still here\n\n")
        await release.wait()
        return response

    timeouts = CompletionTimeouts(first_token=5.0, token=0.1)
    async with ChatService([stall]) as service, client(service, timeouts=timeouts) as chat:
        with pytest.raises(ServiceCutError, match=r"next token within 0\.1 s"):
            await pieces(chat)
        release.set()


async def test_a_stream_whose_first_token_does_not_come() -> None:
    release = asyncio.Event()

    async def think(request: web.Request) -> web.StreamResponse:
        response = await streamed(request, chunk(""))
        while not release.is_set():
            await response.write(b": still here\n\n")
            await asyncio.sleep(0.01)
        return response

    timeouts = CompletionTimeouts(first_token=0.1)
    async with ChatService([think]) as service, client(service, timeouts=timeouts) as chat:
        with pytest.raises(ServiceUnreachableError, match=r"first token within 0\.1 s"):
            await pieces(chat)
        release.set()


async def test_an_answer_that_takes_too_long_as_a_whole() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = await streamed(request)
        while True:
            await response.write(chunk("word ").encode())
            await asyncio.sleep(0.005)

    timeouts = CompletionTimeouts(total=0.2)
    async with ChatService([endless]) as service, client(service, timeouts=timeouts) as chat:
        with pytest.raises(ServiceCutError, match=r"answer within 0\.2 s"):
            await pieces(chat)


async def test_closing_a_stream_ends_the_request() -> None:
    ended = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        response = await streamed(request)
        try:
            while True:
                await response.write(chunk("word ").encode())
                await asyncio.sleep(0.005)
        finally:
            ended.set()

    async with ChatService([handle]) as service, client(service) as chat:
        async with aclosing(chat.stream(MESSAGES, REQUEST)) as stream:
            await anext(stream)
        async with asyncio.timeout(60):
            await ended.wait()


async def test_no_more_requests_than_allowed_at_the_same_time(
    count: Callable[[], tuple[list[int], Handler]],
) -> None:
    most, handler = count()
    async with ChatService([handler]) as service, client(service, concurrency=2) as chat:
        answers = await asyncio.gather(*(chat.complete(MESSAGES, REQUEST) for _ in range(7)))
    assert len(answers) == 7
    assert max(most) == 2


@pytest.fixture
def count() -> Callable[[], tuple[list[int], Handler]]:
    """A handler that keeps how many requests it had at the same time."""

    def make() -> tuple[list[int], Handler]:
        now = 0
        seen: list[int] = []

        async def handle(request: web.Request) -> web.StreamResponse:
            nonlocal now
            now += 1
            seen.append(now)
            await asyncio.sleep(0.01)
            now -= 1
            return web.json_response(whole("Yes."))

        return seen, handle

    return make
