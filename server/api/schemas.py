"""The requests and replies of the API, with their limits and examples."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from citewell.core.types import Failure, Fallback, Reference, Sentence

Question = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=20_000,
        description="The question, of at most `question_characters` characters, 4,000 unless set.",
        examples=["Why is the sky blue?"],
    ),
]
Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        description="The name of a collection.",
        examples=["handbook"],
    ),
]
Id = Annotated[
    str, Meta(max_length=64, description="An id.", examples=["019aa8f2-7c1b-7d3e-9f54-0c2f8a1b6e3d"])
]
Comment = Annotated[
    str, Meta(max_length=10_000, description="A comment in plain text.", examples=["Just what I needed."])
]
Rating = Annotated[
    int,
    Meta(
        ge=-2,
        le=2,
        description="From -2, the first answer is much better, to 2, the second is; 0 is a tie.",
        examples=[1],
    ),
]
Text = Annotated[str, Meta(min_length=1, max_length=100_000)]


class FeedbackRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """Feedback on an answer: a thumb, a comment, or a sentence that is not supported."""

    thumb: (
        Annotated[int, Meta(ge=-1, le=1, description="1 up, -1 down; 0 alone takes it back.", examples=[1])]
        | None
    ) = None
    comment: Comment | None = None
    sentence: (
        Annotated[
            int,
            Meta(
                ge=0,
                description="Number of the sentence that is not supported, from 0.",
                examples=[0],
            ),
        ]
        | None
    ) = None


class ComparedAnswer(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """An answer to compare: the id of a stored answer, or any text with its references."""

    answer_id: Id | None = None
    text: Text | None = None
    references: Annotated[list[Text], Meta(max_length=50)] = []


class ReferenceTrust(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The trustworthiness of a reference of an answer."""

    reference: Annotated[int, Meta(ge=1, description="Its number, from 1.", examples=[1])]
    trust: Annotated[Literal["low", "medium", "high"], Meta(examples=["high"])]


class ClaimRating(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """The support of a sentence, by a reference or by common knowledge, and its relevance."""

    sentence: Annotated[int, Meta(ge=0, description="Its number, from 0.", examples=[0])]
    support: Annotated[Literal["none", "weak", "strong"], Meta(examples=["strong"])] | None = None
    relevance: Annotated[Literal["none", "side", "core"], Meta(examples=["core"])] | None = None


class AnnotatedAnswer(ComparedAnswer, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """One of two answers, with ratings of its references and sentences."""

    trust: Annotated[list[ReferenceTrust], Meta(max_length=50)] = []
    claims: Annotated[list[ClaimRating], Meta(max_length=200)] = []


class ComparisonRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A choice between two answers, as WebGPT's raters made it (appendix C.2).

    All four ratings are needed, unless the question is flagged.
    """

    question: Question
    answers: Annotated[list[AnnotatedAnswer], Meta(min_length=2, max_length=2)]
    flag: (
        Annotated[
            Literal["unclear", "unsuitable"],
            Meta(description="The question makes no sense, or should have no answer."),
        ]
        | None
    ) = None
    usefulness: Rating | None = None
    coherence: Rating | None = None
    unsupported: Rating | None = None
    overall: Rating | None = None
    comment: Comment | None = None


class RankingRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """An order of several answers, as InstructGPT's raters gave it (§3.4)."""

    question: Question
    answers: Annotated[list[ComparedAnswer], Meta(min_length=2, max_length=9)]
    ranks: Annotated[
        list[Annotated[int, Meta(ge=1, le=9)]],
        Meta(
            min_length=2,
            max_length=9,
            description="The rank of each answer, in the same order: 1 is the best, equal ones are ties.",
            examples=[[2, 1, 2]],
        ),
    ]
    comment: Comment | None = None


RaterName = Annotated[
    str, Meta(max_length=100, description="Who rates, where the service has no keys.", examples=["Ada"])
]
Scores = Annotated[dict[Annotated[str, Meta(max_length=40)], int], Meta(max_length=20)]


class RatingRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A rater's opinion of an answer and its references, on WebGLM's scales (Tables 20 and 21)."""

    answer: Annotated[
        Scores,
        Meta(
            description="The scores of the answer by scale.",
            examples=[
                {"fluency": 3, "correctness": 2, "citations": 3, "objectivity": 1, "redundancy": 0},
            ],
        ),
    ]
    references: Annotated[
        list[Scores],
        Meta(
            max_length=50,
            description="The scores of each reference by scale, in their order.",
            examples=[[{"relevancy": 3, "density": 2, "truthfulness": 1, "toxicity": 0, "bias": 0}]],
        ),
    ]
    rater: RaterName | None = None


class IndexRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A source to index into a collection, which is created if it does not exist."""

    name: Name
    source: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=8_000,
            description="A file or folder within the setting `server.sources`, or the URL of a site.",
            examples=["https://example.org/"],
        ),
    ]


