"""What a person wrote keeps its form."""

from __future__ import annotations

from citewell.browser.episode import Episode
from citewell.browser.state import TakenQuote
from citewell.server.work.demonstrated import written_answer
from tests.server.store.samples import demonstration

WRITTEN = "Bats hear [1].\n\nThere are two reasons:\n\n- They call [1].\n- They listen."


def test_paragraphs_and_lists_stay() -> None:
    quote = TakenQuote("Bats", "bats.example", "https://bats.example/", "Bats call, hear and listen.")
    episode = Episode("e", "How?", "human", (), (quote,), "Answer", answer=WRITTEN)
    body = written_answer(demonstration(), episode).body
    assert body is not None
    assert "Bats hear. [1]\n\nThere are two reasons:\n\n- They call. [1]\n- They listen." in body["answer"]
