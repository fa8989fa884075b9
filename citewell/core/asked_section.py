"""The section of a page that a question asks for: `What are the causes of X?` asks for `Causes` on page X."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.core.subject import IS, is_about, name_key

_OF = re.compile(
    rf"(?:what{IS}|which{IS}|describe|explain|(?:please )?tell me about)?\s*"
    r"(?:the |some )?(?:\w+ )??(?P<aspect>\w+) of (?P<subject>.+)",
    re.IGNORECASE,
)
_OWN = re.compile(rf"(?:what{IS}|describe|explain)?\s*(?P<subject>.+?)['’]s? (?P<aspect>\w+)", re.IGNORECASE)
_CAUSED = re.compile(
    r"what (?:ha[sd] |have )?(?:caused?|causes|led to) (?P<what>.+)|"
    r"why (?:do|does|did) (?P<event>.+?) (?:begin|start|happen|occur|break out)",
    re.IGNORECASE,
)
_CAUSES = frozenset(map(name_key, ("cause", "background")))
_JOINS = re.compile(r"\s*[,/&:;]\s*|\s+(?:and|or|of|in|for|on|to|from)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class AskedSection:
    """What is asked of a subject: words of headings; all as `citewell.core.subject.name_key` writes them."""

    aspects: frozenset[str]
    subject: str

    def certainty(self, title: str, headings: Sequence[str]) -> float:
        """Return how surely a section of a page is the one: as the page is on the subject, or 0."""
        if self.aspects.isdisjoint(aspect for heading in headings for aspect in _aspects_of(heading)):
            return 0.0
        return is_about(self.subject, title)


def _aspects_of(heading: str) -> Iterator[str]:
    """Yield what a heading names: `history` and `culture` of `Early history and culture of Asia`."""
    for part in _JOINS.split(heading):
        yield from name_key(part).split()[-1:]


def asked_section(question: str) -> AskedSection | None:
    """Return what the question asks of a subject; None if it asks something else.

    Whether that is a section only the headings of the subject's page can tell.
    """
    text = question.strip().rstrip("?!. ").strip()
    if found := _CAUSED.fullmatch(text):
        return _section(found["what"] or found["event"], "cause")
    found = _OF.fullmatch(text) or _OWN.fullmatch(text)
    return _section(found["subject"], found["aspect"]) if found else None


def _section(subject: str, aspect: str) -> AskedSection:
    key = name_key(aspect)
    return AskedSection(_CAUSES if key in _CAUSES else frozenset({key}), name_key(subject))
