"""Models that carry code: each is a folder that looks like one of transformers or sentence-transformers."""

from __future__ import annotations

import json
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WORDS = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "<s>", "</s>", "kites", "fly", "bats", "sing")
_LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": len(_WORDS),
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "bos_token_id": 4,
    "eos_token_id": 5,
}
_BERT: dict[str, Any] = {
    "architectures": ["BertForSequenceClassification"],
    "model_type": "bert",
    "vocab_size": len(_WORDS),
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
    "id2label": {"0": "entailment", "1": "neutral"},
    "label2id": {"entailment": 0, "neutral": 1},
}
_SWITCH = "trust_remote_code"
_TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
_CLASSES = ("AutoConfig", "AutoModel", "AutoModelForCausalLM", "AutoModelForSequenceClassification")

Trap = Callable[[Path, "Bait"], None]


class Bait:
    """What a trap wants to run: code, a pickle or a template that makes the file `mark`."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark
        self.code = f"open({str(mark)!r}, 'w').close()\n"
        self.module = f"{self.code}class Evil:\n    def __init__(self, *a, **b):\n        {self.code}"
        self.template = (
            "{{ cycler.__init__.__globals__.os.system('touch " + str(mark) + "') }}"
            "{{ ''.__class__.__mro__[1].__subclasses__() }}" + _TEMPLATE
        )

    def pickled(self, protocol: int = 2) -> bytes:
        """Return a pickle that makes the file when it is read."""
        return pickle.dumps(_Opens(str(self.mark)), protocol)


class _Opens:
    def __init__(self, path: str) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (self._path, "w")


def write_plain(folder: Path, *, is_llama: bool) -> Path:
    """Write a model without weights and without code."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir(parents=True)
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(_WORDS)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    special = {"eos_token": "</s>", "pad_token": "[PAD]", "unk_token": "[UNK]", "sep_token": "[SEP]"}
    named = {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": _TEMPLATE} | special
    _write(folder / "tokenizer_config.json", named)
    _write(folder / "config.json", _LLAMA if is_llama else _BERT)
    return folder


def _write(file: Path, value: dict[str, Any] | list[Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def _change(file: Path, **values: Any) -> None:
    _write(file, json.loads(file.read_text()) | values)


def _modules(folder: Path, bait: Bait) -> None:
    for name in ("configuration_evil", "modeling_evil", "tokenization_evil", "evil", "generate"):
        (folder / f"{name}.py").write_text(bait.module)


def _auto_map(folder: Path, bait: Bait) -> None:
    _modules(folder, bait)
    names = dict.fromkeys(_CLASSES, "modeling_evil.Evil") | {"AutoConfig": "configuration_evil.Evil"}
    _change(folder / "config.json", model_type="evil", auto_map=names)


def _auto_map_of_known(folder: Path, bait: Bait) -> None:
    _modules(folder, bait)
    _change(folder / "config.json", auto_map=dict.fromkeys(_CLASSES, "modeling_evil.Evil"))


def _auto_map_elsewhere(folder: Path, bait: Bait) -> None:
    other = folder.parent / f"{folder.name}-code"
    other.mkdir()
    _modules(other, bait)
    _change(folder / "config.json", auto_map=dict.fromkeys(_CLASSES, f"{other}--modeling_evil.Evil"))


def _tokenizer(folder: Path, bait: Bait) -> None:
    _modules(folder, bait)
    (folder / "tokenizer.json").unlink()
    names = {"AutoTokenizer": ["tokenization_evil.Evil", "tokenization_evil.Evil"]}
    _change(folder / "tokenizer_config.json", tokenizer_class="Evil", auto_map=names)


def _pickled_vocabulary(folder: Path, bait: Bait) -> None:
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.pkl").write_bytes(bait.pickled())
    _change(folder / "tokenizer_config.json", tokenizer_class="TransfoXLTokenizer")


def _weights(name: str, protocol: int = 2) -> Trap:
    def trap(folder: Path, bait: Bait) -> None:
        (folder / name).write_bytes(bait.pickled(protocol))

    return trap


def _shards(folder: Path, bait: Bait) -> None:
    index = {"metadata": {}, "weight_map": {"model.embed_tokens.weight": "../shard.bin"}}
    _write(folder / "pytorch_model.bin.index.json", index)
    (folder.parent / "shard.bin").write_bytes(bait.pickled())


def _sentence_modules(folder: Path, bait: Bait) -> None:
    _modules(folder, bait)
    _write(folder / "modules.json", [{"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}])


def _dense(folder: Path, bait: Bait) -> None:
    _modules(folder, bait)
    parts = (("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"))
    rows = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, path) in enumerate(parts)
    ]
    _write(folder / "modules.json", rows)
    _write(
        folder / "1_Pooling" / "config.json",
        {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True},
    )
    dense = {"in_features": 16, "out_features": 16, "bias": True, "activation_function": "evil.Evil"}
    _write(folder / "2_Dense" / "config.json", dense)
    (folder / "2_Dense" / "pytorch_model.bin").write_bytes(bait.pickled())


def _adapter(folder: Path, bait: Bait) -> None:
    (folder / "adapter_model.bin").write_bytes(bait.pickled())
    auto = {"base_model_class": "Evil", "parent_library": "evil"}
    other = {"base_model_name_or_path": str(folder), "auto_mapping": auto, "peft_type": "LORA", "r": 1}
    _modules(folder, bait)
    _write(folder / "adapter_config.json", other)


def _template(folder: Path, bait: Bait) -> None:
    (folder / "chat_template.jinja").write_text(bait.template)
    _change(folder / "tokenizer_config.json", chat_template=bait.template)


def _generation(folder: Path, bait: Bait) -> None:
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text(bait.module)
    _write(folder / "generation_config.json", {"custom_generate": str(folder), _SWITCH: True})


def _trusting(folder: Path, bait: Bait) -> None:
    _auto_map(folder, bait)
    _change(folder / "config.json", **{_SWITCH: True, "_attn_implementation": "evil.Evil"})
    _write(folder / "config_sentence_transformers.json", {_SWITCH: True})


def _header(head: bytes) -> Trap:
    def trap(folder: Path, bait: Bait) -> None:
        (folder / "model.safetensors").write_bytes(head)

    return trap


def _tensor(start: int, stop: int, shape: list[int]) -> bytes:
    tensor = {"dtype": "F32", "shape": shape, "data_offsets": [start, stop]}
    text = json.dumps({"model.embed_tokens.weight": tensor}).encode()
    return struct.pack("<Q", len(text)) + text


TRAPS: dict[str, Trap] = {
    "auto_map": _auto_map,
    "pickled weights": _weights("pytorch_model.bin"),
    "a header of safetensors that never ends": _header(struct.pack("<Q", 2**63) + b"{"),
    "auto_map of a known kind": _auto_map_of_known,
    "auto_map of another folder": _auto_map_elsewhere,
    "a configuration that trusts itself": _trusting,
    "a tokenizer": _tokenizer,
    "a pickled vocabulary": _pickled_vocabulary,
    "pickled weights, protocol 4": _weights("pytorch_model.bin", 4),
    "pickled weights named as safe ones": _weights("model.safetensors"),
    "pickled shards outside of the folder": _shards,
    "pickled arguments": _weights("training_args.bin"),
    "modules of sentences": _sentence_modules,
    "a dense module": _dense,
    "an adapter": _adapter,
    "a template": _template,
    "a way to generate": _generation,
    "a deep header": _header(struct.pack("<Q", 100_000) + b"[" * 100_000),
    "a header that lies": _header(_tensor(0, 2**62, [2**60])),
    "a tensor that begins before its file": _header(_tensor(-8, 0, [2])),
    "a tensor with a negative shape": _header(_tensor(0, 8, [-2])),
}
"""Folders by what carries code or lies in them; the first three stand for all."""


def _gguf(tensors: int, pairs: int, body: bytes) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, pairs) + body


def _pair(name: bytes, kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value


_KIND_STRING, _KIND_ARRAY, _KIND_BYTE = 8, 9, 0
GGUF_FILES: dict[str, bytes] = {
    "an array that never ends": _gguf(0, 1, _pair(b"a", _KIND_ARRAY, struct.pack("<IQ", _KIND_BYTE, 2**50))),
    "a text that never ends": _gguf(0, 1, _pair(b"a", _KIND_STRING, struct.pack("<Q", 2**62) + b"x")),
    "a name that never ends": _gguf(0, 1, struct.pack("<Q", 2**63 - 1) + b"x"),
    "pairs without end": _gguf(0, 2**63, b""),
    "tensors without end": _gguf(2**63, 0, b""),
    "arrays in arrays": _gguf(
        0, 1, _pair(b"a", _KIND_ARRAY, struct.pack("<IQ", _KIND_ARRAY, 1) * 30_000 + struct.pack("<IQ", 0, 1))
    ),
    "many texts": _gguf(0, 1, _pair(b"a", _KIND_ARRAY, struct.pack("<IQ", _KIND_STRING, 2**40))),
    "an unknown kind": _gguf(0, 1, _pair(b"a", 999, b"")),
    "a tensor that is too large": _gguf(
        1, 0, struct.pack("<Q", 1) + b"a" + struct.pack("<IQQIQ", 2, 2**40, 2**40, 0, 0)
    ),
    "a tensor of an unknown kind": _gguf(
        1, 0, struct.pack("<Q", 1) + b"a" + struct.pack("<IQIQ", 1, 4, 999, 0)
    ),
    "nothing but its name": b"GGUF",
    "an old version": b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
    "nothing": b"",
}
"""Hostile headers of GGUF files (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md)."""
