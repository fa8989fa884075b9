"""A second scorer beside the reward: where it falls while the reward rises, the reward is over-optimized."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.settings import CitationSettings
from citewell.core.types import Reference
from citewell.generator.citations.correction import check_citations
from citewell.generator.citations.ending import finished
from citewell.generator.evaluation.text import copied
from citewell.reinforcement.reward import RatedAnswer, Reward
from citewell.scorer.scorer import PreferenceJudge, Preferring


class JudgedReward:
    """A reward, with what a second scorer says of the same answer: WebGPT's validation reward model.

    The score is that of the reward. The parts gain `judge`, the second scorer's score, and `copied`, the
    share of the answer's 8-grams that stand in the references.
    """

    def __init__(self, reward: Reward, judge: Preferring) -> None:
        """Train by `reward`, and measure by `judge`."""
        self._reward = reward
        self._judge = PreferenceJudge(judge)
        self._threshold = CitationSettings().threshold

    def __call__(self, question: str, references: Sequence[Reference], text: str) -> RatedAnswer:
        """Return the reward, with both measures."""
        rated = self._reward(question, references, text)
        sentences = check_citations(finished(text), references, self._threshold, markdown=True)
        (judged,) = self._judge.score(question, [sentences], references)
        shown = " ".join(sentence.text for sentence in sentences)
        share = copied(shown, [reference.text for reference in references]) or 0.0
        return RatedAnswer(rated.score, {**rated.parts, "judge": judged, "copied": share})
