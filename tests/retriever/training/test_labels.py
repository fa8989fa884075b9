"""Labels: what each kind makes of its files, and what it says where they cannot give it."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from citewell.core.errors import InputError
from citewell.core.training.checkpoints import TrainingError
from citewell.retriever.training.labels.adopted import adopted_rows
from citewell.retriever.training.labels.asked import read_asked
from citewell.retriever.training.labels.candidates import candidate_rows
from citewell.retriever.training.labels.judgments import judgment_rows
from citewell.retriever.training.labels.positives import positive_rows
from citewell.retriever.training.labels.rankings import ranking_rows
from citewell.retriever.training.labels.rouge import rouge_rows
from citewell.retriever.training.labels.sentences import sentence_rows
from citewell.retriever.training.measures import measured_rows
from citewell.retriever.training.rows import LabeledRow


def write(file: Path, *rows: dict[str, Any]) -> Path:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


ANSWER = {
    "question": "Why is the sky blue?",
    "answer": "Air scatters blue light most [2].",
    "references": [
        "Cats purr.",
        {"title": "Sky", "text": "Air scatters blue light."},
        "Blue light is light.",
    ],
}


def test_rouge_labels_are_shares_of_words_in_the_answer(tmp_path: Path) -> None:
    (row,) = rouge_rows(write(tmp_path / "rows.jsonl", ANSWER))
    assert row.passages == ("Cats purr.", "Sky. Air scatters blue light.", "Blue light is light.")
    assert row.targets == (0.0, 1.0, 0.5)


def test_adopted_references_are_those_that_the_answer_cites(tmp_path: Path) -> None:
    uncited = {**ANSWER, "answer": "It is blue."}
    rows = adopted_rows(write(tmp_path / "rows.jsonl", uncited, ANSWER))
    assert [row.targets for row in rows] == [(0.0, 1.0, 0.0)]


def test_a_mark_names_the_number_of_a_reference_that_has_one(tmp_path: Path) -> None:
    references = [{"n": 4, "text": "Air scatters blue light."}, {"n": 7, "text": "Cats purr."}]
    row = {**ANSWER, "answer": "Blue light is scattered [4, 9].", "references": references}
    assert adopted_rows(write(tmp_path / "rows.jsonl", row))[0].targets == (1.0, 0.0)


def test_answers_without_marks_cannot_give_the_label_adopted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot give the label adopted"):
        adopted_rows(write(tmp_path / "rows.jsonl", {**ANSWER, "answer": "It is blue."}))


def passage(text: str, title: str = "") -> dict[str, str]:
    return {"title": title, "text": text, "url": ""}


def test_rows_of_one_question_are_one_row(tmp_path: Path) -> None:
    rows = positive_rows(
        write(
            tmp_path / "pairs.jsonl",
            {"question": "Who?", "positive": [passage("Ann.", "People")], "answer": ["Ann"]},
            {
                "question": "who? ",
                "positive": [passage("Bea.")],
                "hard_negative": [passage("ann.", "people")],
            },
            {"question": "What?", "positive": [], "hard_negative": [passage("That.")]},
            {"question": "Where?", "positive": [passage("Here.")], "hard_negative": [passage("There.")]},
        )
    )
    assert [(row.passages, row.targets) for row in rows] == [
        (("People. Ann.", "Bea."), (1.0, 1.0)),
        (("Here.", "There."), (1.0, 0.0)),
    ]
    assert rows[0].answers == ("Ann",)


def test_unanswered_questions_are_kept_where_asked(tmp_path: Path) -> None:
    file = write(
        tmp_path / "pairs.jsonl",
        {"question": "Who?", "positive": [passage("Ann.")]},
        {"question": "What?", "positive": [], "hard_negative": [passage("That.")]},
    )
    assert [row.question for row in positive_rows(file)] == ["Who?"]
    assert [row.targets for row in positive_rows(file, unanswered=True)] == [(1.0,), (0.0,)]


def test_candidates_are_read_with_their_labels(tmp_path: Path) -> None:
    sentences = [{"text": "It is metal.", "label": 1}, {"text": "It was sold.", "label": 0}]
    file = write(
        tmp_path / "sentences.jsonl",
        {"question": "What is tin?", "title": "Tin", "candidates": sentences},
        {"question": "What is it?", "candidates": sentences[:1]},
        {"question": "Why?", "domain": "money", "candidates": sentences},
    )
    (row,) = candidate_rows(file, {"domain": "money"})
    assert row.passages == ("Tin. It is metal.", "Tin. It was sold.")
    assert row.targets == (1.0, 0.0)
    assert len(candidate_rows(file, {})) == 2


def test_a_candidate_without_a_label_is_named(tmp_path: Path) -> None:
    file = write(tmp_path / "sentences.jsonl", {"question": "Why?", "candidates": [{"text": "Because."}]})
    with pytest.raises(InputError, match="label is neither 0 nor 1"):
        candidate_rows(file, {})


def test_an_answer_may_be_one_text(tmp_path: Path) -> None:
    passages = [{"title": "", "text": "It is metal. It was sold in 1912. It shone. It was heavy."}]
    file = write(
        tmp_path / "rows.jsonl", {"question": "When was it sold?", "positive": passages, "answer": "1912"}
    )
    (row,) = sentence_rows([file])
    assert row.targets == (0.0, 1.0, 0.0, 0.0)


def test_numbers_are_ids_of_questions(tmp_path: Path) -> None:
    rows = ({"id": n, "question": f"What is {n}?", "positive": ["It is a number."]} for n in (0, 1))
    assert list(read_asked([write(tmp_path / "rows.jsonl", *rows)]).questions) == ["0", "1"]


def test_a_model_without_finite_scores_has_no_dev_metric() -> None:
    row = LabeledRow("q", ("a", "b", "c"), (1.0, 0.0, 0.0))
    with pytest.raises(TrainingError, match="not finite"):
        measured_rows([row], [np.full(3, np.nan)], "ndcg")
    tied = measured_rows([row], [np.zeros(3)], "ndcg")
    assert 0 < tied < 1


def test_pairs_without_positives_cannot_give_the_label(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row has a positive"):
        positive_rows(write(tmp_path / "pairs.jsonl", {"question": "Who?", "positive": []}))


def test_a_line_that_is_no_row_is_named(tmp_path: Path) -> None:
    file = write(tmp_path / "pairs.jsonl", {"question": "Who?", "positive": [{"title": "No text"}]})
    with pytest.raises(InputError, match=r"pairs\.jsonl, line 1: the text is not a text"):
        positive_rows(file)


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    write(tmp_path / "corpus.jsonl", *({"_id": d, "title": "", "text": f"Text {d}."} for d in "abcd"))
    write(tmp_path / "queries.jsonl", {"_id": "1", "text": "one"}, {"_id": "2", "text": "two"})
    (tmp_path / "qrels").mkdir()
    lines = ["query-id\tcorpus-id\tscore", "1\ta\t0", "1\tb\t3", "2\tc\t0"]
    (tmp_path / "qrels" / "test.tsv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_passes_of_a_teacher_are_joined_by_the_mean_of_reciprocal_ranks(beir: Path) -> None:
    lines = [{"query_id": "1", "ranking": list("abc")}, {"query_id": "1", "ranking": list("bac")}]
    with gzip.open(beir / "teacher.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    (row,) = ranking_rows(beir, depth=10)
    assert row.question == "one"
    assert row.passages == ("Text a.", "Text b.", "Text c.")
    assert row.targets == pytest.approx((math.log(0.75), math.log(0.75), math.log(1 / 3)))
    assert len(ranking_rows(beir, depth=2)[0].passages) == 2


def test_a_ranking_of_an_unknown_document_is_named(beir: Path) -> None:
    write(beir / "teacher.jsonl", {"query_id": "1", "ranking": ["a", "z"]})
    with pytest.raises(InputError, match="line 1: there is no document 'z'"):
        ranking_rows(beir, depth=10)


def test_a_folder_without_a_teacher(beir: Path) -> None:
    with pytest.raises(InputError, match=r"teacher\.jsonl cannot be read"):
        ranking_rows(beir, depth=10)


def test_judgments_are_labels_of_the_judged_passages(beir: Path) -> None:
    (row,) = judgment_rows(beir, "test", None, depth=100)
    assert (row.question, row.passages, row.targets) == ("one", ("Text a.", "Text b."), (0.0, 3.0))


def test_of_a_run_what_nobody_judged_counts_as_irrelevant(beir: Path) -> None:
    run = beir / "run.txt"
    run.write_text("".join(f"1 Q0 {d} {r} {-r} x\n" for r, d in enumerate("dbca", 1)), encoding="utf-8")
    (row,) = judgment_rows(beir, "test", run, depth=3)
    assert (row.passages, row.targets) == (("Text d.", "Text b.", "Text c."), (0.0, 3.0, 0.0))
    with pytest.raises(InputError, match="no query has a relevant passage"):
        judgment_rows(beir, "test", run, depth=1)


TIDES = {
    "question": "What causes tides?",
    "positive": [
        {"title": "Tide", "text": "Tides rise and fall. The moon's gravity causes them. Fish swim."}
    ],
    "answer": ["gravity"],
}


def test_sentences_with_the_answer_are_told_from_their_neighbors(tmp_path: Path) -> None:
    file = write(
        tmp_path / "pairs.jsonl",
        TIDES,
        # Where most sentences hold the answer, they do so by chance.
        {**TIDES, "question": "Which?", "positive": [{"text": "It is gravity. Gravity is it. No."}]},
        {
            "question": "Why?",
            "positive": [],
            "hard_negative": [{"title": "Kites", "text": "They fly. High."}],
        },
    )
    others = write(
        tmp_path / "others.jsonl",
        {
            "question": "what causes  tides?",
            "title": "Moon",
            "passage": "It is round. It is far. It is old. It is dry.",
            "label": "unanswerable",
        },
        {
            "question": "What causes tides?",
            "title": "Tide",
            "passage": "Gravity does.",
            "label": "answerable",
        },
    )
    tides, kites = sentence_rows([file, others])
    assert tides.question == "What causes tides?"
    assert dict(zip(tides.passages, tides.targets, strict=True)) == {
        "Tide. Tides rise and fall.": 0.0,
        "Tide. The moon's gravity causes them.": 1.0,
        "Tide. Fish swim.": 0.0,
        "Moon. It is round.": 0.0,
        "Moon. It is far.": 0.0,
        "Moon. It is old.": 0.0,
    }
    assert (kites.passages, kites.targets) == (("Kites. They fly.", "Kites. High."), (0.0, 0.0))


def test_evidence_says_more_than_the_words_of_an_answer(tmp_path: Path) -> None:
    text = "Gravity pulls. Gravity of the moon causes them. Fish swim. Boats float."
    row = {**TIDES, "positive": [{"text": text}], "evidence_sentences": ["Gravity of the moon causes them"]}
    (found,) = sentence_rows([write(tmp_path / "pairs.jsonl", row)])
    assert found.targets == (0.0, 1.0, 0.0, 0.0)


def test_passages_without_an_answer_cannot_give_the_label_sentences(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no passage has an answer in one of its sentences"):
        sentence_rows([write(tmp_path / "pairs.jsonl", {**TIDES, "answer": ["the sun"]})])
