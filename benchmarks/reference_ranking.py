"""Measure whether distillation teaches an encoder which references an answer uses, as in WebGLM's Table 7.

`python -m benchmarks.reference_ranking --out FOLDER` builds questions with an answer and five references
(`benchmarks.reference_set`), trains adapters by `recipes/citewell-minilm.toml`, and lets TF-IDF, BM25, the
original encoder, the encoder that comes with Citewell and the newly trained one rank the references of the
test split. `--shipped` skips the training. Files that are in FOLDER already are reused, and interrupted
training continues.

Then the same encoders are measured on data that none was trained on: TREC Deep Learning 2020 (the candidates
of BM25 reranked, and the whole pool), Cranfield, CISI and FeedbackQA.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.settings import load_settings
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.evaluation.references import read_references
from citewell.retriever.evaluation.report import details_file

RECIPE = Path(__file__).parents[1] / "recipes" / "citewell-minilm.toml"
SET = "reference-set"
LEXICAL = ("tfidf", "bm25")
BASE, SHIPPED = "minilm", "citewell-minilm"
ANSWER = 0.95


def build(out: Path) -> None:
    """Build the questions with references in `out`."""
    if not (out / SET / "reference_set.json").is_file():
        _run([sys.executable, "-m", "benchmarks.reference_set", "--out", str(out / SET)])


def train(out: Path) -> float:
    """Train by the recipe, and return the hours of this run."""
    model, config = out / "model", out / RECIPE.name
    if not (model / "modules.json").is_file():
        shutil.copyfile(RECIPE, config)  # the recipe finds the questions beside itself
        start = time.monotonic()
        _run(citewell("train", "retriever", str(config), "--out", str(model)))
        return (time.monotonic() - start) / 3600
    return 0.0


def feedbackqa(data: Path, folder: Path) -> Path:
    """Write FeedbackQA's validation questions as a BEIR folder; the answering passages are relevant."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    passages: dict[tuple[str, str], str] = {}
    queries, judged = [], []
    for row in _rows(data / "qa_pairs" / "feedbackqa_valid.jsonl.gz"):
        queries.append({"_id": row["id"], "text": row["question"]})
        for positive in row["positive"]:
            passage = passages.setdefault((positive["title"], positive["text"]), str(len(passages)))
            judged.append(f"{row['id']}\t{passage}\t1")
    corpus = [{"_id": name, "title": title, "text": text} for (title, text), name in passages.items()]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    header = ["query-id\tcorpus-id\tscore"]
    (folder / "qrels" / "dev.tsv").write_text("\n".join(header + judged) + "\n", encoding="utf-8")
    return folder


def measure(name: str, out: Path, systems: list[str], *arguments: str) -> dict[str, Any]:
    """Evaluate systems, and return the means, and their comparisons with the original encoder."""
    found = evaluated(out / "results" / f"{name}.json", systems, BASE, arguments)
    means = {system: values["measures"] for system, values in found["systems"].items()}
    return {"means": means, "comparisons": found["comparisons"]}


def evaluated(
    file: Path, systems: Sequence[str], baseline: str, task: Sequence[str], **variables: str
) -> dict[str, Any]:
    """Run `citewell eval retrieval` with these variables of its environment; return what it measured.

    The means are written to `file`, and the details beside it.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    command = [*citewell("eval", "retrieval"), *task, "--systems", ",".join(systems), "--baseline", baseline]
    command += ["--json", str(file), "--markdown", str(file.with_suffix(".md"))]
    subprocess.run(command, check=True, env=os.environ | variables)
    found: dict[str, Any] = json.loads(details_file(file).read_text(encoding="utf-8"))
    return found


def pairs(file: Path, encoders: list[str]) -> dict[str, dict[str, float]]:
    """Return the pair accuracy of encoders, separately for pairs with a reference that is the answer.

    A reference counts as the answer if it contains the share `ANSWER` of its words; the word overlap of other
    references with the answer is largely random, which limits what an encoder can learn of their order.
    """
    settings, task = load_settings(), read_references(file)
    right: dict[str, dict[str, list[bool]]] = {}
    for name in encoders:
        known = {BASE: "all-MiniLM-L6-v2"}.get(name, name)
        encoder = load_encoder(known, settings.cache_dir, threads=settings.threads)
        questions = encoder.encode_questions(list(task.questions.values()))
        passages = encoder.encode_passages(task.corpus.passages)
        found: dict[str, list[bool]] = {"with the answer": [], "of other references": []}
        for vector, key in zip(questions, task.questions, strict=True):
            scores = passages[list(task.references[key])] @ vector
            for (label, score), (other, least) in combinations(zip(task.labels[key], scores, strict=True), 2):
                if label != other:
                    kind = "with the answer" if max(label, other) >= ANSWER else "of other references"
                    found[kind].append(bool((label - other) * (score - least) > 0))
        right[name] = found
    return {
        name: {
            measure: value
            for kind, values in found.items()
            for measure, value in ((f"pairs {kind}", len(values)), (kind, sum(values) / len(values)))
        }
        for name, found in right.items()
    }


def main() -> None:
    """Build, train and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for questions, model and results")
    parser.add_argument("--shipped", action="store_true", help="measure the shipped encoder without training")
    parser.add_argument("--tasks", default="all", help="comma-separated names of tasks, or all")
    output_option(parser)
    options = parser.parse_args()
    data, out = external_data(), options.out
    out.mkdir(parents=True, exist_ok=True)
    build(out)
    hours = 0.0 if options.shipped else train(out)
    encoders = [BASE, SHIPPED] if options.shipped else [BASE, SHIPPED, str(out / "model")]
    trec = data / "retrieval" / "trecdl20"
    rerank = ("--qrels", str(trec / "official_qrels.tsv"), "--rerank", str(trec / "runs" / "bm25.txt.gz"))
    tasks: dict[str, tuple[str, ...]] = {
        "references": (str(out / SET / "test.jsonl.gz"),),
        "trecdl20-rerank": (str(trec), *rerank, "--relevant", "2"),
        "trecdl20-pool": (str(trec), "--relevant", "2"),
        "cranfield": (str(data / "retrieval" / "cranfield"),),
        "cisi": (str(data / "retrieval" / "cisi"),),
        "feedbackqa": (str(feedbackqa(data, out / "feedbackqa")), "--split", "dev"),
    }
    wanted = list(tasks) if options.tasks == "all" else options.tasks.split(",")
    results = {name: measure(name, out, [*LEXICAL, *encoders], *tasks[name]) for name in wanted}
    for name, result in results.items():
        means = result["means"]
        measures = list(next(iter(means.values())))
        rows = [[Path(system).name, *(round(means[system][m], 4) for m in measures)] for system in means]
        print(f"\n{name}\n\n{table(['system', *measures], rows)}")
    split = pairs(out / SET / "test.jsonl.gz", encoders)
    rows = [
        [Path(name).name, *(round(value, 3) for value in found.values())] for name, found in split.items()
    ]
    print(f"\nPair accuracy by kind of pair\n\n{table(['system', *next(iter(split.values()))], rows)}")
    save(
        "reference_ranking",
        {"training_hours": round(hours, 2), "tasks": results, "pairs": split},
        options.output,
    )


def citewell(*command: str) -> list[str]:
    """Return a command of the installed program, for `subprocess`."""
    return [str(Path(sys.executable).with_name("citewell")), *command]


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


if __name__ == "__main__":
    main()
