"""The day that a question names, in the lines of a log."""

from __future__ import annotations

import pytest

from citewell.retriever.encoder.two_towers import TwoTowers
from citewell.retriever.rank import Ranker
from citewell.retriever.same_day import by_day

LOG = """\
2026-11-02 boiler pressure 1.1 bar, topped up to 1.4
2026-11-09 boiler pressure 1.6 bar, nothing done
2026-11-16 boiler pressure 1.2 bar, topped up to 1.5"""


@pytest.mark.parametrize(
    ("text", "gain"),
    [
        ("Boiler. 2026-11-09 pressure 1.6 bar", 0.3),
        ("Diary, 9 November. We lit the fire.", 0.3),
        ("9 November 2025: closed.", 0.3),
        ("2026-11-02 pressure 1.1 bar", -0.3),
        ("Closed from 2 to 5 November and from 8 November to 10 November.", 0.0),
        ("The pressure is 1.5 bar.", 0.0),
    ],
)
def test_sentences_of_the_day_gain_and_those_of_another_lose(text: str, gain: float) -> None:
    assert by_day("What was the pressure on 9 November?", [text]) == pytest.approx([gain])
    assert by_day("What is the pressure?", [text]) == pytest.approx([0])


def test_the_line_of_the_day_answers(encoder: TwoTowers) -> None:
    ranker = Ranker(encoder, prefilter=48)
    lines = LOG.splitlines()
    for day, number in ((2, 0), (9, 1), (16, 2)):
        scores = ranker.sentence_scores(f"What was the boiler pressure on {day} November?", lines)
        assert int(scores.argmax()) == number