class Created(Struct, frozen=True):
    """The id of the stored row."""

    id: Id


class CandidateObject(Struct, frozen=True):
    """One of the candidate answers."""

    answer: str
    score: float
    adjusted_score: float
    unsupported: int
    won: bool
    reason: str


class ProblemDetails(Struct, frozen=True, omit_defaults=True):
    """Problem details (RFC 9457). What is not known of a problem is left out, as that format wants it."""

    type: Annotated[str, Meta(examples=["/problems/queue-full"])]
    title: str
    status: int
    detail: str
    instance: str | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    errors: list[dict[str, str]] | UnsetType = UNSET


class ProblemType(Struct, frozen=True):
    """A type of problem."""

    type: str
    title: str
    status: int


class RetrieveResponse(Struct, frozen=True):
    """The references of a question."""

    question: str
    outcome: Literal["retrieved", "no_evidence"]
    references: list[Reference]
    failures: list[Failure]
    notices: list[str]
    timings: dict[str, float]
    models: dict[str, str]


class AnswerResponse(Struct, frozen=True):
    """A question and, once its `status` is `done`, its answer.

    Until then, what there is no answer for is null, and lists are empty.
    """

    id: Id
    status: Literal["running", "done", "failed", "cancelled"]
    question: str
    created: datetime
    thread: Annotated[Id, Meta(description="The conversation: the id of its first answer.")]
    rewritten: (
        Annotated[str, Meta(description="The question that was answered in place of a follow-up question.")]
        | None
    ) = None
    seconds: Annotated[float, Meta(description="Seconds from the request to the answer.")] | None = None
    cached: Annotated[bool, Meta(description="Whether the answer came from the cache.")] = False
    mode: Annotated[
        Literal["answer", "browse", "demonstration"],
        Meta(description="A `demonstration` was written by a person."),
    ] = "answer"
    options: dict[str, Any] = {}
    outcome: Literal["answered", "no_evidence"] | None = None
    answer: str | None = None
    sentences: list[Sentence] = []
    references: list[Reference] = []
    failures: list[Failure] = []
    candidates: list[CandidateObject] = []
    quotations: Annotated[
        list[Sentence], Meta(description="What was shown while a language model wrote.")
    ] = []
    fallback: (
        Annotated[
            Fallback,
            Meta(
                description="Why a language model's text is not the answer: it is `unsupported` or "
                "`irrelevant`, and quotations are the answer instead, or nothing is; or it `refused`."
            ),
        ]
        | None
    ) = None
    notices: list[str] = []
    timings: dict[str, float] = {}
    models: dict[str, str] = {}
    problem: ProblemDetails | None = None


class RelatedQuestions(Struct, frozen=True):
    """Questions to ask next, at most three."""

    questions: list[str]


class AnswerSummary(Struct, frozen=True):
    """A question of the history."""

    id: Id
    status: Literal["running", "done", "failed", "cancelled"]
    question: str
    created: datetime
    seconds: float | None
    thread: Id


