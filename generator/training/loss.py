"""The loss: cross-entropy of the answers' tokens, and of nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from citewell.generator.training.collate import IGNORED

if TYPE_CHECKING:
    import torch


def answer_loss(model: Any, part: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the sum over all tokens that have a label, a scalar.

    `part` is what `citewell.generator.training.collate` makes.

    Logits are only computed at positions where some row of the part has a label: a prompt is five times as
    long as its answer, and the vocabulary the widest matrix of a small model. TRL's own loss does the
    same only on devices that Triton knows.
    """
    import torch.nn.functional as nn

    inputs = {name: value for name, value in part.items() if name != "labels"}
    targets = part["labels"][:, 1:]
    positions = (targets != IGNORED).any(dim=0).nonzero()[:, 0]
    logits = model(**inputs, use_cache=False, logits_to_keep=positions).logits
    return nn.cross_entropy(
        logits.float().flatten(0, 1), targets[:, positions].flatten(), ignore_index=IGNORED, reduction="sum"
    )


def part_loss(model: Any, part: Mapping[str, Any]) -> torch.Tensor:
    """`answer_loss` of a part of a step, as its share of the mean over the step's tokens; a scalar."""
    return answer_loss(model, part["inputs"]) / int(part["tokens"])


def answer_tokens(part: Mapping[str, torch.Tensor]) -> int:
    """Count the tokens of a part that have a label."""
    return int((part["labels"] != IGNORED).sum())
