"""From a question, an answer and its references to the tokens that a scorer reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.scorer.form import InputLayout

if TYPE_CHECKING:
    import torch

_CHARACTERS = 20
"""Characters a token, at most: what is longer is cut before it is tokenized, which takes time."""


class TokenizedInput(NamedTuple):
    """The tokens of one input; `answer` counts those of the answer. `kinds` are 0, in the answer 1."""

    ids: tuple[int, ...]
    kinds: tuple[int, ...]
    answer: int


class InputTokenizer:
    """A tokenizer of inputs, laid out as the layout says.

    For a model with [CLS] and [SEP] that is `[CLS] question [SEP] references [SEP] answer [SEP]`, for others
    `Question: … Reference: … Answer: …` and the token that ends a text, where a decoder has read it all.
    """

    def __init__(self, tokenizer: Any, layout: InputLayout) -> None:
        """`tokenizer` is one of transformers."""
        self.tokenizer = tokenizer
        self._layout = layout
        self.has_kinds = "token_type_ids" in tokenizer.model_input_names
        if tokenizer.cls_token_id is not None and tokenizer.sep_token_id is not None:
            between = [tokenizer.sep_token_id]
            self._first, self._reference, self._answer, self._last = (
                [tokenizer.cls_token_id],
                between,
                between,
                between,
            )
        else:
            self._first = self._tokens("Question: ")
            self._reference = self._tokens("\nReference: ")
            self._answer = self._tokens("\nAnswer: ")
            self._last = [tokenizer.eos_token_id]

    def encode(
        self, question: str, answer: str, references: Sequence[str] = (), most: int | None = None
    ) -> TokenizedInput:
        """The tokens of one input; of the answer at most `most`, and what the layout has room for.

        References share the room that question and answer leave.
        """
        asked = self._question(question)
        room = self._layout.max_tokens - len(asked) - len(self._answer) - len(self._last)
        cut = room if most is None else min(room, most)
        answered = self._tokens(answer[: cut * _CHARACTERS])[:cut]
        before = asked + self._references(references, room - len(answered)) + self._answer
        after = answered + self._last
        return TokenizedInput(tuple(before + after), (0,) * len(before) + (1,) * len(after), len(answered))

    def answer_tokens(self, answer: str) -> int:
        """How many tokens an answer has, if it is not cut; at most what the model reads."""
        most = self._layout.max_tokens
        return min(most, len(self._tokens(answer[: most * _CHARACTERS])))

    def _question(self, question: str) -> list[int]:
        most = self._layout.question_tokens
        length = most * _CHARACTERS
        if len(question) > 2 * length:
            question = question[:length] + question[-length:]
        tokens = self._tokens(question)
        if len(tokens) > most:
            tokens = tokens[: most - most // 2] + tokens[-(most // 2) :]
        return self._first + tokens

    def _references(self, references: Sequence[str], room: int) -> list[int]:
        shown = references[: self._layout.references]
        tokens: list[int] = []
        for place, text in enumerate(shown):
            share = (room - len(tokens)) // (len(shown) - place) - len(self._reference)
            if share > 0:
                tokens += self._reference + self._tokens(text[: share * _CHARACTERS])[:share]
        return tokens

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False)
        return ids


def padded(rows: Sequence[TokenizedInput], *, kinds: bool) -> dict[str, torch.Tensor]:
    """`input_ids` and `attention_mask`, (n, longest row), padded on the right; with `kinds`, types."""
    import torch

    longest = max(len(row.ids) for row in rows)
    shape = (len(rows), longest)
    found = {
        "input_ids": torch.zeros(shape, dtype=torch.long),
        "attention_mask": torch.zeros(shape, dtype=torch.long),
    }
    if kinds:
        found["token_type_ids"] = torch.zeros(shape, dtype=torch.long)
    for place, row in enumerate(rows):
        found["input_ids"][place, : len(row.ids)] = torch.tensor(row.ids)
        found["attention_mask"][place, : len(row.ids)] = 1
        if kinds:
            found["token_type_ids"][place, : len(row.ids)] = torch.tensor(row.kinds)
    return found
