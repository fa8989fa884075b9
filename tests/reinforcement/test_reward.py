"""What an answer is worth: it is rated as readers get it."""

from __future__ import annotations

from dataclasses import replace

from citewell.browser.episode import Episode
from citewell.browser.state import TakenQuote
from citewell.core.types import Reference
from citewell.reinforcement.browsing.reward import by_answer
from citewell.reinforcement.reward import AnswerReward, CenteredReward
from citewell.reinforcement.rollout import PromptedQuestion
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


def test_marks_alone_are_an_empty_answer() -> None:
    asked = PromptedQuestion("what do bats do?", (BATS,), (), "Bats hunt insects at night [1].")
    reward = CenteredReward(AnswerReward(SupportScorer()), [asked, replace(asked, answer="Bats sing [1].")])
    for text in ("", "[1]", ".", "**"):
        assert reward.rate(asked, text, ended=True).score == reward.unfinished
    assert reward.rate(asked, asked.answer, ended=True).score > reward.unfinished
    quotes = (TakenQuote("Bats", "", "", BATS.text),)
    quoted = Episode("1", asked.question, "p", (), quotes, "Answer", answer="[1]")
    assert by_answer(AnswerReward(SupportScorer()), missing=-1.0)(quoted) == -1.0
