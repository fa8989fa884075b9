"""The success of an episode: an accepted answer is in one of its quotes."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.browser.episode import Episode
from citewell.core.answers import has_answer


def succeeds(episode: Episode, answers: Sequence[str]) -> bool:
    """Return True if one of the episode's quotes contains one of the accepted answers."""
    return any(has_answer(quote.text, answers) for quote in episode.quotes)
