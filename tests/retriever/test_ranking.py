"""A ranking that grows page by page ends like one of all pages at once, whatever the order of the pages."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from citewell.core.text import encoded_text, words
from citewell.core.types import Passage
from citewell.retriever.answer_reader import AnswerReader
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.encoder.scale import Scale
from citewell.retriever.rank import Ranker
from citewell.retriever.remembering_encoder import RememberingEncoder
from citewell.retriever.reranking import Reranker
from tests.retriever.evaluation.made_up import WordReader

WORDS = (
    "bat bats echo moth dark night call ear wing insect honey bee tide moon glass sand whale song lens lamp"
)
QUESTION = "How do bats call in the dark night?"


class Answers:
    """A reader to whom texts with some words answer."""

    name = fingerprint = "answers"

    def __init__(self, words: str) -> None:
        self._words = words

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        return np.array([10.0 * (self._words in text) for text in texts], dtype=np.float32)


class CountingEncoder:
    """Vectors of word counts: exact, and so the same in whatever batch a passage is encoded."""

    name = fingerprint = "counting"
    dimension = len(WORDS.split())
    scale = Scale()

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        return self._vectors(questions)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        self.encoded.extend(passages)
        return self._vectors(passages)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        return np.array([[words(text).count(w) for w in WORDS.split()] for text in texts], dtype=np.float32)


def pages(rng: random.Random, number: int) -> list[list[Passage]]:
    """Pages of random words, with passages that occur on several of them."""
    shared = [" ".join(rng.choices(WORDS.split(), k=12)) for _ in range(5)]
    made = []
    for page in range(number):
        texts = [
            " ".join(rng.choices(WORDS.split(), k=rng.randint(3, 30))) for _ in range(rng.randint(0, 25))
        ]
        texts += rng.sample(shared, rng.randint(0, 2))
        made.append([Passage(f"https://p{page}.example/", f"Page {page}", text) for text in texts])
    return made


@pytest.mark.parametrize(
    "right",
    [
        Passage("https://p1.example/", "Release 2.39", "There the bats call bees."),
        Passage("https://p1.example/", "", "In 2.39 the bats call bees."),
    ],
)
def test_the_passage_with_the_number_of_the_question_comes_first(right: Passage) -> None:
    other = Passage("https://p0.example/", "", "In 2.36 the night bats call.")
    ranking = Ranker(CountingEncoder(), prefilter=48).begin("What do bats call in 2.39?")
    ranking.add(0, [other])
    ranking.add(1, [right])
    assert ranking.top(2)[0].text == right.text


def test_a_reference_has_the_date_of_its_page() -> None:
    ranking = Ranker(CountingEncoder(), prefilter=48).begin(QUESTION)
    for number, (text, date) in enumerate((("bats call at night", "2024-05-06"), ("honey bee", None))):
        ranking.add(number, [Passage(f"https://p{number}.example/", "", text)], date)
    assert [reference.date for reference in ranking.top(2)] == ["2024-05-06", None]


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_arrival_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    found = pages(rng, 10)
    prefilter = rng.choice([1, 5, 48, 1000])
    at_once = Ranker(CountingEncoder(), prefilter=prefilter).begin(QUESTION)
    for place, passages in enumerate(found):
        at_once.add(place, passages)
    expected = at_once.top(5)
    everything = [passage for passages in found for passage in passages]
    assert Ranker(CountingEncoder(), prefilter=prefilter).rank(QUESTION, everything, 5) == expected

    order = list(range(len(found)))
    rng.shuffle(order)
    ranking = Ranker(CountingEncoder(), prefilter=prefilter).begin(QUESTION)
    for place in order:
        ranking.add(place, found[place])
        for _ in range(rng.randint(0, 4)):
            ranking.advance(rng.randint(1, 20))
        ranking.known(5)
    assert ranking.top(5) == expected


def test_the_order_of_arrival_changes_nothing_for_a_real_encoder(encoder: DualEncoder) -> None:
    rng = random.Random(1)
    found = pages(rng, 6)
    rankings = [Ranker(encoder, prefilter=20).begin(QUESTION) for _ in range(2)]
    for place in range(6):
        rankings[0].add(place, found[place])
    for place in reversed(range(6)):
        rankings[1].add(place, found[place])
        rankings[1].advance(3)
    first, second = (ranking.top(5) for ranking in rankings)
    # Rounding differs a little with the batch that a passage is encoded in.
    assert [reference.score for reference in first] == pytest.approx([r.score for r in second], abs=0.01)


def test_nothing_is_encoded_twice_and_the_end_is_cheap() -> None:
    encoder = CountingEncoder()
    ranking = Ranker(RememberingEncoder(encoder), prefilter=48).begin(QUESTION)
    found = pages(random.Random(2), 10)
    for place, passages in enumerate(found):
        ranking.add(place, passages)
        while ranking.advance(8):
            pass
    ahead = len(encoder.encoded)
    ranking.top(5)
    assert len(encoder.encoded) == ahead == len(set(encoder.encoded))


def test_what_is_known_grows_with_what_is_encoded() -> None:
    ranking = Ranker(CountingEncoder(), prefilter=48).begin(QUESTION)
    assert ranking.known(5) == ()
    (found,) = pages(random.Random(3), 1)
    ranking.add(0, found)
    assert ranking.known(5) == ()
    assert ranking.advance(2)
    assert len(ranking.known(5)) in (1, 2)
    while ranking.advance(8):
        pass
    assert ranking.known(5) == ranking.top(5)


def test_passages_with_known_vectors_are_all_candidates_and_none_is_encoded() -> None:
    encoder = CountingEncoder()
    whole = Ranker(CountingEncoder(), prefilter=1000).begin(QUESTION)
    known = Ranker(encoder, prefilter=2).begin(QUESTION)
    for place, passages in enumerate(filter(None, pages(random.Random(4), 10))):
        whole.add(place, passages)
        known.add(place, passages, vectors=vectors_of(passages))
    whole.top(5)
    assert known.known(5) == whole.known(5)
    assert encoder.encoded == []
    assert known.top(5) == whole.top(5)


def test_the_prefilter_limits_only_passages_without_known_vectors() -> None:
    encoder = CountingEncoder()
    ranking = Ranker(encoder, prefilter=2).begin(QUESTION)
    first, second = [page for page in pages(random.Random(5), 9) if len(page) > 9][:2]
    ranking.add(0, first, vectors=vectors_of(first))
    ranking.add(1, second)
    while ranking.advance(8):
        pass
    found = ranking.known(100)
    assert len(encoder.encoded) == 2
    assert sum(reference.url == second[0].url for reference in found) <= 2 < len(found)


def vectors_of(passages: Sequence[Passage]) -> Vectors:
    return CountingEncoder().encode_passages([encoded_text(one.title, one.text) for one in passages])


def test_of_equal_passages_that_of_the_better_place_wins() -> None:
    ranking = Ranker(CountingEncoder(), prefilter=48).begin(QUESTION)
    text = "A bat calls in the dark night."
    ranking.add(4, [Passage("https://late.example/", "Page", text)])
    ranking.add(1, [Passage("https://early.example/", "Page", text)])
    assert [reference.url for reference in ranking.top(5)] == ["https://early.example/"]


def test_a_page_without_passages() -> None:
    ranking = Ranker(CountingEncoder(), prefilter=48).begin(QUESTION)
    ranking.add(0, [])
    assert not ranking.advance(8)
    assert ranking.top(5) == ()


def test_other_pages_with_the_same_text_are_listed_with_the_first() -> None:
    report = "Bats call in the dark night and hear the echo of each moth with their large and sensitive ears"
    ranking = Ranker(CountingEncoder(), prefilter=48).begin(QUESTION)
    for place, text in ((2, f"{report} (agency)"), (0, "Honey bees dance"), (1, f"{report}.")):
        ranking.add(
            place, [Passage(f"https://p{place}.example/", "", text), Passage("https://x.example/", "", text)]
        )
    best = ranking.top(1)[0]
    assert best.url == "https://p1.example/"
    assert best.duplicate_urls == ("https://x.example/", "https://p2.example/")


def test_a_cross_encoder_reads_the_best_candidates_in_the_end() -> None:
    reader = WordReader()
    ranking = Ranker(CountingEncoder(), prefilter=48, reranker=Reranker(reader, 2, -100.0)).begin(QUESTION)
    texts = ("bats call at night in the dark", "the call of bats", "honey of the bee", "bats")
    for number, text in enumerate(texts):
        ranking.add(number, [Passage(f"https://p{number}.example/", "", text)])
    plain = Ranker(CountingEncoder(), prefilter=48).begin(QUESTION)
    for number, text in enumerate(texts):
        plain.add(number, [Passage(f"https://p{number}.example/", "", text)])
    before = [reference.text for reference in plain.top(4)]
    assert not reader.read
    after = ranking.top(4)
    assert reader.read == before[:2]
    assert [reference.text for reference in after] == [before[1], before[0], *before[2:]]
    assert [reference.text for reference in ranking.known(4)] == before
    scores = {reference.text: reference.score for reference in plain.top(4)}
    assert all(reference.score == scores[reference.text] for reference in after)


def test_a_passage_is_encoded_below_its_title_and_headings() -> None:
    encoder = CountingEncoder()
    ranking = Ranker(encoder, prefilter=48).begin(QUESTION)
    ranking.add(0, [Passage("https://p.example/", "Diary", "Bats call.", ("14 June",))])
    assert [reference.title_path for reference in ranking.top(5)] == ["Diary, 14 June"]
    assert "Diary, 14 June. Bats call." in encoder.encoded


def test_the_reader_of_sentences_has_a_part_in_the_order() -> None:
    passages = [
        Passage("https://a.example/", "A", "Bats call in the dark night, and call at night in the dark."),
        Passage("https://b.example/", "B", "A bat calls a moth in the dark night before it is eaten whole."),
    ]
    for reader, first in ((None, "A"), (AnswerReader(Answers("moth"), weight=100.0), "B")):
        ranking = Ranker(CountingEncoder(), prefilter=48, reader=reader).begin(QUESTION)
        ranking.add(0, passages)
        assert ranking.top(2)[0].title == first


def test_a_passage_with_the_rare_word_of_the_question_is_read_whatever_its_vector() -> None:
    passages = [
        Passage(f"https://p{n}.example/", f"Page {n}", f"Bats{n} call bats in the dark night number{n}.")
        for n in range(20)
    ]
    passages.append(Passage("https://members.example/", "Members", "Pettifer hums."))
    ranking = Ranker(
        CountingEncoder(), prefilter=48, reader=AnswerReader(Answers("Pettifer hums"), weight=100.0)
    ).begin("Where in the dark night do bats call Pettifer?")
    ranking.add(0, passages)
    assert ranking.top(2)[0].title == "Members"
