"""Compare what a dual encoder and a cross-encoder learn from labels of a model, of people, and of both.

`python -m benchmarks.label_sources --out FOLDER` trains e5-small on the passages of `recipes/answer-labels`.
Each arm sees the same questions with the same candidates; only the targets differ. `teacher` has the language
model's calibrated probabilities, `people` has 1 for the passages that people chose and 0 for the others, and
`both` has the mean of the two; `none` is e5-small as it is. A quarter of the questions is held out, by their
ids.

All rank the candidates of the held-out questions, where the passages that people chose are relevant, and two
tasks that none was trained on: the candidates of BM25 of TREC Deep Learning 2020, and FeedbackQA. A
cross-encoder orders the candidates of e5-small, as in `citewell ask`. `--tasks` measures some of these alone.
The same command continues after an interruption.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.reference_ranking import citewell, evaluated, feedbackqa
from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.significance import compare_all, differences_table
from citewell.retriever.evaluation.report import details_file
from citewell.retriever.training.labels.asked import AskedQuestions, read_asked

LABELS = Path(__file__).parents[1] / "recipes" / "answer-labels" / "labels.jsonl.gz"
BASE = "e5-small"
ARMS = {"teacher": 0.0, "both": 0.5, "people": 1.0}
"""The share of people's labels in the targets."""

SOURCES = {
    "qed": ("qa_pairs/qed_train.jsonl.gz", "CC BY-SA 3.0"),
    "squad": ("qa_pairs/squad_dev.jsonl.gz", "CC BY-SA 4.0"),
    "medquad": ("qa_pairs/medquad.jsonl.gz", "CC BY 4.0"),
    "lfrqa": ("longform_cited/lfrqa.jsonl.gz", "Apache-2.0; posts of Stack Exchange CC BY-SA"),
}
"""The files that the labels' sets are of, and their licenses."""

OTHERS = ("trecdl20", "feedbackqa")
"""The tasks that none is trained on."""

_HELD = 4  # every fourth question
_STEPS = 200
_FEEDBACK = "400"  # questions of FeedbackQA
_NDCG = "nDCG@10"

Labels = Mapping[str, Sequence[Mapping[str, Any]]]
"""Lines of the labels by question."""


def main() -> None:
    """Train the arms, measure them, and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for recipes, models and results")
    parser.add_argument("--labels", type=Path, default=LABELS, help="labels with their sets [the published]")
    parser.add_argument("--steps", type=int, default=_STEPS, help=f"steps of each training [{_STEPS}]")
    parser.add_argument("--tasks", nargs="+", choices=[*SOURCES, *OTHERS], default=[*SOURCES, *OTHERS])
    output_option(parser)
    options = parser.parse_args()
    data, out = external_data(), options.out
    sets = read_sets(options.labels)
    write_train_labels(sets, out)
    for arm, people in ARMS.items():
        sources = source_sections(sets, people)
        train("retriever", out / f"retriever-{arm}", encoder_recipe(sources, options.steps))
        train("reranker", out / f"reranker-{arm}", reranker_recipe(sources, options.steps))
    tasks = {
        name: write_held(read_asked([data / SOURCES[name][0]]), labels, out / "held" / name)
        for name, labels in sets.items()
    }
    trec = data / "retrieval" / "trecdl20"
    official, run = trec / "official_qrels.tsv", trec / "runs" / "bm25.txt.gz"
    tasks["trecdl20"] = (str(trec), "--qrels", str(official), "--rerank", str(run), "--relevant", "2")
    tasks["feedbackqa"] = (str(feedbackqa(data, out / "feedbackqa")), "--split", "dev", "--limit", _FEEDBACK)
    results = {name: measured(name, out, tasks[name]) for name in options.tasks}
    report(results)
    means = {name: {arm: fmean(of.values()) for arm, of in found.items()} for name, found in results.items()}
    questions = {name: len(labels) for name, labels in sets.items()}
    save("label_sources", {"steps": options.steps, "questions": questions, _NDCG: means}, options.output)


def read_sets(file: Path) -> dict[str, Labels]:
    """Return the labels of a compressed file by their sets, which are those of `SOURCES`."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            found.setdefault(row["set"], defaultdict(list))[row["question"]].append(row)
    return {name: found[name] for name in SOURCES if name in found}


def is_held(question: str) -> bool:
    """Return whether the question with this id is held out from training."""
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % _HELD == 0


def write_train_labels(sets: Mapping[str, Labels], out: Path) -> None:
    """Write the labels of the questions that are trained on, a file for each set."""
    for name, labels in sets.items():
        kept = chain.from_iterable(rows for question, rows in labels.items() if not is_held(question))
        _write(out / f"labels-{name}.jsonl", map(json.dumps, kept))


def source_sections(sets: Iterable[str], people: float) -> str:
    """Return the sections of data of a recipe, whose targets have this share of people's labels."""
    return "\n".join(
        f"""\
[[data]]
name = "{name}"
files = ["{SOURCES[name][0]}"]
format = "pairs"
label = "answers"
answers = "labels-{name}.jsonl"
people = {people}
license = "{SOURCES[name][1]}"
"""
        for name in sets
    )


