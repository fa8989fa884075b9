"""When quotations may stand for an answer of which nothing is supported, and which of them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from citewell.core.types import Reference, Sentence
from citewell.generator.causal import YesAnswer
from citewell.generator.citations.relevance import are_quotable, relevance_prompt, relevant
from citewell.generator.prompt import Message


@pytest.mark.parametrize(
    ("relevance", "logit", "quotable"),
    [
        (0.71, 1.1, True),
        (0.71, 0.9, False),
        (0.69, 3.0, False),
        (0.8, 0.3, True),
        (0.79, 0.3, False),
        (0.8, 0.2, False),
        (0.91, -1.9, True),
        (0.91, -2.1, False),
        (0.91, None, True),
        (0.89, None, False),
    ],
)
def test_the_reader_and_the_model_agree(relevance: float, logit: float | None, quotable: bool) -> None:
    assert are_quotable(relevance, logit) is quotable


class Likely:
    """A model that says yes to a sentence with the probability that stands behind it in percent."""

    name = "likely"
    concurrency = 1

    async def ask(self, messages: Sequence[Message]) -> YesAnswer:
        sentence = messages[-1]["content"].partition("Sentence: ")[2].partition("\n")[0]
        return YesAnswer(int(sentence.rpartition(" ")[2].rstrip(".")) / 100, 0)


@pytest.mark.parametrize(
    ("likely", "kept", "most"),
    [
        (("A card is needed 90.", "Old boots help 40."), (0,), 0.9),
        (("Old boots help 40.", "A card is needed 71."), (1,), 0.71),
        (("The desk has cards 40.", "They are free 80."), (0, 1), 0.8),  # who "they" are
        (("A card is needed 90.", "Old boots help 81."), (0, 1), 0.9),
        (("A card is needed 90.", "Old boots help 79."), (0,), 0.9),
        (("Old boots help 40.", "Tea is free 69."), (), 0.69),
        ((), (), 0.0),
    ],
)
async def test_only_quotations_that_answer_stand_for_the_answer(
    likely: tuple[str, ...], kept: tuple[int, ...], most: float
) -> None:
    quotations = [Sentence(text, (1,), 1.0, supported=True) for text in likely]
    reference = Reference(1, "https://example.org/1", "Cards", " ".join(likely), 0.5)
    found, highest = await relevant(Likely(), "What do I need?", quotations, [reference])
    assert found == tuple(quotations[place] for place in kept)
    assert highest == most


@pytest.mark.parametrize(
    ("title", "question", "shown"),
    [
        ("Rowing club, committee meeting of 7 May", "When is the regatta?", "Page: Rowing club\n"),
        ("Rowing club, committee meeting of 7 May", "What was decided on 7 May?", "meeting of 7 May\n"),
        ("Lisbon, 3 to 8 October", "Where is the flat?", "Page: Lisbon\n"),
        ("Moon, Orbit", "How far is it?", "Page: Moon, Orbit\n"),
    ],
)
def test_a_date_of_the_title_is_not_taken_for_the_answer(title: str, question: str, shown: str) -> None:
    asked = relevance_prompt(question, title, "The regatta is on 19 September.")[-1]["content"]
    assert shown in asked
