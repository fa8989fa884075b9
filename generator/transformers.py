"""A causal language model of Hugging Face in this process, on the GPU where there is one."""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.errors import ModelError
from citewell.core.lora import merge
from citewell.core.models.reasons import reason_of
from citewell.core.packages import need_packages
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.generator.causal import (
    NO,
    TOP_P,
    YES,
    PromptTooLongError,
    RefusalRule,
    Sampling,
    Seen,
    YesAnswer,
)
from citewell.generator.constraint import Constraint
from citewell.generator.decoding import log_probabilities, share
from citewell.generator.prompt import Message

if TYPE_CHECKING:
    import torch

# Endings of the names of classes that can write: language models, and those that also read images.
_CAUSAL = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
_LIMIT = 32_768  # for models that name none, or more than fits into memory
_PREFILL = 512  # tokens of the prompt between two checks for cancellation


def open_transformers(
    source: str, name: str, *, threads: int, adapter: Path | None = None
) -> TransformersModel:
    """Load the model of a folder or a hub id, a LoRA adapter merged into it if there is one.

    In the type of its weights, such as bfloat16, on a GPU, in float32 on `threads` CPU threads. Code that
    comes with a model is never run. Raises `ModelError` if it is missing or not an instruction-tuned causal
    model.
    """
    need_packages(f"The model {name}", "train", "torch", "transformers")
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    gpu = torch.cuda.is_available()
    if not gpu:
        torch.set_num_threads(threads)
    try:
        config: Any = AutoConfig.from_pretrained(source, trust_remote_code=TRUST_REMOTE_CODE)
        architectures = config.architectures or []
        if not any(one.endswith(_CAUSAL) for one in architectures) or config.is_encoder_decoder:
            raise ValueError(
                f"it is a {', '.join(architectures) or config.model_type}, which writes no text."
            )
        tokenizer: Any = AutoTokenizer.from_pretrained(source, trust_remote_code=TRUST_REMOTE_CODE)
        model: Any = AutoModelForCausalLM.from_pretrained(
            source, dtype="auto" if gpu else torch.float32, trust_remote_code=TRUST_REMOTE_CODE
        )
    except Exception as error:  # safetensors, pickle, the hub and the models raise all kinds of errors
        raise ModelError(
            f"The model {name} cannot be used as a generator: {reason_of(error)}",
            "Give a folder or a hub id of a causal language model (for a gated one, set HF_TOKEN), or use "
            "--generator extractive.",
        ) from error
    if not tokenizer.chat_template:
        raise ModelError(
            f"The model {name} has no chat template, so it was not tuned to follow instructions.",
            "Use its instruction-tuned form, whose name often ends in -Instruct or -it.",
        )
    if adapter is not None:
        merge(model, adapter)
    return TransformersModel(model.to("cuda" if gpu else "cpu").eval(), tokenizer)


