"""Make comparisons of answers by rules from runs of a bootstrap, for a scorer that sees the references.

`python -m benchmarks.scorer_pairs RUN [RUN …] --out FILE` writes lines of {question, answers, preferred,
kind, license}, as `citewell train scorer` reads choices of users. No person judged them; `kind` names the
rule that did, for each answer that the first run kept:

- `kept`: it is better than one to the same question that the filters of another run dropped;
- `references`: it is better with its own references than with those of another question;
- `whole`: it is better whole than with one sentence cut.

A hash decides which of the two answers comes first.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from citewell.bootstrap.folder import FinishedRun
from citewell.bootstrap.types import Drop, Outcome, RawAnswer, Sample
from citewell.core.types import Reference
from citewell.generator.citations.marks import read_segments, write_marks


def main() -> None:
    """Write the comparisons, and print how many there are of each kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folders of bootstraps")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    arguments = parser.parse_args()
    first, *others = (list(FinishedRun(folder).outcomes()) for folder in arguments.runs)
    rows = list(pairs(first, [outcome for run in others for outcome in run]))
    arguments.out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    print(f"{len(rows):,} comparisons: {dict(Counter(row['kind'] for row in rows))}")


def pairs(outcomes: Sequence[Outcome], others: Sequence[Outcome]) -> Iterator[dict[str, Any]]:
    """Yield the comparisons of the kept answers among `outcomes`; `others` are outcomes of other runs."""
    kept = [outcome for outcome in outcomes if isinstance(outcome, Sample)]
    dropped = [outcome for outcome in others if isinstance(outcome, Drop) and outcome.raw_answer.strip()]
    for place, sample in enumerate(kept):
        better = _answer(sample.answer, sample.references)
        for drop in dropped:
            if drop.question == sample.question:
                yield _row(sample, "kept", better, _answer(drop.raw_answer, drop.references))
        stranger = kept[(place + 1) % len(kept)]
        if stranger.question != sample.question:
            yield _row(sample, "references", better, _answer(sample.answer, stranger.references))
        segments = read_segments(sample.answer, sentences=True)
        if len(segments) > 1:
            cut = _point(sample.key) % len(segments)
            rest = write_marks([each for number, each in enumerate(segments) if number != cut])
            yield _row(sample, "whole", better, _answer(rest, sample.references))


def _row(sample: RawAnswer, kind: str, better: dict[str, Any], worse: dict[str, Any]) -> dict[str, Any]:
    place = _point(f"{sample.key} {kind}") % 2
    return {
        "question": sample.question,
        "answers": [worse, better] if place else [better, worse],
        "preferred": place,
        "kind": kind,
        "license": sample.license,
    }


def _answer(text: str, references: Sequence[Reference]) -> dict[str, Any]:
    return {"text": text, "references": [{"text": each.text, "url": each.url} for each in references]}


def _point(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8])


if __name__ == "__main__":
    main()
