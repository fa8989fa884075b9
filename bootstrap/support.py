"""The reader that reads every answer of a bootstrap, to drop those that their references do not support."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from citewell.core.build_cache import OnStep
from citewell.core.errors import InputError
from citewell.core.settings import Settings
from citewell.core.types import Reference
from citewell.generator.citations.marks import read_marks
from citewell.generator.evaluation.judges.embedding import Embed
from citewell.generator.evaluation.judges.judge import ClaimAndPassages, SupportJudge
from citewell.generator.evaluation.judges.names import open_judges
from citewell.generator.evaluation.judges.nli import PREFIX
from citewell.retriever.cross_encoder.support import SupportReader, load_support_reader

_LEAST = 0.5


class ReaderJudge:
    """A trained reader of support as a judge: several passages are read as one text."""

    def __init__(self, reader: SupportReader) -> None:
        self.name = reader.name
        self._reader = reader

    def grades(self, pairs: Sequence[ClaimAndPassages]) -> list[float]:
        """Return the probability that the passages support the claim; n values."""
        return self._reader.probabilities([(pair.claim, "\n".join(pair.passages)) for pair in pairs])

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        """Return whether the probability is at least a half; n values."""
        return [grade >= _LEAST for grade in self.grades(pairs)]


class AnswerSupport:
    """Measures the support of whole answers with a judge, one at a time."""

    def __init__(self, judge: SupportJudge) -> None:
        self._judge = judge
        self._turn = threading.Lock()

    def share(self, answer: str, references: Sequence[Reference]) -> float:
        """Return the share of an answer's sentences that are supported by all passages that they cite.

        It is 0 for an answer without sentences. Raises the errors of the judge.
        """
        texts = {r.number: f"{r.title_path}\n{r.text}".strip() for r in references}
        sentences = read_marks(answer)
        cited = [
            ClaimAndPassages(sentence.text, tuple(texts[n] for n in sentence.marks if n in texts))
            for sentence in sentences
        ]
        with self._turn:
            found = self._judge.supports([pair for pair in cited if pair.passages])
        return sum(found) / max(1, len(sentences))


@contextmanager
def open_support(name: str, settings: Settings, on_step: OnStep) -> Iterator[AnswerSupport]:
    """Open the reader `name`: the folder of a reader of support, or `nli:MODEL`.

    Raises `ModelError` if the model cannot be loaded.
    """
    if name.startswith(PREFIX):
        with open_judges([name], settings, _no_embedding, lambda text: None) as (judge,):
            yield AnswerSupport(judge)
    else:
        reader = load_support_reader(name, settings.cache_dir, threads=settings.threads, on_step=on_step)
        yield AnswerSupport(ReaderJudge(reader))


def _no_embedding() -> Embed:
    raise InputError("Readers of support embed nothing.")
