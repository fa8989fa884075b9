"""The gate: a policy that learned from feedback must be no worse than its start on the pinned questions."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.core.errors import CitewellError
from citewell.core.significance import PairedComparison, compare
from citewell.core.tables import markdown_table
from citewell.core.training.card import CARD, RECORD
from citewell.core.training.run import Run
from citewell.core.types import Sentence
from citewell.generator.citations.correction import check_citations
from citewell.generator.citations.ending import finished
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.citations import CitedAnswer, citation_recall_and_precision
from citewell.generator.evaluation.judges.embedding import MODEL, EmbeddingJudge
from citewell.generator.evaluation.judges.judge import CachingJudge
from citewell.reinforcement.rollout import PromptedQuestion
from citewell.retriever.encoder.load import load_encoder
from citewell.scorer.load import PreferenceScorer
from citewell.scorer.scorer import PreferenceJudge

TOLERANCE = 0.1
"""Tolerated loss that chance explains: in deviations of the scorer's scores, or in shares of citations."""
LEVEL = 0.05
"""P-value below which a loss is not due to chance."""

Values = dict[str, dict[str, float]]


class AnswersGateError(CitewellError):
    """The improved policy was rejected."""


@dataclass(frozen=True)
class GateMeasure:
    """One measure of the policy and of its start over the pinned questions."""

    name: str
    before: float
    after: float
    test: PairedComparison

    @property
    def is_worse(self) -> bool:
        """Whether the loss is beyond the tolerance, or beyond chance."""
        lost = self.test.difference < 0
        return lost and (self.test.p < LEVEL or self.test.difference < -TOLERANCE)


def gate_measures(
    asked: Sequence[PromptedQuestion],
    answers: Mapping[str, Sequence[str]],
    judge: PreferenceScorer,
    cache: Path,
    threads: int,
) -> list[GateMeasure]:
    """Compare the answers `after` with those `before`, one each per question.

    The measures are the score of `judge`, which was not trained in this run, and citation recall and
    precision by sentence embeddings. Answers are read as readers get them.
    """
    encoder = load_encoder(MODEL, cache, max_tokens=256, threads=threads)
    support = CachingJudge(EmbeddingJudge(encoder.encode_passages))
    before, after = (_measured(asked, answers[name], judge, support) for name in ("before", "after"))
    return [
        GateMeasure(
            name,
            statistics.fmean(values.values()),
            statistics.fmean(after[name].values()),
            compare(after[name], values),
        )
        for name, values in before.items()
    ]


def check_gate(measures: Sequence[GateMeasure], candidate: Path, *, force: bool) -> None:
    """Raise `AnswersGateError` if the policy in the folder `candidate` is worse, unless `force` is given."""
    worse = [each.name for each in measures if each.is_worse]
    if worse and not force:
        raise AnswersGateError(
            f"The improved policy is worse than its start in {' and '.join(worse)}, and is not written.",
            f"It stays in {candidate}. Collect more feedback, or run the command again with --force.",
        )


def gate_table(measures: Sequence[GateMeasure]) -> str:
    """Return the measures as a Markdown table."""
    rows = [
        [
            each.name,
            f"{each.before:.3f}",
            f"{each.after:.3f}",
            f"{each.test.low:+.3f} to {each.test.high:+.3f}",
            f"{each.test.p:.4f}",
            "worse" if each.is_worse else "passed",
        ]
        for each in measures
    ]
    return markdown_table(["measure", "start", "improved", "95% CI of the difference", "p", "gate"], rows)


def add_gate(folder: Path, run: Run, measures: Sequence[GateMeasure], agreed: dict[str, float]) -> None:
    """Add the gate to the card and to the record, in place of an earlier attempt's."""
    card, record = folder / CARD, folder / RECORD
    heading = "\n## Gate\n"
    questions = measures[0].test.queries
    text = card.read_text(encoding="utf-8").split(heading)[0]
    text = text.replace(f"# {folder.name}\n", f"# {run.out.resolve().name}\n")
    told = (
        f"\nThe reward model agrees with {agreed['after']:.3f} of the pinned judgments, the scorer that it "
        f"started from with {agreed['before']:.3f}.\n"
        if agreed
        else ""
    )
    text += (
        f"{heading}\nGreedy answers to {questions:,} pinned questions of users, which nothing was trained "
        f"on. The scorer was not trained in this run.\n\n{gate_table(measures)}\n{told}"
    )
    card.write_text(text, encoding="utf-8")
    facts = json.loads(record.read_text(encoding="utf-8"))
    facts["gate"] = {
        each.name: {"before": each.before, "after": each.after, "p": each.test.p} for each in measures
    }
    facts["pinned_judgments"] = agreed
    record.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _measured(
    asked: Sequence[PromptedQuestion], texts: Sequence[str], judge: PreferenceScorer, support: CachingJudge
) -> Values:
    sentences = [
        check_citations(finished(text), each.references, markdown=True)
        for each, text in zip(asked, texts, strict=True)
    ]
    scorer = PreferenceJudge(judge)
    quality = citation_recall_and_precision(
        [_cited(of, each) for of, each in zip(sentences, asked, strict=True)], support
    )
    return {
        f"score of {judge.name}": {
            str(place): scorer.score(each.question, [of], each.references)[0]
            for place, (of, each) in enumerate(zip(sentences, asked, strict=True))
        },
        "citation recall": {str(place): each.recall for place, each in enumerate(quality)},
        "citation precision": {str(place): each.precision for place, each in enumerate(quality)},
    }


def _cited(sentences: Sequence[Sentence], asked: PromptedQuestion) -> CitedAnswer:
    marked = [MarkedSentence(each.text, each.citations) for each in sentences]
    return CitedAnswer(marked, {r.number: r.text for r in asked.references})
