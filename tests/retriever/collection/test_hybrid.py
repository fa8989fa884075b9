"""Pages found by words and passages found by vectors, fused."""

from __future__ import annotations

from citewell.retriever.collection.hybrid import fuse
from citewell.retriever.collection.page_scores import PageHit
from citewell.retriever.collection.vectors import PassageMatch

DEPTH = 100
# What a search brings besides: passages that are not near, each on a page of its own.
FAR = [PassageMatch(f"far{n}", 0, 0.3 - n / 1000) for n in range(50)]


def test_a_page_that_both_find_comes_first() -> None:
    lexical = [PageHit("words", 12.0, 0), PageHit("both", 11.0, 1)]
    dense = [
        PassageMatch("vectors", 2, 0.7),
        PassageMatch("both", 3, 0.6),
        PassageMatch("both", 4, 0.5),
        *FAR,
    ]
    first, *others = fuse(lexical, dense, DEPTH)
    assert (first.url, first.passage) == ("both", 3)
    assert {hit[::2] for hit in others[:2]} == {("vectors", 2), ("words", 0)}
    assert len(others) == 2 + len(FAR)


def test_one_list_alone_keeps_its_order() -> None:
    lexical = [PageHit("b", 3.0, 0), PageHit("a", 2.0, 5)]
    dense = [PassageMatch("b", 1, 9.0), PassageMatch("a", 0, 3.0)]
    assert [hit[::2] for hit in fuse(lexical, [], DEPTH)] == [("b", 0), ("a", 5)]
    assert [hit[::2] for hit in fuse([], dense, DEPTH)] == [("b", 1), ("a", 0)]
    assert fuse([], [], DEPTH) == []


def test_an_encoder_whose_inner_products_are_large_or_negative_orders_alike() -> None:
    lexical = [PageHit("words", 3.0, 0), PageHit("far7", 2.0, 0)]
    dense = [PassageMatch("near", 0, 0.8), *FAR]
    order = [hit.url for hit in fuse(lexical, dense, DEPTH)]
    for offset in (-5, 40):
        moved = [match._replace(score=match.score + offset) for match in dense]
        assert [hit.url for hit in fuse(lexical, moved, DEPTH)] == order
