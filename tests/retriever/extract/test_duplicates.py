"""Paragraphs that several pages share are found, and no others."""

from __future__ import annotations

import random

import pytest

from citewell.retriever.extract.duplicates import fingerprint, first_of_each

SKY = (
    "The sky looks blue because air scatters short waves of sunlight far more than long ones, so that blue "
    "light reaches the eye from every direction while red light comes straight from the sun itself."
)


def firsts(*texts: str) -> list[int]:
    return list(first_of_each(fingerprint(text) for text in texts))


def test_first_source_wins() -> None:
    assert firsts("A kite is flown on a line.", SKY, "Another text.", SKY) == [0, 1, 2, 1]


@pytest.mark.parametrize(
    "copy",
    [
        SKY.upper(),
        SKY.replace(", so that", " – so that"),
        f"{SKY} (Reuters)",
        SKY.replace("itself", "alone"),
    ],
)
def test_small_changes_make_no_other_paragraph(copy: str) -> None:
    assert firsts(SKY, copy) == [0, 0]


@pytest.mark.parametrize(
    "other",
    [
        SKY + " " + "Sunsets are red because their light has crossed more air on its way to the eye. " * 2,
        SKY[: len(SKY) // 2],
        "The sky looks blue because air scatters short waves.",
    ],
)
def test_a_part_or_a_longer_text_is_another_paragraph(other: str) -> None:
    assert firsts(SKY, other) == [0, 1]


def test_short_texts_are_the_same_only_when_they_are_equal() -> None:
    assert firsts("Yes.", "No.", "yes!") == [0, 1, 0]


def test_scripts_without_spaces() -> None:
    text = "天空呈现蓝色是因为空气对短波阳光的散射远强于对长波的散射。"
    assert firsts(text, text.replace("。", "！"), "今天的天气很好，我们去公园放风筝。") == [0, 0, 2]


def test_every_near_copy_among_many_paragraphs_is_found() -> None:
    draw = random.Random(0)
    vocabulary = [f"word{number}" for number in range(2000)]
    originals = [" ".join(draw.choices(vocabulary, k=80)) for _ in range(300)]
    copies = []
    for text in originals:
        changed = text.split()
        changed[draw.randrange(80)] = "changed"
        copies.append(" ".join(changed))
    assert firsts(*originals, *copies) == [*range(300), *range(300)]
