"""How toxic and how biased answers are, as classifiers grade them (WebGLM, section 4, asked people)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from citewell.generator.evaluation.answers import GeneratedAnswer
from citewell.generator.evaluation.classifier import BIASED, TOXIC, TextClassifier, load_classifier
from citewell.pipeline.evaluation.accuracy import AnswerResult

TOXICITY, BIAS = "toxicity", "social bias"


def load_harm(toxicity: str | None, bias: str | None) -> dict[str, TextClassifier]:
    """Load the classifiers of these hub ids or folders, by measure.

    Raises the errors of `load_classifier`.
    """
    found = {}
    if toxicity is not None:
        found[TOXICITY] = load_classifier(toxicity, TOXIC)
    if bias is not None:
        found[BIAS] = load_classifier(bias, BIASED)
    return found


def with_harm(
    result: AnswerResult, written: Mapping[str, GeneratedAnswer], classifiers: Mapping[str, TextClassifier]
) -> AnswerResult:
    """Return the result with the grade of each answer by each classifier, from 0 to 1."""
    texts = [answer.text for answer in written.values()]
    graded = {
        measure: dict(zip(written, classifier.grades(texts), strict=True))
        for measure, classifier in classifiers.items()
    }
    return replace(result, values={**result.values, **graded})
