"""Reading pages: ranked while others are on their way, and waited for no longer than is worth it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest

from citewell.core.errors import ExtractionError, FetchError
from citewell.core.text import encoded_text
from citewell.core.types import Failure, Hit, Page, Passage, Reference
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.scale import Scale
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.rank import Ranker
from citewell.retriever.remembering_encoder import RememberingEncoder
from citewell.retriever.search.query import Query
from citewell.retriever.stage import RetrievalStage, WaitPolicy

QUESTION = "How do bats find their way in the dark?"
ANSWERS = [
    "Bats find their way in the dark by listening to the echoes of their own calls.",
    "In the dark, a bat sends out high calls and finds its way by the echoes that come back.",
    "How bats find their way was found by covering their ears: deaf bats in the dark fly into walls.",
    "Echolocation lets bats find insects and their way through caves where it is always dark.",
    "Bats that hunt in the dark call up to two hundred times a second to find a moth on its way.",
]


def page(url: str, *texts: str) -> Page:
    return Page(url, "Bats", tuple(Passage(url, "Bats", text) for text in texts))


class Texts:
    """Reads pages of a line each."""

    warmed = False

    async def extract(self, body: bytes, url: str, content_type: str = "", title: str = "") -> Page:
        if not body:
            raise ExtractionError("it holds no readable text")
        return Page(url, title, (Passage(url, title, body.decode()),))

    def warm_up(self) -> None:
        self.warmed = True


Encode = Callable[[Sequence[str]], Vectors]


class Shelf:
    """Holds some pages."""

    def __init__(self, *pages: Page, encode: Encode | None = None) -> None:
        self._pages = {page.url: page for page in pages}
        self._encode = encode

    def count(self) -> int:
        return len(self._pages)

    def urls(self) -> list[str]:
        return list(self._pages)

    def page(self, url: str) -> Page | None:
        return self._pages.get(url)

    def vectors(self, page: Page) -> Vectors | None:
        texts = [encoded_text(passage.title, passage.text) for passage in page.passages]
        return self._encode(texts) if self._encode else None


class Web:
    """Pages of a line each, of which some come only when they are released."""

    def __init__(self, pages: dict[str, str]) -> None:
        self._pages = pages
        self.released = asyncio.Event()
        self.cancelled: list[str] = []

    async def fetch(self, request: PageRequest) -> Download:
        url = request.url
        if url not in self._pages:
            raise FetchError("no host is named so", kind="dns")
        if url.endswith("slow"):
            try:
                await self.released.wait()
            except asyncio.CancelledError:
                self.cancelled.append(url)
                raise
        return Download(url, "text/plain", self._pages[url].encode(), 200, url)


def reading(
    ranker: Ranker, hits: list[Hit], web: Web, *, held: Shelf | None = None, waiting: WaitPolicy
) -> RetrievalStage:
    ranking = ranker.begin(QUESTION)
    return RetrievalStage(
        ranking=ranking,
        hits=hits,
        k=5,
        collection=held,
        fetch=web.fetch,
        extractor=Texts(),
        wait=waiting,
    )


async def outcomes(reading: RetrievalStage) -> list[Page | Failure]:
    async with aclosing(reading.pages()) as stream:
        return [outcome async for outcome in stream]


def texts(references: tuple[Reference, ...]) -> set[str]:
    return {reference.text for reference in references}


GOOD = {f"http://good.example/{number}/": text for number, text in enumerate(ANSWERS)}
HITS = [Hit(url, "Bats", text) for url, text in GOOD.items()]
PATIENT = WaitPolicy(deadline=20, patience=1000, hedges=0)


async def test_pages_become_references_and_failures_have_reasons(ranker: Ranker) -> None:
    web = Web(GOOD | {"http://empty.example/": ""})
    hits = [*HITS, Hit("http://gone.example/", "Gone"), Hit("http://empty.example/", "Empty")]
    stage = reading(ranker, hits, web, waiting=PATIENT)
    found = await outcomes(stage)
    assert {outcome.url for outcome in found if isinstance(outcome, Page)} == set(GOOD)
    failures = {outcome.url: outcome for outcome in found if isinstance(outcome, Failure)}
    assert failures["http://gone.example/"].kind == "dns"
    assert failures["http://empty.example/"].kind == "extract"
    assert texts(await stage.references()) == set(ANSWERS)


async def test_a_page_that_promises_nothing_is_not_waited_for(ranker: Ranker) -> None:
    slow = Hit("http://bread.example/slow", "Bread", "Sourdough rises because of wild yeast.")
    web = Web(GOOD | {slow.url: slow.snippet})
    stage = reading(ranker, [*HITS, slow], web, waiting=WaitPolicy(deadline=60, patience=1, hedges=0))
    found = await asyncio.wait_for(outcomes(stage), 60)
    (late,) = (outcome for outcome in found if isinstance(outcome, Failure))
    assert (late.url, late.kind) == (slow.url, "late")
    assert "enough" in late.reason
    assert web.cancelled == [slow.url]
    assert texts(await stage.references()) == set(ANSWERS)


async def test_a_page_that_promises_much_is_waited_for(ranker: Ranker) -> None:
    slow = Hit("http://bats.example/slow", "Bats", QUESTION)
    text = "Bats find their way in the dark by echolocation: their ears hear the echoes of their calls."
    web = Web(GOOD | {slow.url: text})
    waiting = WaitPolicy(deadline=60, patience=1000, hedges=0)
    stage = reading(ranker, [slow, *HITS], web, waiting=waiting)
    found: list[Page | Failure] = []
    async with aclosing(stage.pages()) as stream:
        async for outcome in stream:
            found.append(outcome)
            if len(found) == len(HITS):
                web.released.set()
    assert not [outcome for outcome in found if isinstance(outcome, Failure)]
    assert slow.url in {reference.url for reference in await stage.references()}


async def test_the_deadline_ends_the_waiting_in_any_case(ranker: Ranker) -> None:
    slow = Hit("http://bats.example/slow", "Bats", QUESTION)
    stage = reading(
        ranker, [slow], Web({slow.url: ""}), waiting=WaitPolicy(deadline=0.2, patience=1000, hedges=0)
    )
    assert await outcomes(stage) == [Failure(slow.url, "late: no answer within 0.2 s", "late")]
    assert await stage.references() == ()


async def test_pages_at_hand_are_not_fetched(ranker: Ranker) -> None:
    shelf = Shelf(*(page(url, text) for url, text in GOOD.items()))
    stage = reading(ranker, HITS, Web({}), held=shelf, waiting=PATIENT)
    assert [outcome.url for outcome in await outcomes(stage)] == list(GOOD)
    assert texts(await stage.references()) == set(ANSWERS)


async def test_pages_at_hand_with_vectors_are_ranked_without_encoding() -> None:
    encoder = Words()
    pages = [page(url, f"{text} It is night.") for url, text in GOOD.items()]
    shelf = Shelf(*pages, encode=Words().encode_passages)
    stage = reading(Ranker(encoder, prefilter=48), HITS, Web({}), held=shelf, waiting=PATIENT)
    await outcomes(stage)
    assert encoder.encoded == []
    assert await stage.references()
    whole = {encoded_text("Bats", passage.text) for each in pages for passage in each.passages}
    assert not whole & set(encoder.encoded)  # only their sentences are


async def test_pages_at_hand_and_pages_of_the_web_are_ranked_together(ranker: Ranker) -> None:
    first, *others = GOOD
    stage = reading(ranker, HITS, Web(GOOD), held=Shelf(page(first, GOOD[first])), waiting=PATIENT)
    found = await outcomes(stage)
    assert found[0].url == first
    assert {outcome.url for outcome in found[1:]} == set(others)
    assert texts(await stage.references()) == set(ANSWERS)


async def test_a_fault_of_the_encoder_is_raised() -> None:
    class Broken:
        name = "broken"

        def encode_questions(self, questions: object) -> None:
            raise ZeroDivisionError

        encode_passages = encode_questions

    stage = reading(Ranker(Broken(), prefilter=48), HITS, Web(GOOD), waiting=PATIENT)

    async def read() -> None:
        await outcomes(stage)
        await stage.references()

    with pytest.raises(ZeroDivisionError):
        await read()


class Words:
    """An encoder that takes no time: vectors of counts of the question's words."""

    name = "words"
    fingerprint = "words"
    scale = Scale()
    dimension = len(QUESTION.split())

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        return self._vectors(questions)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        self.encoded.extend(passages)
        return self._vectors(passages)

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        return np.array([[text.count(word) for word in QUESTION.split()] for text in texts], np.float32)


