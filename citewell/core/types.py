"""The values that travel through the pipeline, in the order in which a question meets them."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Outcome = Literal["answered", "retrieved", "no_evidence"]


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of a search provider: a page that may help to answer."""

    url: str
    title: str
    snippet: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph of a page. `headings` is its path of section titles, outermost first."""

    url: str
    title: str
    text: str
    headings: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """A stable id: the same text on the same page always has the same id."""
        return hashlib.sha256(f"{self.url}\n{self.text}".encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Page:
    """A page after extraction: its paragraphs in reading order.

    `notice` says what was left out, where a page was too long to be read to its end; `author` and `date`
    (YYYY-MM-DD, of publication) are empty where the page does not say.
    """

    url: str
    title: str
    passages: tuple[Passage, ...]
    notice: str = ""
    author: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Failure:
    """A page or a provider that gave nothing, and the reason, in words and as one word (docs/formats.md)."""

    url: str
    reason: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """A passage chosen for an answer. `number` is what citations point to, from 1.

    `score` is the inner product of the question's and the passage's vectors
    (WebGLM §3.1.2, https://arxiv.org/abs/2306.07906). `also` are other pages that hold almost the same text,
    and `date` (YYYY-MM-DD) is when its page was published, where that is known.
    """

    number: int
    url: str
    title: str
    text: str
    score: float
    also: tuple[str, ...] = ()
    date: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer and the references that it cites.

    `support` is the ROUGE-1 precision (0 to 1) of the sentence against the reference
    that supports it best; `supported` says whether that passes the threshold. A sentence that is
    not supported cites nothing.
    """

    text: str
    citations: tuple[int, ...]
    support: float
    supported: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """One possible answer with its checked sentences, and the score that the scorer gave it.

    `value` is the score less what its `unsupported` sentences cost, and `reason` says why it won or lost.
    `raw` is what the generator wrote, with its own marks.
    """

    sentences: tuple[Sentence, ...]
    score: float = 0.0
    raw: str = ""
    value: float = 0.0
    unsupported: int = 0
    reason: str = ""

    @property
    def text(self) -> str:
        """The answer as people read it: each sentence followed by its marks, as in `… [1][3]`."""
        return " ".join(
            s.text + (" " if s.citations else "") + "".join(f"[{n}]" for n in s.citations)
            for s in self.sentences
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question gets: the one documented object behind `--json` (see docs/formats.md).

    `best` is the place of the winner among `candidates`, from 0. `episode` is how the text browser found the
    references, as `citewell.browser.episode.Episode` in plain values, where it was browsed for them.
    """

    question: str
    outcome: Outcome
    answer: str
    sentences: tuple[Sentence, ...]
    references: tuple[Reference, ...]
    failures: tuple[Failure, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    best: int = 0
    notices: tuple[str, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    episode: dict[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain values, ready for `json.dumps`.

        Where only references were asked for, the keys of the written answer are left out; without browsing,
        that of the episode.
        """
        value = asdict(self)
        del value["best"]
        if self.episode is None:
            del value["episode"]
        value["candidates"] = [
            {
                "answer": candidate.text,
                "score": candidate.score,
                "value": candidate.value,
                "unsupported": candidate.unsupported,
                "won": place == self.best,
                "reason": candidate.reason,
            }
            for place, candidate in enumerate(self.candidates)
        ]
        if not self.models.get("generator"):
            for key in ("answer", "sentences", "candidates"):
                del value[key]
        return value
