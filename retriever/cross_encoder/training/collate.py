"""Groups of a question with labeled passages, and the tensors of a planned step."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from citewell.core.training.plan import PlannedDraw, PlannedStep, Size
from citewell.retriever.cross_encoder.pairs import PairTokenizer
from citewell.retriever.cross_encoder.training.typed import as_typed
from citewell.retriever.encoder.engines.engine import Ids, pad
from citewell.retriever.training.inner_products import InnerProducts
from citewell.retriever.training.plan import choose
from citewell.retriever.training.rows import LabeledRow


class PassageGroup(NamedTuple):
    """A row, its weight in the loss, and the share of times that its question is seen as people type it."""

    row: LabeledRow
    weight: float
    typed: float


class GroupCollator:
    """Makes the tensors of each step on demand: the same ones for a resumed run."""

    def __init__(
        self,
        groups: Sequence[PassageGroup],
        tokenizer: PairTokenizer,
        products: InnerProducts | None,
        *,
        list_size: int,
        seed: int,
    ) -> None:
        """`products` are those of the dual encoder that the loss adds, if any; `seed` draws passages.

        Call `follow` before the first step.
        """
        self._steps: Sequence[PlannedStep] = ()
        self._groups = groups
        self._tokenizer = tokenizer
        self._products = products
        self._list_size = list_size
        self._seed = seed
        texts = dict.fromkeys(text for group in groups for text in group.row.passages)
        self._passages = dict(zip(texts, tokenizer.texts(list(texts)), strict=True))

    def measure(self) -> list[Size]:
        """Return the size of each group in a plan, about that of any draw of its passages."""
        sizes = []
        for group in self._groups:
            asked = self._tokenizer.texts([group.row.question])[0]
            lengths = [len(self._tokenizer.pair(asked, self._passages[text])) for text in group.row.passages]
            rows = min(self._list_size, len(lengths))
            sizes.append(Size(rows, max(lengths), round(sum(lengths) * rows / len(lengths))))
        return sizes

    def follow(self, steps: Sequence[PlannedStep]) -> None:
        """Use the steps that were planned from `measure`."""
        self._steps = steps

    def __call__(self, items: Sequence[dict[str, int]]) -> dict[str, Any]:
        """Return the parts of the one step whose number is in `items`."""
        (item,) = items
        step = self._steps[item["step"]]
        weight = sum(self._groups[draw.place].weight for part in step.parts for draw in part)
        return {"parts": [self._part(part, weight) for part in step.parts]}

    def _part(self, part: Sequence[PlannedDraw], weight: float) -> dict[str, Any]:
        """Return the input of `citewell.retriever.cross_encoder.training.loss` for some groups.

        `sizes` has the passages per group and `shares` its share of the step's loss; `labels` and `products`
        (n,) have one value per pair.
        """
        import torch

        pairs: list[list[int]] = []
        sizes: list[int] = []
        labels: list[float] = []
        products: list[float] = []
        for draw in part:
            group = self._groups[draw.place]
            chance = random.Random(f"{self._seed} {draw.place} {draw.time}")  # noqa: S311
            row = group.row
            chosen = choose(row, self._list_size, chance)
            texts = [row.passages[place] for place in chosen]
            asked = as_typed(row.question, chance) if chance.random() < group.typed else row.question
            (asked_ids,) = self._tokenizer.texts([asked])
            pairs += [self._tokenizer.pair(asked_ids, self._passages[text]) for text in texts]
            sizes.append(len(texts))
            labels += [row.targets[place] for place in chosen]
            if self._products is not None:
                products += self._products.scores([row.question], texts)[0].tolist()
        return {
            "inputs": padded_pairs(pairs),
            "sizes": sizes,
            "shares": [self._groups[draw.place].weight / weight for draw in part],
            "labels": torch.tensor(labels),
            "products": torch.tensor(products or [0.0] * len(pairs)),
        }


def padded_pairs(pairs: Ids) -> dict[str, Any]:
    """Return the input of a transformers model for pairs of token ids."""
    import torch

    ids, mask = pad(pairs)
    return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
