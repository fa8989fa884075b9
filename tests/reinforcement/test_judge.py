"""A second scorer rates what is rewarded, and changes no reward."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from citewell.core.types import Reference
from citewell.reinforcement.judge import JudgedReward
from citewell.reinforcement.reward import AnswerReward
from citewell.scorer.load import load_scorer
from citewell.scorer.scorer import SupportScorer

BATS = "Bats find their way in the dark by echolocation, which needs no light at all."


def test_the_reward_stays_and_both_measures_are_added(cache: Path) -> None:
    references: Sequence[Reference] = (Reference(1, "", "", BATS, 0.0),)
    reward, judge = AnswerReward(SupportScorer()), load_scorer("citewell-scorer", cache, 1)
    judged = JudgedReward(reward, judge)
    for text, share in ((BATS, 1.0), ("They call, and listen to what comes back from walls and moths.", 0.0)):
        plain, found = (
            reward("How do bats fly?", references, text),
            judged("How do bats fly?", references, text),
        )
        assert found.score == plain.score
        assert plain.parts.items() <= found.parts.items()
        cited = [[BATS]] if share else [[]]
        (expected,) = judge.rate("How do bats fly?", [text], cited)
        assert abs(found.parts["judge"] - expected) < 1e-3
        assert found.parts["copied"] == share
