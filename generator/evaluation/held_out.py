"""The held-out questions, on which nothing may be trained."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from citewell.core.text import words

LIST = "held_out.txt"
"""The file beside this one with the digests of all held-out questions, one per line, sorted."""


def is_held_out(question: str) -> bool:
    """Return whether a question is a dev or test question of `python -m benchmarks.generation_set`.

    Case, punctuation and white space are ignored, and so is what a bootstrap adds to a question: `Explain: `
    before it, and the text of a post after its title and an empty line. Paraphrases are not found here;
    `citewell.core.near_duplicates` finds those.
    """
    bare = question.removeprefix("Explain: ")
    return not _held_out().isdisjoint(map(digest, (question, bare, bare.split("\n\n", 1)[0])))


def digest(question: str) -> str:
    """Return 16 hexadecimal digits that are the same for questions of the same words."""
    return hashlib.sha256(" ".join(words(question)).encode()).hexdigest()[:16]


@cache
def _held_out() -> frozenset[str]:
    return frozenset(
        files("citewell.generator.evaluation").joinpath(LIST).read_text(encoding="ascii").split()
    )
