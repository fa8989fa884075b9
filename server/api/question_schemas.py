"""The requests that ask a question, with their options and limits."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from citewell.server.api.schemas import Id, Name, Question
from citewell.server.work.places import Place

MAX_PLACES = 8
"""Collections, and other places, that a question may search at once: they share `search.hits` pages."""

Domains = Annotated[
    list[Annotated[str, Meta(max_length=253)]],
    Meta(max_length=20, description="Use only pages of these domains.", examples=[["example.org"]]),
]


class SearchOptions(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Where references may come from, and how many. The settings of the service apply to omitted fields."""

    k: Annotated[int, Meta(ge=1, le=20, description="Max references.", examples=[5])] | None = None
    search: Annotated[
        Place | Annotated[list[Place], Meta(max_length=MAX_PLACES)] | None,
        Meta(
            description="Search Wikipedia, the web by all providers of the settings, or single ones of them, "
            "beside the collections that are named; by default, what is set up is searched.",
            examples=["wikipedia"],
        ),
    ] = None
    collection: Annotated[
        Name | Annotated[list[Name], Meta(max_length=MAX_PLACES)] | None,
        Meta(description="Search this collection, or each of several.", examples=["handbook"]),
    ] = None
    sites: Domains | None = None
    language: (
        Annotated[
            str,
            Meta(
                pattern=r"^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-[A-Za-z]{2})?$",
                description="Language of the pages.",
                examples=["de"],
            ),
        ]
        | None
    ) = None
    recency: Literal["day", "week", "month", "year"] | None = None


class AnswerOptions(SearchOptions, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How to find references and answer from them."""

    mode: (
        Annotated[
            Literal["answer", "browse"],
            Meta(
                description="With `browse`, a policy finds the references with the text browser; otherwise "
                "they are searched, fetched and ranked."
            ),
        ]
        | None
    ) = None
    actions: Annotated[int, Meta(ge=1, le=1000, description="Max browser actions.", examples=[30])] | None = (
        None
    )
    best_of: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=16,
                description="Number of candidate answers, of which the best is returned.",
                examples=[1],
            ),
        ]
        | None
    ) = None
    fresh: Annotated[bool, Meta(description="Do not reuse a cached answer.")] | None = None


class RetrieveRequest(SearchOptions, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A question to find references for."""

    question: Question


class AskRequest(AnswerOptions, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A question to answer."""

    question: Question
    thread: (
        Annotated[
            Id,
            Meta(
                description="The conversation that the question belongs to: the `thread` of its answers. A "
                "follow-up question is then rewritten as a question of its own."
            ),
        ]
        | None
    ) = None
    generator: (
        Annotated[
            str,
            Meta(
                max_length=200,
                description="Who writes the answer: `extractive`, which quotes, or a generator that the "
                "settings allow; by default that of the settings.",
                examples=["extractive"],
            ),
        ]
        | None
    ) = None
    stream: (
        Annotated[
            bool, Meta(description="Reply with events as they happen, as with `Accept: text/event-stream`.")
        ]
        | None
    ) = None
