"""Measure the threshold of the embedding judge's cosine for a supported claim, on ExpertQA's judged claims.

`python -m benchmarks.judge_threshold` compares claims with the passages that they cite, and with other
passages of the same answer. Supported are those that experts judged completely supported; not supported are
those judged incompletely supported, and all with another passage. Only questions that are not held out for
evaluation are used. For each number of sentences in a window it prints the area under the ROC curve, and the
threshold that best separates the two kinds (balanced accuracy); the last rows are the lexical judge's.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.results_files import external_data, output_option, save, table
from benchmarks.support_measures import balanced_accuracy
from citewell.core.ranking_metrics import area_under_curve
from citewell.core.settings import CitationSettings, load_settings
from citewell.generator.citations.support import rouge_1_precision
from citewell.generator.evaluation.held_out import is_held_out
from citewell.generator.evaluation.judges.embedding import MODEL, THRESHOLD, WINDOW, EmbeddingJudge
from citewell.generator.evaluation.judges.judge import ClaimAndPassages
from citewell.generator.evaluation.judges.lexical import RougeJudge
from citewell.retriever.encoder.load import load_encoder

Numbers = NDArray[Any]
WINDOWS = (1, 2, 3, 100)  # 100: the whole passage
_MARK = re.compile(r"\s*\[\d+\]")


class Judged(NamedTuple):
    """A claim with passages, and the judgment: `complete`, `incomplete` or `other passage`."""

    pair: ClaimAndPassages
    kind: str


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    output_option(parser)
    arguments = parser.parse_args()
    settings = load_settings()
    encoder = load_encoder(MODEL, settings.cache_dir, max_tokens=256, threads=settings.threads)
    judge = EmbeddingJudge(encoder.encode_passages)
    judged = read_pairs()
    pairs = [of.pair for of in judged]
    kinds = np.array([of.kind for of in judged])
    results = {}
    for window in WINDOWS:
        name = f"embedding, windows of {window}"
        scores = np.array(judge.grades(pairs, window))
        results[name] = measured(scores, kinds, best_threshold(scores, kinds == "complete"))
        if window == WINDOW:
            results[f"{name} (default)"] = measured(scores, kinds, THRESHOLD)
    precisions = np.array([rouge_1_precision(p.claim, "\n".join(p.passages)) for p in pairs])
    threshold = CitationSettings().threshold
    results["ROUGE-1 precision"] = measured(
        precisions, kinds, best_threshold(precisions, kinds == "complete")
    )
    verdicts = np.array(RougeJudge(threshold).supports(pairs), dtype=np.float64)
    results["rouge (default)"] = measured(verdicts, kinds, 0.5) | {"threshold": threshold}
    header = ["judge", *results["rouge (default)"]]
    print(table(header, [[name, *of.values()] for name, of in results.items()]))
    save("judge_threshold", {"pairs": len(pairs), "judges": results}, arguments.output)


def read_pairs() -> list[Judged]:
    """Read claims of training questions, with the passages that they cite or others."""
    found = []
    choose = random.Random(0).choice
    with gzip.open(external_data() / "longform" / "expertqa_train.jsonl.gz", "rt", encoding="utf-8") as lines:
        for answer in map(json.loads, lines):
            if is_held_out(answer["question"]):
                continue
            passages = {r["n"]: r["text"] for r in answer["references"] if r.get("text")}
            for claim in answer["claims"]:
                text = _MARK.sub("", claim["text"])
                cited = [number for number in claim["evidence"] if number in passages]
                label = (claim["support_label"] or "").lower()
                if len(cited) == len(claim["evidence"]) > 0 and label in ("complete", "incomplete"):
                    found.append(Judged(ClaimAndPassages(text, tuple(passages[n] for n in cited)), label))
                others = [number for number in passages if number not in cited]
                if cited and others:
                    found.append(Judged(ClaimAndPassages(text, (passages[choose(others)],)), "other passage"))
    return found


def measured(scores: Numbers, kinds: Numbers, threshold: float) -> dict[str, float]:
    """Return the area under the curve and, at the threshold, the balanced accuracy and supported shares."""
    supported = kinds == "complete"
    found = {
        "threshold": round(threshold, 2),
        "area under the curve": round(area_under_curve(scores, supported), 3),
        "balanced accuracy": round(balanced_accuracy(supported, scores >= threshold), 3),
    }
    for kind in ("complete", "incomplete", "other passage"):
        found[f"{kind} ({(kinds == kind).sum()})"] = round(
            float((scores[kinds == kind] >= threshold).mean()), 3
        )
    return found


def best_threshold(scores: Numbers, supported: Numbers) -> float:
    """Return the threshold with the best balanced accuracy, in hundredths."""
    steps = [step / 100 for step in range(5, 100)]
    return max(steps, key=lambda step: balanced_accuracy(supported, scores >= step))


if __name__ == "__main__":
    main()
