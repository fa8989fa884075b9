"""Batches: each passage once, and nothing pushed away from a question that it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from citewell.retriever.training.collate import GROUP, EncoderCollator
from citewell.retriever.training.plan import Batch, QuestionDraw
from citewell.retriever.training.rows import LabeledRow, RowSource


def preprocess(texts: Sequence[str], task: str) -> dict[str, Any]:
    return {"texts": list(texts), "task": task}


def collate(*rows: LabeledRow, others: Sequence[RowSource] = ()) -> dict[str, Any]:
    draws = tuple(QuestionDraw(number, tuple(range(len(row.passages)))) for number, row in enumerate(rows))
    sources = [RowSource("here", rows, weight=2.0), *others]
    return EncoderCollator([Batch(0, draws)], sources, preprocess, {})([{"step": 0}])


def test_a_passage_of_two_questions_is_encoded_once_and_is_no_negative_of_either() -> None:
    batch = collate(
        LabeledRow("one", ("Shared passage.", "Other passage, longer."), (1.0, 0.0)),
        LabeledRow("two", ("shared  PASSAGE.",), (1.0,)),
    )
    assert batch["passages0_texts"] == ["Shared passage.", "Other passage, longer."]
    assert batch["passages0_task"] == "document"
    assert batch["question_texts"] == ["one", "two"]
    assert batch["targets"].nan_to_num(-1).tolist() == [[1.0, 0.0], [1.0, -1.0]]
    assert batch["negatives"].tolist() == [[False, False], [False, True]]
    assert batch["weights"].tolist() == [2.0, 2.0]
    assert batch["source"] == "here"


def test_what_answers_the_question_anywhere_in_the_data_is_no_negative() -> None:
    elsewhere = RowSource("there", (LabeledRow("ONE", ("B", "C"), (1.0, 0.0)),))
    batch = collate(
        LabeledRow("one", ("a",), (1.0,)), LabeledRow("two", ("b", "c"), (1.0, 1.0)), others=[elsewhere]
    )
    assert batch["passages0_texts"] == ["a", "b", "c"]
    assert batch["negatives"].tolist() == [[False, False, True], [True, False, False]]


def test_an_answer_that_another_source_labels_0_is_no_negative() -> None:
    elsewhere = RowSource("there", (LabeledRow("ONE", ("B", "c"), (1.0, 0.0)),))
    batch = collate(LabeledRow("one", ("a", "b", "c"), (1.0, 0.0, 0.0)), others=[elsewhere])
    assert batch["targets"].nan_to_num(-1).tolist() == [[1.0, -1.0, 0.0]]
    assert batch["negatives"].tolist() == [[False, False, False]]
    logarithms = collate(LabeledRow("one", ("a", "b"), (-1.0, -2.0)), others=[elsewhere])
    assert logarithms["targets"].tolist() == [[-1.0, -2.0]]


def test_passages_are_grouped_by_length() -> None:
    texts = tuple("x" * (number * 37 % 101 + 1) for number in range(80))
    batch = collate(LabeledRow("one", texts, tuple(map(float, range(80)))))
    groups = [batch[f"passages{number}_texts"] for number in range(3)]
    found = [text for group in groups for text in group]
    assert [len(group) for group in groups] == [GROUP, GROUP, 80 - 2 * GROUP]
    assert found == sorted(set(texts), key=len)
    assert batch["targets"].tolist() == [[float(texts.index(text)) for text in found]]
