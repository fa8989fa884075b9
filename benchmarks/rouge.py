"""ROUGE at scale: the numbers and the speed of `citewell.core.rouge` beside those of the package rouge-score.

10,000 real answers (ExpertQA, PubMedQA, MedQuAD; their first 250 words) with five references each are scored
as the bootstrap of a data set does: each sentence with each reference, as citation correction needs it, and
the whole answer with each reference and with all of them together, as the filters need it. References are an
answer's own, in pieces of at most 120 words, then those of the answers that follow; where an answer has none,
its own text takes their place.

ROUGE-1, ROUGE-2 and ROUGE-L of every pair, precision, recall and F1, are compared for equality, bit for bit.
Pairs of ASCII text are scored by rouge-score with its own tokenizer, the others with that of Citewell, which
keeps letters that rouge-score drops. Speed is compared on all pairs for the three kinds at once, and on some
answers, several times over, for each kind alone; there also with a rouge-score that remembers the tokens of
each text, which it does not do by itself. Seconds are those of the processor, and splitting answers into
sentences counts for neither.

Run `python -m benchmarks.rouge`; it takes ten minutes on one core, of which rouge-score takes nearly all.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.results_files import external_data, output_option, save, table
from citewell.core.rouge import Matrix, Rouge, Text, scores
from citewell.core.text import split_sentences, words

FILES = ("expertqa_train", "expertqa_answers", "pubmedqa", "medquad")
REFERENCES = 5
_ANSWER_WORDS = 250
_REFERENCE_WORDS = 120
_RATIO = "times as fast"


class Row(NamedTuple):
    """An answer, its sentences and its references."""

    answer: str
    sentences: tuple[str, ...]
    references: tuple[str, ...]


def read_rows(folder: Path) -> Iterator[Row]:
    """Yield every answer of the long-form files with its five references."""
    answers: list[str] = []
    pieces: list[list[str]] = []
    for name in FILES:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                texts = [reference["text"] for reference in row["references"] if reference["text"]]
                answers.append(" ".join(row["answer"].split()[:_ANSWER_WORDS]))
                pieces.append([piece for text in texts or [row["answer"]] for piece in _pieces(text)])
    for place, answer in enumerate(answers):
        following = chain(islice(pieces, place, None), pieces)
        references = tuple(islice(chain.from_iterable(following), REFERENCES))
        yield Row(answer, tuple(split_sentences(answer)), references)


def _pieces(text: str) -> Iterator[str]:
    found = text.split()
    for start in range(0, len(found), _REFERENCE_WORDS):
        yield " ".join(found[start : start + _REFERENCE_WORDS])


def pairs(row: Row) -> Iterator[tuple[str, str]]:
    """Yield predictions and targets: sentences with references, the answer with each and with all of them."""
    for prediction in (*row.sentences, row.answer):
        for reference in row.references:
            yield prediction, reference
    yield row.answer, " ".join(row.references)


def ours(row: Row, kinds: Sequence[Rouge]) -> Matrix:
    """Return precision, recall and F1 of `n` pairs and `k` kinds by `citewell.core.rouge`, (n, 3 k)."""
    predictions = [Text(text) for text in (*row.sentences, row.answer)]
    targets = [Text(text) for text in row.references]
    together = [Text.joined(targets)]
    found = []
    for kind in kinds:
        matrices = scores(predictions, targets, kind), scores(predictions[-1:], together, kind)
        found += [np.concatenate([one.ravel() for one in each]) for each in zip(*matrices, strict=True)]
    return np.stack(found, axis=1)


class _Words:
    """The tokenizer interface of rouge-score."""

    def __init__(self, tokenize: Callable[[str], list[str]]) -> None:
        self.tokenize = tokenize


def theirs(row: Row, kinds: Sequence[Rouge], choose: Callable[[str, str], Any]) -> Matrix:
    """Return the same by rouge-score; `choose` returns the scorer of a pair."""
    found = []
    for prediction, target in pairs(row):
        by_kind = choose(prediction, target).score(target, prediction)
        found.append([number for kind in kinds for number in by_kind[kind.value]])
    return np.array(found, dtype=np.float64)


def chooser(kinds: Sequence[Rouge], *, remember: bool = False) -> Callable[[str, str], Any]:
    """Return rouge-score unchanged for ASCII text, and with Citewell's tokenizer for other text."""
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer

    names = [kind.value for kind in kinds]
    plain, wide = DefaultTokenizer().tokenize, words
    if remember:
        plain, wide = cache(plain), cache(words)
    default = RougeScorer(names, tokenizer=_Words(plain)) if remember else RougeScorer(names)
    other = RougeScorer(names, tokenizer=_Words(wide))
    return lambda prediction, target: default if prediction.isascii() and target.isascii() else other


