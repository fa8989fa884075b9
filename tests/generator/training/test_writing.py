"""Answers that are written together are those that are written one after the other."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from citewell.generator.causal import Sampling
from citewell.generator.training.writing import write_answers
from citewell.generator.transformers import TransformersModel
from tests.generator.training.made_up import write_llama


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_many_together_are_as_one_by_one(tmp_path: Path, penalty: float) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    write_llama(tmp_path)
    model = AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    prompts = [f"a prompt of {'some ' * length}words" for length in range(11)]
    together = write_answers(model, tokenizer, prompts, most=12, frequency_penalty=penalty)
    alone = TransformersModel(model, tokenizer)
    for prompt, found in zip(prompts, together, strict=True):
        tokens: list[int] = []
        alone.write(
            prompt,
            1,
            most=12,
            sampling=Sampling(1.0, 0, penalty),
            seen=lambda candidate, more, tokens=tokens: tokens.extend(more),
            cancelled=threading.Event(),
        )
        assert found.rstrip("\ufffd") == alone.decode(tokens)
