"""Fuses lists of hits by rank: each page once, few per domain."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from citewell.core.types import Hit
from citewell.retriever.search.provider import SearchProvider
from citewell.retriever.search.query import Query
from citewell.retriever.search.urls import identity, registrable_domain

_RRF = 60  # the constant of Cormack, Clarke & Büttcher 2009, §2


def within_sites(hits: Sequence[Hit], query: Query) -> list[Hit]:
    """Return the hits on the query's sites and not on its excluded sites."""
    return [hit for hit in hits if query.allows(hit.url)]


def fuse(lists: Sequence[tuple[SearchProvider, Sequence[Hit]]], query: Query, per_domain: int) -> list[Hit]:
    """Fuse lists of hits by reciprocal rank fusion; return the `query.limit` best.

    A provider has several lists if it was asked several queries. The score of a page is the sum over lists of
    1 / (60 + rank) (Cormack, Clarke & Büttcher, SIGIR 2009,
    https://doi.org/10.1145/1571941.1572114). Of several URLs of a page, the best-ranked is used, or that of a
    local provider, which stores the page; the hit names all providers that found it. Hits beyond `per_domain`
    per registrable domain go to the end of the list. That limit does not apply to queries with `sites`, and
    to pages found by a provider that searches one site or stored pages.
    """
    scores: defaultdict[str, float] = defaultdict(float)
    pages: dict[str, Hit] = {}
    finders: dict[str, dict[str, SearchProvider]] = {}
    counted: set[tuple[str, int]] = set()
    named = [[(provider, hit, number) for hit in hits] for number, (provider, hits) in enumerate(lists)]
    for rank, row in enumerate(zip_longest(*named), start=1):
        for provider, hit, number in filter(None, row):
            key = identity(hit.url)
            if (key, number) in counted:
                continue
            counted.add((key, number))
            scores[key] += 1 / (_RRF + rank)
            finders.setdefault(key, {})[provider.name] = provider
            if key not in pages or provider.scope == "local":
                pages[key] = hit

    chosen: list[Hit] = []
    surplus: list[Hit] = []
    domains: Counter[str] = Counter()
    for key in sorted(scores, key=scores.__getitem__, reverse=True):
        found = finders[key]
        hit = replace(pages[key], provider=", ".join(found))
        if not query.sites and all(provider.scope == "web" for provider in found.values()):
            domain = registrable_domain(hit.url)
            if domains[domain] >= per_domain:
                surplus.append(hit)
                continue
            domains[domain] += 1
        chosen.append(hit)
    return (chosen + surplus)[: query.limit]
