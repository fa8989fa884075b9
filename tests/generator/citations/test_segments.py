"""Answers split after their marks, and put together with others."""

from __future__ import annotations

import pytest

from citewell.generator.citations.marks import read_segments, renumber_marks, write_marks


def read(answer: str, *, sentences: bool = False) -> list[tuple[str, tuple[int, ...]]]:
    return [(s.text.strip(), s.marks) for s in read_segments(answer, sentences=sentences)]


def test_segments_end_after_their_marks() -> None:
    assert read("The sky is blue. So is the sea[1][4], while grass is green [2]. Snow is white.") == [
        ("The sky is blue. So is the sea,", (1, 4)),
        ("while grass is green.", (2,)),
        ("Snow is white.", ()),
    ]


def test_segments_end_with_sentences_too_where_that_is_asked_for() -> None:
    assert read("The sky is blue. So is the sea[1][4], while grass is green [2].", sentences=True) == [
        ("The sky is blue.", ()),
        ("So is the sea,", (1, 4)),
        ("while grass is green.", (2,)),
    ]


@pytest.mark.parametrize(
    ("answer", "segments"),
    [
        (
            "The sky is blue. [1] [2, 3] Grass is green.",
            [("The sky is blue.", (1, 2, 3)), ("Grass is green.", ())],
        ),
        ("[1] The sky is blue.", [("The sky is blue.", (1,))]),
        ("According to [1], the sky is blue[2].", [("The sky is blue.", (2, 1))]),
        ("The sky is blue[1]. Yes.", [("The sky is blue. Yes.", (1,))]),
        ("天空是蓝色的[1]，因为散射[2]。", [("天空是蓝色的，", (1,)), ("因为散射。", (2,))]),
        ("Yes[1].", [("Yes.", (1,))]),
        ("[1]", []),
        ("", []),
    ],
)
def test_marks_in_odd_places(answer: str, segments: list[tuple[str, tuple[int, ...]]]) -> None:
    assert read(answer) == segments


@pytest.mark.parametrize("sentences", [False, True])
def test_what_is_read_and_written_again_is_the_same(sentences: bool) -> None:
    answer = "The sky is blue[1][3], or grey. Is the grass green[2]? It costs $3.50 a day… Dr. Who said so."
    assert write_marks(read_segments(answer, sentences=sentences)) == answer


def test_marks_are_renumbered() -> None:
    assert renumber_marks("It is so [3][7], or [1, 3].", {3: 1, 1: 2}) == "It is so [1][0], or [2][1]."
