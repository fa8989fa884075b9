"""Initialization of the head as a linear probe: the best head for the unchanged base model.

Fine-tuning from a zero head spends scarce data on finding the head, and meanwhile distorts the features of
the base model (Kumar et al. 2022, https://arxiv.org/abs/2202.10054: linear probing, then fine-tuning).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.progress import Log
from citewell.scorer.encode import TokenizedInput
from citewell.scorer.load import vectors_of_rows
from citewell.scorer.training.collate import Whole, encode, targets
from citewell.scorer.training.config import ObjectiveConfig, ScorerRecipe
from citewell.scorer.training.elements import Element
from citewell.scorer.training.loss import loss_of
from citewell.scorer.training.model import TrainableScorer

if TYPE_CHECKING:
    import torch

_ROUNDS = 200  # of L-BFGS, which needs far fewer
_EVERY = 30.0  # seconds between two lines of progress


class Probe(NamedTuple):
    """A linear head: weights (size,), a bias (1,), and its loss, including the ridge."""

    weights: torch.Tensor
    bias: torch.Tensor
    loss: float


def fit_probe(
    trainable: TrainableScorer, learned: Sequence[Element], config: ScorerRecipe, tell: Log
) -> None:
    """Fit the head to the loss of all training data, with the vectors of the current model."""
    import torch

    model: Any = trainable.model
    match_length = config.objective.match_length
    rows = [row for element in learned for row in encode(element, trainable.encoder, match_length)]
    vectors = vectors_of(trainable, rows, tell)
    targeted = targets(learned, rows, Whole.of(learned))
    found = probe(vectors, targeted, config.objective, config.training.probe or 0.0)
    with torch.no_grad():
        model.head.weight.copy_(found.weights[None])
        model.head.bias.copy_(found.bias)
    tell(f"the head begins as a linear probe of {len(rows):,} answers, loss {found.loss:.4f} with the ridge")


def vectors_of(trainable: TrainableScorer, rows: Sequence[TokenizedInput], tell: Log) -> torch.Tensor:
    """Return the head's inputs for `n` inputs, (n, size), on the CPU; report progress."""
    model: Any = trainable.model
    model.eval()
    told = time.monotonic()

    def seen(done: int) -> None:
        nonlocal told
        if time.monotonic() - told > _EVERY:
            told = time.monotonic()
            tell(f"probe: {done:,} of {len(rows):,} answers")

    found = vectors_of_rows(model.backbone, trainable.encoder, rows, trainable.pooling, seen)
    return found.cpu().clone()  # a copy that gradients may be computed with


def probe(vectors: torch.Tensor, part: Mapping[str, Any], objective: ObjectiveConfig, ridge: float) -> Probe:
    """Return the linear head with the lowest loss on the vectors (n, size) of a part; see `targets`.

    The loss includes `ridge` times the squared norm of the weights, in units of the vectors' deviations.
    """
    import torch

    spread = vectors.std(dim=0) + 1e-6
    scaled = vectors / spread
    weights = torch.zeros(vectors.shape[1], requires_grad=True)
    bias = torch.zeros(1, requires_grad=True)

    def fit(objective: ObjectiveConfig) -> float:
        fitting = torch.optim.LBFGS([weights, bias], max_iter=_ROUNDS, line_search_fn="strong_wolfe")

        def closure() -> torch.Tensor:
            fitting.zero_grad()
            loss = loss_of(scaled @ weights + bias, part, objective) + ridge * weights.square().sum()
            loss.backward()  # type: ignore[no-untyped-call]
            return loss

        fitting.step(closure)  # type: ignore[no-untyped-call]
        return closure().item()

    # The correlation with length is discontinuous if all scores are equal, as they are at zero.
    loss = fit(objective.model_copy(update={"length_penalty": 0.0}))
    if objective.length_penalty:
        loss = fit(objective)
    return Probe((weights / spread).detach(), bias.detach(), loss)
