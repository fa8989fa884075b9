"""Small GGUF files with random weights, written here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

WIDTH, LAYERS, HEADS, KV_HEADS, HIDDEN = 64, 2, 4, 2, 96
CONTROL = ["<|end|>", "<|user|>"]
TEMPLATE = "{% for message in messages %}<|user|>{{ message['content'] }}<|end|>{% endfor %}"


def byte_tokens() -> list[str]:
    """The characters that stand for the 256 bytes in byte-level BPE, as in GPT-2's encoder."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in shown]
    return [chr(code) for code in shown] + [chr(256 + number) for number in range(len(others))]


def write_gguf(
    path: Path,
    architecture: str = "llama",
    *,
    tokenizer: str = "gpt2",
    template: str | None = TEMPLATE,
    more: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
) -> Path:
    """Write a model of two layers; `more` and `without` name tensors that are added and left out."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(LAYERS)
    writer.add_context_length(1024)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_key_length(WIDTH // HEADS)
    writer.add_value_length(WIDTH // HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    tokens = [*CONTROL, *byte_tokens(), "Ġt", "Ġth"]
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model(tokenizer)
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in CONTROL else 1 for token in tokens])
    writer.add_token_merges(["Ġ t", "Ġt h"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_pad_token_id(0)
    if template is not None:
        writer.add_chat_template(template)
    for name, shape in tensors(architecture, len(tokens)).items():
        if name not in without:
            add(writer, name, shape)
    for name in more:
        add(writer, name, (WIDTH // HEADS // 2,))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def add(writer: gguf.GGUFWriter, name: str, shape: tuple[int, ...]) -> None:
    random: Any = np.random.default_rng(sum(name.encode()))
    values = random.normal(0, 0.2, shape)
    writer.add_tensor(name, values.astype(np.float32 if len(shape) == 1 else np.float16))


def tensors(architecture: str, vocabulary: int) -> dict[str, tuple[int, ...]]:
    kv = WIDTH * KV_HEADS // HEADS
    found: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (vocabulary, WIDTH),
        "output_norm.weight": (WIDTH,),
    }
    for layer in range(LAYERS):
        block: dict[str, tuple[int, ...]] = {
            "attn_norm.weight": (WIDTH,),
            "attn_q.weight": (WIDTH, WIDTH),
            "attn_k.weight": (kv, WIDTH),
            "attn_v.weight": (kv, WIDTH),
            "attn_output.weight": (WIDTH, WIDTH),
            "ffn_norm.weight": (WIDTH,),
            "ffn_gate.weight": (HIDDEN, WIDTH),
            "ffn_up.weight": (HIDDEN, WIDTH),
            "ffn_down.weight": (WIDTH, HIDDEN),
        }
        if architecture == "qwen2":
            block |= {"attn_q.bias": (WIDTH,), "attn_k.bias": (kv,), "attn_v.bias": (kv,)}
        if architecture == "qwen3":
            block |= {"attn_q_norm.weight": (WIDTH // HEADS,), "attn_k_norm.weight": (WIDTH // HEADS,)}
        found |= {f"blk.{layer}.{name}": shape for name, shape in block.items()}
    return found
