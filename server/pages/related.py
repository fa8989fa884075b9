"""Questions to ask next, made from the titles and headings of the pages that an answer cites.

The rule writes English, so it is for questions in English. It leaves out what would read as nonsense:
titles and headings that are long, that have numbers or signs, or that name a part of any page, and titles
that are common nouns. The handbook has a table of contents in their place.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from citewell.core.text import STOP_WORDS, content_words, squeeze
from citewell.core.types import Reference
from citewell.generator.orders.marking import evidence_of
from citewell.pipeline.collections import HANDBOOK
from citewell.pipeline.conversation.related import MOST_RELATED
from citewell.retriever.rarity import beginnings
from citewell.server.api.schemas import AnswerResponse
from citewell.server.pages.modes import mode_of

_LONGEST = 100  # characters of a heading that is a question
_MOST_WORDS = 4
_ENGLISH = re.compile(
    r"(?:who|what|when|where|why|how|which|is|are|do|does|did|can|could|should|tell)\b", re.I
)
_LETTERS = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"[^\W\d_]+(?:[ '’-][^\W\d_]+)*")
_OF_ANY_QUESTION = frozenset(("about", "else", "known"))
_OF_ANY_PAGE = frozenset(
    "about abstract acknowledgements appendix article bibliography conclusion conclusions contact contents "  # noqa: SIM905
    "document examples external faq footnotes further gallery home index introduction links main notes "
    "other overview page preface reading references related see sources summary untitled welcome".split()
)


class Related(NamedTuple):
    """A question, and the address that asks it in the same way and of the same place."""

    text: str
    address: str


def related_questions(answer: AnswerResponse) -> tuple[Related, ...]:
    """Return up to three questions; none where the answer cites no page that they could be about."""
    if not _ENGLISH.match(answer.question):
        return ()
    references = evidence_of(answer.references)
    cited = {number for sentence in answer.sentences for number in sentence.citations}
    pages = {each.url for each in references if each.number in cited and not _is_of_handbook(each.url)}
    asked = set(content_words(f"{answer.question} {answer.rewritten or ''}"))
    named = _named(references)
    found = [
        *(text for each in references if each.url in pages for text in _of_section(each, named)),
        *(text for each in references if each.url in pages for text in _of_page(each, named)),
    ]
    new = [text for text in dict.fromkeys(found) if not set(content_words(text)) <= asked | _OF_ANY_QUESTION]
    same = asked_alike(answer)
    return tuple(Related(text, f"/?{urlencode({'q': text})}{same}") for text in new[:MOST_RELATED])


def asked_alike(answer: AnswerResponse) -> str:
    """Return the end of the address of a question that is asked in the same way and of the same places."""
    options = {name: answer.options[name] for name in ("collection", "search") if name in answer.options}
    same = options | ({"mode": mode} if (mode := mode_of(answer)) else {})
    return f"&{urlencode(same, doseq=True)}" if same else ""


def _named(references: Sequence[Reference]) -> frozenset[str]:
    """Return the addresses of the pages whose titles are names: their passages do not write them small."""
    small: dict[str, set[str]] = {}
    for each in references:
        found = small.setdefault(each.url, set())
        found |= beginnings(word for word in _LETTERS.findall(each.text) if word.islower())
    return frozenset(
        each.url
        for each in references
        if _is_name(squeeze(each.title)) and not _stems(each.title) <= small[each.url]
    )


def _of_section(reference: Reference, named: Container[str]) -> Iterator[str]:
    heading, title = squeeze("".join(reference.headings[-1:])), squeeze(reference.title)
    if heading.endswith("?") and _ENGLISH.match(heading) and len(heading) <= _LONGEST:
        yield heading
    elif reference.url in named and _is_part(heading) and not _stems(heading) & _stems(title):
        part = heading[0].lower() + heading[1:] if heading[1:2].islower() else heading
        yield f"What is known about the {part} of {title}?"


def _of_page(reference: Reference, named: Container[str]) -> Iterator[str]:
    if reference.url in named:
        yield f"What else is known about {squeeze(reference.title)}?"


def _stems(text: str) -> frozenset[str]:
    return beginnings(content_words(text))


def _is_name(text: str) -> bool:
    parts = text.lower().split()
    return _NAME.fullmatch(text) is not None and len(parts) <= _MOST_WORDS and not _OF_ANY_PAGE & {*parts}


def _is_part(heading: str) -> bool:
    """Return whether a heading is a noun: neither `In culture` nor `Keeping bats`."""
    first, _, rest = heading.lower().partition(" ")
    return _is_name(heading) and first not in STOP_WORDS and not (rest and first.endswith("ing"))


def _is_of_handbook(url: str) -> bool:
    return url.startswith(f"collection:{HANDBOOK}/")
