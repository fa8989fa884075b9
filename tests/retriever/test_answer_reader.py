"""The reader of answers that comes with Citewell: it tells the sentence that answers from its neighbors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from citewell.core.errors import ModelError
from citewell.core.settings import load_settings
from citewell.retriever.answer_reader import AnswerReader, load_answer_reader
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.rank import Ranker


@pytest.fixture(scope="module")
def reader() -> AnswerReader:
    settings = load_settings({})
    found = load_answer_reader(settings)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("question", "answer", "others"),
    [
        (
            "When was the lighthouse of Bell Rock first lit?",
            "Its lamps shone for the first time on 1 February 1811.",
            (
                "Bell Rock Lighthouse stands on a reef off the coast of Angus in Scotland.",
                "The lighthouse of Bell Rock is thirty-five meters tall.",
            ),
        ),
        (
            "Who repaired the clock in the hall?",
            "The clock was repaired by Maria Ossowska after the fire.",
            ("The clock in the hall is two meters high.", "Visitors may not touch the clock in the hall."),
        ),
    ],
)
def test_a_sentence_that_answers_beats_those_that_share_words(
    question: str, answer: str, others: tuple[str, ...], reader: AnswerReader
) -> None:
    logits = reader.model.scores(question, [answer, *others])
    assert logits[0] - logits[1:].max() > 1


def test_its_score_is_added_to_the_relevance(reader: AnswerReader) -> None:
    settings = load_settings({})
    encoder = load_encoder(settings.retriever.encoder, settings.cache_dir, threads=settings.threads)
    ranker = Ranker(encoder, prefilter=1, reader=reader)
    question, texts = "What is tin?", ["Tin is a soft metal.", "Kites fly high."]
    expected = ranker.scores(question, texts) + reader.weight * reader.model.scores(question, texts)
    assert ranker.sentence_scores(question, texts) == pytest.approx(expected)
    assert len(ranker.sentence_scores(question, [])) == 0


class Counting:
    """A cross-encoder whose logit of a text is its number, and which remembers what it has read."""

    name = fingerprint = "counting"

    def __init__(self) -> None:
        self.read: list[str] = []

    def scores(self, question: str, passages: Sequence[str]) -> Vectors:
        self.read += passages
        return np.array([float(text) for text in passages], dtype=np.float32)


@pytest.mark.parametrize(("number", "read"), [(0, 0), (5, 5), (20, 12), (60, 20)])
def test_the_most_relevant_third_is_read_and_the_others_gain_no_more(number: int, read: int) -> None:
    texts = [str(place) for place in range(number)]
    relevances = np.arange(number, dtype=np.float32)
    model = Counting()
    scores = AnswerReader(model, weight=2.0).scores("What?", texts, lambda question, texts: relevances)
    assert sorted(model.read, key=int) == texts[number - read :]
    logits = np.maximum(relevances, number - read)
    assert scores.tolist() == (relevances + 2 * logits).tolist()


def test_the_settings_leave_it_out_or_name_another() -> None:
    assert load_answer_reader(load_settings({"retriever.reader": "none"})) is None
    with pytest.raises(ModelError, match="nowhere"):
        load_answer_reader(load_settings({"retriever.reader": "./nowhere"}))
