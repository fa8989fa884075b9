"""How well a policy predicts texts, which the alignment tax is measured by."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")
pytest.importorskip("peft", reason="the extra `train` is not installed")

import torch

from benchmarks.answers_ppo_tax import log_probabilities
from citewell.core.training.config import AdapterConfig
from citewell.generator.resolve import resolve
from citewell.generator.training.encode import TokenizedExample
from citewell.reinforcement.networks import build_networks
from tests.generator.training.made_up import write_llama


def test_each_text_has_the_mean_log_probability_of_its_tokens(tmp_path: Path) -> None:
    source = resolve(str(write_llama(tmp_path / "llama")))
    networks = build_networks(source, AdapterConfig(rank=4), tmp_path, own_value=False, seed=0)
    texts = [[40, 41, 42, 43], [50, 51], [60, 61, 62, 63, 64, 65, 66]]
    rows = [TokenizedExample(tuple(text[:1]), tuple(text[1:])) for text in texts]
    expected = {}
    for place, text in enumerate(texts):
        logits = networks.model(input_ids=torch.tensor([text])).logits[0, :-1]
        told = logits.log_softmax(-1).gather(-1, torch.tensor(text[1:])[:, None])
        expected[str(place)] = pytest.approx(told.mean().item(), abs=1e-4)
    for part_tokens in (7, 100):
        assert log_probabilities(networks, rows, part_tokens, "float32") == expected
    assert len(set(log_probabilities(networks, rows, 100, "float32").values())) == len(texts)
