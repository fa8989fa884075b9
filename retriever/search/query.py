"""A search query: its text and its filters."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from citewell.retriever.search.urls import in_domains
from citewell.retriever.search.words import spoken

Recency = Literal["day", "week", "month", "year"]


class Filter(StrEnum):
    """The filters of a query; not every provider supports all of them."""

    LANGUAGE = "language"
    COUNTRY = "country"
    RECENCY = "recency"
    SITES = "sites"
    EXCLUDED_SITES = "excluded sites"


@dataclass(frozen=True, slots=True)
class Query:
    """A search query with filters.

    `limit` is the max number of hits. `language` is a BCP 47 tag such as `de`, `pt-BR` or `zh-Hant`,
    `country` an ISO 3166 code such as `DE`, and `recency` the max age of a page. Hits come only from the
    domains `sites`, if any, and never from `exclude_sites`; a domain includes its subdomains.
    """

    text: str
    limit: int = 10
    language: str = ""
    country: str = ""
    recency: Recency | None = None
    sites: tuple[str, ...] = ()
    exclude_sites: tuple[str, ...] = ()

    @property
    def filters(self) -> frozenset[Filter]:
        """The filters that are set."""
        values = {
            Filter.LANGUAGE: self.language,
            Filter.COUNTRY: self.country,
            Filter.RECENCY: self.recency,
            Filter.SITES: self.sites,
            Filter.EXCLUDED_SITES: self.exclude_sites,
        }
        return frozenset(name for name, value in values.items() if value)

    @property
    def primary_language(self) -> str:
        """The language without script and region, such as `pt` for `pt-BR`."""
        return self.language.partition("-")[0].lower()

    def allows(self, url: str) -> bool:
        """Return whether a URL is on the query's sites, if it has any, and not on its excluded sites."""
        return (not self.sites or in_domains(url, self.sites)) and not in_domains(url, self.exclude_sites)

    @property
    def region(self) -> str:
        """The country or, failing that, the region of the language tag, in upper case."""
        tag = self.language.rpartition("-")[2]
        return (self.country or (tag if len(tag) == 2 and "-" in self.language else "")).upper()

    @property
    def traditional_chinese(self) -> bool:
        """Whether the language is Chinese in traditional script."""
        script = self.language.lower().split("-")[1:2]
        traditional = script == ["hant"] or self.region in ("TW", "HK", "MO")
        return self.primary_language == "zh" and traditional and script != ["hans"]


def cannot(provider: str, filters: Collection[Filter]) -> Iterator[str]:
    """Notices about filters that a provider does not support."""
    for name in Filter:
        if name not in filters:
            continue
        if name in (Filter.SITES, Filter.EXCLUDED_SITES):
            yield f"{spoken(provider)} cannot filter by {name}: its hits are filtered after the search."
        else:
            yield f"{spoken(provider)} cannot filter by {name}: its hits are not filtered."


def clip(text: str, characters: int, words: int) -> str:
    """`text` truncated to a number of characters and of words, between words if possible."""
    short = " ".join(text.split()[:words])
    if len(short) <= characters:
        return short
    head, space, _ = short[: characters + 1].rpartition(" ")
    return head if space else short[:characters]


@dataclass(frozen=True, slots=True)
class Operators:
    """Which operators a search engine supports in the query text, and how long the text may be.

    `characters` and `words` are the max length of the text. `alternatives` says whether `OR` is supported,
    which several `sites` need.
    """

    characters: int = 2000
    words: int = 300
    alternatives: bool = True

    def missing(self, query: Query) -> frozenset[Filter]:
        """Return the site filters of the query that operators cannot express."""
        several = len(query.sites) > 1 and not self.alternatives
        return frozenset({Filter.SITES}) if several else frozenset()

    def shortened(self, provider: str, query: Query) -> Iterator[str]:
        """Yield a notice if the text of the query is too long."""
        if clip(query.text, self.characters, self.words) != " ".join(query.text.split()):
            yield (
                f"{spoken(provider)} reads at most {self.characters} characters and {self.words} words: "
                "the query was truncated."
            )

    def apply(self, query: Query) -> str:
        """Return the query text with `site:` operators, and as many excluded sites as fit."""
        added = []
        if query.sites and not self.missing(query):
            joined = " OR ".join(f"site:{site}" for site in query.sites)
            added.append(f"({joined})" if len(query.sites) > 1 else joined)
        characters = max(self.characters - len(" ".join(added)) - 1, 0) if added else self.characters
        count = max(self.words - sum(len(part.split()) for part in added), 0)
        text = query.text if not added and self._fits(query.text) else clip(query.text, characters, count)
        for site in query.exclude_sites:
            longer = " ".join([text, *added, f"-site:{site}"])
            if not self._fits(longer):
                break
            added.append(f"-site:{site}")
        return " ".join([text, *added])

    def _fits(self, text: str) -> bool:
        return len(text) <= self.characters and len(text.split()) <= self.words
