"""Measure how well the support check agrees with people, on ExpertQA's judged claims.

`python -m benchmarks.citation_support` takes every claim that experts judged and that cites one passage with
known text, and reports the number that the check keeps at each threshold: of claims judged completely
supported (should be kept), of claims judged incompletely supported (should not), and of claims paired with
another passage of the same answer (should not). Plain ROUGE-1 precision is reported for comparison.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.report import external_data, output_option, save, table
from citewell.core.rouge import Text, score
from citewell.core.settings import CitationSettings
from citewell.generator.citations.support import holds_facts, rouge_1_precision

THRESHOLDS = (0.3, 0.4, 0.5, 0.57, 0.65, 0.75)
_MARK = re.compile(r"\[\d+\]")


class ClaimPair(NamedTuple):
    """A claim and a passage."""

    claim: str
    passage: str


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    output_option(parser)
    arguments = parser.parse_args()
    pairs = read_pairs()
    rows = []
    results = {}
    for name, measure in VARIANTS.items():
        scored = {kind: [measure(pair) for pair in of_kind] for kind, of_kind in pairs.items()}
        for threshold in THRESHOLDS:
            kept = {
                kind: round(sum(value >= threshold for value in values) / len(values), 3)
                for kind, values in scored.items()
            }
            default = name == "content words + facts" and threshold == CitationSettings().threshold
            rows.append([name + (" (default)" if default else ""), threshold, *kept.values()])
            results[f"{name} {threshold}"] = kept
    counts = {kind: len(of_kind) for kind, of_kind in pairs.items()}
    print(table(["check", "threshold", *(f"{kind} ({count})" for kind, count in counts.items())], rows))
    save("citation_support", {"pairs": counts, "kept": results}, arguments.output)


def read_pairs() -> dict[str, list[ClaimPair]]:
    """Read claims with passages, grouped by the experts' judgment."""
    pairs: dict[str, list[ClaimPair]] = {"complete": [], "incomplete": [], "other passage": []}
    choose = random.Random(0).choice
    with gzip.open(external_data() / "longform" / "expertqa_train.jsonl.gz", "rt", encoding="utf-8") as lines:
        for answer in map(json.loads, lines):
            passages = {r["n"]: r["text"] for r in answer["references"] if r.get("text")}
            for claim in answer["claims"]:
                text = _MARK.sub("", claim["text"])
                cited = [number for number in claim["evidence"] if number in passages]
                label = (claim["support_label"] or "").lower()
                if len(cited) == 1 and label in pairs:
                    pairs[label].append(ClaimPair(text, passages[cited[0]]))
                others = [number for number in passages if number not in cited]
                if cited and others:
                    pairs["other passage"].append(ClaimPair(text, passages[choose(others)]))
    return pairs


def all_words(pair: ClaimPair) -> float:
    """Return ROUGE-1 precision with stop words, as WebGLM uses it."""
    return score(Text(pair.claim), Text(pair.passage)).precision


def content_words(pair: ClaimPair) -> float:
    """Return our ROUGE-1 precision, over content words."""
    return rouge_1_precision(pair.claim, pair.passage)


def content_words_and_facts(pair: ClaimPair) -> float:
    """Return the default check."""
    return content_words(pair) if holds_facts(pair.claim, pair.passage) else 0.0


VARIANTS: dict[str, Callable[[ClaimPair], float]] = {
    "all words": all_words,
    "content words": content_words,
    "content words + facts": content_words_and_facts,
}

if __name__ == "__main__":
    main()
