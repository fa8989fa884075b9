"""A made-up world to learn: a tiny Llama, and answers that repeat one of their references."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord")


def write_llama(folder: Path) -> Path:
    """A Llama with random weights and a tokenizer of bytes, in Hugging Face's layout."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    special = ["<|im_start|>", "<|im_end|>"]
    tokenizer = Tokenizer(models.BPE({each: place for place, each in enumerate([*special, *letters])}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|im_end|>", bos_token="<|im_start|>"
    )
    fast.chat_template = TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(letters) + 2,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def rows(count: int) -> list[dict[str, Any]]:
    """Rows in the form of WebGLM-QA; each answer cites one of its two references."""
    chance = random.Random(0)
    found = []
    for number in range(count):
        good, other = chance.sample(WORDS, 2)
        found.append(
            {
                "question": f"what is {good} {number}",
                "references": [f"{other} is old", f"{good} is red"],
                "answer": f"{good} is red[2].",
            }
        )
    return found


def write_world(folder: Path, count: int = 40) -> Path:
    """The model and the rows."""
    write_llama(folder / "llama")
    write_rows(folder / "rows.jsonl", rows(count))
    return folder


def write_rows(file: Path, values: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def write_config(folder: Path, name: str = "config.toml", **changes: Any) -> Path:
    """A recipe for `write_world`; `changes` are lines of [training]."""
    training = {
        "batch": 8,
        "epochs": 2,
        "learning_rate": 0.01,
        "part_tokens": 1024,
        "eval_every": 2,
        "log_every": 1,
        "generate": 2,
        "ema": 0.5,
    } | changes
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in training.items() if value is not None)
    text = f"""
[model]
base = {json.dumps(str(folder / "llama"))}
[model.lora]
rank = 4
dropout = 0.1
[prompt]
references = 3
prompt_tokens = 400
answer_tokens = 32
[[data]]
name = "made-up"
files = ["rows.jsonl"]
license = "CC0"
held_out = 8
[training]
threads = 1
{lines}
"""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file
