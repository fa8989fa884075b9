"""The judge that is a language model: its probability of yes when asked whether passages support a claim."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from citewell.core.progress import Counter, Log
from citewell.core.redact import published_name
from citewell.core.settings import Settings
from citewell.generator.citations.asking import MOST_WORDS, support_prompt
from citewell.generator.evaluation.judges.judge import ClaimAndPassages
from citewell.generator.evaluation.judges.parts import parts
from citewell.generator.load import run_yes_model
from citewell.generator.yes import YesModel

WRITER = "writer"
THRESHOLDS: Mapping[str, float] = {"qwen2.5-coder-1.5b": 0.4}
"""The minimum probability of yes of a supported claim, by model; `benchmarks.writer_judge` finds them."""
HALF = 0.5
"""The threshold of other models."""


class WriterJudge:
    """A judge that accepts a claim if the model finds yes likely enough.

    Passages of more than 600 words are read in parts of whole sentences, of which the best counts.
    """

    def __init__(self, model: YesModel, threshold: float, runner: asyncio.Runner, tell: Log) -> None:
        """Judge with `model`, whose connections belong to the loop of `runner`; `tell` gets the progress."""
        self.name = f"{WRITER}:{published_name(model.name)} (yes ≥ {threshold:g})"
        self._model = model
        self._threshold = threshold
        self._runner = runner
        self._tell = tell

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        """Return whether the probability of each pair reaches the threshold; n values.

        Raises the errors of the model.
        """
        return [yes >= self._threshold for yes in self.grades(pairs)]

    def grades(self, pairs: Sequence[ClaimAndPassages]) -> list[float]:
        """Return the probability of yes against no for each claim with its passages; 0 without passages."""
        return self._runner.run(self._probabilities(pairs))

    async def _probabilities(self, pairs: Sequence[ClaimAndPassages]) -> list[float]:
        progress = Counter(f"{self.name}: claims", self._tell)
        found: list[float] = []
        while len(found) < len(pairs):
            batch = pairs[len(found) : len(found) + self._model.concurrency]
            found += await asyncio.gather(*map(self._probability, batch))
            progress(len(found), len(pairs))
        return found

    async def _probability(self, pair: ClaimAndPassages) -> float:
        best = 0.0
        for part in parts(pair.passages, MOST_WORDS, lambda sentence: len(sentence.split())):
            best = max(best, (await self._model.ask(support_prompt(pair.claim, part))).yes)
        return best


@contextmanager
def open_writer_judge(name: str, settings: Settings, tell: Log = lambda text: None) -> Iterator[WriterJudge]:
    """Open the judge of the language model `name`; of that of the settings, if it is empty.

    `tell` gets the steps of loading, and the progress of judging. Raises the errors of `open_yes_model`.
    """
    with run_yes_model(name, settings, lambda model, step: tell(f"{model}: {step}")) as (model, runner):
        yield WriterJudge(model, THRESHOLDS.get(model.name, HALF), runner, tell)
