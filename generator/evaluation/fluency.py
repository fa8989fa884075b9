"""The fluency of an answer: the loss of a language model that did not write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from citewell.core.errors import ModelError
from citewell.core.gguf_header import check_header
from citewell.core.models.reasons import reason_of
from citewell.core.packages import need_packages
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.core.weights import locate

_LONGEST = 512  # max tokens of an answer


class Fluency:
    """A causal language model that reads answers, one at a time."""

    def __init__(self, name: str, model: Any, tokenizer: Any) -> None:
        self.name = name
        self._model, self._tokenizer = model, tokenizer

    def loss(self, text: str) -> float | None:
        """Return the mean negative log-likelihood of a text's tokens, in nats; None if it has too few.

        The first token has no context unless the model has a BOS token.
        """
        import torch

        tokens = self._tokenizer(text, add_special_tokens=False)["input_ids"][:_LONGEST]
        if self._tokenizer.bos_token_id is not None:
            tokens = [self._tokenizer.bos_token_id, *tokens]
        if len(tokens) < 2:
            return None
        read = torch.tensor([tokens], device=self._model.device)
        with torch.inference_mode():
            return float(self._model(input_ids=read, labels=read).loss)


def load_fluency(name: str) -> Fluency:
    """Load a packaged model, a GGUF file, a folder or a hub id; raises `ModelError` if that fails."""
    need_packages("Measuring fluency", "train", "torch", "transformers")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    weights = locate(name, role="writer")
    try:
        source, options = name, {}
        if weights.is_gguf and weights.path:
            check_header(weights.path)
            source, options = str(weights.path.parent), {"gguf_file": weights.path.name}
        tokenizer: Any = AutoTokenizer.from_pretrained(source, **options, trust_remote_code=TRUST_REMOTE_CODE)
        model: Any = AutoModelForCausalLM.from_pretrained(
            source, dtype=torch.float32, **options, trust_remote_code=TRUST_REMOTE_CODE
        )
    except Exception as error:  # safetensors, pickle and the hub raise errors of any type
        raise ModelError(
            f"The model {name} cannot judge fluency: {reason_of(error)}",
            "Give the hub id or the folder of a causal language model.",
        ) from error
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return Fluency(name, model.to(device).eval(), tokenizer)


def is_same_family(judge: str, generator: str) -> bool:
    """Return whether a generator may be of the same family as the model that judges it, going by their names.

    A model finds its own writing fluent, so it must not judge it. The family is the first part of a name:
    SmolLM2-135M-Instruct is of the family of citewell-smollm2, and of any adapter whose base is SmolLM2.
    """
    family = Path(judge).name.lower().removesuffix(".gguf").split("-")[0]
    config = Path(generator) / "adapter_config.json"
    base = config.read_text(encoding="utf-8").lower() if config.is_file() else ""
    return family in generator.lower() or family in base