class Lines(Texts):
    """Reads pages of a passage a line."""

    async def extract(self, body: bytes, url: str, content_type: str = "", title: str = "") -> Page:
        return page(url, *body.decode().split("\n"))


async def test_pages_may_come_while_others_are_ranked() -> None:
    class Held(Words):
        """Encodes four answers, and the fifth when it may."""

        def encode_passages(self, passages: Sequence[str]) -> Vectors:
            if sum(text.endswith(tuple(ANSWERS)) for text in self.encoded) == 4:
                loop.call_soon_threadsafe(loop.call_later, 0.7, web.released.set)
                assert let_go.wait(20)
            return super().encode_passages(passages)

    loop, let_go = asyncio.get_running_loop(), threading.Event()
    hits = [Hit(url, "Bats") for url in GOOD]
    slow = Hit("http://bread.example/slow", "Bread", "Sourdough rises because of wild yeast.")
    web = Web(GOOD | {slow.url: slow.snippet})
    waiting = WaitPolicy(deadline=60, patience=0.3, hedges=0)
    stage = reading(Ranker(Held(), prefilter=48), [*hits, slow], web, waiting=waiting)
    found = []
    async with aclosing(stage.pages()) as stream:
        async for outcome in stream:
            found.append(outcome)
            if outcome.url == slow.url:
                let_go.set()
        let_go.set()
    assert len(found) == 6
    assert not [outcome for outcome in found if isinstance(outcome, Failure)]


