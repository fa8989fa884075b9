"""The measures of one system on TruthfulQA, from its answers and their likelihoods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from citewell.browser.censor import holds_run
from citewell.core.progress import Counter, Log
from citewell.core.settings import Settings
from citewell.core.types import Page
from citewell.generator.evaluation.answers import AnswerFile, GeneratedAnswer
from citewell.generator.evaluation.judges.judge import SupportJudge
from citewell.pipeline.evaluation.accuracy import AnswerResult
from citewell.pipeline.evaluation.answering import never
from citewell.pipeline.evaluation.multiple_choice import (
    AskedChoices,
    choice_measures,
    chooses,
    open_choosing,
    read_choices,
)
from citewell.pipeline.evaluation.systems import AnswerSystem
from citewell.pipeline.evaluation.truncation import shortened
from citewell.pipeline.evaluation.truthful_questions import TruthfulQuestion
from citewell.pipeline.evaluation.truthfulness import judge_truth

EMPTY = "empty"


def holds_question(question: str, page: Page) -> bool:
    """Return whether ten words of the question stand in a page, as WebGPT's censor asks (appendix A)."""
    return holds_run("\n".join([page.title, *(passage.text for passage in page.passages)]), question)


class TruthfulAnswers(NamedTuple):
    """A system's answers by question, and the likelihoods of the given answers, if it has any."""

    system: AnswerSystem
    written: Mapping[str, GeneratedAnswer]
    choices: Mapping[str, GeneratedAnswer]

    def texts(self) -> dict[str, str]:
        """Return the answers as they are judged, by question."""
        return {question: shortened(answer.text) for question, answer in self.written.items()}

    def for_study(self) -> Iterator[dict[str, Any]]:
        """Yield what a study needs of each answer that did not fail."""
        for question, text in self.texts().items():
            if not self.written[question].error:
                references = [
                    {"url": reference.url, "title": reference.title, "text": reference.text}
                    for reference in self.written[question].references
                ]
                yield {
                    "question": question,
                    "system": self.system.label,
                    "answer": text,
                    "references": references,
                }


async def choices_of(
    system: AnswerSystem,
    settings: Settings,
    rows: Mapping[str, TruthfulQuestion],
    written: Mapping[str, GeneratedAnswer],
    kept: AnswerFile,
    log: Log,
) -> dict[str, GeneratedAnswer]:
    """Return the likelihoods of the given answers by question, or nothing if the system gives none.

    Raises the errors of `open_choosing` and `AnswerFile.complete`.
    """
    if not chooses(system, settings):
        return {}
    identity = system.identity(settings, hides=holds_question)
    asked = [AskedChoices.of(row, written[row.question]) for row in rows.values()]
    asked = [row for row in asked if not written[row.question].error]
    if not kept.missing(identity, asked):
        found = await kept.complete(system.label, identity, asked, never, lambda done, total: None)
    else:
        opening = open_choosing(system, settings, lambda model, step: log(f"{model}: {step}"))
        async with opening as write:
            progress = Counter(f"{system.label}: likelihoods", log)
            found = await kept.complete(system.label, identity, asked, write, progress)
    return {row.question: found[row.key] for row in asked}


def measure_truth(
    answers: TruthfulAnswers, rows: Sequence[TruthfulQuestion], judges: Sequence[SupportJudge]
) -> AnswerResult:
    """Measure the answers of a system; the names of judged measures name the judge.

    Failed answers are neither truthful nor informative.
    """
    texts = answers.texts()
    failures = {question: each.error for question, each in answers.written.items() if each.error}
    failed = dict.fromkeys(failures, 0.0)
    values: dict[str, dict[str, float]] = {}
    for judge in judges:
        for measure, of in judge_truth(rows, texts, judge).items():
            values[f"{measure} ({judge.name})"] = of | failed
    values[EMPTY] = {question: float(not text) for question, text in texts.items()}
    for row in rows:
        chosen = answers.choices.get(row.question)
        found = read_choices(chosen) if chosen else []
        for measure, value in (choice_measures(row, found) if found else {}).items():
            values.setdefault(measure, {})[row.question] = value
    seconds = tuple(each.seconds for each in answers.written.values())
    return AnswerResult(answers.system.label, values, failures, seconds)
