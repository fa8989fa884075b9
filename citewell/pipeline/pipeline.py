"""The one way a question travels: search, fetch, extract, rank, generate, check, score."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from citewell.core.errors import InputError
from citewell.core.events import Done, Event, Failed, Fetched, Notice, Quoted, Ranked, Scored, Searched
from citewell.core.text import encoded_text
from citewell.core.types import (
    Answer,
    Candidate,
    Failure,
    Fallback,
    Outcome,
    Page,
    Reference,
    Sentence,
    marked_text,
)
from citewell.generator.backend import GeneratorBackend
from citewell.generator.citations.correction import check_quotations, supported_only
from citewell.generator.citations.judged import JudgedCitations
from citewell.generator.citations.next_sentence import with_next
from citewell.generator.citations.relevance import (
    are_quotable,
    is_better,
    likely_answered,
    relevant,
)
from citewell.generator.citations.written import judged_answer, written_sentences
from citewell.generator.extractive import ExtractiveGenerator
from citewell.generator.orders.detector import OrderDetector
from citewell.generator.orders.marking import evidence_of, mark_orders, order_notices
from citewell.generator.refusal import is_refusal
from citewell.pipeline.handbook import is_of_handbook
from citewell.pipeline.providers import OpenedSearch
from citewell.pipeline.question_run import QuestionRun
from citewell.retriever.evidence import (
    enough_evidence,
    enough_to_quote,
    evidence,
    evidence_to_quote,
    is_found,
)
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.fetch.memory_budget import MemoryBudget
from citewell.retriever.fetch.page_request import PageFetch
from citewell.retriever.parts import parts
from citewell.retriever.rank import Ranker
from citewell.retriever.stage import RetrievalStage, WaitPolicy
from citewell.scorer.best_of import BestOf
from citewell.scorer.scorer import Scorer

NO_EVIDENCE = "No evidence for an answer was found."
NO_SURE_ANSWER = "No sure answer was found."
"""Where a model read the references, and nothing that it wrote may be shown."""

Hides = Callable[[str, Page], bool]
"""Says whether a question must not see a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The numbers of a pipeline; `citewell.core.settings` describes each."""

    hits: int
    k: int
    wait: WaitPolicy
    min_relevance: float | None
    threshold: float
    drop_unsupported: bool
    best_of: int
    question_characters: int
    min_gain: float = 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Pipeline:
    """The pipeline that answers questions.

    Every part of Citewell that needs an answer or references calls it. `citewell.pipeline.build` composes it
    from settings. `memory` bounds the pages of all questions together.
    """

    search: OpenedSearch
    fetch: PageFetch
    extractor: Extractor
    ranker: Ranker
    generator: GeneratorBackend
    scorer: Scorer
    limits: Limits
    quoter: ExtractiveGenerator | None = None
    """Quotes the references while the generator writes; None if the generator quotes itself."""
    judge: JudgedCitations | None = None
    """Checks the best candidate's citations a second time; None leaves it at shared words."""
    orders: OrderDetector | None = None
    """Finds sentences that give orders to a language model; None takes all text for evidence."""
    memory: MemoryBudget = field(default_factory=MemoryBudget)
    split: Callable[[str], tuple[str, ...]] = parts
    """Splits a question that needs several searches."""
    notices: tuple[str, ...] = ()
    """Notices about the other parts for every answer, such as missing weights."""
    generator_notices: tuple[str, ...] = ()
    """Notices about the choice of the generator, for every answer that it writes."""
    hides: Hides | None = None
    """Hides pages that give a question away, in evaluations; None shows all."""
    profile: str = ""
    """The profile of the settings, which answers name among their models."""

    def varied(
        self, *, k: int | None = None, best_of: int | None = None, search: OpenedSearch | None = None
    ) -> Pipeline:
        """Return a pipeline of the same models and connections with other numbers or another search.

        None changes nothing.
        """
        limits = replace(self.limits, k=k or self.limits.k, best_of=best_of or self.limits.best_of)
        return replace(self, limits=limits, search=search or self.search)

    @property
    def _notices(self) -> tuple[str, ...]:
        return self.generator_notices + self.notices

    @property
    def writes(self) -> bool:
        """Whether a language model writes answers, in Markdown; otherwise they are quoted."""
        return not isinstance(self.generator, ExtractiveGenerator)

    def quoting(self, sentences: int) -> Pipeline:
        """Return the same pipeline, quoting at most `sentences` sentences of the references as the answer."""
        extractive = ExtractiveGenerator(self.ranker.sentence_scores, sentences=sentences, split=self.split)
        return replace(self, generator=extractive, quoter=None, judge=None, generator_notices=())

    def writing_as(self, other: Pipeline) -> Pipeline:
        """Return the same pipeline with the generator of another, and what checks and explains it."""
        return replace(
            self,
            generator=other.generator,
            quoter=other.quoter,
            judge=other.judge,
            generator_notices=other.generator_notices,
        )

    async def ask(self, question: str) -> AsyncGenerator[Event, None]:
        """Answer a question as a stream of events, of which the last is `Done`.

        Raises `InputError` for a question that is empty or too long, and `ServiceError` when the
        search failed as a whole. A page that fails is an event and never ends the stream.
        """
        run = QuestionRun(self.checked(question))
        for notice in self._notices:
            yield Notice(notice)
        with run.warnings:
            async with aclosing(self._retrieve(run)) as events:
                async for event in events:
                    yield event
            if run.relevant:
                async with aclosing(self._generate(run)) as events:
                    async for event in events:
                        yield event
            for warning in run.take_warnings():
                yield warning
            yield Done(self._answer(run))

    async def retrieve(self, question: str) -> AsyncGenerator[Event, None]:
        """Find only the references of a question: the first half of `ask`."""
        run = QuestionRun(self.checked(question))
        with run.warnings:
            async with aclosing(self._retrieve(run)) as events:
                async for event in events:
                    yield event
            yield Done(self._answer(run, written=False))

    async def write(self, question: str, references: Sequence[Reference]) -> AsyncGenerator[Event, None]:
        """Answer from given references: the second half of `ask`.

        The ranker scores them; their number and order stay.
        """
        run = QuestionRun(self.checked(question))
        for notice in self._notices:
            yield Notice(notice)
        texts = [encoded_text(r.title_path, r.text) for r in references]
        with run.timed("rank"):
            scores = await asyncio.to_thread(self.ranker.scores, run.question, texts)
        run.references = tuple(replace(r, score=float(s)) for r, s in zip(references, scores, strict=True))
        for left_out in await self._leave_out_orders(run):
            yield left_out
        if any(reference.text for reference in run.evidence):
            async with aclosing(self._generate(run)) as events:
                async for event in events:
                    yield event
        yield Done(self._answer(run))

    async def marked(self, references: Sequence[Reference]) -> tuple[Reference, ...]:
        """Return references of different numbers with their orders marked."""
        if self.orders is None:
            return tuple(references)
        # The handbook comes with Citewell, and tells its readers what to do with language models.
        foreign = [reference for reference in references if not is_of_handbook(reference.url)]
        found = await asyncio.to_thread(mark_orders, foreign, self.orders)
        marked = {reference.number: reference for reference in found}
        return tuple(marked.get(reference.number, reference) for reference in references)

    def checked(self, question: str) -> str:
        """Return the question without surrounding white space and invalid characters.

        Raises `InputError` for one that is empty or too long.
        """
        return checked_question(question, self.limits.question_characters)

    async def _retrieve(self, run: QuestionRun) -> AsyncGenerator[Event, None]:
        search = self.search.for_question(run.question)
        run.search = search.metasearch.name
        if search.metasearch.finds_web_pages:
            self.extractor.warm_up()
        with run.timed("search"):
            run.searched = await asyncio.to_thread(search.spelled, run.question)
            asked = self.split(run.searched)
            queries = search.queries([run.searched, *asked], self.limits.hits)
            found = await search.find(*queries)
            others = await asyncio.to_thread(search.other_pages, queries[0], found.hits)
        run.spent_before("search", search.seconds_ahead(*queries))
        run.failures.extend(found.failures)
        hits = (*found.hits, *others)
        instead = [] if found.hits or not others else [f"Pages that were read instead: all {len(others)}."]
        yield Searched(hits, found.failures)
        for notice in run.tell(*_searched(run, asked), *found.notices, *instead):
            yield notice
        stage = RetrievalStage(
            ranking=self.ranker.begin(run.searched, asked),
            hits=hits,
            k=self.limits.k,
            fetch=self.fetch,
            extractor=self.extractor,
            wait=self.limits.wait,
            collection=search.pages,
            memory=self.memory,
            warn=run.warnings.add,
            hides=lambda page: self.hides is not None and self.hides(run.question, page),
            allows=queries[0].allows,
        )
        last = time.perf_counter()
        with run.timed("fetch"):
            async with aclosing(stage.pages()) as outcomes:
                async for outcome in outcomes:
                    if isinstance(outcome, Failure):
                        run.failures.append(outcome)
                        yield Failed(outcome)
                        continue
                    last = time.perf_counter()
                    seconds = round(last - run.started, 3)
                    yield Fetched(outcome.url, outcome.title, len(outcome.passages), seconds)
                    if outcome.notice:
                        for notice in run.tell(f"{outcome.url}: {outcome.notice}"):
                            yield notice
        for warning in run.take_warnings():
            yield warning
        if any(failure.kind == "late" for failure in run.failures):
            run.timings["wait"] = round(time.perf_counter() - last, 4)
        with run.timed("rank"):
            run.references = await stage.references()
            notices = await self._leave_out_orders(run)
        for notice in notices:
            yield notice
        given = [reference for reference in run.evidence if reference.text]
        run.relevant = await self._is_relevant(asked, given, search)
        yield Ranked(run.references, run.relevant)
        missing = [part for part in asked if not is_found(part, given)]
        if run.relevant and missing and len(asked) > 1:
            for notice in run.tell(f"Nothing was found on: {'; '.join(missing)}"):
                yield notice

    async def _is_relevant(
        self, asked: Sequence[str], given: Sequence[Reference], search: OpenedSearch
    ) -> bool:
        """Return whether there is enough evidence for an answer to one of the parts of a question."""
        found = [evidence(part, given) for part in asked]
        if quotes := isinstance(self.generator, ExtractiveGenerator):
            best = [await asyncio.to_thread(self.generator.best_score, part, given) for part in asked]
            found = list(map(evidence_to_quote, found, best))
        least = self.limits.min_relevance
        if least is None:
            pages = await asyncio.to_thread(search.count)
            least = enough_to_quote(pages) if quotes else enough_evidence(pages, read=self.judge is not None)
        return max(found) >= least

    async def _leave_out_orders(self, run: QuestionRun) -> list[Notice]:
        """Mark the orders of the references, which are then no evidence; return a notice for each page."""
        run.references = await self.marked(run.references)
        run.evidence = evidence_of(run.references)
        return run.tell(*order_notices(run.references))

    async def _generate(self, run: QuestionRun) -> AsyncGenerator[Event, None]:
        limits = self.limits
        rounds = BestOf(
            self.scorer, run.question, run.evidence, most=limits.best_of, min_gain=limits.min_gain
        )
        if self.quoter is not None:
            with run.timed("quote"):
                texts = [t.text async for t in self.quoter.generate(run.searched, run.evidence, 1)]
                run.quotations = check_quotations("".join(texts), run.evidence, limits.threshold)
            yield Quoted(run.quotations)
        likely = None
        if self.judge is not None and self.generator.refuses:
            with run.timed("check"):
                likely = await likely_answered(self.judge.model, run.searched, run.quotations, run.evidence)
        raw: dict[tuple[Sentence, ...], str] = {}
        while wanted := rounds.wanted:
            pieces: dict[int, list[str]] = {}
            with run.timed("generate"):
                tokens = self.generator.generate(
                    run.searched, run.evidence, wanted, first=rounds.written, likely=likely
                )
                async with aclosing(tokens) as stream:
                    async for token in stream:
                        run.timings.setdefault("first_token", round(time.perf_counter() - run.started, 4))
                        pieces.setdefault(token.candidate, []).append(token.text)
                        yield token
            with run.timed("check"):
                written = ["".join(pieces[candidate]).strip() for candidate in sorted(pieces)]
                checked = [self._checked(text, run.evidence) for text in written]
            raw = dict(zip(checked, written, strict=True)) | raw
            with run.timed("score"):
                await asyncio.to_thread(rounds.add, checked, written=len(written))
        if choice := rounds.choice():
            run.best = choice.best
            candidates = [
                Candidate(
                    sentences,
                    verdict.score,
                    raw[sentences],
                    verdict.adjusted_score,
                    verdict.unsupported,
                    verdict.reason,
                )
                for sentences, verdict in zip(rounds.candidates, choice.verdicts, strict=True)
            ]
            yield Scored(tuple(map(self._shown, candidates)), run.best)
            candidates[run.best] = await self._judged(run, candidates[run.best])
            run.candidates = tuple(map(self._shown, candidates))
        run.quotable = await self._quotable(run)

    def _checked(self, text: str, references: Sequence[Reference]) -> tuple[Sentence, ...]:
        """Return the sentences of an answer, with citations by shared words."""
        check = written_sentences if self.writes else check_quotations
        return check(text, references, self.limits.threshold)

    async def _judged(self, run: QuestionRun, best: Candidate) -> Candidate:
        """Return the best candidate as the judge finds it."""
        if self.judge is None or is_refusal(best.raw):
            return best
        with run.timed("check"):
            found = await judged_answer(
                self.judge, run.question, best.sentences, run.evidence, searched=run.searched
            )
        run.irrelevant = found.irrelevant
        run.without_first = None if found.first_supported else found.relevance
        unsupported = sum(not sentence.supported for sentence in found.sentences)
        return replace(best, sentences=found.sentences, unsupported=unsupported)

    async def _quotable(self, run: QuestionRun) -> tuple[Sentence, ...]:
        """Return the quotations that surely answer, if what is written does not or does less so."""
        is_supported = any(each.supported for each in run.written.sentences)
        if self.judge is None:
            return () if is_supported else run.quotations
        if is_refusal(run.written.raw):
            return ()
        stands = is_supported and not run.irrelevant
        if stands and run.without_first is None:
            return ()
        titles = {reference.number: reference.title_path for reference in run.evidence}
        with run.timed("check"):
            found, likely = await relevant(self.judge.model, run.searched, run.quotations, run.evidence)
            if not found or (stands and not is_better(likely, run.without_first or 0.0)):
                return ()
            logit = None
            if (reader := self.ranker.reader) is not None:
                texts = [encoded_text(titles[each.citations[0]], each.text) for each in found]
                logit = await asyncio.to_thread(reader.best_logit, run.searched, texts)
            return found if are_quotable(likely, logit) else ()

    def _shown(self, candidate: Candidate) -> Candidate:
        # After scoring: dropping unsupported sentences must not raise an answer's score.
        if not self.limits.drop_unsupported:
            return candidate
        return replace(candidate, sentences=supported_only(candidate.sentences))

    def _answering(self, run: QuestionRun) -> tuple[tuple[Sentence, ...], Fallback | None]:
        """Return the sentences of the answer, and the reason if they are not what the generator wrote."""
        best = run.written
        if self.writes and is_refusal(best.raw):
            return (), "refused"
        if run.irrelevant:
            return run.quotable, "irrelevant"
        if any(sentence.supported for sentence in best.sentences) and not run.quotable:
            return best.sentences, None
        if run.quotable or (best.raw and self.quoter is not None):
            return run.quotable, "unsupported"
        return best.sentences, None

    def _answer(self, run: QuestionRun, *, written: bool = True) -> Answer:
        outcome: Outcome = "retrieved" if run.relevant else "no_evidence"
        sentences, fallback = self._answering(run)
        if written:
            outcome = "answered" if any(sentence.supported for sentence in sentences) else "no_evidence"
        if outcome != "answered":
            sentences = ()
        run.timings["total"] = round(time.perf_counter() - run.started, 4)
        return Answer(
            question=run.question,
            outcome=outcome,
            answer=marked_text(sentences) or _none(fallback, written=written),
            sentences=sentences,
            references=run.references,
            failures=tuple(run.failures),
            candidates=run.candidates,
            best=run.best,
            quotations=run.quotations if sentences else with_next(run.quotations, run.evidence),
            fallback=fallback,
            notices=(*(self._notices if written else ()), *run.notices),
            timings=run.timings,
            models={"encoder": self.ranker.encoder.name, "search": run.search or self.search.metasearch.name}
            | ({"generator": self.generator.name, "scorer": self.scorer.name} if written else {})
            | ({"reader": self.ranker.reader.model.name} if self.ranker.reader else {})
            | ({"judge": self.judge.name} if written and self.judge else {})
            | ({"profile": self.profile} if self.profile else {}),
        )


def _none(fallback: Fallback | None, *, written: bool) -> str:
    if not written:
        return ""
    return NO_SURE_ANSWER if fallback else NO_EVIDENCE


def checked_question(question: str, characters: int) -> str:
    """Return the question without surrounding white space and invalid characters.

    Raises `InputError` for one that is empty, or longer than `characters`.
    """
    # Lone surrogates come from JSON and from arguments that are not UTF-8; tokenizers refuse them.
    question = question.encode(errors="replace").decode().strip().removeprefix("\ufeff").strip()
    if not question:
        raise InputError("The question is empty.", 'Ask something, such as "Why is the sky blue?"')
    if len(question) > characters:
        raise InputError(
            f"The question has {len(question):,} characters; at most {characters:,} are read.",
            "Shorten it, or raise the setting question_characters.",
        )
    return question


def _searched(run: QuestionRun, asked: Sequence[str]) -> Iterator[str]:
    """Yield notices of what was searched for, where it was not the question as it was asked."""
    if len(asked) > 1:
        yield f"Searched for each part of the question: {'; '.join(asked)}"
    elif run.searched != run.question:
        yield f"Searched with corrected spelling: {run.searched}"
