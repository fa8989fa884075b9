"""The requests and replies for demonstrations and episodes, with their limits and examples."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from citewell.browser.episode import Ending
from citewell.server.api.schemas import Id, Name, Question

Status = Literal["browsing", "answering", "submitted"]


class DemonstrationRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A question to answer by hand with the text browser."""

    question: Question
    collection: Name | None = None
    actions: (
        Annotated[
            int,
            Meta(ge=1, le=1000, description="Max actions, repeated scrolls merged.", examples=[100]),
        ]
        | None
    ) = None
    reference: (
        Annotated[
            str,
            Meta(
                max_length=20_000,
                description="A known answer: pages that share ten words in a row with it are not shown.",
                examples=["The air of the Earth scatters blue light from the Sun more than red light."],
            ),
        ]
        | None
    ) = None


class ActionRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """One command of the text browser."""

    command: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=20_000,
            description="A command of WebGPT's Table 1.",
            examples=["Search why is the sky blue", "Clicked on link 0", "Quote: It scatters blue light."],
        ),
    ]
    after: Annotated[
        int,
        Meta(ge=0, description="The `count` of the demonstration that the client has seen.", examples=[0]),
    ]


class SubmissionRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The answer to the question, which cites the quotes by their numbers."""

    answer: (
        Annotated[
            str,
            Meta(
                max_length=20_000,
                description="Null if browsing ended without an answer.",
                examples=["The sky is blue because air scatters blue light most [1]."],
            ),
        ]
        | None
    ) = None


class PageLink(Struct, frozen=True):
    """A visible link. `domain` is null for links to the same site."""

    id: int
    text: str
    domain: str | None


class BrowserView(Struct, frozen=True):
    """The visible part of a page: lines `first` to `last`. Links in it are marked `【id†text†domain】`.

    `title` is null while no page is open.
    """

    title: str | None
    first: int
    last: int
    lines: int
    text: str
    links: list[PageLink]
    can_go_back: bool


class QuoteObject(Struct, frozen=True):
    """An extract of a page, which the answer cites by its number."""

    number: int
    title: str
    domain: str | None
    url: str
    text: str


class LastAction(Struct, frozen=True):
    """The last action: `reason` says why it was not valid."""

    command: str
    valid: bool
    reason: str | None


class Demonstration(Struct, frozen=True):
    """The current state of a demonstration. `last` is null before the first action, `ending` while
    browsing."""

    id: Id
    status: Status
    question: str
    created: datetime
    count: Annotated[int, Meta(description="Actions so far; send it as `after` with the next one.")]
    actions_left: Annotated[int, Meta(description="Remaining actions, repeated scrolls merged.")]
    quotes: list[QuoteObject]
    view: BrowserView
    last: LastAction | None
    ending: Ending | None


class DemonstrationSummary(Struct, frozen=True):
    """A demonstration in the list."""

    id: Id
    status: Status
    question: str
    created: datetime
    updated: datetime
    count: int


class DemonstrationList(Struct, frozen=True):
    """A page of the demonstrations, newest first; `next` is the `before` of the next page."""

    demonstrations: list[DemonstrationSummary]
    next: Id | None


class EpisodeStep(Struct, frozen=True):
    """A command, and the state before it as a model sees it."""

    state: str
    command: str
    kind: str
    reason: str | None = None
    title: str | None = None
    url: str | None = None
    tokens: int = 0
    seconds: float = 0.0


class EpisodeQuote(Struct, frozen=True):
    """An extract of a page."""

    title: str
    domain: str
    url: str
    text: str


class EpisodeExport(Struct, frozen=True):
    """A whole episode: one line of an export."""

    id: str
    question: str
    policy: str
    steps: list[EpisodeStep]
    quotes: list[EpisodeQuote]
    ending: Ending
    answer: str | None = None
    reward: float | None = None
    created: str | None = None
    seconds: float = 0.0
    about: dict[str, str] = {}
