"""Measures agree with trec_eval, by way of pytrec_eval."""

from __future__ import annotations

import random

import pytest

from citewell.retriever.evaluation.measures import MAP, MRR, NDCG, RECALL, means, measure
from citewell.retriever.evaluation.trec import ranked

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}, "q3": {"c": 1}}


def made_up(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgments and a run with many ties, of 20 queries and 300 documents."""
    chance = random.Random(seed)
    documents = [f"d{number}" for number in range(300)]
    qrels = {
        f"q{query}": {name: chance.choice([0, 0, 1, 2, 3]) for name in chance.sample(documents, 40)}
        for query in range(20)
    }
    run = {
        query: {name: float(chance.randrange(25)) for name in chance.sample(documents, 120)}
        for query in qrels
    }
    return qrels, run


@pytest.mark.parametrize("relevant", [1, 2])
def test_values_are_those_of_trec_eval(relevant: int) -> None:
    import pytrec_eval

    qrels, run = made_up(relevant)
    names = {"ndcg_cut_10": NDCG, "recall_100": RECALL, "map": MAP}
    expected = pytrec_eval.RelevanceEvaluator(qrels, set(names), relevance_level=relevant).evaluate(run)
    firsts = {query: dict.fromkeys(ranked(scores)[:10], 0.0) for query, scores in run.items()}
    cut = {query: {name: run[query][name] for name in first} for query, first in firsts.items()}
    ranks = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}, relevance_level=relevant).evaluate(cut)
    values = measure(qrels, run, relevant)
    for query in qrels:
        for theirs, ours in names.items():
            assert values[ours][query] == pytest.approx(expected[query][theirs], abs=1e-9), (query, ours)
        assert values[MRR][query] == pytest.approx(ranks[query]["recip_rank"], abs=1e-9)


def test_a_query_that_is_not_in_the_run_counts_as_zero() -> None:
    values = measure(QRELS, {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}})
    assert {name: each["q3"] for name, each in values.items()} == {NDCG: 0, MRR: 0, RECALL: 0, MAP: 0}
    assert means(values) == pytest.approx(dict.fromkeys((NDCG, MRR, RECALL, MAP), 2 / 3))


def test_other_queries_of_the_run_play_no_part() -> None:
    run = {"q1": {"a": 2.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}}
    assert measure(QRELS, run | {"q4": {"a": 1.0}}) == measure(QRELS, run)


def test_equal_scores_are_ordered_as_trec_eval_does() -> None:
    first = measure({"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}})
    assert first[MRR]["q"] == 0.5, "b stands first"
    assert measure({"q": {"b": 1}}, {"q": {"a": 1.0, "b": 1.0}})[MRR]["q"] == 1.0


def test_mrr_looks_at_ten_documents() -> None:
    scores = {f"d{number:02}": 20.0 - number for number in range(12)}
    assert measure({"q": {"d09": 1}}, {"q": scores})[MRR]["q"] == pytest.approx(0.1)
    assert measure({"q": {"d10": 1}}, {"q": scores})[MRR]["q"] == 0
