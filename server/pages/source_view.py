"""The view of the sources of an answer: their passages by page, with what of them supports each sentence."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from citewell.core.text import shorten
from citewell.core.types import Reference, Sentence
from citewell.core.windows import best_window
from citewell.server.pages.links import own_document, site_of, web_address
from citewell.server.pages.support import Piece, supporting

_LONGEST_TITLE = 160  # characters
_EXCERPT = 45  # words


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
    """A reference with its days of publication and of reading, its orders, and the sentences it supports.

    `section` says where on its page it stands. `excerpt` is the part of it that is shown at once: none where
    other references are cited in its place.
    """

    number: int
    url: str
    link: SourceLink
    section: str
    date: datetime.date | None
    read: datetime.date | None
    text: str
    excerpt: tuple[Piece, ...]
    orders: tuple[str, ...]
    also: tuple[SourceLink, ...]
    supports: tuple[Support, ...]

    @property
    def is_excerpt_whole(self) -> bool:
        """Whether the excerpt shows all that there is of the reference."""
        shown = "".join(piece.text for piece in self.excerpt)
        return shown == self.text and not self.orders and not self.also


@dataclass(frozen=True, slots=True)
class SourceCard:
    """A page with its passages."""

    passages: tuple[CitedSource, ...]

    @property
    def link(self) -> SourceLink:
        """The page at its first passage."""
        return self.passages[0].link

    @property
    def date(self) -> datetime.date | None:
        """The day on which the page was published."""
        return self.passages[0].date

    @property
    def read(self) -> datetime.date | None:
        """The day on which the page was read, if it is one of the web."""
        return self.passages[0].read

    @property
    def is_cited(self) -> bool:
        """Whether a passage of the page supports a sentence."""
        return any(passage.supports for passage in self.passages)

    @property
    def letter(self) -> str:
        """The first letter of the site, shown without its icon; empty for a page that is not of the web."""
        site = self.link.site if web_address(self.passages[0].url) else ""
        return next((sign.upper() for sign in site if sign.isalnum()), "")


def source_pages(sources: Iterable[CitedSource]) -> tuple[SourceCard, ...]:
    """Return the pages of sources in their order, each with all of its passages."""
    pages: dict[str, list[CitedSource]] = {}
    for source in sources:
        pages.setdefault(source.url, []).append(source)
    return tuple(SourceCard(tuple(passages)) for passages in pages.values())


def cited_source(
    reference: Reference, sentences: Sequence[Sentence], answer_id: str, question: str = ""
) -> CitedSource:
    """Return the view of a reference; `question` chooses the excerpt where no sentence cites anything."""
    supports = tuple(
        Support(
            anchor_of(number, reference.number),
            number,
            sentence.text,
            supporting(sentence.text, reference.text),
        )
        for number, sentence in enumerate(sentences)
        if reference.number in sentence.citations
    )
    link = source_link(reference.url, reference.title)
    own = own_document(reference.url, answer_id, reference.number)
    return CitedSource(
        number=reference.number,
        url=reference.url,
        link=SourceLink(link.title, link.site, own or link.href),
        section=reference.section,
        date=_day(reference.date),
        read=_day(reference.read) if link.href else None,
        text=reference.text,
        excerpt=_excerpt(reference.text, supports[0].words if supports else question),
        orders=reference.orders,
        also=tuple(source_link(url) for url in reference.duplicate_urls),
        supports=supports,
    )


def source_link(url: str, title: str = "") -> SourceLink:
    """Return a link to a page, which its address names if it has no title."""
    site = shorten(site_of(url), _LONGEST_TITLE)
    href = web_address(url)
    return SourceLink(shorten(title or href or site, _LONGEST_TITLE), site, href)


def anchor_of(sentence: int, reference: int) -> str:
    """Return the id, in the page, of a passage with its support of a sentence."""
    return f"s{sentence + 1}-r{reference}"


def _excerpt(text: str, claim: str) -> tuple[Piece, ...]:
    """Return the best part of a text for a claim, with its lines, which `best_window` joins."""
    if not claim:
        return ()
    best = best_window(text, claim, _EXCERPT)
    found = re.search(r"\s*".join(map(re.escape, best.split())), text)
    return supporting(claim, found[0] if found else best)


def _day(text: str | None) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if text else None
    except ValueError:
        return None
