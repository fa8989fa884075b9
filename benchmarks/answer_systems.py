"""The systems of `benchmarks.answer_bearing`: each finds references for a question in one collection."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache, partial
from typing import NamedTuple

from citewell.core.events import final_answer
from citewell.core.settings import Settings
from citewell.core.text import encoded_text
from citewell.core.types import Passage, Reference
from citewell.pipeline.build import open_pipeline
from citewell.pipeline.evaluation.coverage import stored_pages
from citewell.pipeline.pipeline import Pipeline
from citewell.pipeline.providers import OpenedSearch, filters
from citewell.retriever.collection.collection import Collection
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.cross_encoder.load import load_cross_encoder
from citewell.retriever.evaluation.systems.lexical import LexicalSystem
from citewell.retriever.evaluation.systems.lexical import bm25 as by_bm25
from citewell.retriever.evaluation.task import Corpus
from citewell.retriever.search.metasearch import Metasearch


class Found(NamedTuple):
    """References of a question, best first, and whether the pipeline refuses to answer from them."""

    references: Sequence[Reference]
    refused: bool = False


Ask = Callable[[str, int], Awaitable[Found]]
"""Returns at most so many references for a question."""


class BearingSystem(NamedTuple):
    """A way to find references; `needs_vectors` if it searches a dense index."""

    open: Callable[[Settings], AbstractAsyncContextManager[Ask]]
    description: str
    needs_vectors: bool = False


@asynccontextmanager
async def _bm25(settings: Settings) -> AsyncGenerator[Ask, None]:
    best = _BestPassages(settings)

    async def ask(question: str, k: int) -> Found:
        return Found(_numbered(best(question, k)))

    yield ask


@asynccontextmanager
async def _encoder(settings: Settings) -> AsyncGenerator[Ask, None]:
    best = _BestPassages(settings)
    async with open_pipeline(settings) as pipeline:

        @lru_cache(1)  # the same order is asked for two numbers of references
        def ordered(question: str) -> list[Passage]:
            passages = best(question, settings.retriever.prefilter)
            texts = [encoded_text(passage.title_path, passage.text) for passage in passages]
            order = (-pipeline.ranker.scores(question, texts)).argsort(kind="stable")
            return [passages[row] for row in order]

        async def ask(question: str, k: int) -> Found:
            return Found(_numbered(ordered(question)[:k]))

        yield ask


@asynccontextmanager
async def _default(settings: Settings) -> AsyncGenerator[Ask, None]:
    async with open_pipeline(settings) as pipeline:
        store = EmbeddedCatalog(settings.data_dir).open(settings.search.collection)
        collection = Collection(store)  # without its vectors, if any
        yield _asking(
            pipeline.varied(
                search=OpenedSearch(Metasearch([collection]), collection, filters(settings.search))
            )
        )


@asynccontextmanager
async def _cross_encoder(name: str, settings: Settings) -> AsyncGenerator[Ask, None]:
    encoder = load_cross_encoder(
        name, settings.cache_dir, max_tokens=settings.retriever.max_tokens, threads=settings.threads
    )
    async with _default(settings) as default:

        async def ask(question: str, k: int) -> Found:
            references, refused = await default(question, _CANDIDATES)
            scores = encoder.scores(question, [encoded_text(r.title_path, r.text) for r in references])
            return Found([references[row] for row in (-scores).argsort(kind="stable")[:k]], refused)

        yield ask


@asynccontextmanager
async def _hybrid(settings: Settings) -> AsyncGenerator[Ask, None]:
    async with open_pipeline(settings) as pipeline:
        yield _asking(pipeline)


SYSTEMS = {
    "default": BearingSystem(_default, "the pipeline, searching by words"),
    "bm25": BearingSystem(_bm25, "BM25 over all passages"),
    "encoder": BearingSystem(_encoder, "BM25's best passages, ordered by the dual encoder alone"),
    "hybrid": BearingSystem(_hybrid, "the pipeline, searching by words and vectors", needs_vectors=True),
}
CROSS_ENCODER = "cross-encoder:"
_CANDIDATES = 20  # references that a cross-encoder orders


def find_system(name: str) -> BearingSystem:
    """Return a system of `SYSTEMS`, or "cross-encoder:MODEL", which orders the pipeline's references.

    Raises `KeyError` for another name.
    """
    if name.startswith(CROSS_ENCODER):
        model = name.removeprefix(CROSS_ENCODER)
        return BearingSystem(
            partial(_cross_encoder, model), "the pipeline's references, ordered by a cross-encoder"
        )
    return SYSTEMS[name]


class _BestPassages:
    """Finds the passages of a collection with the best BM25, titles included."""

    def __init__(self, settings: Settings) -> None:
        self._passages = [passage for page in stored_pages(settings) for passage in page.passages]
        corpus = Corpus(
            tuple(map(str, range(len(self._passages)))),
            tuple(passage.title for passage in self._passages),
            tuple(passage.text for passage in self._passages),
        )
        system = LexicalSystem("bm25", by_bm25)
        self._searcher = system.read(corpus, None, lambda done, total: None).searcher

    def __call__(self, question: str, number: int) -> list[Passage]:
        return [self._passages[row] for row in self._searcher.search(question, number).rows]


def _asking(pipeline: Pipeline) -> Ask:
    async def ask(question: str, k: int) -> Found:
        answer = await final_answer(pipeline.varied(k=k).retrieve(question))
        return Found(answer.references, answer.outcome == "no_evidence")

    return ask


def _numbered(passages: Sequence[Passage]) -> list[Reference]:
    return [
        Reference(number, passage.url, passage.title, passage.text, 0.0)
        for number, passage in enumerate(passages, 1)
    ]
