"""Systems: what they find in a small corpus, alone and together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from citewell.core.errors import CitewellError, InputError
from citewell.core.ranking_metrics import PAIRS
from citewell.core.settings import load_settings
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.scale import Scale
from citewell.retriever.evaluation.evaluate import candidates, evaluate, evaluate_references, evaluate_run
from citewell.retriever.evaluation.measures import MRR, NDCG, means
from citewell.retriever.evaluation.references import read_references
from citewell.retriever.evaluation.systems.dense import DenseSystem
from citewell.retriever.evaluation.systems.hybrid import HybridSystem
from citewell.retriever.evaluation.systems.lexical import LexicalSystem, bm25, tf_idf
from citewell.retriever.evaluation.systems.names import Loading, build_systems
from citewell.retriever.evaluation.systems.pipeline import RankerSystem
from citewell.retriever.evaluation.systems.reranked import RerankedSystem
from citewell.retriever.evaluation.systems.system import RankingSystem, Searcher, best
from citewell.retriever.evaluation.task import Corpus, RetrievalTask, read_task
from citewell.retriever.lexical import bm25 as few_passages_bm25
from citewell.retriever.rank import Ranker
from citewell.retriever.reranking import Reranker
from tests.retriever.evaluation.made_up import WordEncoder, WordReader, write_jsonl, write_task


def systems(folder: Path) -> list[RankingSystem]:
    dense, lexical = DenseSystem("dense", WordEncoder(), folder), LexicalSystem("bm25", bm25)
    return [
        LexicalSystem("tfidf", tf_idf),
        lexical,
        dense,
        HybridSystem("hybrid", dense, lexical),
        RerankedSystem("reranked", dense, Reranker(WordReader(), 2, 0.5), Scale()),
        RankerSystem("pipeline", Ranker(WordEncoder(), prefilter=48), lexical),
    ]


NAMES = ("tfidf", "bm25", "dense", "hybrid", "reranked", "pipeline")


def one(name: str, folder: Path) -> RankingSystem:
    return next(system for system in systems(folder) if system.name == name)


def read(system: RankingSystem, corpus: Corpus) -> Searcher:
    return system.read(corpus, None, lambda done, total: None).searcher


def corpus_of(*texts: str) -> Corpus:
    return Corpus(tuple(f"d{row}" for row in range(len(texts))), ("",) * len(texts), texts)


@pytest.fixture
def task(tmp_path: Path) -> RetrievalTask:
    return read_task(write_task(tmp_path / "notes"), "test")


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_corpus_with_an_empty_document(task: RetrievalTask, tmp_path: Path, name: str) -> None:
    outcome = evaluate(task, one(name, tmp_path / "cache"), 3)
    assert means(outcome.values)[MRR] == pytest.approx(1), outcome.run
    assert all(len(found) <= 3 for found in outcome.run.values())
    assert "empty" not in outcome.run["q1"] or name in ("dense", "reranked")
    assert outcome.speed is not None
    assert 0 < outcome.speed.p50 <= outcome.speed.p90
    assert outcome.speed.passages == len(task.corpus)


@pytest.mark.parametrize("name", NAMES)
def test_a_first_stage_is_ranked_anew(task: RetrievalTask, tmp_path: Path, name: str) -> None:
    run = {"q1": {"empty": 3.0, "moon": 2.0, "bats": 1.0}, "q2": {"bread": 2.0, "tides": 1.5, "moon": 1.0}}
    first = candidates(task, run, 3)
    assert first.notices == ("1 judged queries are not in the run to rank again; they count as zero.",)
    outcome = evaluate(task, one(name, tmp_path / "cache"), 100, first=first.run)
    assert {query: set(found) for query, found in outcome.run.items()} == {
        query: set(found) for query, found in run.items()
    }, "all candidates and nothing else"
    assert outcome.values[MRR] == {"q1": 1, "q2": 1, "q3": 0}


def test_the_encoder_reads_candidates_alone(task: RetrievalTask, tmp_path: Path) -> None:
    encoder = WordEncoder()
    first = candidates(task, {"q1": {"moon": 2.0, "bats": 1.0, "bread": 0.5}}, 2)
    outcome = evaluate(task, DenseSystem("dense", encoder, tmp_path), 100, first=first.run)
    assert [text.split(".")[0] for text in encoder.encoded] == ["Bats", "The Moon"]
    assert set(outcome.run["q1"]) == {"moon", "bats"}


def test_the_cross_encoder_reads_the_best_candidates_alone() -> None:
    corpus = corpus_of("red fox", "red den hill lake", "red den hill lake rock river", "blue")
    reader = WordReader()
    system = RerankedSystem("reranked", LexicalSystem("bm25", bm25), Reranker(reader, 2, -100.0), Scale())
    searcher = read(system, corpus)
    assert searcher.search("red fox", 5).rows.tolist() == [1, 0, 2]
    assert reader.read == list(corpus.passages[:2])
    rows = np.array([2, 0, 1])
    assert rows[np.argsort(-searcher.score("red fox", rows))].tolist() == [1, 0, 2]


def test_the_system_reranked_needs_a_cross_encoder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs a cross-encoder"):
        build_systems(["reranked"], Loading(load_settings({"cache_dir": tmp_path})))


def test_a_run_of_other_queries_is_refused(task: RetrievalTask) -> None:
    with pytest.raises(InputError, match="none of the judged queries"):
        candidates(task, {"q9": {"moon": 2.0}}, 2)
    with pytest.raises(InputError, match="none of the judged queries"):
        evaluate_run(task, "other.txt", {"q9": {"moon": 2.0}})


def test_a_run_made_elsewhere(task: RetrievalTask) -> None:
    outcome = evaluate_run(task, "mine.txt", {"q1": {"bats": 1.0}, "q2": {"elsewhere": 3.0, "tides": 2.0}})
    assert outcome.values[MRR] == {"q1": 1, "q2": 0.5, "q3": 0}
    assert outcome.speed is None


@pytest.mark.parametrize("name", NAMES)
def test_references_are_put_in_order(tmp_path: Path, name: str) -> None:
    references = [
        "Tides are an effect of gravity.",
        "Bread is baked.",
        "Gravity causes the tides of the sea.",
    ]
    rows = [{"question": "What causes tides?", "answer": references[2], "references": references}] * 2
    task = read_references(write_jsonl(tmp_path / "rows.jsonl", rows))
    outcome = evaluate_references(task, one(name, tmp_path / "cache"))
    assert outcome.values[PAIRS] == {"1": 1, "2": 1}


def test_bm25_is_that_of_the_pipeline() -> None:
    """The filter of `citewell.retriever.lexical` has the same formula; it stems no words."""
    texts = ("the red fox", "a red red dog and a cow", "blue", "the fox and the dog", "")
    corpus = corpus_of(*texts)
    question = "red fox"
    mine = read(LexicalSystem("bm25", bm25), corpus).score(question, np.arange(5))
    without_stop_words = [text.replace("the ", "").replace("a ", "").replace("and ", "") for text in texts]
    assert mine == pytest.approx(few_passages_bm25(question, without_stop_words), rel=1e-6)


def test_words_are_stemmed_and_their_accents_and_stop_words_play_no_part() -> None:
    corpus = corpus_of("Der Café-Besitzer singt.", "She was running to the cafes.", "走る人", "of the and")
    searcher = read(LexicalSystem("bm25", bm25), corpus)
    assert set(searcher.search("café", 9).rows) == {0, 1}
    assert set(searcher.search("Runs", 9).rows) == {1}
    assert set(searcher.search("人", 9).rows) == {2}
    assert not len(searcher.search("of the", 9).rows)
    assert not len(searcher.search("unheard", 9).rows)


def test_tf_idf_is_that_of_scikit_learn() -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text", reason="scikit-learn is not installed")
    texts = ["red fox", "red red dog cow", "blue", "fox dog", ""]
    searcher = read(LexicalSystem("tfidf", tf_idf), corpus_of(*texts))
    vectorizer = text.TfidfVectorizer()
    matrix = vectorizer.fit_transform(texts)
    for question in ("red fox", "dog dog blue", "blue"):
        expected = (matrix @ vectorizer.transform([question]).T).toarray()[:, 0]
        assert searcher.score(question, np.arange(5)) == pytest.approx(expected, rel=1e-6)


def test_equal_scores_at_the_cut_are_broken_as_in_trec_eval() -> None:
    corpus = Corpus(("a", "c", "b", "d"), ("",) * 4, ("",) * 4)
    found = best(np.array([1, 1, 1, 2], dtype=np.float32), 2, corpus)
    assert [corpus.ids[row] for row in found.rows] == ["d", "c"]
    among = best(np.array([1, 1], dtype=np.float32), 1, corpus, np.array([0, 2]))
    assert [corpus.ids[row] for row in among.rows] == ["b"]


def test_the_pipeline_puts_what_it_leaves_out_last() -> None:
    twice = Corpus(
        ("a", "b", "c"), ("",) * 3, ("The tides of the Moon.", "Gravity.", "The tides of the Moon.")
    )
    system = RankerSystem("pipeline", Ranker(WordEncoder(), prefilter=48), LexicalSystem("bm25", bm25))
    searcher = read(system, twice)
    assert searcher.score("tides", np.array([0, 1, 2])).tolist() == [2, 1, 0]
    assert len(searcher.search("tides", 9).rows) == 1


class Damaged(WordEncoder):
    """An encoder whose weights are no numbers."""

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        return super().encode_questions(questions) * np.float32("nan")


def test_scores_that_are_no_numbers_are_refused(task: RetrievalTask, tmp_path: Path) -> None:
    with pytest.raises(CitewellError, match="dense gives query 'q1' a score that is not a number"):
        evaluate(task, DenseSystem("dense", Damaged(), tmp_path), 3)


def test_names(cache: Path) -> None:
    settings = load_settings({"threads": 2})
    built = build_systems(["tfidf", "bm25"], Loading(settings))
    assert [system.name for system in built] == ["tfidf", "bm25"]
    with pytest.raises(InputError, match=r"Unknown system 'bm52'\. Systems are tfidf, bm25"):
        build_systems(["bm25", "bm52"], Loading(settings))


def test_minilm_finds_what_shares_no_word(task: RetrievalTask, cache: Path, tmp_path: Path) -> None:
    settings = load_settings({"threads": 2})
    (system,) = build_systems(["minilm"], Loading(settings))
    outcome = evaluate(task, system, 5)
    assert means(outcome.values)[NDCG] > 0.9
