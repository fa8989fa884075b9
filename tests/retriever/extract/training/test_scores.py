"""The measures, on texts small enough to count by hand."""

from __future__ import annotations

import pytest

from citewell.retriever.extract.document import Block, ExtractedDocument
from citewell.retriever.extract.training.scores import (
    ExtractionScore,
    ShingleOverlap,
    mean_score,
    run_overlap,
    run_score,
    shown_text,
    snippet_rate,
    word_score,
)


def test_words_are_a_bag_without_case() -> None:
    score = word_score("Kites fly. Kites FLY high", "kites fly over the sea")
    assert score == pytest.approx(ExtractionScore(2 / 5, 2 / 5, 2 / 5))
    assert word_score("", "kites") == word_score("boats", "kites") == ExtractionScore(0.0, 0.0, 0.0)


def test_the_mean_f1_is_that_of_the_pages() -> None:
    assert mean_score([ExtractionScore(1.0, 0.5, 2 / 3), ExtractionScore(0.0, 0.5, 0.0)]) == pytest.approx(
        ExtractionScore(0.5, 0.5, 1 / 3)
    )


def test_runs_of_four_words_keep_case_and_are_counted() -> None:
    assert run_overlap("a b c d e a b c d e", "a b c d e") == ShingleOverlap(shared=2, found=7, gold=2)
    assert run_overlap("A b c d", "a b c d") == ShingleOverlap(0, 1, 1)
    assert run_overlap("two words", "two words") == ShingleOverlap(1, 1, 1)
    assert run_overlap("", "a b c d") == ShingleOverlap(0, 0, 1)


def test_a_page_without_any_text_found_lowers_recall_alone() -> None:
    score = run_score([ShingleOverlap(3, 4, 3), ShingleOverlap(0, 0, 5)])
    assert score == pytest.approx(ExtractionScore(0.75, 0.5, 0.6))


def test_snippets_are_found_whatever_their_case() -> None:
    assert snippet_rate("The Kites of Weifang", ["kites of", "lanterns"]) == 0.5


def test_a_document_is_shown_with_each_heading_once() -> None:
    blocks = (
        Block("Lead."),
        Block("One.", ("History",)),
        Block("Two.", ("History", "China")),
        Block("Three.", ("History", "China")),
        Block("Four.", ("History", "Japan")),
        Block("Five.", ("Use",)),
    )
    shown = shown_text(ExtractedDocument("Kites", blocks))
    assert " ".join(shown.split("\n")) == "Lead. History One. China Two. Three. Japan Four. Use Five."
