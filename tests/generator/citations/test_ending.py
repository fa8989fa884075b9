"""What is left of an answer that breaks off."""

from __future__ import annotations

import pytest

from citewell.generator.citations.ending import finished


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("The sky is blue[1]. Air scatters blue light more th", "The sky is blue[1]."),
        ("The sky is blue.[1] Air scatters blue li", "The sky is blue.[1]"),
        ("Is it blue? It is! Because of the", "Is it blue? It is!"),
        ("天空是蓝色的[1]。因为散", "天空是蓝色的[1]。"),
        ("Blue is one.\nRed is less so[1]. It goes on th", "Blue is one.\nRed is less so[1]."),
    ],
)
def test_a_sentence_that_breaks_off_is_left_out(answer: str, left: str) -> None:
    assert finished(answer) == left


@pytest.mark.parametrize(
    "answer",
    [
        "The sky is blue[1]. Air scatters blue light[2].",
        "The sky is blue. Air scatters blue light. [1] [2, 3]",
        "The sky is blue. Air scatters blue light [2]",
        'He said: "It is blue. Air scatters blue light."',
        "The sky is blue. Who knows why…",
        "天空是蓝色的。因为散射[2]。",
        "नीला आकाश है। प्रकाश बिखरता है।",
        "",
    ],
)
def test_a_whole_answer_stays(answer: str) -> None:
    assert finished(answer) == answer


def test_the_only_sentence_stays_even_if_it_breaks_off() -> None:
    assert finished("Air scatters blue light more th") == "Air scatters blue light more th"


def test_a_line_of_its_own_may_have_no_stop() -> None:
    answer = "What scatters light:\n- Air is one[1].\n- Fog and smoke"
    assert finished(answer) == answer