class AnswerList(Struct, frozen=True):
    """A page of the history, newest first; `next` is the `before` of the next page."""

    answers: list[AnswerSummary]
    next: Id | None


Title = Annotated[
    str, Meta(min_length=1, max_length=200, pattern=r"\S", description="A name.", examples=["Rivers"])
]


class RenameRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A new name for a conversation."""

    title: Title


class ThreadSummary(Struct, frozen=True):
    """A conversation: its name or first question, and the times of its first and its last question."""

    id: Id
    title: str
    questions: Annotated[int, Meta(description="Number of questions.")]
    created: datetime
    updated: datetime


class ThreadList(Struct, frozen=True):
    """A page of the conversations, newest first; `next` is the `before` of the next page."""

    threads: list[ThreadSummary]
    next: Id | None


class ThreadResponse(Struct, frozen=True):
    """A conversation with its questions and answers, oldest first."""

    id: Id
    title: str
    answers: list[AnswerResponse]


class CollectionSummary(Struct, frozen=True):
    """A collection. `problem` says why it cannot be searched, if so."""

    name: Name
    pages: int | None
    bytes: int | None
    vectors: bool
    sources: list[str]
    problem: str | None = None


class ReaderList(Struct, forbid_unknown_fields=True, frozen=True):
    """The names of the keys and accounts that may read a collection; without any, everyone may."""

    keys: Annotated[
        list[Annotated[str, Meta(max_length=200)]],
        Meta(max_length=1000, description="Names of keys.", examples=[["Ada's laptop"]]),
    ] = []
    accounts: Annotated[
        list[Annotated[str, Meta(max_length=200)]],
        Meta(max_length=1000, description="Names of accounts.", examples=[[]]),
    ] = []


class SearchPlace(Struct, frozen=True):
    """A place that a question may name in `search`; `title` is for people."""

    name: str
    title: str


class CollectionList(Struct, frozen=True):
    """All collections, by name; `searched` is the one that is searched by default."""

    collections: list[CollectionSummary]
    searched: str | None
    providers: Annotated[list[str], Meta(description="The search providers that are set up.")] = []
    places: Annotated[list[SearchPlace], Meta(description="What `search` may name in a question.")] = []


class DocumentResult(Struct, frozen=True):
    """What became of a document that was added; `reason` says why it was skipped, or what was not read."""

    name: str
    status: Literal["waiting", "indexed", "unchanged", "skipped"]
    reason: str | None = None
    url: str | None = None
    title: str | None = None
    passages: int | None = None


class DocumentSummary(Struct, frozen=True):
    """A document of a collection."""

    url: str
    title: str
    passages: int
    date: Annotated[str, Meta(description="The day on which it was published, if it says so.")] | None = None


class DocumentList(Struct, frozen=True):
    """A page of the documents of a collection; `next` is the `after` of the next page."""

    documents: list[DocumentSummary]
    total: Annotated[int, Meta(description="Number of documents in the collection.")]
    next: str | None


class JobObject(Struct, frozen=True):
    """A background job."""

    id: Id
    kind: str
    status: Literal["running", "done", "failed", "cancelled", "interrupted"]
    done: int
    total: int | None
    message: str
    created: datetime
    updated: datetime
    arguments: dict[str, Any]
    documents: Annotated[
        list[DocumentResult] | None, Meta(description="For documents that were added: what became of each.")
    ] = None


class JobList(Struct, frozen=True):
    """A page of the jobs, newest first; `next` is the `before` of the next page."""

    jobs: list[JobObject]
    next: Id | None


class Health(Struct, frozen=True):
    """The process is running."""

    status: Literal["ok"] = "ok"


class Ready(Struct, frozen=True):
    """Whether questions are accepted. `parts` says `ready` for each part, or why it is not."""

    ready: bool
    parts: dict[str, str]
    running: int
    waiting: int


def to(shape: type[Any], values: Any) -> Any:
    """Convert values to one of the schemas above."""
    return msgspec.convert(values, shape, from_attributes=True)
