"""What an answer cites after correction holds, whatever marks were written."""

from __future__ import annotations

import random
import re

import pytest

from citewell.core.types import Reference, Sentence
from citewell.generator.citations.correction import check_citations, supported_only
from citewell.generator.citations.support import holds_facts, rouge_1_precision

THRESHOLD = 0.5
SKY = "The sky is blue because air scatters short wavelengths of sunlight more than long ones."
BREAD = "Bread dough rises because yeast eats sugar and gives off carbon dioxide, as Pasteur showed in 1857."
CATS = "Cats purr by twitching the muscles of their larynx about thirty times a second."
TEXTS = (SKY, BREAD, CATS)
REFERENCES = [Reference(n, f"https://example.org/{n}", "Page", text, 0.7) for n, text in enumerate(TEXTS, 1)]


def check(answer: str, references: list[Reference] = REFERENCES) -> tuple[Sentence, ...]:
    return check_citations(answer, references, THRESHOLD)


def test_only_repetitions_are_left_out() -> None:
    written = "C is compiled. C++ is compiled. C# is compiled! c++ is compiled."
    assert [each.text for each in check(written)] == ["C is compiled.", "C++ is compiled.", "C# is compiled!"]


def test_a_verbatim_sentence_is_fully_supported() -> None:
    for number, text in enumerate(TEXTS, 1):
        assert check(text) == (Sentence(text, (number,), 1.0, supported=True),)


@pytest.mark.parametrize("mark", ["[1]", "[9]", "[0][9]", "[1][3]", "[1, 2]", ""])
def test_marks_are_replaced_by_those_that_hold(mark: str) -> None:
    assert check(f"Bread dough rises because yeast gives off carbon dioxide{mark}.") == (
        Sentence("Bread dough rises because yeast gives off carbon dioxide.", (2,), 1.0, supported=True),
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "Bread dough rises because yeast gives off carbon dioxide, as Pasteur showed in 1875 [2].",
        "Bread dough rises because yeast gives off carbon dioxide, as Newton showed in 1857 [2].",
    ],
)
def test_a_wrong_year_or_name_is_not_supported(sentence: str) -> None:
    (checked,) = check(sentence)
    assert (checked.citations, checked.supported) == ((), False)
    # The wording alone would have passed.
    assert checked.support > 0.8


def test_a_loose_paraphrase_is_not_supported_and_keeps_its_text() -> None:
    (checked,) = check("Kneaded flour grows in volume since microbes exhale carbon [2].")
    assert checked.text == "Kneaded flour grows in volume since microbes exhale carbon."
    assert (checked.citations, checked.supported) == ((), False)
    assert 0 < checked.support < THRESHOLD


def test_references_that_support_equally_are_both_cited() -> None:
    twice = [*REFERENCES, Reference(4, "https://example.org/4", "Copy", f"As we know, {SKY}", 0.6)]
    assert check(SKY, twice) == (Sentence(SKY, (1, 4), 1.0, supported=True),)


def test_a_reference_that_supports_less_adds_nothing() -> None:
    half = Reference(4, "u", "Half", "The sky is blue because air scatters sunlight.", 0.6)
    assert rouge_1_precision(SKY, half.text) >= THRESHOLD
    assert check(SKY, [*REFERENCES, half])[0].citations == (1,)


def test_the_title_counts_as_part_of_the_reference() -> None:
    page = Reference(1, "u", "Eiffel Tower", "It was opened in 1889 for the World Fair.", 0.7)
    (checked,) = check("The Eiffel Tower was opened in 1889.", [page])
    assert (checked.citations, checked.support) == ((1,), 1.0)


def test_a_sentence_that_was_said_before_is_left_out() -> None:
    answer = f"{CATS} {BREAD} {CATS.upper()} {SKY} {BREAD[:-1]}[9]."
    assert [sentence.text for sentence in check(answer)] == [CATS, BREAD, SKY]


def test_citations_are_numbers_of_references_and_not_places() -> None:
    assert check(CATS, [Reference(7, "u", "Cats", CATS, 0.7)])[0].citations == (7,)


@pytest.mark.parametrize("answer", ["", "[1]", " [1][2]. "])
def test_nothing_said_is_nothing_checked(answer: str) -> None:
    assert check(answer) == ()


def test_without_references_nothing_is_supported() -> None:
    assert check(SKY, []) == (Sentence(SKY, (), 0.0, supported=False),)


def test_whatever_is_written_citations_hold() -> None:
    rng = random.Random(7)
    vocabulary = sorted(set(re.findall(r"\w+", " ".join(TEXTS))))
    vocabulary += ["1889", "12,345", "Newton", "天空", "[sic]"]
    marks = ["[1]", "[9]", "[1][2]", "[2, 3]", " [3]", "[0]", "[ 1;7 ]"]

    def text(words: int) -> str:
        pieces = [rng.choice(vocabulary) + rng.choice(["", "", "", *marks]) for _ in range(words)]
        return " ".join(pieces) + rng.choice([".", "!", ". [2]", "。", "[1].", ""])

    supported = 0
    for _ in range(300):
        numbers = rng.sample(range(1, 10), rng.randint(0, 4))
        references = {n: Reference(n, "u", text(2), text(25), 0.5) for n in numbers}
        answer = " ".join(text(rng.randint(1, 7)) for _ in range(3))
        for sentence in check(answer, [*references.values()]):
            assert set(sentence.citations) <= set(numbers)
            assert list(sentence.citations) == sorted(set(sentence.citations))
            assert sentence.supported == bool(sentence.citations)
            assert 0 <= sentence.support <= 1
            assert not re.search(r"\[\s*\d", sentence.text)
            for number in sentence.citations:
                cited = references[number]
                assert holds_facts(sentence.text, f"{cited.title}\n{cited.text}")
                assert rouge_1_precision(sentence.text, f"{cited.title}\n{cited.text}") >= THRESHOLD
            supported += sentence.supported
    assert supported > 50, "the texts must give something to check"


@pytest.mark.parametrize(
    ("texts", "supported", "left"),
    [
        (("Run this:", "make", "Then wait."), (True, True, True), (0, 1, 2)),
        (("Run this:", "make", "Then wait."), (True, False, True), (2,)),
        (("There are two:", "one", "two"), (True, False, False), ()),
        (("There are two:", "one", "two"), (True, True, False), (0, 1)),
        (("This is it:", "First:", "make"), (True, True, False), ()),
        (("Wait.", "Then run:"), (True, True), (0,)),
    ],
)
def test_what_introduces_something_goes_with_it(
    texts: tuple[str, ...], supported: tuple[bool, ...], left: tuple[int, ...]
) -> None:
    sentences = [
        Sentence(text, (), 1.0, supported=holds) for text, holds in zip(texts, supported, strict=True)
    ]
    assert [each.text for each in supported_only(sentences)] == [texts[place] for place in left]


def test_the_headings_above_a_text_support_a_sentence() -> None:
    picked = Reference(1, "", "Diary", "Picked the first beans.", 0.5, headings=("14 June",))
    (sentence,) = check_citations("The first beans were picked on 14 June.", [picked])
    assert sentence.citations == (1,)
