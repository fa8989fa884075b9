"""Judges that are models of natural language inference, by hub id or folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from citewell.core.errors import ModelError
from citewell.core.models.reasons import reason_of
from citewell.core.packages import need_packages
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.generator.evaluation.judges.judge import ClaimAndPassages
from citewell.generator.evaluation.judges.parts import parts

PREFIX = "nli:"
_BATCH = 16
_CLAIM_TOKENS = 128  # reserved for a claim and the template beside the passage
_LONGEST = 2048  # tokens that T5 models are given at once
_SUPPORTED = 0.5


class _Form(Protocol):
    """The queries of one kind of model; `probabilities` returns the support of each claim by its premise."""

    def probabilities(self, premises: Sequence[str], claims: Sequence[str]) -> list[float]: ...


class NliJudge:
    """A judge that accepts a claim if the model finds it entailed by the passages.

    Passages that are longer than the model reads are split into parts of whole sentences, of which the best
    counts, as MiniCheck does (Tang et al. 2024, https://arxiv.org/abs/2404.10774).
    """

    def __init__(self, name: str, form: _Form, tokenizer: Any, longest: int) -> None:
        """`longest` is the max number of tokens that the model reads at once, claim and passages together."""
        self.name = name
        self._form = form
        self._tokenizer = tokenizer
        self._premise_tokens = max(longest - _CLAIM_TOKENS, longest // 2)

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        """Return whether the probability of support reaches one half; n values."""
        return [probability >= _SUPPORTED for probability in self.grades(pairs)]

    def grades(self, pairs: Sequence[ClaimAndPassages]) -> list[float]:
        """Return the probability of support by the best part of each pair's passages; n values, 0 to 1."""
        found = [
            (row, part, pair.claim)
            for row, pair in enumerate(pairs)
            for part in parts(pair.passages, self._premise_tokens, self._tokens)
        ]
        best = [0.0] * len(pairs)
        # Parts of about the same length are batched together, to pad little.
        found.sort(key=lambda part: len(part[1]) + len(part[2]))
        for start in range(0, len(found), _BATCH):
            rows, premises, claims = zip(*found[start : start + _BATCH], strict=True)
            for row, probability in zip(rows, self._form.probabilities(premises, claims), strict=True):
                best[row] = max(best[row], probability)
        return best

    def _tokens(self, sentence: str) -> int:
        return len(self._tokenizer(sentence, add_special_tokens=False)["input_ids"])


def load_nli(model_id: str) -> NliJudge:
    """Load the judge of a hub id or folder, named `nli:MODEL_ID`.

    Supported are T5 models that write "1" for support, such as google/t5_xxl_true_nli_mixture (TRUE, Honovich
    et al. 2022, https://arxiv.org/abs/2204.04991; the judge of ALCE) and lytang/MiniCheck-Flan-T5-Large;
    models with a class called entailment, such as cross-encoders for NLI; and models of two classes, of which
    the second is support, such as lytang/MiniCheck-RoBERTa-Large. Raises `ModelError` for any other
    model, and one that cannot be loaded.
    """
    need_packages("A judge of citations", "train", "torch", "transformers")
    import torch
    from transformers import (
        AutoConfig,
        AutoModelForSeq2SeqLM,
        AutoModelForSequenceClassification,
        AutoTokenizer,
    )
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        config = AutoConfig.from_pretrained(model_id, trust_remote_code=TRUST_REMOTE_CODE)
        tokenizer = AutoTokenizer.from_pretrained(model_id, trust_remote_code=TRUST_REMOTE_CODE)
        kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForSequenceClassification
        model = kind.from_pretrained(model_id, trust_remote_code=TRUST_REMOTE_CODE).to(device).eval()
    except Exception as error:  # safetensors, pickle and the hub raise errors of any type
        raise ModelError(
            f"The model {model_id} cannot be loaded as a judge: {reason_of(error)}",
            "Give nli: and the hub id or the folder of a model of natural language inference.",
        ) from error
    longest = _longest(config, tokenizer)
    if config.is_encoder_decoder:
        form: _Form = _WritingOneOrZero(model, tokenizer, longest, mini_check="minicheck" in model_id.lower())
    else:
        form = _classes(model_id, model, tokenizer, longest)
    return NliJudge(f"{PREFIX}{model_id}", form, tokenizer, longest)


def _longest(config: Any, tokenizer: Any) -> int:
    """Return the max number of tokens that a model reads at once."""
    if config.is_encoder_decoder:
        # T5's positions are relative: TRUE and MiniCheck read more than the 512 tokens of its pre-training.
        return _LONGEST
    # RoBERTa keeps two positions for itself; tokenizers without a limit name an astronomical one.
    return min(int(tokenizer.model_max_length), int(config.max_position_embeddings) - 2)


class _WritingOneOrZero:
    """A T5 model that answers "1" for support, and "0" for none: its first token decides."""

    def __init__(self, model: Any, tokenizer: Any, longest: int, *, mini_check: bool) -> None:
        self._model, self._tokenizer, self._longest = model, tokenizer, longest
        self._mini_check = mini_check
        self._labels = [tokenizer(text, add_special_tokens=False)["input_ids"][0] for text in ("0", "1")]

    def probabilities(self, premises: Sequence[str], claims: Sequence[str]) -> list[float]:
        import torch

        texts = [self._ask(premise, claim) for premise, claim in zip(premises, claims, strict=True)]
        read = self._tokenizer(
            texts, padding=True, truncation=True, max_length=self._longest, return_tensors="pt"
        ).to(self._model.device)
        start = torch.full(
            (len(texts), 1), self._model.config.decoder_start_token_id, device=self._model.device
        )
        with torch.inference_mode():
            logits = self._model(
                input_ids=read["input_ids"], attention_mask=read["attention_mask"], decoder_input_ids=start
            ).logits[:, 0, self._labels]
        found: list[float] = logits.float().softmax(-1)[:, 1].tolist()
        return found

    def _ask(self, premise: str, claim: str) -> str:
        if self._mini_check:
            return f"predict: {premise}{self._tokenizer.eos_token}{claim}"
        return f"premise: {premise} hypothesis: {claim}"


class _Classes:
    """A model that puts a premise and a claim into one of several classes."""

    def __init__(self, model: Any, tokenizer: Any, longest: int, support: int, *, joined: bool) -> None:
        self._model, self._tokenizer, self._longest = model, tokenizer, longest
        self._support = support
        self._joined = joined

    def probabilities(self, premises: Sequence[str], claims: Sequence[str]) -> list[float]:
        import torch

        options = {"padding": True, "max_length": self._longest, "return_tensors": "pt"}
        if self._joined:
            end = self._tokenizer.eos_token or self._tokenizer.sep_token
            texts = [end.join(pair) for pair in zip(premises, claims, strict=True)]
            read = self._tokenizer(texts, truncation=True, **options)
        else:
            read = self._tokenizer(list(premises), list(claims), truncation="only_first", **options)
        with torch.inference_mode():
            logits = self._model(**read.to(self._model.device)).logits.float()
        found: list[float] = logits.softmax(-1)[:, self._support].tolist()
        return found


def _classes(model_id: str, model: Any, tokenizer: Any, longest: int) -> _Form:
    names = {int(number): str(name).lower() for number, name in model.config.id2label.items()}
    entailment = next((n for n, name in names.items() if name in ("entailment", "entail", "entailed")), None)
    if entailment is not None:
        return _Classes(model, tokenizer, longest, entailment, joined=False)
    if len(names) == 2:
        return _Classes(model, tokenizer, longest, 1, joined=True)
    raise ModelError(
        f"The model {model_id} has no class called entailment: it knows {', '.join(names.values())}.",
        "Give a model of natural language inference.",
    )
