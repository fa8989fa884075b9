"""The generator that asks a model over an API of chat completions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from citewell.core.events import Token
from citewell.core.types import Reference
from citewell.generator.causal import Sampling
from citewell.generator.completer import ChatCompleter, Completer
from citewell.generator.completion import CompletionRequest
from citewell.generator.estimate import cut_to, estimate_tokens
from citewell.generator.prompt import PromptForm, build_messages
from citewell.generator.yes import ApiYesModel, YesModel

if TYPE_CHECKING:
    from citewell.generator.chat_client import ChatClient


@dataclass(frozen=True, slots=True)
class _FailedPiece:
    error: Exception


class OpenAiGenerator:
    """A generator that streams answers from a `ChatClient`, with one concurrent request per candidate.

    With `together`, they are one request with the parameter `n`, which vLLM and OpenAI support; servers that
    ignore it write only one candidate.
    """

    def __init__(
        self,
        client: ChatClient,
        *,
        prompt_tokens: int,
        answer_tokens: int,
        sampling: Sampling,
        form: PromptForm | None = None,
        together: bool = False,
    ) -> None:
        """Ask with `client`, which the caller opens and closes.

        The prompt's tokens are estimated from its bytes. A single candidate has the temperature 0; several
        use `sampling`, each with the next seed. `frequency_penalty` is left to the server.
        """
        self.name = f"openai:{client.model}"
        self._client = client
        self._prompt_tokens = prompt_tokens
        self._request = CompletionRequest(
            max_tokens=answer_tokens, temperature=sampling.temperature, seed=sampling.seed
        )
        self._form = form or PromptForm()
        self._together = together
        self.yes_model: YesModel | None = ApiYesModel(client)
        self.completer: Completer | None = ChatCompleter(client)
        self.refuses = False

    async def generate(
        self,
        question: str,
        references: Sequence[Reference],
        n: int,
        *,
        first: int = 0,
        likely: float | None = None,
    ) -> AsyncGenerator[Token, None]:
        """Stream `n` candidates; closing the iterator ends the requests.

        Raises a `ServiceError` if one of the requests fails.
        """
        messages = build_messages(
            question,
            references,
            budget=self._prompt_tokens,
            count=estimate_tokens,
            cut=cut_to,
            form=self._form,
        )
        asked = replace(self._request, temperature=0.0) if n == 1 else self._request
        seed = (asked.seed or 0) + first
        if n == 1 or self._together:
            requests = {first: replace(asked, n=n, seed=seed)}
        else:
            requests = {first + one: replace(asked, seed=seed + one) for one in range(n)}
        pieces: asyncio.Queue[Token | _FailedPiece | None] = asyncio.Queue()

        async def ask(candidate: int, request: CompletionRequest) -> None:
            try:
                async with aclosing(self._client.stream(messages, request)) as deltas:
                    async for delta in deltas:
                        if delta.text:
                            pieces.put_nowait(Token(delta.text, candidate + delta.index))
            except Exception as error:  # noqa: BLE001 - raised again where the answer is read
                pieces.put_nowait(_FailedPiece(error))
            else:
                pieces.put_nowait(None)

        tasks = [asyncio.create_task(ask(*request)) for request in requests.items()]
        try:
            left = len(tasks)
            while left:
                piece = await pieces.get()
                if isinstance(piece, _FailedPiece):
                    raise piece.error
                if piece is None:
                    left -= 1
                else:
                    yield piece
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
