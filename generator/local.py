"""The local generator: a causal language model in this process, on the CPU."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from core.errors import ModelError
from core.events import Token
from core.gguf import DESCRIPTION, TEMPLATE
from core.types import Reference
from generator.openvino import OpenVinoModel, Sampling
from generator.prompt import Message, build_messages


class LocalGenerator:
    """An instruction-tuned model in the form that `core.conversion.converted` makes of a GGUF file.

    One candidate is decoded greedily and streamed token by token. Several are sampled, share the
    computation of the prompt, and each comes as one piece when all are written.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        prompt_tokens: int,
        answer_tokens: int,
        temperature: float,
        seed: int,
        threads: int,
    ) -> None:
        """Load the model. Raises `ModelError` when the folder holds no causal language model.

        `prompt_tokens` and `answer_tokens` bound what is read and written, also by the model's own
        context; `threads` is CPU threads.
        """
        self.name = name
        try:
            about = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
            self._template = _chat_template((folder / TEMPLATE).read_text(encoding="utf-8"))
            self._model = OpenVinoModel(folder, threads=threads)
        except (OSError, RuntimeError, ValueError) as error:
            raise ModelError(
                f"The model {name} cannot be used as a generator: {error}",
                "Use the GGUF file of an instruction-tuned model, or --generator extractive.",
            ) from error
        self._control_tokens: list[str] = about["control"]
        self._stop: list[int] = about["stop"]
        self._bos: str = about["bos"]
        self._answer_tokens = min(answer_tokens, about["context"] // 2)
        self._prompt_tokens = min(prompt_tokens, about["context"] - self._answer_tokens)
        self._sampling = Sampling(temperature, seed)

    async def generate(
        self, question: str, references: Sequence[Reference], n: int
    ) -> AsyncGenerator[Token, None]:
        """Stream `n` candidates; closing the iterator stops the model at its next token."""
        prompt = self.prompt_text(question, references)
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[tuple[int, Sequence[int]] | None] = asyncio.Queue()
        cancelled = threading.Event()

        def seen(candidate: int, tokens: Sequence[int]) -> None:
            loop.call_soon_threadsafe(steps.put_nowait, (candidate, tokens))

        def run() -> None:
            try:
                self._model.write(
                    prompt,
                    n,
                    most=self._answer_tokens,
                    stop=self._stop,
                    sampling=self._sampling,
                    seen=seen,
                    cancelled=cancelled,
                )
            finally:
                loop.call_soon_threadsafe(steps.put_nowait, None)

        work = asyncio.create_task(asyncio.to_thread(run))
        texts = [_Text(self._model) for _ in range(n)]
        try:
            while (step := await steps.get()) is not None:
                candidate, tokens = step
                if piece := texts[candidate].add(tokens):
                    yield Token(piece, candidate)
            await work
        finally:
            cancelled.set()

    def prompt_text(self, question: str, references: Sequence[Reference]) -> str:
        """The whole prompt as the model reads it, for looking at and for measuring."""
        return self._render(
            build_messages(question, references, budget=self._prompt_tokens, count=self._count, cut=self._cut)
        )

    def _render(self, messages: Sequence[Message]) -> str:
        text: str = self._template.render(
            messages=[message | {"content": self._inert(message["content"])} for message in messages],
            add_generation_prompt=True,
            bos_token=self._bos,
            enable_thinking=False,  # Qwen 3 would spend the answer's tokens on thinking aloud
        )
        return text

    def _inert(self, text: str) -> str:
        # A page that spells out a control token must not end the user's turn.
        for token in self._control_tokens:
            text = text.replace(token, " ")
        return text

    def _count(self, text: str) -> int:
        return len(self._model.encode(text))

    def _cut(self, text: str, tokens: int) -> str:
        encoded = self._model.encode(text)
        if len(encoded) <= tokens:
            return text
        kept = tokens - 1  # a token of room for the ellipsis
        return self._model.decode(encoded[:kept]) + "…" if kept > 0 else ""


class _Text:
    """Turns tokens into pieces of text, holding back characters whose bytes are not all there."""

    def __init__(self, model: OpenVinoModel) -> None:
        self._model = model
        self._tokens: list[int] = []
        self._given = 0

    def add(self, tokens: Sequence[int]) -> str:
        self._tokens.extend(tokens)
        text = self._model.decode(self._tokens)
        piece = text[self._given :]
        self._given = len(text)
        return piece


def _chat_template(source: str) -> Any:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source)