class TransformersModel:
    """A loaded model with its tokenizer; one prompt at a time, others wait for their turn."""

    concurrency = 1

    def __init__(self, model: Any, tokenizer: Any) -> None:
        """Write with `model`, a `PreTrainedModel` in evaluation mode, and its tokenizer."""
        self._model = model
        self._tokenizer = tokenizer
        config = model.config.get_text_config()
        self.context: int = min(getattr(config, "max_position_embeddings", None) or _LIMIT, _LIMIT)
        self.control_tokens: Sequence[str] = [token for token in tokenizer.all_special_tokens if token]
        self._stop = stop_tokens(model, tokenizer)
        self._turn = threading.Lock()
        self._grammars: Constraint | None = None

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, without any that begin or end one."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return ids

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens, without control tokens and without an incomplete last character."""
        text: str = self._tokenizer.decode(
            list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text.rstrip("\ufffd")

    def render(self, messages: Sequence[Message]) -> str:
        """Render messages by the model's chat template, up to the answer's first token.

        If the template refuses a system message, as Gemma's does, it is put before the first user message.
        """
        from jinja2 import TemplateError

        try:
            return self._apply(list(messages))
        except TemplateError:
            first, second, *rest = messages
            if first["role"] != "system":
                raise
            joined = second | {"content": f"{first['content']}\n\n{second['content']}"}
            return self._apply([joined, *rest])

    def read_ahead(self, beginning: str, *, cancelled: threading.Event) -> None:
        """Do nothing, since each text is read alone."""

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

        All of the prompt is computed, once; its keys and values are then repeated for each candidate, and a
        candidate that has ended leaves the batch. All are seen token by token. Raises `PromptTooLongError`,
        and `InputError` if there is a grammar and xgrammar is not installed.
        """
        import torch

        with self._turn, torch.inference_mode():
            held = self._constraint().rows(grammar, n) if grammar else None
            encoded = self.encode(prompt)
            if len(encoded) + most > self.context:
                raise PromptTooLongError(len(encoded), most, self.context)
            state = self._read(encoded, cancelled)
            if state is None:
                return
            forbidden: list[list[int]] = []
            if refusal is not None:
                refused = self.encode(refusal.text)
                if math.exp(sum(self._continued(state, refused))) >= refusal.least:
                    for candidate in range(n):
                        seen(candidate, refused)
                    return
                forbidden = [self.encode(each) for each in refusal.beginnings]
            cache, logits = state.cache, state.logits[:, -1].float()
            if n > 1:
                cache.batch_repeat_interleave(n)
                logits = logits.repeat(n, 1)
            choose = RowChoice(logits, sampling, forbidden, sampled=sampling.draws(n))
            rows = list(range(n))  # the candidate of each row of the batch
            for _ in range(most):
                if cancelled.is_set():
                    return
                tokens = choose(logits if held is None else held.masked(logits))
                if held is not None:
                    held.accept(tokens.tolist())
                kept = [row for row, token in enumerate(tokens.tolist()) if token not in self._stop]
                for row in kept:
                    seen(rows[row], [int(tokens[row])])
                if not kept:
                    return
                if len(kept) < len(rows):
                    rows = [rows[row] for row in kept]
                    index = torch.tensor(kept, device=tokens.device)
                    cache.batch_select_indices(index)
                    choose.keep(index)
                    if held is not None:
                        held.keep(kept)
                    tokens = tokens[index]
                state = self._model(input_ids=tokens[:, None], cache=cache, use_cache=True)
                cache, logits = state.cache, state.logits[:, -1].float()

    def yes(self, prompt: str) -> YesAnswer:
        """Return the probability of yes against no as the first word after a prompt.

        Raises `PromptTooLongError`.
        """
        import torch

        with self._turn, torch.inference_mode():
            encoded = self.encode(prompt)
            if len(encoded) > self.context:
                raise PromptTooLongError(len(encoded), 1, self.context)
            return YesAnswer(self._yes(self._read(encoded, threading.Event()).logits[0, -1]), len(encoded))

    def likelihoods(self, prompt: str, texts: Sequence[str]) -> list[list[float]]:
        """Return the log-probabilities of the tokens of each text after a prompt.

        Raises `PromptTooLongError`.
        """
        import torch

        with self._turn, torch.inference_mode():
            encoded, found = self.encode(prompt), []
            for text in texts:
                more = self.encode(text)
                if len(encoded) + len(more) > self.context:
                    raise PromptTooLongError(len(encoded), len(more), self.context)
                whole = torch.tensor([encoded + more], device=self._model.device)
                logits = self._model(input_ids=whole, logits_to_keep=len(more) + 1).logits[0, :-1]
                found.append(log_probabilities(logits.float().numpy(force=True), more))
            return found

    def _continued(self, state: Any, tokens: list[int]) -> list[float]:
        """Return the log-probabilities of tokens after the prompt of a state, which stays as it is."""
        import torch

        logits = state.logits[0, -1:]
        if len(tokens) > 1:
            more = torch.tensor([tokens[:-1]], device=self._model.device)
            # A copy: not every cache can take tokens back.
            cache = copy.deepcopy(state.cache)
            logits = torch.cat([logits, self._model(input_ids=more, cache=cache, use_cache=True).logits[0]])
        return log_probabilities(logits.float().numpy(force=True), tokens)

    def _yes(self, logits: torch.Tensor) -> float:
        """Return the probability of yes against no for logits of shape (vocabulary,)."""
        groups = [{self.encode(word)[0] for word in words} for words in (YES, NO)]
        yes, _ = share(logits.float().numpy(force=True), groups)
        return yes

    def _constraint(self) -> Constraint:
        """Made when it is first needed, since it reads the whole vocabulary."""
        if self._grammars is None:
            vocabulary = self._model.get_output_embeddings().weight.shape[0]
            self._grammars = Constraint(self._tokenizer, vocabulary=vocabulary, stop=sorted(self._stop))
        return self._grammars

    def _read(self, ids: list[int], cancelled: threading.Event) -> Any:
        """Return the model's output after the prompt; None if the work was cancelled in the meantime."""
        import torch

        state, cache = None, None
        for start in range(0, len(ids), _PREFILL):
            if cancelled.is_set():
                return None
            piece = torch.tensor([ids[start : start + _PREFILL]], device=self._model.device)
            state = self._model(input_ids=piece, cache=cache, use_cache=True, logits_to_keep=1)
            cache = state.cache
        return state

    def _apply(self, messages: list[Message]) -> str:
        text: str = self._tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        return text