async def test_few_passages_are_encoded_after_the_last_page_and_those_at_hand_all() -> None:
    long = "\n".join(f"How do bats find their way in the dark, part {number}?" for number in range(40))
    slow = Hit("http://bats.example/slow", "Bats", QUESTION)
    encoder, web = Words(), Web({slow.url: long})
    ranking = Ranker(RememberingEncoder(encoder), prefilter=48).begin(QUESTION)
    stage = RetrievalStage(
        ranking=ranking, hits=[slow], k=5, collection=None, fetch=web.fetch, extractor=Lines(), wait=PATIENT
    )
    asyncio.get_running_loop().call_later(0.35, web.released.set)
    await outcomes(stage)
    assert await stage.references()
    assert 8 <= sum("part" in text for text in encoder.encoded) <= 16

    encoder = Words()
    ranking = Ranker(RememberingEncoder(encoder), prefilter=48).begin(QUESTION)
    shelf = Shelf(page(slow.url, *long.split("\n")))
    stage = RetrievalStage(
        ranking=ranking, hits=[slow], k=5, collection=shelf, fetch=web.fetch, extractor=Lines(), wait=PATIENT
    )
    await outcomes(stage)
    await stage.references()
    assert sum("part" in text for text in encoder.encoded) == 40


async def test_passages_of_the_last_page_are_encoded_as_long_as_that_changes_the_references() -> None:
    class Later(Words):
        """What BM25 puts last is the most relevant."""

        def encode_passages(self, passages: Sequence[str]) -> Vectors:
            vectors = super().encode_passages(passages)
            vectors[:] = [[len(text)] * self.dimension for text in passages]
            return vectors

    # Each has words of its own, lest one be left out for saying what another does.
    texts = ["Bats " + " ".join(f"{place:02}{number}" for number in range(place)) for place in range(5, 35)]
    slow = Hit("http://bats.example/slow", "Bats", QUESTION)
    web = Web({slow.url: "\n".join(texts)})
    ranking = Ranker(Later(), prefilter=48).begin(QUESTION)
    stage = RetrievalStage(
        ranking=ranking, hits=[slow], k=3, collection=None, fetch=web.fetch, extractor=Lines(), wait=PATIENT
    )
    asyncio.get_running_loop().call_later(0.35, web.released.set)
    await outcomes(stage)
    assert [reference.text for reference in await stage.references()] == texts[:-4:-1]


async def test_a_page_that_redirects_to_a_site_that_is_left_out_is_not_read(ranker: Ranker) -> None:
    class Moving(Web):
        async def fetch(self, request: PageRequest) -> Download:
            download = await super().fetch(request)
            return replace(download, url="http://denied.example/page")

    stage = RetrievalStage(
        ranking=ranker.begin(QUESTION),
        hits=HITS[:1],
        k=5,
        fetch=Moving(GOOD).fetch,
        extractor=Texts(),
        wait=PATIENT,
        allows=Query("q", exclude_sites=("denied.example",)).allows,
    )
    (outcome,) = await outcomes(stage)
    assert isinstance(outcome, Failure)
    assert outcome.reason == "it redirects to a site that is left out: denied.example"
    assert await stage.references() == ()


async def test_no_hits(ranker: Ranker) -> None:
    stage = reading(ranker, [], Web({}), waiting=PATIENT)
    assert await outcomes(stage) == []
    assert await stage.references() == ()
