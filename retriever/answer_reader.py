"""The reader of answers: which sentences of the passages answer a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citewell.core.relevance import Relevance
from citewell.core.settings import Settings
from citewell.retriever.cross_encoder.cross_encoder import CrossEncoder
from citewell.retriever.cross_encoder.load import load_cross_encoder

NONE = "none"
"""The name in the settings that leaves the reader out."""
_WEIGHT = 0.05
"""Of a logit beside the relevance, measured by `python -m benchmarks.answer_sentences` on the set qed."""
# Of the sentences, the most relevant third is read, and at least so many: the others hardly ever come first.
_READ, _LEAST_READ = 1 / 3, 12


@dataclass(frozen=True, slots=True)
class AnswerReader:
    """Adds what a cross-encoder reads in a sentence to its relevance, which sees the subject more surely."""

    model: CrossEncoder
    weight: float = _WEIGHT

    def scores(self, question: str, texts: Sequence[str], relevance: Relevance) -> NDArray[np.float32]:
        """Return the scores of `n` sentences, (n,): relevance + `weight` × the cross-encoder's logit.

        It reads the most relevant ones; the others have the lowest logit of these.
        """
        scores = relevance(question, texts)
        read = np.argsort(-scores, kind="stable")[: max(_LEAST_READ, round(_READ * len(texts)))]
        logits = self.model.scores(question, [texts[place] for place in read])
        found = np.full(len(texts), logits.min(initial=np.inf), dtype=np.float32)
        found[read] = logits
        return scores + np.float32(self.weight) * found

    def best_logit(self, question: str, texts: Sequence[str]) -> float:
        """Return the cross-encoder's highest logit of one or more sentences."""
        return float(self.model.scores(question, texts).max())


def load_answer_reader(
    settings: Settings, on_step: Callable[[str, str], None] = lambda name, step: None
) -> AnswerReader | None:
    """Load the reader of the settings; None without one. Raises as `load_cross_encoder` does."""
    name = settings.retriever.reader
    if name == NONE:
        return None
    return AnswerReader(
        load_cross_encoder(name, settings.cache_dir, threads=settings.threads, on_step=on_step)
    )
