"""A causal language model in OpenVINO, on the CPU: text to tokens, tokens to tokens, and back.

Of eight ways to run SmolLM2-135M on two cores, measured by `benchmarks.generation_engines`, OpenVINO wrote
fastest; `benchmarks.engine_agreement` measures how often float32 prefers the same token.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.core.errors import ModelError
from citewell.core.gguf import DESCRIPTION, TEMPLATE
from citewell.core.memory import check_memory, language_model_memory
from citewell.generator.causal import NO, YES, PromptTooLongError, RefusalRule, Sampling, Seen, YesAnswer
from citewell.generator.constrained import ConstrainedWriter
from citewell.generator.decoder import PagedDecoder
from citewell.generator.decoding import TokenChoice, log_probabilities, read_prompt, share, write_on
from citewell.generator.prompt import Message

_CONTEXT = 4096
# Characters that never exceed the 8,192 tokens at which the tokenizer drops the start of a text.
_PIECE = 2048


def open_openvino(folder: Path, name: str, *, threads: int) -> OpenVinoModel:
    """Load the model `name` from a folder that `citewell.core.conversion.converted` filled.

    Raises `ModelError` if the folder holds no causal language model, and `MemoryTooSmallError`.
    """
    weights = folder / "openvino_model.bin"
    if weights.is_file():
        check_memory(name, language_model_memory(weights.stat().st_size))
    try:
        return OpenVinoModel(folder, threads=threads)
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"The model {name} cannot be used as a generator: {error}",
            "Use the GGUF file of an instruction-tuned model, or --generator extractive.",
        ) from error


class OpenVinoModel:
    """The model in a folder of OpenVINO files; one prompt at a time, others wait for their turn."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        """Load the model and its tokenizer.

        Raises `RuntimeError`, `OSError` or `ValueError` if the folder holds none.
        """
        import openvino_genai

        about = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        self.context: int = min(about["context"], _CONTEXT)
        self.control_tokens: Sequence[str] = about["control"]
        self._stop: list[int] = about["stop"]
        self._bos: str = about["bos"]
        self._template = chat_template((folder / TEMPLATE).read_text(encoding="utf-8"))
        self._tokenizer = openvino_genai.Tokenizer(str(folder))
        self._decoder = PagedDecoder(folder, threads=threads)
        self._folder, self._threads = folder, threads
        self._turn = threading.Lock()
        self._asked: list[int] = []  # the tokens of the decoder's row, where `yes` left it

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

    def write(
        self,
        prompt: str,
        n: int,
        *,
        most: int,
        sampling: Sampling,
        seen: Seen,
        cancelled: threading.Event,
        beginning: str = "",
        refusal: RefusalRule | None = None,
        grammar: str = "",
    ) -> None:
        """Write `n` continuations of at most `most` tokens, each ending before one that ends turns.

        They are seen as they are written; several are written together. Setting `cancelled` stops the model
        at its next token. Raises `PromptTooLongError`.
        """
        with self._turn:
            if cancelled.is_set():
                return
            self._asked = []
            encoded = self._encode(prompt)
            tokens: list[int] = encoded.data[0].tolist()
            if len(tokens) + most > self.context:
                raise PromptTooLongError(len(tokens), most, self.context)
            drawn = sampling.draws(n)
            several = [sampling._replace(seed=sampling.seed + one, single=drawn) for one in range(n)]
            if grammar:
                self._constrained.write(encoded, several, grammar, most=most, seen=seen, cancelled=cancelled)
                return
            start = self._encode(beginning).data[0].tolist() if beginning else []
            if tokens[: len(start)] != start or len(start) >= len(tokens):
                start = []
            logits = read_prompt(self._decoder, tokens, start, cancelled)
            if logits is None:
                return
            forbidden: list[int] = []
            if refusal is not None:
                refused = self.encode(refusal.text)
                if math.exp(sum(self._continued(logits, refused))) >= refusal.least:
                    for candidate in range(n):
                        seen(candidate, refused)
                    return
                forbidden = self.encode(refusal.beginning)
            write_on(
                self._decoder,
                logits,
                tokens,
                [TokenChoice(one, forbidden) for one in several],
                most=most,
                stop=self._stop,
                seen=seen,
                cancelled=cancelled,
            )

    def yes(self, prompt: str) -> YesAnswer:
        """Return the probability of yes against no as the first word after a prompt.

        Only what differs from the prompt of the call before is read. Raises `PromptTooLongError`.
        """
        with self._turn:
            tokens: list[int] = self._encode(prompt).data[0].tolist()
            if len(tokens) > self.context:
                raise PromptTooLongError(len(tokens), 1, self.context)
            known = _common(tokens[:-1], self._asked)
            if known:
                self._decoder.take_back([len(self._asked) - known])
            else:
                self._decoder.begin()
            self._asked = []  # until these are read
            (logits,) = self._decoder.read([tokens[known:]])
            self._asked = tokens
            return YesAnswer(self._yes(logits), len(tokens))

    def likelihoods(self, prompt: str, texts: Sequence[str]) -> list[list[float]]:
        """Return the log-probabilities of the tokens of each text after a prompt, which is read once.

        Raises `PromptTooLongError`.
        """
        with self._turn:
            self._asked = []
            tokens, continued = self.encode(prompt), [self.encode(text) for text in texts]
            longest = max(map(len, continued), default=0)
            if len(tokens) + longest > self.context:
                raise PromptTooLongError(len(tokens), longest, self.context)
            self._decoder.begin()
            (first,) = self._decoder.read([tokens])
            return [self._continued(first, more) for more in continued]

    def _continued(self, first: NDArray[np.float32], tokens: Sequence[int]) -> list[float]:
        """Return the log-probabilities of tokens after what is read, of which the logits are `first`."""
        logits = [first]
        if len(tokens) > 1:
            logits += self._decoder.read([tokens[:-1]], every=True)
            self._decoder.take_back([len(tokens) - 1])
        return log_probabilities(np.concatenate(logits)[: len(tokens)], tokens)

    def _yes(self, logits: NDArray[np.float32]) -> float:
        """Return the probability of yes against no for logits of shape (1, vocabulary)."""
        yes, _ = share(logits[0], [{self.encode(word)[0] for word in words} for words in (YES, NO)])
        return yes

    @cached_property
    def _constrained(self) -> ConstrainedWriter:
        """Loaded when it is first needed, since it holds the weights a second time."""
        return ConstrainedWriter(self._folder, self._tokenizer, threads=self._threads, stop=self._stop)

    def _encode(self, text: str) -> Any:
        return self._tokenizer.encode(text, add_special_tokens=False).input_ids


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """Return the number of tokens with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def chat_template(source: str) -> Any:
    """Return the template of a model's chats, which may be anybody's, in a sandbox."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source)
