"""The losses of a part of a step, which add up to the loss of the step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from citewell.scorer.training.config import Formulation, ObjectiveConfig

if TYPE_CHECKING:
    import torch


def loss_of(scores: torch.Tensor, part: Mapping[str, Any], objective: ObjectiveConfig) -> torch.Tensor:
    """Return the loss of a part's scores (n,); see `citewell.scorer.training.collate.targets`."""
    found: torch.Tensor = _LOSSES[objective.formulation](scores, part)
    if objective.length_penalty:
        share = part["shares"].sum()
        found = found + objective.length_penalty * share * length_correlation(scores, part) ** 2
    return found


def pairwise(scores: torch.Tensor, part: Mapping[str, Any]) -> torch.Tensor:
    """Return the cross-entropy of the preferences, whose logit is the difference of two scores.

    WebGPT §3.2, with ties as soft labels; InstructGPT §3.4, equation 1.
    """
    from torch.nn.functional import binary_cross_entropy_with_logits

    first, second = part["pairs"].T
    found: torch.Tensor = binary_cross_entropy_with_logits(
        scores[first] - scores[second], part["preferences"], part["weights"], reduction="sum"
    )
    return found


def classification(scores: torch.Tensor, part: Mapping[str, Any]) -> torch.Tensor:
    """Return the cross-entropy of the labels 1, a good answer, and 0, an unrelated one (WebGLM §5.4.3)."""
    from torch.nn.functional import binary_cross_entropy_with_logits

    found: torch.Tensor = binary_cross_entropy_with_logits(
        scores, part["labels"], part["shares"], reduction="sum"
    )
    return found


def regression(scores: torch.Tensor, part: Mapping[str, Any]) -> torch.Tensor:
    """Return the squared distance from the labels, which are computed from votes (WebGLM §5.4.3)."""
    found: torch.Tensor = ((scores - part["labels"]) ** 2 * part["shares"]).sum()
    return found


def length_correlation(scores: torch.Tensor, part: Mapping[str, Any]) -> torch.Tensor:
    """Return the correlation of score and length differences over the part's pairs: -1 to 1, a scalar.

    The order within a pair is arbitrary, so the mean difference is not subtracted. The result is 0 if there
    are no pairs, or none that differ.
    """
    first, second = part["pairs"].T
    apart = scores[first] - scores[second]
    longer = part["lengths"][first] - part["lengths"][second]
    found: torch.Tensor = (apart * longer).sum() / (
        apart.square().sum() * longer.square().sum() + 1e-12
    ).sqrt()
    return found


_LOSSES: Mapping[Formulation, Any] = {
    "pairwise": pairwise,
    "classification": classification,
    "regression": regression,
}
