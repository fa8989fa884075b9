"""Adapters that PEFT trains, merged by hand, against PEFT's own merge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from citewell.core.errors import ModelError
from citewell.core.lora import merge

from .conftest import write_adapter, write_bert


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_rslora": True, "r": 8},
        {"target_modules": "all-linear"},
        {"rank_pattern": {"query": 2}},
    ],
)
def test_the_merged_weights_are_those_that_peft_merges(
    bert: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModel

    adapter = write_adapter(bert, tmp_path / "adapter", **options)
    found = AutoModel.from_pretrained(bert)
    merge(found, adapter)
    expected = PeftModel.from_pretrained(AutoModel.from_pretrained(bert), adapter).merge_and_unload()
    plain = AutoModel.from_pretrained(bert).state_dict()
    weights = expected.state_dict()
    for name, weight in found.state_dict().items():
        torch.testing.assert_close(weight, weights[name], atol=1e-6, rtol=1e-6)
    assert any(not torch.equal(weight, plain[name]) for name, weight in found.state_dict().items())


def test_an_adapter_for_a_larger_model(bert: Path, tmp_path: Path) -> None:
    from transformers import AutoModel

    larger = write_bert(tmp_path / "larger", dimension=96)
    adapter = write_adapter(larger, tmp_path / "adapter")
    with pytest.raises(ModelError, match=r"96 × 96 weights of encoder\.layer\.0") as caught:
        merge(AutoModel.from_pretrained(bert), adapter)
    assert "64 × 64" in caught.value.message
    assert "base model" in caught.value.hint


def test_an_adapter_for_another_architecture(bert: Path, tmp_path: Path) -> None:
    import torch

    adapter = write_adapter(bert, tmp_path / "adapter")
    with pytest.raises(ModelError, match=r"no linear layer encoder\.layer\.0"):
        merge(torch.nn.Sequential(torch.nn.Linear(4, 4)), adapter)


def test_another_kind_of_adapter(bert: Path, tmp_path: Path) -> None:
    from transformers import AutoModel

    adapter = write_adapter(bert, tmp_path / "adapter", use_dora=True)
    with pytest.raises(ModelError, match="use_dora = True") as caught:
        merge(AutoModel.from_pretrained(bert), adapter)
    assert "merge_and_unload" in caught.value.hint


def test_a_damaged_adapter(bert: Path, tmp_path: Path) -> None:
    from transformers import AutoModel

    adapter = write_adapter(bert, tmp_path / "adapter")
    weights = adapter / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(ModelError, match="cannot be read"):
        merge(AutoModel.from_pretrained(bert), adapter)
    assert json.loads((adapter / "adapter_config.json").read_text())["r"] == 4
