"""The stage before comparisons: a decoder learns to write the preferred answers (WebGLM §3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.progress import Tell
from citewell.core.training.checkpoints import TRAINED, last_checkpoint, load_trained, save_trained
from citewell.scorer.encode import padded
from citewell.scorer.training.config import ScorerRecipe
from citewell.scorer.training.elements import Element
from citewell.scorer.training.model import TrainableScorer
from citewell.scorer.training.plan import ScorerStep, Size, plan

if TYPE_CHECKING:
    import torch

_FINISHED = "tuned"


def tune(
    trainable: TrainableScorer, learnt: Sequence[Element], config: ScorerRecipe, folder: Path, tell: Tell
) -> None:
    """Fine-tune the model on the best answer to each question, with checkpoints in `folder`.

    A stage that was finished there is not run again: what it came to is loaded.
    """
    from datasets import Dataset

    from citewell.core.training.progress import Progress
    from citewell.scorer.training.trainer import ScorerTrainer, arguments

    finished = folder / _FINISHED
    if (finished / TRAINED).is_file():
        load_trained(trainable.model, finished)
        return
    rows = [best(element) for element in learnt]
    encoder = trainable.encoder
    lengths = [len(encoder.encode(*row).ids) for row in rows]
    training = config.training
    steps = plan(
        [Size(1, length) for length in lengths],
        [1] * len(rows),
        epochs=config.tuning.epochs,
        batch=training.batch,
        part_tokens=training.part_tokens,
        seed=training.seed,
    )
    checkpoint = last_checkpoint(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tell(f"fine-tuning on {len(rows):,} answers, {len(steps):,} steps")
    collator: Any = _Collator(steps, rows, trainable)
    trainer = ScorerTrainer(
        model=trainable.model,
        args=arguments(
            training.model_copy(update={"learning_rate": config.tuning.learning_rate}),
            folder,
            measured=False,
            resumed=checkpoint is not None,
        ),
        train_dataset=Dataset.from_dict({"step": list(range(len(steps)))}),
        data_collator=collator,
    )
    head = trainable.base.lm_head.to(trainer.args.device)
    trainer.begin(
        lambda model, part: answer_loss(model.backbone, head, part),
        Progress([step.tokens for step in steps], "tokens", folder, tell),
    )
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    partial = folder / f"{_FINISHED}.partial"
    save_trained(trainable.model, partial)
    partial.rename(finished)


def best(element: Element) -> tuple[str, str, tuple[str, ...]]:
    """Question, text and references of the answer that wins most of its comparisons."""
    won = [0.0] * len(element.answers)
    for pair in element.pairs:
        won[pair.first] += pair.preference - 0.5
        won[pair.second] -= pair.preference - 0.5
    for place, label in enumerate(element.labels):
        won[place] += label
    answer = element.answers[max(range(len(won)), key=won.__getitem__)]
    return element.question, answer.text, answer.references


def answer_loss(backbone: Any, head: Any, part: Mapping[str, Any]) -> torch.Tensor:
    """Cross-entropy of the answers' tokens, times the part's share of them in its step; a scalar."""
    import torch.nn.functional as nn

    hidden = backbone(**part["inputs"]).last_hidden_state[:, :-1]
    places = part["answers"][:, 1:]
    targets = part["inputs"]["input_ids"][:, 1:][places]
    loss: torch.Tensor = nn.cross_entropy(head(hidden[places]).float(), targets, reduction="sum")
    return loss / int(part["tokens"])


class _Collator:
    def __init__(self, steps: Sequence[ScorerStep], rows: Sequence[Any], trainable: TrainableScorer) -> None:
        self._steps = steps
        self._rows = rows
        self._encoder = trainable.encoder

    def __call__(self, items: Sequence[dict[str, int]]) -> dict[str, Any]:
        import torch

        (item,) = items
        step = self._steps[item["step"]]
        encoded = [[self._encoder.encode(*self._rows[place]) for place in part] for part in step.parts]
        tokens = sum(sum(row.kinds) for part in encoded for row in part)
        parts = []
        for rows in encoded:
            inputs = padded(rows, kinds=False)
            answers = torch.zeros_like(inputs["input_ids"], dtype=torch.bool)
            for place, row in enumerate(rows):
                answers[place, : len(row.kinds)] = torch.tensor(row.kinds, dtype=torch.bool)
            parts.append({"inputs": inputs, "answers": answers, "tokens": torch.tensor(tokens)})
        return {"parts": parts}
