"""The view of a finished answer: sentences, sources, and the words that support each sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citewell.core.markdown import SentenceHtml, is_code, sentences_html
from citewell.core.types import STATUS_WORDS, Failure, Sentence, SupportStatus
from citewell.server.api.schemas import AnswerResponse
from citewell.server.pages.markdown import as_markdown
from citewell.server.pages.plain_text import as_plain_text
from citewell.server.pages.related import Related, asked_alike, related_questions
from citewell.server.pages.source_view import (
    CitedSource,
    SourceCard,
    SourceLink,
    anchor_of,
    cited_source,
    source_link,
    source_pages,
)

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
class Citation:
    """A mark in a sentence, which leads to the passage that supports it."""

    number: int
    title: str
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceView:
    """A sentence of the answer, in words what the sources say of it, and why.

    `text` is as it was written, and `shown` as HTML.
    """

    number: int
    text: str
    shown: SentenceHtml
    is_code: bool
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
    end: str
    quotations: tuple[SentenceView, ...]
    sources: tuple[CitedSource, ...]
    cited: tuple[SourceCard, ...]
    uncited: tuple[SourceCard, ...]
    related: tuple[Related, ...]
    asked_alike: str
    unread: tuple[Unread, ...]
    stages: tuple[tuple[str, float], ...]
    seconds: float
    unsupported: int
    plain: str
    markdown: str


@dataclass(frozen=True, slots=True)
class TurnClaim:
    """A sentence of an earlier answer, with its marks as text."""

    shown: SentenceHtml
    marks: str
    supported: bool
    status: str


@dataclass(frozen=True, slots=True)
class TurnView:
    """An earlier question of a conversation, in short; `text` stands for an answer without sentences."""

    id: str
    question: str
    rewritten: str | None
    claims: tuple[TurnClaim, ...]
    end: str
    text: str


def turn_of(answer: AnswerResponse) -> TurnView:
    """Return an earlier question of a conversation, finished or not."""
    sentences = answer.sentences
    shown, end = sentences_html(sentences)
    claims = tuple(
        TurnClaim(
            html,
            "".join(f"[{number}]" for number in sentence.citations),
            sentence.supported,
            STATUS_WORDS[sentence.status],
        )
        for html, sentence in zip(shown, sentences, strict=True)
    )
    text = answer.answer or f"({answer.status})"
    return TurnView(answer.id, answer.question, answer.rewritten, claims, end, text)


def view_of(answer: AnswerResponse) -> AnswerPage:
    """Return the view of a finished answer."""
    sentences, references = answer.sentences, answer.references
    timings = answer.timings
    titles = {reference.number: source_link(reference.url, reference.title).title for reference in references}
    judged = "judge" in answer.models

    def claims_of(given: Sequence[Sentence]) -> tuple[tuple[SentenceView, ...], str]:
        shown, end = sentences_html(given)
        return tuple(
            _claim(number, shown[number], one, titles, judged=judged) for number, one in enumerate(given)
        ), end

    claims, end = claims_of(sentences)
    quotations = answer.quotations if not (claims and answer.fallback) else ()
    asked = "" if claims else answer.question
    sources = tuple(cited_source(each, sentences, answer.id, asked) for each in references)
    pages = source_pages(sources)
    stages = tuple((words, timings[name]) for name, words in _STAGES.items() if name in timings)
    return AnswerPage(
        claims=claims,
        end=end,
        quotations=claims_of(quotations)[0],
        sources=sources,
        cited=tuple(page for page in pages if page.is_cited),
        uncited=tuple(page for page in pages if not page.is_cited),
        related=related_questions(answer),
        asked_alike=asked_alike(answer),
        unread=tuple(_unread(failure) for failure in answer.failures),
        stages=stages,
        seconds=timings.get("total", answer.seconds or 0.0),
        unsupported=sum(not claim.supported for claim in claims),
        plain=as_plain_text(answer),
        markdown=as_markdown(answer),
    )


def _claim(
    number: int, shown: SentenceHtml, sentence: Sentence, titles: dict[int, str], *, judged: bool
) -> SentenceView:
    citations = tuple(
        Citation(cited, titles.get(cited, ""), anchor_of(number, cited)) for cited in sentence.citations
    )
    status = STATUS_WORDS[sentence.status]
    reason = (_JUDGED[sentence.status] if judged else _COMPARED).format(100 * sentence.support)
    return SentenceView(
        number=number,
        text=sentence.text,
        shown=shown,
        is_code=is_code(sentence),
        supported=sentence.supported,
        status=status,
        reason=reason,
        citations=citations,
    )


def _unread(failure: Failure) -> Unread:
    return Unread(source_link(failure.url), failure.reason)
