"""Questions with references: nothing is in two splits, and the nearest passages become the references."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.reference_set import (
    CANDIDATES,
    DEPTH,
    REFERENCES,
    SPLITS,
    LabeledQuestion,
    relevance,
    split,
    with_candidates,
    with_references,
    write,
)
from citewell.core.types import Passage
from citewell.retriever.encoder.encoder import Vectors


class Letters:
    """A vector counts the letters of a text."""

    name = "letters"
    fingerprint = "letters"
    dimension = 26

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        return self.encode_passages(questions)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        counts = [[text.lower().count(chr(97 + place)) for place in range(26)] for text in passages]
        return np.array(counts, dtype=np.float32)


def question(number: int, group: str) -> LabeledQuestion:
    passage = Passage(f"http://a.example/{number}", group, f"About {group}, part {number}.")
    return LabeledQuestion(f"q{number}", f"What of {group} {number}?", passage.text, (passage,), group, "CC0")


def test_no_group_and_no_passage_is_in_two_splits() -> None:
    questions = [question(number, f"group {number % 12}") for number in range(60)]
    parts = split(questions, (10, 10, 30))
    assert [len(parts[name].questions) for name in SPLITS] == [10, 10, 30]
    groups = [{passage.title for passage in parts[name].passages} for name in SPLITS]
    assert len(set.union(*groups)) == sum(map(len, groups))
    for name in SPLITS:
        held = set(parts[name].passages)
        assert all(set(each.passages) <= held for each in parts[name].questions)
    assert split(questions, (10, 10, 30)) == parts


def test_the_nearest_passages_are_the_references(tmp_path: Path) -> None:
    near = [Passage("", "", "zzzz" + "z" * number) for number in range(REFERENCES)]
    far = [Passage("", "", "aaaa" * number) for number in range(1, 9)]
    asked = LabeledQuestion("q", "zz?", "z", (near[0],), "z", "CC0")
    passages = [*far, *near]
    (row,) = with_references([asked], passages, relevance([asked], passages, Letters()))
    assert {reference["text"] for reference in row["references"]} == {passage.text for passage in near}
    for name in ("a", "b"):
        write([row], tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_candidates_are_the_references_and_others_that_are_near_or_share_words() -> None:
    near = [Passage("", "", "z" * (100 - number)) for number in range(DEPTH + 20)]
    worded = [Passage("", "", f"zz aaaa {'b' * number}") for number in range(DEPTH)]
    passages = [*near, *worded]
    asked = LabeledQuestion("q", "zz?", "z", (near[0],), "z", "CC0")
    scores = relevance([asked], passages, Letters())
    rows = with_references([asked], passages, scores)
    (row,) = with_candidates(rows, passages, scores)
    assert row["references"][:REFERENCES] == rows[0]["references"]
    others = {reference["text"] for reference in row["references"][REFERENCES:]}
    assert len(others & {passage.text for passage in near[REFERENCES:DEPTH]}) == CANDIDATES
    assert len(others & {passage.text for passage in worded}) == CANDIDATES
    assert with_candidates(rows, passages, scores) == [row]
