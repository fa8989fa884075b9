"""GGUF files, rewritten once as the files that OpenVINO runs.

GGUF (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md) holds weights, tokenizer and chat template
in one file, of which OpenVINO GenAI makes a graph; see `citewell.core.gguf_weights` for its weights.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.errors import ModelError
from citewell.core.gguf_header import check_header
from citewell.core.gguf_weights import numbered

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ARCHITECTURES = ("llama", "qwen2", "qwen3")
DESCRIPTION = "citewell.json"
TEMPLATE = "chat_template.jinja"

_TOKENIZER = "gpt2"  # GGUF's name of byte-level BPE, the only one that OpenVINO builds from a GGUF file
_LIMIT = 8192  # OpenVINO's tokenizer keeps this number of last tokens of a text, whatever the model's context
_CONTROL = 3  # the token type of control tokens
_LAYER = re.compile(r"model\.layers\.\d+\.(self_attn\.[qkvo]|mlp\.(gate|up|down))_proj|lm_head")
_SCALING = "rope_freqs.weight"  # as in Llama 3.1; OpenVINO's reader ignores it
_WANTED = (
    "Give the GGUF file of an instruction-tuned model with byte-level BPE and one of the architectures "
    f"{', '.join(ARCHITECTURES)}, or use --generator extractive."
)


def open_gguf(file: Path) -> Any:
    """Read a GGUF file's metadata and map its tensors, without reading them.

    Raises `ModelError` when the file is damaged, or of a model that cannot be run or instructed.
    """
    from gguf import GGUFReader

    try:
        check_header(file)
        reader = GGUFReader(file)
        architecture = _value(reader, "general.architecture")
        tokenizer = _value(reader, "tokenizer.ggml.model")
        template = _value(reader, "tokenizer.chat_template")
    except (ValueError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise ModelError(
            f"The file {file} is not a GGUF file, or it is damaged: {error}",
            "Download it again, and compare its size with the original's.",
        ) from error
    if architecture not in ARCHITECTURES:
        raise ModelError(f"The architecture {architecture!r} of {file.name} cannot be run.", _WANTED)
    if tokenizer != _TOKENIZER:
        raise ModelError(f"The tokenizer {tokenizer!r} of {file.name} cannot be run.", _WANTED)
    if any(tensor.name == _SCALING for tensor in reader.tensors):
        raise ModelError(f"The scaled rotary embedding of {file.name} cannot be run.", _WANTED)
    if template is None:
        raise ModelError(
            f"{file.name} has no chat template, so it was not tuned to follow instructions.", _WANTED
        )
    return reader


def weight_bytes(reader: Any) -> int:
    """Return the bytes of an open GGUF file's weights as OpenVINO gets them, or a few more."""
    import gguf

    block, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.Q8_0]
    return sum(math.prod(map(int, tensor.shape)) for tensor in reader.tensors) * size // block


def write_numbered(reader: Any, file: Path) -> None:
    """Write an open GGUF file again, with numbers in place of weights (`citewell.core.gguf_weights`).

    Raises `ValueError` for a matrix whose rows are not blocks of Q4_0.
    """
    import gguf
    import numpy as np

    kinds = gguf.GGMLQuantizationType
    architecture = _value(reader, "general.architecture")
    writer = gguf.GGUFWriter(file, architecture)
    replaced = ("general.architecture", "general.file_type")  # the writer sets these itself
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name not in replaced:
            writer.add_key_value(field.name, field.contents(), field.types[0], field.types[-1])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    for tensor in reader.tensors:
        shape = [int(length) for length in reversed(tensor.shape)]
        kind = kinds.F32 if len(shape) == 1 else kinds.Q4_0
        size = math.prod(gguf.quant_shape_to_byte_shape(shape, kind))
        writer.add_tensor_info(tensor.name, shape, np.dtype(np.float32), size, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for index, tensor in enumerate(reader.tensors):
        if len(tensor.shape) == 1:
            values = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            writer.write_tensor_data(values.astype(np.float32, copy=False))
        else:
            columns, rows = (int(length) for length in tensor.shape)
            writer.write_tensor_data(numbered(index, rows, columns))
    writer.close()


def layer_names(reader: Any) -> dict[str, str]:
    """Return the names of a GGUF file's weights by the paths that transformers has for their layers.

    `model.layers.0.self_attn.q_proj` is `blk.0.attn_q.weight`, for example.
    """
    import gguf

    architecture, suffix = _value(reader, "general.architecture"), ".weight"
    kind = next(kind for kind, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(kind, _value(reader, f"{architecture}.block_count"))
    there = {tensor.name for tensor in reader.tensors}
    # Of the names that many frameworks have for a layer, these are transformers'.
    return {
        path: name + suffix
        for path, (_, name) in names.mapping.items()
        if _LAYER.fullmatch(path) and name + suffix in there
    }


def in_gguf_order(reader: Any, name: str, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return weights (rows, columns) of transformers with their rows in the order of the GGUF file.

    Files of the architecture llama interleave the two halves that rotate together in each head of the
    attention's queries and keys; those of others do not.
    """
    architecture = _value(reader, "general.architecture")
    heads = {"attn_q": "head_count", "attn_k": "head_count_kv"}
    role = next((role for role in heads if f".{role}." in name), None)
    if architecture != "llama" or role is None:
        return values
    count = _value(reader, f"llama.attention.{heads[role]}") or _value(reader, "llama.attention.head_count")
    halves = values.reshape(count, 2, values.shape[0] // count // 2, *values.shape[1:])
    return halves.swapaxes(1, 2).reshape(values.shape)


def save_openvino(file: Path) -> None:
    """Write OpenVINO's model, tokenizer and detokenizer beside a GGUF file that it can read."""
    import openvino_genai

    openvino_genai.LLMPipeline(str(file), "CPU", enable_save_ov_model=True)


def describe(reader: Any, folder: Path) -> None:
    """Store the metadata that the generator needs in `folder`: chat template, context, control tokens."""
    tokens = _value(reader, "tokenizer.ggml.tokens")
    kinds = _value(reader, "tokenizer.ggml.token_type")

    def token(role: str) -> int | None:
        number: int | None = _value(reader, f"tokenizer.ggml.{role}_token_id")
        return number

    architecture, bos = _value(reader, "general.architecture"), token("bos")
    description = {
        "context": min(_value(reader, f"{architecture}.context_length") or _LIMIT, _LIMIT),
        "stop": [number for number in (token("eos"), token("eot")) if number is not None],
        "bos": "" if bos is None else tokens[bos],
        "control": [text for text, kind in zip(tokens, kinds, strict=True) if kind == _CONTROL and text],
    }
    (folder / DESCRIPTION).write_text(json.dumps(description, ensure_ascii=False), encoding="utf-8")
    (folder / TEMPLATE).write_text(_value(reader, "tokenizer.chat_template"), encoding="utf-8")


def _value(reader: Any, key: str) -> Any:
    field = reader.fields.get(key)
    return None if field is None else field.contents()
