"""The judge that compares words, by the check that corrects citations."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.rouge import Text, score
from citewell.generator.citations.support import holds_facts, rouge_1_precision
from citewell.generator.evaluation.judges.judge import ClaimAndPassages

ROUGE = "rouge"


class RougeJudge:
    """The judge that uses the support check of `citewell.generator.citations`.

    Citations are corrected by the same rule, so corrected citations score well by construction: this judge
    must not be the only one of corrected answers.
    """

    name = ROUGE

    def __init__(self, threshold: float) -> None:
        """`threshold` is the minimum ROUGE-1 precision of a supported claim, 0 to 1."""
        self._threshold = threshold

    def grades(self, pairs: Sequence[ClaimAndPassages]) -> list[float]:
        """Return the F1 of ROUGE-1 of each claim and its passages, 0 to 1."""
        return [score(Text(pair.claim), Text("\n".join(pair.passages))).f1 for pair in pairs]

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        """Return whether the passages contain the claim's content words, numbers and names; n values."""
        return [self._supports(pair.claim, "\n".join(pair.passages)) for pair in pairs]

    def _supports(self, claim: str, source: str) -> bool:
        return rouge_1_precision(claim, source) >= self._threshold and holds_facts(claim, source)
