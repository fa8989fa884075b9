from __future__ import annotations

import gzip
import itertools
import json
import os
from pathlib import Path

import pytest

from citewell.core.near_duplicates import NearDuplicates, forms


def near(question: str, *others: str, threshold: float = 0.6) -> list[int]:
    return [each.index for each in NearDuplicates(others, threshold).near(question)]


def test_the_same_question_in_other_words_of_little_meaning_is_near() -> None:
    assert near("Why is the sky blue?", "WHY the sky is so blue", "Why is grass green?") == [0]


def test_questions_of_one_template_are_not_near() -> None:
    assert near("What are the symptoms of measles?", "What are the symptoms of mumps?") == []


def test_the_nearest_comes_first_and_the_same_question_has_similarity_1() -> None:
    found = NearDuplicates(["big red balloons fly", "big red balloons", "big balloons"], 0.6).near(
        "big red balloons"
    )
    assert [each.index for each in found] == [1, 0, 2]
    assert found[0].similarity == 1.0


def test_a_forum_post_is_near_its_title_alone() -> None:
    post = "Explain: tides of the northern sea\n\nMy grandfather sailed there and told stories about whales."
    assert near(post, "Tides of the northern sea?") == [0]
    assert near("Tides of the northern sea?", post) == [0]


def test_words_of_scripts_without_spaces_are_compared() -> None:
    assert near("为什么天空是蓝色的？", "天空为什么是蓝色的", "草为什么是绿色的？") == [0]


def test_a_question_without_words_is_near_nothing() -> None:
    assert forms("???") == ()
    assert near("???", "???", "Why?") == []


@pytest.mark.skipif("CITEWELL_DATA" not in os.environ, reason="needs the questions in CITEWELL_DATA")
@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.6, 0.8, 1.0])
def test_no_pair_is_missed_and_none_is_invented(threshold: float) -> None:
    file = Path(os.environ["CITEWELL_DATA"]) / "questions" / "nq_open.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        questions = [json.loads(line)["question"] for line in itertools.islice(lines, 400)]
    index = NearDuplicates(questions, threshold)
    found = {(n, each.index) for n, question in enumerate(questions) for each in index.near(question)}
    sets = [forms(question)[0] for question in questions]
    compared = {
        (n, m)
        for n, m in itertools.product(range(len(sets)), repeat=2)
        if len(sets[n] & sets[m]) >= threshold * len(sets[n] | sets[m]) - 1e-9
    }
    assert found == compared
