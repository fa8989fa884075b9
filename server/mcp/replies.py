"""The replies of the tools: structured results, and the same as text for a language model to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel

from citewell.core.errors import CitewellError
from citewell.core.text import without_sentences
from citewell.core.types import STATUS_WORDS, Page
from citewell.server.mcp.results import (
    AskResult,
    PagePart,
    ReadResult,
    RetrieveResult,
    ToolReference,
    ToolSentence,
)

_CHARACTERS = 12_000  # of a page, in one reply


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


def page_reply(page: Page, start: int) -> CallToolResult:
    """Return the reply to `read`: the parts of a page from number `start` on, as many as fit."""
    total = len(page.passages)
    parts: list[PagePart] = []
    room = _CHARACTERS
    for number, passage in enumerate(page.passages[start - 1 :], start=start):
        room -= len(passage.text)
        if room < 0 and parts:
            break
        parts.append(PagePart(number=number, headings=list(passage.headings), text=passage.text))
    following = parts[-1].number + 1 if parts and parts[-1].number < total else None
    result = ReadResult(
        address=page.url,
        title=page.title,
        author=page.author or None,
        date=page.date or None,
        parts=parts,
        total=total,
        next=following,
        notice=page.notice or None,
    )
    about = ", ".join(filter(None, (page.title, page.author, page.date)))
    blocks = [f"{about}\n{page.url}".strip(), *_part_texts(parts)]
    if following is not None:
        blocks.append(f"Parts {following} to {total} are left: call read with start={following}.")
    return _reply(result, [*blocks, *map(_note, filter(None, [page.notice]))])


def error_reply(error: CitewellError) -> CallToolResult:
    """Return the reply of a tool that failed: what went wrong, and what to do about it."""
    text = "\n".join(filter(None, (error.message, error.hint)))
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def _reply(result: BaseModel, blocks: Sequence[str]) -> CallToolResult:
    content = TextContent(type="text", text="\n\n".join(blocks))
    return CallToolResult(content=[content], structured_content=result.model_dump(mode="json"))


def _references(body: dict[str, Any]) -> list[ToolReference]:
    return [
        ToolReference(
            number=found["number"],
            address=found["url"],
            title="" if found["title"] in found["orders"] else found["title"],
            headings=list(found["headings"]),
            page=found["page_number"],
            date=found["date"] or None,
            text=without_sentences(found["text"], found["orders"]),
            score=round(found["score"], 4),
        )
        for found in body["references"]
    ]


def _part_texts(parts: Iterable[PagePart]) -> Iterator[str]:
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
