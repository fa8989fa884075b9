"""Pairs of a question and a passage as token ids: [CLS] question [SEP] passage [SEP]."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import ModelError
from citewell.retriever.encoder.tokenizer import read_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class PairTokenizer:
    """Tokenizes pairs of BERT's form. Long questions are cut first, then passages at their ends."""

    def __init__(self, folder: Path, *, max_tokens: int, question_tokens: int) -> None:
        """Read the tokenizer in `folder`; a pair has at most `max_tokens` tokens.

        Raises `ModelError` for a tokenizer that puts no two special tokens around a text.
        """
        tokenizer: Tokenizer = read_tokenizer(folder)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._question_tokens = question_tokens
        ends = tokenizer.encode("").ids
        if len(ends) != 2:
            raise ModelError(
                f"The tokenizer in {folder} marks texts with {len(ends)} special tokens, not 2.",
                "Use a base of BERT's kind, such as all-MiniLM-L6-v2.",
            )
        self._first, self._last = ends

    def texts(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of texts, without special tokens, for `pair`."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [encoding.ids[: self._max_tokens] for encoding in encodings]

    def pair(self, question: Sequence[int], passage: Sequence[int]) -> list[int]:
        """Return the token ids of a pair."""
        asked = question[: self._question_tokens]
        room = self._max_tokens - len(asked) - 3
        return [self._first, *asked, self._last, *passage[:room], self._last]

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
        """Return the token ids of `n` pairs of a question and a passage."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        ids = dict(zip(texts, self.texts(texts), strict=True))
        return [self.pair(ids[question], ids[passage]) for question, passage in pairs]
