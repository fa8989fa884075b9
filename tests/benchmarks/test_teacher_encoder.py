"""The teacher's folder is read as an encoder with its prompts, by Citewell and by sentence-transformers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.encoder.resolve import resolve
from tests.retriever.encoder.conftest import write_bert

pytest.importorskip("sentence_transformers", reason="the extra `train` is not installed")

from benchmarks.teacher_encoder import PROMPTS, from_onnx, write


def test_the_prompts_stand_before_questions_and_passages(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    out = tmp_path / "teacher"
    write(write_bert(tmp_path / "bert"), out)
    towers = resolve(str(out))
    assert (towers.question.prompt, towers.passage.prompt) == (PROMPTS["query"], PROMPTS["document"])
    assert towers.question.normalize
    ours = load_encoder(str(out), tmp_path / "cache", threads=1, engine="torch")
    model = SentenceTransformer(str(out), device="cpu")
    texts = ["q a", "ax mm"]
    np.testing.assert_allclose(ours.encode_questions(texts), model.encode_query(texts), atol=1e-5)
    np.testing.assert_allclose(ours.encode_passages(texts), model.encode_document(texts), atol=1e-5)
    assert np.abs(ours.encode_questions(texts) - ours.encode_passages(texts)).max() > 1e-3


def test_the_weights_of_an_onnx_file_are_those_of_the_model(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from transformers import AutoModel

    model = AutoModel.from_pretrained(write_bert(tmp_path / "bert"))
    stored, nodes = [], []
    for name, value in model.state_dict().items():
        array = value.numpy()
        layer = name.removesuffix(".weight")
        if not name.startswith("encoder.") or "LayerNorm" in name or name.endswith(".bias"):
            stored.append(numpy_helper.from_array(array, name))
            continue
        # As exporters write a linear layer: its matrix has lost its name, and lies the other way.
        matrix = f"val_{len(nodes)}"
        stored.append(numpy_helper.from_array(np.ascontiguousarray(array.T), matrix))
        nodes.append(helper.make_node("MatMul", ["hidden", matrix], [f"{layer}.product"]))
        nodes.append(helper.make_node("Add", [f"{layer}.product", f"{layer}.bias"], [f"{layer}.sum"]))
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, None)
    onnx.save(helper.make_model(helper.make_graph(nodes, "bert", [hidden], [], stored)), tmp_path / "b.onnx")

    from_onnx(tmp_path / "b.onnx", tmp_path / "again")
    again = AutoModel.from_pretrained(tmp_path / "again", add_pooling_layer=False).state_dict()
    assert again
    for name, value in again.items():
        np.testing.assert_array_equal(value.numpy(), model.state_dict()[name].numpy())
    assert (tmp_path / "again" / "tokenizer.json").is_file()
