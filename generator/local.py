"""The local generator: a causal language model on CTranslate2, int8, on the CPU."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from core.errors import ModelError
from core.events import Token
from core.types import Reference
from generator.prompt import Message, build_messages

_REPETITION_PENALTY = 1.1
_REPLACEMENT = "\ufffd"  # what an incomplete character decodes to


class LocalGenerator:
    """An instruction-tuned model in the CTranslate2 format that `core.conversion.converted` makes.

    One candidate is decoded greedily; several are sampled, and share the computation of the prompt.
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
        import ctranslate2
        from tokenizers import Tokenizer

        self.name = name
        try:
            self._model = ctranslate2.Generator(
                str(folder), compute_type="int8_float32", inter_threads=1, intra_threads=threads
            )
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._template = _chat_template(folder)
            added = self._tokenizer.get_added_tokens_decoder().values()
            self._control_tokens = [token.content for token in added if token.special]
        except Exception as error:  # tokenizers raises bare Exception
            raise ModelError(
                f"The model {name} cannot be used as a generator: {error}",
                "Use an instruction-tuned causal language model, or --generator extractive.",
            ) from error
        config = json.loads((folder / "source_config.json").read_text(encoding="utf-8"))
        context = int(config.get("max_position_embeddings", 2048))
        self._answer_tokens = min(answer_tokens, context // 2)
        self._prompt_tokens = min(prompt_tokens, context - self._answer_tokens)
        self._temperature = temperature
        self._random = ctranslate2.set_random_seed
        self._seed = seed

    async def generate(
        self, question: str, references: Sequence[Reference], n: int
    ) -> AsyncGenerator[Token, None]:
        """Stream `n` candidates; closing the iterator stops the model at its next token."""
        messages = build_messages(
            question, references, budget=self._prompt_tokens, count=self._count, cut=self._cut
        )
        prompt = self._tokenizer.encode(self._render(messages), add_special_tokens=False).tokens
        loop = asyncio.get_running_loop()
        steps: asyncio.Queue[tuple[int, int] | None] = asyncio.Queue()
        cancelled = threading.Event()

        def on_step(step: Any) -> bool:
            loop.call_soon_threadsafe(steps.put_nowait, (step.batch_id, step.token_id))
            return cancelled.is_set()

        def run() -> None:
            try:
                self._decode(prompt, n, on_step)
            finally:
                loop.call_soon_threadsafe(steps.put_nowait, None)

        work = asyncio.create_task(asyncio.to_thread(run))
        texts = [_Text(self._tokenizer) for _ in range(n)]
        try:
            while (step := await steps.get()) is not None:
                candidate, token = step
                if piece := texts[candidate].add(token):
                    yield Token(piece, candidate)
            await work
        finally:
            cancelled.set()

    def prompt_text(self, question: str, references: Sequence[Reference]) -> str:
        """The whole prompt as the model reads it, for looking at and for measuring."""
        return self._render(
            build_messages(question, references, budget=self._prompt_tokens, count=self._count, cut=self._cut)
        )

    def _decode(self, prompt: list[str], n: int, on_step: Any) -> None:
        self._random(self._seed)
        sampling = {"sampling_topk": 0, "sampling_topp": 0.95, "sampling_temperature": self._temperature}
        self._model.generate_batch(
            [prompt[-1:]] * n,
            static_prompt=prompt[:-1],
            cache_static_prompt=False,
            max_length=self._answer_tokens,
            include_prompt_in_result=False,
            repetition_penalty=_REPETITION_PENALTY,
            callback=on_step,
            **(sampling if n > 1 else {}),
        )

    def _render(self, messages: Sequence[Message]) -> str:
        text: str = self._template.render(
            messages=[message | {"content": self._inert(message["content"])} for message in messages],
            add_generation_prompt=True,
        )
        return text

    def _inert(self, text: str) -> str:
        # A page that spells out a control token must not end the user's turn.
        for token in self._control_tokens:
            text = text.replace(token, " ")
        return text

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _cut(self, text: str, tokens: int) -> str:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return text if len(encoding.ids) <= tokens else text[: encoding.offsets[tokens - 1][1]] + "…"


class _Text:
    """Turns tokens into pieces of text, holding back characters whose bytes are not all there."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._ids: list[int] = []
        self._given = 0

    def add(self, token: int) -> str:
        self._ids.append(token)
        text: str = self._tokenizer.decode(self._ids, skip_special_tokens=True)
        if text.endswith(_REPLACEMENT):
            return ""
        piece = text[self._given :]
        self._given = len(text)
        return piece


def _chat_template(folder: Path) -> Any:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    file = folder / "chat_template.jinja"
    if file.is_file():
        template = file.read_text(encoding="utf-8")
    else:
        config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        if "chat_template" not in config:
            raise ValueError("it has no chat template, so it was not tuned to follow instructions")
        template = config["chat_template"]
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template)
