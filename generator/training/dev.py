"""The dev metrics: the loss of the answers, and the citations of the answers that the model writes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from citewell.core.settings import CitationSettings
from citewell.generator.citations.marks import read_marks
from citewell.generator.evaluation.citations import CitedAnswer, citation_recall_and_precision
from citewell.generator.evaluation.judges.lexical import RougeJudge
from citewell.generator.training.collate import padded
from citewell.generator.training.config import GeneratorRecipe
from citewell.generator.training.encode import ExampleTokenizer
from citewell.generator.training.loss import answer_loss, answer_tokens
from citewell.generator.training.sources import ExampleSource
from citewell.generator.training.writing import write_answers


class GeneratorDevSets:
    """The measurement of a model on dev rows, shown in the same way each time."""

    def __init__(
        self, sources: Sequence[ExampleSource], config: GeneratorRecipe, encoder: ExampleTokenizer
    ) -> None:
        self._sources = sources
        self._config = config
        self._encoder = encoder
        rows = [(source, row) for source in sources for row in range(len(source.examples))]
        chance = random.Random(f"{config.training.seed} generate")  # noqa: S311
        self._answered = chance.sample(rows, min(config.training.generate, len(rows)))

    def measure(self, model: Any) -> dict[str, float]:
        """Return `answer_loss` per token and, if answers are written, citation recall, precision and F1.

        Citations are judged as the model writes them, before any correction, by ROUGE-1
        (`citewell.generator.evaluation.judges.lexical`).
        """
        model.eval()
        metrics = {"answer_loss": self._loss(model)}
        if not self._answered:
            return metrics
        shown = [self._encoder.shown(source, row, 0) for source, row in self._answered]
        prompt = self._config.prompt
        written = write_answers(
            model,
            self._encoder.tokenizer,
            [self._encoder.generator.prompt_text(each.question, each.references) for each in shown],
            most=prompt.answer_tokens,
            frequency_penalty=prompt.frequency_penalty,
        )
        answers = [
            CitedAnswer(read_marks(answer), {r.number: r.text for r in each.references})
            for answer, each in zip(written, shown, strict=True)
        ]
        scores = citation_recall_and_precision(answers, RougeJudge(CitationSettings().threshold))
        recall = sum(score.recall for score in scores) / len(scores)
        precision = sum(score.precision for score in scores) / len(scores)
        f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
        return {**metrics, "citation_recall": recall, "citation_precision": precision, "citation_f1": f1}

    def _loss(self, model: Any) -> float:
        import torch

        total, tokens = 0.0, 0
        with torch.no_grad():
            for source in self._sources:
                for row in range(len(source.examples)):
                    part = padded([self._encoder.encode(self._encoder.shown(source, row, 0))])
                    part = {name: value.to(model.device) for name, value in part.items()}
                    total += float(answer_loss(model, part))
                    tokens += answer_tokens(part)
        return total / tokens
