"""The tokenizer of a tower, read without transformers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def read_tokenizer(folder: Path) -> Tokenizer:
    """Read the tokenizer in `folder`: its tokenizer.json, or BERT's word pieces if it has only a vocab.txt.

    Raises `ModelError` if both are missing, or the file is damaged.
    """
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    try:
        if file.is_file():
            return Tokenizer.from_file(str(file))
        return _word_pieces(folder)
    except Exception as error:  # the library raises plain exceptions
        raise ModelError(
            f"The tokenizer in {folder} cannot be read: {error}",
            "Save it as tokenizer.json with transformers' save_pretrained().",
        ) from error


def open_tokenizer(file: Path, max_tokens: int) -> Tokenizer:
    """Load the tokenizer of tokenizer.json without padding; it cuts texts to `max_tokens` tokens."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def _word_pieces(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    vocabulary = models.WordPiece.read_file(str(folder / "vocab.txt"))
    about = folder / "tokenizer_config.json"
    config = json.loads(about.read_text(encoding="utf-8")) if about.is_file() else {}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106 - no password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=config.get("do_lower_case", True))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(token, vocabulary[token]) for token in ("[SEP]", "[CLS]")]
    tokenizer.post_processor = processors.BertProcessing(*ends)
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer
