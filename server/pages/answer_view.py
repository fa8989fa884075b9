"""The view of a finished answer: sentences, sources, and the words that support each sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from citewell.core.text import shorten
from citewell.core.types import STATUS_WORDS, Failure, Reference, Sentence, SupportStatus
from citewell.server.api.schemas import AnswerResponse
from citewell.server.pages.links import own_document, site_of, web_address
from citewell.server.pages.markdown import as_markdown
from citewell.server.pages.support import Piece, supporting

_LONGEST_TITLE = 160  # characters
_COMPARED = (
    "The closest source contains {:.0f}% of its content words. A supporting source must contain enough of "
    "them, and every number and name."
)
_ASKED = " Asked whether the closest source says all of it, the language model finds yes {:.0f}% likely."
_JUDGED: Mapping[SupportStatus, str] = {
    "supported": "A source says all of it.",
    "partly": "The sources say a part of it." + _ASKED,
    "contradicted": "The closest source has its words and seems to say otherwise." + _ASKED,
    "not_found": "No source says it." + _ASKED,
}
_STAGES = {
    "browse": "Browsing",
    "search": "Searching",
    "fetch": "Reading pages",
    "rank": "Choosing passages",
    "quote": "Quoting",
    "generate": "Writing",
    "check": "Checking citations",
    "score": "Choosing the answer",
}


@dataclass(frozen=True, slots=True)
class SourceLink:
    """A page: its title, its site, and its URL if that may become a link."""

    title: str
    site: str
    href: str | None


@dataclass(frozen=True, slots=True)
class Support:
    """A passage with its support of a sentence marked; `anchor` is its id in the page."""

    anchor: str
    sentence: int
    words: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedSource:
    """A reference with the day of its publication, its orders, and the sentences that it supports."""

    number: int
    link: SourceLink
    date: date | None
    text: str
    orders: tuple[str, ...]
    also: tuple[SourceLink, ...]
    supports: tuple[Support, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """A mark in a sentence, which leads to the passage that supports it."""

    number: int
    title: str
    anchor: str


@dataclass(frozen=True, slots=True)
class SentenceView:
    """A sentence of the answer, in words what the sources say of it, and why."""

    number: int
    text: str
    supported: bool
    status: str
    reason: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Unread:
    """A page or provider that could not be read, and the reason."""

    link: SourceLink
    reason: str


@dataclass(frozen=True, slots=True)
class AnswerPage:
    """The values that the template needs in addition to the answer."""

    claims: tuple[SentenceView, ...]
    quotations: tuple[SentenceView, ...]
    sources: tuple[CitedSource, ...]
    unread: tuple[Unread, ...]
    stages: tuple[tuple[str, float], ...]
    seconds: float
    unsupported: int
    markdown: str


@dataclass(frozen=True, slots=True)
class TurnClaim:
    """A sentence of an earlier answer, with its marks as text."""

    text: str
    marks: str
    supported: bool
    status: str


@dataclass(frozen=True, slots=True)
class TurnView:
    """An earlier question of a conversation, in short; `text` stands for an answer without sentences."""

    id: str
    question: str
    rewritten: str
    claims: tuple[TurnClaim, ...]
    text: str


def turn_of(answer: AnswerResponse) -> TurnView:
    """Return an earlier question of a conversation, finished or not."""
    claims = tuple(
        TurnClaim(
            sentence.text,
            "".join(f"[{number}]" for number in sentence.citations),
            sentence.supported,
            STATUS_WORDS[sentence.status],
        )
        for sentence in answer.sentences or []
    )
    text = answer.answer or f"({answer.status})"
    return TurnView(answer.id, answer.question, answer.rewritten, claims, text)


def view_of(answer: AnswerResponse) -> AnswerPage:
    """Return the view of a finished answer."""
    sentences, references = answer.sentences or [], answer.references or []
    timings = answer.timings or {}
    titles = {reference.number: _link(reference.url, reference.title).title for reference in references}
    judged = "judge" in (answer.models or {})

    def claims_of(given: Sequence[Sentence]) -> tuple[SentenceView, ...]:
        return tuple(_claim(number, one, titles, judged=judged) for number, one in enumerate(given))

    claims = claims_of(sentences)
    rejected = answer.fallback == "unsupported" and not claims
    quotations = answer.quotations if rejected or not answer.fallback else ()
    stages = tuple((words, timings[name]) for name, words in _STAGES.items() if name in timings)
    return AnswerPage(
        claims=claims,
        quotations=claims_of(quotations),
        sources=tuple(_source(reference, sentences, answer.id) for reference in references),
        unread=tuple(_unread(failure) for failure in answer.failures or []),
        stages=stages,
        seconds=timings.get("total", answer.seconds or 0.0),
        unsupported=sum(not claim.supported for claim in claims),
        markdown=as_markdown(answer),
    )


def _claim(number: int, sentence: Sentence, titles: dict[int, str], *, judged: bool) -> SentenceView:
    citations = tuple(
        Citation(cited, titles.get(cited, ""), _anchor(number, cited)) for cited in sentence.citations
    )
    status = STATUS_WORDS[sentence.status]
    reason = (_JUDGED[sentence.status] if judged else _COMPARED).format(100 * sentence.support)
    return SentenceView(number, sentence.text, sentence.supported, status, reason, citations)


def _source(reference: Reference, sentences: Sequence[Sentence], answer_id: str) -> CitedSource:
    supports = tuple(
        Support(
            _anchor(number, reference.number),
            number,
            sentence.text,
            supporting(sentence.text, reference.text),
        )
        for number, sentence in enumerate(sentences)
        if reference.number in sentence.citations
    )
    also = tuple(_link(url, "") for url in reference.duplicate_urls)
    link = _link(reference.url, reference.place)
    if own := own_document(reference.url, answer_id, reference.number):
        link = replace(link, href=own)
    return CitedSource(
        number=reference.number,
        link=link,
        date=_day(reference.date),
        text=reference.text,
        orders=reference.orders,
        also=also,
        supports=supports,
    )


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _unread(failure: Failure) -> Unread:
    return Unread(_link(failure.url, ""), failure.reason)


def _link(url: str, title: str) -> SourceLink:
    site = shorten(site_of(url), _LONGEST_TITLE)
    href = web_address(url)
    return SourceLink(shorten(title or href or site, _LONGEST_TITLE), site, href)


def _anchor(sentence: int, reference: int) -> str:
    return f"s{sentence + 1}-r{reference}"
