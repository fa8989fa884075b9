"""A head that begins as a linear probe: the best that can be done with the base model as it is.

Fine-tuning from a head at zero spends what little data there is on finding that head, and distorts what the
base model knew meanwhile (Kumar et al. 2022, https://arxiv.org/abs/2202.10054: linear probing, then
fine-tuning).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.telling import Tell
from scorer.load import vectors_of_rows
from scorer.training.collate import Whole, encode, targets
from scorer.training.config import Config
from scorer.training.elements import Element
from scorer.training.loss import loss_of
from scorer.training.model import Trainable

if TYPE_CHECKING:
    import torch

_ROUNDS = 200  # of L-BFGS, which needs far fewer
_EVERY = 30.0  # seconds between two lines of progress


def fit_probe(trainable: Trainable, learnt: Sequence[Element], config: Config, tell: Tell) -> None:
    """Fit the head to the loss of all that is learnt from, with the vectors of the model as it is now.

    The loss has `config.training.probe` times the squared norm of the head's weights added, in units of the
    vectors' deviations.
    """
    import torch

    model: Any = trainable.model
    model.eval()
    match_length = config.objective.match_length
    rows = [row for element in learnt for row in encode(element, trainable.encoder, match_length)]
    told = time.monotonic()

    def seen(done: int) -> None:
        nonlocal told
        if time.monotonic() - told > _EVERY:
            told = time.monotonic()
            tell(f"probe: {done:,} of {len(rows):,} answers")

    vectors = vectors_of_rows(model.backbone, trainable.encoder, rows, trainable.pooling, seen).cpu().clone()
    spread = vectors.std(dim=0) + 1e-6
    whole = targets(learnt, rows, Whole.of(learnt))
    weights = torch.zeros(vectors.shape[1], requires_grad=True)
    bias = torch.zeros(1, requires_grad=True)
    fitting = torch.optim.LBFGS([weights, bias], max_iter=_ROUNDS, line_search_fn="strong_wolfe")
    scaled = vectors / spread

    def closure() -> torch.Tensor:
        fitting.zero_grad()
        ridge = (config.training.probe or 0.0) * weights.square().sum()
        loss: torch.Tensor = loss_of(scaled @ weights + bias, whole, config.objective) + ridge
        loss.backward()  # type: ignore[no-untyped-call]
        return loss

    loss: Any = fitting.step(closure)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        model.head.weight.copy_((weights / spread)[None])
        model.head.bias.copy_(bias)
    tell(f"the head begins as a linear probe of {len(rows):,} answers, loss {float(loss):.4f} at its start")
