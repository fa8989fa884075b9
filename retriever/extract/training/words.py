"""Weights of words in class names and in short texts as signs of main text: log odds over sites."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from citewell.retriever.extract.main_text.frames import WordWeights, name_words
from citewell.retriever.extract.main_text.text_features import text_words
from citewell.retriever.extract.training.pages import LabeledPage

_NAME_SITES = 6  # sites that a word must occur on, so that it does not identify one
_TEXT_SITES = 20
_NAME_LEAST = 0.25  # weights nearer to 0 are dropped
_TEXT_LEAST = 0.4


def weigh_words(pages: Sequence[LabeledPage]) -> WordWeights:
    """Learn the weights of words from labeled pages."""
    names = _log_odds(pages, _name_votes, _NAME_SITES)
    words = _log_odds(pages, _text_votes, _TEXT_SITES)
    # Most short texts are not main text: the difference between a word and the others counts.
    middle = float(np.median(list(words.values()))) if words else 0.0
    return WordWeights(
        {word: weight for word, weight in names.items() if abs(weight) >= _NAME_LEAST},
        {word: weight - middle for word, weight in words.items() if abs(weight - middle) >= _TEXT_LEAST},
    )


_Votes = dict[str, tuple[float, float]]


def _log_odds(
    pages: Iterable[LabeledPage], votes: Callable[[LabeledPage], _Votes], least: int
) -> dict[str, float]:
    for_text: defaultdict[str, float] = defaultdict(float)
    against: defaultdict[str, float] = defaultdict(float)
    sites: defaultdict[str, set[str]] = defaultdict(set)
    for page in pages:
        for word, (yes, no) in votes(page).items():
            for_text[word] += yes
            against[word] += no
            sites[word].add(page.group)
    return {
        word: math.log((for_text[word] + 1) / (against[word] + 1))
        for word, seen in sites.items()
        if len(seen) >= least
    }


def _name_votes(page: LabeledPage) -> _Votes:
    """Return the votes of words in frame names: the share of main text in the largest frame with the word."""
    layout = page.layout
    mass = np.array(list(map(len, layout.texts)), dtype=np.float64) ** 0.75
    mass /= mass.sum()
    inside = np.concatenate([[0.0], np.cumsum(mass * page.labels)])
    outside = np.concatenate([[0.0], np.cumsum(mass * (1 - page.labels))])
    most: dict[str, tuple[float, float]] = {}
    for names, first, last in zip(layout.names, layout.first, layout.last, strict=True):
        if last == first:
            continue
        yes, no = inside[last] - inside[first], outside[last] - outside[first]
        for word in name_words(names):
            held = most.get(word, (0.0, 0.0))
            most[word] = (max(held[0], yes), max(held[1], no))
    votes = {}
    for word, (yes, no) in most.items():
        # A frame that holds a quarter of the page or more has a whole vote.
        strength = math.sqrt(min(1.0, 4 * (yes + no))) / max(1e-9, yes + no)
        votes[word] = (strength * yes, strength * no)
    return votes


def _text_votes(page: LabeledPage) -> _Votes:
    """Return the votes of words in short texts: one per word, divided like the labels of its texts."""
    yes: defaultdict[str, float] = defaultdict(float)
    seen: defaultdict[str, int] = defaultdict(int)
    for words, label in zip(text_words(page.layout.texts), page.labels, strict=True):
        for word in set(words):
            yes[word] += float(label)
            seen[word] += 1
    return {word: (yes[word] / count, 1 - yes[word] / count) for word, count in seen.items()}
