"""What an answer is worth: it is rated as readers get it."""

from __future__ import annotations

from citewell.core.types import Reference
from citewell.reinforcement.reward import AnswerReward
from citewell.scorer.scorer import SupportScorer

BATS = Reference(1, "", "Bats", "Bats hunt insects at night. Bats sleep in caves by day.", 1.0)


def test_the_headings_and_list_marks_of_an_answer_are_no_claims() -> None:
    reward = AnswerReward(SupportScorer())
    plain = reward(
        "what do bats do?", [BATS], "Bats hunt insects at night [1]. Bats sleep in caves by day [1]."
    )
    listed = reward(
        "what do bats do?",
        [BATS],
        "## The habits\n\n- Bats hunt insects at night [1].\n- Bats sleep in caves by day [1].",
    )
    assert listed.score == plain.score
    assert listed.parts["unsupported"] == 0
