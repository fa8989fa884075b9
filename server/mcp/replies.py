"""The replies of the tools: structured results, and the same as text for a language model to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel

from citewell.core.errors import CitewellError
from citewell.core.types import STATUS_WORDS, Reference
from citewell.generator.orders.marking import evidence_of, order_notices
from citewell.pipeline.reading import PagePart
from citewell.server.mcp.results import (
    AskResult,
    ReadResult,
    RetrieveResult,
    ToolPart,
    ToolReference,
    ToolSentence,
)


def answer_reply(body: dict[str, Any]) -> CallToolResult:
    """Return the reply to `ask`, from an answer as `Answer.to_json` writes it."""
    sentences = [ToolSentence.model_validate(sentence) for sentence in body["sentences"]]
    cited = {number for sentence in sentences for number in sentence.citations}
    references = [reference for reference in _references(body) if reference.number in cited]
    result = AskResult(
        question=body["question"],
        outcome=body["outcome"],
        answer=body["answer"],
        sentences=sentences,
        references=references,
        notices=body["notices"],
    )
    answer = " ".join(map(_marked, sentences)) or body["answer"]
    return _reply(result, [answer, *map(_reference_text, references), *map(_note, body["notices"])])


def references_reply(body: dict[str, Any]) -> CallToolResult:
    """Return the reply to `retrieve`, from an answer without a generator."""
    references = _references(body)
    result = RetrieveResult(
        question=body["question"],
        outcome=body["outcome"],
        references=references,
        notices=body["notices"],
    )
    first = [] if body["outcome"] == "retrieved" else ["No passage seems to answer the question."]
    return _reply(result, [*first, *map(_reference_text, references), *map(_note, body["notices"])])


def page_reply(part: PagePart) -> CallToolResult:
    """Return the reply to `read`: a part of a page, without the orders in it."""
    page, total = part.page, len(part.page.passages)
    byline, *passages = evidence_of([part.byline, *part.passages])
    last = part.passages[-1].number
    following = last + 1 if last < total else None
    title = passages[0].title
    notices = [*filter(None, [page.notice]), *order_notices([part.byline, *part.passages])]
    parts = [
        ToolPart(number=passage.number, headings=list(passage.headings), text=passage.text)
        for passage in passages
        if passage.text
    ]
    result = ReadResult(
        address=page.url,
        title=title,
        author=byline.title or None,
        date=page.date or None,
        parts=parts,
        total=total,
        next=following,
        notice=" ".join(notices) or None,
    )
    about = ", ".join(filter(None, (title, byline.title, page.date)))
    blocks = [f"{about}\n{page.url}".strip(), *_part_texts(parts)]
    if following is not None:
        blocks.append(f"Parts {following} to {total} are left: call read with start={following}.")
    return _reply(result, [*blocks, *map(_note, notices)])


def error_reply(error: CitewellError) -> CallToolResult:
    """Return the reply of a tool that failed: what went wrong, and what to do about it."""
    text = "\n".join(filter(None, (error.message, error.hint)))
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _reply(result: BaseModel, blocks: Sequence[str]) -> CallToolResult:
    content = TextContent(type="text", text="\n\n".join(blocks))
    return CallToolResult(content=[content], structured_content=result.model_dump(mode="json"))


def _references(body: dict[str, Any]) -> list[ToolReference]:
    """Return the references of an answer without their orders, which its notices count."""
    found = evidence_of(msgspec.convert(body["references"], tuple[Reference, ...]))
    return [
        ToolReference(
            number=reference.number,
            address=reference.url,
            title=reference.title,
            headings=list(reference.headings),
            page=reference.page_number,
            date=reference.date or None,
            text=reference.text,
            score=round(reference.score, 4),
        )
        for reference in found
        if reference.text
    ]


def _part_texts(parts: Iterable[ToolPart]) -> Iterator[str]:
    """Yield each part, with its heading where that changes and the text does not begin with it."""
    above: list[str] = []
    for part in parts:
        heading = part.headings[-1] if part.headings and part.headings != above else ""
        is_new = heading and not part.text.startswith(heading)
        yield f"[{part.number}] {f'{heading}: ' if is_new else ''}{part.text}"
        above = part.headings


def _marked(sentence: ToolSentence) -> str:
    marks = "".join(f"[{number}]" for number in sentence.citations)
    return f"{sentence.text} {marks or f'[{STATUS_WORDS[sentence.status]}]'}"


def _reference_text(reference: ToolReference) -> str:
    page = () if reference.page is None else (f"p. {reference.page}",)
    place: Iterable[str | None] = (reference.title, *reference.headings[-1:], *page, reference.date)
    return f"[{reference.number}] {', '.join(filter(None, place))}\n{reference.address}\n{reference.text}"


def _note(notice: str) -> str:
    return f"Note: {notice}"
