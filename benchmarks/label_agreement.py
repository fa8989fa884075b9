"""Measure how far a language model's labels of passages agree with people's choices.

`python -m benchmarks.label_agreement` prints, for each set of `recipes/answer-labels`, the area under the ROC
curve of the labels of passages that people chose against those of all others, and how often the passage with
the highest label of a question is one that people chose, of the questions with such a passage.
"""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path

import numpy as np

from benchmarks.label_sources import LABELS, Labels, read_sets
from benchmarks.results_files import output_option, save, table
from citewell.core.ranking_metrics import area_under_curve


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=Path, default=LABELS, help="labels with their sets [the published]")
    output_option(parser)
    arguments = parser.parse_args()
    results = {name: agreement(labels) for name, labels in read_sets(arguments.labels).items()}
    columns = list(next(iter(results.values())))
    print(table(["set", *columns], [[name, *found.values()] for name, found in results.items()]))
    save("label_agreement", results, arguments.output)


def agreement(labels: Labels) -> dict[str, float]:
    """Return the numbers and measures of a set."""
    rows = list(chain.from_iterable(labels.values()))
    answered = [found for found in labels.values() if any(row["gold"] for row in found)]
    yes = np.array([row["yes"] for row in rows])
    chosen = np.array([row["gold"] for row in rows], dtype=np.bool_)
    return {
        "questions": len(labels),
        "labels": len(rows),
        "chosen by people": int(chosen.sum()),
        "area under the curve": round(area_under_curve(yes, chosen), 3),
        "questions with a chosen passage": len(answered),
        "best label is people's": sum(max(found, key=lambda row: row["yes"])["gold"] for found in answered),
        "mean label of the others": round(float(yes[~chosen].mean()), 3),
    }


if __name__ == "__main__":
    main()