def compare(rows: Sequence[Row]) -> dict[str, Any]:
    """Score every pair by both; return the number of different values, and the CPU seconds of each."""
    kinds = tuple(Rouge)
    choose = chooser(kinds)
    count, ascii_pairs, different, mine, peer = 0, 0, 0, 0.0, 0.0
    for place, row in enumerate(rows, 1):
        started = time.process_time()
        left = ours(row, kinds)
        between = time.process_time()
        right = theirs(row, kinds, choose)
        mine, peer = mine + between - started, peer + time.process_time() - between
        count += len(left)
        ascii_pairs += sum(prediction.isascii() and target.isascii() for prediction, target in pairs(row))
        different += int((left != right).sum())
        if place % 1000 == 0:
            print(f"{place:,} answers compared, {different} numbers differ", file=sys.stderr)
    return {
        "answers": len(rows),
        "pairs": count,
        "pairs of ASCII text": ascii_pairs,
        "numbers compared": count * len(kinds) * 3,
        "numbers that differ": different,
        "seconds": {"citewell.core.rouge": round(mine, 2), "rouge-score": round(peer, 1)},
        _RATIO: round(peer / mine, 1),
    }


def time_kinds(rows: Sequence[Row], repeats: int) -> dict[str, dict[str, Any]]:
    """Return, per kind, the speed of `citewell.core.rouge` over rouge-score's: median and range."""
    result: dict[str, dict[str, Any]] = {}
    for kind in Rouge:
        ratios: dict[str, list[float]] = {"rouge-score": [], "rouge-score, tokens remembered": []}
        microseconds = []
        for _ in range(repeats):
            mine = _seconds(partial(ours, kinds=(kind,)), rows)
            microseconds.append(1e6 * mine / sum(1 for row in rows for _ in pairs(row)))
            for name, remember in zip(ratios, (False, True), strict=True):
                choose = chooser((kind,), remember=remember)
                ratios[name].append(_seconds(partial(theirs, kinds=(kind,), choose=choose), rows) / mine)
        result[kind.value] = {
            "microseconds a pair": round(statistics.median(microseconds), 2),
            _RATIO: {name: _spread(values) for name, values in ratios.items()},
        }
    return result


def _seconds(score: Callable[[Row], object], rows: Sequence[Row]) -> float:
    started = time.process_time()
    for row in rows:
        score(row)
    return time.process_time() - started


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {
        "median": round(statistics.median(values), 1),
        "least": round(min(values), 1),
        "most": round(max(values), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--answers", type=int, default=10_000, help="answers to compare in all pairs")
    parser.add_argument("--timed", type=int, default=100, help="answers to time each kind on")
    parser.add_argument("--repeats", type=int, default=5, help="repeats of each timing")
    output_option(parser)
    arguments = parser.parse_args()
    rows = list(read_rows(external_data() / "longform"))
    random.Random(0).shuffle(rows)
    rows = rows[: arguments.answers]
    kinds = time_kinds(rows[: arguments.timed], arguments.repeats)
    compared = compare(rows)
    show(compared, kinds)
    timed = {"answers": min(arguments.timed, len(rows)), "repeats": arguments.repeats}
    save("rouge", {"all pairs": compared, "each kind": timed | kinds}, arguments.output)
    if compared["numbers that differ"]:
        sys.exit("citewell.core.rouge differs from rouge-score.")


def show(compared: dict[str, Any], kinds: dict[str, dict[str, Any]]) -> None:
    """Print the result."""
    numbers = {name: f"{value:,}" for name, value in compared.items() if name != "seconds"}
    numbers |= {f"seconds of {name}": f"{value}" for name, value in compared["seconds"].items()}
    print(table(["all pairs, three kinds at once", ""], list(numbers.items())) + "\n")
    lines = []
    for kind, each in kinds.items():
        spreads = [f"{s['median']} ({s['least']} to {s['most']})" for s in each[_RATIO].values()]
        lines.append([kind, each["microseconds a pair"], *spreads])
    names = [f"{_RATIO} as {name}" for name in next(iter(kinds.values()))[_RATIO]]
    print(table(["kind alone", "microseconds a pair", *names], lines))


if __name__ == "__main__":
    main()
