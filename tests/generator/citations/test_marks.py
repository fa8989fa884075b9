"""Every form of citation mark, and which sentence it belongs to."""

from __future__ import annotations

import pytest

from citewell.generator.citations.marks import read_marks, read_quotations, read_segments


def read(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(sentence.text, sentence.marks) for sentence in read_marks(answer)]


def test_what_looks_like_a_mark_in_a_quotation_is_part_of_it() -> None:
    found = read_quotations("Use sys.argv[1] or \ue0000\ue001 here. [2] Then see note [3] below. [1] [4]")
    assert found == [
        ("Use sys.argv[1] or \ue0000\ue001 here.", (2,), None),
        ("Then see note [3] below.", (1, 4), None),
    ]


def test_code_in_a_line_has_no_marks() -> None:
    (found,) = read_marks("Use `sys.argv[1]. [2]` to read it, and `x = [1, 2]` as a list [3].", markdown=True)
    assert found.text == "Use `sys.argv[1]. [2]` to read it, and `x = [1, 2]` as a list."
    assert found.marks == (3,)


@pytest.mark.parametrize(
    ("answer", "text", "marks"),
    [
        ("The sky is blue[1].", "The sky is blue.", (1,)),
        ("The sky is blue [1].", "The sky is blue.", (1,)),
        ("The sky is blue. [1]", "The sky is blue.", (1,)),
        ("The sky is blue.[1]", "The sky is blue.", (1,)),
        ("The sky is blue [1] .", "The sky is blue.", (1,)),
        ("[1] The sky is blue.", "The sky is blue.", (1,)),
        ("The sky [1] is blue.", "The sky is blue.", (1,)),
        ("The sky is blue[1][3].", "The sky is blue.", (1, 3)),
        ("The sky is blue [1] [3].", "The sky is blue.", (1, 3)),
        ("The sky is blue [1, 3].", "The sky is blue.", (1, 3)),
        ("The sky is blue [ 1 ; 3 ].", "The sky is blue.", (1, 3)),
        ("The sky [3], it seems [1], is blue [3].", "The sky, it seems, is blue.", (3, 1)),
        ("The sky is blue [0][99].", "The sky is blue.", (0, 99)),
        ("Is the sky blue [2]?", "Is the sky blue?", (2,)),
        ("The sky is blue [1]", "The sky is blue", (1,)),
        ("The .NET runtime [1] reads .env files.", "The .NET runtime reads .env files.", (1,)),
        ("天空是蓝色的[1]。", "天空是蓝色的。", (1,)),
        ("天空是蓝色的。[1]", "天空是蓝色的。", (1,)),
        ("天空[1]是蓝色的，因为散射[2]。", "天空是蓝色的，因为散射。", (1, 2)),
    ],
)
def test_one_sentence(answer: str, text: str, marks: tuple[int, ...]) -> None:
    assert read(answer) == [(text, marks)]


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("According to [1], tides rise twice.", [("Tides rise twice.", (1,))]),
        ("Whales dive. As stated in [2] and [3], they sing.", [("Whales dive.", ()), ("They sing.", (2, 3))]),
        ("In reference [1], 3.5 kg are named [2].", [("3.5 kg are named.", (2, 1))]),
        ("The source [1] also says that **whales** sing.", [("**whales** sing.", (1,))]),
        (
            "[1] explains that whales sing. As [2] notes, they dive.",
            [("Whales sing.", (1,)), ("They dive.", (2,))],
        ),
        ("Whales sing (see [1]) and dive (sources: [2], [3]).", [("Whales sing and dive.", (1, 2, 3))]),
        ("Reference [1] does not say that.", [("Reference does not say that.", (1,))]),
        ("As said in [1], cats sleep. According to [1], cats sleep.", [("Cats sleep.", (1,))] * 2),
    ],
)
def test_marks_that_a_sentence_uses_as_words(
    answer: str, sentences: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert read(answer) == sentences
    joined = " ".join(text for text, _ in sentences)
    assert "".join(segment.text for segment in read_segments(answer)) == joined


def test_each_sentence_has_its_own_marks() -> None:
    assert read("One is so [1]. Two is so [2][1]. Three is not. Four is.[3] Five is. [4] Six is.") == [
        ("One is so.", (1,)),
        ("Two is so.", (2, 1)),
        ("Three is not.", ()),
        ("Four is.", (3,)),
        ("Five is.", (4,)),
        ("Six is.", ()),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('He learns "easy stuttering."', "A study followed."),
        ("It can be used (as said above.)", "“So what?”"),
        ("他说“好。”", "他走了。"),
    ],
)
def test_a_sentence_may_end_within_quotation_marks(first: str, second: str) -> None:
    marked = f"{first} [1] {second} [2]"
    assert read(marked) == [(first, (1,)), (second, (2,))]
    assert [(quoted.text, quoted.marks) for quoted in read_quotations(marked)] == read(marked)


@pytest.mark.parametrize("rest", ["and left.", "(and left.)"])
def test_a_sentence_may_go_on_after_marks_behind_a_quotation(rest: str) -> None:
    assert read(f'He asked "Why?" [1] {rest} [2]') == [(f'He asked "Why?" {rest}', (1, 2))]


def test_chinese_sentences() -> None:
    assert read("天空是蓝色的[1]。因为瑞利散射。[2]真的[3]！") == [
        ("天空是蓝色的。", (1,)),
        ("因为瑞利散射。", (2,)),
        ("真的！", (3,)),
    ]


def test_text_without_marks_is_left_as_it_is() -> None:
    text = "Options are a[i], [sic] and [1999]; 3 , 4 too."
    assert read(text) == [(text, ())]


@pytest.mark.parametrize("answer", ["", " \n", "[1]", "[1][2] [3, 4].", "..."])
def test_without_words_there_is_no_sentence(answer: str) -> None:
    assert read(answer) == []


def test_a_formula_is_not_divided_and_belongs_to_the_sentence_before_it() -> None:
    answer = r"""The area is known. [1]

$$
A = \pi r^2. \text{So it is}
- c[2]
$$ [3]

Here $r = 1. 5$, or \(\sqrt[3]{x}\) [4]. It costs $5. Or $6.

| a |
|---|
| b |

\[e = f\]

where $e$ is given."""
    assert [(each.text, each.marks) for each in read_marks(answer, markdown=True)] == [
        (r"The area is known. $$ A = \pi r^2. \text{So it is} - c[2] $$", (1, 3)),
        (r"Here $r = 1. 5$, or \(\sqrt[3]{x}\).", (4,)),
        ("It costs $5.", ()),
        ("Or $6.", ()),
        ("b", ()),
        (r"\[e = f\] where $e$ is given.", ()),
    ]


@pytest.mark.parametrize("begun", ["$$\nA = b", "\\[\n- b"])
def test_a_formula_without_an_end_is_text(begun: str) -> None:
    texts = [each.text for each in read_marks(f"So it is.\n\n{begun}\n\nOr not.", markdown=True)]
    assert texts[0] == "So it is."
    assert texts[-1] == "Or not."
