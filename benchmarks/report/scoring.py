"""How well answers are compared and chosen: scorers, best of n, and reinforcement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.report.cells import Cell, ReportRow, ReportSection, share
from benchmarks.report.compared import standing
from benchmarks.report.reading import PublishedFigures, ResultFiles, read_cell

HALF = 0.5
"""The preference of one answer to another of the same kind."""

_SCORERS = {
    "length": "the longer answer",
    "bm25": "BM25 of question and answer",
    "embedding": "similarity of question and answer",
    "scorer-votes": "trained on votes, pairwise",
    "scorer-classification": "trained on votes, classification",
    "scorer-regression": "trained on votes, regression",
    "citewell-scorer": "citewell-scorer, trained on other comparisons",
}
_RULES = {
    "score alone, n = 4": "4, by score alone",
    "citation support alone, n = 4": "4, by citation support alone",
}
_POLICIES = {
    "start, one sample": "start",
    "start, best of 4": "start, best of 4",
    "start, best of 16": "start, best of 16",
    "my-answers, one sample": "reinforced",
    "my-answers-ptx, one sample": "reinforced, with texts of the start mixed in",
    "my-answers-beta-0, one sample": "reinforced longer, without a penalty",
}
_POLICY_MEASURES = {
    "supported sentences": "supported sentences",
    "citation recall": "citation recall",
    "copied": "copied 8-grams",
}


def scorers(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """The order of answers by votes, as WebGLM's table 9."""
    tables = results.tables("scorer-votes.md")
    columns = {
        "pair accuracy": "pair accuracy",
        "length-matched": "length-matched accuracy",
        "Spearman": "Spearman",
        "N-NDCG": "N-NDCG",
    }
    rows = [
        ReportRow(
            _SCORERS.get(row["scorer"], row["scorer"]),
            {label: read_cell(row[name]) for label, name in columns.items()},
            "here",
        )
        for row in (tables[0] if tables else [])
    ]
    best = published.value("scorer", "WebGLM's scorer", "pair accuracy")
    shown = (_SCORERS["scorer-votes"], _SCORERS["citewell-scorer"])
    compared = [(row.system, row.cells["pair accuracy"], best) for row in rows if row.system in shown]
    return ReportSection(
        title="Scorers",
        question="Does the scorer prefer the answer with more votes? 1,060 questions of Reddit that no "
        "scorer was trained on.",
        first="scorer",
        columns=list(columns),
        rows=[*rows, *published.rows("scorer")],
        lines=standing("WebGLM's scorer in pair accuracy", compared),
        differs=published.differs("scorer"),
    )


