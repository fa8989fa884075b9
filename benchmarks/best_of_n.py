"""Measure the value of best of n, for every n and every rule, on one set of samples.

`python -m benchmarks.best_of_n --questions test.jsonl --scorer DIR --judge DIR --out FOLDER` lets a generator
write one greedy answer and 17 sampled ones to each question of the file, which has one {question, references}
per line as `benchmarks.generation_set` writes it, and keeps them in FOLDER/samples.jsonl: the same command
resumes an interrupted run. `--scorer` chooses among them, and `--judge`, a scorer that was trained on other
questions, rates the choice. It prints

- for n = 1 to 16: how often the best of n is judged better than one more sample, and than the greedy answer;
  the judge's score; citation recall and precision by sentence embeddings, which the support check does not
  use; how many words the answers have; and the seconds that writing took;
- what unsupported sentences should cost: the same for several margins, and for citation support alone;
- what is saved where n adapts to the question, and what is lost;
- the curve of WebGPT's appendix I, drawn to FOLDER/best_of_n.png, with a warning where over-optimization
  starts.

Every number except the times is the exact mean over all subsets of the samples (`citewell.scorer.estimator`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.results_files import save, table
from citewell.core.plots import check_plots
from citewell.core.row_log import RowLog
from citewell.core.settings import Settings, load_settings
from citewell.core.text import words
from citewell.core.types import Reference, Sentence
from citewell.generator.backend import GeneratorBackend
from citewell.generator.citations.correction import check_citations
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.citations import CitedAnswer, citation_recall_and_precision
from citewell.generator.evaluation.judges.embedding import MODEL, EmbeddingJudge
from citewell.generator.evaluation.judges.judge import CachingJudge
from citewell.generator.evaluation.measures import passages
from citewell.generator.evaluation.rows import EvaluationRow, read_rows
from citewell.pipeline.choices import choose_generator
from citewell.pipeline.parts import build_ranker
from citewell.pipeline.scorers import build_systems
from citewell.retriever.encoder.load import load_encoder
from citewell.scorer.best_of import BestOf
from citewell.scorer.choice import MARGIN, standing
from citewell.scorer.estimator import best_of, curve, win_rate
from citewell.scorer.evaluation.clusters import Estimate, mean
from citewell.scorer.evaluation.plots import draw_curves
from citewell.scorer.evaluation.system import ScoringSystem

SAMPLES = 17  # 16, and one more to compare with
NS = (1, 2, 4, 8, 16)
MARGINS = (0.0, 0.25, 0.5, 1.0, 2.0, math.inf)
GAINS = (0.01, 0.02, 0.05, 0.1, 0.2)
ORDERS = 16  # random orders of a question's samples, for an n that adapts
RECALL, PRECISION, SUPPORTED, WORDS = "citation recall", "citation precision", "supported", "words"

Checked = tuple[Sentence, ...]


@dataclass(frozen=True)
class SampledQuestion:
    """A question with its samples: the greedy answer is the last one of each list.

    `score` is the scorer's rating, `judged` the judge's; `counted` has the other measures of each sample.
    """

    row: EvaluationRow
    sentences: tuple[Checked, ...]
    score: tuple[float, ...]
    judged: tuple[float, ...]
    counted: Mapping[str, tuple[float, ...]]

    @property
    def sampled(self) -> range:
        """The indices of all samples except the greedy one."""
        return range(len(self.sentences) - 1)

    def order(self, key: Callable[[int], Any]) -> list[int]:
        """Return the rank of each sample by a key, ties equal, as the estimator's sort key."""
        keys = [key(place) for place in self.sampled]
        ranks = {value: rank for rank, value in enumerate(sorted(set(keys)))}
        return [ranks[value] for value in keys]

    def by_rule(self, margin: float) -> list[int]:
        """Return the order of the rule (`citewell.scorer.choice`) with this margin."""
        return self.order(lambda place: standing(self.score[place], self.sentences[place], margin))

    def by_number(self, margin: float) -> list[int]:
        """Return the order of another rule: each unsupported sentence costs a margin."""

        def key(place: int) -> tuple[bool, float, float]:
            own = standing(self.score[place], self.sentences[place], 0.0)
            unsupported = sum(not sentence.supported for sentence in self.sentences[place])
            return own.answers, own.adjusted_score - margin * unsupported, own.support

        return self.order(key)

    def by_support(self) -> list[int]:
        """Return the order of citation support alone."""
        return self.order(lambda place: standing(0.0, self.sentences[place], 0.0))

    def by_score(self) -> list[int]:
        """Return the order of the scorer alone, regardless of the references."""
        return self.order(lambda place: self.score[place])


