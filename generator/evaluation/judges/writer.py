"""The judge that is a language model: its probability of yes when asked whether passages support a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from citewell.core.text import split_sentences
from citewell.generator.evaluation.judges.judge import ClaimAndPassages
from citewell.generator.first_token import FirstTokenModel
from citewell.generator.prompt import Message

WRITER = "writer"
THRESHOLD = 0.5
"""The minimum probability of yes of a supported claim; `benchmarks.judge_threshold` tries others."""

OpenWriter = Callable[[str], tuple[str, FirstTokenModel]]
"""Opens the language model of a name, or that of the settings for an empty one; returns its name too."""

_INSTRUCTION = "You judge whether a passage supports a claim. Reply with one word: Yes or No."
_ASKED = """\
Passage: {passage}

Claim: {claim}

Does the passage say all that the claim says?"""
_YES, _NO = ("Yes", "yes"), ("No", "no")
_WORDS = 300  # of the passages, at once


class WriterJudge:
    """A judge that accepts a claim if the model finds yes likely enough.

    Greedily, small models say yes nearly always, so the threshold of their probability is measured. Passages
    are read in parts of whole sentences, of which the best counts.
    """

    def __init__(self, model: FirstTokenModel, name: str, threshold: float = THRESHOLD) -> None:
        """Judge with `model`, which tables call `name`."""
        self.name = f"{WRITER}:{name}"
        self._model = model
        self._threshold = threshold

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        """Return whether the probability of each pair reaches the threshold; n values."""
        return [yes >= self._threshold for yes in self.probabilities(pairs)]

    def probabilities(self, pairs: Sequence[ClaimAndPassages]) -> list[float]:
        """Return the probability of yes against no for each claim with its passages; 0 without passages."""
        return [max((self._yes(pair.claim, part) for part in _parts(pair)), default=0.0) for pair in pairs]

    def _yes(self, claim: str, passage: str) -> float:
        messages: list[Message] = [
            {"role": "system", "content": _INSTRUCTION},
            {"role": "user", "content": _ASKED.format(passage=passage, claim=claim)},
        ]
        (yes, _), _ = self._model.shares(messages, (_YES, _NO))
        return yes


def _parts(pair: ClaimAndPassages) -> Iterator[str]:
    part: list[str] = []
    for passage in pair.passages:
        for line in passage.splitlines():
            for sentence in split_sentences(line):
                words = sentence.split()
                if part and len(part) + len(words) > _WORDS:
                    yield " ".join(part)
                    part = []
                part += words[:_WORDS]
    if part:
        yield " ".join(part)
