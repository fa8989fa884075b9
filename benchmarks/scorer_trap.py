"""Measure how often the longer of two answers wins: whether votes say more than a preference for length.

`python -m benchmarks.scorer_trap` reads `votes/reddit_qa_votes.jsonl.gz` in CITEWELL_DATA and prints, for raw
pairs of answers and for those that WebGLM's rule leaves (§3.3), with its own numbers and with those for small
forums: the share of pairs in which the longer answer has more votes (equal lengths count half), the same for
pairs whose lengths differ by at most a tenth, and the share in which an answer that was cut at the median
length has more votes than one that was not. A scorer has learned something only by what it is above these.
The second table is the funnel: how many questions, answers and pairs each step leaves.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.text import words
from citewell.scorer.data.config import PAPER, RAW, SMALL_FORUM, ReadingConfig, VoteConfig
from citewell.scorer.data.notes import STEPS, FileNotes
from citewell.scorer.data.reading import read_voted
from citewell.scorer.data.types import Comparison, Voted
from citewell.scorer.data.votes import compare

FILE = "votes/reddit_qa_votes.jsonl.gz"
MATCHED = 0.1  # of the longer length
RULES: Mapping[str, VoteConfig] = {
    "raw": RAW,
    "raw, twice the votes": RAW.model_copy(update={"ratio": 2.0}),
    "small forums, not cut": SMALL_FORUM.model_copy(update={"truncate": False}),
    "small forums": SMALL_FORUM,
    "WebGLM's numbers": PAPER,
}


class LengthPair(NamedTuple):
    """The lengths of a better and a worse answer, and whether each was cut."""

    better: int
    worse: int
    better_cut: bool
    worse_cut: bool


class Share(NamedTuple):
    """A share of pairs, None without any."""

    share: float | None
    pairs: int

    def __str__(self) -> str:
        return f"{self.share:.3f} of {self.pairs:,}" if self.share is not None else "no pairs"


def main() -> None:
    """Print the tables, and write them as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", type=Path, help=f"a file of votes; CITEWELL_DATA/{FILE} by default")
    output_option(parser)
    arguments = parser.parse_args()
    voted = read_voted(arguments.file or external_data() / FILE, ReadingConfig(body_chars=0)).voted
    results = {name: measure(voted, rule) for name, rule in RULES.items()}
    shares = {name: shares for name, (shares, _) in results.items()}
    funnels = {name: funnel for name, (_, funnel) in results.items()}
    header = ["pairs", *next(iter(shares.values()))]
    print(table(header, [[name, *of.values()] for name, of in shares.items()]), "\n")
    steps = [step for step in STEPS if any(step in funnel for funnel in funnels.values())]
    rows = [[step, *(f"{of[step]:,}" if step in of else "–" for of in funnels.values())] for step in steps]
    print(table(["left after a step", *funnels], rows))
    written = {
        name: {
            "rule": RULES[name].model_dump(),
            "shares": {what: share._asdict() for what, share in of.items()},
            "funnel": funnels[name],
        }
        for name, of in shares.items()
    }
    save("scorer_trap", {"rules": written}, arguments.output)


def measure(voted: Sequence[Voted], rule: VoteConfig) -> tuple[dict[str, Share], Mapping[str, int]]:
    """Return the shares of one rule, and its funnel."""
    notes = FileNotes()
    found = [(each, compare(each, rule, notes)) for each in voted]
    lengths = [pair for each, comparisons in found for pair in _pairs(each, comparisons)]
    characters = [pair for _, comparisons in found for pair in _by_characters(comparisons)]
    matched = [p for p in lengths if abs(p.better - p.worse) <= MATCHED * max(p.better, p.worse)]
    one_cut = [p for p in lengths if p.better_cut != p.worse_cut]
    shares = {
        "longer wins, in words": _share(lengths, _longer),
        "longer wins, in characters": _share(characters, _longer),
        "longer wins, lengths matched": _share(matched, _longer),
        "cut wins over whole": _share(one_cut, lambda pair: float(pair.better_cut)),
    }
    return shares, notes.funnel()


def _pairs(voted: Voted, comparisons: Sequence[Comparison]) -> list[LengthPair]:
    whole = {answer.text for answer in voted.answers}
    return [
        LengthPair(len(words(c.first)), len(words(c.second)), c.first not in whole, c.second not in whole)
        for c in comparisons
    ]


def _by_characters(comparisons: Sequence[Comparison]) -> list[LengthPair]:
    return [LengthPair(len(each.first), len(each.second), False, False) for each in comparisons]


def _longer(pair: LengthPair) -> float:
    return 0.5 if pair.better == pair.worse else float(pair.better > pair.worse)


def _share(pairs: Sequence[LengthPair], right: Callable[[LengthPair], float]) -> Share:
    share = round(sum(map(right, pairs)) / len(pairs), 4) if pairs else None
    return Share(share, len(pairs))


if __name__ == "__main__":
    main()
