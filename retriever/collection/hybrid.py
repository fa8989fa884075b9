"""Hybrid retrieval: fuses the pages found by words (BM25) and by vectors."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.retriever.collection.page_scores import PageHit
from citewell.retriever.collection.vectors import PassageMatch
from citewell.retriever.fusion import candidates, fused


def fuse(lexical: Sequence[PageHit], dense: Sequence[PassageMatch], depth: int) -> list[PageHit]:
    """Fuse pages found by words and passages found by vectors, both best first, at most `depth` of each.

    The inner product of a page is that of its best passage, which is also the passage of the hit. A page not
    found by vectors has the passage that matched by words.
    """
    nearest = {match.url: match for match in reversed(dense)}
    passages = {hit.url: hit.passage for hit in lexical} | {url: m.passage for url, m in nearest.items()}
    found = candidates(
        {url: match.score for url, match in nearest.items()}, {hit.url: hit.score for hit in lexical}, depth
    )
    scores = fused(found.dense, found.lexical).tolist()
    hits = [PageHit(url, score, passages[url]) for url, score in zip(found.names, scores, strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.url))
