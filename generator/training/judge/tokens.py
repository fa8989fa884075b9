"""From an example to tokens, and from a planned step to tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.training.plan import PlannedDraw, PlannedStep, Size
from citewell.generator.causal import NO, YES, rendered
from citewell.generator.training.judge.examples import JudgeExample
from citewell.generator.transformers import TransformersModel

if TYPE_CHECKING:
    import torch


class TokenizedQuestion(NamedTuple):
    """The tokens of a question to the judge, and the probability of yes."""

    tokens: Sequence[int]
    yes: float

    @property
    def size(self) -> Size:
        """The size of the question."""
        return Size(1, len(self.tokens), len(self.tokens))


class JudgeTokenizer:
    """Tokenizes examples as the judge is asked, and knows the tokens of yes and no."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        """`model` is a causal language model of transformers; only its limits are used."""
        self._model = TransformersModel(model, tokenizer)
        self.yes, self.no = ([self._model.encode(word)[0] for word in words] for words in (YES, NO))

    def tokenized(self, example: JudgeExample) -> TokenizedQuestion:
        """Return the tokens of an example."""
        return TokenizedQuestion(self._model.encode(rendered(self._model, example.messages)), example.yes)


class JudgeCollator:
    """A collator that makes the tensors of each step when it is due."""

    def __init__(self, steps: Sequence[PlannedStep], questions: Sequence[TokenizedQuestion]) -> None:
        self._steps = steps
        self._questions = questions

    def __call__(self, items: Sequence[dict[str, int]]) -> dict[str, Any]:
        """Return the parts of the one step that `items` names by its number."""
        (item,) = items
        parts = self._steps[item["step"]].parts
        rows = sum(map(len, parts))
        return {"parts": [self._part(part) | {"rows": rows} for part in parts]}

    def _part(self, part: Sequence[PlannedDraw]) -> dict[str, Any]:
        return padded_questions([self._questions[draw.place] for draw in part])


def padded_questions(questions: Sequence[TokenizedQuestion]) -> dict[str, torch.Tensor]:
    """`input_ids` (n, longest), `last` (n) with the place of each last token, and `yes` (n).

    The rows are padded on the right. A causal model needs no mask for what comes after a row.
    """
    import torch

    ids = torch.zeros(len(questions), max(len(each.tokens) for each in questions), dtype=torch.long)
    for row, each in zip(ids, questions, strict=True):
        row[: len(each.tokens)] = torch.tensor(each.tokens)
    return {
        "input_ids": ids,
        "last": torch.tensor([len(each.tokens) - 1 for each in questions]),
        "yes": torch.tensor([each.yes for each in questions]),
    }