def encoder_recipe(sources: str, steps: int) -> str:
    """Return the recipe of a dual encoder that learns from these sources."""
    return f"""\
[model]
base = "{BASE}"
max_tokens = 160

[model.lora]
rank = 16
alpha = 32

{sources}
# The inner products of E5 lie close together.
[[objectives]]
name = "listwise_kl"
temperature = 0.02
teacher_temperature = 0.15

[[objectives]]
name = "anchor"
weight = 0.5

[training]
steps = {steps}
batch = 8
list_size = 7
learning_rate = 4e-4
threads = 2
"""


def reranker_recipe(sources: str, steps: int) -> str:
    """Return the recipe of a cross-encoder that learns from these sources."""
    return f"""\
[model]
base = "{BASE}"
max_tokens = 192

[model.lora]
rank = 32
alpha = 64
targets = ["query", "key", "value", "dense"]

{sources}
[objective]
encoder = "{BASE}"

[training]
steps = {steps}
batch = 8
list_size = 7
learning_rate = 8e-4
part_tokens = 2048
threads = 2
"""


def train(kind: str, out: Path, recipe: str) -> None:
    """Train a `retriever` or a `reranker` by a recipe, which is kept beside its folder, if it is not yet."""
    if (out / "README.md").is_file():
        return
    file = out.with_suffix(".toml")
    file.write_text(recipe, encoding="utf-8")
    subprocess.run(citewell("train", kind, str(file), "--out", str(out)), check=True)


def write_held(asked: AskedQuestions, labels: Labels, folder: Path) -> tuple[str, ...]:
    """Write the held-out questions of a set as a BEIR folder, with their candidates as a TREC run.

    Passages that the set's file lacks are left out, as in training, and so are questions without a passage
    that people chose. Returns the arguments of `citewell eval retrieval`.
    """
    known = {
        question: [row for row in rows if row["passage"] in asked.passages]
        for question, rows in labels.items()
        if is_held(question)
    }
    held = {question: rows for question, rows in known.items() if any(row["gold"] for row in rows)}
    rows = list(chain.from_iterable(held.values()))
    passages = {row["passage"]: asked.passages[row["passage"]] for row in rows}
    corpus = ({"_id": key, "title": each.title, "text": each.text} for key, each in passages.items())
    queries = ({"_id": question, "text": asked.questions[question].question} for question in held)
    judged = (f"{row['question']}\t{row['passage']}\t1" for row in rows if row["gold"])
    run = (f"{row['question']} Q0 {row['passage']} {n} {-n} candidates" for n, row in enumerate(rows, 1))
    _write(folder / "corpus.jsonl", map(json.dumps, corpus))
    _write(folder / "queries.jsonl", map(json.dumps, queries))
    _write(folder / "qrels" / "test.tsv", ["query-id\tcorpus-id\tscore", *judged])
    _write(folder / "candidates.txt", run)
    return (str(folder), "--rerank", str(folder / "candidates.txt"))


def measured(name: str, out: Path, task: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the nDCG@10 of each question by system: of e5-small, dual encoders and cross-encoders."""
    encoders = {arm: str(out / f"retriever-{arm}") for arm in ARMS}
    found = once(out / "results" / f"{name}.json", [BASE, *encoders.values()], BASE, task)["systems"]
    values = {"none": found[BASE]["values"][_NDCG]}
    values |= {f"dual encoder, {arm}": found[at]["values"][_NDCG] for arm, at in encoders.items()}
    for arm in ARMS:
        file, model = out / "results" / f"{name}-reranker-{arm}.json", out / f"reranker-{arm}"
        read = once(file, ["reranked"], "reranked", task, CITEWELL_RETRIEVER__RERANKER=str(model))
        values[f"cross-encoder, {arm}"] = read["systems"]["reranked"]["values"][_NDCG]
    return values


def once(file: Path, *of: Any, **variables: str) -> dict[str, Any]:
    """Return what `evaluated` does, which is run only if an earlier run did not measure it."""
    details = details_file(file)
    if details.is_file():
        found: dict[str, Any] = json.loads(details.read_text(encoding="utf-8"))
        return found
    return evaluated(file, *of, **variables)


def report(results: Mapping[str, Mapping[str, Mapping[str, float]]]) -> None:
    """Print the means, and differences: from e5-small as it is, and of the teacher's labels from people's.

    The questions of the labels' sets are compared together.
    """
    systems = list(next(iter(results.values())))
    rows = [[system, *(f"{fmean(of[system].values()):.3f}" for of in results.values())] for system in systems]
    print(f"\n{_NDCG}\n\n{table(['labels', *results], rows)}")
    own = [found for name, found in results.items() if name in SOURCES]
    held = {system: dict(chain.from_iterable(found[system].items() for found in own)) for system in systems}
    others = {name: found for name, found in results.items() if name not in SOURCES}
    for name, of in {"held-out questions": held, **others}.items():
        trained = {system: of[system] for system in systems if system != "none"}
        print(f"\n{name}: {len(of['none'])} questions\n")
        print(differences_table({f"{_NDCG}, from none": compare_all(trained, of["none"])}))
        for kind in ("dual encoder", "cross-encoder"):
            taught = {f"{kind}, {arm}": of[f"{kind}, {arm}"] for arm in ("teacher", "both")}
            print(differences_table({f"{_NDCG}, from people": compare_all(taught, of[f"{kind}, people"])}))


def _write(file: Path, lines: Iterable[str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
