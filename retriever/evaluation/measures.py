"""Measures of rankings: nDCG@10, MRR@10, Recall@100 and MAP, as `ir_measures` computes them.

ir_measures (MacAvaney et al. 2022, https://ir-measur.es) runs trec_eval's code for the measures that it has.
"""

from __future__ import annotations

from collections.abc import Mapping

from citewell.core.packages import need_packages
from citewell.retriever.evaluation.trec import Qrels, Run, ranked

NDCG = "nDCG@10"
MRR = "MRR@10"
RECALL = "Recall@100"
MAP = "MAP"
MEASURES = (NDCG, MRR, RECALL, MAP)

Values = Mapping[str, Mapping[str, float]]
"""The value of each measure for each query, 0 to 1."""


def measure(qrels: Qrels, run: Run, relevant: int = 1) -> Values:
    """Compute the four measures of each judged query.

    `relevant` is the lowest grade that counts as relevant for MRR, recall and MAP; nDCG's gain is the grade
    itself, as in trec_eval. A query missing from the run counts as zero, as with `trec_eval -c`. Equal scores
    are ordered as in trec_eval. Raises `InputError` without the package ir_measures.
    """
    need_packages("Measuring rankings", "eval", "ir_measures")
    import ir_measures
    from ir_measures import AP, RR, R, nDCG

    names = {
        nDCG @ 10: NDCG,
        RR(rel=relevant) @ 10: MRR,
        R(rel=relevant) @ 100: RECALL,
        AP(rel=relevant): MAP,
    }
    values: dict[str, dict[str, float]] = {name: dict.fromkeys(qrels, 0.0) for name in MEASURES}
    judged = {query: dict(documents) for query, documents in qrels.items()}
    for value in ir_measures.iter_calc(list(names), judged, _places(qrels, run)):
        values[names[value.measure]][value.query_id] = float(value.value)
    return values


def means(values: Values) -> dict[str, float]:
    """Return the mean of each measure over the queries."""
    return {name: sum(each.values()) / len(each) for name, each in values.items()}


def _places(qrels: Qrels, run: Run) -> dict[str, dict[str, float]]:
    """Replace scores by positions, so that tools cannot break ties in different ways."""
    return {
        query: {document: -float(place) for place, document in enumerate(ranked(scores))}
        for query, scores in run.items()
        if query in qrels
    }
