"""Compare ways to fuse a dual encoder with BM25, on training questions.

Three sets of questions with the passages that answer them (SQuAD, FeedbackQA, QED) are searched with
all-MiniLM-L6-v2 and BM25, whose best 100 passages each are fused in several ways: reciprocal rank fusion
(Cormack et al. 2009, https://doi.org/10.1145/1571941.1572114), and weighted sums of scores that are divided
by the best, put between 0 and 1, or standardized; the weight is the encoder's.

Each way is measured twice. With "all scores", both scores of each passage are known, as in `citewell eval
retrieval`. With "two lists", a score is known only where the passage is among the best 100 of that search, as
in a search of a dense collection. The last column adds 2 to all inner products: those of other encoders may
lie in a narrow band far from 0, and a way that depends on it would need a weight for each encoder.

Run `python -m benchmarks.fusion`; it takes less than three minutes on two cores.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.jsonl import read_lines
from citewell.core.settings import load_settings
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.evaluation.measures import NDCG, means, measure
from citewell.retriever.evaluation.systems.dense import DenseSystem
from citewell.retriever.evaluation.systems.lexical import LexicalSystem, bm25
from citewell.retriever.evaluation.systems.system import Searcher
from citewell.retriever.evaluation.task import Corpus, RetrievalTask
from citewell.retriever.fusion import ScoredCandidates, Scores, candidates, fused

SETS = ("squad_dev", "feedbackqa_train", "qed_train")
_PASSAGES = 1200
_QUESTIONS = 300
_DEPTH = 100
_WEIGHTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_RRF = 60
_OFFSET = 2
_MOVED = f"inner products + {_OFFSET}"

Run = dict[str, dict[str, float]]


def read_pairs(file: Path) -> RetrievalTask:
    """Return the first passages of a file of questions with positives, and some of their questions."""
    passages: dict[tuple[str, str], str] = {}
    questions: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    for line in read_lines(file):
        row = line.row()
        pairs = [(positive["title"] or "", positive["text"]) for positive in row["positive"]]
        if not pairs or len(passages) + len(set(pairs) - passages.keys()) > _PASSAGES:
            continue
        questions[row["id"]] = row["question"]
        qrels[row["id"]] = {passages.setdefault(pair, str(len(passages))): 1 for pair in pairs}
    titles, texts = zip(*passages, strict=True)
    chosen = list(questions)[:: max(1, len(questions) // _QUESTIONS)][:_QUESTIONS]
    corpus = Corpus(tuple(passages.values()), titles, texts)
    return RetrievalTask(
        file.name.split(".")[0],
        corpus,
        {name: questions[name] for name in chosen},
        {name: qrels[name] for name in chosen},
    )


class RankedCandidates(NamedTuple):
    """The candidates of a question, and their ranks by the encoder and by BM25, from 1."""

    candidates: ScoredCandidates
    ranks: tuple[Scores, Scores]


def regimes(corpus: Corpus, question: str, dense: Searcher, lexical: Searcher) -> dict[str, RankedCandidates]:
    """Return the candidates of a question, with all their scores and with those of the two lists alone."""
    lists = [searcher.search(question, _DEPTH) for searcher in (dense, lexical)]
    first, second = (
        {corpus.ids[row]: float(score) for row, score in zip(found.rows, found.scores, strict=True)}
        for found in lists
    )
    listed = candidates(first, second, _DEPTH)
    rows = np.array([corpus.rows[name] for name in listed.names], dtype=np.int64)
    known = ScoredCandidates(listed.names, dense.score(question, rows), lexical.score(question, rows))
    ranks = _ranks(listed.names, first), _ranks(listed.names, second)
    return {"all scores": RankedCandidates(known, ranks), "two lists": RankedCandidates(listed, ranks)}


def _ranks(names: Sequence[str], scores: Mapping[str, float]) -> Scores:
    """Return ranks from 1, best first; infinite for a missing score."""
    places = {name: place for place, name in enumerate(scores, 1)}
    return np.array([places.get(name, np.inf) for name in names], dtype=np.float32)


def ways(found: RankedCandidates) -> Iterator[tuple[str, Scores]]:
    """Yield each way of fusing, with its scores of the candidates."""
    _, dense, lexical = found.candidates
    yield "all-MiniLM-L6-v2 alone", dense
    yield "BM25 alone", lexical
    yield f"reciprocal ranks, k {_RRF}", _reciprocal(*found.ranks)
    for weight in _WEIGHTS:
        yield f"shares of the best, weight {weight}", weight * _share(dense) + (1 - weight) * _share(lexical)
        yield f"between 0 and 1, weight {weight}", weight * _scaled(dense) + (1 - weight) * _scaled(lexical)
        yield f"standardized, weight {weight}", fused(dense, lexical, weight)


def _reciprocal(first: Scores, second: Scores) -> Scores:
    return (1 / (_RRF + first) + 1 / (_RRF + second)).astype(np.float32)


def _share(scores: Scores) -> Scores:
    share: Scores = np.maximum(scores, 0) / np.maximum(scores.max(initial=0.0), np.float32(1e-9))
    return share


def _scaled(scores: Scores) -> Scores:
    if not len(scores):
        return scores
    scaled: Scores = (scores - scores.min()) / np.maximum(np.ptp(scores), np.float32(1e-9))
    return scaled


def runs(task: RetrievalTask, dense: Searcher, lexical: Searcher) -> dict[tuple[str, str], Run]:
    """Return the run of each way of fusing, by its name and by the known scores."""
    result: dict[tuple[str, str], Run] = {}
    for query, question in task.queries.items():
        for regime, found in regimes(task.corpus, question, dense, lexical).items():
            both = found.candidates
            moved = found._replace(candidates=both._replace(dense=both.dense + np.float32(_OFFSET)))
            for column, each in ((regime, found), (f"{regime}, {_MOVED}", moved)):
                for way, scores in ways(each):
                    ranked = dict(zip(both.names, scores.tolist(), strict=True))
                    result.setdefault((way, column), {})[query] = ranked
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    output_option(parser)
    arguments = parser.parse_args()
    folder = external_data() / "qa_pairs"
    settings = load_settings()
    encoder = load_encoder("all-MiniLM-L6-v2", settings.cache_dir, threads=settings.threads)
    dense, lexical = (
        DenseSystem("dense", encoder, settings.cache_dir / "evaluation"),
        LexicalSystem("bm25", bm25),
    )
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name in SETS:
        task = read_pairs(folder / f"{name}.jsonl.gz")
        searchers = [system.read(task.corpus, None, _silent).searcher for system in (dense, lexical)]
        for (way, column), run in runs(task, *searchers).items():
            value = round(means(measure(task.qrels, run))[NDCG], 4)
            results.setdefault(way, {}).setdefault(column, {})[name] = value
    show(results)
    save("fusion", {"nDCG@10": results}, arguments.output)


def show(results: dict[str, dict[str, dict[str, float]]]) -> None:
    """Print the result, the best way first."""
    columns = [column for column in next(iter(results.values())) if _MOVED not in column]
    lines = []
    for way, by_column in results.items():
        values = [value for column in columns for value in by_column[column].values()]
        moved = [value for column in columns for value in by_column[f"{column}, {_MOVED}"].values()]
        lines.append((statistics.mean(values), way, values, statistics.mean(moved)))
    header = ["fusion, nDCG@10", *(f"{name}, {column}" for column in columns for name in SETS)]
    print(
        table(
            [*header, "mean", f"mean, {_MOVED}"],
            [
                [way, *(f"{value:.4f}" for value in (*values, mean, moved))]
                for mean, way, values, moved in sorted(lines, reverse=True)
            ],
        )
    )


def _silent(done: int, total: int) -> None:
    """Discard the message."""


if __name__ == "__main__":
    main()
