"""Conversion of a planned step to tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.training.plan import PlannedStep, Size
from citewell.scorer.encode import InputTokenizer, TokenizedInput, padded
from citewell.scorer.training.elements import Element

if TYPE_CHECKING:
    import torch


class Whole(NamedTuple):
    """The totals that normalize the parts of a step: number of elements, and weight of their pairs."""

    elements: int
    weight: float

    @classmethod
    def of(cls, elements: Sequence[Element]) -> Whole:
        """Return the totals of all elements of a step."""
        weight = sum(pair.weight for element in elements for pair in element.pairs)
        return cls(len(elements), weight or 1.0)


class ScorerCollator:
    """The maker of the tensors of each step, on demand."""

    def __init__(
        self,
        steps: Sequence[PlannedStep],
        examples: Sequence[Element],
        encoder: InputTokenizer,
        *,
        match_length: bool,
    ) -> None:
        self._steps = steps
        self._examples = examples
        self._encoder = encoder
        self._match_length = match_length

    def __call__(self, items: Sequence[dict[str, int]]) -> dict[str, Any]:
        """Return the parts of the one step whose number is in `items`."""
        (item,) = items
        step = self._steps[item["step"]]
        parts = [[self._examples[draw.place] for draw in part] for part in step.parts]
        whole = Whole.of([element for part in parts for element in part])
        return {"parts": [self._part(part, whole) for part in parts]}

    def _part(self, part: Sequence[Element], whole: Whole) -> dict[str, Any]:
        rows = [row for element in part for row in encode(element, self._encoder, self._match_length)]
        return {"inputs": padded(rows, kinds=self._encoder.has_kinds), **targets(part, rows, whole)}


def encode(element: Element, encoder: InputTokenizer, match_length: bool) -> list[TokenizedInput]:
    """Return the inputs of an element's answers; with `match_length`, all cut to the shortest answer."""
    most = None
    if match_length:
        most = max(1, min(encoder.answer_tokens(answer.text) for answer in element.answers))
    return [
        encoder.encode(element.question, answer.text, answer.references, most) for answer in element.answers
    ]


def measure(element: Element, encoder: InputTokenizer, match_length: bool) -> Size:
    """Return the size of an element in a plan."""
    rows = encode(element, encoder, match_length)
    lengths = [len(row.ids) for row in rows]
    return Size(len(rows), max(lengths), sum(lengths))


def targets(part: Sequence[Element], rows: Sequence[TokenizedInput], whole: Whole) -> dict[str, torch.Tensor]:
    """Return the inputs of the loss besides the scores of the part's `n` inputs.

    `pairs` (p, 2) are indices of inputs, `preferences` (p,) the degree to which the first is preferred,
    `weights` (p,) the share of each pair in the loss of the `whole` step, `labels` (n,), NaN if there are
    none, `shares` (n,) the shares of the labels in that loss, and `lengths` (n,) the logarithms of the
    answers' tokens.
    """
    import torch

    pairs: list[tuple[int, int]] = []
    preferences: list[float] = []
    weights: list[float] = []
    labels: list[float] = []
    shares: list[float] = []
    start = 0
    for element in part:
        pairs += [(start + pair.first, start + pair.second) for pair in element.pairs]
        preferences += [pair.preference for pair in element.pairs]
        weights += [pair.weight / whole.weight for pair in element.pairs]
        labels += element.labels or (torch.nan,) * len(element.answers)
        shares += [1 / len(element.answers) / whole.elements] * len(element.answers)
        start += len(element.answers)
    return {
        "pairs": torch.tensor(pairs, dtype=torch.long).reshape(-1, 2),
        "preferences": torch.tensor(preferences),
        "weights": torch.tensor(weights),
        "labels": torch.tensor(labels),
        "shares": torch.tensor(shares),
        "lengths": torch.tensor([float(row.answer + 1) for row in rows]).log(),
    }
