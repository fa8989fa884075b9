"""The view of a document: its passages, with the one that an answer cites."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.core.types import Page
from citewell.server.api.schemas import AnswerResponse
from citewell.server.pages.support import Piece, supporting

_SHOWN = 200  # passages
_BEFORE = 20


@dataclass(frozen=True, slots=True)
class PassageView:
    """A passage; `section` is set where it differs from that of the passage before."""

    section: str
    page_number: int | None
    pieces: tuple[Piece, ...]
    cited: bool


@dataclass(frozen=True, slots=True)
class DocumentView:
    """The passages from `start` of all `total`; `lost` is the text of a citation that is not among them."""

    passages: tuple[PassageView, ...]
    start: int
    total: int
    earlier: int | None
    later: int | None
    lost: tuple[Piece, ...] = ()


def document_view(page: Page, answer: AnswerResponse | None, number: int, start: int | None) -> DocumentView:
    """Return the view of a page, around the passage of the reference `number` unless `start` is given."""
    references = answer.references if answer and answer.references else []
    text = next((each.text for each in references if each.number == number), "")
    sentences = answer.sentences if answer and answer.sentences else []
    claims = " ".join(each.text for each in sentences if number in each.citations)
    texts = [passage.text for passage in page.passages]
    cited = texts.index(text) if text in texts else -1
    first = max(0, cited - _BEFORE) if start is None else min(start, max(0, len(texts) - 1))
    section, views = "", []
    for place, passage in enumerate(page.passages[first : first + _SHOWN], start=first):
        here = " › ".join(passage.headings)
        is_cited = place == cited
        pieces = supporting(claims, passage.text) if is_cited else (Piece(passage.text, supports=False),)
        views.append(PassageView(here if here != section else "", passage.page_number, pieces, is_cited))
        section = here
    last = first + _SHOWN
    return DocumentView(
        passages=tuple(views),
        start=first,
        total=len(texts),
        earlier=max(0, first - _SHOWN) if first else None,
        later=last if last < len(texts) else None,
        lost=supporting(claims, text) if text and cited < 0 else (),
    )
