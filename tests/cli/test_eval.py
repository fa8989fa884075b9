"""`citewell eval`, from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.retriever.evaluation.measures import means, measure
from citewell.retriever.evaluation.trec import read_qrels, read_run
from tests.cli.conftest import Cli
from tests.retriever.evaluation.made_up import QRELS, write_jsonl, write_task

MEASURES = {"nDCG@10", "MRR@10", "Recall@100", "MAP"}
REFERENCES = {
    "question": "What causes the tides?",
    "answer": "The tides are caused by the gravity of the Moon.[1]",
    "references": [
        "The gravity of the Moon causes the tides.",
        {"title": "Bread", "text": "Bread is baked."},
    ],
}


@pytest.fixture
def task(tmp_path: Path) -> Path:
    return write_task(tmp_path / "notes")


def test_the_plain_call_writes_systems_and_measures_and_nothing_else(
    cli: Cli, task: Path, tmp_path: Path
) -> None:
    out = tmp_path / "scores.json"
    result = cli.run(
        *("eval", "retrieval", task, "--split", "test", "--systems", "bm25,minilm,default", "--json", out)
    )
    assert result.code == 0, result.err
    scores = json.loads(out.read_text())
    assert list(scores) == ["bm25", "minilm", "default"]
    assert all(set(measures) == MEASURES for measures in scores.values())
    assert all(0 <= value <= 1 for measures in scores.values() for value in measures.values())
    assert scores["minilm"]["MRR@10"] == 1
    assert "| minilm |" in result.out
    assert {path.name for path in tmp_path.iterdir()} >= {"scores.json", "scores.details.json"}


def test_everything_that_can_be_written(cli: Cli, task: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib, of the extra `eval`, is not installed")
    result = cli.run(
        *("eval", "retrieval", task, "--systems", "tfidf,bm25", "--baseline", "bm25", "--limit", "2"),
        *("--runs", tmp_path / "runs", "--plots", tmp_path / "plots", "--markdown", tmp_path / "page.md"),
        *("--json", tmp_path / "scores.json"),
    )
    assert result.code == 0, result.err
    assert (tmp_path / "page.md").read_text().startswith("# notes: 2 questions")
    assert "Differences to bm25" in (tmp_path / "page.md").read_text()
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {
        "quality_latency.png",
        "differences.png",
    }
    qrels = read_qrels(tmp_path / "runs" / "qrels.txt")
    assert qrels == {query: QRELS[query] for query in ("q1", "q2")}
    for name, scores in json.loads((tmp_path / "scores.json").read_text()).items():
        run = read_run(tmp_path / "runs" / f"{name}.txt")
        assert scores == pytest.approx(means(measure(qrels, run))), "what was written says the same"

    runs = (tmp_path / "runs" / "tfidf.txt", tmp_path / "runs" / "bm25.txt")
    compared = cli.run("eval", "compare", *runs)
    assert compared.code == 0, compared.err
    assert "| bm25 - tfidf | nDCG@10 |" in compared.out
    (found,) = json.loads(cli.run("eval", "compare", *runs, "--json").out).values()
    assert set(found) == MEASURES
    assert found["MAP"]["difference"] == pytest.approx(found["MAP"]["b"] - found["MAP"]["a"])


def test_a_run_is_ranked_anew_and_measured_beside(cli: Cli, task: Path, tmp_path: Path) -> None:
    run = tmp_path / "first.txt"
    run.write_text("q1 Q0 moon 1 2 x\nq1 Q0 bats 2 1 x\nq2 Q0 tides 1 2 x\n")
    qrels = tmp_path / "official.tsv"
    qrels.write_text("query-id\tcorpus-id\tscore\nq1\tbats\t1\nq2\ttides\t1\nq2\telsewhere\t1\n")
    out = tmp_path / "scores.json"
    result = cli.run(
        *(
            "eval",
            "retrieval",
            task,
            "--rerank",
            run,
            "--qrels",
            qrels,
            "--systems",
            f"{run},bm25",
            "--json",
            out,
        )
    )
    assert result.code == 0, result.err
    scores = json.loads(out.read_text())
    assert scores[str(run)]["MRR@10"] == 0.75
    assert scores["bm25"]["MRR@10"] == 1
    assert scores["bm25"]["Recall@100"] == 0.75
    assert "1 of 3 judgments are of documents that the corpus does not hold" in result.err


def test_references_are_put_in_order(cli: Cli, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "test.jsonl.gz", [REFERENCES] * 3)
    for call in ((file,), (tmp_path, "--references")):
        out = tmp_path / "scores.json"
        result = cli.run("eval", "retrieval", *call, "--systems", "bm25,tfidf", "--json", out)
        assert result.code == 0, result.err
        measures = {"pair accuracy": 1.0, "Spearman": 1.0, "NDCG": 1.0, "N-NDCG": 1.0}
        assert json.loads(out.read_text()) == {
            "bm25": pytest.approx(measures),
            "tfidf": pytest.approx(measures),
        }


def test_what_was_measured_is_shown_where_it_cannot_be_written(cli: Cli, task: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = cli.run("eval", "retrieval", task, "--systems", "bm25", "--runs", tmp_path / "file" / "runs")
    assert result.code == 1
    assert "| bm25 |" in result.out
    assert "runs cannot be written: Not a directory" in result.err


def test_references_have_no_judgments(cli: Cli, tmp_path: Path) -> None:
    file = write_jsonl(tmp_path / "test.jsonl", [REFERENCES])
    result = cli.run("eval", "retrieval", file, "--systems", "bm25", "--qrels", "qrels.txt")
    assert result.code == 2
    assert "a file of questions with references" in result.err


MISTAKES = {
    "unknown system": (("--systems", "bm25,bm52"), "Unknown system 'bm52'"),
    "system twice": (("--systems", "bm25,bm25"), "The system 'bm25' is named twice"),
    "no folder to write to": (("--markdown", "none/page.md"), "does not exist"),
    "run of other queries": (("--rerank", "other.txt"), "has none of the judged queries"),
    "run with NaN": (("--rerank", "nan.txt"), "nan.txt, line 1: the score of document 'bats' is nan"),
    "judgments of others": (("--qrels", "qrels.tsv"), "qrels.tsv, line 1: there is no query 'q9'"),
}


@pytest.mark.parametrize(("options", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named_and_nothing_is_overwritten(
    cli: Cli, task: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    (tmp_path / "other.txt").write_text("q9 Q0 bats 1 2 x\n")
    (tmp_path / "nan.txt").write_text("q1 Q0 bats 1 nan x\n")
    (tmp_path / "qrels.tsv").write_text("q9\tbats\t1\n")
    out = tmp_path / "scores.json"
    out.write_text("mine")
    systems = () if "--systems" in options else ("--systems", "bm25")
    result = cli.run("eval", "retrieval", task, *systems, *options, "--json", out)
    assert result.code == 2, result.err
    assert message in result.err
    assert "Traceback" not in result.err
    assert out.read_text() == "mine"
    assert not (tmp_path / "scores.details.json").exists()


def test_labels_of_adoption_are_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    row = {"question": "Why?", "answer": "Rivers bring salt[1].", "references": ["Rivers bring salt."]}
    rows.write_text(json.dumps(row) + "\n", encoding="utf-8")
    labels = tmp_path / "labels.jsonl"
    cli.run("eval", "adoption", rows, "--draw", labels)
    drawn = labels.read_text(encoding="utf-8")
    assert '"relevant": null' in drawn
    labels.write_text(drawn.replace("null", "true"), encoding="utf-8")
    again = cli.run("eval", "adoption", rows, "--draw", labels)
    assert again.code == 2
    assert "exists already" in again.err
    assert '"relevant": true' in labels.read_text(encoding="utf-8")