class RowChoice:
    """The choice of each row's next token, with counts of the tokens written so far."""

    def __init__(
        self,
        logits: torch.Tensor,
        sampling: Sampling,
        forbidden: Sequence[Sequence[int]],
        *,
        sampled: bool,
    ) -> None:
        import torch

        self._sampling = sampling
        self._sampled = sampled
        self._random = torch.Generator(logits.device).manual_seed(sampling.seed)
        self._counts = torch.zeros_like(logits)
        # What is left of each forbidden sequence, and the rows that have begun with the rest of it.
        all_rows = torch.ones(len(logits), dtype=torch.bool, device=logits.device)
        self._left = [(tuple(each), all_rows) for each in forbidden]

    def __call__(self, logits: torch.Tensor) -> torch.Tensor:
        """Return one token per row, for logits of shape (rows, vocabulary)."""
        import torch

        logits = logits - self._sampling.frequency_penalty * self._counts
        for left, begun in self._left:
            if len(left) == 1:
                logits[begun, left[0]] = float("-inf")
        if self._sampled:
            probabilities, order = (logits / self._sampling.temperature).softmax(-1).sort(descending=True)
            # The smallest set of tokens that have TOP_P of the probability between them.
            probabilities[probabilities.cumsum(-1) - probabilities >= TOP_P] = 0.0
            drawn = torch.multinomial(probabilities, 1, generator=self._random)
            tokens = order.gather(-1, drawn)
        else:
            tokens = logits.argmax(-1, keepdim=True)
        self._counts.scatter_add_(-1, tokens, torch.ones_like(tokens, dtype=self._counts.dtype))
        self._left = [
            (left[1:], begun & (tokens[:, 0] == left[0])) for left, begun in self._left if len(left) > 1
        ]
        return tokens[:, 0]

    def keep(self, rows: torch.Tensor) -> None:
        """Drop all rows but these."""
        self._counts = self._counts[rows]
        self._left = [(left, begun[rows]) for left, begun in self._left]


def stop_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the tokens that end an answer, by the tokenizer and the model's own configuration."""
    ends = [tokenizer.eos_token_id]
    configured = getattr(model.generation_config, "eos_token_id", None)
    ends += configured if isinstance(configured, list) else [configured]
    return frozenset(end for end in ends if end is not None)
