"""From a planned step to tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from citewell.core.training.plan import PlannedDraw, PlannedStep
from citewell.generator.training.encode import TokenizedExample

if TYPE_CHECKING:
    import torch

IGNORED = -100
"""The label of tokens that the loss ignores: PyTorch's default."""


class GeneratorCollator:
    """A collator that makes the tensors of each step when it is due."""

    def __init__(
        self,
        steps: Sequence[PlannedStep],
        encode: Callable[[PlannedDraw], TokenizedExample],
        *,
        packing: bool,
    ) -> None:
        self._steps = steps
        self._encode = encode
        self._packing = packing

    def __call__(self, items: Sequence[dict[str, int]]) -> dict[str, Any]:
        """Return the parts of the one step that `items` names by its number, with all their labels."""
        (item,) = items
        parts = []
        tokens = 0
        for part in self._steps[item["step"]].parts:
            rows = [self._encode(draw) for draw in part]
            parts.append(packed(rows) if self._packing else padded(rows))
            tokens += sum(len(row.answer) for row in rows)
        return {"parts": [{"inputs": part, "tokens": tokens} for part in parts]}


def padded(rows: Sequence[TokenizedExample]) -> dict[str, torch.Tensor]:
    """`input_ids` and `labels`, (n, longest row) each, padded on the right.

    Only the answers' tokens have labels. A causal model needs no mask for what comes after a row, and
    attends faster without one.
    """
    import torch

    longest = max(len(row.prompt) + len(row.answer) for row in rows)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    labels = torch.full_like(ids, IGNORED)
    for index, (prompt, answer) in enumerate(rows):
        end = len(prompt) + len(answer)
        ids[index, :end] = torch.tensor(prompt + answer)
        labels[index, len(prompt) : end] = torch.tensor(answer)
    return {"input_ids": ids, "labels": labels}


def packed(rows: Sequence[TokenizedExample]) -> dict[str, torch.Tensor]:
    """`input_ids`, `position_ids` and `labels`, (1, all tokens) each: rows one after the other.

    Positions restart with each row, which tells transformers that rows do not attend to each other.
    """
    import torch

    tokens: list[int] = []
    positions: list[int] = []
    labels: list[int] = []
    for prompt, answer in rows:
        tokens += [*prompt, *answer]
        positions += range(len(prompt) + len(answer))
        labels += [IGNORED] * len(prompt) + list(answer)
    return {
        "input_ids": torch.tensor([tokens]),
        "position_ids": torch.tensor([positions]),
        "labels": torch.tensor([labels]),
    }
