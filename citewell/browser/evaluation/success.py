"""The success of an episode: an accepted answer is in one of its quotes."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.browser.episode import Episode
from citewell.core.text import words

_ARTICLES = frozenset({"a", "an", "the"})


def succeeds(episode: Episode, answers: Sequence[str]) -> bool:
    """Return True if one of the episode's quotes contains one of the accepted answers."""
    return any(has_answer(quote.text, answers) for quote in episode.quotes)


def has_answer(text: str, answers: Sequence[str]) -> bool:
    """Return True if the text contains one of the answers as whole words.

    Case, punctuation and articles do not count, as in SQuAD's measures (https://arxiv.org/abs/1606.05250,
    §6.1).
    """
    inside = _normalized(text)
    return any(wanted.strip() and wanted in inside for wanted in map(_normalized, answers))


def _normalized(text: str) -> str:
    kept = (word for word in words(text.replace("'", "").replace("’", "")) if word not in _ARTICLES)
    return f" {' '.join(kept)} "
