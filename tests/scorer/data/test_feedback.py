from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.types import VotedAnswer
from tests.scorer.data.files import write


def thumb(answer: str, thumbs: object, question: str = "Why?") -> dict[str, object]:
    return {
        "question": question,
        "answer": answer,
        "references": [{"text": f"of {answer}"}],
        "thumbs": thumbs,
    }


def test_thumbs_up_are_compared_with_thumbs_down_of_the_same_question(tmp_path: Path) -> None:
    rows = [
        thumb("a", 1),
        thumb("a", 1),
        thumb("b", -1),
        thumb("c", 1),
        thumb("c", -1),
        thumb("d", 1, "How?"),
    ]
    data = read_comparisons(write(tmp_path, rows))
    (found,) = data.comparisons
    assert (found.first, found.second, found.preference) == ("a", "b", 1.0)
    assert found.both_references == (("of a",), ("of b",))
    assert data.funnel["thumbs"] == 6
    assert data.voted[0].answers == (
        VotedAnswer("a", 2, ("of a",)),
        VotedAnswer("b", -1, ("of b",)),
        VotedAnswer("c", 0, ("of c",)),
    )


def test_thumbs_without_an_opposite_are_too_little_to_learn_from(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 thumbs.*thumb down"):
        read_comparisons(write(tmp_path, [thumb("a", 1), thumb("b", 1)]))


@pytest.mark.parametrize(("preferred", "preference"), [(0, 1.0), (1, 0.0), ("tie", 0.5)])
def test_users_choose_between_two_answers(tmp_path: Path, preferred: object, preference: float) -> None:
    row = {
        "question": "Why?",
        "answers": ["a", {"text": "b", "references": ["own"]}],
        "references": ["shared"],
        "preferred": preferred,
    }
    (found,) = read_comparisons(write(tmp_path, [row])).comparisons
    assert (found.first, found.second, found.preference) == ("a", "b", preference)
    assert found.both_references == (("shared",), ("own",))


def test_marks_of_references_are_no_part_of_an_answer(tmp_path: Path) -> None:
    answers = ["Air scatters blue light most [1]. So do oceans[2].", "`argv[1]` is blue [1]."]
    row = {"title": "Why?", "answers": answers, "references": ["Air.", "Oceans."], "preferred": 0}
    (found,) = read_comparisons(write(tmp_path, [row])).comparisons
    assert (found.first, found.second) == (
        "Air scatters blue light most. So do oceans.",
        "`argv[1]` is blue.",
    )
    (bare,) = read_comparisons(write(tmp_path, [row | {"references": []}])).comparisons
    assert bare.first == answers[0], "without references, [1] may be anything"


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        (thumb("a", 0), "no_number"),
        (thumb("a", float("nan")), "no_number"),
        ({"question": "Why?", "answers": ["a", "b"], "preferred": 2}, "no_choice"),
        ({"question": "Why?", "answers": ["a", "b"], "preferred": True}, "no_choice"),
        ({"question": "Why?", "answers": ["a", "b"], "preferred": None}, "no_choice"),
        ({"question": "Why?", "answers": ["a", "b"], "preferred": [0]}, "no_choice"),
        ({"question": "Why?", "answers": ["a"], "preferred": 0}, "no_answers"),
    ],
)
def test_bad_feedback_is_told(tmp_path: Path, row: dict[str, object], kind: str) -> None:
    good = {"question": "How?", "answers": ["a", "b"], "preferred": 0}
    data = read_comparisons(write(tmp_path, [row, good]))
    assert [each.kind for each in data.problems] == [kind]
    assert len(data.comparisons) == 1
