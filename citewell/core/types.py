"""The value types of the pipeline, in the order in which a question meets them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from citewell.core.markdown import is_code, laid_out
from citewell.core.reasons import one_reason

Outcome = Literal["answered", "retrieved", "no_evidence"]
Fallback = Literal["unsupported", "irrelevant", "refused"]
SupportStatus = Literal["supported", "partly", "contradicted", "not_found"]
STATUS_WORDS: Mapping[SupportStatus, str] = {
    "supported": "supported",
    "partly": "partly supported",
    "contradicted": "contradicted",
    "not_found": "not supported",
}
"""The words that people read."""
LEFT_OUT = "Left out, an order to its reader"


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of a conversation, as it was asked or rewritten, and the text of its answer."""

    question: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search provider."""

    url: str
    title: str
    snippet: str = ""
    provider: str = ""


def title_path(title: str, headings: Sequence[str], text: str) -> str:
    """Return the title of a page and the headings above a text of it, as in `Kites, History, 1900 to 1914`.

    Models read it before the text, which often says neither what it is about nor when. Nothing is in it
    twice, nor the heading with which the text begins.
    """
    above = headings[:-1] if headings and text.startswith(headings[-1]) else headings
    return ", ".join(dict.fromkeys(filter(None, (title, *above))))


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a page. `headings` are the titles of its sections, outermost first.

    `page_number`, from 1, is where it begins in a PDF; it is None elsewhere.
    """

    url: str
    title: str
    text: str
    headings: tuple[str, ...] = ()
    page_number: int | None = None

    @property
    def id(self) -> str:
        """A stable id: the same text on the same page always has the same id."""
        return hashlib.sha256(f"{self.url}\n{self.text}".encode()).hexdigest()[:16]

    @property
    def title_path(self) -> str:
        """The title and the headings, as `title_path` joins them."""
        return title_path(self.title, self.headings, self.text)


