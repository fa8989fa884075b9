"""Short completions of any messages, constrained by a grammar, for policies of the text browser."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from citewell.core.http_service import JsonObject
from citewell.core.threads import in_own_thread
from citewell.generator.causal import CausalModel, Sampling, rendered
from citewell.generator.completion import CompletionRequest
from citewell.generator.estimate import estimate_tokens
from citewell.generator.prompt import Message

if TYPE_CHECKING:
    from citewell.generator.chat_client import ChatClient


class CompletedText(NamedTuple):
    """A completion, and its number of tokens; `cut` says that the limit of tokens ended it."""

    text: str
    tokens: int
    cut: bool


class Completer(Protocol):
    """A writer of one completion at a time."""

    name: str

    def count(self, text: str) -> int:
        """Count or estimate the tokens of a text."""
        ...

    async def complete(
        self, messages: Sequence[Message], *, most: int, sampling: Sampling, grammar: str = ""
    ) -> CompletedText:
        """Return a completion of at most `most` tokens, greedy unless `sampling` has `single`.

        It follows the grammar (xgrammar's EBNF) if the backend supports one.
        """
        ...


class LocalCompleter:
    """A completer with a model in this process."""

    def __init__(self, model: CausalModel, name: str) -> None:
        """Complete with `model`, which may be shared."""
        self.name = name
        self._model = model

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        return len(self._model.encode(text))

    async def complete(
        self, messages: Sequence[Message], *, most: int, sampling: Sampling, grammar: str = ""
    ) -> CompletedText:
        """Return a completion; cancelling stops the model at its next token."""
        tokens: list[int] = []
        cancelled = threading.Event()

        def write() -> None:
            self._model.write(
                rendered(self._model, messages),
                1,
                most=most,
                sampling=sampling,
                seen=lambda _, found: tokens.extend(found),
                cancelled=cancelled,
                grammar=grammar,
            )

        await in_own_thread(write, stop=cancelled.set)
        return CompletedText(self._model.decode(tokens), len(tokens), len(tokens) >= most)


class ChatCompleter:
    """A completer with a `ChatClient`, which the caller opens and closes.

    `grammar_as` is the form of grammars for the service: as `structured_outputs` (vLLM), or as another member
    of the body, such as `grammar` (llama.cpp). Without it, no grammar is sent.
    """

    def __init__(self, client: ChatClient, *, grammar_as: str = "") -> None:
        """Complete with the client's model."""
        self.name = f"openai:{client.model}"
        self._client = client
        self._grammar_as = grammar_as

    def count(self, text: str) -> int:
        """Estimate the tokens of a text, rather too high."""
        return estimate_tokens(text)

    async def complete(
        self, messages: Sequence[Message], *, most: int, sampling: Sampling, grammar: str = ""
    ) -> CompletedText:
        """Return a completion; raises a `ServiceError` if the service gives none."""
        temperature = sampling.temperature if sampling.draws(1) else 0.0
        extra = self._extra_body(grammar) if grammar and self._grammar_as else {}
        request = CompletionRequest(
            max_tokens=most, temperature=temperature, seed=sampling.seed, extra_body=extra
        )
        done = await self._client.complete(messages, request)
        tokens = done.usage.answer_tokens if done.usage else estimate_tokens(done.text)
        return CompletedText(done.text, tokens, done.finish_reason == "length")

    def _extra_body(self, grammar: str) -> JsonObject:
        if self._grammar_as == "structured_outputs":
            return {"structured_outputs": {"grammar": grammar}}
        return {self._grammar_as: grammar}
