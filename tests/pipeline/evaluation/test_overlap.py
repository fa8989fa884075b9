"""The splits of test questions by what training questions share with them."""

from __future__ import annotations

from citewell.core.questions import AnsweredQuestion
from citewell.pipeline.evaluation.overlap import overlap_splits

TRAIN = [
    AnsweredQuestion("Who painted the Mona Lisa?", ("Leonardo da Vinci", "Leonardo")),
    AnsweredQuestion("What is the capital of Norway?", ("Oslo",)),
    AnsweredQuestion("Which river flows through Cairo?", ("The Nile",)),
]
ASKED = [
    AnsweredQuestion("who painted the mona lisa", ("Da Vinci", "leonardo da vinci")),  # both
    AnsweredQuestion("Norway: what is the capital?", ("Oslo",)),  # both: the same words
    AnsweredQuestion("Which river flows through Cairo", ("Blue Nile",)),  # the question alone
    AnsweredQuestion("Who drew the Vitruvian Man?", ("LEONARDO",)),  # the answer alone
    AnsweredQuestion("What is the longest river of Africa?", ("Nile",)),  # the answer alone, but for "the"
    AnsweredQuestion("Where was the Nobel Peace Prize of 1990 given?", ("Bergen", "Oslo")),  # the answer
    AnsweredQuestion("What is the capital of Sweden?", ("Stockholm",)),
    AnsweredQuestion("Who painted Guernica?", ("Picasso",)),
    AnsweredQuestion("Which river flows through Paris?", ("Seine",)),
    AnsweredQuestion("How tall is Mount Everest?", ("8,849 m",)),
]


def test_ten_questions() -> None:
    splits = overlap_splits(ASKED, TRAIN)
    places = {
        name: {place for place, row in enumerate(ASKED) if row.key in keys} for name, keys in splits.items()
    }
    assert places == {
        "question overlap": {0, 1, 2},
        "no question overlap": {3, 4, 5, 6, 7, 8, 9},
        "answer overlap": {0, 1, 3, 4, 5},
        "answer overlap only": {3, 4, 5},
        "no overlap": {6, 7, 8, 9},
    }
