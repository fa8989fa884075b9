"""Candidates of a question from a corpus, and the hard negatives among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from citewell.core.errors import InputError
from citewell.core.packages import install_command
from citewell.core.progress import Counter, Log
from citewell.core.text import words
from citewell.core.training.sources import question_key
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.encoder.load import load_encoder
from citewell.retriever.evaluation.references import rouge_1_precision
from citewell.retriever.evaluation.systems.lexical import LexicalSystem, bm25
from citewell.retriever.evaluation.task import Corpus
from citewell.retriever.evaluation.vectors import encode_corpus
from citewell.retriever.training.config import MiningConfig
from citewell.retriever.training.rows import LabeledRow
from citewell.retriever.training.sources import DataRecipe, Mine, MiningPool


class _CutTexts(Protocol):
    @property
    def max_tokens(self) -> int: ...


class MiningRecipe(DataRecipe, Protocol):
    """The part of a recipe that `load_miner` needs."""

    @property
    def model(self) -> _CutTexts:
        """The model, for the tokens at which it cuts texts."""
        ...


class NearestPassages(NamedTuple):
    """The best passages of each of q questions: positions in the corpus, and scores, as (q, n) arrays."""

    places: NDArray[np.int64]
    scores: Vectors


def nearest(questions: Vectors, passages: Vectors, depth: int) -> NearestPassages:
    """Return the `depth` passages with the greatest exact inner products per question, best first.

    Raises `InputError` without the package faiss.
    """
    try:
        import faiss
    except ImportError as error:
        raise InputError(
            "Mining needs the package faiss, which is not installed.", install_command("dense")
        ) from error
    index = faiss.IndexFlatIP(passages.shape[1])
    index.add(np.ascontiguousarray(passages, dtype=np.float32))
    scores, places = index.search(
        np.ascontiguousarray(questions, dtype=np.float32), min(depth, len(passages))
    )
    return NearestPassages(places, scores)


def corpus_of(texts: Iterable[str]) -> Corpus:
    """Build a corpus of passages that include their titles; duplicates count once."""
    distinct = tuple({question_key(text): text for text in texts}.values())
    ids = tuple(str(number) for number in range(len(distinct)))
    return Corpus(ids, ("",) * len(distinct), distinct)


class Miner:
    """A miner of hard negatives for rows: irrelevant passages that an encoder or BM25 ranks as relevant.

    A candidate is rejected if it may answer the question after all: if any source says so; if it is as near
    to the question as the nearest positive, or farther by less than `margin`, since retrievers rank unlabeled
    answers so (https://arxiv.org/abs/2407.15831); if a share of `overlap` of its words is in a positive; or
    if it contains the words of an answer in sequence.
    """

    def __init__(self, encoder: DualEncoder, config: MiningConfig, cache: Path, tell: Log) -> None:
        """Look for candidates with `encoder`; the vectors of passages are kept in the folder `cache`."""
        self._encoder = encoder
        self._config = config
        self._cache = cache
        self._tell = tell

    def mine(self, rows: Sequence[LabeledRow], pool: MiningPool, negatives: int) -> tuple[LabeledRow, ...]:
        """Return the rows with at most `negatives` more passages of label 0 each.

        Candidates are the rows' own passages and those of the `pool`, which knows the answers to these
        questions. Negatives that a row has already are kept, and count.
        """
        corpus = corpus_of([*(text for row in rows for text in row.passages), *pool.candidates])
        counter = Counter("encoding passages", self._tell)
        vectors = encode_corpus(corpus, self._encoder, self._cache, counter).vectors
        questions = self._encoder.encode_questions([row.question for row in rows])
        found = nearest(questions, vectors, self._config.skip + self._config.depth)
        lexical = self._lexical(rows, corpus)
        places = {question_key(text): place for place, text in enumerate(corpus.passages)}
        mined, short = [], 0
        for number, row in enumerate(rows):
            missing = negatives - sum(target <= 0 for target in row.targets)
            hidden = pool.known[question_key(row.question)] | {question_key(text) for text in row.passages}
            positives = [text for text, target in zip(row.passages, row.targets, strict=True) if target > 0]
            if not positives:  # what is near such a question may answer it
                mined.append(row)
                continue
            nearness = vectors[[places[question_key(text)] for text in positives]] @ questions[number]
            limit = float(nearness.max()) - self._config.margin
            order = _merged([found.places[number][self._config.skip :].tolist(), lexical[number]])
            scores = vectors[order] @ questions[number]
            near = [
                corpus.passages[place] for place, score in zip(order, scores, strict=True) if score < limit
            ]
            chosen: list[str] = []
            for text in near:
                if len(chosen) >= missing:
                    break
                if question_key(text) not in hidden and self._is_negative(text, positives, row.answers):
                    chosen.append(text)
            short += len(chosen) < missing
            mined.append(_with_negatives(row, chosen))
        self._tell(
            f"mined hard negatives from {len(corpus):,} passages; "
            f"{len(rows) - short:,} of {len(rows):,} questions have all {negatives}"
        )
        return tuple(mined)

    def _lexical(self, rows: Sequence[LabeledRow], corpus: Corpus) -> list[list[int]]:
        if not self._config.bm25:
            return [[] for _ in rows]
        counter = Counter("counting words", self._tell)
        searcher = LexicalSystem("bm25", bm25).read(corpus, None, counter).searcher
        return [searcher.search(row.question, self._config.depth).rows.tolist() for row in rows]

    def _is_negative(self, text: str, positives: Sequence[str], answers: Sequence[str]) -> bool:
        if self._config.answers and any(_holds(text, answer) for answer in answers):
            return False
        return all(rouge_1_precision(text, positive) < self._config.overlap for positive in positives)


def load_miner(config: MiningRecipe, cache: Path, tell: Log) -> Mine:
    """Return a miner that loads its encoder when the first source needs it."""

    def mine(rows: Sequence[LabeledRow], pool: MiningPool, negatives: int) -> tuple[LabeledRow, ...]:
        encoder = load_encoder(
            config.mining.encoder, cache, max_tokens=config.model.max_tokens, threads=config.training.threads
        )
        return Miner(encoder, config.mining, cache / "vectors", tell).mine(rows, pool, negatives)

    return mine


def _merged(lists: Sequence[Sequence[int]]) -> list[int]:
    """Interleave several lists of members, and keep each member once."""
    turns: Iterator[int] = (
        listed[rank] for rank in range(max(map(len, lists))) for listed in lists if rank < len(listed)
    )
    return list(dict.fromkeys(turns))


def _holds(text: str, answer: str) -> bool:
    found = words(answer)
    return bool(found) and f" {' '.join(found)} " in f" {' '.join(words(text))} "


def _with_negatives(row: LabeledRow, texts: Sequence[str]) -> LabeledRow:
    targets = (*row.targets, *(0.0 for _ in texts))
    return LabeledRow(row.question, (*row.passages, *texts), targets, row.answers)