Order = Callable[[SampledQuestion], list[int]]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=Path, required=True, help="JSON lines {question, references}")
    parser.add_argument(
        "--scorer", required=True, help="scorer that chooses, as `citewell eval scorer` names it"
    )
    parser.add_argument(
        "--judge", required=True, help="scorer that judges the choice, trained on other questions"
    )
    parser.add_argument("--generator", default="SmolLM2-135M-Instruct", help="generator of the samples")
    parser.add_argument("--limit", type=int, default=200, help="questions [200]")
    parser.add_argument("--timed", type=int, default=10, help="questions to time each n on [10]")
    parser.add_argument("--out", type=Path, required=True, help="folder for samples, plot and results")
    arguments = parser.parse_args()
    check_plots()
    settings = load_settings({"generator.name": arguments.generator})
    found = read_rows(arguments.questions).rows
    rows = [row for row in found if row.answerable][: arguments.limit]
    arguments.out.mkdir(parents=True, exist_ok=True)
    kept = arguments.out / "samples.jsonl"
    times = sample(settings, rows, kept, rows[: arguments.timed])
    scorer, judge = build_systems([arguments.scorer, arguments.judge], settings, lambda model, step: None)
    questions = read_questions(rows, kept, scorer, judge, settings)
    margin = MARGIN
    by_n = {n: measured(questions, lambda q: q.by_rule(margin), n) for n in NS}
    rules: dict[str, Order] = {f"margin {value:g}": _rule(value) for value in MARGINS}
    rules |= {f"margin {margin:g} a sentence": lambda question: question.by_number(margin)}
    rules |= {"score alone": SampledQuestion.by_score, "citation support alone": SampledQuestion.by_support}
    ablated = {
        f"{name}, n = {n}": measured(questions, order, n) for n in (4, 16) for name, order in rules.items()
    }
    adapting = adapted(questions, margin)
    drawn = curve(
        {q.row.key: q.by_rule(margin) for q in questions},
        {q.row.key: [q.judged[place] for place in q.sampled] for q in questions},
    )
    own = {q.row.key: [q.score[place] for place in q.sampled] for q in questions}
    points = tuple(
        replace(
            point,
            chosen_by=statistics.mean(best_of(q.by_rule(margin), own[q.row.key], point.n) for q in questions),
        )
        for point in drawn.points
    )
    draw_curves({arguments.scorer: replace(drawn, points=points)}, arguments.out / "best_of_n.png")
    print(f"{len(questions):,} questions, {arguments.generator}, margin {margin:g}\n")
    print(shown("n", {str(n): row for n, row in by_n.items()}, times) + "\n")
    print(shown("rule", ablated) + "\n")
    header = ["least gain", "candidates", "judged", "less than n = 16"]
    print(table(header, [[f"{gain:g}", *values.cells] for gain, values in adapting.items()]))
    print("\n" + (drawn.warning or "No over-optimization up to the greatest n."))
    save(
        "best_of_n",
        {
            "questions": len(questions),
            "generator": arguments.generator,
            "scorer": arguments.scorer,
            "judge": arguments.judge,
            "margin": margin,
            "by_n": {str(n): plain(row) for n, row in by_n.items()},
            "seconds": {str(n): seconds for n, seconds in times.items()},
            "rules": {name: plain(row) for name, row in ablated.items()},
            "adaptive": {f"{gain:g}": values._asdict() for gain, values in adapting.items()},
            "curve": [asdict(point) for point in points],
            "warning": drawn.warning,
        },
        arguments.out / "best_of_n.json",
    )


def _rule(margin: float) -> Order:
    return lambda question: question.by_rule(margin)


