"""Small encoders of random weights, written as transformers, PEFT and sentence-transformers write them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LETTERS = "abcdefghijklmnopqrstuvwxyz"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *LETTERS, *(f"##{c}" for c in LETTERS)]
TEXTS = ["the sky is blue.", "", "a", "why do cats purr", "zz yy xx ww vv uu tt ss rr qq pp oo nn mm ll kk"]

MakeBert = Callable[..., Path]


def write_bert(folder: Path, *, seed: int = 0, dimension: int = 64, tokenizer: bool = True) -> Path:
    """A BERT of two layers in the Hugging Face layout."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    if tokenizer:
        vocabulary = folder / "vocab.txt"
        vocabulary.write_text("\n".join(VOCABULARY), encoding="utf-8")
        BertTokenizer(vocab=str(vocabulary)).save_pretrained(folder)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=dimension,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * dimension,
        max_position_embeddings=64,
        initializer_range=0.2,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def write_other(kind: str, folder: Path) -> Path:
    """A small model of another architecture, or with the prefix that a language model's file has."""
    import torch
    from transformers import AutoConfig, AutoModel, BertForMaskedLM

    write_bert(folder)
    if kind == "bert of a language model":
        torch.manual_seed(0)
        BertForMaskedLM(AutoConfig.from_pretrained(folder)).save_pretrained(folder)
        return folder
    sizes: dict[str, Any] = {"vocab_size": len(VOCABULARY), "initializer_range": 0.2, "pad_token_id": 0}
    if kind == "distilbert":
        sizes |= {"dim": 64, "hidden_dim": 128, "n_layers": 2, "n_heads": 2, "max_position_embeddings": 64}
    elif kind != "bert":
        sizes |= {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
        sizes |= {"num_attention_heads": 2, "max_position_embeddings": 66}
    if kind == "modernbert":
        sizes |= dict.fromkeys(("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id"), 0)
        sizes |= {"local_attention": 8}
    if kind != "bert":
        (folder / "model.safetensors").unlink()
        torch.manual_seed(0)
        AutoModel.from_config(AutoConfig.for_model(kind, **sizes)).save_pretrained(folder)
    return folder


def write_adapter(base: Path, folder: Path, *, seed: int = 0, **options: Any) -> Path:
    """A LoRA adapter for the model in `base`, random on both sides, as PEFT writes it."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModel

    torch.manual_seed(seed)
    config = LoraConfig(**{"r": 4, "lora_alpha": 16, "target_modules": ["query", "value"]} | options)
    model = get_peft_model(AutoModel.from_pretrained(base), config)
    for name, weight in model.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(weight, std=0.2)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="package")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain BERT. Its name has a dot, as many models' do."""
    return write_bert(tmp_path_factory.mktemp("bert") / "bert-0.1B")


@pytest.fixture(scope="package")
def other_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "other", seed=1)
