"""A made-up world to learn: a tiny BERT and a tiny Llama, and people who like answers that are kind."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

GOOD, BAD = ("kind", "warm", "clear"), ("rude", "cold", "vague")
TOPICS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty")
FILLER = ("the", "is", "of", "it", "and", "so")
_WORDS = (*GOOD, *BAD, *TOPICS, *FILLER, "question", ":", "answer", "reference", "what")


def write_bert(folder: Path, *, hidden: int = 32) -> Path:
    """A BERT of three layers with random weights, in Hugging Face's layout."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder.mkdir(parents=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_WORDS]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer: Any = BertTokenizerFast(vocab=vocabulary, model_max_length=64)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=hidden,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def write_llama(folder: Path) -> Path:
    """A Llama of two layers with random weights and a tokenizer of words."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = ["<end>", "<unk>", "Question", "Answer", "Reference", *_WORDS]
    vocabulary = {word: place for place, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<end>", unk_token="<unk>", pad_token="<end>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=128,
        bos_token_id=None,
        eos_token_id=0,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def answer(words: tuple[str, ...], chance: random.Random) -> str:
    """A few words, one of them of `words`."""
    found = [chance.choice(words), *chance.choices(FILLER, k=chance.randint(2, 8))]
    chance.shuffle(found)
    return " ".join(found)


def question(number: int) -> str:
    """A question that is near no other one."""
    return f"what {TOPICS[number % 10]}{number} zone{number} unit{number}"


def choices(count: int, *, liked: tuple[str, ...] = GOOD, start: int = 0) -> list[dict[str, Any]]:
    """Choices of users, who prefer answers with one of the words `liked`."""
    chance = random.Random(start)
    other = BAD if liked == GOOD else GOOD
    rows = []
    for number in range(start, start + count):
        first = chance.random() < 0.5
        good, bad = answer(liked, chance), answer(other, chance)
        rows.append(
            {
                "question": question(number),
                "answers": [good, bad] if first else [bad, good],
                "preferred": 0 if first else 1,
            }
        )
    return rows


def votes(count: int) -> list[dict[str, Any]]:
    """Questions with six answers; the kinder, the more votes."""
    chance = random.Random(1)
    return [
        {
            "question": question(number + 5000),
            "answers": [
                {"text": answer(words, chance), "score": score}
                for words, score in ((GOOD, 40), (GOOD, 30), (GOOD, 20), (BAD, 6), (BAD, 5), (BAD, 4))
            ],
        }
        for number in range(count)
    ]


def write_rows(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def write_world(folder: Path) -> Path:
    """The models and the choices."""
    write_bert(folder / "bert")
    write_llama(folder / "llama")
    write_rows(folder / "choices.jsonl", choices(160))
    write_rows(folder / "votes.jsonl", votes(60))
    return folder


def write_recipe(
    folder: Path, name: str, text: str = "", base: str = "bert", depth: int | None = None, **changes: Any
) -> Path:
    """A recipe for `write_world`; `changes` are lines of [training], `text` is put before it."""
    training = {
        "epochs": 4,
        "batch": 16,
        "learning_rate": 0.01,
        "part_tokens": 256,
        "eval_every": 10,
        "ema": 0.5,
        "threads": 1,
    } | changes
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in training.items() if value is not None)
    model = "" if "[model]" in text else f"[model]\nbase = {json.dumps(str(folder / base))}\nfrozen = 0.5\n"
    model += f"depth = {depth}\n" if depth else ""
    layout = "[model.layout]\nmax_tokens = 48\nquestion_tokens = 8\n"
    data = "" if "[[data]]" in text else DATA
    file = folder / name
    file.write_text(f"{model}{layout}{data}{text}\n[training]\n{lines}\n", encoding="utf-8")
    return file


DATA = """
[[data]]
name = "choices"
files = ["choices.jsonl"]
license = "CC0"
[split]
dev = 0.2
test = 0.2
"""