def best_of_n(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """What choosing among n answers gains."""
    data = results.read("best_of_n")
    columns = {
        "preferred to one sample": "beats a sample",
        "citation recall": "citation recall",
        "citation precision": "citation precision",
    }
    chosen = {f"best of {n}": of for n, of in data.get("by_n", {}).items()}
    chosen |= {label: data["rules"][name] for name, label in _RULES.items() if data}
    rows = [
        ReportRow(name, {label: share(of[key]) for label, key in columns.items()}, "here")
        for name, of in chosen.items()
    ]
    lines = []
    if chosen:
        last = f"best of {max(map(int, data['by_n']))}"
        cell = share(chosen[last]["beats a sample"])
        theirs = published.value("best_of_n", "WebGPT 175B, best of 64", "preferred to one sample")
        lines = standing("WebGPT in preference", [(last, cell, theirs)])
        if cell.low is not None and cell.low <= HALF:
            lines.append(f"The judge does not prefer the {last} to one sample.")
    return ReportSection(
        title="Best of n",
        question="Is the best of n answers better than one? citewell-smollm2 writes answers to 120 "
        "questions, citewell-scorer chooses, and another scorer, trained on votes, judges.",
        columns=list(columns),
        rows=[*rows, *published.rows("best_of_n")],
        lines=lines,
        chart="![The judge's score of the best of n is almost level, and the scorer's own score rises.]"
        "(images/best-of-n.png)"
        if rows
        else "",
        differs=published.differs("best_of_n"),
    )


def reinforcement(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """What PPO gains."""
    rows = _policies(results.read("answers_ppo"))
    theirs = published.value("ppo", "WebGPT 175B, reinforcement learning", "preferred to the start")
    name = _POLICIES["my-answers, one sample"]
    reinforced = [row.cells["preferred to the start"] for row in rows if row.system == name]
    lines = standing("WebGPT in preference", [(name, cell, theirs) for cell in reinforced])
    if any(cell.low is not None and cell.low <= HALF for cell in reinforced):
        lines.append("The scorer does not prefer reinforced answers: they cite better, and copy more.")
    return ReportSection(
        title="Reinforcement",
        question="What does PPO gain, with supported sentences as the reward? 78 questions, one sampled "
        "answer each.",
        first="policy",
        columns=["preferred to the start", *_POLICY_MEASURES],
        rows=[*rows, *published.rows("ppo")],
        lines=lines,
        differs=published.differs("ppo"),
    )


def overoptimization(results: ResultFiles, published: PublishedFigures) -> ReportSection:
    """What PPO does to what it is not rewarded for, with and without a penalty."""
    return ReportSection(
        title="Over-optimization",
        question="What does a second scorer, which trains nothing, say of answers that PPO was rewarded for? "
        "The same 78 questions; a second training by the same recipe, and a longer one without a penalty.",
        first="policy",
        columns=["preferred to the start", *_POLICY_MEASURES, "second scorer", "KL divergence, nats"],
        rows=_policies(results.read("answers_ppo_beta_0")),
    )


def alignment_tax(results: ResultFiles, _: PublishedFigures) -> ReportSection:
    """What PPO costs in tasks that it did not train."""
    compared = results.read("answers_ppo_tax")
    means: Mapping[str, Mapping[str, float]] = compared.get("means", {})
    rows = [
        ReportRow(
            _POLICIES.get(f"{name}, one sample", name),
            {
                "log-probability per token": Cell(of["log-probability per token"]),
                "accepted answer in it": share(of["accepted answer in it"]),
                "F1": share(of["F1"]),
            },
            "here",
        )
        for name, of in means.items()
    ]
    differences: Mapping[str, Mapping[str, Any]] = compared.get("differences", {})
    lines = [
        f"Against the start, {_POLICIES.get(f'{name}, one sample', name)}: "
        + ", ".join(f"{measure} {_difference(of[name])}" for measure, of in differences.items())
        + "."
        for name in means
        if name != "start"
    ]
    return ReportSection(
        title="Alignment tax",
        question="How well do the same policies still predict paragraphs, and answer questions of SQuAD from "
        "their paragraphs? They were trained on neither.",
        first="policy",
        columns=["log-probability per token", "accepted answer in it", "F1"],
        rows=rows,
        lines=lines,
    )


def _difference(found: Mapping[str, float]) -> str:
    interval = f"{found['low']:+.3f} to {found['high']:+.3f}"
    return f"{found['difference']:+.3f} ({interval}, p {found['p_holm']:.2g})"


def _policies(compared: Mapping[str, Any]) -> list[ReportRow]:
    """Return a row for each policy of a comparison of sampled answers."""
    sampled = compared.get("sampled", {})
    rates = sampled.get("win_rates", {})
    rows = []
    for name, of in sampled.get("means", {}).items():
        cells = {label: share(of[key]) for label, key in _POLICY_MEASURES.items()}
        cells["second scorer"] = share(of["score of citewell-scorer"])
        cells["KL divergence, nats"] = Cell(of["KL"], digits=1)
        if name in rates:
            cells["preferred to the start"] = share(rates[name])
        rows.append(ReportRow(_POLICIES.get(name, name), cells, "here"))
    return rows
