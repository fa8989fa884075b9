"""A causal language model in OpenVINO, on the CPU: text to tokens, tokens to tokens, and back.

Of eight ways to run SmolLM2-135M on two cores, measured by `benchmarks.generation_engines`, OpenVINO wrote
fastest; `benchmarks.engine_agreement` measures how often float32 prefers the same token.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from citewell.core.errors import ModelError
from citewell.core.gguf import DESCRIPTION, TEMPLATE
from citewell.core.memory import check_memory, language_model_memory
from citewell.generator.causal import NO, YES, PromptTooLongError, RefusalRule, Sampling, Seen, YesAnswer
from citewell.generator.constrained import ConstrainedWriter
from citewell.generator.decoder import CachedText, PagedDecoder, Read
from citewell.generator.decoding import TokenChoice, log_probabilities, share, write_on
from citewell.generator.kept_beginning import KeptBeginning
from citewell.generator.prompt import Message
from citewell.generator.shared_steps import Logits, SharedSteps, Steps, StoppedError

CONCURRENCY = 8
"""The texts that are written together if nothing else is said."""

_CONTEXT = 4096
# Characters that never exceed the 8,192 tokens at which the tokenizer drops the start of a text.
_PIECE = 2048


def open_openvino(
    folder: Path,
    name: str,
    *,
    threads: int,
    concurrency: int = CONCURRENCY,
    judge: Path | None = None,
) -> OpenVinoModel:
    """Load the model `name` from a folder that `citewell.core.conversion.converted` filled.

    It writes at most `concurrency` texts at a time, and judges with the adapter `judge`. Raises `ModelError`
    if the folder holds no causal language model, and `MemoryTooSmallError`.
    """
    weights = folder / "openvino_model.bin"
    if weights.is_file():
        check_memory(name, language_model_memory(weights.stat().st_size))
    try:
        return OpenVinoModel(folder, threads=threads, concurrency=concurrency, judge=judge)
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"The model {name} cannot be used as a generator: {error}",
            "Use the GGUF file of an instruction-tuned model, or --generator extractive.",
        ) from error


class OpenVinoModel:
    """The model in a folder of OpenVINO files. Calls from several threads share its steps."""

    def __init__(
        self, folder: Path, *, threads: int, concurrency: int = CONCURRENCY, judge: Path | None = None
    ) -> None:
        """Load the model, its tokenizer, and the adapter that it judges with if there is one.

        Raises `RuntimeError`, `OSError` or `ValueError` if the folder holds none, and `ModelError` for an
        adapter of another model.
        """
        import openvino_genai

        about = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        self.concurrency = concurrency
        self.context: int = min(about["context"], _CONTEXT)
        self.control_tokens: Sequence[str] = about["control"]
        self._stop: list[int] = about["stop"]
        self._bos: str = about["bos"]
        self._template = chat_template((folder / TEMPLATE).read_text(encoding="utf-8"))
        self._tokenizer = openvino_genai.Tokenizer(str(folder))
        self._decoder = PagedDecoder(folder, threads=threads, adapter=judge)
        self._judge = judge
        self._steps = SharedSteps(self._decoder, texts=concurrency)
        self._folder, self._threads = folder, threads
        self._grammar_turn = threading.Lock()

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text; a text of thousands of characters may have a few too many."""
        tokens: list[int] = []
        for start in range(0, len(text), _PIECE):
            tokens += self._encode(text[start : start + _PIECE]).data[0].tolist()
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, without control tokens and without an incomplete last character."""
        text: str = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
        return text

    def render(self, messages: Sequence[Message]) -> str:
        """Render messages by the model's chat template, up to the answer's first token."""
        text: str = self._template.render(
            messages=messages,
            add_generation_prompt=True,
            bos_token=self._bos,
            enable_thinking=False,  # Qwen 3 would spend the answer's tokens on thinking aloud
        )
        return text

    def read_ahead(self, beginning: str, *, cancelled: threading.Event) -> None:
        """Know a text with which prompts will begin, ending at a control token.

        What was read is kept beside the model, so that another process need not read it again. Setting
        `cancelled` stops the model.
        """
        tokens: list[int] = self._encode(beginning).data[0].tolist()
        kept = KeptBeginning(self._folder, tokens)
        with suppress(OSError):
            if self._steps.alone(kept.restore):
                return

        def ended(row: CachedText, logits: Logits) -> Steps[None]:
            yield from ()

        with suppress(StoppedError, OSError):  # such as a full disk
            self._steps.run([*tokens, *self.encode(".")], ended, cancelled=cancelled)
            self._steps.alone(kept.save)

    def write(
        self,
        prompt: str,
        n: int,
        *,
        most: int,
        sampling: Sampling,
        seen: Seen,
        cancelled: threading.Event,
        refusal: RefusalRule | None = None,
        grammar: str = "",
    ) -> None:
        """Write `n` continuations of at most `most` tokens, each ending before one that ends turns.

        They are seen as they are written; several are written together. Setting `cancelled` stops the model
        at its next token. Raises `PromptTooLongError`.
        """
        if cancelled.is_set():
            return
        encoded = self._encode(prompt)
        tokens: list[int] = encoded.data[0].tolist()
        if len(tokens) + most > self.context:
            raise PromptTooLongError(len(tokens), most, self.context)
        drawn = sampling.draws(n)
        several = [sampling._replace(seed=sampling.seed + one, single=drawn) for one in range(n)]
        if grammar:
            with self._grammar_turn:
                self._constrained.write(encoded, several, grammar, most=most, seen=seen, cancelled=cancelled)
            return

        def written(row: CachedText, logits: Logits) -> Steps[None]:
            forbidden: list[list[int]] = []
            if refusal is not None:
                refused = self.encode(refusal.text)
                if math.exp(sum((yield from self._continued(row, logits, refused)))) >= refusal.least:
                    for candidate in range(n):
                        seen(candidate, refused)
                    return
                forbidden = [self.encode(each) for each in refusal.beginnings]
            yield from write_on(
                self._decoder,
                row,
                logits,
                tokens,
                [TokenChoice(one, forbidden) for one in several],
                most=most,
                stop=self._stop,
                seen=seen,
                together=lambda: self._steps.texts,
            )

        with suppress(StoppedError):
            self._steps.run(tokens, written, cancelled=cancelled, texts=n, most=most)

    def yes(self, prompt: str) -> YesAnswer:
        """Return the probability of yes against no as the first word after a prompt.

        Raises `PromptTooLongError`.
        """
        tokens: list[int] = self._encode(prompt).data[0].tolist()
        if len(tokens) > self.context:
            raise PromptTooLongError(len(tokens), 1, self.context)

        def answered(row: CachedText, logits: Logits) -> Steps[YesAnswer]:
            yield from ()
            return YesAnswer(self._yes(logits), len(tokens))

        return self._steps.run(tokens, answered, cancelled=threading.Event(), adapted=self._judge is not None)

    def likelihoods(self, prompt: str, texts: Sequence[str]) -> list[list[float]]:
        """Return the log-probabilities of the tokens of each text after a prompt, which is read once.

        Raises `PromptTooLongError`.
        """
        tokens, continued = self.encode(prompt), [self.encode(text) for text in texts]
        longest = max(map(len, continued), default=0)
        if len(tokens) + longest > self.context:
            raise PromptTooLongError(len(tokens), longest, self.context)

        def measured(row: CachedText, logits: Logits) -> Steps[list[list[float]]]:
            found = []
            for more in continued:
                probabilities = yield from self._continued(row, logits, more)
                found.append(probabilities)
            return found

        return self._steps.run(tokens, measured, cancelled=threading.Event(), most=longest)

    def _continued(self, row: CachedText, first: Logits, tokens: Sequence[int]) -> Steps[list[float]]:
        """Return the log-probabilities of tokens after what is read, of which the logits are `first`."""
        logits = [first]
        if len(tokens) > 1:
            logits += yield [Read(row, tokens[:-1], len(tokens) - 1)]
            self._decoder.take_back(row, len(tokens) - 1)
        return log_probabilities(np.concatenate(logits)[: len(tokens)], tokens)

    def _yes(self, logits: Logits) -> float:
        """Return the probability of yes against no for logits of shape (1, vocabulary)."""
        yes, _ = share(logits[0], [{self.encode(word)[0] for word in words} for words in (YES, NO)])
        return yes

    @cached_property
    def _constrained(self) -> ConstrainedWriter:
        """Loaded when it is first needed, since it holds the weights a second time."""
        return ConstrainedWriter(self._folder, self._tokenizer, threads=self._threads, stop=self._stop)

    def _encode(self, text: str) -> Any:
        return self._tokenizer.encode(text, add_special_tokens=False).input_ids


def chat_template(source: str) -> Any:
    """Return the template of a model's chats, which may be anybody's, in a sandbox."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source)