def sample(
    settings: Settings, rows: Sequence[EvaluationRow], kept: Path, timed: Sequence[EvaluationRow]
) -> dict[int, float]:
    """Generate the samples missing in the file; return the median seconds of an answer for each n."""
    log = RowLog(kept)
    done = {row["key"] for row in log.rows}
    times = kept.with_name("times.json")
    left = [row for row in rows if row.key not in done]
    if left or not times.exists():
        found = asyncio.run(_sample(settings, left, log, () if times.exists() else timed))
        if not times.exists():
            times.write_text(json.dumps(found), encoding="utf-8")
    return {int(n): value for n, value in json.loads(times.read_text(encoding="utf-8")).items()}


async def _sample(
    settings: Settings, left: Sequence[EvaluationRow], log: RowLog, timed: Sequence[EvaluationRow]
) -> dict[int, float]:
    async with choose_generator(settings, build_ranker(settings).scores) as chosen:
        for count, row in enumerate(left, 1):
            texts = await written(chosen.backend, row, SAMPLES) + await written(chosen.backend, row, 1)
            log.append({"key": row.key, "texts": texts})
            print(f"{count:,} of {len(left):,} questions written", end="\r", flush=True)
        return {n: await seconds(chosen.backend, timed, n) for n in NS if timed}


async def written(backend: GeneratorBackend, row: EvaluationRow, n: int) -> list[str]:
    """Return the texts of `n` candidates."""
    texts = [""] * n
    async with aclosing(backend.generate(row.question, row.references, n)) as tokens:
        async for token in tokens:
            texts[token.candidate] += token.text
    return texts


async def seconds(backend: GeneratorBackend, rows: Iterable[EvaluationRow], n: int) -> float:
    """Return the median seconds that `n` candidates take."""
    spent = []
    for row in rows:
        started = time.perf_counter()
        await written(backend, row, n)
        spent.append(time.perf_counter() - started)
    return round(statistics.median(spent), 2)


def read_questions(
    rows: Sequence[EvaluationRow], kept: Path, scorer: ScoringSystem, judge: ScoringSystem, settings: Settings
) -> list[SampledQuestion]:
    """Read the questions with their samples, checked, scored and judged."""
    texts = {row["key"]: row["texts"] for row in RowLog(kept).rows}
    checked = {
        row.key: [
            check_citations(t, row.references, settings.citations.threshold, markdown=True)
            for t in texts[row.key]
        ]
        for row in rows
    }
    encoder = load_encoder(MODEL, settings.cache_dir, max_tokens=256, threads=settings.threads)
    support = CachingJudge(EmbeddingJudge(encoder.encode_passages))
    scores, judged = (scored(rows, checked, system) for system in (scorer, judge))
    return [
        SampledQuestion(
            row, tuple(checked[row.key]), scores[row.key], judged[row.key], counted(row, checked, support)
        )
        for row in rows
    ]


def scored(
    rows: Sequence[EvaluationRow], checked: Mapping[str, Sequence[Checked]], system: ScoringSystem
) -> dict[str, tuple[float, ...]]:
    """Return the scores of all samples; a baseline's are standardized, like a trained scorer's."""
    found = {}
    for row in rows:
        answers = [" ".join(s.text for s in sentences) for sentences in checked[row.key]]
        cited = [{n for s in sentences for n in s.citations} for sentences in checked[row.key]]
        references = [[r.text for r in row.references if r.number in numbers] for numbers in cited]
        found[row.key] = tuple(float(score) for score in system.rate(row.question, answers, references))
    if system.preference is not None:
        return found
    every = [score for scores in found.values() for score in scores]
    center, scale = statistics.mean(every), statistics.pstdev(every) or 1.0
    return {key: tuple((score - center) / scale for score in scores) for key, scores in found.items()}


def counted(
    row: EvaluationRow, checked: Mapping[str, Sequence[Checked]], support: CachingJudge
) -> dict[str, tuple[float, ...]]:
    """Return the other measures of each sample."""
    samples = checked[row.key]
    cited = [CitedAnswer([MarkedSentence(s.text, s.citations) for s in of], passages(row)) for of in samples]
    marks = citation_recall_and_precision(cited, support)
    return {
        RECALL: tuple(score.recall for score in marks),
        PRECISION: tuple(score.precision for score in marks),
        SUPPORTED: tuple(sum(s.supported for s in of) / max(1, len(of)) for of in samples),
        WORDS: tuple(float(sum(len(words(s.text)) for s in of)) for of in samples),
    }


