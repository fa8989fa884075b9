"""The accuracy of answers to questions with short accepted answers (WebGLM §5.3, WebGPT appendix G).

WebGLM names its measure accuracy and does not define it. Here an answer is right if an accepted answer stands
in what users see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from citewell.core.answers import exact_match, has_answer, token_f1
from citewell.core.questions import AnsweredQuestion
from citewell.generator.evaluation.answers import GeneratedAnswer
from citewell.generator.evaluation.text import refuses
from citewell.pipeline.evaluation.systems import AnswerSystem, Arm

ACCURACY, IN_REFERENCES, IN_CITED = "accuracy", "in references", "in cited sentences"
ANSWERED, EXACT_MATCH, F1 = "answered", "exact match", "F1"

Values = Mapping[str, Mapping[str, float]]
"""{measure: {question: value}}"""


@dataclass(frozen=True)
class AnswerResult:
    """The measured values of one system. `failures` count as wrong answers; they have their reasons."""

    name: str
    values: Values
    failures: Mapping[str, str]
    seconds: tuple[float, ...] = ()


def measure(
    system: AnswerSystem,
    asked: Sequence[AnsweredQuestion],
    written: Mapping[str, GeneratedAnswer],
    short: Mapping[str, GeneratedAnswer] | None = None,
) -> AnswerResult:
    """Measure the answers of a system, by the keys of the questions.

    `short` are the short answers that a reader found in them, if one was asked.
    """

    def each(value: Callable[[AnsweredQuestion, GeneratedAnswer], float]) -> dict[str, float]:
        return {row.key: float(value(row, written[row.key])) for row in asked}

    values = {
        ACCURACY: each(lambda row, answer: has_answer(answer.text, row.answers)),
        ANSWERED: each(lambda row, answer: not refuses(answer.text)),
    }
    if system.arm is not Arm.CLOSED_BOOK:
        values[IN_REFERENCES] = each(
            lambda row, answer: any(has_answer(r.text, row.answers) for r in answer.references)
        )
        values[IN_CITED] = each(lambda row, answer: has_answer(_cited(answer), row.answers))
    if short is not None:
        values[EXACT_MATCH] = {row.key: float(exact_match(short[row.key].raw, row.answers)) for row in asked}
        values[F1] = {row.key: token_f1(short[row.key].raw, row.answers) for row in asked}
    failures = {key: answer.error for key, answer in written.items() if answer.error}
    return AnswerResult(system.label, values, failures, tuple(a.seconds for a in written.values()))


def _cited(answer: GeneratedAnswer) -> str:
    return " ".join(sentence.text for sentence in answer.sentences if sentence.marks)