@dataclass(frozen=True, slots=True)
class Page:
    """An extracted page: its paragraphs in reading order.

    `notice` describes the missing part of a page that was too long. `author` and `date` (of
    publication, YYYY-MM-DD) are empty if unknown, and so is `read`, the day on which it was read (UTC).
    """

    url: str
    title: str
    passages: tuple[Passage, ...]
    notice: str = ""
    author: str = ""
    date: str = ""
    read: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A page or provider that failed.

    `reason` is a sentence on one line, as `one_reason` returns it; `kind` is one word (listed in
    docs/formats.md), None if there is no word for it.
    """

    url: str
    reason: str
    kind: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", one_reason(self.reason))


@dataclass(frozen=True, slots=True)
class Reference:
    """A passage chosen for an answer. `number`, from 1, is what citations point to.

    `score` is the inner product of the question's and the passage's vectors
    (WebGLM §3.1.2, https://arxiv.org/abs/2306.07906). `duplicate_urls` are other pages with almost the same
    text, and `date` (YYYY-MM-DD) is when the page was published, or None if unknown. `headings` and
    `page_number` are the passage's. `read` is the day on which the page was read (UTC), or None if unknown.
    """

    number: int
    url: str
    title: str
    text: str
    score: float
    duplicate_urls: tuple[str, ...] = ()
    date: str | None = None
    headings: tuple[str, ...] = ()
    page_number: int | None = None
    orders: tuple[str, ...] = ()
    """Its sentences, title and headings included, that give orders to a language model: no evidence."""
    read: str | None = None

    @property
    def title_path(self) -> str:
        """The title and the headings, as `title_path` joins them."""
        return title_path(self.title, self.headings, self.text)

    @property
    def dated(self) -> str:
        """When the page was published or, for one of the web that does not say, as in `as of 2026-11-25`."""
        if self.date or not self.read or not self.url.startswith(("https://", "http://")):
            return self.date or ""
        return f"as of {self.read}"

    @property
    def section(self) -> str:
        """The section and the page number where it stands, as in `History, p. 3`."""
        page = () if self.page_number is None else (f"p. {self.page_number}",)
        return ", ".join((*filter(None, self.headings[-1:]), *page))

    @property
    def place(self) -> str:
        """The title, the section and the page number where it stands, as in `Kites, History, p. 3`."""
        return ", ".join(filter(None, (self.title, self.section)))


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer and the numbers of the references it cites.

    `support` (0 to 1) is the judge's probability that a reference says what the sentence says; where no model
    judges, its highest ROUGE-1 precision against any reference. `status` says more of a sentence that is not
    `supported`: the references say a part of it, the opposite, or nothing of it (also the default). An
    unsupported sentence cites nothing. `before` is the Markdown before the sentence if a model wrote it: its
    `text` is Markdown too then. It is None where the text is literal, as in quotations.
    """

    text: str
    citations: tuple[int, ...]
    support: float
    supported: bool
    status: SupportStatus = "not_found"
    before: str | None = None

    def __post_init__(self) -> None:
        if self.supported:
            object.__setattr__(self, "status", "supported")


def marked(sentence: Sentence, text: str) -> str:
    """Return the text of a sentence followed by its citations, as in `… [1][3]`, below it if it is code."""
    marks = "".join(f"[{number}]" for number in sentence.citations)
    return text + (("\n\n" if is_code(sentence) else " ") + marks if marks else "")


def marked_text(sentences: Iterable[Sentence]) -> str:
    """Return sentences as text, laid out as they were written, each followed by its citations."""
    return laid_out((each.before, marked(each, each.text)) for each in sentences)


def shown_references(sentences: Iterable[Sentence], references: Iterable[Reference]) -> list[Reference]:
    """Return the references that sentences cite; all of them if nothing is cited."""
    cited = {number for sentence in sentences for number in sentence.citations}
    return [reference for reference in references if reference.number in cited or not cited]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate answer: its checked sentences and the scorer's score.

    `adjusted_score` is the score minus the penalty for `unsupported` sentences, and `reason` says why it won
    or lost. `raw` is what the generator wrote, with its own citations.
    """

    sentences: tuple[Sentence, ...]
    score: float = 0.0
    raw: str = ""
    adjusted_score: float = 0.0
    unsupported: int = 0
    reason: str = ""

    @property
    def text(self) -> str:
        """The answer as text, each sentence followed by its citations, as in `… [1][3]`."""
        return marked_text(self.sentences)


_WRITTEN = ("answer", "sentences", "candidates", "quotations", "fallback", "episode", "rewritten")


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a question: the object that `--json` prints (docs/formats.md).

    `rewritten` is the question that was answered in place of a follow-up question; None otherwise. `best` is
    the index of the winner among `candidates`. `quotations` are what was shown while a language model wrote.
    `fallback` says why its text is not the answer: it is `unsupported`, or what is supported is `irrelevant`,
    since it does not answer, and quotations are the answer instead, or nothing is if a model judged it and
    finds that they do not answer; or it `refused`, saying that the references do not answer. `episode` is the
    browsing episode that found the references, as the plain values of `citewell.browser.episode.Episode`;
    None without browsing. `timings` are seconds per stage, `models` the name of the model of each role.
    """

    question: str
    outcome: Outcome
    answer: str
    sentences: tuple[Sentence, ...]
    references: tuple[Reference, ...]
    failures: tuple[Failure, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    best: int = 0
    quotations: tuple[Sentence, ...] = ()
    fallback: Fallback | None = None
    notices: tuple[str, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    episode: dict[str, Any] | None = None
    rewritten: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary of plain values, ready for `json.dumps`.

        What is not there is None. References alone, without a generator, have no keys of a written answer.
        """
        value = asdict(self)
        del value["best"]
        value["candidates"] = [
            {
                "answer": candidate.text,
                "score": candidate.score,
                "adjusted_score": candidate.adjusted_score,
                "unsupported": candidate.unsupported,
                "won": index == self.best and not self.fallback,
                "reason": candidate.reason,
            }
            for index, candidate in enumerate(self.candidates)
        ]
        if not self.models.get("generator"):
            for key in _WRITTEN:
                del value[key]
        return value

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the answer with its citations and their passages."""
        from citewell.core.answer_html import answer_html

        return answer_html(self)