def measured(questions: Sequence[SampledQuestion], order: Order, n: int) -> dict[str, Estimate]:
    """Return the means of the best of `n` by this order, over the questions, with 95% intervals."""
    found: dict[str, dict[str, float]] = {}
    for question in questions:
        ranks, key = order(question), question.row.key
        judged = [question.judged[place] for place in question.sampled]
        greedy = question.judged[-1]
        beaten = [(float(value > greedy) + float(value >= greedy)) / 2 for value in judged]
        found.setdefault("beats a sample", {})[key] = win_rate(ranks, judged, n)
        found.setdefault("beats the greedy answer", {})[key] = best_of(ranks, beaten, n)
        found.setdefault("judged", {})[key] = best_of(ranks, judged, n)
        for name, values in question.counted.items():
            found.setdefault(name, {})[key] = best_of(ranks, values[:-1], n)
    return {name: estimate for name, values in found.items() if (estimate := mean(values)) is not None}


class Adapted(NamedTuple):
    """The mean number of candidates, the judge's score of the best, and its loss against the best of all."""

    candidates: float
    judged: float
    less: Estimate

    @property
    def cells(self) -> list[str]:
        """The cells of a table row."""
        return [f"{self.candidates:.1f}", f"{self.judged:.3f}", interval(self.less)]


class _KnownCandidates:
    """Scores that are known already."""

    name, standardized = "known", True

    def __init__(self, question: SampledQuestion, margin: float) -> None:
        self.margin = margin
        self._scores = dict(zip(map(_text, question.sentences), question.score, strict=True))

    def score(
        self, question: str, candidates: Sequence[Sequence[Sentence]], references: Sequence[Reference]
    ) -> list[float]:
        return [self._scores[_text(candidate)] for candidate in candidates]


def _text(sentences: Sequence[Sentence]) -> str:
    return " ".join(sentence.text for sentence in sentences)


def adapted(questions: Sequence[SampledQuestion], margin: float) -> dict[float, Adapted]:
    """Return the saving and the cost of each minimum gain against writing all, over random sample orders."""
    found = {}
    for gain in (0.0, *GAINS):
        used: dict[str, float] = {}
        judged: dict[str, float] = {}
        for question in questions:
            outcomes = [_one_order(question, margin, gain, number) for number in range(ORDERS)]
            used[question.row.key] = statistics.mean(outcome[0] for outcome in outcomes)
            judged[question.row.key] = statistics.mean(outcome[1] for outcome in outcomes)
        if not gain:
            whole = judged
        less = mean({key: whole[key] - value for key, value in judged.items()})
        assert less is not None
        found[gain] = Adapted(statistics.mean(used.values()), statistics.mean(judged.values()), less)
    return found


def _one_order(question: SampledQuestion, margin: float, gain: float, seed: int) -> tuple[int, float]:
    most = max(NS)
    places = random.Random(f"{question.row.key} {seed}").sample(question.sampled, most)
    judged = dict(zip(map(_text, question.sentences), question.judged, strict=True))
    rounds = BestOf(_KnownCandidates(question, margin), "", (), most=most, min_gain=gain)
    while wanted := rounds.wanted:
        taken = places[rounds.written : rounds.written + wanted]
        rounds.add([question.sentences[place] for place in taken], written=wanted)
    choice = rounds.choice()
    best = rounds.candidates[choice.best] if choice else ()
    return rounds.written, judged.get(_text(best), min(question.judged))


def shown(
    what: str, rows: Mapping[str, Mapping[str, Estimate]], times: Mapping[int, float] | None = None
) -> str:
    """Return a table of means with their intervals."""
    names = list(next(iter(rows.values())))
    header = [what, *names, *(["seconds"] if times else [])]
    return table(
        header,
        [
            [label, *(interval(row[name]) for name in names), *([times[int(label)]] if times else [])]
            for label, row in rows.items()
        ],
    )


def interval(estimate: Estimate) -> str:
    """Format a value with its interval."""
    digits = 1 if abs(estimate.value) >= 10 else 3
    return f"{estimate.value:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def plain(row: Mapping[str, Estimate]) -> dict[str, dict[str, float]]:
    """Return plain values for JSON."""
    return {name: estimate._asdict() for name, estimate in row.items()}


if __name__ == "__main__":
    main()
