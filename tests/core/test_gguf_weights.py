"""The weights in OpenVINO's graph of a GGUF file: those of the file, rounded once, each row in its place."""

from __future__ import annotations

from pathlib import Path

import openvino
import pytest

from citewell.core.conversion import converted
from citewell.core.dequantization import dequantized
from citewell.core.gguf import open_gguf
from citewell.core.gguf_weights import fill_weights

from . import tiny_gguf
from .test_conversion import distance, openvino_logits, peft_logits


@pytest.mark.parametrize("architecture", ["llama", "qwen2"])
@pytest.mark.parametrize(("width", "hidden", "block"), [(64, 96, 32), (64, 192, 64), (256, 384, 128)])
def test_a_model_differs_from_float32_by_rounding_alone(
    width: int, hidden: int, block: int, architecture: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiny_gguf, "WIDTH", width)
    monkeypatch.setattr(tiny_gguf, "HIDDEN", hidden)
    file, cache = str(tiny_gguf.write_gguf(tmp_path / "model.gguf", architecture)), tmp_path / "cache"
    folder = converted(file, cache)
    assert distance(openvino_logits(folder), peft_logits(dequantized(file, cache), None)) < 0.05
    model = openvino.Core().compile_model(str(folder / "openvino_model.xml"), "CPU", {})
    assert model.get_property("DYNAMIC_QUANTIZATION_GROUP_SIZE") == block


def test_a_graph_without_a_place_for_each_matrix_is_refused(tmp_path: Path) -> None:
    file = tiny_gguf.write_gguf(tmp_path / "model.gguf")
    folder = converted(str(file), tmp_path / "cache")
    with pytest.raises(RuntimeError, match=r"no place for blk\.0\.attn_k\.weight, "):
        fill_weights(folder / "openvino_model.xml", open_gguf(file), {})
