"""Evidence: a measure of how well the best passages fit the question."""

from __future__ import annotations

import math
from collections.abc import Sequence

from citewell.core.text import content_words, words
from citewell.core.types import Reference
from citewell.retriever.rarity import beginnings, rarity

NOTHING = -1.0
"""The evidence without references."""
_COVERED = 0.5  # weight of the words that the passage has, beside the encoder's score
_FOUND = 0.5
# The evidence that is enough, for one page and for ten times as many: `benchmarks.no_evidence`.
_ONE_PAGE, _TENFOLD, _MOST = 0.3, 0.054, 0.55
_WEB = 0.45
# The same for quoted answers.
_QUOTED_PAGE, _QUOTED_TENFOLD, _QUOTED_MOST = 0.25, 0.0956, 0.65
_QUOTED_WEB = 0.5
# How much less is enough where a language model reads the passages, and can refuse to answer from them.
_READ = 0.2


def enough_evidence(pages: int | None, *, read: bool = False) -> float:
    """Return the min evidence for an answer from the best of so many pages; None stands for the web.

    It is less where the passages are `read` by a language model, which tells better whether they answer.

    The more pages there are, the better the best of them fits a question that none of them answers: the
    maximum of many values grows with the logarithm of their number. A search engine of the web returns only
    pages that fit, whatever their number.
    """
    enough = _WEB if pages is None else min(_MOST, _ONE_PAGE + _TENFOLD * math.log10(max(1, pages)))
    return enough - _READ if read else enough


def enough_to_quote(pages: int | None) -> float:
    """Return the min of `evidence_to_quote` for an answer from so many pages; None stands for the web."""
    if pages is None:
        return _QUOTED_WEB
    return min(_QUOTED_MOST, _QUOTED_PAGE + _QUOTED_TENFOLD * math.log10(max(1, pages)))


def evidence(question: str, references: Sequence[Reference]) -> float:
    """Return the evidence of the best reference; `NOTHING` without references.

    The evidence of a reference is the mean of its score by the encoder and the share of the question's
    content words in its text or title, in which a word counts by its rarity
    (`citewell.retriever.rarity`). An encoder scores a long passage low of which one sentence answers, and
    one high that is about something similar; the rare words tell them apart. `benchmarks.no_evidence`
    compares the rule with the score alone.
    """
    asked = beginnings(content_words(question))
    return max((_one(asked, reference) for reference in references), default=NOTHING)


def evidence_to_quote(evidence: float, sentence: float) -> float:
    """Return the evidence for a quoted answer: the mean of `evidence` and of the best sentence's score.

    A passage with few words of the question may have the sentence that answers, as notes of one's own do, and
    one with all of them may not.
    """
    return (evidence + sentence) / 2


def is_found(part: str, references: Sequence[Reference]) -> bool:
    """Return whether a reference has half of the content words of a part of the question."""
    asked = beginnings(content_words(part))
    return any(len(asked & _given(reference)) >= _FOUND * len(asked) for reference in references)


def _one(asked: frozenset[str], reference: Reference) -> float:
    # In a fixed order: a sum of floats depends on it, and results must not differ between runs.
    weights = {beginning: rarity(beginning) for beginning in sorted(asked)}
    given = _given(reference)
    covered = sum(weight for beginning, weight in weights.items() if beginning in given)
    return (1 - _COVERED) * reference.score + _COVERED * covered / (sum(weights.values()) or 1.0)


def _given(reference: Reference) -> frozenset[str]:
    return beginnings(words(f"{reference.title_path} {reference.text}"))
