"""The report of an evaluation, as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from citewell.core.significance import TEST, PairedComparison, compare_all, differences_table
from citewell.core.tables import markdown_table
from citewell.retriever.evaluation.evaluate import RankingResult, Speed
from citewell.retriever.evaluation.measures import means


@dataclass(frozen=True)
class RetrievalEvaluation:
    """Systems measured on the same questions.

    `mode` names the ranked passages: `corpus`, `rerank` or `references`. `comparisons` has the difference to
    the baseline for each measure and each other system.
    """

    task: str
    mode: str
    questions: int
    passages: int
    baseline: str
    outcomes: tuple[RankingResult, ...]
    comparisons: Mapping[str, Mapping[str, PairedComparison]]
    notices: tuple[str, ...]

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """The mean of each measure, by system."""
        return {outcome.name: means(outcome.values) for outcome in self.outcomes}

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return tuple(self.outcomes[0].values)


def compared(outcomes: Sequence[RankingResult], baseline: str) -> dict[str, dict[str, PairedComparison]]:
    """Compare each system with the baseline in each measure."""
    values = {outcome.name: outcome.values for outcome in outcomes}
    base = values.pop(baseline)
    return {
        measure: compare_all({name: each[measure] for name, each in values.items()}, base[measure])
        for measure in base
    }


def summary(evaluation: RetrievalEvaluation) -> str:
    """Return {system: {measure: value}} as JSON, unrounded, without other keys at the top level."""
    return json.dumps(evaluation.scores, indent=2) + "\n"


def details(evaluation: RetrievalEvaluation) -> str:
    """Return all measurements as JSON, with the values per question, for `citewell eval compare`."""
    found: dict[str, Any] = {
        "task": evaluation.task,
        "mode": evaluation.mode,
        "questions": evaluation.questions,
        "passages": evaluation.passages,
        "baseline": evaluation.baseline,
        "notices": evaluation.notices,
        "systems": {
            outcome.name: {
                "measures": means(outcome.values),
                "speed": outcome.speed and outcome.speed.to_json(),
                "values": outcome.values,
            }
            for outcome in evaluation.outcomes
        },
        "comparisons": {
            measure: {name: asdict(comparison) for name, comparison in systems.items()}
            for measure, systems in evaluation.comparisons.items()
        },
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def details_file(file: Path) -> Path:
    """Return the path of the `details` next to the summary: `x.details.json` for `x.json`."""
    return file.with_name(f"{file.stem}.details.json")


def markdown(evaluation: RetrievalEvaluation) -> str:
    """Format the tables of an evaluation as a Markdown page."""
    what = {
        "corpus": f"ranking all of {evaluation.passages:,} passages",
        "rerank": "ranking the candidates of a first stage again",
        "references": f"ranking each question's references ({evaluation.passages:,} in all)",
    }[evaluation.mode]
    parts = [
        f"# {evaluation.task}: {evaluation.questions:,} questions, {what}",
        scores_table(evaluation),
        *evaluation.notices,
    ]
    if len(evaluation.outcomes) > 1:
        parts += [
            f"## Differences to {evaluation.baseline}",
            differences_table(evaluation.comparisons),
            TEST,
        ]
    return "\n\n".join(parts) + "\n"


def scores_table(evaluation: RetrievalEvaluation) -> str:
    """Format the measures and the speed as a table, one row per system."""
    header = ["system", *evaluation.measures, "passages/s", "ms a question, p50", "p90"]
    rows = [
        [
            outcome.name,
            *(f"{value:.4f}" for value in means(outcome.values).values()),
            *_speed(outcome.speed),
        ]
        for outcome in evaluation.outcomes
    ]
    return markdown_table(header, rows)


def _speed(speed: Speed | None) -> list[str]:
    if speed is None:
        return ["", "", ""]
    return [f"{speed.rate:,.0f}", f"{speed.p50:.1f}", f"{speed.p90:.1f}"]
