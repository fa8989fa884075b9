"""Questions with references, as WebGLM-QA has them, and their labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.retriever.evaluation.references import read_references, rouge_1_precision
from tests.retriever.evaluation.made_up import write_jsonl

ANSWER = "Bats find their way by echoes.[1] The echoes tell how far away a moth is.[2][3]"


def test_labels_are_rouge_1_precision_of_the_reference() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge1"])
    for reference in ("Bats listen to echoes, and echoes tell them the way.", "The moth", "Nothing alike?"):
        target = ANSWER.replace("[1]", "").replace("[2][3]", "")
        expected = scorer.score(target=target, prediction=reference)["rouge1"].precision
        assert rouge_1_precision(reference, ANSWER) == pytest.approx(expected)
    assert rouge_1_precision("1 2 3", ANSWER) == 0, "marks are no words"
    assert rouge_1_precision("", ANSWER) == 0
    assert rouge_1_precision("Füße", "Kalte Füße.") == 1


@pytest.mark.parametrize("name", ["test.jsonl", "test.jsonl.gz"])
def test_references_of_both_forms(tmp_path: Path, name: str) -> None:
    references = ["Bats find echoes.", {"title": "Moths", "text": "A moth is grey.", "url": "x"}]
    rows = [
        {"question": "How?", "answer": ANSWER, "references": references},
        {"question": "Why?", "answer": ANSWER, "references": ["Bats.", "Echoes."]},
        {"question": "Who?", "answer": ANSWER, "references": []},
        {"question": "When?", "answer": ANSWER, "references": ["Never.", "The way.", "A way."]},
    ]
    task = read_references(write_jsonl(tmp_path / name, rows))
    assert task.name == "test"
    assert dict(task.questions) == {"1": "How?", "4": "When?"}
    assert task.references == {"1": (0, 1), "4": (2, 3, 4)}
    assert task.labels == {"1": (1, 3 / 4), "4": (0, 1, 1)}
    assert task.corpus.ids == ("1-1", "1-2", "4-1", "4-2", "4-3")
    assert task.corpus.passages[:2] == ("Bats find echoes.", "Moths. A moth is grey.")
    assert task.notices == ("2 questions are left out: their references are equally good.",)
    assert list(read_references(tmp_path / name, limit=3).questions) == ["1"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "How?", "references": []}, "line 1: the answer is not a text"),
        ({"question": "How?", "answer": "So."}, "line 1: the references are not a list"),
        ({"question": "How?", "answer": "So.", "references": [3]}, "line 1: a reference is neither text nor"),
        (
            {"question": "How?", "answer": "So.", "references": [{"text": None}]},
            "line 1: the text is not a text",
        ),
        ({"question": "How?", "answer": "So.", "references": ["So."]}, "holds no question with references"),
    ],
)
def test_other_rows_are_refused(tmp_path: Path, row: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_references(write_jsonl(tmp_path / "rows.jsonl", [row]))
