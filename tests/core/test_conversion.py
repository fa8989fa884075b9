"""LoRA adapters merged into a generator's weights, against PEFT's own sums in float32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.core.conversion import converted
from citewell.core.dequantization import dequantized
from citewell.core.errors import ModelError

from .tiny_gguf import write_gguf

IDS = [5, 80, 3, 121, 44, 44, 200, 17]
ALL = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]

Logits = NDArray[np.float32]


def write_adapter(base: Path, folder: Path, **options: Any) -> Path:
    """An adapter with random weights for the model in `base`."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.manual_seed(1)
    config: Any = LoraConfig(**({"r": 4, "lora_alpha": 8, "target_modules": ALL} | options))
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(base), config)
    for name, parameter in model.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(parameter, std=0.2)
    model.save_pretrained(str(folder))
    return folder


def peft_logits(base: Path, adapter: Path | None) -> Logits:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    model: Any = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    if adapter is not None:
        model = PeftModel.from_pretrained(model, str(adapter))
    with torch.inference_mode():
        return np.asarray(model.eval()(torch.tensor([IDS])).logits[0])


def openvino_logits(folder: Path) -> Logits:
    import openvino

    model = openvino.Core().compile_model(
        str(folder / "openvino_model.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    ones = np.ones((1, len(IDS)), dtype=np.int64)
    inputs = {
        "input_ids": np.array([IDS], dtype=np.int64),
        "attention_mask": ones,
        "position_ids": np.arange(len(IDS), dtype=np.int64)[None],
        "beam_idx": np.zeros(1, dtype=np.int32),
    }
    return np.asarray(model.create_infer_request().infer(inputs)["logits"][0])


def distance(one: Logits, other: Logits) -> float:
    """The root mean square of the differences, as a share of the logits' own spread."""
    return float(np.sqrt(np.mean((one - other) ** 2)) / np.std(other))


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
def test_a_merged_model_differs_from_peft_by_rounding_alone(architecture: str, tmp_path: Path) -> None:
    file, cache = str(write_gguf(tmp_path / "model.gguf", architecture)), tmp_path / "cache"
    base = dequantized(file, cache)
    adapter = write_adapter(base, tmp_path / "adapter", use_rslora=architecture == "qwen2")
    merged = converted(file, cache, adapter=adapter)
    assert merged.name.startswith("adapter-")
    expected = peft_logits(base, adapter)
    assert distance(openvino_logits(merged), expected) < 0.05
    assert distance(peft_logits(base, None), expected) > 0.5


def test_a_changed_adapter_is_converted_anew(tmp_path: Path) -> None:
    file, cache = str(write_gguf(tmp_path / "model.gguf")), tmp_path / "cache"
    base = dequantized(file, cache)
    adapter = write_adapter(base, tmp_path / "adapter")
    folder = converted(file, cache, adapter=adapter)
    assert converted(file, cache, adapter=adapter) == folder
    write_adapter(base, adapter, lora_alpha=16)
    assert converted(file, cache, adapter=adapter) != folder


def test_an_adapter_for_another_model(tmp_path: Path) -> None:
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4
    )
    torch.manual_seed(0)
    model = get_peft_model(LlamaForCausalLM(config), LoraConfig(r=2, target_modules=["up_proj"]))
    model.save_pretrained(str(tmp_path / "adapter"))
    file = str(write_gguf(tmp_path / "model.gguf"))
    with pytest.raises(ModelError, match="does not fit its model") as caught:
        converted(file, tmp_path / "cache", adapter=tmp_path / "adapter")
    assert "base model" in caught.value.hint


def test_a_folder_without_an_adapter(tmp_path: Path) -> None:
    (tmp_path / "adapter").mkdir()
    with pytest.raises(ModelError, match="cannot be read"):
        converted(str(write_gguf(tmp_path / "model.gguf")), tmp_path / "cache", adapter=tmp_path / "adapter")
