"""The best of several episodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from citewell.browser.episode import Episode
from citewell.browser.policies.best_of import best, by_quotes, by_scorer, variants
from citewell.browser.policies.human import Human
from citewell.browser.policies.model import ModelPolicy
from citewell.browser.policies.random_legal import RandomLegal
from citewell.browser.policies.scripted import Scripted
from citewell.browser.policy import Policy
from citewell.browser.state import TakenQuote
from citewell.core.errors import InputError
from citewell.core.types import Reference, Sentence

from .states import quote
from .test_model import Writer


def relevance(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([len(text) / 100 for text in texts], dtype=np.float32)


def episode(name: str, *quotes: TakenQuote) -> Episode:
    return Episode(name, "Why?", "m", (), quotes, "Answer")


def test_the_most_relevant_quote_decides() -> None:
    episodes = [episode("none"), episode("short", quote("Tides.")), episode("long", quote("Spring tides."))]
    assert best(episodes, by_quotes(relevance).rate).id == "long"


class Longest:
    """A scorer that likes long answers, and notes what it was shown."""

    name = "longest"
    margin = 0.0
    standardized = True

    def __init__(self) -> None:
        self.shown: list[tuple[str, list[tuple[str, str]]]] = []

    def score(
        self, question: str, candidates: Sequence[Sequence[Sentence]], references: Sequence[Reference]
    ) -> list[float]:
        texts = {reference.number: reference.text for reference in references}
        cited = [[(each.text, texts[each.citations[0]]) for each in of] for of in candidates]
        self.shown += [(question, pairs) for pairs in cited]
        return [float(sum(len(sentence.text) for sentence in of)) for of in candidates]


def test_a_scorer_decides_by_the_quotes_as_an_answer_that_cites_them() -> None:
    scorer = Longest()
    tides = quote("Tides."), quote("Neap tides.")
    judge = by_scorer(scorer)
    assert best([episode("none"), episode("one", tides[1]), episode("both", *tides)], judge.rate).id == "both"
    assert judge.name == "longest"
    assert scorer.shown[-1] == ("Why?", [("Tides.", "Tides."), ("Neap tides.", "Neap tides.")])
    assert len(scorer.shown) == 2, "where there are no quotes, there is nothing to score"


def test_of_equal_episodes_the_first_is_best() -> None:
    assert best([episode("a"), episode("b")], by_quotes(relevance).rate).id == "a"


def test_a_model_is_sampled_for_several_episodes_only() -> None:
    policy = ModelPolicy(Writer(), "m")
    assert variants(policy, 1) == [policy]
    assert len({id(one) for one in [policy, *variants(policy, 3)]}) == 4


@pytest.mark.parametrize(
    "policy", [Scripted(relevance), RandomLegal(), Human(print, input, print)], ids=lambda policy: policy.name
)
def test_only_models_have_several_episodes(policy: Policy) -> None:
    with pytest.raises(InputError) as caught:
        variants(policy, 2)
    said = f"The policy {policy.name} cannot browse 2 times for a question"
    assert caught.value.message == f"{said}: only language models sample their commands."
