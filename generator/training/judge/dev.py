"""The dev metrics of a judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from citewell.core.ranking_metrics import area_under_curve
from citewell.generator.training.judge.loss import judge_loss, yes_logits
from citewell.generator.training.judge.tokens import JudgeTokenizer, TokenizedQuestion, padded_questions

LOSS, AREA = "judge_loss", "area"


class JudgeDevSets:
    """The measurement of a judge on the examples of each source that are held out."""

    def __init__(
        self,
        questions: Mapping[str, Sequence[TokenizedQuestion]],
        tokenizer: JudgeTokenizer,
        *,
        bfloat16: bool,
    ) -> None:
        """The model computes in bfloat16 or in its own number format."""
        self._questions = questions
        self._tokenizer = tokenizer
        self._bfloat16 = bfloat16

    def measure(self, model: Any) -> dict[str, float]:
        """Return the loss per example, and the area under the ROC curve of each source and their mean.

        A source whose examples are all of one kind has no area; partly supported claims count as neither.
        """
        import torch

        model.eval()
        lower = torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=self._bfloat16)
        losses: list[float] = []
        areas: dict[str, float] = {}
        for name, questions in self._questions.items():
            found = []
            for each in questions:
                part = {key: value.to(model.device) for key, value in padded_questions([each]).items()}
                with torch.no_grad(), lower:
                    logits = yes_logits(model, part, self._tokenizer.yes, self._tokenizer.no)
                    losses.append(float(judge_loss(logits, part)))
                found.append(float(logits[0]))
            scores, yes = np.array(found), np.array([each.yes for each in questions])
            whole = np.isin(yes, (0, 1))
            if len(set(yes[whole])) == 2:
                areas[f"{AREA}_{name}"] = area_under_curve(scores[whole], yes[whole] == 1)
        mean = {AREA: fmean(areas.values())} if areas else {}
        return {LOSS: fmean(losses)} | mean | areas
