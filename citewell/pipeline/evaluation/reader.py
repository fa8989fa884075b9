"""Readers, which find the short answer in a long one: WebGPT's appendix G measures TriviaQA by them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Protocol

from citewell.core.build_cache import OnStep
from citewell.core.errors import ModelError
from citewell.core.packages import need_packages
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.core.settings import Settings
from citewell.core.threads import in_thread
from citewell.generator.completer import Completer
from citewell.generator.load import open_completer, sampling_of
from citewell.pipeline.evaluation.identity import DEFAULT, with_generator

WRITER = "writer"
_MOST_TOKENS = 24  # of a short answer
_LONGEST_SPAN = 30  # tokens
_STRIDE = 64  # tokens that two windows share
_ASK = (
    "Answer the question in as few words as possible, with words of the text alone.\n"
    "Text: {text}\nQuestion: {question}\nShort answer:"
)


class ShortReader(Protocol):
    """A model called `name` that finds short answers."""

    name: str

    async def read(self, question: str, text: str) -> str:
        """Return the short answer that the text has to the question."""
        ...


class WriterReader:
    """A language model that is asked for the short answer."""

    def __init__(self, completer: Completer, settings: Settings) -> None:
        self.name = f"{WRITER}:{completer.name}"
        self._completer = completer
        self._sampling = sampling_of(settings.generator)

    async def read(self, question: str, text: str) -> str:
        """Return the first line that the model writes."""
        asked = _ASK.format(text=text, question=question)
        messages = [{"role": "user", "content": asked}]
        done = await self._completer.complete(messages, most=_MOST_TOKENS, sampling=self._sampling)
        return next(iter(done.text.strip().splitlines()), "")


class _AnswerSpan(NamedTuple):
    score: float
    text: str


class SpanReader:
    """A model of extractive question answering, such as WebGLM's google/bigbird-base-trivia-itc."""

    def __init__(self, name: str, model: Any, tokenizer: Any) -> None:
        self.name = name
        self._model = model
        self._tokenizer = tokenizer
        self._longest = min(int(tokenizer.model_max_length), int(model.config.max_position_embeddings))

    async def read(self, question: str, text: str) -> str:
        """Return the span of the text with the highest sum of start and end logits."""
        return await in_thread(lambda: self._read(question, text)) if text else ""

    def _read(self, question: str, text: str) -> str:
        import torch

        read = self._tokenizer(
            question,
            text,
            truncation="only_second",
            max_length=self._longest,
            stride=min(_STRIDE, self._longest // 4),
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
            padding=True,
            return_tensors="pt",
        )
        offsets = read.pop("offset_mapping").tolist()
        read.pop("overflow_to_sample_mapping")
        inside = [[part == 1 for part in read.sequence_ids(row)] for row in range(len(offsets))]
        with torch.inference_mode():
            found = self._model(**read.to(self._model.device))
        best = _AnswerSpan(float("-inf"), "")
        for row, places in enumerate(offsets):
            allowed = torch.tensor(inside[row], device=found.start_logits.device)
            starts = found.start_logits[row].float().masked_fill(~allowed, float("-inf"))
            ends = found.end_logits[row].float().masked_fill(~allowed, float("-inf"))
            sums = starts[:, None] + ends[None, :]
            in_order = torch.ones_like(sums, dtype=torch.bool).triu().tril(_LONGEST_SPAN - 1)
            sums = sums.masked_fill(~in_order, float("-inf"))
            start, end = divmod(int(sums.argmax()), len(places))
            best = max(best, _AnswerSpan(float(sums.max()), text[places[start][0] : places[end][1]]))
        return best.text


@asynccontextmanager
async def open_reader(name: str, settings: Settings, on_step: OnStep) -> AsyncGenerator[ShortReader, None]:
    """Open the reader `writer` or `writer:NAME`, a language model, or the hub id or folder of a span reader.

    Raises the errors of `open_completer`, and `ModelError` for a model that is not one of extractive question
    answering.
    """
    kind, _, model = name.partition(":")
    if kind == WRITER:
        own = with_generator(settings, model or DEFAULT)
        opening = open_completer(own.generator, own.cache_dir, threads=own.threads, on_step=on_step)
        async with opening as completer:
            yield WriterReader(completer, own)
    else:
        yield await in_thread(lambda: _load_span_reader(name))


def _load_span_reader(name: str) -> SpanReader:
    need_packages(f"The reader {name}", "train", "torch", "transformers")
    import torch
    from transformers import AutoConfig, AutoModelForQuestionAnswering, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        config = AutoConfig.from_pretrained(name, trust_remote_code=TRUST_REMOTE_CODE)
        if not any(one.endswith("ForQuestionAnswering") for one in config.architectures or []):
            raise ValueError("it was not trained to answer questions by a span of a text.")
        tokenizer: Any = AutoTokenizer.from_pretrained(name, trust_remote_code=TRUST_REMOTE_CODE)
        model: Any = AutoModelForQuestionAnswering.from_pretrained(name, trust_remote_code=TRUST_REMOTE_CODE)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"The model {name} cannot be used as a reader: {error}",
            "Give the hub id or folder of a model of extractive question answering, or writer:NAME with a "
            "language model.",
        ) from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return SpanReader(name, model.to(device).eval(), tokenizer)
