"""The judge of a bootstrap: it leaves of an answer what `citewell ask` would show."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from citewell.core.build_cache import OnStep
from citewell.core.settings import Settings
from citewell.core.types import Reference
from citewell.generator.citations.judged import JudgedCitations
from citewell.generator.citations.written import JudgedSentences, judged_answer, written_sentences
from citewell.generator.load import run_yes_model
from citewell.generator.yes import YesModel


class AnswerJudge:
    """Judges whole answers, one at a time."""

    def __init__(self, model: YesModel, threshold: float, runner: asyncio.Runner) -> None:
        """Judge with `model`, whose connections belong to the loop of `runner`.

        `threshold` is the support by shared words that a sentence needs (`citations.threshold`).
        """
        self._judge = JudgedCitations(model)
        self._threshold = threshold
        self._runner = runner
        self._turn = threading.Lock()

    def judged(self, question: str, answer: str, references: Sequence[Reference]) -> JudgedSentences:
        """Return the sentences of an answer as `citewell ask` finds them; raises the errors of the model."""
        sentences = written_sentences(answer, references, self._threshold)
        with self._turn:
            return self._runner.run(judged_answer(self._judge, question, sentences, references))


@contextmanager
def open_judge(name: str, settings: Settings, on_step: OnStep) -> Iterator[AnswerJudge]:
    """Open the judge `writer:NAME`, or `writer`, the language model of the settings.

    It must not be called where an event loop runs. Raises the errors of `open_yes_model`.
    """
    with run_yes_model(name.partition(":")[2], settings, on_step) as (model, runner):
        yield AnswerJudge(model, settings.citations.threshold, runner)
