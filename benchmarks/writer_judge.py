"""Measure how well a language model judges support, by its probability of yes, beside the other judges.

`python -m benchmarks.writer_judge` takes as many supported as unsupported claims, each with its passage, from
three sets: stances of people on evidence from the web (Factcheck-GPT), people's labels of scientific claims
(SciFact), and sentences of people's long answers with a passage (by rule). Half of the pairs choose each
judge's threshold (balanced accuracy), and the other half measure it. Partly supported claims are left out.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.judge_threshold import best_threshold
from benchmarks.results_files import external_data, output_option, save, table
from benchmarks.support_measures import balanced_accuracy
from citewell.core.jsonl import read_lines
from citewell.core.ranking_metrics import area_under_curve
from citewell.core.settings import load_settings
from citewell.generator.citations.support import rouge_1_precision
from citewell.generator.evaluation.judges.embedding import MODEL, EmbeddingJudge
from citewell.generator.evaluation.judges.judge import ClaimAndPassages
from citewell.generator.evaluation.judges.writer import open_writer_judge
from citewell.retriever.encoder.load import load_encoder

SETS = ("factcheck_gpt_stance", "scifact", "derived_longform")

Score = Callable[[list[ClaimAndPassages]], list[float]]


class LabeledPair(NamedTuple):
    """A claim with its passage, the set that it is from, and whether the passage supports it."""

    pair: ClaimAndPassages
    source: str
    supported: bool


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--writer", default="qwen2.5-coder-1.5b", help="the language model")
    parser.add_argument("--pairs", type=int, default=60, help="of each set")
    output_option(parser)
    arguments = parser.parse_args()
    settings = load_settings()
    labeled = read_pairs(arguments.pairs)
    encoder = load_encoder(MODEL, settings.cache_dir, max_tokens=256, threads=settings.threads)
    with open_writer_judge(arguments.writer, settings, lambda text: print(text, flush=True)) as judge:
        judges: dict[str, Score] = {
            f"writer:{arguments.writer}": judge.grades,
            "embedding": EmbeddingJudge(encoder.encode_passages).grades,
            "ROUGE-1 precision": rouge_precisions,
        }
        results = {name: measured(score, labeled) for name, score in judges.items()}
    rows = [[name, *found.values()] for name, found in results.items()]
    print(table(["judge", *next(iter(results.values()))], rows))
    save("writer_judge", {"pairs": len(labeled), "judges": results}, arguments.output)


def read_pairs(number: int) -> list[LabeledPair]:
    """Read as many pairs of each set, half of them supported; the kinds take turns."""
    found = []
    for name in SETS:
        rows = [line.row() for line in read_lines(external_data() / "entailment" / f"{name}.jsonl.gz")]
        random.Random(0).shuffle(rows)
        kinds = (
            [row for row in rows if row["label"] == "supported"],
            [row for row in rows if row["label"] not in ("supported", "partial")],
        )
        for each in zip(*(kind[: number // 2] for kind in kinds), strict=True):
            for row in each:
                pair = ClaimAndPassages(row["claim"], (row["premise"],))
                found.append(LabeledPair(pair, name, row["label"] == "supported"))
    return found


def rouge_precisions(pairs: list[ClaimAndPassages]) -> list[float]:
    """Return the ROUGE-1 precision of each claim."""
    return [rouge_1_precision(pair.claim, "\n".join(pair.passages)) for pair in pairs]


def measured(score: Score, labeled: list[LabeledPair]) -> dict[str, float]:
    """Return the threshold that the pairs of one half choose, and measures on the other half."""
    scores = np.array(score([each.pair for each in labeled]))
    supported = np.array([each.supported for each in labeled])
    sources = np.array([each.source for each in labeled])
    chooses: NDArray[np.bool_] = np.arange(len(labeled)) // 2 % 2 == 0
    threshold = best_threshold(scores[chooses], supported[chooses])
    rest = ~chooses
    found = {
        "threshold": threshold,
        "balanced accuracy": balanced_accuracy(supported[rest], scores[rest] >= threshold),
        "at one half": balanced_accuracy(supported[rest], scores[rest] >= 0.5),
        "area under the curve": area_under_curve(scores[rest], supported[rest]),
    }
    for name in SETS:
        of_set = rest & (sources == name)
        found[f"area, {name}"] = area_under_curve(scores[of_set], supported[of_set])
    return {name: round(value, 3) for name, value in found.items()}


if __name__ == "__main__":
    main()
