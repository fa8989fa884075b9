"""Fluency is the loss of another language model."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import ModelError
from citewell.generator.evaluation.fluency import is_same_family, load_fluency
from tests.generator.evaluation.tiny import write_llama


def test_the_loss_a_token(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    folder = write_llama(tmp_path / "tiny")
    fluency = load_fluency(str(folder))
    found = fluency.loss("the sun is hot")
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokens = torch.tensor([[3, 9, 10, 11, 12]])
    with torch.no_grad():
        logs = model(tokens).logits.log_softmax(-1)
    by_hand = [-float(logs[0, place, tokens[0, place + 1]]) for place in range(4)]
    assert found == pytest.approx(sum(by_hand) / 4, rel=1e-4)
    assert fluency.loss("") is None


def test_a_model_never_judges_its_family(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "SmolLM2-135M-Instruct"}')
    judge = "SmolLM2-135M-Instruct"
    assert is_same_family(judge, judge)
    assert is_same_family(judge, "citewell-smollm2")
    assert is_same_family(judge, str(tmp_path))
    assert not is_same_family(judge, "extractive")
    assert not is_same_family("Qwen/Qwen2.5-0.5B", "citewell-smollm2")
    assert is_same_family("openai-community/gpt2", "models/gpt2-medium.gguf")


def test_no_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        load_fluency(str(tmp_path))
