"""Scores of extracted text against the text that people wrote down, by the measures of two benchmarks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

from citewell.retriever.extract.document import ExtractedDocument

_WORD = re.compile(r"\w+")
_RUN = 4  # words


class ExtractionScore(NamedTuple):
    """Precision, recall and their harmonic mean, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


class ShingleOverlap(NamedTuple):
    """Counts of runs of words: those found, those in the gold text, and those in both."""

    shared: int
    found: int
    gold: int


def word_score(found: str, gold: str) -> ExtractionScore:
    """Score the words of a page as a bag, ignoring case.

    This is the score of the Web Content Extraction Benchmark (WCXB)
    (https://github.com/Murrough-Foley/web-content-extraction-benchmark, evaluate.py). `gold` must have words.
    """
    in_found, in_gold = Counter(_WORD.findall(found.lower())), Counter(_WORD.findall(gold.lower()))
    shared = (in_found & in_gold).total()
    if not shared:
        return ExtractionScore(0.0, 0.0, 0.0)
    return _score(shared / in_found.total(), shared / in_gold.total())


def mean_score(scores: Sequence[ExtractionScore]) -> ExtractionScore:
    """Average each of the three over one page or more; the F1 is the mean of the pages' F1."""
    columns = (sum(column) / len(scores) for column in zip(*scores, strict=True))
    return ExtractionScore(*columns)


def run_overlap(found: str, gold: str) -> ShingleOverlap:
    """Count the runs of four words of a page, case-sensitive; a shorter text is one run."""
    in_found, in_gold = _runs(found), _runs(gold)
    return ShingleOverlap((in_found & in_gold).total(), in_found.total(), in_gold.total())


def run_score(overlaps: Iterable[ShingleOverlap]) -> ExtractionScore:
    """Score runs of four words over pages, at least one of which has text.

    This is the score of https://github.com/scrapinghub/article-extraction-benchmark, evaluate.py: the mean
    precision of the pages with any text found, the mean recall, and the F1 of the two.
    """
    pages = list(overlaps)
    precisions = [page.shared / page.found for page in pages if page.found]
    recalls = [page.shared / page.gold for page in pages if page.gold]
    return _score(_mean(precisions), _mean(recalls))


def snippet_rate(text: str, snippets: Sequence[str]) -> float:
    """Return the share of the snippets, at least one, that occur in a text, ignoring case."""
    lowered = text.lower()
    return sum(snippet.lower() in lowered for snippet in snippets) / len(snippets)


def shown_text(document: ExtractedDocument) -> str:
    """Return a document as a person sees it: its blocks, and each heading as a line above its blocks."""
    lines: list[str] = []
    above: tuple[str, ...] = ()
    for block in document.blocks:
        pairs = list(zip_longest(above, block.headings))
        same = next((level for level, (old, new) in enumerate(pairs) if old != new), len(pairs))
        lines += [*block.headings[same:], block.text]
        above = block.headings
    return "\n".join(lines)


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    runs = max(1, len(words) - _RUN + 1) if words else 0
    return Counter(tuple(words[start : start + _RUN]) for start in range(runs))


def _score(precision: float, recall: float) -> ExtractionScore:
    both = precision + recall
    return ExtractionScore(precision, recall, 2 * precision * recall / both if both else 0.0)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
