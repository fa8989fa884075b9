"""The loss of a judge: the binary cross-entropy of yes against no as the first word of the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def yes_logits(model: Any, part: Mapping[str, Any], yes: Sequence[int], no: Sequence[int]) -> torch.Tensor:
    """Return the logits of the probability of yes against no, shape (n).

    `part` is what `citewell.generator.training.judge.tokens.padded_questions` makes; `yes` and `no` are
    tokens of these words.
    """
    import torch

    places, of_row = torch.unique(part["last"], return_inverse=True)
    logits = model(input_ids=part["input_ids"], use_cache=False, logits_to_keep=places).logits
    own: torch.Tensor = logits[torch.arange(len(of_row)), of_row].float()
    return own[:, list(yes)].logsumexp(dim=1) - own[:, list(no)].logsumexp(dim=1)


def judge_loss(logits: torch.Tensor, part: Mapping[str, Any]) -> torch.Tensor:
    """Return the sum of the cross-entropies of the questions of a part, a scalar."""
    from torch.nn.functional import binary_cross_entropy_with_logits

    return binary_cross_entropy_with_logits(logits, part["yes"], reduction="sum")
