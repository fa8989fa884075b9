from __future__ import annotations

from pathlib import Path

import pytest

from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.types import Comparison
from tests.scorer.data.files import write

TURN = {"role": "user", "content": "Why?"}


def read(folder: Path, row: dict[str, object]) -> Comparison:
    (found,) = read_comparisons(write(folder, [row])).comparisons
    return found


@pytest.mark.parametrize(
    ("row", "question"),
    [
        ({"prompt": "Why?", "chosen": "a", "rejected": "b"}, "Why?"),
        ({"prompt": "Human: Why?\n\nAssistant:", "chosen": "a", "rejected": "b"}, "Why?"),
        (
            {
                "prompt": "Human: Hi\n\nAssistant: Hello\n\nHuman: Why?\n\nAssistant:",
                "chosen": "a",
                "rejected": "b",
            },
            "Hi\n\nAssistant: Hello\n\nHuman: Why?",
        ),
        (
            {"chosen": "\n\nHuman: Why?\n\nAssistant: a", "rejected": "\n\nHuman: Why?\n\nAssistant: b"},
            "Why?",
        ),
        (
            {
                "prompt": [TURN],
                "chosen": [{"role": "assistant", "content": "a"}],
                "rejected": [{"role": "assistant", "content": "b"}],
            },
            "Why?",
        ),
        (
            {
                "chosen": [TURN, {"role": "assistant", "content": "a"}],
                "rejected": [TURN, {"role": "assistant", "content": "b"}],
            },
            "Why?",
        ),
        (
            {
                "prompt": "Why?",
                "chosen": [TURN, {"role": "assistant", "content": "a"}],
                "rejected": [TURN, {"role": "assistant", "content": "b"}],
            },
            "Why?",
        ),
        ({"title": "Why?", "chosen": "a", "rejected": "b"}, "Why?"),
    ],
)
def test_prompts_and_dialogues_are_questions(tmp_path: Path, row: dict[str, object], question: str) -> None:
    found = read(tmp_path, row)
    assert (found.question, found.first, found.second, found.preference) == (question, "a", "b", 1.0)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({"chosen": "a", "rejected": "b"}, "no_text"),
        ({"prompt": "Why?", "chosen": 1, "rejected": "b"}, "no_text"),
        ({"prompt": 5, "chosen": "a", "rejected": "b"}, "no_text"),
        ({"prompt": "Why?", "chosen": [TURN | {"content": None}], "rejected": "b"}, "no_text"),
        (
            {"chosen": "\n\nHuman: A?\n\nAssistant: a", "rejected": "\n\nHuman: B?\n\nAssistant: b"},
            "two_questions",
        ),
        ({"prompt": "Why?", "chosen": "", "rejected": "b"}, "empty"),
    ],
)
def test_rows_without_a_question_or_an_answer_are_told(
    tmp_path: Path, row: dict[str, object], kind: str
) -> None:
    good = {"prompt": "Why?", "chosen": "a", "rejected": "b"}
    data = read_comparisons(write(tmp_path, [row, good]))
    assert [each.kind for each in data.problems] == [kind]
    assert len(data.comparisons) == 1
