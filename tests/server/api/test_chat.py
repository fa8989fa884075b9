"""The real `openai` package gets cited answers from the service, whole and as streams."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from benchmarks.small_service import BATS
from tests.generator.chat_service import yes_or_no
from tests.server.api.conftest import Search, Service, Start, make_key
from tests.server.local import ReplyHandler, answering


def client_of(service: Service, key: str = "none") -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{service.url}/v1", api_key=key, max_retries=0, timeout=120)


@pytest.fixture
def client(service: Service) -> Iterator[openai.OpenAI]:
    with client_of(service) as client:
        yield client


def ask(client: openai.OpenAI, text: str = BATS, **more: Any) -> ChatCompletion:
    return client.chat.completions.create(
        model="citewell", messages=[{"role": "user", "content": text}], **more
    )


def stream(client: openai.OpenAI, text: str = BATS, **more: Any) -> list[ChatCompletionChunk]:
    messages: Any = [{"role": "user", "content": text}]
    return list(client.chat.completions.create(model="citewell", messages=messages, stream=True, **more))


def text_of(completion: ChatCompletion) -> str:
    content = completion.choices[0].message.content
    assert content is not None
    return content


def test_an_answer_has_footnotes_and_all_that_the_service_knows(
    client: openai.OpenAI, service: Service
) -> None:
    completion = ask(client)
    answer, _, footnotes = text_of(completion).partition("\n\n")
    assert "echolocation. [1]" in answer
    assert footnotes == "- [1] Bats, <https://notes.example/bats>"
    assert completion.choices[0].finish_reason == "stop"
    assert completion.model == "citewell-extractive"
    assert completion.model_extra is not None
    extra = completion.model_extra["citewell"]
    kept = service.client.get(f"/v1/answers/{extra['id']}").json()
    assert kept["answer"] == answer
    for name in ("outcome", "sentences", "references", "failures", "timings", "models"):
        assert extra[name] == kept[name]
    assert completion.id == f"chatcmpl-{extra['id']}"
    assert extra["notices"] == []


def test_usage_is_what_the_documentation_says(client: openai.OpenAI) -> None:
    completion = ask(client)
    assert completion.usage is not None
    assert completion.usage.prompt_tokens == -(-len(BATS.encode()) // 3)
    assert completion.usage.completion_tokens == -(-len(text_of(completion).encode()) // 3)
    assert completion.usage.total_tokens == (
        completion.usage.prompt_tokens + completion.usage.completion_tokens
    )


def test_a_stream_is_the_same_answer(client: openai.OpenAI) -> None:
    chunks = stream(client, "What are the tides caused by?", stream_options={"include_usage": True})
    whole = ask(client, "What are the tides caused by?")
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == text_of(whole)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks[:-1]] == [None] * (len(chunks) - 2) + ["stop"]
    assert chunks[-1].choices == []
    assert chunks[-1].usage == whole.usage
    extra = (chunks[-2].model_extra or {})["citewell"]
    assert extra["references"] == (whole.model_extra or {})["citewell"]["references"]
    assert {chunk.id for chunk in chunks} == {f"chatcmpl-{extra['id']}"}


def test_a_stream_brings_usage_only_where_it_is_asked_for(client: openai.OpenAI) -> None:
    chunks = stream(client)
    assert all(chunk.usage is None for chunk in chunks)
    assert chunks[-1].choices[0].finish_reason == "stop"


async def test_the_asynchronous_client_streams_too(service: Service) -> None:
    async with openai.AsyncOpenAI(base_url=f"{service.url}/v1", api_key="none", max_retries=0) as client:
        chunks = await client.chat.completions.create(
            model="citewell", messages=[{"role": "user", "content": BATS}], stream=True
        )
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in chunks])
    assert "echolocation. [1]" in text


def test_it_is_the_desk_of_other_questions(service: Service, client: openai.OpenAI) -> None:
    question = "Who thickens nectar with their wings?"
    answer = service.ask(question, fresh=True).json()
    extra = (ask(client, question).model_extra or {})["citewell"]
    assert extra["cached"]
    assert extra["sentences"] == answer["sentences"]


def test_without_evidence_the_text_says_so(client: openai.OpenAI) -> None:
    completion = ask(client, "Who won the chess championship of Ruritania in 1887?")
    extra = (completion.model_extra or {})["citewell"]
    assert extra["outcome"] == "no_evidence"
    assert text_of(completion).startswith("No evidence")
    assert "[1]" not in text_of(completion)


def test_a_follow_up_is_completed_by_the_messages_before(client: openai.OpenAI) -> None:
    messages: Any = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": [{"type": "text", "text": BATS}, {"type": "image_url", "image_url": {}}]},
        {"role": "assistant", "content": "By echolocation. [1]\n\n- [1] Bats, <https://notes.example/bats>"},
        {"role": "user", "content": [{"type": "text", "text": "What do they send out?"}]},
    ]
    completion = client.chat.completions.create(
        model="citewell-extractive", messages=messages, temperature=0.2, max_tokens=10, user="somebody"
    )
    assert "calls" in text_of(completion)
    assert text_of(completion).endswith("\n\nNote: Answered as: What do bats send out?")
    extra = (completion.model_extra or {})["citewell"]
    assert extra["rewritten"] == "What do bats send out?"
    assert extra["notices"] == [
        "System prompts are ignored.",
        "These parameters are ignored: temperature, max_tokens.",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 2),
        ("stop", ["."]),
        ("logprobs", True),
        ("logit_bias", {"50256": -100}),
        ("response_format", {"type": "json_object"}),
        ("modalities", ["text", "audio"]),
        ("tools", [{"type": "function", "function": {"name": "weather", "parameters": {}}}]),
        ("functions", [{"name": "weather", "parameters": {}}]),
    ],
)
def test_what_would_change_the_answer_is_refused(client: openai.OpenAI, name: str, value: Any) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        ask(client, **{name: value})
    assert caught.value.param == name
    assert caught.value.code == "unsupported_parameter"
    assert caught.value.type == "invalid_request_error"
    assert f"`{name}`" in str(caught.value)


def test_what_changes_nothing_is_accepted(client: openai.OpenAI) -> None:
    completion = ask(
        client,
        n=1,
        stop=[],
        tools=[],
        logprobs=False,
        response_format={"type": "text"},
        modalities=["text"],
        store=False,
        metadata={"topic": "bats"},
        user="somebody",
    )
    assert (completion.model_extra or {})["citewell"]["notices"] == []


def test_fields_of_the_service_are_honored_and_unknown_ones_refused(client: openai.OpenAI) -> None:
    own = {"k": 1, "collection": "notes", "mode": "answer", "fresh": True}
    extra = (ask(client, extra_body=own).model_extra or {})["citewell"]
    assert len(extra["references"]) == 1
    assert not extra["cached"]
    with pytest.raises(openai.BadRequestError, match="unknown") as unknown:
        ask(client, extra_body={"top_k": 40})
    assert unknown.value.param == "top_k"
    with pytest.raises(openai.NotFoundError, match="Collections: notes"):
        ask(client, extra_body={"collection": "nets"})


def test_a_model_may_be_a_collection(client: openai.OpenAI) -> None:
    assert client.models.retrieve("citewell/notes").id == "citewell/notes"
    messages: Any = [{"role": "user", "content": BATS}]
    completion = client.chat.completions.create(model="citewell/notes", messages=messages)
    assert completion.model == "citewell/notes"
    assert (completion.model_extra or {})["citewell"]["models"]["search"] == "collection:notes"
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="citewell/nets", messages=messages)
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError):
        ask(client, extra_body={"collection": "notes", "model": "citewell/notes"})


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([], "invalid_value"),
        ([{"role": "assistant", "content": "Ask me."}], "invalid_value"),
        ([{"role": "user", "content": "  "}], "invalid_value"),
        ([{"role": "nobody", "content": "Why?"}], "invalid_value"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.example"}}]}],
            "unsupported_parameter",
        ),
    ],
)
def test_a_conversation_without_a_question_is_refused(
    client: openai.OpenAI, messages: Any, code: str
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="citewell", messages=messages)
    assert caught.value.code == code
    assert caught.value.body is not None


def test_models_are_listed_and_an_unknown_one_is_refused(client: openai.OpenAI) -> None:
    known = [model.id for model in client.models.list()]
    assert known == ["citewell", "citewell-extractive", "citewell/notes"]
    assert client.models.retrieve("citewell").owned_by == "citewell"
    with pytest.raises(openai.NotFoundError) as caught:
        client.models.retrieve("gpt-4o")
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError, match="citewell-extractive"):
        client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": BATS}])


def test_keys_are_checked(start: Start) -> None:
    service = start()
    key = make_key(service, "ask")["Authorization"].removeprefix("Bearer ")
    other = make_key(service, "feedback")["Authorization"].removeprefix("Bearer ")
    assert "echolocation" in text_of(ask(client_of(service, key)))
    with pytest.raises(openai.AuthenticationError) as wrong:
        ask(client_of(service, key[:-4] + "AAAA"))
    assert wrong.value.code == "invalid_api_key"
    assert wrong.value.response.headers["WWW-Authenticate"].startswith("Bearer")
    with pytest.raises(openai.PermissionDeniedError) as lacking:
        client_of(service, other).models.list()
    assert lacking.value.code == "wrong_scope"


def test_the_limit_of_a_key_is_told(start: Start) -> None:
    service = start()
    key = make_key(service, "ask", rate_per_minute=1)["Authorization"].removeprefix("Bearer ")
    ask(client_of(service, key))
    with pytest.raises(openai.RateLimitError) as caught:
        stream(client_of(service, key))
    assert caught.value.code == "rate_limit_exceeded"
    assert 1 <= int(caught.value.response.headers["Retry-After"]) <= 60


def test_overload_is_told_before_a_stream_begins(slow: Service, search: Search) -> None:
    with ThreadPoolExecutor(2) as pool, client_of(slow) as client:
        first = pool.submit(stream, client, "One?")
        search.await_question()
        second = pool.submit(stream, client, "Two?")
        until(lambda: slow.client.get("/ready").json()["waiting"] == 1)
        for ask_again in (ask, stream):
            with pytest.raises(openai.RateLimitError) as caught:
                ask_again(client, "Three?")
            assert caught.value.code == "queue_full"
            assert caught.value.type == "rate_limit_error"
            assert int(caught.value.response.headers["Retry-After"]) >= 1
        search.gate.set()
        for chunks in (first.result(), second.result()):
            assert chunks[-1].choices[0].finish_reason == "stop"


def test_an_error_in_a_stream_is_raised_by_the_client(start: Start) -> None:
    service = start(search__providers="searxng", search__searxng_url="http://127.0.0.1:1")
    with pytest.raises(openai.APIError, match="SearXNG") as caught:
        stream(client_of(service), "Why?")
    assert caught.value.type == "server_error"
    with pytest.raises(openai.InternalServerError):
        ask(client_of(service), "Why?")


def test_a_client_that_leaves_a_stream_cancels_its_question(slow: Service, search: Search) -> None:
    with client_of(slow) as client:
        messages: Any = [{"role": "user", "content": "Why?"}]
        chunks = client.chat.completions.create(model="citewell", messages=messages, stream=True)
        next(chunks)
        search.await_question()
        chunks.close()
    until(lambda: slow.client.get("/v1/answers").json()["answers"][0]["status"] == "cancelled")
    assert slow.client.get("/ready").json()["running"] == 0


@dataclass
class Model:
    """A language model elsewhere that stops in its second sentence until it is told to go on."""

    url: str
    gate: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def model() -> Iterator[Model]:
    class Handler(ReplyHandler):
        def do_POST(self) -> None:  # noqa: N802 - http.server calls it
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.write("Bats find their way in the dark by echo", "location [3]. A bat")
            found.gate.wait(20)
            self.write(" sends out short calls.", finish="stop")
            self.wfile.write(b"data: [DONE]\n\n")

        def write(self, *pieces: str, finish: str | None = None) -> None:
            for piece in pieces:
                chunk = {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": finish}]}
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    with answering(Handler) as url:
        found = Model(f"{url}/v1")
        yield found
        found.gate.set()


def test_a_checked_sentence_arrives_while_the_next_one_is_written(start: Start, model: Model) -> None:
    service = start(generator__name="openai:small", generator__base_url=model.url)
    messages: Any = [{"role": "user", "content": BATS}]
    with client_of(service) as client:
        assert [known.id for known in client.models.list()] == [
            "citewell",
            "citewell-openai-small",
            "citewell-extractive",
            "citewell/notes",
        ]
        chunks = client.chat.completions.create(model="citewell", messages=messages, stream=True)
        early = next(text for chunk in chunks if (text := chunk.choices[0].delta.content))
        assert early == "Bats find their way in the dark by echolocation. [1]"
        model.gate.set()
        rest = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        written = ask(client)
        assert early + rest == text_of(written)
        assert written.model == "citewell-openai-small"
        quoted = client.chat.completions.create(model="citewell-extractive", messages=messages)
        assert quoted.model == "citewell-extractive"
        assert (quoted.model_extra or {})["citewell"]["models"]["generator"] == "extractive"


def until(holds: Callable[[], bool]) -> None:
    """Wait for what the service does after it has answered; there is no event for it."""
    for _ in range(1000):
        if holds():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it did not come to pass")


def test_what_a_model_still_has_to_judge_is_not_streamed(start: Start) -> None:
    class Handler(ReplyHandler):
        def do_POST(self) -> None:  # noqa: N802 - http.server calls it
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            if asked.get("logprobs"):
                # The words of the first sentence are all there, but no reference says this.
                claim = asked["messages"][-1]["content"].partition("Claim")[2]
                yes = 0.1 if "by human ears" in claim else 0.9
                self.wfile.write(json.dumps(yes_or_no(yes)).encode())
                return
            text = (
                "Bats find their way in the dark by human ears. Bats listen to echoes that come back. "
                "A bat sends out short calls. "
            )
            choice = {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
            self.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\ndata: [DONE]\n\n".encode())

    with answering(Handler) as url:
        service = start(
            generator__name="openai:small", generator__base_url=f"{url}/v1", citations__judge="writer"
        )
        with client_of(service) as client:
            chunks = stream(client)
    texts = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices[0].delta.content]
    assert len(texts) == 1
    sentences = (chunks[-1].model_extra or {})["citewell"]["sentences"]
    assert [sentence["supported"] for sentence in sentences] == [False, True, True]
    assert "by human ears" in texts[0]
    assert "The final answer" not in texts[0]
