"""BEIR folders: what is read, and what is refused with the file and the line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.retriever.evaluation.task import read_task
from tests.retriever.evaluation.made_up import DOCUMENTS, QRELS, write_jsonl, write_task


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_as_beir_writes_it(tmp_path: Path, packed: bool) -> None:
    task = read_task(write_task(tmp_path / "notes", packed), "test")
    assert task.name == "notes"
    assert task.qrels == QRELS
    assert list(task.queries) == ["q1", "q2", "q3"], "only judged queries"
    assert task.corpus.ids == ("bats", "bread", "tides", "moon", "empty")
    assert task.corpus.passages[0].startswith("Bats. Bats find")
    assert task.corpus.passages[1].startswith("Sourdough"), "without a title, the text alone"
    assert task.corpus.passages[4] == ""
    assert not task.notices


def test_numbers_as_ids_and_documents_without_a_title(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "notes")
    write_jsonl(
        folder / "corpus.jsonl", [{"_id": 7, "text": "Seven."}, {"_id": 8, "title": None, "text": ""}]
    )
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\t7\t1\n")
    task = read_task(folder, "dev")
    assert task.corpus.ids == ("7", "8")
    assert task.corpus.passages == ("Seven.", "")


def test_half_a_character_becomes_a_question_mark(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "notes")
    (folder / "corpus.jsonl").write_text('{"_id": "x", "text": "x \\ud800 y"}\n')
    (folder / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tx\t1\n")
    assert read_task(folder, "dev").corpus.passages == ("x ? y",)


def test_judgments_in_the_form_of_trec(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q2 0 tides 3\nq2 0 moon -1\n")
    task = read_task(write_task(tmp_path / "notes"), "test", qrels=qrels)
    assert task.qrels == {"q2": {"tides": 3, "moon": -1}}


def test_the_first_queries_alone(tmp_path: Path) -> None:
    task = read_task(write_task(tmp_path / "notes"), "test", limit=2)
    assert list(task.queries) == list(task.qrels) == ["q1", "q2"]


def test_judgments_of_a_larger_corpus(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("q2\ttides\t3\nq2\telsewhere\t2\n")
    folder = write_task(tmp_path / "notes")
    with pytest.raises(InputError, match=r"qrels\.tsv, line 2: there is no document 'elsewhere'"):
        read_task(folder, "test", qrels=qrels)
    task = read_task(folder, "test", qrels=qrels, partial=True)
    assert task.qrels["q2"]["elsewhere"] == 2
    assert "1 of 2 judgments" in task.notices[0]
    qrels.write_text("q2\telsewhere\t2\n")
    with pytest.raises(InputError, match="judges no document"):
        read_task(folder, "test", qrels=qrels, partial=True)


def replace(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text) and None


def cut(folder: Path) -> None:
    (folder / "corpus.jsonl").unlink()
    file = write_jsonl(folder / "corpus.jsonl.gz", DOCUMENTS)
    file.write_bytes(file.read_bytes()[:-20])


def unpacked(folder: Path) -> None:
    (folder / "corpus.jsonl").rename(folder / "corpus.jsonl.gz")


def latin(folder: Path) -> None:
    (folder / "queries.jsonl").write_bytes('{"_id": "q1", "text": "caf\u00e9"}\n'.encode("latin-1"))


ROW = '{"_id": "bats", "text": ""}\n'
MISTAKES = {
    "unknown query": (
        replace("qrels/test.tsv", "q9\tbats\t1\n"),
        r"test\.tsv, line 1: there is no query 'q9'",
    ),
    "unknown document": (
        replace("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\towls\t1\n"),
        r"test\.tsv, line 2: there is no document 'owls' in the corpus",
    ),
    "judgment without a grade": (replace("qrels/test.tsv", "q1\tbats\n"), "line 1: a judgment has 3 or 4"),
    "grade of words": (
        replace("qrels/test.tsv", "q1\tbats\t1\nq1\tmoon\tgood\n"),
        "line 2: the grade 'good'",
    ),
    "two grades": (
        replace("qrels/test.tsv", "q1\tbats\t1\nq1\tbats\t2\n"),
        "line 2: document 'bats' of query",
    ),
    "no judgments": (replace("qrels/test.tsv", "query-id\tcorpus-id\tscore\n"), "holds no judgments"),
    "document twice": (
        replace("corpus.jsonl", ROW + ROW),
        "corpus.jsonl, line 2: there is a document 'bats'",
    ),
    "query twice": (replace("queries.jsonl", ROW + "\n" + ROW), "queries.jsonl, line 3: there is a query"),
    "empty corpus": (replace("corpus.jsonl", "\n"), "corpus.jsonl is empty"),
    "no queries": (replace("queries.jsonl", "\n"), "holds no queries"),
    "no JSON": (replace("corpus.jsonl", ROW + "{'_id': 1}"), "corpus.jsonl, line 2: not valid JSON"),
    "no object": (replace("corpus.jsonl", "[1]"), "line 1: not a JSON object"),
    "no id": (replace("corpus.jsonl", '{"text": ""}'), "line 1: the _id None is not an id"),
    "id with a blank": (
        replace("corpus.jsonl", '{"_id": "a b", "text": ""}'),
        "line 1: the _id 'a b' is not an id",
    ),
    "no text": (replace("corpus.jsonl", '{"_id": "a", "text": 1}'), "line 1: the text is not a text"),
    "cut short": (cut, r"corpus\.jsonl\.gz is truncated: the compressed file ends after line \d+"),
    "not compressed": (unpacked, r"corpus\.jsonl\.gz cannot be decompressed"),
    "not UTF-8": (latin, r"queries\.jsonl, line 1: not UTF-8"),
}


@pytest.mark.parametrize(("damage", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named_with_their_line(
    tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    folder = write_task(tmp_path / "notes")
    damage(folder)
    with pytest.raises(InputError, match=message):
        read_task(folder, "test")


def test_other_folders_are_refused(tmp_path: Path) -> None:
    write_task(tmp_path / "tasks" / "bats")
    write_task(tmp_path / "tasks" / "moons")
    with pytest.raises(InputError, match=r"holds 2 tasks. Name one of them: bats, moons\."):
        read_task(tmp_path / "tasks", "test")
    with pytest.raises(InputError, match="There is no folder"):
        read_task(tmp_path / "nowhere", "test")
    with pytest.raises(InputError, match="is not a BEIR folder"):
        read_task(tmp_path, "test")
    with pytest.raises(InputError, match=r"has no split 'dev'. Its splits are: test\."):
        read_task(tmp_path / "tasks" / "bats", "dev")


def test_a_folder_whose_file_is_another_one_by_gzip(tmp_path: Path) -> None:
    folder = write_task(tmp_path / "notes")
    qrels = folder / "qrels" / "test.tsv"
    (folder / "qrels" / "test.tsv.gz").write_bytes(gzip.compress(qrels.read_bytes()))
    qrels.unlink()
    assert read_task(folder, "test").qrels == QRELS
