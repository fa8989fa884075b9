"""The one way a question travels: search, fetch, extract, rank, generate, check, score."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field

from core.errors import ExtractionError, InputError
from core.events import Done, Event, Failed, Fetched, Notice, Ranked, Scored, Searched
from core.types import Answer, Candidate, Failure, Hit, Page, Passage, Reference, Sentence, Status
from generator.backend import GeneratorBackend
from generator.citations.correction import check_citations
from retriever.extract.page import extract
from retriever.fetch.download import Download
from retriever.fetch.pages import Get, fetch_all
from retriever.rank import Ranker
from retriever.search.provider import PageSource, SearchProvider
from scorer.scorer import Scorer

NO_EVIDENCE = "No evidence for an answer was found."


@dataclass(frozen=True, slots=True)
class Limits:
    """The numbers of a pipeline; `core.settings` describes each."""

    hits: int
    k: int
    deadline: float
    min_relevance: float
    threshold: float
    drop_unsupported: bool
    best_of: int
    question_characters: int


@dataclass
class _Run:
    """What a question has gathered so far."""

    question: str
    failures: list[Failure] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    references: tuple[Reference, ...] = ()
    relevant: bool = False
    candidates: tuple[Candidate, ...] = ()
    best: int = 0
    timings: dict[str, float] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the seconds that the block takes to the stage's."""
        before = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - before
            self.timings[stage] = round(self.timings.get(stage, 0.0) + spent, 4)


class Pipeline:
    """Answers questions; every part of Citewell that needs an answer or references calls it.

    `pages` holds the pages of collections; what it does not hold is fetched with `get`.
    """

    def __init__(
        self,
        search: SearchProvider,
        pages: PageSource | None,
        get: Get,
        ranker: Ranker,
        generator: GeneratorBackend,
        scorer: Scorer,
        limits: Limits,
        notices: Sequence[str] = (),
    ) -> None:
        """Compose a pipeline from its parts; `pipeline.build` does so from settings."""
        self._search = search
        self._pages = pages
        self._get = get
        self._ranker = ranker
        self._generator = generator
        self._scorer = scorer
        self._limits = limits
        self._notices = tuple(notices)

    async def ask(self, question: str) -> AsyncGenerator[Event, None]:
        """Answer a question as a stream of events, of which the last is `Done`.

        Raises `InputError` for a question that is empty or too long, and `SearchError` when the
        search failed as a whole. A page that fails is an event and never ends the stream.
        """
        run = _Run(self._checked(question))
        for notice in self._notices:
            yield Notice(notice)
        async with aclosing(self._retrieve(run)) as events:
            async for event in events:
                yield event
        if run.relevant:
            async with aclosing(self._generate(run)) as events:
                async for event in events:
                    yield event
        yield Done(self._answer(run))

    async def retrieve(self, question: str) -> AsyncGenerator[Event, None]:
        """Find the references of a question only: `ask` without its second half."""
        run = _Run(self._checked(question))
        async with aclosing(self._retrieve(run)) as events:
            async for event in events:
                yield event
        yield Done(self._answer(run, written=False))

    def _checked(self, question: str) -> str:
        # Lone surrogates come from JSON and from arguments that are no UTF-8; tokenizers refuse them.
        question = question.encode(errors="replace").decode().strip()
        if not question:
            raise InputError("The question is empty.", 'Ask something, such as "Why is the sky blue?"')
        if len(question) > self._limits.question_characters:
            raise InputError(
                f"The question has {len(question):,} characters; at most "
                f"{self._limits.question_characters:,} are read.",
                "Shorten it, or raise the setting question_characters.",
            )
        return question

    async def _retrieve(self, run: _Run) -> AsyncGenerator[Event, None]:
        with run.timed("search"):
            hits = await self._search.search(run.question, self._limits.hits)
        yield Searched(tuple(hits))
        with run.timed("fetch"):
            async with aclosing(self._fetch(hits)) as outcomes:
                async for outcome in outcomes:
                    if isinstance(outcome, Failure):
                        run.failures.append(outcome)
                        yield Failed(outcome)
                        continue
                    run.passages.extend(outcome.passages)
                    seconds = round(time.perf_counter() - run.started, 3)
                    yield Fetched(outcome.url, outcome.title, len(outcome.passages), seconds)
        with run.timed("rank"):
            run.references = await asyncio.to_thread(
                self._ranker.rank, run.question, run.passages, self._limits.k
            )
        best = max((reference.score for reference in run.references), default=-1.0)
        run.relevant = best >= self._limits.min_relevance
        yield Ranked(run.references, run.relevant)

    async def _fetch(self, hits: Sequence[Hit]) -> AsyncGenerator[Page | Failure, None]:
        elsewhere = []
        for hit in hits:
            page = self._pages.page(hit.url) if self._pages else None
            if page:
                yield page
            else:
                elsewhere.append(hit)
        titles = {hit.url: hit.title for hit in elsewhere}
        async with aclosing(fetch_all(titles, self._get, self._limits.deadline)) as outcomes:
            async for outcome in outcomes:
                if isinstance(outcome, Failure):
                    yield outcome
                else:
                    yield await asyncio.to_thread(_extracted, outcome, titles[outcome.requested])

    async def _generate(self, run: _Run) -> AsyncGenerator[Event, None]:
        texts: dict[int, list[str]] = {}
        with run.timed("generate"):
            tokens = self._generator.generate(run.question, run.references, self._limits.best_of)
            async with aclosing(tokens) as stream:
                async for token in stream:
                    run.timings.setdefault("first_token", round(time.perf_counter() - run.started, 4))
                    texts.setdefault(token.candidate, []).append(token.text)
                    yield token
        with run.timed("check"):
            answers = dict.fromkeys("".join(texts[candidate]).strip() for candidate in sorted(texts))
            threshold = self._limits.threshold
            checked = [check_citations(answer, run.references, threshold) for answer in answers if answer]
            scores = self._scorer.score(run.question, checked)
        run.candidates = tuple(
            Candidate(self._shown(sentences), score) for sentences, score in zip(checked, scores, strict=True)
        )
        if run.candidates:
            run.best = scores.index(max(scores))
            yield Scored(run.candidates, run.best)

    def _shown(self, sentences: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
        # After scoring: an answer does not get better by leaving out what nothing supports.
        if self._limits.drop_unsupported:
            return tuple(sentence for sentence in sentences if sentence.supported)
        return sentences

    def _answer(self, run: _Run, *, written: bool = True) -> Answer:
        best = run.candidates[run.best] if run.candidates else Candidate(())
        status: Status = "answered" if written else "retrieved"
        if not (any(sentence.supported for sentence in best.sentences) if written else run.relevant):
            status, best = "no_evidence", Candidate(())
        run.timings["total"] = round(time.perf_counter() - run.started, 4)
        return Answer(
            question=run.question,
            status=status,
            answer=best.text or (NO_EVIDENCE if written else ""),
            sentences=best.sentences,
            references=run.references,
            failures=tuple(run.failures),
            candidates=run.candidates,
            notices=self._notices if written else (),
            timings=run.timings,
            models={"encoder": self._ranker.encoder.name, "search": self._search.name}
            | ({"generator": self._generator.name, "scorer": self._scorer.name} if written else {}),
        )


def _extracted(download: Download, title: str) -> Page | Failure:
    try:
        return extract(download.body, download.url, download.content_type, title)
    except ExtractionError as error:
        return Failure(download.url, error.message)
