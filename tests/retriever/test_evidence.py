from __future__ import annotations

import pytest

from citewell.core.types import Reference
from citewell.retriever.evidence import (
    NOTHING,
    enough_evidence,
    enough_to_quote,
    evidence,
    evidence_to_quote,
    is_found,
)
from citewell.retriever.rarity import LIST, rarity


def reference(text: str, score: float = 0.3, title: str = "A page") -> Reference:
    return Reference(1, "https://example.org", title, text, score)


def test_without_references_there_is_none() -> None:
    assert evidence("Who was Marie Curie?", ()) == NOTHING == -1


def test_the_best_reference_counts() -> None:
    weak, strong = reference("Nothing of it.", 0.1), reference("Marie Curie was a physicist.", 0.5)
    assert evidence("Who was Marie Curie?", [weak, strong]) == evidence("Who was Marie Curie?", [strong])


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    question = "What are the states of coronavirus?"
    rare = evidence(question, [reference("The coronavirus of 2003.")])
    common = evidence(question, [reference("The states of a cold.")])
    assert rare > common + 0.05


def test_words_of_one_stem_and_of_the_title_count() -> None:
    found = evidence("How is Cinderella performed?", [reference("It was a performance.", title="Cinderella")])
    assert found == pytest.approx((0.3 + 1) / 2)


def test_a_question_of_common_words_alone_has_evidence_by_its_score() -> None:
    assert evidence("the", [reference("Nothing.", 0.8)]) == pytest.approx(0.4)


def test_a_part_is_found_by_half_of_its_words() -> None:
    assert is_found("calcium chloride", [reference("Calcium is a metal.")])
    assert not is_found("calcium chloride", [reference("Sodium is a metal.")])
    assert not is_found("calcium chloride of old roads", [reference("Calcium is a metal.")])
    assert not is_found("the climate of the moon", [reference("The end of the story.")])
    assert is_found("calcium chloride", [reference("Sodium is a metal."), reference("Calcium is one.")])


def test_rarity_grows_from_common_to_unknown_words() -> None:
    assert rarity("the") == 0
    assert 0 < rarity("state") < rarity("chlor") < rarity("citew") == 1
    listed = LIST.read_text(encoding="utf-8").split()
    assert rarity(listed[len(listed) // 10]) > 0.4, "by the logarithm of the rank"


def test_more_pages_need_more_evidence_within_bounds() -> None:
    needed = [enough_evidence(pages) for pages in (0, 1, 12, 100, 4_598, 10**9)]
    assert needed == sorted(needed)
    assert needed[0] == needed[1] == 0.3
    assert needed[-1] == 0.55
    assert enough_evidence(12) < enough_evidence(None) == 0.45 < enough_evidence(4_598)


def test_less_evidence_is_enough_for_a_model_that_reads_it() -> None:
    assert 0 < enough_evidence(1, read=True) < enough_evidence(1)
    assert enough_evidence(None, read=True) < enough_evidence(None)


def test_a_sentence_that_answers_is_evidence_to_quote_it_though_it_has_other_words() -> None:
    rules = [reference("Cats are not carried. Do not travel after dark.", 0.2)]
    found = evidence("May I bring my kitten on the boat?", rules)
    assert found < enough_evidence(12)
    assert evidence_to_quote(found, 0.7) >= enough_to_quote(12)
    assert evidence_to_quote(found, 0.3) < enough_to_quote(12)


def test_more_pages_need_more_evidence_to_quote() -> None:
    needed = [enough_to_quote(pages) for pages in (0, 1, 12, 4_598, 10**9)]
    assert needed == sorted(needed)
    assert needed[1] < enough_to_quote(None) < needed[-1]
