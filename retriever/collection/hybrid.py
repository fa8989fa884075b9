"""The pages that a search by words and a search by vectors found, as one list."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.retriever.collection.index import PageHit
from citewell.retriever.collection.vectors import PassageMatch
from citewell.retriever.fusion import candidates, fused


def fuse(lexical: Sequence[PageHit], dense: Sequence[PassageMatch], depth: int) -> list[PageHit]:
    """Fuse pages found by words and passages found by vectors, both best first and at most `depth` of each.

    A page's inner product is that of its best passage, which is also the passage of the hit; a page that the
    vectors did not find keeps the passage that its words found.
    """
    nearest = {match.url: match for match in reversed(dense)}
    passages = {hit.url: hit.passage for hit in lexical} | {url: m.passage for url, m in nearest.items()}
    found = candidates(
        {url: match.score for url, match in nearest.items()}, {hit.url: hit.score for hit in lexical}, depth
    )
    scores = fused(found.dense, found.lexical).tolist()
    hits = [PageHit(url, score, passages[url]) for url, score in zip(found.names, scores, strict=True)]
    return sorted(hits, key=lambda hit: (-hit.score, hit.url))
