"""What an answer is worth: people's preference, citation support, or the value that best of n maximizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from citewell.core.text import words
from citewell.core.types import Reference
from citewell.generator.citations.correction import check_citations
from citewell.generator.citations.ending import finished
from citewell.reinforcement.rollout import PromptedQuestion
from citewell.scorer.choice import mean_support, standing
from citewell.scorer.scorer import Scorer


class RatedAnswer(NamedTuple):
    """The reward of an answer, and its measures by name."""

    score: float
    parts: Mapping[str, float]

    @property
    def is_empty(self) -> bool:
        """Whether readers would see no word of the answer: marks alone are none."""
        return not self.parts.get("words", 1)


class Reward(Protocol):
    """Rates one answer to a question with its references."""

    def __call__(self, question: str, references: Sequence[Reference], text: str) -> RatedAnswer:
        """Return the reward of `text`."""
        ...


class AnswerReward:
    """The reward of an answer as readers get it: cut after its last whole sentence, its citations checked."""

    def __init__(self, scorer: Scorer, margin: float = 0.0, threshold: float = 0.5) -> None:
        """Rate by `scorer`, less `margin` for unsupported sentences; `threshold` is the citation check's."""
        self._scorer = scorer
        self._margin = margin
        self._threshold = threshold

    def __call__(self, question: str, references: Sequence[Reference], text: str) -> RatedAnswer:
        """Return the reward, with the support, the share of unsupported sentences and the words."""
        sentences = check_citations(finished(text), references, self._threshold, markdown=True)
        (score,) = self._scorer.score(question, [sentences], references)
        unsupported = sum(not sentence.supported for sentence in sentences)
        return RatedAnswer(
            standing(score, sentences, self._margin).adjusted_score,
            {
                "support": mean_support(sentences),
                "unsupported": unsupported / max(1, len(sentences)),
                "words": float(sum(len(words(sentence.text)) for sentence in sentences)),
            },
        )


class CenteredReward:
    """A reward whose mean over demonstrations is 0 (InstructGPT §3.5).

    An answer that is empty, or does not end within the limit of tokens, is worth as much as the worst
    demonstration: a rule of ours, without which PPO learns not to end.
    """

    def __init__(self, reward: Reward, demonstrations: Sequence[PromptedQuestion]) -> None:
        """`demonstrations`, at least one, have answers."""
        self._reward = reward
        scores = [reward(each.question, each.references, each.answer).score for each in demonstrations]
        self.bias = sum(scores) / len(scores)
        self.unfinished = min(scores) - self.bias

    def rate(self, asked: PromptedQuestion, text: str, *, ended: bool) -> RatedAnswer:
        """Return the reward of an answer, with the raw score among its parts."""
        rated = self._reward(asked.question, asked.references, text)
        score = rated.score - self.bias if ended and text.strip() and not rated.is_empty else self.unfinished
        return RatedAnswer(score, {**rated.parts, "raw": rated.score, "ended": float(ended)})
