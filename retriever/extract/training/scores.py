"""How near extracted text comes to the text that people wrote down, by the measures of two benchmarks."""

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
    """How many runs of words were found, how many there are, and how many of these are the same."""

    shared: int
    found: int
    gold: int


def word_score(found: str, gold: str) -> ExtractionScore:
    """The words of a page as a bag, without their case.

    As the Web Content Extraction Benchmark (WCXB) scores a page
    (https://github.com/Murrough-Foley/web-content-extraction-benchmark, evaluate.py). `gold` has words.
    """
    in_found, in_gold = Counter(_WORD.findall(found.lower())), Counter(_WORD.findall(gold.lower()))
    shared = (in_found & in_gold).total()
    if not shared:
        return ExtractionScore(0.0, 0.0, 0.0)
    return _score(shared / in_found.total(), shared / in_gold.total())


def mean_score(scores: Sequence[ExtractionScore]) -> ExtractionScore:
    """The mean of each of the three over one page or more: the mean F1 is that of the pages' own."""
    columns = (sum(column) / len(scores) for column in zip(*scores, strict=True))
    return ExtractionScore(*columns)


def run_overlap(found: str, gold: str) -> ShingleOverlap:
    """The runs of four words of a page, with their case; a shorter text is one run."""
    in_found, in_gold = _runs(found), _runs(gold)
    return ShingleOverlap((in_found & in_gold).total(), in_found.total(), in_gold.total())


def run_score(overlaps: Iterable[ShingleOverlap]) -> ExtractionScore:
    """Runs of four words over pages of which one or more has text.

    As the article extraction benchmark does (https://github.com/scrapinghub/article-extraction-benchmark,
    evaluate.py): the mean precision of pages where anything was found, the mean recall, and the F1 of these.
    """
    pages = list(overlaps)
    precisions = [page.shared / page.found for page in pages if page.found]
    recalls = [page.shared / page.gold for page in pages if page.gold]
    return _score(_mean(precisions), _mean(recalls))


def snippet_rate(text: str, snippets: Sequence[str]) -> float:
    """The share of one snippet or more that stand in a text, whatever their case."""
    lowered = text.lower()
    return sum(snippet.lower() in lowered for snippet in snippets) / len(snippets)


def shown_text(document: ExtractedDocument) -> str:
    """A document as a person sees it: its blocks, and each heading as a line above those that it opens."""
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
