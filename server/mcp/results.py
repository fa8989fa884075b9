"""The structured results of the tools; their schemas are sent to clients."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from citewell.core.types import SupportStatus


class ToolSentence(BaseModel):
    """A sentence of the answer."""

    text: str
    citations: list[int] = Field(description="Numbers of the references that support it.")
    support: float = Field(description="From 0 to 1.")
    supported: bool
    status: SupportStatus = Field(
        description="How far the references say it: supported, partly, contradicted or not_found."
    )


class ToolReference(BaseModel):
    """A passage that was found."""

    number: int
    address: str = Field(description="Pass it to the tool `read` for the whole page.")
    title: str
    headings: list[str] = Field(description="Titles of its sections, outermost first.")
    page: int | None = Field(description="Page number in a PDF.")
    date: str | None = Field(description="Day of publication, as YYYY-MM-DD.")
    text: str
    score: float


class AskResult(BaseModel):
    """An answer whose citations are checked."""

    question: str
    outcome: Literal["answered", "no_evidence"]
    answer: str
    sentences: list[ToolSentence]
    references: list[ToolReference] = Field(description="Only those that the answer cites.")
    notices: list[str]


class RetrieveResult(BaseModel):
    """Passages for a question, best first."""

    question: str
    outcome: Literal["retrieved", "no_evidence"]
    references: list[ToolReference]
    notices: list[str]


class ToolPart(BaseModel):
    """A passage of a page."""

    number: int
    headings: list[str]
    text: str


class ReadResult(BaseModel):
    """A page, or as many of its parts as fit into one reply."""

    address: str
    title: str
    author: str | None
    date: str | None
    parts: list[ToolPart]
    total: int = Field(description="Number of parts of the whole page.")
    next: int | None = Field(description="First part that is left; pass it as `start`.")
    notice: str | None
