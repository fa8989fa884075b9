"""The rule that chooses among candidates: the highest score, where unsupported sentences cost something.

A preference model does not know what is true: WebGLM's (§3.3) and WebGPT's (§3.2) learn what people like to
read. What the references do not support is therefore held against a candidate, whatever its score:

1. A candidate with a supported sentence wins over one without any, which is not an answer.
2. The highest value wins. The value of a candidate is its score; if it has unsupported sentences, less one
   `margin`, and as much of a second one as their share of its sentences. So a candidate with an unsupported
   sentence never wins over one whose sentences are all supported, unless its score is higher by more than
   `margin`. It is the share that counts, since a cost for each sentence would prefer short answers.
3. Of equal values, the better supported one wins, then the one that was written first.

The rule is an order of candidates one by one, so that what it does for any n can be computed from one set of
samples (`citewell.scorer.estimator`): `python -m benchmarks.best_of_n` measures what margins cost and bring.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citewell.core.errors import ModelError
from citewell.core.types import Sentence

Sentences = Sequence[Sentence]

MARGIN = 0.5
"""The cost of unsupported sentences, in standard deviations of a trained scorer's scores."""


@dataclass(frozen=True, slots=True)
class CandidateVerdict:
    """The verdict on a candidate: its scores, its unsupported sentences, and why it won or lost.

    `adjusted_score` is the score less the cost of unsupported sentences.
    """

    score: float
    adjusted_score: float
    unsupported: int
    reason: str = ""


class Choice(NamedTuple):
    """The index of the winner, and the verdict on each candidate."""

    best: int
    verdicts: tuple[CandidateVerdict, ...]


class Standing(NamedTuple):
    """The rank of a candidate by the rule: the greater one wins."""

    answers: bool
    """Tells whether any sentence is supported."""
    adjusted_score: float
    support: float
    """The mean support of the sentences."""


def standing(score: float, sentences: Sentences, margin: float) -> Standing:
    """Return where a candidate with this score stands by the rule."""
    unsupported = sum(not sentence.supported for sentence in sentences)
    # Checked first, since an infinite margin times zero is not a number.
    cost = margin * (1 + unsupported / len(sentences)) if unsupported else 0.0
    return Standing(unsupported < len(sentences), score - cost, mean_support(sentences))


def mean_support(sentences: Sentences) -> float:
    """Return the mean support of an answer's sentences, 0 to 1.

    Unsupported sentences and empty answers count as 0.
    """
    return sum(s.support for s in sentences if s.supported) / max(1, len(sentences))


def choose(scores: Sequence[float], candidates: Sequence[Sentences], margin: float) -> Choice:
    """Choose among `n` candidates, at least one, with these scores.

    `margin` is what unsupported sentences cost at least, in the unit of the scores. Raises `ModelError` where
    a score is not a number.
    """
    for score in scores:
        if not math.isfinite(score):
            raise ModelError(
                f"The scorer gave {score} to a candidate, which is not a number.",
                "Its weights are damaged: train it again, or use --scorer citation-support.",
            )
    standings = [standing(score, of, margin) for score, of in zip(scores, candidates, strict=True)]
    best = max(range(len(standings)), key=lambda index: (standings[index], -index))
    verdicts = [
        CandidateVerdict(score, held.adjusted_score, sum(not s.supported for s in of))
        for score, held, of in zip(scores, standings, candidates, strict=True)
    ]
    return Choice(
        best,
        tuple(
            CandidateVerdict(
                own.score, own.adjusted_score, own.unsupported, _reason(index, best, verdicts, standings)
            )
            for index, own in enumerate(verdicts)
        ),
    )


def _reason(
    index: int, best: int, verdicts: Sequence[CandidateVerdict], standings: Sequence[Standing]
) -> str:
    own, winner = verdicts[index], verdicts[best]
    if index == best:
        return _victory(best, verdicts, standings)
    if standings[best].answers and not standings[index].answers:
        return "No sentence is supported."
    if own.adjusted_score == winner.adjusted_score:
        better = standings[best].support > standings[index].support
        return "As good as the winner, but " + ("less supported." if better else "written later.")
    if own.score > winner.score:
        return f"The higher score, but {_sentences(own.unsupported)} unsupported."
    if own.adjusted_score - own.score < winner.adjusted_score - winner.score:
        return f"The lower score, and {_sentences(own.unsupported)} unsupported."
    return "The lower score."


def _victory(best: int, verdicts: Sequence[CandidateVerdict], standings: Sequence[Standing]) -> str:
    if len(verdicts) == 1:
        return "The only candidate."
    winner = verdicts[best]
    if not standings[best].answers:
        return "No candidate has a supported sentence; this one lost least."
    if all(other.score <= winner.score for other in verdicts):
        alone = sum(other.score == winner.score for other in verdicts) == 1
        return "The highest score." if alone else "None has a higher score, and it is supported best."
    higher = sum(other.score > winner.score for other in verdicts)
    own = f"{_sentences(winner.unsupported)} unsupported" if winner.unsupported else "all are supported"
    return f"Not the highest score: {higher} higher, with more that is unsupported; of this one's, {own}."


def _sentences(count: int) -> str:
    return f"{count} sentence is" if count == 1 else f"{count} sentences are"
