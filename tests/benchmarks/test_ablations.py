"""The ablations on a tiny collection: rows run, resume and are compared, and the others are named."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ablations import __main__ as ablations
from benchmarks.ablations.measures import votes_table
from benchmarks.ablations.paper import PAPER
from benchmarks.ablations.rows import NOT_RUN, RUN, students
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.extract.sandbox import SandboxLimits

PAGES = {
    "Bees": "Honey bees dance in their hive. The waggle dance tells other bees where flowers are.",
    "Tides": "The tides are caused by the gravity of the Moon. Most coasts have two high tides a day.",
    "Dough": "Bread dough rises because yeast makes carbon dioxide. Kneading makes gluten.",
}
QUESTIONS = [
    {"question": "What causes the tides of the sea?", "answers": ["gravity of the Moon"]},
    {"question": "Why does bread dough rise?", "answers": ["yeast"]},
    {"question": "What does the waggle dance of bees tell?", "answers": ["where flowers are"]},
]
ROWS = "quotations; BM25, quoted"


def test_rows_of_the_paper_have_one_of_ours_or_a_reason() -> None:
    names = [row.name for row in RUN]
    assert len(names) == len(set(names))
    assert {row.against for row in RUN} <= set(names)
    ours = {(row.table, row.paper) for row in RUN if row.paper}
    ours |= {(row.table, row.paper) for row in (*NOT_RUN, *students(None)[1])}
    assert ours <= {(table, name) for table, paper in PAPER.items() for name in paper.rows}
    covered = {table for table, _ in ours}
    assert covered == {"6", "8", "10", "13"}, "5 and 9 are a reading, and a table of votes"


def test_students_that_are_there_are_rows_and_the_others_are_missing(tmp_path: Path) -> None:
    for name in ("rouge-1", "raw"):
        (tmp_path / name).mkdir()
    rows, missing = students(tmp_path)
    assert [(row.paper, row.generator) for row in rows] == [
        ("None", str(tmp_path / "raw")), ("Rouge-1", str(tmp_path / "rouge-1")),
    ]  # fmt: skip
    assert {row.against for row in rows} == {"student of raw"}
    assert [row.paper for row in missing] == ["Rouge-L"]


def test_students_of_the_larger_base_are_compared_with_each_other(tmp_path: Path) -> None:
    for name in ("raw", "raw-0.5b", "rouge-1-0.5b"):
        (tmp_path / name).mkdir()
    rows, missing = students(tmp_path)
    assert [(row.name, row.paper, row.against) for row in rows] == [
        ("student of raw", "None", "student of raw"),
        ("student of raw-0.5b", "", "student of raw-0.5b"),
        ("student of rouge-1-0.5b", "", "student of raw-0.5b"),
    ]
    assert [row.paper for row in missing] == ["Rouge-L", "Rouge-1"]


def test_generators_on_given_references_are_compared_with_each_other_alone() -> None:
    given = {row.name for row in RUN if row.references == "oracle"}
    assert {row.against for row in RUN if row.name in given} <= given


def test_prompts_are_compared_with_the_papers_prompt_alone() -> None:
    assert {row.against for row in RUN if row.table == "13"} == {"references first"}


def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, rows: str, limit: int = len(QUESTIONS)
) -> tuple[str, dict[str, Any]]:
    """Run the command on the tiny collection, and return its page and its results."""
    asked = folder / "questions.jsonl"
    if not asked.is_file():
        with indexing(EmbeddedCatalog(folder / "data"), "tiny") as indexer:
            documents = [
                SourceDocument(f"/{name}", text.encode(), "text/plain", name) for name, text in PAGES.items()
            ]
            index_documents(indexer, "tiny", documents, sandbox=SandboxLimits(workers=1))
        asked.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS), encoding="utf-8")
    out, output = folder / "page.md", folder / "ablations.json"
    words = ["--data-dir", folder / "data", "--folder", folder / "kept", "--collection", "tiny"]
    words += ["--questions", asked, "--generator", "extractive", "--rows", rows, "--limit", limit]
    words += ["--out", out, "--output", output]
    monkeypatch.setattr(sys, "argv", ["ablations", *map(str, words)])
    ablations.main()
    return out.read_text(encoding="utf-8"), json.loads(output.read_text())


def test_rows_run_once_and_the_page_says_what_did_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, result = run(tmp_path, monkeypatch, ROWS)
    assert set(result["rows"]) >= {"quotations", "BM25, quoted"}
    assert "best of four by votes" in result["not run"]
    assert "best of four by votes" in page.split("Not run yet, `--rows` runs them: ")[1]
    assert "| raw |" in page
    assert "| quotations | – | 100.0 |" in page
    assert "Table 13: prompts" in page
    compared = result["comparisons"]["accuracy"]["BM25, quoted"]
    assert compared["queries"] == len(QUESTIONS)
    assert compared["p_holm"] >= compared["p"]
    kept = (tmp_path / "kept" / "answers.jsonl").read_text(encoding="utf-8")
    assert run(tmp_path, monkeypatch, ROWS)[0] == page
    assert (tmp_path / "kept" / "answers.jsonl").read_text(encoding="utf-8") == kept, "nothing is asked twice"


def test_what_is_published_of_a_row_stays_without_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, result = run(tmp_path, monkeypatch, ROWS)
    (tmp_path / "kept" / "answers.jsonl").unlink()
    assert run(tmp_path, monkeypatch, "none") == (page, result)
    again, results = run(tmp_path, monkeypatch, "quotations")
    assert "| quotations | – |" in again
    assert "BM25, quoted" in results["not run"], "the row that it is compared with was measured again"
    (tmp_path / "kept" / "answers.jsonl").unlink()
    fewer, _ = run(tmp_path, monkeypatch, "none", limit=2)
    assert "| quotations | – |" not in fewer, "of other questions"


def test_the_table_of_votes_is_read_from_the_evaluation_of_scorers(tmp_path: Path) -> None:
    file = tmp_path / "votes.md"
    assert votes_table(file) == {}
    file.write_text(
        "# votes\n\n| scorer | pair accuracy | Spearman | N-NDCG | seconds |\n"
        "| --- | ---: | ---: | ---: | ---: |\n"
        "| length | 0.541 | 0.078 | 0.498 | 0.1 |\n\n| system | measure | a | b | c |\n"
        "| --- | ---: | ---: | ---: | ---: |\n| length | pair accuracy | 1 | 2 | 3 |\n",
        encoding="utf-8",
    )
    assert votes_table(file) == {"length": ("0.541", "0.078", "0.498")}
