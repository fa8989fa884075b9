"""The stage before comparisons: supervised fine-tuning on the preferred answers (WebGLM §3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.progress import Log
from citewell.core.training.checkpoints import TRAINED, load_trained, save_trained
from citewell.core.training.fit import Goal, fit
from citewell.core.training.folder import CHECKPOINTS
from citewell.core.training.plan import PlannedStep, Size, plan
from citewell.scorer.encode import padded
from citewell.scorer.training.config import ScorerRecipe
from citewell.scorer.training.elements import Element
from citewell.scorer.training.model import TrainableScorer
from citewell.scorer.training.task import fit_task

if TYPE_CHECKING:
    import torch

_FINISHED = "tuned"


def tune(
    trainable: TrainableScorer, examples: Sequence[Element], config: ScorerRecipe, folder: Path, tell: Log
) -> None:
    """Fine-tune the model on the best answer to each question, with checkpoints in `folder`.

    If this stage was finished there before, its result is loaded.
    """
    finished = folder / _FINISHED
    if (finished / TRAINED).is_file():
        load_trained(trainable.model, finished)
        return
    training = config.training.model_copy(
        update={
            **config.tuning.model_dump(),
            **{"steps": None, "ema": None, "patience": None, "head_rate": 1.0},
        }
    )
    rows = [best(element) for element in examples]
    lengths = [len(trainable.encoder.encode(*row).ids) for row in rows]
    steps = plan([Size(1, length, length) for length in lengths], [1] * len(rows), training)
    (folder / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
    tell(f"fine-tuning on {len(rows):,} answers, {len(steps):,} steps")

    def loss(model: Any, part: Mapping[str, Any]) -> torch.Tensor:
        head = trainable.base.lm_head.to(next(model.parameters()).device)
        return answer_loss(model.backbone, head, part)

    collate = _Collator(steps, rows, trainable)
    fit(fit_task(trainable, training, steps, collate, loss, Goal(""), None), folder, tell)
    partial = folder / f"{_FINISHED}.partial"
    save_trained(trainable.model, partial)
    partial.rename(finished)


def best(element: Element) -> tuple[str, str, tuple[str, ...]]:
    """Return the question, text and references of the answer that wins most of its comparisons."""
    won = [0.0] * len(element.answers)
    for pair in element.pairs:
        won[pair.first] += pair.preference - 0.5
        won[pair.second] -= pair.preference - 0.5
    for place, label in enumerate(element.labels):
        won[place] += label
    answer = element.answers[max(range(len(won)), key=won.__getitem__)]
    return element.question, answer.text, answer.references


def answer_loss(backbone: Any, head: Any, part: Mapping[str, Any]) -> torch.Tensor:
    """Return the cross-entropy of the answers' tokens, times the part's share in its step; a scalar."""
    import torch.nn.functional as nn

    hidden = backbone(**part["inputs"]).last_hidden_state[:, :-1]
    places = part["answers"][:, 1:]
    targets = part["inputs"]["input_ids"][:, 1:][places]
    loss: torch.Tensor = nn.cross_entropy(head(hidden[places]).float(), targets, reduction="sum")
    return loss / int(part["tokens"])


class _Collator:
    def __init__(self, steps: Sequence[PlannedStep], rows: Sequence[Any], trainable: TrainableScorer) -> None:
        self._steps = steps
        self._rows = rows
        self._encoder = trainable.encoder

    def __call__(self, items: Sequence[dict[str, int]]) -> dict[str, Any]:
        import torch

        (item,) = items
        step = self._steps[item["step"]]
        encoded = [[self._encoder.encode(*self._rows[draw.place]) for draw in part] for part in step.parts]
        tokens = sum(sum(row.kinds) for part in encoded for row in part)
        parts = []
        for rows in encoded:
            inputs = padded(rows, kinds=False)
            answers = torch.zeros_like(inputs["input_ids"], dtype=torch.bool)
            for place, row in enumerate(rows):
                answers[place, : len(row.kinds)] = torch.tensor(row.kinds, dtype=torch.bool)
            parts.append({"inputs": inputs, "answers": answers, "tokens": torch.tensor(tokens)})
        return {"parts": parts}
